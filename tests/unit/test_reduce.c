#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "table/reduce.h"

/* ---- building samples ---- */

typedef struct fixture {
    wmi_samples *samples;
    uint32_t bench, root;
    wmi_reduce_opts opts;
    wm_table *table;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    *state = f;
    f->samples = wmi_samples_create();
    f->opts = (wmi_reduce_opts){.stable_threshold = 0.02, .host = "here"};
    if (!f->samples || wmi_samples_bench(f->samples, "bench", &f->bench) != WM_OK) return -1;
    return wmi_samples_node(f->samples, f->bench, UINT32_MAX, 0, &f->root) == WM_OK ? 0 : -1;
}

static int teardown(void **state) {
    fixture *f = *state;
    wm_table_destroy(f->table);
    wmi_samples_destroy(f->samples);
    free(f);
    return 0;
}

static uint32_t config_of(fixture *f, size_t count, const char *const *names, const wm_value *values) {
    uint32_t id;
    assert_int_equal(wmi_samples_config(f->samples, f->bench, count, names, values, &id), WM_OK);
    return id;
}

static uint32_t config_n(fixture *f, int64_t n) {
    const char *name = "n";
    wm_value value = wmi_i64(n);
    return config_of(f, 1, &name, &value);
}

static uint32_t region_of(fixture *f, uint32_t parent, const char *name) {
    uint32_t id;
    assert_int_equal(wmi_samples_node(f->samples, f->bench, parent, wmi_intern(name), &id), WM_OK);
    return id;
}

static uint32_t metric_of(fixture *f, const char *name) {
    bool time = strcmp(name, "time") == 0;
    const wmi_metric m = {name,
                          time ? "ns" : "",
                          "text",
                          "cpu",
                          time ? "tsc" : "",
                          time ? WMI_BETTER_LOWER : WMI_BETTER_NONE,
                          WMI_COMBINE_SUM,
                          WMI_OF_NONE};
    uint32_t id;
    assert_int_equal(wmi_samples_metric(f->samples, &m, &id), WM_OK);
    return id;
}

static wmi_series *series_of(fixture *f, uint32_t config, uint32_t region, const char *metric, int32_t pass) {
    wmi_series *s;
    assert_int_equal(wmi_samples_series(f->samples, config, region, metric_of(f, metric), pass, &s), WM_OK);
    if (s->n == 0 && pass >= 0) s->batch_min = s->batch_max = 1;
    return s;
}

static wmi_series *add(fixture *f, uint32_t config, uint32_t region, const char *metric, int32_t pass,
                       const double *x, size_t n) {
    wmi_series *s = series_of(f, config, region, metric, pass);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(
            wmi_series_add(s, (int32_t)i, x[i], isnan(x[i]) ? WM_REASON_NOT_COUNTED : WM_REASON_NONE), WM_OK);
    s->entries = n;
    s->threads = 1;
    return s;
}
#define ADD(f, config, region, metric, pass, ...)                                                            \
    add(f, config, region, metric, pass, (const double[]){__VA_ARGS__},                                      \
        sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* ---- reading the table ---- */

static void reduce(fixture *f) {
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_reduce(f->samples, &f->opts, &f->table, &err), WM_OK);
}

static wm_value cell(const fixture *f, size_t row, const char *column) {
    wm_value v;
    assert_int_equal(wm_table_get(f->table, row, wm_table_find(f->table, column), &v), WM_OK);
    return v;
}

/* The row of a region and a metric (in the first configuration that has it). */
static size_t row_of(const fixture *f, const char *region, const char *metric) {
    for (size_t i = 0; i < wm_table_rows(f->table); i++) {
        wm_value r = cell(f, i, "region"), m = cell(f, i, "metric");
        if (r.type == WM_STR && m.type == WM_STR && !strcmp(r.as.str, region) && !strcmp(m.as.str, metric))
            return i;
    }
    return SIZE_MAX;
}

static void check_number(const fixture *f, size_t row, const char *column, double want, int line) {
    wm_value v = cell(f, row, column);
    if (v.type != WM_F64) fail_msg("line %d: %s is a null (%s)", line, column, wm_reason_slug(v.reason));
    if (!(fabs(v.as.f64 - want) <= 1e-12 * fabs(want)))
        fail_msg("line %d: %s is %.17g, not %.17g", line, column, v.as.f64, want);
}
#define NUMBER(row, column, want) check_number(f, row, column, want, __LINE__)

static void check_null(const fixture *f, size_t row, const char *column, wm_reason want, int line) {
    wm_value v = cell(f, row, column);
    if (v.type != WM_NULL) fail_msg("line %d: %s has a value", line, column);
    if (v.reason != want)
        fail_msg("line %d: %s is null for %s, not %s", line, column, wm_reason_slug(v.reason),
                 wm_reason_slug(want));
}
#define NOTHING(row, column, want) check_null(f, row, column, WM_REASON_##want, __LINE__)

