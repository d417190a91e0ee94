/* The table itself. Cells are typed arrays, one for each column, with one byte
 * of reason beside each cell; strings are kept once and cells hold their number. */
#include "table/table.h"

#include <stdlib.h>
#include <string.h>

#include "table/string_set.h"

_Static_assert(WM_REASON_COUNT <= 256, "a reason fits a byte");

typedef struct column {
    const char *name, *unit; /* of the string set */
    wm_type type;
    union {
        int64_t *i64;
        double *f64;
        uint32_t *str;
        bool *b;
    } cells;
    uint8_t *reason; /* WM_REASON_NONE where the cell has a value */
} column;

typedef struct entry {
    const char *key;
    wm_value value;
} entry;

struct wm_table {
    const char *kind;
    column *columns;
    size_t column_count, column_cap;
    size_t rows, row_cap;
    entry *context;
    size_t context_count, context_cap;
    wmi_string_set strings;
};

/* The table's own copy of a string, or NULL when out of memory. */
static const char *keep(wm_table *t, const char *s) {
    uint32_t id;
    return wmi_string_set_add(&t->strings, s, strlen(s), &id) ? t->strings.text[id] : NULL;
}

wm_table *wmi_table_create(const char *kind) {
    wm_table *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->kind = keep(t, kind);
    if (t->kind) return t;
    wm_table_destroy(t);
    return NULL;
}

void wm_table_destroy(wm_table *t) {
    if (!t) return;
    for (size_t i = 0; i < t->column_count; i++) {
        column *c = &t->columns[i];
        switch (c->type) {
        case WM_I64: free(c->cells.i64); break;
        case WM_F64: free(c->cells.f64); break;
        case WM_STR: free(c->cells.str); break;
        case WM_BOOL: free(c->cells.b); break;
        case WM_NULL: break;
        }
        free(c->reason);
    }
    free(t->columns);
    free(t->context);
    wmi_string_set_free(&t->strings);
    free(t);
}

/* ---- columns and rows ---- */

static bool name_taken(const wm_table *t, const char *name) {
    return strcmp(name, "nulls") == 0 || wm_table_find(t, name) != SIZE_MAX;
}

/* The table's copy of `name`, changed until it is free. */
static const char *free_name(wm_table *t, const char *name) {
    if (!name_taken(t, name)) return keep(t, name);
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_str(&b, "param_");
    wmi_buf_str(&b, name);
    size_t base = b.len;
    for (unsigned n = 2; !b.failed && name_taken(t, b.data); n++) {
        b.len = base;
        wmi_buf_printf(&b, "_%u", n);
    }
    const char *kept = b.failed ? NULL : keep(t, b.data);
    wmi_buf_free(&b);
    return kept;
}

wm_status wmi_table_add_column(wm_table *t, const char *name, wm_type type, const char *unit, size_t *out) {
    if (t->rows > 0) return WM_ESTATE;
    if (type != WM_I64 && type != WM_F64 && type != WM_STR && type != WM_BOOL) return WM_EINVAL;
    if (t->column_count == t->column_cap) {
        size_t cap = t->column_cap ? t->column_cap * 2 : 16;
        column *columns = realloc(t->columns, cap * sizeof *columns);
        if (!columns) return WM_ENOMEM;
        t->columns = columns;
        t->column_cap = cap;
    }
    column c = {free_name(t, name), keep(t, unit), type, {NULL}, NULL};
    if (!c.name || !c.unit) return WM_ENOMEM;
    t->row_cap = 0; /* the new column has no room yet */
    if (out) *out = t->column_count;
    t->columns[t->column_count++] = c;
    return WM_OK;
}

/* Rows that are yet to come are nulls already, so that adding one costs nothing a column. */
static bool grow_column(column *c, size_t rows, size_t cap) {
    uint8_t *reason = realloc(c->reason, cap);
    if (!reason) return false;
    c->reason = reason;
    memset(reason + rows, WM_REASON_NOT_APPLICABLE, cap - rows);
#define GROW(member)                                                                                         \
    do {                                                                                                     \
        void *cells = realloc(c->cells.member, cap * sizeof *c->cells.member);                               \
        if (cells) c->cells.member = cells;                                                                  \
        return cells != NULL;                                                                                \
    } while (0)
    switch (c->type) {
    case WM_I64: GROW(i64);
    case WM_F64: GROW(f64);
    case WM_STR: GROW(str);
    case WM_BOOL: GROW(b);
    case WM_NULL: break;
    }
#undef GROW
    return false;
}

