/* Names of metrics: BASE.ROLLUP, or BASE.ROLLUP.SUBMETRIC, and what they mean. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/chip_host.h"
#include "backend/cuda/cuda.h"
#include "base/intern.h"
#include "samples/tally.h"

/* ---- taking a name apart ---- */

/* How much of it is the base. Prefixes have points too (LTS.TriageCompute.lts__throughput),
 * but they come before the "__" that every base has. */
static size_t base_length(const char *name) {
    const char *bar = strstr(name, "__");
    return bar ? (size_t)(bar - name) + strcspn(bar, ".") : strlen(name);
}

typedef struct base_key {
    const char *name;
    size_t n;
} base_key;

static int compare_key(const void *key, const void *base) {
    const base_key *k = key;
    const char *name = ((const wmi_chip_base *)base)->name;
    const int c = strncmp(k->name, name, k->n);
    return c != 0 ? c : -(name[k->n] != '\0');
}

const wmi_chip_base *wmi_chip_base_find(const wmi_chip *chip, const char *name, size_t n) {
    const base_key key = {name, n};
    if (chip->base_count == 0) return NULL;
    return bsearch(&key, chip->bases, chip->base_count, sizeof *chip->bases, compare_key);
}

static bool has_submetric(const wmi_chip *chip, CUpti_MetricType type, const char *submetric) {
    for (size_t i = 0; i < chip->submetric_count[type]; i++)
        if (strcmp(chip->submetrics[type][i], submetric) == 0) return true;
    return false;
}

static bool ends_with(const char *s, const char *end) {
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

const char *wmi_chip_usual(const wmi_chip_base *base) {
    if (base->type == CUPTI_METRIC_TYPE_THROUGHPUT) return ".avg.pct_of_peak_sustained_elapsed";
    if (base->type == CUPTI_METRIC_TYPE_COUNTER) return ".sum";
    return ends_with(base->name, "_rate") || ends_with(base->name, "_pct") ? ".pct" : ".ratio";
}

/* ---- what a name means ---- */

/* CUPTI's units are products and quotients of what is counted: "nanosecond", "byte/second",
 * "gpc_cycle", "instruction/warp". A cycle of several clocks or of several warps is none. */
static const char *unit_of(const wmi_chip_base *base, const char *dimension) {
    static const struct {
        const char *dimension, *unit;
    } known[] = {
        {"percent", "%"},       {"nanosecond", "ns"}, {"nanosecond/second", "ns/s"},
        {"byte/second", "B/s"}, {"byte", "B"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].dimension, dimension) == 0) return known[i].unit;
    if (ends_with(dimension, "_cycle/second") && strstr(base->name, "cycles")) return "Hz";
    if (ends_with(dimension, "/second")) return "1/s";
    if (strncmp(dimension, "byte/", strlen("byte/")) != 0) return "";
    return ends_with(dimension, "_cycle") ? "B/cycle" : "B";
}

/* Describe `name`, which is base and submetric; its text is CUPTI's own. */
static wm_status describe(const wmi_chip *chip, const wmi_chip_base *base, const char *submetric,
                          const char *name, wmi_metric *out, wm_error *err) {
    CUpti_Profiler_Host_GetMetricProperties_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetMetricProperties_Params, metricType),
        .pHostObject = chip->host,
        .pMetricName = name,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetMetricProperties(&p);
    if (code != CUPTI_SUCCESS) return wmi_cuda_error(err, true, (int)code, "asking CUPTI about a metric");
    *out = (wmi_metric){.name = name, .backend = "cuda", .combine = wmi_combine_of_rollup(submetric)};
    out->unit = unit_of(base, p.pDimUnit ? p.pDimUnit : "");
    out->text = p.pDescription ? p.pDescription : "";
    out->timer = strcmp(out->unit, "ns") == 0 ? "cupti" : "";
    const bool throughput = base->type == CUPTI_METRIC_TYPE_THROUGHPUT;
    out->better = throughput ? WMI_BETTER_HIGHER : wmi_better_of_unit(out->unit);
    return WM_OK;
}