static void check_text(const fixture *f, size_t row, const char *column, const char *want, int line) {
    wm_value v = cell(f, row, column);
    if (v.type != WM_STR) fail_msg("line %d: %s is a null (%s)", line, column, wm_reason_slug(v.reason));
    if (strcmp(v.as.str, want) != 0) fail_msg("line %d: %s is '%s', not '%s'", line, column, v.as.str, want);
}
#define TEXT(row, column, want) check_text(f, row, column, want, __LINE__)

static void check_whole(const fixture *f, size_t row, const char *column, int64_t want, int line) {
    wm_value v = cell(f, row, column);
    if (v.type != WM_I64) fail_msg("line %d: %s is a null (%s)", line, column, wm_reason_slug(v.reason));
    if (v.as.i64 != want) fail_msg("line %d: %s is %lld", line, column, (long long)v.as.i64);
}
#define WHOLE(row, column, want) check_whole(f, row, column, want, __LINE__)

/* ---- rows ---- */

static void a_row_says_all_about_its_samples(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 128);
    wmi_series *s = ADD(f, c, f->root, "time", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    s->threads = 4;
    s->entries = 20;
    s->batch_max = 64;
    wmi_samples_config_at(f->samples, c)->stop_reason = "runs";
    reduce(f);
    assert_string_equal(wm_table_kind(f->table), "results");
    assert_int_equal(wm_table_rows(f->table), 1);
    TEXT(0, "benchmark", "bench");
    TEXT(0, "region", "bench");
    TEXT(0, "metric", "time");
    TEXT(0, "unit", "ns");
    NUMBER(0, "mean", 5.5);
    NUMBER(0, "stddev", 3.0276503540974917);
    NUMBER(0, "min", 1);
    NUMBER(0, "max", 10);
    NUMBER(0, "median", 5.5);
    NUMBER(0, "p05", 1.45);
    NUMBER(0, "p95", 9.549999999999999);
    WHOLE(0, "samples", 10);
    /* t(0.975, 9) = 2.262157162798205 */
    NUMBER(0, "ci95_low", 5.5 - 2.262157162798205 * 3.0276503540974917 / sqrt(10));
    NUMBER(0, "ci95_high", 5.5 + 2.262157162798205 * 3.0276503540974917 / sqrt(10));
    NUMBER(0, "rel_stddev", 3.0276503540974917 / 5.5);
    assert_false(cell(f, 0, "stable").as.b);
    WHOLE(0, "outliers", 0);
    TEXT(0, "better", "lower");
    TEXT(0, "status", "ok");
    NOTHING(0, "reason", NOT_APPLICABLE);
    TEXT(0, "stop_reason", "runs");
    WHOLE(0, "entries", 20);
    WHOLE(0, "threads", 4);
    WHOLE(0, "batch", 64);
    TEXT(0, "backend", "cpu");
    TEXT(0, "timer", "tsc");
    TEXT(0, "host", "here");
    TEXT(0, "config_key", "n=128");
    WHOLE(0, "n", 128);
    static const char *const empty[] = {"baseline", "ratio",    "ratio_ci95_low", "ratio_ci95_high",
                                        "kernel",   "kernels",  "shared",         "sm_clock_hz",
                                        "device",   "evaluated"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) NOTHING(0, empty[i], NOT_APPLICABLE);
}

static void one_sample_has_no_spread(void **state) {
    fixture *f = *state;
    ADD(f, config_n(f, 1), f->root, "time", 0, 7);
    reduce(f);
    NUMBER(0, "mean", 7);
    NUMBER(0, "median", 7);
    NUMBER(0, "p05", 7);
    NUMBER(0, "p95", 7);
    WHOLE(0, "samples", 1);
    WHOLE(0, "outliers", 0);
    static const char *const few[] = {"stddev", "ci95_low", "ci95_high", "rel_stddev", "stable"};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) NOTHING(0, few[i], FEW_SAMPLES);
    TEXT(0, "status", "ok");
}

static void relative_spread_of_negative_and_zero_means(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1);
    ADD(f, c, f->root, "minus", 0, -10, -30);
    ADD(f, c, f->root, "zero", 0, -1, 1);
    ADD(f, c, f->root, "steady", 0, 100, 101, 99);
    reduce(f);
    NUMBER(0, "rel_stddev", 0.7071067811865476);
    assert_false(cell(f, 0, "stable").as.b);
    NOTHING(1, "rel_stddev", ZERO_MEAN);
    NOTHING(1, "stable", ZERO_MEAN);
    NUMBER(1, "mean", 0);
    NUMBER(2, "rel_stddev", 0.01);
    assert_true(cell(f, 2, "stable").as.b);
}

static void nulls_are_left_out(void **state) {
    fixture *f = *state;
    ADD(f, config_n(f, 1), f->root, "cycles", 1, NAN, 10, NAN, 20);
    reduce(f);
    WHOLE(0, "samples", 2);
    NUMBER(0, "mean", 15);
    TEXT(0, "status", "ok");
}

