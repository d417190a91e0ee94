/* How metrics are spread over passes: with CUPTI's own host interface, which needs no device and knows
 * what shares a pass with what. Skipped where libcupti is not found. What a set takes is asked of the
 * chip apart from the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/replay.h"

/* libcupti opens libnvperf_host in a way that sanitizers refuse: the fake does instead, of which the
 * tests that split sets are skipped. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static const char ffma[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
static const char dadd[] = "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum";
static const char sm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char dram[] = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
static const char bytes[] = "dram__bytes_read.sum";
static const char time_metric[] = "gpu__time_duration.sum";
static const char clock_metric[] = "gpc__cycles_elapsed.avg.per_second";

static wmi_chip *chip;

static int find_chip(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    if (!SANITIZED) unsetenv("WARPMETER_LIBCUPTI");
    if (wmi_chip_find("GH100", &chip, &err) == WM_OK) return 0;
    printf("skipped: %s\n", err.message);
    exit(77);
}

static size_t passes_of(const char *const *names, size_t count) {
    const wmi_chip_config *config;
    assert_int_equal(wmi_chip_config_make(chip, names, count, &config, NULL), WM_OK);
    return config->passes;
}

typedef struct made {
    wmi_replay_plan *replay;
    wmi_plan plan;
} made;

/* Metric i of the core's plan is names[count - 1 - i], and there is one clean pass before. */
static made make(wmi_replay replay, const char *const *names, size_t count) {
    made m = {0};
    uint32_t metric_of[8];
    int32_t index;
    wm_error err = WM_ERROR_INIT;
    const wmi_backend_opts opts = {.device.replay = replay};
    const wmi_replay_how how = {.opts = &opts};
    assert_int_equal(wmi_plan_init(&m.plan, count, NULL), WM_OK);
    assert_int_equal(wmi_plan_add_pass(&m.plan, (wmi_pass){.window = WMI_WINDOW_CONFIG}, &index, NULL),
                     WM_OK);
    for (size_t i = 0; i < count; i++) metric_of[i] = (uint32_t)(count - 1 - i);
    const wm_status status =
        wmi_replay_plan_make(chip, names, metric_of, count, &how, &m.plan, &m.replay, &err);
    if (status != WM_OK) fail_msg("%s", err.message);
    return m;
}

static void drop(made *m) {
    wmi_replay_plan_destroy(m->replay);
    wmi_plan_free(&m->plan);
}

static void check_pass(const wmi_pass *pass, wmi_window_kind window, bool edges, bool optional) {
    assert_true(pass->disturbs);
    assert_true(pass->deferred);
    assert_int_equal(pass->window, window);
    assert_int_equal(pass->edges, edges);
    assert_int_equal(pass->optional, optional);
}

/* What is planned when all are counted together, time and clock beside them. */
static size_t together(const char *const *names, size_t count) {
    const char *all[8];
    memcpy(all, names, count * sizeof *all);
    all[count] = time_metric;
    all[count + 1] = clock_metric;
    return passes_of(all, count + 2);
}

/* ---- passes ---- */

static void test_stacked(void **state) {
    (void)state;
    const char *const names[] = {sm, dram};
    const size_t passes = together(names, 2);
    assert_true(passes > 1);
    made m = make(WMI_REPLAY_STACKED, names, 2);
    assert_int_equal(m.plan.pass_count, 1 + passes);
    for (size_t i = 1; i <= passes; i++) check_pass(&m.plan.passes[i], WMI_WINDOW_CONFIG, false, false);
    for (size_t i = 0; i < 2; i++) assert_int_equal(m.plan.pass_of[i], passes);
    drop(&m);
}

static void test_auto_has_a_fallback(void **state) {
    (void)state;
    const char *const names[] = {sm};
    const size_t passes = together(names, 1);
    made m = make(WMI_REPLAY_AUTO, names, 1);
    assert_int_equal(m.plan.pass_count, 1 + passes + 1);
    for (size_t i = 1; i <= passes; i++) check_pass(&m.plan.passes[i], WMI_WINDOW_CONFIG, true, false);
    check_pass(&m.plan.passes[1 + passes], WMI_WINDOW_CONFIG, true, true);
    assert_int_equal(m.plan.pass_of[0], passes);
    assert_false(wmi_replay_wants(m.replay, (int32_t)passes, 0)); /* no pass has differed yet */
    drop(&m);
}

static void test_driver(void **state) {
    (void)state;
    const char *const names[] = {sm, bytes};
    made m = make(WMI_REPLAY_KERNEL, names, 2);
    assert_int_equal(m.plan.pass_count, 2);
    check_pass(&m.plan.passes[1], WMI_WINDOW_CONFIG, false, false);
    for (size_t i = 0; i < 2; i++) assert_int_equal(m.plan.pass_of[i], 1);
    drop(&m);
}