/* Columns grown before a failure are merely larger than they need be. */
wm_status wmi_table_reserve(wm_table *t, size_t rows) {
    if (rows <= t->row_cap) return WM_OK;
    if (rows > SIZE_MAX / sizeof(int64_t)) return WM_ENOMEM;
    for (size_t i = 0; i < t->column_count; i++)
        if (!grow_column(&t->columns[i], t->rows, rows)) return WM_ENOMEM;
    t->row_cap = rows;
    return WM_OK;
}

/* By half at least, as more may follow. Not double: the largest tables are read from files, and what
 * is not used of the last step counts against them. */
static wm_status grow_rows(wm_table *t, size_t rows) {
    const size_t more = t->rows < 16 ? 16 : t->rows + t->rows / 2;
    return wmi_table_reserve(t, more > rows ? more : rows);
}

wm_status wmi_table_add_rows(wm_table *t, size_t count, size_t *first) {
    if (t->column_count == 0) return WM_ESTATE;
    if (count > SIZE_MAX - t->rows) return WM_ENOMEM;
    const size_t rows = t->rows + count;
    if (rows > t->row_cap && grow_rows(t, rows) != WM_OK) return WM_ENOMEM;
    if (first) *first = t->rows;
    t->rows = rows;
    return WM_OK;
}

wm_status wmi_table_add_row(wm_table *t, size_t *out) { return wmi_table_add_rows(t, 1, out); }

/* ---- cells ---- */

static wm_status set_string(wm_table *t, column *c, size_t row, const char *s) {
    uint32_t *cells = c->cells.str;
    /* most cells of a column repeat the one above, which is cheaper to compare than to look up */
    bool repeats =
        row > 0 && c->reason[row - 1] == WM_REASON_NONE && strcmp(t->strings.text[cells[row - 1]], s) == 0;
    if (repeats)
        cells[row] = cells[row - 1];
    else if (!wmi_string_set_add(&t->strings, s, strlen(s), &cells[row]))
        return WM_ENOMEM;
    c->reason[row] = WM_REASON_NONE;
    return WM_OK;
}

static void set_double(column *c, size_t row, double x) {
    bool finite = __builtin_isfinite(x);
    c->reason[row] = finite ? WM_REASON_NONE : WM_REASON_NOT_FINITE;
    if (finite) c->cells.f64[row] = x;
}

wm_status wmi_table_set(wm_table *t, size_t row, size_t col, wm_value v) {
    if (row >= t->rows || col >= t->column_count) return WM_EINVAL;
    column *c = &t->columns[col];
    if (v.type == WM_NULL) {
        c->reason[row] = v.reason == WM_REASON_NONE ? WM_REASON_UNKNOWN : (uint8_t)v.reason;
        return WM_OK;
    }
    if (c->type == WM_F64 && v.type == WM_I64) {
        set_double(c, row, (double)v.as.i64);
        return WM_OK;
    }
    if (c->type != v.type) return WM_EINVAL;
    switch (c->type) {
    case WM_STR: return set_string(t, c, row, v.as.str);
    case WM_F64: set_double(c, row, v.as.f64); return WM_OK;
    case WM_I64: c->cells.i64[row] = v.as.i64; break;
    case WM_BOOL: c->cells.b[row] = v.as.b; break;
    case WM_NULL: break;
    }
    c->reason[row] = WM_REASON_NONE;
    return WM_OK;
}

static void repeat_cell(column *c, size_t row, size_t end) {
#define REPEAT(member)                                                                                       \
    for (size_t i = row + 1; i < end; i++) c->cells.member[i] = c->cells.member[row]
    switch (c->type) {
    case WM_I64: REPEAT(i64); break;
    case WM_F64: REPEAT(f64); break;
    case WM_STR: REPEAT(str); break;
    case WM_BOOL: REPEAT(b); break;
    case WM_NULL: break;
    }
#undef REPEAT
}

