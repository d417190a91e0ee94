/* Looking into tables, for tests of what makes them. */
#ifndef TEST_CELLS_H
#define TEST_CELLS_H

#include <math.h>
#include <string.h>

#include "warpmeter.h"

static inline wm_value cell(const wm_table *t, size_t row, const char *column) {
    wm_value v = {WM_NULL, WM_REASON_UNKNOWN, {0}};
    wm_table_get(t, row, wm_table_find(t, column), &v);
    return v;
}

static inline const char *text_cell(const wm_table *t, size_t row, const char *column) {
    const wm_value v = cell(t, row, column);
    return v.type == WM_STR ? v.as.str : "";
}

static inline double number_cell(const wm_table *t, size_t row, const char *column) {
    const wm_value v = cell(t, row, column);
    return v.type == WM_F64 ? v.as.f64 : v.type == WM_I64 ? (double)v.as.i64 : NAN;
}

/* The row of a region, metric and configuration (NULL: any); SIZE_MAX when there is none. */
static inline size_t find_row(const wm_table *t, const char *region, const char *metric, const char *key) {
    for (size_t i = 0; i < wm_table_rows(t); i++)
        if (!strcmp(text_cell(t, i, "region"), region) && !strcmp(text_cell(t, i, "metric"), metric) &&
            (!key || !strcmp(text_cell(t, i, "config_key"), key)))
            return i;
    return SIZE_MAX;
}

#endif
