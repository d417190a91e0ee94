/* wm_doctor and wm_metrics: what the tables hold on every machine, and their failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "table/table.h"

static const char *text(const wm_table *t, size_t row, const char *column) {
    wm_value v;
    assert_int_equal(wm_table_get(t, row, wm_table_find(t, column), &v), WM_OK);
    return v.type == WM_STR ? v.as.str : "";
}

/* The row whose cells in the two columns are these; SIZE_MAX for none. */
static size_t find(const wm_table *t, const char *a, const char *is_a, const char *b, const char *is_b) {
    for (size_t row = 0; row < wm_table_rows(t); row++)
        if (strcmp(text(t, row, a), is_a) == 0 && (!b || strcmp(text(t, row, b), is_b) == 0)) return row;
    return SIZE_MAX;
}

static wm_table *doctor(void) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wm_doctor(&t, &err) != WM_OK) fail_msg("wm_doctor: %s", err.message);
    assert_string_equal(wm_table_kind(t), "doctor");
    assert_true(wmi_schema_complete(t));
    return t;
}

static wm_table *metrics(const char *pattern) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_metrics_opts opts = WM_METRICS_OPTS_INIT;
    opts.pattern = pattern;
    if (wm_metrics(&opts, &t, &err) != WM_OK) fail_msg("wm_metrics: %s", err.message);
    assert_string_equal(wm_table_kind(t), "metrics");
    assert_true(wmi_schema_complete(t));
    return t;
}

static int forget_environment(void **state) {
    (void)state;
    unsetenv("WARPMETER_TIMER");
    unsetenv("WARPMETER_METRICS");
    return 0;
}

/* ---- doctor ---- */

static void every_part_tells(void **state) {
    (void)state;
    static const char *const expected[][2] = {
        {"timer", "source"},      {"timer", "cost"},       {"cpu", "cpu_time"}, {"perf", "software events"},
        {"formulas", "muParser"}, {"tools", "ncu"},        {"tools", "nvtx"},   {"machine", "cpu"},
        {"machine", "cache"},     {"machine", "governor"}, {"machine", "load"}, {"machine", "virtual"}};
    wm_table *t = doctor();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (find(t, "component", expected[i][0], "item", expected[i][1]) == SIZE_MAX)
            fail_msg("no row for %s %s", expected[i][0], expected[i][1]);
    wm_table_destroy(t);
}

static void what_is_not_ok_has_a_reason(void **state) {
    (void)state;
    wm_table *t = doctor();
    for (size_t row = 0; row < wm_table_rows(t); row++) {
        const char *verdict = text(t, row, "state");
        bool ok = strcmp(verdict, "ok") == 0;
        assert_true(ok || strcmp(verdict, "limited") == 0 || strcmp(verdict, "absent") == 0);
        if (ok) assert_string_not_equal(text(t, row, "value"), "");
        if (!ok) assert_string_not_equal(text(t, row, "reason"), "");
        if (ok) assert_string_equal(text(t, row, "reason"), "");
    }
    wm_table_destroy(t);
}

/* The timer is chosen once for the process: this test comes first. */
static void a_timer_that_was_asked_for_is_named(void **state) {
    (void)state;
    setenv("WARPMETER_TIMER", "monotonic", 1);
    wm_table *t = doctor();
    size_t row = find(t, "component", "timer", "item", "source");
    assert_string_equal(text(t, row, "value"), "monotonic");
    assert_string_equal(text(t, row, "state"), "limited");
    assert_string_equal(text(t, row, "remedy"), "unset WARPMETER_TIMER");
    wm_table_destroy(t);
}

