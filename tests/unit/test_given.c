/* What a program says itself: whose it is, and what it counts for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

#include "unit/benches.h"

/* ---- times that threads measured themselves ---- */

static void own_times(wm_state *st) {
    for (int i = 0; i < 2; i++) wm_set_time_ns(st, NULL, 100.0 * (wm_thread(st) + 1));
}

/* Each thread's calls add up; together they took as long as the slowest. */
static void test_own_times_of_several_threads(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("own", own_times, "--threads 3 --runs 2 --metrics time,time_sum");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    check_mean(t, "own", "time", NULL, 600.0);
    check_mean(t, "own", "time_sum", NULL, 1200.0);
    wm_table_destroy(t);
}

/* ---- a name that means another path in each configuration ---- */

static void two_ways(wm_state *st) {
    wm_begin(wm_str(st, "way"));
    WM_BEGIN("kernel");
    WM_END("kernel");
    wm_end(wm_str(st, "way"));
    wm_set_time_ns(st, "kernel", 10.0);
    wm_add_items(st, "kernel", 1.0);
}

static void test_a_name_is_looked_for_in_its_own_run(void **state) {
    (void)state;
    const wm_benchmark b = bench_of(
        "ways", two_ways, "--axis way=[up,down] --runs 3 --order interleaved --normalize-against kernel");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    check_mean(t, "up/kernel", "item_rate", "way=up", 1e8);
    check_mean(t, "down/kernel", "item_rate", "way=down", 1e8);
    const size_t row = find_row(t, "down/kernel", "time", NULL);
    assert_int_equal(number_cell(t, find_row(t, "down/kernel", "item_rate", NULL), "samples"), 3);
    assert_true(number_cell(t, row, "ratio") == 1.0);
    wm_table_destroy(t);
}

static void two_parts(wm_state *st) {
    WM_BEGIN("part");
    WM_END("part");
    wm_set_time_ns(st, "part", 25.0);
    wm_set_time_ns(st, NULL, 100.0);
}
static void one_part(wm_state *st) {
    (void)st;
    WM_BEGIN("part");
    WM_END("part");
}

static void test_the_whole_function_as_baseline(void **state) {
    (void)state;
    wm_benchmark b = bench_of("whole", two_parts, "--runs 2 --normalize-against whole");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_true(number_cell(t, find_row(t, "part", "time", NULL), "ratio") == 0.25);
    wm_table_destroy(t);
    b = bench_of("whole", one_part, "--runs 2 --normalize-against whole");
    t = sweep_table(&b, NULL, WM_OK);
    assert_true(number_cell(t, find_row(t, "whole", "time", NULL), "ratio") == 1.0);
    assert_true(number_cell(t, find_row(t, "part", "time", NULL), "ratio") < 1.0);
    wm_table_destroy(t);
}

/* ---- when there is enough ---- */

/* One region settles at once, the other is met in the first run alone. */
static int calls;
static void met_once(wm_state *st) {
    if (calls++ == 0) {
        WM_BEGIN("rare");
        WM_END("rare");
        wm_set_time_ns(st, "rare", 5.0);
    }
    WM_BEGIN("steady");
    WM_END("steady");
    wm_set_time_ns(st, "steady", 5.0);
}

static void test_a_region_of_unknown_noise_is_not_good_enough(void **state) {
    (void)state;
    calls = 0;
    const wm_benchmark b = bench_of("once", met_once, "--warmup 0 --max-noise 5% --min-runs 3 --max-runs 20");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t row = find_row(t, "steady", "time", NULL);
    assert_string_equal(text_cell(t, row, "stop_reason"), "max-runs");
    assert_int_equal(number_cell(t, row, "samples"), 20);
    wm_table_destroy(t);
}

/* Page faults are no nanoseconds: the runs' own time counts. */
static void faults(wm_state *st) {
    (void)st;
    for (volatile int i = 0; i < 10000; i++) {
    }
}