/* ---- what is wrong with a name ---- */

/* Other chips that have the metric, as " (AD102, GA100 and others have it)"; "" for none. They
 * are asked without being opened: names are compared where CUPTI keeps them. */
static void add_owners(const wmi_chip *chip, const char *name, size_t n, wmi_buf *text) {
    enum { SHOWN = 3 };
    const char *const *others = wmi_chip_names(NULL);
    size_t found = 0;
    for (size_t i = 0; others && others[i] && found <= SHOWN; i++) {
        CUpti_Profiler_Host_Object *host = NULL;
        bool has = false;
        if (others[i] == chip->name || wmi_host_create(others[i], &host, NULL) != WM_OK) continue;
        for (int t = 0; t < CUPTI_METRIC_TYPE__COUNT && !has; t++) {
            const char *const *names = NULL;
            size_t count = 0;
            if (wmi_host_bases(host, (CUpti_MetricType)t, &names, &count, NULL) != WM_OK) break;
            for (size_t k = 0; k < count && !has; k++)
                has = strncmp(names[k], name, n) == 0 && names[k][n] == '\0';
        }
        wmi_host_destroy(host);
        if (!has) continue;
        if (found < SHOWN) wmi_buf_printf(text, "%s%s", found ? ", " : "; it is one of ", others[i]);
        found++;
    }
    if (found > SHOWN) wmi_buf_str(text, " and others");
}

static wm_status unknown_base(const wmi_chip *chip, const char *name, size_t n, wm_error *err) {
    if (!err) return WM_ENOTFOUND;
    wmi_buf text = WMI_BUF_INIT;
    char *base = wmi_strndup(name, n), *near = NULL;
    const char **names = malloc((chip->base_count + 1) * sizeof *names);
    for (size_t i = 0; names && i < chip->base_count; i++) names[i] = chip->bases[i].name;
    if (base && names) near = wmi_nearest(base, names, chip->base_count);
    if (near) {
        wmi_buf_printf(&text, "%s has no metric '%.150s'", chip->name, name);
        add_owners(chip, name, n, &text);
        if (*near) wmi_buf_printf(&text, "; did you mean %s?", near);
    }
    const wm_status s =
        near && !text.failed ? wmi_error_set(err, WM_ENOTFOUND, 0, "%s", text.data) : wmi_error_nomem(err);
    wmi_buf_free(&text);
    free(names);
    free(near);
    free(base);
    return s;
}

/* Add the distinct heads (".avg") or tails (".per_second") of the submetrics, each once. */
static size_t add_parts(const wmi_chip *chip, CUpti_MetricType type, bool tails, wmi_buf *text) {
    char **all = chip->submetrics[type];
    size_t added = 0;
    for (size_t i = 0; i < chip->submetric_count[type]; i++) {
        const char *s = all[i];
        const size_t head = 1 + strcspn(s + 1, ".");
        bool again = tails && !s[head];
        for (size_t k = 0; k < i && !again; k++) {
            const size_t other = 1 + strcspn(all[k] + 1, ".");
            again =
                tails ? strcmp(all[k] + other, s + head) == 0 : other == head && memcmp(all[k], s, head) == 0;
        }
        if (again) continue;
        wmi_buf_str(text, added ? " " : "");
        wmi_buf_add(text, tails ? s + head : s, tails ? strlen(s + head) : head);
        added++;
    }
    return added;
}