wm_status wmi_table_fill(wm_table *t, size_t row, size_t count, size_t col, wm_value v) {
    if (count == 0) return WM_OK;
    if (count > t->rows || row > t->rows - count) return WM_EINVAL;
    wm_status status = wmi_table_set(t, row, col, v);
    if (status != WM_OK) return status;
    column *c = &t->columns[col];
    memset(c->reason + row + 1, c->reason[row], count - 1);
    if (c->reason[row] == WM_REASON_NONE) repeat_cell(c, row, row + count);
    return WM_OK;
}

wm_value wmi_table_cell(const wm_table *t, size_t row, size_t col) {
    const column *c = &t->columns[col];
    if (c->reason[row] != WM_REASON_NONE) return wmi_null((wm_reason)c->reason[row]);
    switch (c->type) {
    case WM_I64: return wmi_i64(c->cells.i64[row]);
    case WM_F64: return wmi_f64(c->cells.f64[row]);
    case WM_STR: return wmi_str(t->strings.text[c->cells.str[row]]);
    case WM_BOOL: return wmi_bool(c->cells.b[row]);
    case WM_NULL: break;
    }
    return wmi_null(WM_REASON_UNKNOWN);
}

/* ---- context ---- */

wm_status wmi_table_set_context(wm_table *t, const char *key, wm_value v) {
    const char *kept = keep(t, key);
    if (!kept) return WM_ENOMEM;
    if (v.type == WM_STR && !(v.as.str = keep(t, v.as.str))) return WM_ENOMEM;
    if (v.type == WM_F64) v = wmi_f64(v.as.f64);
    if (v.type == WM_NULL && v.reason == WM_REASON_NONE) v.reason = WM_REASON_UNKNOWN;
    for (size_t i = 0; i < t->context_count; i++) {
        if (t->context[i].key != kept) continue;
        t->context[i].value = v;
        return WM_OK;
    }
    if (t->context_count == t->context_cap) {
        size_t cap = t->context_cap ? t->context_cap * 2 : 16;
        entry *context = realloc(t->context, cap * sizeof *context);
        if (!context) return WM_ENOMEM;
        t->context = context;
        t->context_cap = cap;
    }
    t->context[t->context_count++] = (entry){kept, v};
    return WM_OK;
}

wm_value wmi_table_context_value(const wm_table *t, const char *key) {
    for (size_t i = 0; i < t->context_count; i++)
        if (strcmp(t->context[i].key, key) == 0) return t->context[i].value;
    return wmi_null(WM_REASON_NOT_APPLICABLE);
}

/* ---- reading ---- */

const char *wm_table_kind(const wm_table *t) { return t ? t->kind : ""; }
size_t wm_table_rows(const wm_table *t) { return t ? t->rows : 0; }
size_t wm_table_columns(const wm_table *t) { return t ? t->column_count : 0; }
size_t wm_table_context_count(const wm_table *t) { return t ? t->context_count : 0; }

wm_status wm_table_column(const wm_table *t, size_t col, wm_column *out) {
    if (!t || !out || col >= t->column_count) return WM_EINVAL;
    const column *c = &t->columns[col];
    *out = (wm_column){c->name, c->type, c->unit};
    return WM_OK;
}

size_t wm_table_find(const wm_table *t, const char *name) {
    if (!t || !name) return SIZE_MAX;
    for (size_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, name) == 0) return i;
    return SIZE_MAX;
}

wm_status wm_table_get(const wm_table *t, size_t row, size_t col, wm_value *out) {
    if (!t || !out || row >= t->rows || col >= t->column_count) return WM_EINVAL;
    *out = wmi_table_cell(t, row, col);
    return WM_OK;
}

wm_status wm_table_context(const wm_table *t, size_t index, const char **key, wm_value *out) {
    if (!t || !key || !out || index >= t->context_count) return WM_EINVAL;
    *key = t->context[index].key;
    *out = t->context[index].value;
    return WM_OK;
}
