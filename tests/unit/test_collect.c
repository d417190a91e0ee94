/* Collectors: when they are called, and what becomes of what they say. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sweep/sweep.h"
#include "table/table.h"
#include "unit/cells.h"

#include <cmocka.h>

#include "unit/benches.h"

/* ---- what was called, in order ---- */

static char calls[4096];
static int failing_calls;

static void call(const char *what) {
    snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%s ", what);
}

static size_t count_of(const char *what) {
    size_t n = 0;
    char word[64];
    snprintf(word, sizeof word, " %s ", what);
    char all[sizeof calls + 1];
    snprintf(all, sizeof all, " %s", calls);
    for (const char *at = all; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

static bool once(void *user, wm_state *st, const char *region, wm_value *out) {
    assert_null(st);
    assert_null(region);
    call(user ? user : "O");
    *out = (wm_value){.type = WM_I64, .as.i64 = 9007199254740993};
    return true;
}

/* The parameter n. */
static bool config(void *user, wm_state *st, const char *region, wm_value *out) {
    assert_null(user);
    assert_null(region);
    call("C");
    *out = (wm_value){.type = WM_I64, .as.i64 = wm_i64(st, "n")};
    wm_fail(st, "what a collector says of the configuration is ignored");
    wm_record(st, "ignored", 1.0, "");
    return true;
}

/* 1, 2, 4, 8, ... times n. */
static int64_t runs_seen;
static bool doubling(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    assert_null(region);
    call("R");
    *out = (wm_value){.type = WM_F64, .as.f64 = (double)(wm_i64(st, "n") << runs_seen)};
    runs_seen = (runs_seen + 1) % 3;
    return true;
}

/* A text in one buffer, which the next call overwrites. */
static bool path(void *user, wm_state *st, const char *region, wm_value *out) {
    static char text[64];
    assert_non_null(st);
    (void)user;
    call(region);
    snprintf(text, sizeof text, "at %s", region);
    *out = (wm_value){.type = WM_STR, .as.str = text};
    return true;
}

static bool nothing(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)st;
    (void)region;
    (void)out;
    failing_calls++;
    return false;
}

static bool null_with_reason(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)st;
    (void)region;
    *out = (wm_value){.type = WM_NULL, .reason = WM_REASON_PERMISSION};
    return true;
}

/* Values in turn, from a list that a null without a reason ends. */
static bool in_turn(void *user, wm_state *st, const char *region, wm_value *out) {
    wm_value **at = user;
    (void)st;
    (void)region;
    *out = *(*at)++;
    return true;
}

#define COLLECTOR(name, scope, fn, user)                                                                     \
    { sizeof(wm_collector), name, scope, fn, user }
#define I64(x)                                                                                               \
    {                                                                                                        \
        WM_I64, WM_REASON_NONE, { .i64 = (x) }                                                               \
    }
#define F64(x)                                                                                               \
    {                                                                                                        \
        WM_F64, WM_REASON_NONE, { .f64 = (x) }                                                               \
    }
#define STR(x)                                                                                               \
    {                                                                                                        \
        WM_STR, WM_REASON_NONE, { .str = (x) }                                                               \
    }
#define BOOL(x)                                                                                              \
    {                                                                                                        \
        WM_BOOL, WM_REASON_NONE, { .b = (x) }                                                                \
    }

static const wm_collector four[] = {
    COLLECTOR("once", WM_COLLECT_ONCE, once, NULL),
    COLLECTOR("config", WM_COLLECT_CONFIG, config, NULL),
    COLLECTOR("doubling", WM_COLLECT_RUN, doubling, NULL),
    COLLECTOR("path", WM_COLLECT_REGION, path, NULL),
};

static void setup(wm_state *st) {
    (void)st;
    call("S");
}
static void teardown(wm_state *st) {
    (void)st;
    call("T");
}