static wm_status wrong_submetric(const wmi_chip *chip, const wmi_chip_base *base, const char *submetric,
                                 wm_error *err) {
    if (!err) return WM_ENOTFOUND;
    wmi_buf text = WMI_BUF_INIT, tails = WMI_BUF_INIT;
    char *near = NULL;
    bool nearest = false;
    if (*submetric) {
        wmi_buf_printf(&text, "%s has no '%.80s'", base->name, submetric);
        near = wmi_nearest(submetric, (const char *const *)chip->submetrics[base->type],
                           chip->submetric_count[base->type]);
        nearest = near && *near;
        if (nearest) wmi_buf_printf(&text, "; did you mean %s?", near);
    } else {
        wmi_buf_printf(&text, "%s needs a rollup: %s%s is usual", base->name, base->name,
                       wmi_chip_usual(base));
    }
    if (!nearest) {
        wmi_buf_str(&text, "; there are ");
        add_parts(chip, base->type, false, &text);
        if (add_parts(chip, base->type, true, &tails) > 0)
            wmi_buf_printf(&text, ", with %s%s behind",
                           base->type == CUPTI_METRIC_TYPE_COUNTER ? "nothing or " : "", tails.data);
    }
    const bool ok = !text.failed && !tails.failed && (near || !*submetric);
    const wm_status s = ok ? wmi_error_set(err, WM_ENOTFOUND, 0, "%s", text.data) : wmi_error_nomem(err);
    wmi_buf_free(&text);
    wmi_buf_free(&tails);
    free(near);
    return s;
}

/* ---- one metric, all metrics ---- */

static const char *intern(const char *text) {
    const uint32_t id = wmi_intern(text);
    return id ? wmi_intern_name(id) : NULL;
}

wm_status wmi_chip_metric(wmi_chip *chip, const char *name, wmi_metric *out, wm_error *err) {
    if (strchr(name, ','))
        return wmi_error_set(err, WM_ENOTFOUND, 0,
                             "'%.150s' was given as the name of one metric, but a comma separates names",
                             name);
    const size_t n = base_length(name);
    const wmi_chip_base *base = wmi_chip_base_find(chip, name, n);
    if (!base) return unknown_base(chip, name, n, err);
    if (!has_submetric(chip, base->type, name + n)) return wrong_submetric(chip, base, name + n, err);
    wmi_metric about;
    const wm_status s = describe(chip, base, name + n, name, &about, err);
    if (s != WM_OK) return s;
    about.name = intern(name);
    about.text = intern(about.text);
    if (!about.name || !about.text) return wmi_error_nomem(err);
    *out = about;
    return WM_OK;
}

typedef struct listing {
    const wmi_chip *chip;
    const char *pattern;
    const wmi_metric_list *to;
    wmi_buf name;
    wm_error *err;
} listing;

static wm_status list_one(listing *l, const wmi_chip_base *base, const char *submetric, bool match) {
    l->name.len = 0;
    wmi_buf_printf(&l->name, "%s%s", base->name, submetric);
    if (l->name.failed) return wmi_error_nomem(l->err);
    if (match && fnmatch(l->pattern, l->name.data, 0) != 0) return WM_OK;
    wmi_metric about;
    wm_status s = describe(l->chip, base, submetric, l->name.data, &about, l->err);
    if (s == WM_OK) s = l->to->add(l->to->user, &about, true, "");
    return s == WM_ENOMEM ? wmi_error_nomem(l->err) : s;
}

static wm_status list_base(listing *l, const wmi_chip_base *base) {
    if (!l->pattern || fnmatch(l->pattern, base->name, 0) == 0)
        return list_one(l, base, wmi_chip_usual(base), false);
    wm_status s = WM_OK;
    for (size_t i = 0; i < l->chip->submetric_count[base->type] && s == WM_OK; i++)
        s = list_one(l, base, l->chip->submetrics[base->type][i], true);
    return s;
}

wm_status wmi_chip_list(wmi_chip *chip, const char *pattern, const wmi_metric_list *list, wm_error *err) {
    listing l = {chip, pattern, list, WMI_BUF_INIT, err};
    wm_status s = WM_OK;
    for (size_t i = 0; i < chip->base_count && s == WM_OK; i++) s = list_base(&l, &chip->bases[i]);
    wmi_buf_free(&l.name);
    return s;
}
