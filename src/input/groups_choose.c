/* Choosing from a group's alternatives. Formulas are rewritten as text, so that all that comes
 * after reads a group as one without alternatives. */
#include <stdlib.h>
#include <string.h>

#include "formula/scan.h"
#include "input/groups.h"

/* ---- names in formulas ---- */

/* Where the name that begins at s ends, and the name without its quotes. Numbers are names
 * here too: none is asked for. 0: no name begins here. */
static size_t name_at(const char *s, const char **name, size_t *n) {
    if (*s == '`') {
        const char *end = strchr(s + 1, '`');
        if (!end) return 0;
        *name = s + 1;
        *n = (size_t)(end - s) - 1;
        return *n + 2;
    }
    size_t len = 0;
    while (wmi_scan_word(s[len]) || (len > 0 && s[len] == '.' && wmi_scan_digit(s[0]))) len++;
    *name = s;
    *n = len;
    return len;
}

static bool is_name(const char *name, size_t n, const char *wanted) {
    return n == strlen(wanted) && memcmp(name, wanted, n) == 0;
}

/* Where a formula's expression begins, with the '='. */
static size_t head_length(const char *formula) {
    size_t quoted = formula[0] == '`' ? 1 + strcspn(formula + 1, "`") : 0;
    return quoted + strcspn(formula + quoted, "=");
}

/* Copy a formula, `old` replaced by `text` in its expression; returns how often. */
static size_t replace(const char *formula, const char *old, const char *text, wmi_buf *out) {
    size_t count = 0, head = head_length(formula);
    wmi_buf_add(out, formula, head);
    const char *at = formula + head, *name = NULL;
    while (*at && *at != '[') {
        size_t n = 0, len = name_at(at, &name, &n);
        if (len > 0 && is_name(name, n, old)) {
            wmi_buf_str(out, text);
            count++;
        } else {
            len = len > 0 ? len : 1;
            wmi_buf_add(out, at, len);
        }
        at += len;
    }
    wmi_buf_str(out, at);
    return count;
}

static bool reads_names(const char *formula) {
    const char *at = formula + head_length(formula), *name = NULL;
    for (size_t n = 0, len; *at && *at != '['; at += len > 0 ? len : 1) {
        len = name_at(at, &name, &n);
        if (len > 0 && !wmi_scan_digit(*at)) return true;
    }
    return false;
}

/* Let a formula read `text` for `old`. */
static bool rewrite_one(char **formula, const char *old, const char *text) {
    wmi_buf changed = WMI_BUF_INIT;
    size_t count = replace(*formula, old, text, &changed);
    char *whole = wmi_buf_take(&changed);
    if (!whole) return false;
    free(count > 0 ? *formula : whole);
    if (count > 0) *formula = whole;
    return true;
}

/* Let formulas read `text` for `old`. False when out of memory. */
static bool rewrite(wmi_list *formulas, const char *old, const char *text) {
    for (size_t i = 0; i < formulas->n; i++)
        if (!rewrite_one(&formulas->v[i], old, text)) return false;
    return true;
}

/* What stands for what. */
typedef struct substitutes {
    wmi_list names, texts;
} substitutes;

/* The formula's name, and its expression in brackets. */
static bool add_substitute(substitutes *s, const char *formula) {
    size_t head = head_length(formula), begin = formula[0] == '`';
    size_t name = begin ? strcspn(formula + 1, "`") : head;
    while (name > 0 && wmi_scan_blank(formula[begin + name - 1])) name--;
    const char *value = formula + head + 1;
    value += strspn(value, " \t");
    size_t n = strcspn(value, "[");
    while (n > 0 && wmi_scan_blank(value[n - 1])) n--;
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_char(&text, '(');
    wmi_buf_add(&text, value, n);
    wmi_buf_char(&text, ')');
    bool ok = !text.failed && wmi_list_add(&s->names, formula + begin, name) == WM_OK &&
              wmi_list_add(&s->texts, text.data, text.len) == WM_OK;
    wmi_buf_free(&text);
    return ok;
}

/* Substitute the i-th; formulas that read no name any more go, and are substituted in turn. */
static bool substitute(wmi_list *formulas, substitutes *s, size_t i) {
    size_t kept = 0;
    bool ok = true;
    for (size_t k = 0; k < formulas->n; k++) {
        char **f = &formulas->v[k];
        bool read = reads_names(*f);
        ok = ok && rewrite_one(f, s->names.v[i], s->texts.v[i]);
        bool constant = ok && read && !reads_names(*f);
        ok = ok && (!constant || add_substitute(s, *f));
        if (constant)
            free(*f);
        else
            formulas->v[kept++] = *f;
    }
    formulas->n = kept;
    return ok;
}

/* Let formulas read 0 for a metric. One that reads nothing else says nothing of its own: it is
 * left out, and those that read it take its value. */
