/* Values that are put into runs after them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

static wm_session *session;
static wm_sweep *sweep;
static wm_table *results;

/* Two regions, of which run 1 abandons `b`; time is given by hand, as 10 times the run's number. */
static void work(wm_state *st) {
    static int64_t calls;
    const int64_t run = calls++ % 3;
    WM_BEGIN("a");
    WM_END("a");
    WM_BEGIN("b");
    if (run == 1)
        wm_abandon_id(wm_region_id("b"));
    else
        WM_END("b");
    wm_set_time_ns(st, "a", 10.0 * (double)run);
    wm_record(st, "own", (double)run, "B");
}

static void make(void) {
    const wm_benchmark bench = {.struct_size = sizeof bench,
                                .name = "work",
                                .run = work,
                                .options = "--axis n=[1,2] --runs 3 --warmup 0"};
    assert_int_equal(wm_session_create(NULL, &session, NULL), WM_OK);
    assert_int_equal(wm_sweep_create(session, &bench, 0, NULL, &sweep, NULL), WM_OK);
}

static int begin(void **state) {
    (void)state;
    make();
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    wm_table_destroy(results);
    results = NULL;
    wm_sweep_destroy(sweep);
    wm_session_destroy(session);
    return 0;
}

static size_t row_of(const char *region, const char *metric, const char *key) {
    wm_table_destroy(results);
    assert_int_equal(wm_session_table(session, &results, NULL), WM_OK);
    return find_row(results, region, metric, key);
}

static double number_of(const char *region, const char *metric, const char *key, const char *column) {
    const size_t row = row_of(region, metric, key);
    return number_cell(results, row, column);
}

static wm_value f64(double x) { return (wm_value){.type = WM_F64, .as.f64 = x}; }

static wm_status put(size_t config, int64_t run, const char *region, const char *metric, wm_value v,
                     const char *unit, wm_error *err) {
    return wm_sweep_put(sweep, config, run, region, metric, v, unit, err);
}

static void test_a_metric_of_ones_own(void **state) {
    (void)state;
    const wm_value no_value = {.type = WM_NULL, .reason = WM_REASON_ZERO_MEAN};
    assert_int_equal(put(1, 0, "a", "half", f64(4), "ns", NULL), WM_OK);
    assert_int_equal(put(1, 1, "a", "half", no_value, "ns", NULL), WM_OK);
    assert_int_equal(put(1, 2, "a", "half", (wm_value){.type = WM_I64, .as.i64 = 8}, "ns", NULL), WM_OK);
    const size_t row = row_of("a", "half", "n=2");
    assert_true(row != SIZE_MAX);
    assert_true(number_cell(results, row, "mean") == 6);
    assert_true(number_cell(results, row, "samples") == 2);
    assert_string_equal(text_cell(results, row, "unit"), "ns");
    assert_true(row_of("a", "half", "n=1") == SIZE_MAX);
    assert_int_equal(put(0, 1, NULL, "half", f64(1), "ns", NULL), WM_OK); /* of the whole function */
    assert_true(row_of("work", "half", "n=1") != SIZE_MAX);
}

static void test_in_place_of_what_was_measured(void **state) {
    (void)state;
    assert_true(number_of("a", "time", "n=1", "mean") == 10); /* of 0, 10, 20 */
    assert_int_equal(put(0, 2, "a", "time", f64(50), "ns", NULL), WM_OK);
    assert_true(number_of("a", "time", "n=1", "mean") == 20);
    assert_true(number_of("a", "time", "n=2", "mean") == 10);
    assert_int_equal(put(0, 2, "a", "time", f64(NAN), "ns", NULL), WM_OK);
    const size_t row = row_of("a", "time", "n=1");
    assert_true(number_cell(results, row, "mean") == 5);
    assert_true(number_cell(results, row, "samples") == 2);
    assert_int_equal(put(0, 2, "a", "time", f64(20), "ns", NULL), WM_OK); /* and a value again */
    assert_true(number_of("a", "time", "n=1", "samples") == 3);
}

