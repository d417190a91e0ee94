/* Sweeps: which steps are made, and what comes of what the function does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

#include "sweep/sweep.h"
#include "unit/benches.h"

static char calls[4096];
static int forget_calls(void **state) {
    (void)state;
    calls[0] = 0;
    return 0;
}

static void call(const char *fmt, const char *key) {
    const size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, fmt, key);
}

/* ---- order, set-up and tear-down ---- */

static void log_run(wm_state *st) { call("%s", wm_i64(st, "n") == 1 ? "a" : "b"); }
static void log_setup(wm_state *st) { call("(%s", wm_i64(st, "n") == 1 ? "" : ""); }
static void log_teardown(wm_state *st) { call(")%s", wm_i64(st, "n") == 1 ? " " : " "); }

static void check_order(const char *const *argv, const char *expected) {
    calls[0] = 0;
    wm_benchmark b = bench_of("order", log_run, "--axis n=[1,2] --runs 3 --warmup 1");
    b.setup = log_setup;
    b.teardown = log_teardown;
    wm_table_destroy(sweep_table(&b, argv, WM_OK));
    assert_string_equal(calls, expected);
}

static void test_orders(void **state) {
    (void)state;
    check_order(NULL, "(aaaa) (bbbb) ");
    check_order(ARGS("--order", "interleaved", "--warmup", "0"), "(a) (b) (a) (b) (a) (b) ");
    check_order(ARGS("--metrics", "time,cpu_time", "--runs", "2"), "(aaaaa) (bbbbb) ");
}

static void test_profile_runs_once_and_measures_nothing(void **state) {
    (void)state;
    wm_benchmark b = bench_of("order", log_run, "--axis n=[1,2] --runs 3");
    wm_table *t = sweep_table(&b, ARGS("--profile"), WM_OK);
    assert_string_equal(calls, "ab");
    for (size_t i = 0; i < wm_table_rows(t); i++) assert_int_equal(cell(t, i, "mean").type, WM_NULL);
    wm_table_destroy(t);
}

/* ---- outcomes ---- */

static void outcomes(wm_state *st) {
    static int run;
    const int64_t n = wm_i64(st, "n");
    if (n == 2) wm_skip(st, "no %d here", 2);
    if (n == 3) wm_fail(st, "broke\nat once");
    if (n == 4 && ++run == 3) wm_fail(st, "broke later");
    if (n == 5) (void)wm_i64(st, "m");
    if (n == 6) (void)wm_str(st, "n");
    wm_set_time_ns(st, NULL, 10.0);
}

static void test_every_outcome_is_a_row(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("outcomes", outcomes, "--axis n=[1:7] --runs 4 --warmup 0");
    wm_table *t = sweep_table(&b, NULL, WM_EFAILED);
    assert_int_equal(wm_table_rows(t), 7);
    static const struct {
        const char *status, *reason;
        double samples;
    } expected[7] = {{"ok", "", 4},
                     {"skipped", "no 2 here", 0},
                     {"failed", "broke", 0},
                     {"failed", "broke later", 2},
                     {"failed", "there is no parameter 'm'", 0},
                     {"failed", "the parameter 'n' is an int64, not a string", 0},
                     {"ok", "", 4}};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(number_cell(t, i, "n"), i + 1);
        assert_string_equal(text_cell(t, i, "status"), expected[i].status);
        assert_non_null(strstr(text_cell(t, i, "reason"), expected[i].reason));
        if (expected[i].samples > 0) assert_int_equal(number_cell(t, i, "samples"), expected[i].samples);
    }
    assert_null(strchr(text_cell(t, 2, "reason"), '\n'));
    assert_string_equal(text_cell(t, 0, "stop_reason"), "runs");
    wm_table_destroy(t);
}

static void setup_fails(wm_state *st) {
    if (wm_i64(st, "n") == 1) wm_fail(st, "no memory for it");
}

