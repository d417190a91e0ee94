/* The two cells of a row that tell of NVTX ranges:
 *
 *      " 522  ""lib:pushed:none:none:none:none:ASCII:pushed"" ","
 * ""0:dom:NAME:none:none:none:none:ASCII:NAME""  ""…"" "
 *
 * Names stand in them as they are, whatever they hold. But each stands there twice, with five words between,
 * so an item ends where both are the same. */
#include <stdlib.h>
#include <string.h>

#include "ncu/ncu.h"

/* A stretch that is read from its begin. */
typedef struct reader {
    const char *s;
    size_t n, at;
} reader;

static bool next_is(const reader *r, size_t at, const char *s) {
    const size_t n = strlen(s);
    return at <= r->n && r->n - at >= n && memcmp(r->s + at, s, n) == 0;
}

/* ---- one item ---- */

/* `ID:DOMAIN` in front of the name. */
static bool front_read(const char *s, size_t n, wmi_ncu_range *out) {
    size_t i = 0;
    uint64_t id = 0;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
        if (id > UINT64_MAX / 10 - 1) return false;
        id = 10 * id + (uint64_t)(s[i] - '0');
    }
    if (i == 0 || i >= n || s[i] != ':' || memchr(s, '"', n)) return false; /* a quote: two items */
    out->id = id;
    out->domain = (wmi_ncu_text){s + i + 1, n - i - 1};
    return true;
}

/* The colon before `at`, or SIZE_MAX. */
static size_t colon_before(const char *s, size_t at) {
    while (at-- > 0)
        if (s[at] == ':') return at;
    return SIZE_MAX;
}

/* Is `ID:DOMAIN:NAME:A:B:C:D:TYPE:NAME` all of it? The longest name is the right one: a shorter one lies in
 * a name that holds such words itself. */
static bool item_read(const char *s, size_t n, wmi_ncu_range *out) {
    for (size_t q = 1; q <= n; q++) { /* where the second name begins */
        if (s[q - 1] != ':') continue;
        size_t first_end = q - 1;
        for (int words = 0; words < 5 && first_end != SIZE_MAX; words++)
            first_end = colon_before(s, first_end);
        const size_t length = n - q;
        if (first_end == SIZE_MAX || first_end < length + 1) continue;
        const size_t first = first_end - length;
        if (s[first - 1] != ':' || memcmp(s + first, s + q, length) != 0) continue;
        if (!front_read(s, first - 1, out)) continue;
        out->name = (wmi_ncu_text){s + q, length};
        return true;
    }
    return false;
}

/* ---- the cells ---- */

static bool ranges_add(wmi_ncu_ranges *ranges, const wmi_ncu_range *range) {
    if (ranges->n == ranges->cap) {
        const size_t cap = ranges->cap ? 2 * ranges->cap : 8;
        wmi_ncu_range *v = realloc(ranges->v, cap * sizeof *v);
        if (!v) return false;
        ranges->v = v;
        ranges->cap = cap;
    }
    size_t i = ranges->n++;
    for (; i > 0 && ranges->v[i - 1].id > range->id; i--) ranges->v[i] = ranges->v[i - 1];
    ranges->v[i] = *range;
    return true;
}

/* Read one item and what parts it from the next; *last: nothing follows. */
static wm_status item_next(reader *r, wmi_ncu_ranges *out, bool *last) {
    wmi_ncu_range range;
    if (!next_is(r, r->at, "\"\"")) return WM_EPARSE;
    const size_t begin = r->at + 2;
    for (size_t end = begin; end + 3 <= r->n; end++) {
        if (!next_is(r, end, "\"\" ")) continue;
        *last = end + 3 == r->n;
        if (!*last && !next_is(r, end, "\"\"  \"\"")) continue;
        if (!item_read(r->s + begin, end - begin, &range)) continue;
        r->at = end + 4;
        return ranges_add(out, &range) ? WM_OK : WM_ENOMEM;
    }
    return WM_EPARSE;
}

/* The cell of ranges with a start and an end, from its first quote on. */
static wm_status cell_read(const char *s, size_t n, wmi_ncu_ranges *out) {
    reader r = {s, n, 0};
    wm_status status = WM_OK;
    bool last = false;
    out->n = 0;
    while (status == WM_OK && !last) status = item_next(&r, out, &last);
    return status;
}