static void a_metric_without_values_is_missing(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1);
    ADD(f, c, f->root, "cycles", 1, NAN, NAN);
    wmi_series *s = series_of(f, c, f->root, "cache-misses", -1);
    assert_int_equal(wmi_series_add(s, 0, 0.0, WM_REASON_NO_EVENT), WM_OK);
    s->why = "perf: no hardware counters in this virtual machine";
    series_of(f, c, f->root, "empty", 2);
    reduce(f);
    TEXT(0, "status", "missing");
    TEXT(0, "reason", wm_reason_text(WM_REASON_NOT_COUNTED));
    NOTHING(0, "mean", NOT_COUNTED);
    NOTHING(0, "stable", NOT_COUNTED);
    NOTHING(0, "outliers", NOT_COUNTED);
    WHOLE(0, "samples", 0);
    TEXT(1, "status", "missing");
    TEXT(1, "reason", "perf: no hardware counters in this virtual machine");
    NOTHING(1, "ci95_low", NO_EVENT);
    NOTHING(2, "mean", NO_SAMPLES);
}

static void lost_marks_are_an_error_and_values_stay(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1), a = region_of(f, f->root, "a");
    ADD(f, c, f->root, "time", 0, 9, 9)->unmatched = 1;
    wmi_series *s = ADD(f, c, a, "time", 0, 5, 6);
    s->dropped = 3;
    s->unmatched = 2;
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), 2); /* the whole function has a row: it has news */
    TEXT(0, "status", "error");
    TEXT(0, "reason", "1 begin or end has no partner");
    TEXT(1, "status", "error");
    TEXT(1, "reason", "3 marks were dropped because a ring was full; 2 begins or ends have no partner");
    NUMBER(1, "mean", 5.5);
}

static void skipped_failed_and_good_configurations(void **state) {
    fixture *f = *state;
    uint32_t skipped = config_n(f, 1), failed = config_n(f, 2), half = config_n(f, 3), good = config_n(f, 4);
    uint32_t nothing = config_n(f, 5);
    assert_int_equal(wmi_samples_set_state(f->samples, skipped, WMI_CONFIG_SKIPPED, "too large"), WM_OK);
    assert_int_equal(wmi_samples_set_state(f->samples, failed, WMI_CONFIG_FAILED, "no \"memory\", they say"),
                     WM_OK);
    assert_int_equal(wmi_samples_set_state(f->samples, half, WMI_CONFIG_FAILED, NULL), WM_OK);
    wmi_samples_config_at(f->samples, nothing)->stop_reason = "timeout";
    ADD(f, good, f->root, "time", 0, 1, 2);
    ADD(f, half, f->root, "time", 0, 3, 4);
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), 5);
    TEXT(0, "status", "skipped");
    TEXT(0, "reason", "too large");
    NOTHING(0, "region", NOT_RUN);
    NOTHING(0, "metric", NOT_RUN);
    NOTHING(0, "mean", NOT_RUN);
    NOTHING(0, "stable", NOT_RUN);
    WHOLE(0, "samples", 0);
    WHOLE(0, "n", 1);
    TEXT(0, "config_key", "n=1");
    TEXT(1, "status", "failed");
    TEXT(1, "reason", "no \"memory\", they say");
    TEXT(2, "status", "failed"); /* failed half way: what was measured is kept */
    TEXT(2, "reason", wm_reason_text(WM_REASON_NOT_RUN));
    NUMBER(2, "mean", 3.5);
    TEXT(3, "status", "ok");
    TEXT(4, "status", "missing"); /* the time ran out before the first sample */
    TEXT(4, "reason", wm_reason_text(WM_REASON_NO_SAMPLES));
    TEXT(4, "stop_reason", "timeout");
    NOTHING(4, "mean", NO_SAMPLES);
}

static void rows_are_in_order(void **state) {
    fixture *f = *state;
    uint32_t one = config_n(f, 1), two = config_n(f, 2);
    uint32_t step = region_of(f, f->root, "step"), inner = region_of(f, step, "inner");
    uint32_t other;
    assert_int_equal(wmi_samples_bench(f->samples, "second", &other), WM_OK);
    ADD(f, two, inner, "cycles", 1, 1); /* filled backwards */
    ADD(f, two, inner, "time", 0, 1);
    ADD(f, two, step, "time", 0, 1);
    ADD(f, one, inner, "time", 0, 1);
    ADD(f, one, step, "time", 0, 1);
    const wmi_reduce_opts opts[2] = {f->opts, f->opts};
    assert_int_equal(wmi_reduce(f->samples, opts, &f->table, NULL), WM_OK);
    static const char *const want[5][3] = {{"n=1", "step", "time"},
                                           {"n=1", "step/inner", "time"},
                                           {"n=2", "step", "time"},
                                           {"n=2", "step/inner", "cycles"},
                                           {"n=2", "step/inner", "time"}};
    assert_int_equal(wm_table_rows(f->table), 5);
    for (size_t i = 0; i < 5; i++) {
        TEXT(i, "config_key", want[i][0]);
        TEXT(i, "region", want[i][1]);
        TEXT(i, "metric", want[i][2]);
    }
}

