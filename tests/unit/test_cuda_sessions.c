/* Several sessions and sweeps on one made-up GPU: what one does is in nobody else's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_program.h"
#include "fakes/cuda/fake_gpu.h"
#include "unit/benches.h"

#define BYTES "dram__bytes_read.sum"
enum { CUPTI_UNKNOWN = 999, ALPHA_NS = 1000, BETA_NS = 2000 };

static int begin(void **state) {
    *state = program_begin(1);
    fake_kernel_ns("alpha", ALPHA_NS);
    fake_kernel_ns("beta", BETA_NS);
    return 0;
}

static void work(void) {
    WM_BEGIN("region");
    program_launch("alpha", NULL);
    program_launch("beta", NULL);
    WM_END("region");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

static wm_session *make(const char *metrics) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    opts.metrics = metrics;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    return s;
}

static void measure(wm_session *s) {
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    work();
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
}

/* In so many runs two kernels each were seen, for the first time in the process in so many. */
static void check(wm_session *s, int64_t runs, int64_t first_runs) {
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    check_mean(t, "region", "kernel_count", NULL, 2);
    check_mean(t, "region", "kernel_time", NULL, ALPHA_NS + BETA_NS);
    assert_int_equal(cell(t, find_row(t, "region", "kernel_count", NULL), "samples").as.i64, runs);
    assert_int_equal(cell(t, find_row(t, "region", "kernel_time", NULL), "samples").as.i64,
                     runs - first_runs);
    wm_table_destroy(t);
}

static const char *const metrics = "kernel_count,kernel_time";

static void test_sessions_take_turns(void **state) {
    (void)state;
    wm_session *a = make(metrics), *b = make(metrics);
    for (int i = 0; i < 3; i++) {
        measure(a);
        measure(b);
    }
    check(a, 3, 1);
    check(b, 3, 0);
    wm_session_destroy(a);
    measure(b);
    check(b, 4, 0);
    wm_session_destroy(b);
}

/* A session that may not start leaves the one that runs alone, and so does one that goes away. */
static void test_a_running_session_is_left_alone(void **state) {
    (void)state;
    wm_session *a = make(metrics), *b = make(metrics);
    measure(b);
    assert_int_equal(wm_session_start(a, NULL), WM_OK);
    WM_BEGIN("region");
    program_launch("alpha", NULL);
    assert_int_equal(wm_session_start(b, NULL), WM_EBUSY);
    wm_session_destroy(b);
    program_launch("beta", NULL);
    WM_END("region");
    assert_int_equal(wm_session_stop(a, NULL), WM_OK);
    check(a, 1, 0);
    wm_session_destroy(a);
}

/* Nothing is open then, so the next start opens it. */
static void test_a_start_that_failed_is_tried_again(void **state) {
    (void)state;
    wm_session *s = make(metrics);
    fake_fail("cuptiActivityEnable", CUPTI_UNKNOWN, 1, 1);
    assert_int_equal(wm_session_start(s, NULL), WM_EIO);
    measure(s);
    measure(s);
    check(s, 2, 0);
    wm_session_destroy(s);
}

/* Kernels belong to the entry in which they were launched, and to those around it. */
static void test_each_entry_is_a_sample(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    wm_table *t = NULL;
    opts.metrics = metrics;
    opts.by_entry = true;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    WM_BEGIN("outer");
    for (int i = 0; i < 3; i++) work();
    WM_END("outer");
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    check_mean(t, "outer/region", "kernel_count", NULL, 2);
    check_mean(t, "outer/region", "kernel_time", NULL, ALPHA_NS + BETA_NS);
    check_mean(t, "outer", "kernel_count", NULL, 6);
    check_mean(t, "outer", "kernel_time", NULL, 3 * (ALPHA_NS + BETA_NS));
    const size_t row = find_row(t, "outer/region", "kernel_time", NULL);
    assert_int_equal(cell(t, row, "samples").as.i64, 3);
    assert_int_equal(cell(t, row, "entries").as.i64, 3);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

/* Counters take runs of their own. */
static void check_refused(const char *names, const char *why) {
    wm_session *s = make(names);
    wm_error err = WM_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wm_session_start(s, &err), WM_EINVAL);
        assert_string_equal(err.message, why);
    }
    wm_session_destroy(s);
}

static void test_counters_need_a_sweep(void **state) {
    (void)state;
    check_refused(BYTES,
                  "'" BYTES "' takes further runs of the code, and start/stop runs it once: use a sweep");
    check_refused("kernel_time," BYTES,
                  "'kernel_time' and '" BYTES "' cannot be read in one pass, and start/stop "
                  "runs the code once: use a sweep");
    assert_int_equal(fake_calls("cuptiSubscribe"), fake_calls("cuptiUnsubscribe"));
}