wm_status wmi_ncu_ranges_read(wmi_ncu_text cells, wmi_ncu_ranges *out) {
    static const char empty[] = "\",\"", begin[] = "\",\" \"\"";
    enum { EMPTY = sizeof empty - 1, BEGIN = sizeof begin - 1 };
    out->n = 0;
    if (cells.n >= EMPTY && memcmp(cells.s + cells.n - EMPTY, empty, EMPTY) == 0) return WM_OK;
    const char *end = cells.s + cells.n;
    for (const char *p = cells.s; (p = memmem(p, (size_t)(end - p), begin, BEGIN)); p++) {
        const char *first = p + BEGIN - 2;
        const wm_status status = cell_read(first, (size_t)(end - first), out);
        if (status != WM_EPARSE) return status;
    }
    out->n = 0;
    return WM_EPARSE;
}

/* ---- steps ---- */

static bool number_take(wmi_ncu_text *t, char end, uint64_t most, uint64_t *out) {
    uint64_t x = 0;
    size_t i = 0;
    for (; i < t->n && t->s[i] >= '0' && t->s[i] <= '9' && x <= most; i++)
        x = 10 * x + (uint64_t)(t->s[i] - '0');
    if (i == 0 || i == t->n || t->s[i] != end || x > most) return false;
    *t = (wmi_ncu_text){t->s + i + 1, t->n - i - 1};
    *out = x;
    return true;
}

static void params_free(wmi_axis *params, size_t count) {
    for (size_t i = 0; i < count; i++) wmi_axis_fini(&params[i]);
    free(params);
}

/* Does wmi_config_key make this text of them? */
static bool is_key_of(const char *key, const wmi_axis *params, size_t count) {
    const char **names = calloc(count + 1, sizeof *names);
    wm_value *values = calloc(count + 1, sizeof *values);
    char *made = NULL;
    if (names && values) {
        for (size_t i = 0; i < count; i++) {
            names[i] = params[i].name;
            values[i] = params[i].values[0];
        }
        made = wmi_config_key(count, names, values);
    }
    const bool same = made && strcmp(made, key) == 0;
    free(made);
    free(values);
    free(names);
    return same;
}

/* The first blank behind which there is a key; `exact`: one that reads as it was written. */
static wm_status key_find(char *text, bool exact, wmi_ncu_step *out) {
    for (char *blank = strchr(text, ' '); blank; blank = strchr(blank + 1, ' ')) {
        wmi_axis *params = NULL;
        size_t count = 0;
        const wm_status status = wmi_config_parse(blank + 1, &params, &count, NULL);
        if (status == WM_ENOMEM) return status;
        if (status != WM_OK) continue;
        if (exact && !is_key_of(blank + 1, params, count)) {
            params_free(params, count);
            continue;
        }
        *blank = '\0';
        out->params = params;
        out->count = count;
        return WM_OK;
    }
    return WM_ENOTFOUND;
}

wm_status wmi_ncu_step_read(wmi_ncu_text text, wmi_ncu_step *out) {
    wmi_ncu_step step = {0};
    uint64_t run;
    if (text.n == 0 || text.s[0] != '@') return WM_EPARSE;
    text = (wmi_ncu_text){text.s + 1, text.n - 1};
    if (!number_take(&text, '/', SIZE_MAX / 16, &step.config) || !number_take(&text, ' ', INT32_MAX, &run))
        return WM_EPARSE;
    step.run = (int32_t)run;
    step.bench = wmi_strndup(text.s, text.n);
    if (!step.bench) return WM_ENOMEM;
    size_t n = strlen(step.bench);
    wm_status status = WM_ENOTFOUND;
    if (n && step.bench[n - 1] == ' ')
        step.bench[n - 1] = '\0'; /* no key */
    else
        status = key_find(step.bench, true, &step);
    if (status == WM_ENOTFOUND && n && step.bench[n - 1]) status = key_find(step.bench, false, &step);
    if (status == WM_ENOMEM) {
        free(step.bench);
        return status;
    }
    *out = step;
    return WM_OK;
}

void wmi_ncu_step_fini(wmi_ncu_step *step) {
    params_free(step->params, step->count);
    free(step->bench);
    *step = (wmi_ncu_step){0};
}