static void test_an_abandoned_region_has_no_value_in_its_run(void **state) {
    (void)state;
    const size_t row = row_of("b", "time", "n=1");
    assert_true(number_cell(results, row, "samples") == 2);
    assert_string_equal(text_cell(results, row, "status"), "ok");
    assert_true(number_of("a", "time", "n=1", "samples") == 3);
    wm_table *samples = NULL;
    assert_int_equal(wm_session_samples(session, &samples, NULL), WM_OK);
    size_t failed = 0;
    for (size_t i = 0; i < wm_table_rows(samples); i++) {
        const wm_value v = cell(samples, i, "value");
        if (v.type != WM_NULL) continue;
        failed++;
        assert_int_equal(v.reason, WM_REASON_FAILED);
        assert_string_equal(text_cell(samples, i, "region"), "b");
        assert_true(number_cell(samples, i, "run") == 1);
    }
    assert_int_equal(failed, 2); /* in both configurations */
    wm_table_destroy(samples);
}

static void test_what_is_refused(void **state) {
    (void)state;
    const struct {
        size_t config;
        int64_t run;
        const char *region, *metric;
        wm_value value;
        const char *unit;
        wm_status status;
        const char *message;
    } bad[] = {
        {2, 0, "a", "m", f64(1), "", WM_ENOTFOUND, "work has no configuration 2"},
        {0, 3, "a", "m", f64(1), "", WM_ENOTFOUND, "configuration 0 of work has no run 3"},
        {0, -1, "a", "m", f64(1), "", WM_ENOTFOUND, "configuration 0 of work has no run -1"},
        {0, 0, "c", "m", f64(1), "", WM_ENOTFOUND, "benchmark work has no region 'c'"},
        {0, 0, "a", "", f64(1), "", WM_EINVAL, "wm_sweep_put needs a metric's name"},
        {0,
         0,
         "a",
         "m",
         {.type = WM_STR, .as.str = "x"},
         "",
         WM_EINVAL,
         "wm_sweep_put takes a number or a null"},
        {0, 0, "a", "byte_rate", f64(1), "", WM_EINVAL, "'byte_rate' is the name of another metric"},
        {0, 0, "a", "own", f64(1), "s", WM_EINVAL, "'own' is in 's' here and was in 'B' before"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(
            put(bad[i].config, bad[i].run, bad[i].region, bad[i].metric, bad[i].value, bad[i].unit, &err),
            bad[i].status);
        assert_string_equal(err.message, bad[i].message);
    }
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(put(0, 2, "a", "late", f64(1), "", NULL), WM_OK);
    assert_int_equal(put(0, 1, "a", "late", f64(1), "", &err), WM_EINVAL);
    assert_string_equal(err.message, "values of 'late' come in the order of runs");
}

static void test_when_it_is_refused(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    wm_step step = WM_STEP_INIT;
    make();
    assert_int_equal(put(0, 0, NULL, "m", f64(1), "", &err), WM_ESTATE);
    assert_true(wm_sweep_next(sweep, &step, NULL));
    assert_int_equal(put(0, 0, NULL, "m", f64(1), "", NULL), WM_ESTATE);
    wm_step_call(&step);
    assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
    assert_int_equal(put(0, 0, NULL, "m", f64(1), "", NULL), WM_OK);
    assert_int_equal(put(0, 1, NULL, "m", f64(1), "", NULL), WM_ENOTFOUND); /* not yet */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_metric_of_ones_own, begin, end),
        cmocka_unit_test_setup_teardown(test_in_place_of_what_was_measured, begin, end),
        cmocka_unit_test_setup_teardown(test_an_abandoned_region_has_no_value_in_its_run, begin, end),
        cmocka_unit_test_setup_teardown(test_what_is_refused, begin, end),
        cmocka_unit_test_teardown(test_when_it_is_refused, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
