#include "input/groups.h"

#include <stdlib.h>
#include <string.h>

#include "formula/formula.h"
#include "input/option_table.h"

typedef struct span {
    const char *text;
    size_t n;
} span;

/* A group file while it is read. */
typedef struct reader {
    const char *where;
    size_t line;
    wmi_group *group;
    wm_error *err;
} reader;

static wm_status fail(const reader *r, const char *fmt, ...) WM_PRINTF(2, 3);
static wm_status fail(const reader *r, const char *fmt, ...) {
    wm_error what = WM_ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&what, WM_EPARSE, 0, fmt, args);
    va_end(args);
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s, line %zu: %s", r->where, r->line, what.message);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static span trim(span s) {
    while (s.n > 0 && is_blank(s.text[0])) s.text++, s.n--;
    while (s.n > 0 && is_blank(s.text[s.n - 1])) s.n--;
    return s;
}

/* What comes before the first `end`; *rest is what comes behind it, or nothing with a
 * NULL text. */
static span cut(span s, char end, span *rest) {
    const char *at = memchr(s.text, end, s.n);
    if (!at) {
        *rest = (span){NULL, 0};
        return s;
    }
    size_t n = (size_t)(at - s.text);
    *rest = (span){at + 1, s.n - n - 1};
    return (span){s.text, n};
}

static bool equals(span s, const char *word) { return strlen(word) == s.n && memcmp(s.text, word, s.n) == 0; }

/* ---- the four keys ---- */

static wm_status read_text(reader *r, span value) {
    if (r->group->text) return fail(r, "'text' is there twice");
    r->group->text = wmi_strndup(value.text, value.n);
    return r->group->text ? WM_OK : wmi_error_nomem(r->err);
}

static bool contains(const wmi_list *list, span name) {
    for (size_t i = 0; i < list->n; i++)
        if (equals(name, list->v[i])) return true;
    return false;
}

/* A name, or several of which one is to be chosen. */
static wm_status check_row(const reader *r, span row) {
    for (size_t before = 0; row.text; before++) {
        span name = trim(cut(row, '|', &row));
        if (name.n == 0) return fail(r, "'metrics' takes names separated by commas, and one is empty");
        if (name.n >= 6 && memcmp(name.text, "group:", 6) == 0)
            return fail(r, "a group takes metrics and no other group");
        bool instead = equals(name, "0") || equals(name, "none");
        if (instead && (before == 0 || row.text))
            return fail(r, "'%.*s' is no metric: it ends a row, behind the last '|'", (int)name.n, name.text);
    }
    return WM_OK;
}

static wm_status read_metrics(reader *r, span value) {
    while (value.text) {
        span name = trim(cut(value, ',', &value));
        wm_status s = check_row(r, name);
        if (s) return s;
        if (contains(&r->group->metrics, name)) continue;
        if (wmi_list_add(&r->group->metrics, name.text, name.n)) return wmi_error_nomem(r->err);
    }
    return WM_OK;
}

static wm_status read_formula(reader *r, span value) {
    char *text = wmi_strndup(value.text, value.n);
    if (!text) return wmi_error_nomem(r->err);
    wmi_formula *formula = NULL;
    wm_error why = WM_ERROR_INIT;
    size_t before = r->group->derive.n;
    wm_status s = wmi_formula_parse(text, &formula, &why);
    if (s == WM_OK) s = wmi_option_add_named(&r->group->derive, text, &why);
    if (s == WM_EPARSE)
        fail(r, "%s", why.message);
    else if (s)
        wmi_error_set(r->err, s, why.native_code, "%s", why.message);
    else if (r->group->derive.n == before)
        s = fail(r, "a formula named '%.100s' is there twice", wmi_formula_name(formula));
    wmi_formula_destroy(formula);
    free(text);
    return s;
}

/* What stands behind `word`, or nothing with a NULL text. */
static span behind(span s, const char *word) {
    size_t n = strlen(word);
    bool begins = s.n > n && memcmp(s.text, word, n) == 0;
    return begins ? trim((span){s.text + n, s.n - n}) : (span){NULL, 0};
}

static wm_status read_label(reader *r, span value) {
    static const char form[] = "a label is 'bound = compute:METRIC, memory:METRIC, latency below PERCENT'";
    span compute, memory, latency, rest;
    bool bound = equals(trim(cut(value, '=', &rest)), "bound") && rest.text;
    compute = behind(trim(bound ? cut(rest, ',', &rest) : rest), "compute:");
    memory = behind(trim(compute.text && rest.text ? cut(rest, ',', &rest) : rest), "memory:");
    latency = behind(trim(rest), "latency below ");
    double below = 0;
    if (!bound || compute.n == 0 || memory.n == 0 || !wmi_number_parse(latency.text, latency.n, &below) ||
        !(below >= 0 && below <= 100))
        return fail(r, form);
    wmi_group *g = r->group;
    wmi_bound *bounds = realloc(g->bounds, (g->bound_count + 1) * sizeof *bounds);
    if (!bounds) return wmi_error_nomem(r->err);
    g->bounds = bounds;
    wmi_bound *added = &bounds[g->bound_count++];
    *added = (wmi_bound){wmi_strndup(compute.text, compute.n), wmi_strndup(memory.text, memory.n), below};
    return added->compute && added->memory ? WM_OK : wmi_error_nomem(r->err);
}

static wm_status read_line(reader *r, span line) {
    line = trim(line);
    if (line.n == 0 || line.text[0] == '#') return WM_OK;
    span value;
    span key = trim(cut(line, ':', &value));
    if (!value.text) return fail(r, "'key: value' is expected");
    value = trim(value);
    if (value.n == 0) return fail(r, "nothing stands behind '%.*s:'", key.n > 40 ? 40 : (int)key.n, key.text);
    if (equals(key, "text")) return read_text(r, value);
    if (equals(key, "metrics")) return read_metrics(r, value);
    if (equals(key, "derive")) return read_formula(r, value);
    if (equals(key, "label")) return read_label(r, value);
    return fail(r, "the keys are text, metrics, derive and label, not '%.*s'", key.n > 40 ? 40 : (int)key.n,
                key.text);
}

static wm_status read_lines(reader *r, span text) {
    while (text.text) {
        r->line++;
        span line = cut(text, '\n', &text);
        if (memchr(line.text, '\0', line.n)) return fail(r, "a NUL byte: this is no text file");
        wm_status s = read_line(r, line);
        if (s) return s;
    }
    if (!r->group->text) return fail(r, "the group has no 'text: ...' that says what it is for");
    if (r->group->metrics.n == 0) return fail(r, "the group names no metrics");
    return WM_OK;
}

wm_status wmi_group_parse(const char *name, const char *where, const char *text, size_t n, wmi_group *out,
                          wm_error *err) {
    wmi_group group = {0};
    reader r = {.where = where, .group = &group, .err = err};
    group.name = wmi_strdup(name);
    wm_status s = group.name ? read_lines(&r, (span){text, n}) : wmi_error_nomem(err);
    if (s)
        wmi_group_fini(&group);
    else
        *out = group;
    return s;
}

void wmi_group_fini(wmi_group *g) {
    free(g->name);
    free(g->text);
    wmi_list_free(&g->metrics);
    wmi_list_free(&g->derive);
    for (size_t i = 0; i < g->bound_count; i++) {
        free(g->bounds[i].compute);
        free(g->bounds[i].memory);
    }
    free(g->bounds);
    *g = (wmi_group){0};
}