/* No x86-64 machine has the counter of aarch64, nor the other way round. */
static void a_timer_that_is_not_here_is_a_finding(void **state) {
    (void)state;
#if defined(__aarch64__)
    setenv("WARPMETER_TIMER", "tsc", 1);
#else
    setenv("WARPMETER_TIMER", "cntvct", 1);
#endif
    wm_table *t = doctor();
    size_t row = find(t, "component", "timer", "item", "source");
    assert_string_equal(text(t, row, "state"), "absent");
    assert_non_null(strstr(text(t, row, "reason"), "WARPMETER_TIMER is "));
    assert_string_equal(text(t, row, "remedy"), "unset WARPMETER_TIMER");
    wm_table_destroy(t);
}

static void a_wrong_timer_is_an_error(void **state) {
    (void)state;
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    setenv("WARPMETER_TIMER", "sundial", 1);
    assert_int_equal(wm_doctor(&t, &err), WM_EINVAL);
    assert_int_equal(err.code, WM_EINVAL);
    assert_string_equal(err.message, "WARPMETER_TIMER takes tsc or monotonic, not 'sundial'");
    assert_null(t);
    assert_int_equal(wm_doctor(&t, NULL), WM_EINVAL);
    assert_null(t);
}

/* ---- metrics ---- */

static void metrics_are_described(void **state) {
    (void)state;
    wm_table *t = metrics(NULL);
    size_t row = find(t, "metric", "time", "backend", "cpu");
    assert_int_not_equal(row, SIZE_MAX);
    assert_string_equal(text(t, row, "unit"), "ns");
    assert_string_equal(text(t, row, "better"), "lower");
    assert_string_not_equal(text(t, row, "text"), "");
    assert_int_not_equal(find(t, "metric", "cpu_time", NULL, NULL), SIZE_MAX);
    assert_int_not_equal(find(t, "metric", "instructions", NULL, NULL), SIZE_MAX);
    wm_table_destroy(t);
}

static void what_is_not_available_has_a_reason(void **state) {
    (void)state;
    wm_table *t = metrics(NULL);
    size_t column = wm_table_find(t, "available");
    for (size_t row = 0; row < wm_table_rows(t); row++) {
        wm_value v;
        assert_int_equal(wm_table_get(t, row, column, &v), WM_OK);
        assert_int_equal(v.type, WM_BOOL);
        assert_int_equal(v.as.b, text(t, row, "reason")[0] == '\0');
    }
    wm_table_destroy(t);
}

static void a_pattern_chooses(void **state) {
    (void)state;
    wm_table *t = metrics("cpu_tim[e]");
    assert_int_equal(wm_table_rows(t), 1);
    assert_string_equal(text(t, 0, "metric"), "cpu_time");
    wm_table_destroy(t);
    t = metrics("no such metric");
    assert_int_equal(wm_table_rows(t), 0);
    wm_table_destroy(t);
}

static void groups_are_listed(void **state) {
    (void)state;
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    wm_table *t = metrics("group:*");
    assert_true(wm_table_rows(t) > 0);
    size_t row = find(t, "metric", "group:faults", NULL, NULL);
    assert_int_not_equal(row, SIZE_MAX);
    assert_string_not_equal(text(t, row, "text"), "");
    for (row = 0; row < wm_table_rows(t); row++)
        assert_memory_equal(text(t, row, "metric"), "group:", strlen("group:"));
    wm_table_destroy(t);
}

static void a_wrong_folder_is_an_error(void **state) {
    (void)state;
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    setenv("WARPMETER_METRICS", "/nonexistent", 1);
    assert_int_equal(wm_metrics(NULL, &t, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "/nonexistent"));
    assert_null(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, forget_environment, forget_environment)
    const struct CMUnitTest tests[] = {
        TEST(a_timer_that_was_asked_for_is_named),
        TEST(every_part_tells),
        TEST(what_is_not_ok_has_a_reason),
        TEST(a_timer_that_is_not_here_is_a_finding),
        TEST(a_wrong_timer_is_an_error),
        TEST(metrics_are_described),
        TEST(what_is_not_available_has_a_reason),
        TEST(a_pattern_chooses),
        TEST(groups_are_listed),
        TEST(a_wrong_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