/* Else the next one would be told that another profiler is there, and it is our own. */
static void test_a_subscription_that_does_not_end(void **state) {
    (void)state;
    fake_fail("cuptiUnsubscribe", CUPTI_UNKNOWN, 1, 1);
    for (int i = 0; i < 2; i++) {
        wm_session *s = make(metrics);
        measure(s);
        check(s, 1, 0);
        wm_session_destroy(s);
    }
}

/* ---- sweeps ---- */

static void run(wm_state *st) {
    (void)st;
    work();
}

static bool step(wm_sweep *sweep) {
    wm_step at = WM_STEP_INIT;
    wm_error err;
    if (!wm_sweep_next(sweep, &at, &err)) {
        assert_int_equal(err.code, WM_OK);
        return false;
    }
    wm_step_call(&at);
    assert_int_equal(wm_sweep_done(sweep, &at, WM_OK, NULL, NULL), WM_OK);
    return true;
}

static const char options[] = "--runs 3 --metrics kernel_count," BYTES;

static wm_sweep *sweep_of(wm_session *s, const char *name, const char *replay) {
    const wm_benchmark b = bench_of(name, run, options);
    return make_sweep(s, &b, ARGS("--replay", replay));
}

static size_t row_of(const wm_table *t, const char *bench, const char *metric) {
    for (size_t i = 0; i < wm_table_rows(t); i++)
        if (!strcmp(text_cell(t, i, "benchmark"), bench) && cell(t, i, "metric").type == WM_STR &&
            !strcmp(text_cell(t, i, "metric"), metric))
            return i;
    return SIZE_MAX;
}

static void check_row(const wm_table *t, const char *bench, const char *metric, double mean) {
    const size_t row = row_of(t, bench, metric);
    assert_true(row != SIZE_MAX);
    assert_true(number_cell(t, row, "mean") == mean);
    assert_int_equal(cell(t, row, "samples").as.i64, 3);
}

/* Each has the entries of its own runs, whatever the other one does meanwhile. */
static void test_sweeps_of_one_session_take_turns(void **state) {
    (void)state;
    static const char *const ways[] = {"auto", "stacked", "window", "kernel", "range"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        wm_session *s = make_session();
        wm_sweep *a = sweep_of(s, "a", ways[i]), *b = sweep_of(s, "b", ways[i]);
        wm_table *t = NULL;
        bool more_a = true, more_b = true;
        while (more_a || more_b) {
            if (more_a) more_a = step(a);
            if (more_b) more_b = step(b);
        }
        wm_sweep_destroy(a);
        wm_sweep_destroy(b);
        assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
        check_row(t, "a", "kernel_count", 2);
        check_row(t, "a", BYTES, 2000);
        check_row(t, "b", "kernel_count", 2);
        check_row(t, "b", BYTES, 2000);
        wm_table_destroy(t);
        wm_session_destroy(s);
    }
    assert_int_equal(fake_profilers(), 0);
}

/* What was counted of a sweep that is given up, in whatever pass, is not the next one's. */
static void test_a_sweep_that_is_given_up_leaves_nothing(void **state) {
    (void)state;
    for (int steps = 0; steps < 8; steps++) {
        wm_session *s = make_session();
        wm_sweep *a = sweep_of(s, "a", "stacked");
        wm_step at = WM_STEP_INIT;
        wm_table *t = NULL;
        for (int i = 0; i < steps && step(a); i++) continue;
        if (wm_sweep_next(a, &at, NULL)) wm_step_call(&at);
        wm_sweep_destroy(a);
        wm_sweep *b = sweep_of(s, "b", "stacked");
        while (step(b)) continue;
        wm_sweep_destroy(b);
        assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
        check_row(t, "b", "kernel_count", 2);
        check_row(t, "b", BYTES, 2000);
        assert_true((row_of(t, "a", BYTES) != SIZE_MAX) == (steps == 7)); /* all of it was read */
        wm_table_destroy(t);
        wm_session_destroy(s);
    }
    assert_int_equal(fake_profilers(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_sessions_take_turns, begin),
        cmocka_unit_test_setup(test_a_running_session_is_left_alone, begin),
        cmocka_unit_test_setup(test_a_start_that_failed_is_tried_again, begin),
        cmocka_unit_test_setup(test_each_entry_is_a_sample, begin),
        cmocka_unit_test_setup(test_counters_need_a_sweep, begin),
        cmocka_unit_test_setup(test_a_subscription_that_does_not_end, begin),
        cmocka_unit_test_setup(test_sweeps_of_one_session_take_turns, begin),
        cmocka_unit_test_setup(test_a_sweep_that_is_given_up_leaves_nothing, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