static void test_a_failing_setup_is_not_run(void **state) {
    (void)state;
    wm_benchmark b = bench_of("setup", log_run, "--axis n=[1,2] --runs 2 --warmup 0");
    b.setup = setup_fails;
    b.teardown = log_teardown;
    wm_table *t = sweep_table(&b, NULL, WM_EFAILED);
    assert_string_equal(calls, "bb) ");
    assert_string_equal(text_cell(t, 0, "reason"), "no memory for it");
    assert_string_equal(text_cell(t, 1, "status"), "ok");
    wm_table_destroy(t);
}

/* ---- what the function adds ---- */

static void adds(wm_state *st) {
    for (int i = 0; i < 2; i++) {
        WM_BEGIN("part");
        wm_record(st, "hits", 1.5, "hit");
        WM_END("part");
    }
    wm_record(st, "all", 7.0, "");
    wm_set_time_ns(st, "part", 1000.0);
    wm_add_flops(st, "part", 500.0);
    wm_add_flops(st, "part", 1500.0);
    wm_add_bytes(st, "part", 4000.0);
    wm_add_items(st, "part", 3.0);
}

static void test_amounts_and_values(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("adds", adds, "--runs 3");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    static const struct {
        const char *region, *metric, *unit;
        double mean;
    } expected[] = {{"part", "time", "ns", 1000.0},    {"part", "flop_rate", "FLOP/s", 2e9},
                    {"part", "byte_rate", "B/s", 4e9}, {"part", "item_rate", "item/s", 3e6},
                    {"part", "hits", "hit", 3.0},      {"adds", "all", "", 7.0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const size_t row = find_row(t, expected[i].region, expected[i].metric, NULL);
        assert_true(row != SIZE_MAX);
        assert_true(fabs(number_cell(t, row, "mean") / expected[i].mean - 1.0) < 1e-12);
        assert_string_equal(text_cell(t, row, "unit"), expected[i].unit);
        assert_int_equal(number_cell(t, row, "samples"), 3);
    }
    assert_string_equal(text_cell(t, find_row(t, "part", "time", NULL), "timer"), "manual");
    wm_table_destroy(t);
}

static void not_finite(wm_state *st) {
    static int run;
    wm_record(st, "x", run++ % 2 ? INFINITY : 4.0, "");
}

static void test_a_value_that_is_not_finite_is_a_null(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("not_finite", not_finite, "--runs 4 --warmup 0");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t row = find_row(t, "not_finite", "x", NULL);
    assert_int_equal(number_cell(t, row, "samples"), 2);
    assert_true(number_cell(t, row, "mean") == 4.0);
    wm_table_destroy(t);
}

static void nowhere(wm_state *st) { wm_add_flops(st, "never entered", 1.0); }

static void test_work_added_to_no_region_is_told(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("nowhere", nowhere, "--runs 2");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    bool told = false;
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        assert_int_equal(wm_table_context(t, i, &key, &v), WM_OK);
        told |= v.type == WM_STR && strstr(v.as.str, "never entered") != NULL;
    }
    assert_true(told);
    wm_table_destroy(t);
}

/* ---- threads ---- */

static int together;
static void threads(wm_state *st) {
    __atomic_fetch_add(&together, 1, __ATOMIC_RELAXED);
    WM_BEGIN("work");
    for (volatile int i = 0; i < 10000; i++) {
    }
    WM_END("work");
    wm_add_items(st, "work", 1.0);
    if (wm_thread(st) < 0 || wm_thread(st) >= wm_threads(st)) wm_fail(st, "thread %d", wm_thread(st));
}

static void test_threads(void **state) {
    (void)state;
    together = 0;
    const wm_benchmark b = bench_of("threads", threads, "--threads 1,3 --runs 4 --warmup 0");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_int_equal(together, 4 + 12);
    const size_t one = find_row(t, "work", "time", "threads=1"),
                 three = find_row(t, "work", "time", "threads=3");
    assert_int_equal(number_cell(t, one, "threads"), 1);
    assert_int_equal(number_cell(t, three, "threads"), 3);
    assert_int_equal(number_cell(t, three, "entries"), 12);
    assert_int_equal(number_cell(t, three, "param_threads"), 3);
    const size_t rate = find_row(t, "work", "item_rate", "threads=3");
    assert_true(number_cell(t, rate, "max") >= 3e9 / number_cell(t, three, "mean") * (1 - 1e-9));
    wm_table_destroy(t);
}

