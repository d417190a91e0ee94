#include "table/filter.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "table/columns.h"

typedef enum operation { EQUAL, UNEQUAL, BELOW, AT_MOST, ABOVE, AT_LEAST, MATCHES } operation;

static const struct {
    const char *text;
    operation op;
} operations[] = {/* a longer one before its own beginning */
                  {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST}, {"=", EQUAL},
                  {"<", BELOW},    {">", ABOVE},    {"~", MATCHES}};

typedef struct condition {
    size_t column;
    operation op;
    bool has_value; /* false: only whether there is a value at all */
    wm_value value; /* of the column's type, or a double for an int64 column */
    bool has_regex;
    regex_t regex;
} condition;

struct wmi_filter {
    const wm_table *table;
    char **items; /* the text of the conditions, which string values borrow */
    condition *conditions;
    size_t count;
};

/* ---- parsing ---- */

static wm_status wrong_value(const char *item, const char *value, const char *wanted, wm_error *err) {
    return wmi_error_set(err, WM_EINVAL, 0, "filter '%s': '%s' is not %s, which the column holds", item,
                         value, wanted);
}

static wm_status parse_number(condition *c, const char *item, const char *value, bool whole, wm_error *err) {
    size_t n = strlen(value);
    int64_t i;
    double x;
    if (whole && wmi_i64_parse(value, n, &i)) {
        c->value = wmi_i64(i);
        return WM_OK;
    }
    if (!wmi_number_parse(value, n, &x)) return wrong_value(item, value, "a number", err);
    c->value = wmi_f64(x);
    return WM_OK;
}

static wm_status parse_bool(condition *c, const char *item, const char *value, wm_error *err) {
    bool yes = strcmp(value, "true") == 0;
    if (!yes && strcmp(value, "false") != 0) return wrong_value(item, value, "true or false", err);
    if (c->op != EQUAL && c->op != UNEQUAL)
        return wmi_error_set(err, WM_EINVAL, 0,
                             "filter '%s': a column of true and false takes = and !=", item);
    c->value = wmi_bool(yes);
    return WM_OK;
}

static wm_status parse_regex(condition *c, const char *item, const char *value, wm_type type, wm_error *err) {
    if (type != WM_STR)
        return wmi_error_set(err, WM_EINVAL, 0, "filter '%s': ~ takes a column of text", item);
    int code = regcomp(&c->regex, value, REG_EXTENDED | REG_NOSUB);
    if (code == REG_ESPACE) return wmi_error_nomem(err);
    if (code != 0) {
        char why[128];
        regerror(code, &c->regex, why, sizeof why);
        return wmi_error_set(err, WM_EINVAL, 0, "filter '%s': '%s' is no extended regular expression: %s",
                             item, value, why);
    }
    c->has_regex = true;
    return WM_OK;
}

static wm_status parse_value(condition *c, const char *item, const char *value, wm_type type, wm_error *err) {
    c->has_value = true;
    if (c->op == MATCHES) return parse_regex(c, item, value, type, err);
    if (!*value && (c->op == EQUAL || c->op == UNEQUAL)) {
        c->has_value = false;
        return WM_OK;
    }
    switch (type) {
    case WM_I64: return parse_number(c, item, value, true, err);
    case WM_F64: return parse_number(c, item, value, false, err);
    case WM_BOOL: return parse_bool(c, item, value, err);
    case WM_STR:
    case WM_NULL: break;
    }
    c->value = wmi_str(value);
    return WM_OK;
}