static void the_function_has_no_row_beside_regions(void **state) {
    fixture *f = *state;
    uint32_t marked = config_n(f, 1), plain = config_n(f, 2), given = config_n(f, 3), manual = config_n(f, 4);
    uint32_t a = region_of(f, f->root, "a");
    ADD(f, marked, f->root, "time", 0, 1);
    ADD(f, marked, f->root, "cycles", 1, 1);
    ADD(f, marked, a, "time", 0, 1);
    ADD(f, marked, a, "cycles", 1, 1);
    ADD(f, plain, f->root, "time", 0, 1);
    ADD(f, given, f->root, "time", 0, 1);
    ADD(f, given, f->root, "score", 0, 1)->batch_max = 0; /* recorded by the program */
    ADD(f, given, a, "time", 0, 1);
    ADD(f, manual, f->root, "time", 0, 1)->manual = true;
    ADD(f, manual, a, "time", 0, 1);
    reduce(f);
    static const char *const want[][3] = {
        {"n=1", "a", "time"},      {"n=1", "a", "cycles"}, {"n=2", "bench", "time"}, {"n=3", "bench", "time"},
        {"n=3", "bench", "score"}, {"n=3", "a", "time"},   {"n=4", "bench", "time"}, {"n=4", "a", "time"}};
    assert_int_equal(wm_table_rows(f->table), 8);
    for (size_t i = 0; i < 8; i++) {
        TEXT(i, "config_key", want[i][0]);
        TEXT(i, "region", want[i][1]);
        TEXT(i, "metric", want[i][2]);
    }
    TEXT(6, "timer", "manual");
    NOTHING(4, "batch", NOT_APPLICABLE);
    NOTHING(4, "timer", NOT_APPLICABLE);
    WHOLE(4, "entries", 1);
}

static void parameters_of_several_types(void **state) {
    fixture *f = *state;
    const char *names[] = {"n", "mixed", "mean"};
    const wm_value first[] = {wmi_i64(1), wmi_i64(2), wmi_bool(true)};
    const wm_value second[] = {wmi_f64(1.5), wmi_str("x"), wmi_bool(false)};
    ADD(f, config_of(f, 3, names, first), f->root, "time", 0, 1);
    ADD(f, config_of(f, 3, names, second), f->root, "time", 0, 1);
    ADD(f, config_of(f, 0, NULL, NULL), f->root, "time", 0, 1);
    reduce(f);
    NUMBER(0, "n", 1);
    NUMBER(1, "n", 1.5);
    TEXT(0, "mixed", "2");
    TEXT(1, "mixed", "x");
    NOTHING(2, "n", NOT_APPLICABLE);
    assert_true(cell(f, 0, "param_mean").as.b); /* "mean" is taken */
    assert_int_equal(cell(f, 1, "param_mean").type, WM_BOOL);
    NUMBER(0, "mean", 1);
}

/* ---- derived metrics ---- */

static bool per_item(void *user, const double *in, double *out) {
    *out = in[0] / in[1] * *(const double *)user;
    return in[1] >= 0;
}

typedef struct deriving {
    wmi_formula *formula[4];
    wmi_derive derive[4];
} deriving;

static void derive_with(fixture *f, deriving *d, size_t count, const char *const *texts) {
    wm_error err = WM_ERROR_INIT;
    for (size_t i = 0; i < count; i++) {
        if (wmi_formula_parse(texts[i], &d->formula[i], &err) != WM_OK) fail_msg("%s", err.message);
        d->derive[i] = (wmi_derive){.formula = d->formula[i]};
    }
    f->opts.derive = d->derive;
    f->opts.derive_count = count;
}

static void derive_done(deriving *d) {
    for (size_t i = 0; i < 4; i++) wmi_formula_destroy(d->formula[i]);
}