static bool read_as_zero(wmi_list *formulas, const char *metric) {
    substitutes s = {{0}, {0}};
    bool ok =
        wmi_list_add(&s.names, metric, strlen(metric)) == WM_OK && wmi_list_add(&s.texts, "0", 1) == WM_OK;
    for (size_t i = 0; ok && i < s.names.n; i++) ok = substitute(formulas, &s, i);
    wmi_list_free(&s.names);
    wmi_list_free(&s.texts);
    return ok;
}

static void leave_out(wmi_list *formulas, const char *name) {
    size_t kept = 0;
    for (size_t i = 0; i < formulas->n; i++) {
        wmi_buf ignored = WMI_BUF_INIT;
        if (replace(formulas->v[i], name, "", &ignored) > 0)
            free(formulas->v[i]);
        else
            formulas->v[kept++] = formulas->v[i];
        wmi_buf_free(&ignored);
    }
    formulas->n = kept;
}

/* ---- names in labels ---- */

static bool bound_reads(const wmi_bound *b, const char *name) {
    return strcmp(b->compute, name) == 0 || strcmp(b->memory, name) == 0;
}

static void leave_out_bounds(wmi_group *g, const char *name) {
    size_t kept = 0;
    for (size_t i = 0; i < g->bound_count; i++) {
        if (!bound_reads(&g->bounds[i], name)) {
            g->bounds[kept++] = g->bounds[i];
            continue;
        }
        free(g->bounds[i].compute);
        free(g->bounds[i].memory);
    }
    g->bound_count = kept;
}

static bool rename_in_bounds(wmi_group *g, const char *old, const char *name) {
    for (size_t i = 0; i < 2 * g->bound_count; i++) {
        char **slot = i % 2 ? &g->bounds[i / 2].memory : &g->bounds[i / 2].compute;
        if (strcmp(*slot, old) != 0) continue;
        char *copy = wmi_strdup(name);
        if (!copy) return false;
        free(*slot);
        *slot = copy;
    }
    return true;
}

/* ---- rows ---- */

static bool contains(const wmi_list *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i], name) == 0) return true;
    return false;
}

/* The next alternative, made a text of its own in place; *rest is NULL behind the last. */
static char *next_name(char **rest) {
    char *name = *rest, *bar = strchr(name, '|');
    char *end = bar ? bar : name + strlen(name);
    *rest = bar ? bar + 1 : NULL;
    while (*name == ' ' || *name == '\t') name++;
    while (end > name && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = '\0';
    return name;
}

typedef struct choice {
    const char *first, *chosen; /* chosen: a name, "0" or "none" */
} choice;

static bool is_instead(const char *name) { return strcmp(name, "0") == 0 || strcmp(name, "none") == 0; }

static wm_status choose(char *row, wmi_group_knows knows, void *user, choice *out) {
    char *rest = row, *name = next_name(&rest);
    *out = (choice){name, name};
    if (!rest) return WM_OK;
    for (;;) {
        wm_status s = is_instead(name) ? WM_OK : knows(user, name);
        if (s == WM_OK) out->chosen = name;
        if (s == WM_OK || s == WM_ENOMEM) return s;
        if (!rest) return WM_OK;
        name = next_name(&rest);
    }
}

static bool settle(wmi_group *g, const choice *c, wmi_list *metrics) {
    const bool none = strcmp(c->chosen, "none") == 0, zero = strcmp(c->chosen, "0") == 0;
    if (none || zero) leave_out_bounds(g, c->first);
    if (none) leave_out(&g->derive, c->first);
    if (none) return true;
    if (zero) return read_as_zero(&g->derive, c->first);
    if (!contains(metrics, c->chosen) && wmi_list_add(metrics, c->chosen, strlen(c->chosen))) return false;
    if (c->chosen == c->first) return true;
    if (!rename_in_bounds(g, c->first, c->chosen)) return false;
    wmi_buf quoted = WMI_BUF_INIT;
    wmi_buf_printf(&quoted, "`%s`", c->chosen);
    bool ok = !quoted.failed && rewrite(&g->derive, c->first, quoted.data);
    wmi_buf_free(&quoted);
    return ok;
}

wm_status wmi_group_choose(wmi_group *g, wmi_group_knows knows, void *user, wm_error *err) {
    wmi_list metrics = {0};
    wm_status s = WM_OK;
    for (size_t i = 0; i < g->metrics.n && s == WM_OK; i++) {
        choice c;
        s = choose(g->metrics.v[i], knows, user, &c);
        if (s == WM_OK && !settle(g, &c, &metrics)) s = WM_ENOMEM;
    }
    wmi_list_free(&g->metrics);
    g->metrics = metrics;
    return s == WM_OK ? WM_OK : wmi_error_nomem(err);
}
