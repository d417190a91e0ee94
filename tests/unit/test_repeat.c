/* WM_REPEAT: how often, and what its repetitions count for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

#include "unit/benches.h"

static uint64_t bodies;
static void repeats(wm_state *st) {
    WM_REPEAT(st, "short") {
        bodies++;
        wm_add_items(st, "short", 2.0);
    }
}

static void test_repetition(void **state) {
    (void)state;
    bodies = 0;
    const wm_benchmark b = bench_of("repeats", repeats, "--runs 3 --batch-time 10ms");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t time = find_row(t, "short", "time", NULL), rate = find_row(t, "short", "item_rate", NULL);
    const double batch = number_cell(t, time, "batch"), mean = number_cell(t, time, "mean");
    assert_true(batch > 10);
    assert_true((double)bodies >= 4 * batch); /* the warm-up, too, runs the whole batch */
    assert_int_equal(number_cell(t, time, "entries"), 3);
    /* Two items a repetition, whatever the batch: the rates' harmonic mean is 2 / mean. */
    assert_true(number_cell(t, rate, "min") <= 2e9 / mean * (1 + 1e-9));
    assert_true(number_cell(t, rate, "max") >= 2e9 / mean * (1 - 1e-9));
    wm_table_destroy(t);
}

static void test_repetition_without_warm_up(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("repeats", repeats, "--runs 1 --warmup 0 --batch-time 10ms");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t time = find_row(t, "short", "time", NULL);
    assert_string_equal(text_cell(t, time, "status"), "ok");
    assert_int_equal(number_cell(t, time, "entries"), 1);
    assert_true(number_cell(t, time, "batch") > 10);
    wm_table_destroy(t);
}

static void test_cold_caches_exclude_repetition(void **state) {
    (void)state;
    bodies = 0;
    const wm_benchmark b = bench_of("repeats", repeats, "--runs 2 --warmup 0 --cache-control all");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_int_equal(bodies, 2);
    assert_int_equal(number_cell(t, find_row(t, "short", "time", NULL), "batch"), 1);
    bool told = false;
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        told |= v.type == WM_STR && strstr(v.as.str, "exclude each other") != NULL;
    }
    assert_true(told);
    wm_table_destroy(t);
}

/* Regions within a repeated one count one repetition, like it; those around it all. The
 * clock is the program's own here, so the values are exact. */
static uint64_t inner_bodies;
static void nests(wm_state *st) {
    WM_BEGIN("around");
    WM_REPEAT(st, "outer") {
        WM_BEGIN("within");
        inner_bodies++;
        wm_set_time_ns(st, "within", 2.0);
        wm_add_items(st, "within", 4.0);
        wm_add_items(st, "around", 1.0);
        wm_record(st, "value", 7.0, "");
        WM_END("within");
        WM_REPEAT(st, "inner") wm_set_time_ns(st, "inner", 3.0);
        wm_set_time_ns(st, "outer", 10.0);
    }
    WM_END("around");
    wm_set_time_ns(st, "around", 1000.0);
    wm_add_flops(st, "outer", 5.0); /* said once for all repetitions: of one of them */
}

static void test_regions_in_and_around_a_repeated_one(void **state) {
    (void)state;
    inner_bodies = 0;
    const wm_benchmark b = bench_of("nests", nests, "--runs 1 --warmup 0 --batch-time 2ms");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const double batch = number_cell(t, find_row(t, "around/outer", "time", NULL), "batch");
    assert_true(batch >= 1); /* what follows holds for any */
    check_mean(t, "around/outer", "time", NULL, 10.0);
    check_mean(t, "around/outer/within", "time", NULL, 2.0);
    check_mean(t, "around/outer/inner", "time", NULL, 3.0);
    check_mean(t, "around", "time", NULL, 1000.0);
    check_mean(t, "around/outer/within", "item_rate", NULL, 2e9);
    check_mean(t, "around/outer/within", "value", NULL, 7.0);
    check_mean(t, "around/outer", "flop_rate", NULL, 5e8);
    check_mean(t, "around", "item_rate", NULL,
               (double)inner_bodies * 1e6); /* the search for the count, too */
    const size_t within = find_row(t, "around/outer/within", "time", NULL);
    assert_int_equal(number_cell(t, within, "batch"), batch);
    assert_int_equal(number_cell(t, within, "entries"), batch);
    wm_table_destroy(t);
}

/* Inclusive times: what is within cannot last longer. */
static void nests_measured(wm_state *st) {
    WM_REPEAT(st, "outer") {
        WM_BEGIN("within");
        for (volatile int i = 0; i < 20; i++) {
        }
        WM_END("within");
    }
}

static void test_a_region_in_a_repeated_one_is_no_longer_than_it(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("nests", nests_measured, "--runs 3 --batch-time 200us");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t outer = find_row(t, "outer", "time", NULL),
                 within = find_row(t, "outer/within", "time", NULL);
    assert_true(number_cell(t, within, "mean") > 0);
    assert_true(number_cell(t, within, "mean") < number_cell(t, outer, "mean"));
    wm_table_destroy(t);
}

/* --min-time counts the time that was measured, not that of one repetition of it. */
static void test_measured_time_counts_all_repetitions(void **state) {
    (void)state;
    const wm_benchmark b =
        bench_of("short", repeats, "--min-time 3ms --min-runs 1 --batch-time 1ms --timeout 100s");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t row = find_row(t, "short", "time", NULL);
    assert_string_equal(text_cell(t, row, "stop_reason"), "min-time");
    assert_true(number_cell(t, row, "samples") < 1000);
    wm_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repetition),
        cmocka_unit_test(test_repetition_without_warm_up),
        cmocka_unit_test(test_cold_caches_exclude_repetition),
        cmocka_unit_test(test_regions_in_and_around_a_repeated_one),
        cmocka_unit_test(test_a_region_in_a_repeated_one_is_no_longer_than_it),
        cmocka_unit_test(test_measured_time_counts_all_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