static void formulas_are_computed_for_each_sample(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *names[] = {"n", "half", "on"};
    const wm_value values[] = {wmi_i64(8), wmi_f64(0.5), wmi_bool(true)};
    const char *texts[] = {"rate = 2*n*half*on/time [item/ns]", "back = 1/rate [ns]"};
    derive_with(f, &d, 2, texts);
    wmi_series *s = ADD(f, config_of(f, 3, names, values), f->root, "time", 0, 1, 2, NAN, 4);
    s->threads = 2;
    reduce(f);
    derive_done(&d);
    assert_int_equal(wm_table_rows(f->table), 3);
    TEXT(1, "metric", "rate");
    TEXT(1, "unit", "item/ns");
    TEXT(1, "evaluated", "samples");
    NOTHING(1, "better", NOT_APPLICABLE); /* the unit is neither a time nor a rate a second */
    WHOLE(1, "samples", 3);
    NUMBER(1, "mean", (8.0 + 4.0 + 2.0) / 3.0); /* not 8 / mean(time) */
    NUMBER(1, "max", 8);
    NUMBER(1, "median", 4);
    NUMBER(1, "stddev", 3.055050463303893);
    WHOLE(1, "threads", 2);
    WHOLE(1, "entries", 4);
    NOTHING(1, "backend", NOT_APPLICABLE);
    NOTHING(1, "timer", NOT_APPLICABLE);
    TEXT(2, "metric", "back");
    NUMBER(2, "mean", (1.0 + 2.0 + 4.0) / 8.0 / 3.0);
    NOTHING(0, "evaluated", NOT_APPLICABLE);
}

static void formulas_over_several_passes_use_the_means(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"ipc = instructions/cycles", "more = ipc + time"};
    derive_with(f, &d, 2, texts);
    uint32_t c = config_n(f, 1);
    ADD(f, c, f->root, "time", 0, 1, 3);
    ADD(f, c, f->root, "instructions", 1, 100, 300, 200);
    ADD(f, c, f->root, "cycles", 2, 50, 150);
    reduce(f);
    derive_done(&d);
    size_t row = row_of(f, "bench", "ipc");
    TEXT(row, "evaluated", "summary");
    TEXT(row, "status", "ok");
    NUMBER(row, "mean", 2);
    WHOLE(row, "samples", 2);
    static const char *const none[] = {"stddev",   "min",       "max",        "median", "p05",     "p95",
                                       "ci95_low", "ci95_high", "rel_stddev", "stable", "outliers"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) NOTHING(row, none[i], NOT_APPLICABLE);
    row = row_of(f, "bench", "more");
    TEXT(row, "evaluated", "summary");
    NUMBER(row, "mean", 4);
}

static void runs_that_differ_are_not_put_together(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"sum = a + b", "same = a + c"};
    derive_with(f, &d, 2, texts);
    uint32_t c = config_n(f, 1);
    ADD(f, c, f->root, "a", 0, 1, 2);
    wmi_series *b = series_of(f, c, f->root, "b", 0); /* the same number of values, of other runs */
    assert_int_equal(wmi_series_add(b, 1, 10, WM_REASON_NONE), WM_OK);
    assert_int_equal(wmi_series_add(b, 2, 20, WM_REASON_NONE), WM_OK);
    ADD(f, c, f->root, "c", 0, 10, 20);
    reduce(f);
    derive_done(&d);
    TEXT(row_of(f, "bench", "sum"), "evaluated", "summary");
    NUMBER(row_of(f, "bench", "sum"), "mean", 16.5);
    TEXT(row_of(f, "bench", "same"), "evaluated", "samples");
    NUMBER(row_of(f, "bench", "same"), "max", 22);
}

static void derived_values_that_do_not_exist(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"inverse = 1/zero", "root = sqrt(minus)", "miss = `cache-misses`/time",
                           "lost = time*2"};
    derive_with(f, &d, 4, texts);
    uint32_t c = config_n(f, 1), a = region_of(f, f->root, "a");
    ADD(f, c, a, "zero", 0, 0, 0);
    ADD(f, c, a, "minus", 0, -1, 4);
    wmi_series *s = series_of(f, c, a, "cache-misses", -1);
    assert_int_equal(wmi_series_add(s, 0, 0, WM_REASON_PERMISSION), WM_OK);
    s->why = "perf_event_paranoid is 3";
    s = ADD(f, c, a, "time", 0, 1, 2);
    s->dropped = 1;
    reduce(f);
    derive_done(&d);
    TEXT(row_of(f, "a", "inverse"), "status", "missing");
    NOTHING(row_of(f, "a", "inverse"), "mean", NOT_FINITE);
    WHOLE(row_of(f, "a", "root"), "samples", 1);
    NUMBER(row_of(f, "a", "root"), "mean", 2);
    TEXT(row_of(f, "a", "miss"), "status", "error"); /* time lost a mark */
    NOTHING(row_of(f, "a", "miss"), "mean", PERMISSION);
    TEXT(row_of(f, "a", "lost"), "status", "error");
    TEXT(row_of(f, "a", "lost"), "reason", "1 mark was dropped because a ring was full");
    NUMBER(row_of(f, "a", "lost"), "mean", 3);
}