static void regions(wm_state *st) {
    call("F");
    WM_BEGIN("a");
    WM_BEGIN("b");
    WM_END("b");
    WM_END("a");
    wm_set_time_ns(st, "a", 100.0);
}

static void whole(wm_state *st) { wm_set_time_ns(st, NULL, 100.0); }

static wm_benchmark bench_with(wm_fn run, const char *options, const wm_collector *collectors, size_t count) {
    wm_benchmark b = bench_of("bench", run, options);
    b.setup = setup;
    b.teardown = teardown;
    b.collectors = collectors;
    b.collector_count = count;
    return b;
}

static int clear(void **state) {
    (void)state;
    calls[0] = '\0';
    failing_calls = 0;
    runs_seen = 0;
    return 0;
}

/* ---- when ---- */

static void test_the_order_of_calls(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(regions, "--axis n=[1,2] --runs 2 --warmup 1", four, 4);
    wm_table_destroy(sweep_table(&b, NULL, WM_OK));
    assert_string_equal(calls, "O S C F R F a a/b R F a a/b T S C F R F a a/b R F a a/b T ");
}

static void test_a_whole_function_is_a_region(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(whole, "--axis n=[1] --runs 1 --warmup 0", four, 4);
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_string_equal(calls, "O S C R bench T ");
    assert_string_equal(text_cell(t, find_row(t, "bench", "time", NULL), "path"), "at bench");
    wm_table_destroy(t);
}

static void test_counts_over_passes_and_orders(void **state) {
    static const char *const orders[] = {"sequential", "interleaved", "random"};
    const wm_benchmark b =
        bench_with(regions, "--axis n=[1,2] --runs 3 --warmup 2 --metrics time,cpu_time", four, 4);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        clear(state);
        wm_table_destroy(sweep_table(&b, ARGS("--order", orders[i]), WM_OK));
        assert_int_equal(count_of("F"), 2 * (2 + 3 + 3)); /* two passes, and warm-ups */
        assert_int_equal(count_of("O"), 1);
        assert_int_equal(count_of("C"), 2);
        assert_int_equal(count_of("R"), 6);
        assert_int_equal(count_of("a"), 6);
        assert_int_equal(count_of("a/b"), 6);
    }
}

