/* Whether two tables are equal, and where they first differ. */
#include <inttypes.h>
#include <string.h>

#include "table/table.h"

/* Tells 0 from -0, which == does not. */
static bool same_bits(double a, double b) {
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static bool same_value(wm_value a, wm_value b) {
    if (a.type != b.type) return false;
    switch (a.type) {
    case WM_NULL: return a.reason == b.reason;
    case WM_I64: return a.as.i64 == b.as.i64;
    case WM_F64: return same_bits(a.as.f64, b.as.f64);
    case WM_STR: return strcmp(a.as.str, b.as.str) == 0;
    case WM_BOOL: return a.as.b == b.as.b;
    }
    return false;
}

static void show_value(wmi_buf *out, wm_value v) {
    char number[WMI_NUMBER_MAX];
    switch (v.type) {
    case WM_NULL: wmi_buf_printf(out, "null (%s)", wm_reason_slug(v.reason)); break;
    case WM_I64: wmi_buf_printf(out, "int64 %" PRId64, v.as.i64); break;
    case WM_F64:
        wmi_number_text(v.as.f64, number);
        wmi_buf_printf(out, "double %s", number);
        break;
    case WM_STR: wmi_json_string(out, v.as.str); break;
    case WM_BOOL: wmi_buf_str(out, v.as.b ? "true" : "false"); break;
    }
}

static bool differ(wmi_buf *why, wm_value a, wm_value b) {
    if (!why) return false;
    wmi_buf_str(why, ": ");
    show_value(why, a);
    wmi_buf_str(why, " and ");
    show_value(why, b);
    return false;
}

static bool same_count(const char *what, size_t a, size_t b, wmi_buf *why) {
    if (a != b && why) wmi_buf_printf(why, "%s: %zu and %zu", what, a, b);
    return a == b;
}

static bool same_columns(const wm_table *a, const wm_table *b, wmi_buf *why) {
    for (size_t i = 0; i < wm_table_columns(a); i++) {
        wm_column x = {0}, y = {0};
        wm_table_column(a, i, &x);
        wm_table_column(b, i, &y);
        if (strcmp(x.name, y.name) == 0 && x.type == y.type && strcmp(x.unit, y.unit) == 0) continue;
        if (why)
            wmi_buf_printf(why, "column %zu: '%s' (type %d, unit '%s') and '%s' (type %d, unit '%s')", i,
                           x.name, (int)x.type, x.unit, y.name, (int)y.type, y.unit);
        return false;
    }
    return true;
}

static bool same_context(const wm_table *a, const wm_table *b, wmi_buf *why) {
    for (size_t i = 0; i < wm_table_context_count(a); i++) {
        const char *key_a, *key_b;
        wm_value x, y;
        wm_table_context(a, i, &key_a, &x);
        wm_table_context(b, i, &key_b, &y);
        bool same_key = strcmp(key_a, key_b) == 0;
        if (same_key && same_value(x, y)) continue;
        if (why) wmi_buf_printf(why, "context '%s' and '%s'", key_a, key_b);
        return differ(why, x, y);
    }
    return true;
}

static bool same_cells(const wm_table *a, const wm_table *b, wmi_buf *why) {
    for (size_t row = 0; row < wm_table_rows(a); row++) {
        for (size_t i = 0; i < wm_table_columns(a); i++) {
            wm_value x = wmi_table_cell(a, row, i), y = wmi_table_cell(b, row, i);
            if (same_value(x, y)) continue;
            wm_column c = {0};
            wm_table_column(a, i, &c);
            if (why) wmi_buf_printf(why, "row %zu, column '%s'", row, c.name);
            return differ(why, x, y);
        }
    }
    return true;
}

bool wmi_table_equal(const wm_table *a, const wm_table *b, wmi_buf *why) {
    if (strcmp(wm_table_kind(a), wm_table_kind(b)) != 0) {
        if (why) wmi_buf_printf(why, "kind: %s and %s", wm_table_kind(a), wm_table_kind(b));
        return false;
    }
    return same_count("columns", wm_table_columns(a), wm_table_columns(b), why) &&
           same_count("rows", wm_table_rows(a), wm_table_rows(b), why) &&
           same_count("context entries", wm_table_context_count(a), wm_table_context_count(b), why) &&
           same_columns(a, b, why) && same_context(a, b, why) && same_cells(a, b, why);
}