static void a_region_without_an_input_has_no_row(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"twice = 2*score", "four = 2*twice", "area = n*n"};
    derive_with(f, &d, 3, texts);
    uint32_t c = config_n(f, 3);
    ADD(f, c, region_of(f, f->root, "a"), "time", 0, 1);
    ADD(f, c, region_of(f, f->root, "b"), "score", 0, 5, 6);
    reduce(f);
    derive_done(&d);
    assert_int_equal(row_of(f, "a", "twice"), SIZE_MAX);
    assert_int_equal(row_of(f, "a", "four"), SIZE_MAX);
    NUMBER(row_of(f, "b", "four"), "mean", 22);
    size_t row = row_of(f, "a", "area"); /* of parameters alone */
    NUMBER(row, "mean", 9);
    TEXT(row, "evaluated", "summary");
    NOTHING(row, "samples", NOT_APPLICABLE);
    NOTHING(row, "stddev", NOT_APPLICABLE);
}

static void a_constant_keeps_a_formula_per_sample(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"work = n*2", "speed = work/time"};
    derive_with(f, &d, 2, texts);
    ADD(f, config_n(f, 4), f->root, "time", 0, 1, 2);
    reduce(f);
    derive_done(&d);
    TEXT(row_of(f, "bench", "speed"), "evaluated", "samples");
    NUMBER(row_of(f, "bench", "speed"), "max", 8);
    NUMBER(row_of(f, "bench", "speed"), "min", 4);
}

static void functions_derive_too(void **state) {
    fixture *f = *state;
    double scale = 10;
    const wm_derivation cost = {"cost", "ns", " time , n,", per_item};
    const wm_derivation plain = {"plain", NULL, "time,n", per_item};
    const wmi_derive derive[] = {{NULL, &cost, &scale}, {NULL, &plain, &scale}};
    f->opts.derive = derive;
    f->opts.derive_count = 2;
    ADD(f, config_n(f, 4), f->root, "time", 0, 2, 4);
    ADD(f, config_n(f, -1), f->root, "time", 0, 2, 4);
    reduce(f);
    TEXT(1, "metric", "cost");
    TEXT(1, "unit", "ns");
    TEXT(1, "evaluated", "samples");
    NUMBER(1, "min", 5);
    NUMBER(1, "max", 10);
    TEXT(2, "unit", "");
    TEXT(4, "status", "missing"); /* it said: no value */
    NOTHING(4, "mean", NOT_FINITE);
}

static bool counted_sum(void *user, const double *in, double *out) {
    ++*(int *)user;
    *out = in[0] + in[1];
    return true;
}

/* c reads b twice over, by itself and through d: once a sample and row all the same. */
static void shared_inputs_are_computed_once(void **state) {
    fixture *f = *state;
    int calls = 0, others = 0;
    const wm_derivation b = {"b", "", "time,n", counted_sum}, d = {"d", "", "b,time", counted_sum},
                        c = {"c", "", "b,d", counted_sum};
    const wmi_derive derive[] = {{NULL, &b, &calls}, {NULL, &d, &others}, {NULL, &c, &others}};
    f->opts.derive = derive;
    f->opts.derive_count = 3;
    ADD(f, config_n(f, 10), f->root, "time", 0, 1, 2, 3, 4);
    reduce(f);
    NUMBER(row_of(f, "bench", "c"), "mean", 27.5);
    assert_int_equal(calls, 3 * 4);
    assert_int_equal(others, 3 * 4);
}

static void names_in_formulas_are_checked(void **state) {
    fixture *f = *state;
    deriving d = {0};
    wm_error err = WM_ERROR_INIT;
    const char *known[] = {"time", "n", "page-faults"};
    const char *good[] = {"a = time/n", "b = a*`page-faults`"};
    derive_with(f, &d, 2, good);
    assert_int_equal(wmi_derive_check(d.derive, 2, known, 3, &err), WM_OK);
    assert_int_equal(wmi_derive_check(NULL, 0, known, 3, &err), WM_OK);
    derive_done(&d);

    const char *typo[] = {"a = tine/n"};
    derive_with(f, &d, 1, typo);
    assert_int_equal(wmi_derive_check(d.derive, 1, known, 3, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "'tine'"));
    assert_non_null(strstr(err.message, "did you mean time"));
    assert_non_null(strstr(err.message, "a = tine/n"));
    assert_int_equal(wmi_derive_check(d.derive, 1, known, 3, NULL), WM_ENOTFOUND);
    wmi_formula_destroy(d.formula[0]);

    const char *later[] = {"a = b", "b = time"}; /* only earlier ones can be read */
    derive_with(f, &d, 2, later);
    assert_int_equal(wmi_derive_check(d.derive, 2, known, 3, &err), WM_ENOTFOUND);
    derive_done(&d);

    const char *taken[] = {"time = n"};
    derive_with(f, &d, 1, taken);
    assert_int_equal(wmi_derive_check(d.derive, 1, known, 3, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "'time'"));
    wmi_formula_destroy(d.formula[0]);

    const wm_derivation function = {"x", "", "time, nonsense", per_item};
    const wmi_derive derive = {NULL, &function, NULL};
    assert_int_equal(wmi_derive_check(&derive, 1, known, 3, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "'x' reads 'nonsense'"));
}

/* ---- normalising ---- */

