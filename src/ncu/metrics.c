/* Names and units of metrics, from warpmeter's to ncu's and back. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "input/groups.h"
#include "ncu/ncu.h"

/* ---- names ---- */

wm_status wmi_ncu_metric_add(wmi_list *out, const char *name) {
    if (strcmp(name, "kernel_time") == 0) name = WMI_NCU_TIME;
    if (!strstr(name, "__")) return WM_OK; /* none of a GPU's counters */
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->v[i], name) == 0) return WM_OK;
    return wmi_list_add(out, name, strlen(name));
}

static wm_status knows(void *unused, const char *name) {
    wmi_metric about;
    (void)unused;
    for (size_t b = 0; wmi_backends[b]; b++) {
        const wm_status s = wmi_backends[b]->describe(NULL, name, &about, NULL);
        if (s != WM_ENOTFOUND) return s;
    }
    return WM_ENOTFOUND;
}

static wm_status add_group(wmi_list *out, const char *name, wm_error *err) {
    wmi_group group = {0};
    wm_status s = wmi_group_load(name, &group, err);
    if (s == WM_OK) s = wmi_group_choose(&group, knows, NULL, err);
    for (size_t i = 0; i < group.metrics.n && s == WM_OK; i++)
        if (wmi_ncu_metric_add(out, group.metrics.v[i]) != WM_OK) s = wmi_error_nomem(err);
    wmi_group_fini(&group);
    return s;
}

wm_status wmi_ncu_metrics(const char *list, wmi_list *out, wm_error *err) {
    static const char group[] = "group:";
    char *copy = wmi_strdup(list), *rest = copy;
    wm_status s = copy ? WM_OK : wmi_error_nomem(err);
    for (char *name; s == WM_OK && (name = strtok_r(rest, ", ", &rest)) != NULL;) {
        if (strncmp(name, group, sizeof group - 1) == 0)
            s = add_group(out, name + sizeof group - 1, err);
        else if (wmi_ncu_metric_add(out, name) != WM_OK)
            s = wmi_error_nomem(err);
    }
    free(copy);
    return s;
}

/* ---- numbers and units ---- */

bool wmi_ncu_number(const char *text, size_t n, double *out) {
    char plain[64];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == ',') continue;
        if (used == sizeof plain) return false;
        plain[used++] = text[i];
    }
    return wmi_number_parse(plain, used, out);
}

typedef struct scale {
    const char *text;
    double factor;
} scale;

/* ncu has written these in several ways over the years. */
static const scale times[] = {{"ns", 1},        {"nsecond", 1}, {"us", 1e3},  {"usecond", 1e3}, {"ms", 1e6},
                              {"msecond", 1e6}, {"s", 1e9},     {"sec", 1e9}, {"second", 1e9}};

static bool time_of(const char *s, size_t n, double *ns) {
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (strlen(times[i].text) != n || memcmp(times[i].text, s, n) != 0) continue;
        *ns = times[i].factor;
        return true;
    }
    return false;
}

/* Takes the letter of a thousand, a million, ... off a word that is counted. */
static double prefix_take(const char **s, size_t *n) {
    static const char *const counted[] = {"byte",   "hz",      "Hz",   "inst",   "instruction", "cycle",
                                          "sector", "request", "warp", "thread", "block",       "op"};
    static const char letters[] = "KMGTP";
    const char *letter = *n ? strchr(letters, **s) : NULL;
    if (!letter || !*letter) return 1;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        if (strlen(counted[i]) != *n - 1 || memcmp(counted[i], *s + 1, *n - 1) != 0) continue;
        double factor = 1;
        for (const char *p = letters; p <= letter; p++) factor *= 1000;
        ++*s;
        --*n;
        return factor;
    }
    return 1;
}

static bool is(const char *s, size_t n, const char *word) {
    return strlen(word) == n && memcmp(word, s, n) == 0;
}

wmi_ncu_unit wmi_ncu_unit_of(const char *text, size_t n) {
    const char *slash = memchr(text, '/', n);
    size_t above = slash ? (size_t)(slash - text) : n, below = slash ? n - above - 1 : 0;
    double ns = 1, per_ns = 1;
    if (is(text, n, "%")) return (wmi_ncu_unit){1, "%"};
    const bool rate = slash && time_of(slash + 1, below, &per_ns);
    if (time_of(text, above, &ns)) return (wmi_ncu_unit){rate ? ns / per_ns * 1e9 : ns, rate ? "ns/s" : "ns"};
    const char *word = text;
    double factor = prefix_take(&word, &above);
    if (rate) factor *= 1e9 / per_ns;
    const bool bytes = is(word, above, "byte");
    if (is(word, above, "hz") || is(word, above, "Hz")) return (wmi_ncu_unit){factor, "Hz"};
    if (rate) return (wmi_ncu_unit){factor, bytes ? "B/s" : is(word, above, "cycle") ? "Hz" : "1/s"};
    if (bytes && slash && is(slash + 1, below, "cycle")) return (wmi_ncu_unit){factor, "B/cycle"};
    return (wmi_ncu_unit){factor, bytes ? "B" : ""};
}