static void test_ranges(void **state) {
    (void)state;
    const char *const names[] = {dram};
    const size_t passes = together(names, 1);
    made m = make(WMI_REPLAY_RANGE, names, 1);
    assert_int_equal(m.plan.pass_count, 1 + passes);
    check_pass(&m.plan.passes[passes], WMI_WINDOW_CONFIG, true, false);
    drop(&m);
}

/* ---- windows ---- */

/* Counters of executed instructions share no pass with the time: windows go without. */
static void test_windows_leave_time_out(void **state) {
    (void)state;
    const char *const names[] = {ffma, dadd};
    if (passes_of(names, 2) != 1 || together(names, 2) == 1) skip();
    made m = make(WMI_REPLAY_WINDOW, names, 2);
    assert_int_equal(m.plan.pass_count, 2);
    check_pass(&m.plan.passes[1], WMI_WINDOW_CONFIG, true, false);
    for (size_t i = 0; i < 2; i++) assert_int_equal(m.plan.pass_of[i], 1);
    drop(&m);
    m = make(WMI_REPLAY_STACKED, names, 2);
    assert_int_equal(m.plan.pass_count, 1 + together(names, 2));
    drop(&m);
}

/* One pass each, two together: each has a pass of its own. */
static void test_windows_split(void **state) {
    (void)state;
    const char *const names[] = {ffma, dram};
    if (passes_of(names, 1) != 1 || passes_of(names + 1, 1) != 1 || passes_of(names, 2) == 1) skip();
    made m = make(WMI_REPLAY_WINDOW, names, 2);
    assert_int_equal(m.plan.pass_count, 3);
    check_pass(&m.plan.passes[1], WMI_WINDOW_CONFIG, true, false);
    check_pass(&m.plan.passes[2], WMI_WINDOW_CONFIG, true, false);
    assert_int_equal(m.plan.pass_of[1], 1); /* ffma */
    assert_int_equal(m.plan.pass_of[0], 2);
    drop(&m);
}

/* One that takes several passes alone needs the same run once for each. */
static void test_windows_of_runs(void **state) {
    (void)state;
    const char *const names[] = {sm, dram};
    const size_t passes = together(names, 2);
    made m = make(WMI_REPLAY_WINDOW, names, 2);
    assert_int_equal(m.plan.pass_count, 1 + passes);
    for (size_t i = 1; i <= passes; i++) check_pass(&m.plan.passes[i], WMI_WINDOW_RUN, false, false);
    for (size_t i = 0; i < 2; i++) assert_int_equal(m.plan.pass_of[i], passes);
    drop(&m);
}

/* ---- metrics that cannot be counted ---- */

static void test_unknown(void **state) {
    (void)state;
    const char *const names[] = {dram, "bogus__x.sum", bytes};
    made m = make(WMI_REPLAY_STACKED, names, 3);
    assert_int_equal(m.plan.pass_of[1], -1);
    assert_int_equal(m.plan.reason[1], WM_REASON_NO_EVENT);
    assert_non_null(strstr(m.plan.why[1], "bogus__x"));
    const char *const good[] = {dram, bytes};
    assert_int_equal(m.plan.pass_of[0], together(good, 2));
    assert_int_equal(m.plan.pass_of[2], together(good, 2));
    assert_int_equal(m.plan.reason[0], WM_REASON_NONE);
    drop(&m);
}

static void test_nothing_countable(void **state) {
    (void)state;
    const char *const names[] = {"bogus__x.sum"};
    made m = make(WMI_REPLAY_AUTO, names, 1);
    assert_null(m.replay);
    assert_int_equal(m.plan.pass_count, 1);
    assert_int_equal(m.plan.pass_of[0], -1);
    drop(&m);
}

/* The clock that is read beside the metrics can be asked for as well. */
static void test_clock_asked_for(void **state) {
    (void)state;
    const char *const names[] = {clock_metric};
    made m = make(WMI_REPLAY_STACKED, names, 1);
    const char *const both[] = {clock_metric, time_metric};
    assert_int_equal(m.plan.pass_of[0], passes_of(both, 2));
    drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacked),
        cmocka_unit_test(test_auto_has_a_fallback),
        cmocka_unit_test(test_driver),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_windows_leave_time_out),
        cmocka_unit_test(test_windows_split),
        cmocka_unit_test(test_windows_of_runs),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_nothing_countable),
        cmocka_unit_test(test_clock_asked_for),
    };
    return cmocka_run_group_tests(tests, find_chip, NULL);
}