/* References: the roots of Fieller's quadratic by mpmath at 40 digits. */
static void ratios_to_a_region(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1), fast = region_of(f, f->root, "fast"), slow = region_of(f, f->root, "slow");
    ADD(f, c, fast, "time", 0, 10.1, 9.8, 10.4, 10.0, 9.9);
    ADD(f, c, slow, "time", 0, 20.3, 19.7, 20.1, 20.6, 19.9, 20.2, 19.8);
    f->opts.baseline = "slow";
    reduce(f);
    TEXT(0, "baseline", "slow");
    NUMBER(0, "ratio", 0.49985775248933144);
    NUMBER(0, "ratio_ci95_low", 0.48580149384860292);
    NUMBER(0, "ratio_ci95_high", 0.51411308344735467);
    TEXT(1, "baseline", "slow");
    NUMBER(1, "ratio", 1);
    NUMBER(1, "ratio_ci95_low", 1);
    NUMBER(1, "ratio_ci95_high", 1);
}

static void samples_of_the_same_runs_are_pairs(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"twice = 2*time"};
    derive_with(f, &d, 1, texts);
    uint32_t c = config_n(f, 1), other = config_n(f, 2);
    uint32_t fast = region_of(f, f->root, "fast"), slow = region_of(f, f->root, "slow");
    ADD(f, c, fast, "time", 0, 10.1, 9.8, 10.4, 10.0, 9.9);
    ADD(f, c, slow, "time", 0, 20.3, 19.5, 20.9, 20.1, 19.7);
    ADD(f, other, fast, "time", 0, 10.1, 9.8, 10.4, 10.0, 9.9, NAN); /* a null: no pairs */
    ADD(f, other, slow, "time", 0, 20.3, 19.5, 20.9, 20.1, 19.7, NAN);
    f->opts.baseline = "slow";
    reduce(f);
    derive_done(&d);
    for (size_t row = 0; row < 2; row++) { /* time and twice */
        NUMBER(row, "ratio", 0.49950248756218907);
        NUMBER(row, "ratio_ci95_low", 0.49622465716875762);
        NUMBER(row, "ratio_ci95_high", 0.50297019959295838);
    }
    NUMBER(4, "ratio", 0.49950248756218907);
    NUMBER(4, "ratio_ci95_low", 0.48145039991716444);
    NUMBER(4, "ratio_ci95_high", 0.51835223625393033);
}

static void ratios_that_do_not_exist(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1), other = config_n(f, 2);
    uint32_t a = region_of(f, f->root, "a"), base = region_of(f, f->root, "base");
    ADD(f, c, a, "misses", 0, 1, 2, 3);
    ADD(f, c, a, "cycles", 1, 1, 2, 3);
    ADD(f, c, a, "gone", 1, NAN);
    ADD(f, c, a, "wild", 0, 1, 2, 3);
    ADD(f, c, a, "alone", 0, 1, 2, 3);
    ADD(f, c, a, "only", 0, 5);
    ADD(f, c, base, "misses", 0, 0, 0, 0);
    ADD(f, c, base, "time", 0, 0, 0, 0);
    ADD(f, c, base, "cycles", 1, NAN);
    ADD(f, c, base, "gone", 1, 4, 5);
    ADD(f, c, base, "wild", 0, 0.5, -1, 2, 1.5);
    ADD(f, c, base, "only", 0, 2, 3);
    ADD(f, other, a, "time", 0, 1, 2);
    f->opts.baseline = "base";
    reduce(f);
    size_t row = row_of(f, "a", "misses");
    NOTHING(row, "ratio", ZERO_BASELINE);
    NOTHING(row, "ratio_ci95_low", ZERO_BASELINE);
    NOTHING(row_of(f, "base", "misses"), "ratio", ZERO_BASELINE);
    NOTHING(row_of(f, "base", "time"), "mean", RESOLUTION); /* a clock that never moved */
    NOTHING(row_of(f, "a", "cycles"), "ratio", NO_BASELINE);
    NOTHING(row_of(f, "a", "gone"), "ratio", NOT_COUNTED);
    NOTHING(row_of(f, "base", "cycles"), "ratio", NOT_COUNTED);
    NOTHING(row_of(f, "a", "alone"), "ratio", NO_BASELINE);
    row = row_of(f, "a", "wild");
    NUMBER(row, "ratio", 2.0 / 0.75);
    NOTHING(row, "ratio_ci95_low", UNBOUNDED);
    NOTHING(row, "ratio_ci95_high", UNBOUNDED);
    row = row_of(f, "a", "only");
    NUMBER(row, "ratio", 2);
    NOTHING(row, "ratio_ci95_low", FEW_SAMPLES);
    row = wm_table_rows(f->table) - 1; /* the configuration that lacks the region */
    TEXT(row, "config_key", "n=2");
    TEXT(row, "baseline", "base");
    NOTHING(row, "ratio", NO_BASELINE);
    TEXT(row, "status", "ok");
}