/* As a run that was throttled is run again. */
static void test_once_however_many_attempts(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(regions, "--axis n=[1] --runs 2 --warmup 0", four, 4);
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_step step = WM_STEP_INIT;
    for (int i = 0; wm_sweep_next(sweep, &step, NULL); i++) {
        assert_int_equal(step.attempt, i == 1);
        wm_step_call(&step);
        assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
        if (i > 0) continue;
        sweep->again = true;
        sweep->current->runs--;
    }
    assert_int_equal(count_of("F"), 3);
    assert_int_equal(count_of("R"), 2);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void only_first(wm_state *st) {
    if (wm_i64(st, "n") == 2) wm_fail(st, "no");
    wm_set_time_ns(st, NULL, 1.0);
}

static void test_a_run_that_fails_has_no_region(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(only_first, "--axis n=[1,2] --runs 2 --warmup 0", four, 4);
    wm_table *t = sweep_table(&b, NULL, WM_EFAILED);
    assert_string_equal(calls, "O S C R bench R bench T S C R T ");
    const size_t row = find_row(t, "bench", "time", "n=2");
    assert_int_equal(row, SIZE_MAX);
    for (size_t i = 0; i < wm_table_rows(t); i++) {
        if (strcmp(text_cell(t, i, "config_key"), "n=2") != 0) continue;
        assert_true(number_cell(t, i, "config_avg") == 2);
        assert_int_equal(cell(t, i, "doubling_avg").reason, WM_REASON_NOT_RUN);
        assert_int_equal(cell(t, i, "path").reason, WM_REASON_NOT_RUN);
        assert_int_equal(cell(t, i, "once").type, WM_I64);
    }
    wm_table_destroy(t);
}

static void test_a_profile_collects_nothing(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(regions, "--axis n=[1]", four, 4);
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, ARGS("--profile"));
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    assert_string_equal(calls, "S F T ");
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

/* ---- columns and values ---- */

static void test_values_of_each_scope(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(regions, "--axis n=[1,10] --runs 3", four, 4);
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    const size_t row = find_row(t, "a", "time", "n=10"), inner = find_row(t, "a/b", "time", "n=1");
    assert_int_equal(cell(t, row, "once").type, WM_I64);
    assert_true(cell(t, row, "once").as.i64 == 9007199254740993); /* no double is that */
    assert_int_equal(wm_table_find(t, "config"), SIZE_MAX);
    assert_int_equal(cell(t, row, "config_avg").type, WM_F64);
    assert_true(number_cell(t, row, "config_avg") == 10);
    assert_int_equal(cell(t, row, "config_std").reason, WM_REASON_FEW_SAMPLES);
    assert_true(number_cell(t, row, "config_min") == 10);
    assert_true(number_cell(t, row, "config_max") == 10);
    /* 10, 20, 40: squares of deviations from 70/3 add up to 4200/9; over n - 1 that is 700/3 */
    assert_true(fabs(number_cell(t, row, "doubling_avg") - 70.0 / 3) < 1e-12);
    assert_true(fabs(number_cell(t, row, "doubling_std") - sqrt(700.0 / 3)) < 1e-12);
    assert_true(number_cell(t, row, "doubling_min") == 10);
    assert_true(number_cell(t, row, "doubling_max") == 40);
    assert_true(number_cell(t, inner, "doubling_max") == 4);
    assert_string_equal(text_cell(t, row, "path"), "at a");
    assert_string_equal(text_cell(t, inner, "path"), "at a/b");
    /* behind the parameters, in the order in which they were given */
    const size_t first = wm_table_find(t, "n") + 1;
    static const char *const names[] = {"once",         "config_avg",   "config_std",   "config_min",
                                        "config_max",   "doubling_avg", "doubling_std", "doubling_min",
                                        "doubling_max", "path"};
    assert_int_equal(wm_table_columns(t), first + sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(wm_table_find(t, names[i]), first + i);
    wm_table_destroy(t);
}

static void test_samples_have_each_value(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(regions, "--axis n=[1,10] --runs 3 --metrics time,cpu_time", four, 4);
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_table *t = NULL;
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_samples(s, &t, NULL), WM_OK);
    assert_int_equal(wm_table_columns(t), wm_table_find(t, "n") + 5);
    size_t of_cpu_time = 0;
    for (size_t i = 0; i < wm_table_rows(t); i++) {
        const double n = number_cell(t, i, "n"), run = number_cell(t, i, "run");
        char want[64];
        snprintf(want, sizeof want, "at %s", text_cell(t, i, "region"));
        of_cpu_time += !strcmp(text_cell(t, i, "metric"), "cpu_time");
        assert_int_equal(cell(t, i, "config").type, WM_I64);
        assert_true(number_cell(t, i, "config") == n);
        assert_true(number_cell(t, i, "doubling") == n * exp2(run));
        if (strcmp(text_cell(t, i, "region"), "bench") != 0)
            assert_string_equal(text_cell(t, i, "path"), want);
        else /* it is a region of its own where there is no other */
            assert_int_equal(cell(t, i, "path").reason, WM_REASON_NO_SAMPLES);
        assert_int_equal(cell(t, i, "once").type, WM_I64);
    }
    assert_true(of_cpu_time >= 12);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void sometimes(wm_state *st) {
    static int64_t run;
    (void)st;
    WM_BEGIN("always");
    if (run++ % 3 != 1) {
        WM_BEGIN("twice");
        WM_END("twice");
    }
    WM_END("always");
}

static void test_only_runs_in_which_the_region_was_entered(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(sometimes, "--axis n=[1] --runs 3 --warmup 0", four, 4);
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_true(fabs(number_cell(t, find_row(t, "always", "time", NULL), "doubling_avg") - 7.0 / 3) < 1e-12);
    assert_true(number_cell(t, find_row(t, "always/twice", "time", NULL), "doubling_avg") == 2.5);
    assert_int_equal(count_of("always"), 3);
    assert_int_equal(count_of("always/twice"), 2);
    wm_table_destroy(t);
}

static wm_table *of_values(wm_value *values, wm_collect_scope scope, const char *options) {
    wm_value *at = values;
    const wm_collector one[] = {COLLECTOR("x", scope, in_turn, &at)};
    const wm_benchmark b = bench_with(whole, options, one, 1);
    return sweep_table(&b, NULL, WM_OK);
}

static void test_what_is_no_number(void **state) {
    (void)state;
    static const char *const options = "--runs 3 --warmup 0";
    wm_value texts[] = {STR("one"), STR("two"), STR("two")};
    wm_table *t = of_values(texts, WM_COLLECT_RUN, options);
    assert_string_equal(text_cell(t, 0, "x"), "one"); /* of the first run */
    assert_int_equal(wm_table_find(t, "x_avg"), SIZE_MAX);
    wm_table_destroy(t);

    wm_value bools[] = {{WM_NULL, WM_REASON_PERMISSION, {0}}, BOOL(true), BOOL(false)};
    t = of_values(bools, WM_COLLECT_RUN, options);
    assert_int_equal(cell(t, 0, "x").type, WM_BOOL);
    assert_true(cell(t, 0, "x").as.b); /* of the first that has one */
    wm_table_destroy(t);

    wm_value mixed[] = {F64(2.0), STR("two"), BOOL(true)};
    t = of_values(mixed, WM_COLLECT_RUN, options);
    assert_string_equal(text_cell(t, 0, "x"), "2.0");
    wm_table_destroy(t);

    wm_value configs[] = {I64(3), STR("a b"), BOOL(false)};
    t = of_values(configs, WM_COLLECT_CONFIG, "--axis k=[1,2,3] --runs 1 --warmup 0");
    assert_string_equal(text_cell(t, 0, "x"), "3");
    assert_string_equal(text_cell(t, 1, "x"), "a b");
    assert_string_equal(text_cell(t, 2, "x"), "false");
    wm_table_destroy(t);
}

static void test_numbers_and_nulls(void **state) {
    (void)state;
    wm_value some[] = {I64(1), {WM_NULL, WM_REASON_PERMISSION, {0}}, F64(NAN), F64(2.0)};
    wm_table *t = of_values(some, WM_COLLECT_RUN, "--runs 4 --warmup 0");
    assert_true(number_cell(t, 0, "x_avg") == 1.5);
    assert_true(fabs(number_cell(t, 0, "x_std") - sqrt(0.5)) < 1e-15);
    wm_table_destroy(t);

    wm_value one[] = {{WM_NULL, WM_REASON_PERMISSION, {0}}, I64(5)};
    t = of_values(one, WM_COLLECT_CONFIG, "--axis k=[1,2] --runs 1 --warmup 0");
    assert_int_equal(cell(t, 0, "x_avg").reason, WM_REASON_PERMISSION);
    assert_int_equal(cell(t, 0, "x_std").reason, WM_REASON_PERMISSION);
    assert_true(number_cell(t, 1, "x_avg") == 5);
    wm_table_destroy(t);

    wm_value large[] = {F64(-DBL_MAX), F64(DBL_MAX)};
    t = of_values(large, WM_COLLECT_RUN, "--runs 2 --warmup 0");
    assert_true(number_cell(t, 0, "x_min") == -DBL_MAX);
    assert_int_equal(cell(t, 0, "x_std").reason, WM_REASON_NOT_FINITE);
    wm_table_destroy(t);

    wm_value odd[] = {{(wm_type)9, WM_REASON_NONE, {0}}, {WM_STR, WM_REASON_NONE, {.str = NULL}}};
    t = of_values(odd, WM_COLLECT_RUN, "--runs 2 --warmup 0");
    assert_int_equal(cell(t, 0, "x").reason, WM_REASON_NOT_COLLECTED);
    wm_table_destroy(t);
}

static char warned[1024];
static int warnings;
static void keep_warning(void *user, wm_log_level level, const char *line) {
    (void)user;
    if (level != WM_LOG_WARNING || !strstr(line, "collector")) return;
    snprintf(warned, sizeof warned, "%s", line);
    warnings++;
}

static void test_one_that_has_no_value(void **state) {
    (void)state;
    const wm_collector some[] = {COLLECTOR("none", WM_COLLECT_RUN, nothing, NULL),
                                 COLLECTOR("barred", WM_COLLECT_ONCE, null_with_reason, NULL)};
    const wm_benchmark b = bench_with(whole, "--runs 3", some, 2);
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    wm_table *t = NULL;
    warnings = 0;
    opts.log = keep_warning;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    assert_int_equal(failing_calls, 3);
    assert_int_equal(warnings, 1);
    assert_string_equal(warned, "benchmark bench: the collector 'none' had no value");
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_int_equal(cell(t, 0, "none").reason, WM_REASON_NOT_COLLECTED);
    assert_int_equal(cell(t, 0, "barred").reason, WM_REASON_PERMISSION);
    assert_true(number_cell(t, 0, "mean") == 100);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

/* ---- several benchmarks ---- */

static void run_in(wm_session *s, const wm_benchmark *b) {
    wm_sweep *sweep = make_sweep(s, b, NULL);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
}

static void test_several_benchmarks_share_a_table(void **state) {
    (void)state;
    wm_value numbers[] = {I64(1), I64(2)}, texts[] = {STR("t")}, whole_number[] = {I64(7)},
             half[] = {F64(0.5)};
    wm_value *at[] = {numbers, texts, whole_number, half};
    const wm_collector first[] = {COLLECTOR("x", WM_COLLECT_RUN, in_turn, &at[0]),
                                  COLLECTOR("y", WM_COLLECT_ONCE, in_turn, &at[2])};
    const wm_collector second[] = {COLLECTOR("x", WM_COLLECT_ONCE, in_turn, &at[1]),
                                   COLLECTOR("y", WM_COLLECT_ONCE, in_turn, &at[3])};
    wm_benchmark b = bench_with(whole, "--runs 2 --warmup 0", first, 2);
    wm_session *s = make_session();
    wm_table *t = NULL;
    run_in(s, &b);
    b.name = "other";
    b.collectors = second;
    run_in(s, &b);
    b.name = "bare";
    b.collectors = NULL;
    run_in(s, &b);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    wm_session_destroy(s);
    assert_int_equal(wm_table_rows(t), 3);
    assert_true(number_cell(t, 0, "x_avg") == 1.5);
    assert_int_equal(cell(t, 0, "x").reason, WM_REASON_NOT_APPLICABLE);
    assert_string_equal(text_cell(t, 1, "x"), "t");
    assert_int_equal(cell(t, 1, "x_avg").reason, WM_REASON_NOT_APPLICABLE);
    assert_int_equal(cell(t, 0, "y").type, WM_F64);
    assert_true(number_cell(t, 0, "y") == 7);
    assert_true(number_cell(t, 1, "y") == 0.5);
    assert_int_equal(cell(t, 2, "x").reason, WM_REASON_NOT_APPLICABLE);
    assert_int_equal(cell(t, 2, "y").reason, WM_REASON_NOT_APPLICABLE);
    wm_table_destroy(t);
}

/* ---- files ---- */

static void check_read_back(const wm_table *t, const char *format) {
    char name[] = "/tmp/warpmeter-collect-XXXXXX";
    char file[64], beside[96];
    wm_table *back = NULL;
    wmi_buf why = WMI_BUF_INIT;
    assert_non_null(mkdtemp(name));
    snprintf(file, sizeof file, "%s/t.%s", name, format);
    snprintf(beside, sizeof beside, "%s.context.json", file);
    assert_int_equal(wm_table_write(t, file, NULL, NULL, NULL), WM_OK);
    assert_int_equal(wm_table_read(file, NULL, &back, NULL), WM_OK);
    if (!wmi_table_equal(t, back, &why)) fail_msg("%s: %s", format, why.data);
    unlink(file);
    unlink(beside);
    rmdir(name);
    wm_table_destroy(back);
    wmi_buf_free(&why);
}

static char *printed(const wm_table *t, const char *format) {
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    assert_int_equal(wm_table_print(t, f, format, NULL, NULL), WM_OK);
    fclose(f);
    return text;
}

/* What tells of the measurement in the text formats, with collectors and without. */
static void check_same_text(const wm_benchmark *with, const wm_benchmark *without, const char *format) {
    wm_table *a = sweep_table(with, NULL, WM_OK), *b = sweep_table(without, NULL, WM_OK);
    char *x = printed(a, format), *y = printed(b, format);
    assert_string_equal(x, y);
    free(x);
    free(y);
    wm_table_destroy(a);
    wm_table_destroy(b);
}

static void test_files(void **state) {
    (void)state;
    wm_value texts[] = {STR("a, \"b\""), STR("7"), STR("true")};
    wm_value *at = texts;
    const wm_collector some[] = {four[0], four[1], four[2], COLLECTOR("x,y \\", WM_COLLECT_RUN, in_turn, &at),
                                 COLLECTOR("none", WM_COLLECT_RUN, nothing, NULL)};
    wm_benchmark b = bench_with(whole, "--axis n=[1] --runs 3 --warmup 0", some, 5);
    wm_session *s = make_session();
    wm_table *t = NULL;
    run_in(s, &b);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    check_read_back(t, "csv");
    check_read_back(t, "json");
    wm_table_destroy(t);
    assert_int_equal(wm_session_samples(s, &t, NULL), WM_OK);
    check_read_back(t, "csv");
    check_read_back(t, "json");
    wm_table_destroy(t);
    wm_session_destroy(s);

    /* For people, and as another library's results, tables look as they do without. */
    at = texts;
    b.collector_count = 4;
    wm_benchmark without = b;
    without.collector_count = 0;
    check_same_text(&b, &without, "text");
    at = texts;
    check_same_text(&b, &without, "markdown");
    at = texts;
    t = sweep_table(&b, NULL, WM_OK);
    char *text = printed(t, "gbench-json");
    assert_non_null(strstr(text, "\"bench/n:1\""));
    assert_null(strstr(text, "\"doubling_avg\""));
    assert_null(strstr(text, "/once:"));
    free(text);
    wm_table_destroy(t);
}

/* ---- what is refused ---- */

static void check_refused(const wm_collector *collectors, size_t count, const char *const *argv,
                          const char *why) {
    const wm_benchmark b = bench_with(whole, "--axis n=[1]", collectors, count);
    wm_error err = WM_ERROR_INIT;
    wm_session *s = make_session();
    wm_sweep *sweep = NULL;
    wm_step step = WM_STEP_INIT;
    int argc = 0;
    while (argv && argv[argc]) argc++;
    if (wm_sweep_create(s, &b, argc, argv, &sweep, &err) == WM_OK && wm_sweep_next(sweep, &step, &err))
        fail_msg("not refused: %s", why);
    assert_int_equal(err.code, WM_EINVAL);
    if (!strstr(err.message, why)) fail_msg("'%s' lacks '%s'", err.message, why);
    assert_string_equal(calls, "");
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void test_names_that_are_refused(void **state) {
    (void)state;
    static const struct {
        wm_collector one;
        const char *why;
    } bad[] = {
        {COLLECTOR(NULL, WM_COLLECT_ONCE, once, NULL), "a collector needs a name"},
        {COLLECTOR("", WM_COLLECT_ONCE, once, NULL), "a collector needs a name"},
        {COLLECTOR("x", (wm_collect_scope)4, once, NULL), "there is no scope 4"},
        {COLLECTOR("mean", WM_COLLECT_ONCE, once, NULL), "the column 'mean', which every table has"},
        {COLLECTOR("value", WM_COLLECT_RUN, doubling, NULL), "the column 'value'"},
        {COLLECTOR("gpu_clock_hz", WM_COLLECT_RUN, doubling, NULL), "the column 'gpu_clock_hz'"},
        {COLLECTOR("nulls", WM_COLLECT_ONCE, once, NULL), "the column 'nulls'"},
        {COLLECTOR("n", WM_COLLECT_ONCE, once, NULL), "the column of the parameter 'n'"},
        {{sizeof(size_t), "x", WM_COLLECT_ONCE, once, NULL}, "WM_COLLECTOR_INIT"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) check_refused(&bad[i].one, 1, NULL, bad[i].why);
    const wm_collector twice[] = {four[0], four[2], COLLECTOR("once", WM_COLLECT_RUN, once, NULL)};
    check_refused(twice, 3, NULL, "the collector 'once' is there twice");
    const wm_collector shared[] = {COLLECTOR("x_min", WM_COLLECT_ONCE, once, NULL),
                                   COLLECTOR("x", WM_COLLECT_RUN, once, NULL)};
    check_refused(shared, 2, NULL, "the collectors 'x_min' and 'x' would share a column");
    check_refused(four + 2, 1, ARGS("--axis", "doubling_std=[1]"),
                  "the column of the parameter 'doubling_std'");
    check_refused(NULL, 0, ARGS("--collect", "gti"), "not 'gti'; did you mean git?");
    check_refused(NULL, 0, ARGS("--collect", "env:"), "--collect takes driver, gpu, uuid, git and env:NAME");
    const wm_collector variable[] = {COLLECTOR("env_A", WM_COLLECT_ONCE, once, NULL)};
    check_refused(variable, 1, ARGS("--collect", "env:A,git"), "the collector 'env_A' is there twice");
}

/* ---- from outside ---- */

static wm_status give(wm_sweep *sweep, const char *name, wm_collect_scope scope, size_t at, int64_t run,
                      const char *region, double value, wm_error *err) {
    return wm_sweep_collect(sweep, name, scope, at, run, region, (wm_value)F64(value), err);
}

static void test_values_from_outside(void **state) {
    (void)state;
    const wm_collector declared[] = {COLLECTOR("x", WM_COLLECT_RUN, NULL, NULL),
                                     COLLECTOR("at", WM_COLLECT_REGION, NULL, NULL), four[1]};
    const wm_benchmark b = bench_with(regions, "--axis n=[1,2] --runs 2 --warmup 0", declared, 3);
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    wm_step step = WM_STEP_INIT;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, 0, 0, NULL, 1, &err), WM_ESTATE);
    while (wm_sweep_next(sweep, &step, NULL)) {
        assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, step.config, step.run, NULL, 1, NULL), WM_ESTATE);
        wm_step_call(&step);
        assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
        const double value = 10.0 * (double)step.config + (double)step.run;
        assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, step.config, step.run, NULL, 99, NULL), WM_OK);
        assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, step.config, step.run, NULL, value, NULL), WM_OK);
        assert_int_equal(give(sweep, "at", WM_COLLECT_REGION, step.config, step.run, "a", value, NULL),
                         WM_OK);
    }
    assert_int_equal(give(sweep, "late", WM_COLLECT_ONCE, 0, 0, NULL, 5, NULL), WM_OK); /* not declared */
    assert_int_equal(give(sweep, "config", WM_COLLECT_CONFIG, 1, 0, NULL, 0.5, NULL), WM_OK);

    assert_int_equal(give(sweep, "x", WM_COLLECT_ONCE, 0, 0, NULL, 1, &err), WM_EINVAL);
    assert_string_equal(err.message, "the collector 'x' was declared with another scope");
    assert_int_equal(give(sweep, "n", WM_COLLECT_ONCE, 0, 0, NULL, 1, &err), WM_EINVAL);
    assert_int_equal(give(sweep, "mean", WM_COLLECT_ONCE, 0, 0, NULL, 1, &err), WM_EINVAL);
    assert_int_equal(give(sweep, "", WM_COLLECT_ONCE, 0, 0, NULL, 1, &err), WM_EINVAL);
    assert_int_equal(give(sweep, "y", (wm_collect_scope)7, 0, 0, NULL, 1, &err), WM_EINVAL);
    assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, 2, 0, NULL, 1, &err), WM_ENOTFOUND);
    assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, 0, -1, NULL, 1, &err), WM_ENOTFOUND);
    assert_int_equal(give(sweep, "x", WM_COLLECT_RUN, 0, 3, NULL, 1, &err), WM_ENOTFOUND);
    assert_int_equal(give(sweep, "at", WM_COLLECT_REGION, 0, 0, "c", 1, &err), WM_ENOTFOUND);
    assert_string_equal(err.message, "benchmark bench has no region 'c'");

    wm_table *t = NULL;
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    wm_session_destroy(s);
    const size_t row = find_row(t, "a", "time", "n=2"), inner = find_row(t, "a/b", "time", "n=2");
    assert_true(number_cell(t, row, "x_avg") == 10.5);
    assert_true(number_cell(t, inner, "x_max") == 11);
    assert_true(number_cell(t, row, "at_avg") == 10.5);
    assert_int_equal(cell(t, inner, "at_avg").reason, WM_REASON_NO_SAMPLES);
    assert_true(number_cell(t, row, "late") == 5);
    assert_true(number_cell(t, row, "config_avg") == 0.5);
    wm_table_destroy(t);
}

