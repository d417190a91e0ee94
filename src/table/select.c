/* wm_table_select: a new table of chosen rows and columns, in a chosen order. */
#include <stdlib.h>
#include <string.h>

#include "table/columns.h"
#include "table/filter.h"

/* ---- columns ---- */

typedef struct chosen {
    size_t *column;
    size_t count;
} chosen;

static wm_status choose_all(const wm_table *t, chosen *c, wm_error *err) {
    c->count = wm_table_columns(t);
    c->column = malloc((c->count + 1) * sizeof *c->column);
    if (!c->column) return wmi_error_nomem(err);
    for (size_t i = 0; i < c->count; i++) c->column[i] = i;
    return WM_OK;
}

static wm_status choose_named(const wm_table *t, char **names, size_t count, chosen *c, wm_error *err) {
    c->column = malloc((count + 1) * sizeof *c->column);
    if (!c->column) return wmi_error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        wm_status s = wmi_column_find(t, names[i], &c->column[i], err);
        if (s != WM_OK) return s;
        for (size_t k = 0; k < i; k++)
            if (c->column[k] == c->column[i])
                return wmi_error_set(err, WM_EINVAL, 0, "column '%s' is chosen twice", names[i]);
    }
    c->count = count;
    return WM_OK;
}

static wm_status choose_columns(const wm_table *t, const char *list, chosen *c, wm_error *err) {
    char **names = NULL;
    size_t count = 0;
    if (!list) return choose_all(t, c, err);
    wm_status s = wmi_items_split(list, &names, &count, err);
    if (s == WM_OK && count == 0)
        s = wmi_error_set(err, WM_EINVAL, 0, "the list of columns is empty: it takes names joined by commas");
    if (s == WM_OK) s = choose_named(t, names, count, c, err);
    free(names);
    return s;
}

/* ---- order ---- */

typedef struct sort_key {
    size_t column;
    bool descending;
} sort_key;

typedef struct sorter {
    const wm_table *table;
    sort_key *key;
    size_t count;
} sorter;

/* Each element points to the sorter, because qsort hands no context on. */
typedef struct sort_row {
    const sorter *by;
    size_t row;
} sort_row;

static int compare_values(wm_value a, wm_value b) {
    switch (a.type) {
    case WM_STR: return strcmp(a.as.str, b.as.str);
    case WM_I64: return (a.as.i64 > b.as.i64) - (a.as.i64 < b.as.i64);
    case WM_F64: return (a.as.f64 > b.as.f64) - (a.as.f64 < b.as.f64);
    case WM_BOOL: return (int)a.as.b - (int)b.as.b;
    case WM_NULL: break;
    }
    return 0;
}

/* Nulls come last in either direction. Rows that are equal keep their order. */
static int compare_rows(const void *pa, const void *pb) {
    const sort_row *a = pa, *b = pb;
    const sorter *by = a->by;
    for (size_t i = 0; i < by->count; i++) {
        wm_value x = wmi_table_cell(by->table, a->row, by->key[i].column);
        wm_value y = wmi_table_cell(by->table, b->row, by->key[i].column);
        bool null_x = x.type == WM_NULL, null_y = y.type == WM_NULL;
        if (null_x != null_y) return null_x ? 1 : -1;
        int c = null_x ? 0 : compare_values(x, y);
        if (c != 0) return by->key[i].descending ? (c < 0) - (c > 0) : c;
    }
    return (a->row > b->row) - (a->row < b->row);
}

static wm_status parse_sort(const wm_table *t, char **names, size_t count, sorter *by, wm_error *err) {
    by->key = malloc((count + 1) * sizeof *by->key);
    if (!by->key) return wmi_error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const char *name = names[i];
        bool descending = *name == '-' && wm_table_find(t, name) == SIZE_MAX;
        wm_status s = wmi_column_find(t, name + descending, &by->key[i].column, err);
        if (s != WM_OK) return s;
        by->key[i].descending = descending;
    }
    by->count = count;
    return WM_OK;
}

static wm_status sort_rows(const wm_table *t, const char *list, sort_row *rows, size_t n, wm_error *err) {
    char **names = NULL;
    size_t count = 0;
    sorter by = {t, NULL, 0};
    wm_status s = wmi_items_split(list, &names, &count, err);
    if (s == WM_OK) s = parse_sort(t, names, count, &by, err);
    if (s == WM_OK) {
        for (size_t i = 0; i < n; i++) rows[i].by = &by;
        qsort(rows, n, sizeof *rows, compare_rows);
    }
    free(by.key);
    free(names);
    return s;
}