/* Split an item, in place, into the column's name and the value. */
static wm_status parse_condition(const wm_table *t, char *item, condition *c, wm_error *err) {
    char *at = item + strcspn(item, "=!<>~");
    size_t i = 0, count = sizeof operations / sizeof operations[0];
    while (i < count && strncmp(at, operations[i].text, strlen(operations[i].text)) != 0) i++;
    if (i == count)
        return wmi_error_set(err, WM_EINVAL, 0,
                             "filter '%s' is no condition: it takes name=value, !=, <, <=, >, >= or "
                             "name~regex, and a comma inside a value is written \\,",
                             item);
    char *whole = wmi_strdup(item);
    if (!whole) return wmi_error_nomem(err);
    c->op = operations[i].op;
    char *end = at;
    while (end > item && (end[-1] == ' ' || end[-1] == '\t')) end--;
    *end = '\0';
    const char *value = at + strlen(operations[i].text);
    if (c->op != MATCHES) value += strspn(value, " \t");
    wm_column column = {0};
    wm_status s = wmi_column_find(t, item, &c->column, err);
    if (s == WM_OK) s = wm_table_column(t, c->column, &column);
    if (s == WM_OK) s = parse_value(c, whole, value, column.type, err);
    free(whole);
    return s;
}

static wm_status parse_all(wmi_filter *f, const char *text, wm_error *err) {
    size_t count;
    wm_status s = wmi_items_split(text, &f->items, &count, err);
    if (s != WM_OK) return s;
    f->conditions = calloc(count + 1, sizeof *f->conditions);
    if (!f->conditions) return wmi_error_nomem(err);
    for (; s == WM_OK && f->count < count; f->count++)
        s = parse_condition(f->table, f->items[f->count], &f->conditions[f->count], err);
    return s;
}

wm_status wmi_filter_create(const wm_table *t, const char *text, wmi_filter **out, wm_error *err) {
    wmi_filter *f = calloc(1, sizeof *f);
    if (!f) return wmi_error_nomem(err);
    f->table = t;
    wm_status s = parse_all(f, text, err);
    if (s == WM_OK)
        *out = f;
    else
        wmi_filter_destroy(f);
    return s;
}

void wmi_filter_destroy(wmi_filter *f) {
    if (!f) return;
    for (size_t i = 0; i < f->count; i++)
        if (f->conditions[i].has_regex) regfree(&f->conditions[i].regex);
    free(f->conditions);
    free(f->items);
    free(f);
}

/* ---- applying ---- */

static double as_double(wm_value v) { return v.type == WM_I64 ? (double)v.as.i64 : v.as.f64; }

/* -1, 0 or 1; both are of one type, but that numbers mix. */
static int order(wm_value a, wm_value b) {
    switch (a.type) {
    case WM_STR: {
        int c = strcmp(a.as.str, b.as.str);
        return (c > 0) - (c < 0);
    }
    case WM_BOOL: return (int)a.as.b - (int)b.as.b;
    case WM_I64:
        if (b.type == WM_I64) return (a.as.i64 > b.as.i64) - (a.as.i64 < b.as.i64);
        break;
    case WM_F64:
    case WM_NULL: break;
    }
    double x = as_double(a), y = as_double(b);
    return (x > y) - (x < y);
}

/* A null is equal to nothing, so that it fulfils != and no other operator. */
static bool holds(const condition *c, wm_value v) {
    if (!c->has_value) {
        bool empty = v.type == WM_NULL || (v.type == WM_STR && !*v.as.str);
        return empty == (c->op == EQUAL);
    }
    if (v.type == WM_NULL) return c->op == UNEQUAL;
    if (c->op == MATCHES) return regexec(&c->regex, v.as.str, 0, NULL, 0) == 0;
    int o = order(v, c->value);
    switch (c->op) {
    case EQUAL: return o == 0;
    case UNEQUAL: return o != 0;
    case BELOW: return o < 0;
    case AT_MOST: return o <= 0;
    case ABOVE: return o > 0;
    case AT_LEAST: return o >= 0;
    case MATCHES: break;
    }
    return false;
}

bool wmi_filter_holds(const wmi_filter *f, size_t row) {
    for (size_t i = 0; i < f->count; i++) {
        const condition *c = &f->conditions[i];
        if (!holds(c, wmi_table_cell(f->table, row, c->column))) return false;
    }
    return true;
}