static void ratios_of_values_computed_from_means(void **state) {
    fixture *f = *state;
    deriving d = {0};
    const char *texts[] = {"ipc = instructions/cycles"};
    derive_with(f, &d, 1, texts);
    uint32_t c = config_n(f, 1), a = region_of(f, f->root, "a"), b = region_of(f, f->root, "b");
    ADD(f, c, a, "instructions", 1, 300, 100);
    ADD(f, c, a, "cycles", 2, 100, 100);
    ADD(f, c, b, "instructions", 1, 100, 100);
    ADD(f, c, b, "cycles", 2, 200, 200);
    f->opts.baseline = "b";
    reduce(f);
    derive_done(&d);
    NUMBER(row_of(f, "a", "ipc"), "ratio", 4);
    NOTHING(row_of(f, "a", "ipc"), "ratio_ci95_low", NOT_APPLICABLE);
    NUMBER(row_of(f, "b", "ipc"), "ratio_ci95_high", 1);
}

static void the_baseline_is_found_by_path_or_by_its_last_part(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 1), x = region_of(f, f->root, "x"), y = region_of(f, f->root, "y");
    uint32_t deep = region_of(f, x, "deep"), naive = region_of(f, x, "naive"),
             other = region_of(f, y, "naive");
    ADD(f, c, deep, "time", 0, 4);
    ADD(f, c, naive, "time", 0, 2);
    ADD(f, c, other, "time", 0, 1);
    f->opts.baseline = "deep";
    reduce(f);
    TEXT(0, "baseline", "x/deep");
    NUMBER(1, "ratio", 0.5);
    wm_table_destroy(f->table);
    f->opts.baseline = "y/naive";
    reduce(f);
    NUMBER(0, "ratio", 4);
    wm_table_destroy(f->table);
    f->opts.baseline = "naive"; /* two of them */
    reduce(f);
    TEXT(0, "baseline", "naive");
    NOTHING(0, "ratio", NO_BASELINE);
}

/* ---- raw samples ---- */

static void samples_become_rows(void **state) {
    fixture *f = *state;
    uint32_t c = config_n(f, 5);
    ADD(f, c, region_of(f, f->root, "a"), "time", 0, 1.5, NAN);
    wmi_series *s = series_of(f, c, f->root, "gone", -1);
    assert_int_equal(wmi_series_add(s, 3, 0, WM_REASON_NO_EVENT), WM_OK);
    assert_int_equal(wmi_samples_to_table(f->samples, &f->table, NULL), WM_OK);
    assert_string_equal(wm_table_kind(f->table), "samples");
    assert_int_equal(wm_table_rows(f->table), 3);
    TEXT(0, "benchmark", "bench");
    TEXT(0, "region", "a");
    TEXT(0, "metric", "time");
    TEXT(0, "unit", "ns");
    WHOLE(0, "run", 0);
    WHOLE(0, "pass", 0);
    NUMBER(0, "value", 1.5);
    NOTHING(0, "reason", NOT_APPLICABLE);
    TEXT(0, "config_key", "n=5");
    WHOLE(0, "n", 5);
    WHOLE(1, "run", 1);
    NOTHING(1, "value", NOT_COUNTED);
    TEXT(1, "reason", "not-counted");
    WHOLE(2, "run", 3);
    NOTHING(2, "pass", NO_EVENT);
    TEXT(2, "reason", "no-event");
}

static void nothing_measured_is_an_empty_table(void **state) {
    fixture *f = *state;
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), 0);
    assert_int_equal(wm_table_columns(f->table), WMI_COL_COUNT);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(a_row_says_all_about_its_samples),
        EACH(one_sample_has_no_spread),
        EACH(relative_spread_of_negative_and_zero_means),
        EACH(nulls_are_left_out),
        EACH(a_metric_without_values_is_missing),
        EACH(lost_marks_are_an_error_and_values_stay),
        EACH(skipped_failed_and_good_configurations),
        EACH(rows_are_in_order),
        EACH(the_function_has_no_row_beside_regions),
        EACH(parameters_of_several_types),
        EACH(formulas_are_computed_for_each_sample),
        EACH(formulas_over_several_passes_use_the_means),
        EACH(runs_that_differ_are_not_put_together),
        EACH(derived_values_that_do_not_exist),
        EACH(a_region_without_an_input_has_no_row),
        EACH(a_constant_keeps_a_formula_per_sample),
        EACH(functions_derive_too),
        EACH(shared_inputs_are_computed_once),
        EACH(names_in_formulas_are_checked),
        EACH(ratios_to_a_region),
        EACH(samples_of_the_same_runs_are_pairs),
        EACH(ratios_that_do_not_exist),
        EACH(ratios_of_values_computed_from_means),
        EACH(the_baseline_is_found_by_path_or_by_its_last_part),
        EACH(samples_become_rows),
        EACH(nothing_measured_is_an_empty_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
