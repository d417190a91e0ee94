/* Tables made by hand, for tests of what reads and writes them. */
#ifndef TEST_MADE_TABLES_H
#define TEST_MADE_TABLES_H

#include <stdlib.h>
#include <string.h>

#include "table/table.h"

/* Set a cell of a column that exists; anything else is a mistake of the test. */
static inline void put(wm_table *t, size_t row, const char *column, wm_value v) {
    if (wmi_table_set(t, row, wm_table_find(t, column), v) != WM_OK) abort();
}

static inline size_t add_row(wm_table *t) {
    size_t row;
    if (wmi_table_add_row(t, &row) != WM_OK) abort();
    return row;
}

/* A row of results with its names, status ok and no values yet. `metric` may be NULL. */
static inline size_t add_result(wm_table *t, const char *benchmark, const char *region, const char *metric,
                                const char *unit, const char *key) {
    size_t row = add_row(t);
    put(t, row, "benchmark", wmi_str(benchmark));
    put(t, row, "region", wmi_str(region));
    if (metric) put(t, row, "metric", wmi_str(metric));
    put(t, row, "unit", wmi_str(unit));
    put(t, row, "config_key", wmi_str(key));
    put(t, row, "status", wmi_str("ok"));
    return row;
}

/* A mean with its spread; of one sample there is no spread. */
static inline void put_summary(wm_table *t, size_t row, double mean, double stddev, int64_t samples) {
    put(t, row, "mean", wmi_f64(mean));
    put(t, row, "median", wmi_f64(mean));
    put(t, row, "min", wmi_f64(mean - stddev));
    put(t, row, "max", wmi_f64(mean + stddev));
    put(t, row, "samples", wmi_i64(samples));
    const char *const spread[] = {"stddev", "ci95_low", "ci95_high", "rel_stddev", "stable"};
    for (size_t i = 0; samples < 2 && i < 5; i++) put(t, row, spread[i], wmi_null(WM_REASON_FEW_SAMPLES));
    if (samples < 2) return;
    put(t, row, "stddev", wmi_f64(stddev));
    put(t, row, "ci95_low", wmi_f64(mean - stddev / 2));
    put(t, row, "ci95_high", wmi_f64(mean + stddev / 2));
    put(t, row, "rel_stddev", wmi_f64(stddev / mean));
    put(t, row, "stable", wmi_bool(stddev / mean < 0.02));
    put(t, row, "stop_reason", wmi_str("runs"));
}

static inline void put_context(wm_table *t, const char *key, wm_value v) {
    if (wmi_table_set_context(t, key, v) != WM_OK) abort();
}

/* Names that have broken writers before. */
static const char *const hard_names[] = {"a,b",
                                         "say \"hi\"",
                                         "back\\slash",
                                         "line\r\nbreak",
                                         "\x01",
                                         "\u00e9t\u00e9",
                                         "bad\xff\xc3(utf8",
                                         "\x1b[31mred",
                                         "operator\"\" _kg",
                                         " edge ",
                                         "",
                                         "12",
                                         "true",
                                         "a|b<i>*x*</i>",
                                         "\u202egnp.exe",
                                         "\ueff0 stand-in",
                                         "nulls",
                                         "name=value%20"};
enum { HARD_NAMES = sizeof hard_names / sizeof hard_names[0] };

/* A table with a column of each type and no row. */
static inline wm_table *one_of_each(void) {
    wm_table *t = wmi_table_create("results");
    wmi_table_add_column(t, "i", WM_I64, "B", NULL);
    wmi_table_add_column(t, "f", WM_F64, "row", NULL);
    wmi_table_add_column(t, "s", WM_STR, "", NULL);
    wmi_table_add_column(t, "b", WM_BOOL, "", NULL);
    return t;
}

/* Hard names as columns, units, cells and context. */
static inline wm_table *table_of_hard_names(void) {
    wm_table *t = wmi_table_create("results");
    for (size_t i = 0; i < HARD_NAMES; i++)
        wmi_table_add_column(t, hard_names[i], WM_STR, hard_names[i], NULL);
    for (size_t i = 0; i < HARD_NAMES; i++) {
        size_t row = add_row(t);
        put_context(t, hard_names[i], wmi_str(hard_names[i]));
        for (size_t k = 0; k < HARD_NAMES; k++)
            if (k != i) wmi_table_set(t, row, k, wmi_str(hard_names[(i + k) % HARD_NAMES]));
        wmi_table_set(t, row, i, wmi_null(WM_REASON_BACKEND));
    }
    return t;
}

#endif