static void one_thread_fails(wm_state *st) {
    if (wm_thread(st) == 1) wm_fail(st, "the second thread broke");
}

static void test_a_thread_that_fails(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("one", one_thread_fails, "--threads 2 --runs 4");
    wm_table *t = sweep_table(&b, NULL, WM_EFAILED);
    assert_string_equal(text_cell(t, 0, "reason"), "the second thread broke");
    wm_table_destroy(t);
}

/* ---- stopping ---- */

static void alternate(wm_state *st) {
    static int run;
    wm_set_time_ns(st, NULL, run++ % 2 ? 1.0 : 100.0);
}

static void test_noise_that_never_settles_ends(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("alternate", alternate, "--max-noise 1% --max-runs 50");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_string_equal(text_cell(t, 0, "stop_reason"), "max-runs");
    assert_int_equal(number_cell(t, 0, "samples"), 50);
    wm_table_destroy(t);
}

static void steady(wm_state *st) { wm_set_time_ns(st, NULL, 100.0); }

static void test_a_good_result_ends(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("steady", steady, "--target-ci 1% --min-runs 6");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_string_equal(text_cell(t, 0, "stop_reason"), "target-ci");
    assert_int_equal(number_cell(t, 0, "samples"), 6);
    wm_table_destroy(t);
}

static void test_time_that_is_up_before_any_sample(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("steady", steady, "--runs 5 --timeout 1ns");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_int_equal(wm_table_rows(t), 1);
    assert_string_equal(text_cell(t, 0, "stop_reason"), "timeout");
    assert_string_equal(text_cell(t, 0, "status"), "missing");
    wm_table_destroy(t);
}

/* Evicting the caches reads megabytes, which takes longer than this. */
static void test_evicting_caches_takes_of_the_time(void **state) {
    (void)state;
    const wm_benchmark b =
        bench_of("steady", steady, "--cache-control all --warmup 0 --runs 1000 --timeout 50us");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_string_equal(text_cell(t, 0, "stop_reason"), "timeout");
    assert_int_equal(number_cell(t, 0, "samples"), 1);
    wm_table_destroy(t);
}

/* ---- steps from another language ---- */

static void test_a_caller_drives_the_steps(void **state) {
    (void)state;
    wm_session *s = make_session();
    const wm_benchmark b = bench_of("foreign", NULL, "--runs 3 --warmup 1");
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    const char *const names[] = {"size", "what"};
    wm_value values[2] = {{WM_I64, WM_REASON_NONE, {0}}, {WM_STR, WM_REASON_NONE, {0}}};
    for (int i = 0; i < 2; i++) {
        values[0].as.i64 = i;
        values[1].as.str = i ? "bad" : "good";
        assert_int_equal(wm_sweep_add_config(sweep, 2, names, values, NULL), WM_OK);
    }
    wm_step step = WM_STEP_INIT;
    wm_error err = WM_ERROR_INIT;
    int steps = 0, warmups = 0;
    while (wm_sweep_next(sweep, &step, &err)) {
        wm_error again = WM_ERROR_INIT;
        wm_step other = WM_STEP_INIT;
        assert_false(wm_sweep_next(sweep, &other, &again));
        assert_int_equal(again.code, WM_ESTATE);
        steps++;
        warmups += step.warmup;
        assert_string_equal(step.benchmark, "foreign");
        const bool bad = !strcmp(wm_str(step.state, "what"), "bad");
        WM_BEGIN("call");
        WM_END("call");
        assert_int_equal(
            wm_sweep_done(sweep, &step, bad ? WM_EFAILED : WM_OK, bad ? "ValueError: no" : NULL, NULL),
            WM_OK);
    }
    assert_int_equal(err.code, WM_OK);
    assert_int_equal(steps, 4 + 1);
    assert_int_equal(warmups, 2);
    assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_ESTATE);
    assert_int_equal(wm_sweep_add_config(sweep, 2, names, values, NULL), WM_ESTATE);
    wm_sweep_destroy(sweep);
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    const size_t row = find_row(t, "call", "time", NULL);
    assert_int_equal(number_cell(t, row, "samples"), 3);
    size_t failed = 0;
    for (size_t i = 0; i < wm_table_rows(t); i++)
        failed += !strcmp(text_cell(t, i, "reason"), "ValueError: no");
    assert_int_equal(failed, 1);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void check_left(const wm_sweep *sweep, double step_ns, double expected) {
    const double left = wmi_sweep_left_ns(sweep, step_ns);
    if (!(fabs(left - expected) <= 1e-9 * expected)) fail_msg("%g ns left, not %g", left, expected);
}