static void test_measured_time_without_a_time(void **state) {
    (void)state;
    const wm_benchmark b =
        bench_of("faults", faults, "--metrics page-faults --min-time 1ms --min-runs 1 --timeout 100s");
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_step step = WM_STEP_INIT;
    size_t runs = 0;
    while (wm_sweep_next(sweep, &step, NULL)) {
        wm_step_call(&step);
        assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
        if (++runs > 10000) break;
    }
    assert_true(runs > 1 && runs < 10000);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

/* ---- set-up and tear-down ---- */

static char order[256];
static void note_call(wm_state *st, char c) {
    const size_t n = strlen(order);
    snprintf(order + n, sizeof order - n, "%c%d", c, wm_threads(st));
}
static void up(wm_state *st) {
    note_call(st, '(');
    if (wm_i64(st, "n") == 2) wm_skip(st, "not two");
    wm_set_data(st, order);
}
static void run(wm_state *st) {
    assert_ptr_equal(wm_data(st), order);
    if (wm_thread(st) == 0) note_call(st, 'r');
    if (wm_i64(st, "n") == 3 && wm_thread(st) == 1) wm_fail(st, "not three");
}
static void down(wm_state *st) {
    assert_ptr_equal(wm_data(st), order);
    note_call(st, ')');
    if (wm_i64(st, "n") == 1) wm_fail(st, "torn");
}

static void test_set_up_and_tear_down_are_pairs(void **state) {
    (void)state;
    wm_benchmark b = bench_of("pairs", run, "--axis n=[1,2,3] --threads 2 --runs 2 --warmup 0");
    b.setup = up;
    b.teardown = down;
    order[0] = 0;
    wm_table *t = sweep_table(&b, NULL, WM_EFAILED);
    assert_string_equal(order, "(2r2r2)2(2(2r2)2");
    const char *const statuses[] = {"failed", "skipped", "failed"}, *const why[] = {"torn", "not two",
                                                                                    "not three"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(text_cell(t, i, "status"), statuses[i]);
        assert_string_equal(text_cell(t, i, "reason"), why[i]);
    }
    wm_table_destroy(t);
    order[0] = 0;
    wm_table_destroy(sweep_table(&b, ARGS("--order", "interleaved"), WM_EFAILED));
    assert_string_equal(order, "(2r2)2(2(2r2)2");
}

/* ---- which run it is ---- */

static void note_place(wm_state *st, char c) {
    const size_t n = strlen(order);
    snprintf(order + n, sizeof order - n, "%c%zu:%lld ", c, wm_config(st), (long long)wm_run(st));
}
static void place_up(wm_state *st) { note_place(st, '('); }
static void place_run(wm_state *st) { note_place(st, 'r'); }
static void place_down(wm_state *st) {
    const size_t n = strlen(order);
    snprintf(order + n, sizeof order - n, "%zu) ", wm_config(st));
}

static void test_a_function_is_told_its_configuration_and_run(void **state) {
    (void)state;
    wm_benchmark b = bench_of("places", place_run, "--axis n=[7,8] --runs 2 --warmup 1");
    b.setup = place_up;
    b.teardown = place_down;
    order[0] = 0;
    wm_table_destroy(sweep_table(&b, NULL, WM_OK));
    assert_string_equal(order, "(0:-1 r0:-1 r0:0 r0:1 0) (1:-1 r1:-1 r1:0 r1:1 1) ");
}

/* ---- what callers give ---- */

static wm_value whole(int64_t x) {
    wm_value v = {WM_I64, WM_REASON_NONE, {0}};
    v.as.i64 = x;
    return v;
}

static void test_configurations_that_are_refused(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("explicit", one_part, "--threads 2 --runs 1");
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    const char *const twice[] = {"n", "n"}, *const threads[] = {"threads"};
    wm_value v[2] = {whole(1), whole(2)};
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_sweep_add_config(sweep, 2, twice, v, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "'n' is there twice"));
    v[0].type = WM_STR;
    v[0].as.str = NULL;
    assert_int_equal(wm_sweep_add_config(sweep, 1, twice, v, &err), WM_EINVAL);
    v[0].type = (wm_type)99;
    assert_int_equal(wm_sweep_add_config(sweep, 1, twice, v, &err), WM_EINVAL);
    v[0] = whole(0);
    v[0].type = WM_F64;
    v[0].as.f64 = NAN;
    assert_int_equal(wm_sweep_add_config(sweep, 1, twice, v, &err), WM_EINVAL);
    v[0] = whole(0);
    assert_int_equal(wm_sweep_add_config(sweep, 1, threads, v, &err), WM_EINVAL);
    v[0].type = WM_STR;
    v[0].as.str = "many";
    assert_int_equal(wm_sweep_add_config(sweep, 1, threads, v, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "whole number from 1 to"));
    v[0] = whole(3);
    assert_int_equal(wm_sweep_add_config(sweep, 1, threads, v, &err), WM_OK);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_int_equal(number_cell(t, find_row(t, "part", "time", "threads=3"), "threads"), 3);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_a_step_that_was_not_begun_from_its_init(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("step", one_part, "--runs 1 --warmup 0");
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_error err = WM_ERROR_INIT;
    wm_step step = {0};
    assert_false(wm_sweep_next(sweep, &step, &err));
    assert_int_equal(err.code, WM_EINVAL);
    step.struct_size = sizeof step;
    assert_true(wm_sweep_next(sweep, &step, &err));
    wm_step_call(&step);
    assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
    assert_false(wm_sweep_next(sweep, &step, &err));
    assert_int_equal(err.code, WM_OK);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_times_of_several_threads),
        cmocka_unit_test(test_a_name_is_looked_for_in_its_own_run),
        cmocka_unit_test(test_the_whole_function_as_baseline),
        cmocka_unit_test(test_a_region_of_unknown_noise_is_not_good_enough),
        cmocka_unit_test(test_measured_time_without_a_time),
        cmocka_unit_test(test_set_up_and_tear_down_are_pairs),
        cmocka_unit_test(test_a_function_is_told_its_configuration_and_run),
        cmocka_unit_test(test_configurations_that_are_refused),
        cmocka_unit_test(test_a_step_that_was_not_begun_from_its_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