/* ---- rows ---- */

static wm_status choose_rows(const wm_table *t, const wm_select_opts *o, sort_row **rows, size_t *n,
                             wm_error *err) {
    wmi_filter *filter = NULL;
    wm_status s = o->filter ? wmi_filter_create(t, o->filter, &filter, err) : WM_OK;
    if (s != WM_OK) return s;
    sort_row *chosen_rows = malloc((wm_table_rows(t) + 1) * sizeof *chosen_rows);
    size_t count = 0;
    for (size_t row = 0; chosen_rows && row < wm_table_rows(t); row++)
        if (!filter || wmi_filter_holds(filter, row)) chosen_rows[count++].row = row;
    wmi_filter_destroy(filter);
    if (!chosen_rows) return wmi_error_nomem(err);
    if (o->sort) s = sort_rows(t, o->sort, chosen_rows, count, err);
    if (s != WM_OK) {
        free(chosen_rows);
        return s;
    }
    *rows = chosen_rows;
    *n = count;
    return WM_OK;
}

static wm_status copy_context(const wm_table *from, wm_table *to) {
    wm_status s = WM_OK;
    for (size_t i = 0; s == WM_OK && i < wm_table_context_count(from); i++) {
        const char *key;
        wm_value v;
        s = wm_table_context(from, i, &key, &v);
        if (s == WM_OK) s = wmi_table_set_context(to, key, v);
    }
    return s;
}

/* The unit that all chosen rows have; NULL when they differ. */
static const char *common_unit(const wm_table *from, const sort_row *rows, size_t n) {
    size_t unit = wm_table_find(from, "unit");
    const char *common = NULL;
    for (size_t i = 0; unit != SIZE_MAX && i < n; i++) {
        wm_value v = wmi_table_cell(from, rows[i].row, unit);
        if (v.type != WM_STR || (common && strcmp(common, v.as.str) != 0)) return NULL;
        common = v.as.str;
    }
    return common;
}

static bool chooses(const chosen *c, size_t column) {
    size_t i = 0;
    while (i < c->count && c->column[i] != column) i++;
    return i < c->count;
}

/* Where the column `unit` is left out, its text becomes the unit of the columns that
 * refer to it, so that their values stay quantities. */
static wm_status copy_columns(const wm_table *from, const chosen *c, const sort_row *rows, size_t n,
                              wm_table *to) {
    const char *unit = chooses(c, wm_table_find(from, "unit")) ? NULL : common_unit(from, rows, n);
    wm_status s = WM_OK;
    for (size_t i = 0; s == WM_OK && i < c->count; i++) {
        wm_column column = {0};
        s = wm_table_column(from, c->column[i], &column);
        if (unit && s == WM_OK && strcmp(column.unit, "row") == 0) column.unit = unit;
        if (s == WM_OK) s = wmi_table_add_column(to, column.name, column.type, column.unit, NULL);
    }
    return s;
}

static wm_status copy_row(const wm_table *from, size_t row, const chosen *c, wm_table *to) {
    size_t added;
    wm_status s = wmi_table_add_row(to, &added);
    for (size_t i = 0; s == WM_OK && i < c->count; i++)
        s = wmi_table_set(to, added, i, wmi_table_cell(from, row, c->column[i]));
    return s;
}

static wm_status copy(const wm_table *from, const chosen *c, const sort_row *rows, size_t n, wm_table **out) {
    wm_table *to = wmi_table_create(wm_table_kind(from));
    if (!to) return WM_ENOMEM;
    wm_status s = copy_context(from, to);
    if (s == WM_OK) s = copy_columns(from, c, rows, n, to);
    for (size_t i = 0; s == WM_OK && i < n; i++) s = copy_row(from, rows[i].row, c, to);
    if (s == WM_OK)
        *out = to;
    else
        wm_table_destroy(to);
    return s;
}

wm_status wm_table_select(const wm_table *table, const wm_select_opts *opts, wm_table **out, wm_error *err) {
    wm_select_opts o = WM_SELECT_OPTS_INIT;
    if (!table || !out)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_table_select needs a table and a place for the result");
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    chosen c = {NULL, 0};
    sort_row *rows = NULL;
    size_t n = 0;
    wm_status s = choose_columns(table, o.columns, &c, err);
    if (s == WM_OK) s = choose_rows(table, &o, &rows, &n, err);
    if (s == WM_OK && (s = copy(table, &c, rows, n, out)) != WM_OK) wmi_error_nomem(err);
    free(rows);
    free(c.column);
    return s;
}