/* What is left is reckoned from what the configuration's own steps took, within its timeout. */
static void test_what_is_left(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("left", log_run, "--axis n=[1,2,3] --warmup 1");
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, ARGS("--runs", "9"));
    check_left(sweep, 100, 3 * 10 * 100); /* nothing has run */
    sweep->points[0].steps = 4;
    sweep->points[0].spent_ns = 4 * 7;
    check_left(sweep, 100, 6 * 7 + 2 * 10 * 100);
    sweep->points[1].dead = true;
    check_left(sweep, 100, 6 * 7 + 10 * 100);
    wm_sweep_destroy(sweep);

    sweep = make_sweep(s, &b, ARGS("--max-noise", "1%", "--max-runs", "1000", "--timeout", "1us"));
    sweep->points[0].steps = 3;
    sweep->points[0].spent_ns = 3 * 50; /* 20 runs in the time there is, and the warm-up */
    sweep->points[1].steps = 6;
    sweep->points[1].runs = 5;
    sweep->points[1].done = true;
    check_left(sweep, 0.25, 18 * 50 + 1001 * 0.25);
    wm_sweep_destroy(sweep);

    sweep = make_sweep(s, &b, ARGS("--metrics", "time,page-faults", "--runs", "9"));
    const double passes = (double)sweep->measure->pass_count;
    check_left(sweep, 100, 3 * (9 * passes + 1) * 100);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void test_a_sweep_left_half_way(void **state) {
    (void)state;
    wm_session *s = make_session();
    wm_benchmark b = bench_of("half", log_run, "--axis n=[1,2] --runs 3 --warmup 0");
    b.teardown = log_teardown;
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_step step = WM_STEP_INIT;
    assert_true(wm_sweep_next(sweep, &step, NULL));
    wm_step_call(&step);
    wm_sweep_destroy(sweep);
    assert_string_equal(calls, "a) ");
    wm_sweep_destroy(NULL);
    assert_int_equal(wm_active, 0);
    wm_session_destroy(s);
}

/* ---- derived metrics ---- */

static bool half(void *user, const double *in, double *out) {
    *out = in[0] / *(const double *)user;
    return in[1] < 3;
}

static void test_formulas_and_functions(void **state) {
    (void)state;
    static double two = 2.0;
    const wm_derivation d = {"half", "ns", "time,n", half};
    wm_benchmark b =
        bench_of("derived", outcomes, "--axis n=[1,7] --runs 2 --derive 'speed = 1000*n/time [1/ns]'");
    b.user = &two;
    b.derivations = &d;
    b.derivation_count = 1;
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t speed = find_row(t, "derived", "speed", "n=7"), one = find_row(t, "derived", "half", "n=1"),
                 none = find_row(t, "derived", "half", "n=7");
    assert_true(number_cell(t, speed, "mean") == 700.0);
    assert_string_equal(text_cell(t, speed, "unit"), "1/ns");
    assert_string_equal(text_cell(t, speed, "evaluated"), "samples");
    assert_true(number_cell(t, one, "mean") == 5.0);
    assert_int_equal(cell(t, none, "mean").type, WM_NULL);
    wm_table_destroy(t);
}

