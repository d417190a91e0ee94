/* Regions, from the marks to the rows of a session that is started and stopped. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/cells.h"

#include <cmocka.h>

static wm_session *make(const wm_session_opts *opts) {
    wm_session *s = NULL;
    assert_int_equal(wm_session_create(opts, &s, NULL), WM_OK);
    return s;
}

/* The table of one stretch of code. */
static wm_table *measure(wm_session *s, void (*code)(void)) {
    wm_table *t = NULL;
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    code();
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    return t;
}

static size_t row_of(const wm_table *t, const char *region) {
    const size_t row = find_row(t, region, "time", NULL);
    if (row == SIZE_MAX) fail_msg("no row for region %s", region);
    return row;
}

/* Spins until the clock has moved, so that no interval is empty. */
static void spend(int loops) {
    for (volatile int i = 0; i < loops; i++) {
    }
}

static void no_region(void) { spend(1000); }

static void test_a_function_without_regions_is_one(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.name = "whole";
    wm_session *s = make(&opts);
    wm_table *t = measure(s, no_region);
    assert_int_equal(wm_table_rows(t), 1);
    assert_string_equal(text_cell(t, 0, "region"), "whole");
    assert_string_equal(text_cell(t, 0, "status"), "ok");
    assert_true(number_cell(t, 0, "mean") > 0);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void nested(void) {
    for (int i = 0; i < 3; i++) {
        WM_BEGIN("outer");
        spend(1000);
        for (int k = 0; k < 2; k++) {
            WM_BEGIN("inner");
            spend(1000);
            WM_END("inner");
        }
        WM_END("outer");
    }
    WM_BEGIN("inner");
    WM_END("inner");
}

static void test_nesting(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    wm_table *t = measure(s, nested);
    assert_int_equal(wm_table_rows(t), 3);
    const size_t outer = row_of(t, "outer"), inner = row_of(t, "outer/inner"), other = row_of(t, "inner");
    assert_int_equal(number_cell(t, outer, "entries"), 3);
    assert_int_equal(number_cell(t, inner, "entries"), 6);
    assert_int_equal(number_cell(t, other, "entries"), 1);
    assert_int_equal(number_cell(t, outer, "samples"), 1);
    assert_true(number_cell(t, outer, "mean") > number_cell(t, inner, "mean"));
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void crossing(void) {
    WM_BEGIN("a");
    spend(1000);
    WM_BEGIN("b");
    spend(1000);
    WM_END("a");
    WM_BEGIN("rest");
    spend(100000);
    WM_END("rest");
    WM_END("b");
}

static void test_crossing_regions_are_both_measured(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    wm_table *t = measure(s, crossing);
    const size_t a = row_of(t, "a"), b = row_of(t, "a/b"), rest = row_of(t, "a/b/rest");
    assert_string_equal(text_cell(t, a, "status"), "ok");
    assert_string_equal(text_cell(t, b, "status"), "ok");
    assert_true(number_cell(t, b, "mean") > number_cell(t, rest, "mean"));
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void unmatched(void) {
    WM_END("never begun");
    WM_BEGIN("good");
    spend(100);
    WM_END("good");
    WM_BEGIN("never ended");
    spend(100);
}

static void test_unmatched_marks_are_errors_of_their_rows(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    wm_table *t = measure(s, unmatched);
    assert_string_equal(text_cell(t, row_of(t, "good"), "status"), "ok");
    assert_true(number_cell(t, row_of(t, "good"), "mean") > 0);
    const char *const bad[] = {"never begun", "never ended"};
    for (int i = 0; i < 2; i++) {
        const size_t row = row_of(t, bad[i]);
        assert_string_equal(text_cell(t, row, "status"), "error");
        assert_int_equal(cell(t, row, "mean").type, WM_NULL);
    }
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < 100; i++) {
        WM_BEGIN("work");
        spend(100);
        WM_END("work");
    }
    return NULL;
}

static void three_threads(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, worker, NULL), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

static void test_regions_of_threads_that_have_ended(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.metrics = "time,time_sum";
    wm_session *s = make(&opts);
    wm_table *t = measure(s, three_threads);
    const size_t wall = row_of(t, "work"), sum = find_row(t, "work", "time_sum", NULL);
    assert_int_equal(number_cell(t, wall, "entries"), 300);
    assert_int_equal(number_cell(t, wall, "threads"), 3);
    assert_true(sum != SIZE_MAX);
    assert_true(number_cell(t, sum, "mean") >= number_cell(t, wall, "mean") * (1 - 1e-9));
    wm_table_destroy(t);
    wm_session_destroy(s);
}

/* A thread that marks while sessions come and go must do no harm. */
static int go_on = 1;
static void *marker(void *arg) {
    (void)arg;
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
        WM_BEGIN("background");
        WM_END("background");
    }
    return NULL;
}

static void test_threads_that_mark_all_the_time(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, marker, NULL), 0);
    for (int i = 0; i < 20; i++) {
        wm_session_opts opts = WM_SESSION_OPTS_INIT;
        opts.ring_marks = i % 2 ? 64 : 1024;
        opts.metrics = i % 4 < 2 ? "time" : "cpu_time";
        wm_session *s = make(&opts);
        wm_table *t = measure(s, nested);
        assert_true(find_row(t, "outer/inner", opts.metrics, NULL) != SIZE_MAX);
        wm_table_destroy(t);
        wm_session_destroy(s);
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static void many(void) {
    for (int i = 0; i < 100; i++) {
        WM_BEGIN("many");
        WM_END("many");
    }
}

static void test_a_full_ring_drops_and_says_so(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.ring_marks = 51; /* the whole function's begin, and 25 pairs */
    wm_session *s = make(&opts);
    wm_table *t = measure(s, many);
    const size_t row = row_of(t, "many");
    assert_int_equal(number_cell(t, row, "entries"), 25);
    assert_string_equal(text_cell(t, row, "status"), "error");
    assert_non_null(strstr(text_cell(t, row, "reason"), "151"));
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void recurse(int depth) {
    if (depth == 0) return;
    WM_BEGIN("deep");
    recurse(depth - 1);
    WM_END("deep");
}
static void recurse_300(void) { recurse(300); }

static void test_nesting_beyond_the_limit(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    wm_table *t = measure(s, recurse_300);
    const size_t row = row_of(t, "deep");
    assert_string_equal(text_cell(t, row, "status"), "ok");
    size_t errors = 0;
    for (size_t i = 0; i < wm_table_rows(t); i++) errors += !strcmp(text_cell(t, i, "status"), "error");
    assert_true(errors > 0);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_without_a_session_nothing_happens(void **state) {
    (void)state;
    nested();
    unmatched();
    wm_begin("x");
    wm_end("x");
    wm_begin_id(0);
    wm_end_id(0);
    wm_session *s = make(NULL);
    wm_table *t = measure(s, no_region);
    assert_int_equal(wm_table_rows(t), 1);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_runs_add_samples(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    for (int i = 0; i < 4; i++) wm_table_destroy(measure(s, nested));
    wm_table *t = measure(s, nested);
    assert_int_equal(number_cell(t, row_of(t, "outer"), "samples"), 5);
    assert_int_equal(number_cell(t, row_of(t, "outer"), "entries"), 15);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_a_sample_for_each_entry(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.by_entry = true;
    wm_session *s = make(&opts);
    wm_table *t = measure(s, nested);
    assert_int_equal(number_cell(t, row_of(t, "outer"), "samples"), 3);
    assert_int_equal(number_cell(t, row_of(t, "outer/inner"), "samples"), 6);
    wm_table_destroy(t);
    wm_session_destroy(s);
    opts.metrics = "cpu_time";
    s = make(&opts);
    t = measure(s, nested);
    const size_t inner = find_row(t, "outer/inner", "cpu_time", NULL);
    assert_int_equal(number_cell(t, inner, "samples"), 6);
    assert_int_equal(number_cell(t, inner, "entries"), 6);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_names_made_at_run_time(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    wm_table *t = NULL;
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "step %d", i);
        wm_begin(name);
        wm_end(name);
    }
    {
        WM_SCOPE("scope");
        spend(10);
    }
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    row_of(t, "step 0");
    row_of(t, "step 2");
    row_of(t, "scope");
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_wrong_order_of_calls(void **state) {
    (void)state;
    wm_session *a = make(NULL), *b = make(NULL);
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_session_stop(a, &err), WM_ESTATE);
    assert_int_equal(wm_session_start(a, &err), WM_OK);
    assert_int_equal(wm_session_start(a, &err), WM_ESTATE);
    assert_int_equal(wm_session_start(b, &err), WM_EBUSY);
    assert_int_equal(wm_session_stop(a, &err), WM_OK);
    assert_int_equal(wm_session_start(b, &err), WM_OK);
    wm_session_destroy(b); /* stops it */
    assert_int_equal(wm_session_start(a, &err), WM_OK);
    wm_session_destroy(a);
    wm_session_destroy(NULL);
}

static void test_unknown_metric(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.metrics = "tme";
    wm_session *s = make(&opts);
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_session_start(s, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "'tme'"));
    assert_non_null(strstr(err.message, "time"));
    wm_session_destroy(s);
}

static void test_metrics_of_two_passes_need_a_sweep(void **state) {
    (void)state;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.metrics = "time,cpu_time";
    wm_session *s = make(&opts);
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_session_start(s, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "cpu_time"));
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_int_equal(wm_table_rows(t), 0);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_a_forked_child_is_inert(void **state) {
    (void)state;
    wm_session *s = make(NULL);
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    WM_BEGIN("parent");
    const pid_t pid = fork();
    if (pid == 0) {
        int bad = wm_active != 0;
        nested();
        wm_session *mine = NULL;
        if (wm_session_create(NULL, &mine, NULL) == WM_OK) bad |= wm_session_start(mine, NULL) != WM_EBUSY;
        _exit(bad);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    WM_END("parent");
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_int_equal(wm_table_rows(t), 1);
    assert_int_equal(number_cell(t, row_of(t, "parent"), "entries"), 1);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_wrong_options(void **state) {
    (void)state;
    wm_session *s = NULL;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.struct_size = 0;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_EINVAL);
    opts.struct_size = sizeof opts;
    opts.ring_marks = (size_t)1 << 40;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_EINVAL);
    assert_null(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_without_regions_is_one),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_crossing_regions_are_both_measured),
        cmocka_unit_test(test_unmatched_marks_are_errors_of_their_rows),
        cmocka_unit_test(test_regions_of_threads_that_have_ended),
        cmocka_unit_test(test_threads_that_mark_all_the_time),
        cmocka_unit_test(test_a_full_ring_drops_and_says_so),
        cmocka_unit_test(test_nesting_beyond_the_limit),
        cmocka_unit_test(test_without_a_session_nothing_happens),
        cmocka_unit_test(test_runs_add_samples),
        cmocka_unit_test(test_a_sample_for_each_entry),
        cmocka_unit_test(test_names_made_at_run_time),
        cmocka_unit_test(test_wrong_order_of_calls),
        cmocka_unit_test(test_unknown_metric),
        cmocka_unit_test(test_metrics_of_two_passes_need_a_sweep),
        cmocka_unit_test(test_a_forked_child_is_inert),
        cmocka_unit_test(test_wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