/* ---- built in ---- */

static void test_an_environment_variable(void **state) {
    (void)state;
    const wm_benchmark b = bench_with(whole, "--runs 1 --collect env:WARPMETER_TEST_NONE", NULL, 0);
    setenv("WARPMETER_TEST_A", "some, thing", 1);
    unsetenv("WARPMETER_TEST_NONE");
    wm_table *t = sweep_table(&b, NULL, WM_OK);
    assert_int_equal(cell(t, 0, "env_WARPMETER_TEST_NONE").reason, WM_REASON_NOT_COLLECTED);
    wm_table_destroy(t);
    t = sweep_table(&b, ARGS("--collect", "env:WARPMETER_TEST_A"), WM_OK);
    assert_string_equal(text_cell(t, 0, "env_WARPMETER_TEST_A"), "some, thing");
    assert_int_equal(wm_table_find(t, "env_WARPMETER_TEST_NONE"), SIZE_MAX); /* the later list counts */
    wm_table_destroy(t);
}

#define TEST(f) cmocka_unit_test_setup(f, clear)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_order_of_calls),
        TEST(test_a_whole_function_is_a_region),
        TEST(test_counts_over_passes_and_orders),
        TEST(test_once_however_many_attempts),
        TEST(test_a_run_that_fails_has_no_region),
        TEST(test_a_profile_collects_nothing),
        TEST(test_values_of_each_scope),
        TEST(test_samples_have_each_value),
        TEST(test_only_runs_in_which_the_region_was_entered),
        TEST(test_what_is_no_number),
        TEST(test_numbers_and_nulls),
        TEST(test_one_that_has_no_value),
        TEST(test_several_benchmarks_share_a_table),
        TEST(test_files),
        TEST(test_names_that_are_refused),
        TEST(test_values_from_outside),
        TEST(test_an_environment_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