static void check_refused(const char *options, const char *const *argv, const char *message) {
    wm_session *s = make_session();
    const wm_benchmark b = bench_of("refused", log_run, options);
    wm_sweep *sweep = NULL;
    wm_table *plan = NULL;
    wm_error err = WM_ERROR_INIT;
    int argc = 0;
    while (argv && argv[argc]) argc++;
    wm_status status = wm_sweep_create(s, &b, argc, argv, &sweep, &err);
    if (status == WM_OK) status = wm_sweep_plan(sweep, &plan, &err);
    assert_int_not_equal(status, WM_OK);
    if (!strstr(err.message, message)) fail_msg("expected '%s' in '%s'", message, err.message);
    assert_string_equal(calls, "");
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void test_what_is_wrong_is_found_before_anything_runs(void **state) {
    (void)state;
    check_refused("--axis n=[1,2]", ARGS("--derive", "x = m/time"), "m");
    check_refused("--axis n=[1,2]", ARGS("--metrics", "tme"), "'tme'");
    check_refused("--axis n=[1,2]", ARGS("--metrics", "group:nothing"), "nothing");
    check_refused("--axis n=[1,2", NULL, "n=[1,2");
    check_refused("--axis n=1 --list", NULL, "--list");
    check_refused("--axis n=1", ARGS("--pin", "99999"), "99999");
    check_refused("--axis n=1", ARGS("--runs", "0"), "--runs");
}

static void test_the_plan(void **state) {
    (void)state;
    wm_session *s = make_session();
    const wm_benchmark b =
        bench_of("planned", log_run, "--axis n=[1,2] --runs 5 --warmup 2 --metrics time,cpu_time");
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_table *t = NULL;
    assert_int_equal(wm_sweep_plan(sweep, &t, NULL), WM_OK);
    assert_string_equal(calls, "");
    assert_string_equal(wm_table_kind(t), "plan");
    assert_int_equal(wm_table_rows(t), 2);
    assert_int_equal(number_cell(t, 0, "pass"), 0);
    assert_int_equal(number_cell(t, 1, "pass"), 1);
    assert_true(cell(t, 1, "disturbs").as.b);
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!strcmp(key, "calls_max")) assert_int_equal(v.as.i64, 2 * (5 * 2 + 2));
    }
    wm_table_destroy(t);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_orders, forget_calls),
        cmocka_unit_test_setup(test_profile_runs_once_and_measures_nothing, forget_calls),
        cmocka_unit_test_setup(test_every_outcome_is_a_row, forget_calls),
        cmocka_unit_test_setup(test_a_failing_setup_is_not_run, forget_calls),
        cmocka_unit_test_setup(test_amounts_and_values, forget_calls),
        cmocka_unit_test_setup(test_a_value_that_is_not_finite_is_a_null, forget_calls),
        cmocka_unit_test_setup(test_work_added_to_no_region_is_told, forget_calls),
        cmocka_unit_test_setup(test_threads, forget_calls),
        cmocka_unit_test_setup(test_a_thread_that_fails, forget_calls),
        cmocka_unit_test_setup(test_noise_that_never_settles_ends, forget_calls),
        cmocka_unit_test_setup(test_a_good_result_ends, forget_calls),
        cmocka_unit_test_setup(test_time_that_is_up_before_any_sample, forget_calls),
        cmocka_unit_test_setup(test_evicting_caches_takes_of_the_time, forget_calls),
        cmocka_unit_test_setup(test_a_caller_drives_the_steps, forget_calls),
        cmocka_unit_test_setup(test_what_is_left, forget_calls),
        cmocka_unit_test_setup(test_a_sweep_left_half_way, forget_calls),
        cmocka_unit_test_setup(test_formulas_and_functions, forget_calls),
        cmocka_unit_test_setup(test_what_is_wrong_is_found_before_anything_runs, forget_calls),
        cmocka_unit_test_setup(test_the_plan, forget_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
