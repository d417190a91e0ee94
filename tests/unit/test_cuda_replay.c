/* Counters stacked over all runs: from what a program launched to readings, on a made-up GPU. */
#include <math.h>

#include "fakes/cuda/fake_core.h"

/* ---- stacked ---- */

static void test_stacked(void **state) {
    (void)state;
    fake_kernel_ns("k1", 7000);
    make(sm, bytes);
    assert_int_equal(plan.pass_count, SM_PASSES);
    run_all(SM_PASSES, program_nested);
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k1", 1, 102);
    check(entries[0], "k2", 0, 201);
    check(entries[1], "k3", 1, 302);
    assert_int_equal(count_of(0), 3); /* what is launched outside has no entry */
    assert_int_equal(count_of(1), 3);
    assert_int_equal(count_of(WMI_READ_CLOCK), 3);
    check(entries[0], "k1", WMI_READ_CLOCK, 1.5e9);
    assert_true(find(entries[0], "k1", 0, 0)->weight == 7000);
    assert_true(find(entries[0], "k2", 1, 0)->weight == FAKE_KERNEL_NS);
    assert_true(find(entries[0], "k1", WMI_READ_CLOCK, 0)->weight == 7000);
    assert_int_equal(fake_windows(), SM_PASSES);
    assert_int_equal(warnings, 0);
    drain();
    assert_int_equal(got.n, 0);
}

static void test_one_kernel_twice(void **state) {
    (void)state;
    make(bytes, NULL);
    assert_int_equal(plan.pass_count, 1);
    open_pass(0, 0, 0); /* nothing is known of contexts yet */
    program_nested(0);
    close_pass(0, 0, 0);
    drain();
    check_null(entries[0], "k1", 0, WM_REASON_NOT_COUNTED);
    run_pass(0, 0, program_nested);
    run_pass(0, 0, program_nested);
    drain();
    assert_int_equal(count_of(0), 6);
    check(entries[0], "k2", 0, 202);
}

static void test_nothing_known(void **state) {
    (void)state;
    const wmi_window w = {.kind = WMI_WINDOW_CONFIG};
    make(bytes, NULL);
    clean_pass(program_nested);
    assert_int_equal(wmi_replay_open(replay, 0, &w, NULL, NULL), WM_OK);
    program_nested(0);
    assert_int_equal(wmi_replay_close(replay, 0, &w, NULL), WM_OK);
    drain();
    check(entries[1], "k3", 0, 302);
}

static double value_nan(void *user, const fake_range *range, const char *metric) {
    return strcmp(metric, sm) == 0 && range->kernel[1] == '2' ? NAN : value(user, range, metric);
}

static void test_not_counted(void **state) {
    (void)state;
    make(sm, bytes);
    fake_values(value_nan, NULL);
    run_all(SM_PASSES, program_nested);
    check_null(entries[0], "k2", 0, WM_REASON_NOT_COUNTED);
    check(entries[0], "k2", 1, 202);
    check(entries[0], "k1", 0, 101);
}

static void test_ignored(void **state) {
    (void)state;
    static const char *const ignored[] = {"nothing", "k[23]"};
    opts.device.ignored = ignored;
    opts.device.ignored_count = 2;
    make(bytes, NULL);
    run_all(1, program_nested);
    assert_int_equal(count_of(0), 1);
    check(entries[0], "k1", 0, 102);
}

static void program_ambiguous(int32_t pass) {
    (void)pass;
    here = WMI_AMBIGUOUS_ENTRY;
    launch("k1");
    here = WMI_NO_ENTRY;
    entries[0] = enter(0);
    launch("k2");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

static void test_ambiguous(void **state) {
    (void)state;
    make(bytes, NULL);
    run_all(1, program_ambiguous);
    assert_int_equal(count_of(0), 1);
    check(entries[0], "k2", 0, 202);
}

/* ---- several contexts ---- */

static CUcontext second;

static void make_second(int device) {
    CUcontext popped;
    assert_int_equal(cuCtxCreate_v2(&second, 0, device), CUDA_SUCCESS);
    assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
}

static void program_contexts(int32_t pass) {
    (void)pass;
    CUcontext popped;
    entries[0] = enter(0);
    for (int i = 0; i < 2; i++) {
        launch(i ? "k2" : "k1");
        assert_int_equal(cuCtxPushCurrent(second), CUDA_SUCCESS);
        launch(i ? "k4" : "k3");
        assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    }
    leave(entries[0], 0, WMI_NO_ENTRY);
}

/* A device counts for one context at a time, the one that was met first. */
static void test_several_contexts(void **state) {
    (void)state;
    make_second(0);
    make(sm, NULL);
    run_all(SM_PASSES, program_contexts);
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k2", 0, 201);
    check_null(entries[0], "k3", 0, WM_REASON_BACKEND);
    check_null(entries[0], "k4", 0, WM_REASON_BACKEND);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), SM_PASSES);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "several contexts of NVIDIA Fake H200"));
}

static void test_a_context_of_each_device(void **state) {
    (void)state;
    make_second(1);
    make(sm, NULL);
    run_all(SM_PASSES, program_contexts);
    for (int i = 1; i <= 4; i++) {
        char name[] = {'k', (char)('0' + i), 0};
        check(entries[0], name, 0, 100 * i + 1);
    }
    assert_int_equal(warnings, 0);
}

/* Only contexts in which kernels ran are counted in. */
static void test_unused_context(void **state) {
    (void)state;
    const double kernels[] = {4, 0};
    make_second(0);
    make(bytes, NULL);
    clean_pass(program_contexts);
    survey.kernels_of = kernels;
    survey.context_count = 2;
    run_pass(0, 0, program_contexts);
    drain();
    check(entries[0], "k1", 0, 102);
    check_null(entries[0], "k3", 0, WM_REASON_NOT_COUNTED);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
}

/* ---- sequences that differ ---- */

static void test_difference(void **state) {
    (void)state;
    make(sm, NULL);
    run_all(SM_PASSES, program_differs);
    check(entries[0], "k1", 0, 101);
    check_null(entries[0], "k2", 0, WM_REASON_SEQUENCE);
    check_null(entries[0], "k3", 0, WM_REASON_SEQUENCE);
}

static void program_longer(int32_t pass) {
    entries[0] = enter(0);
    launch("k1");
    launch("k2");
    if (pass == 0) launch("k3");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

static void test_one_launch_less(void **state) {
    (void)state;
    make(sm, NULL);
    run_all(SM_PASSES, program_longer);
    assert_int_equal(count_of(0), 2);
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k2", 0, 201);
}

/* Streams made anew in each pass are the same streams. */
static void program_new_streams(int32_t pass) {
    CUstream unused[3], a, b;
    for (int32_t i = 0; i <= pass; i++) assert_int_equal(cuStreamCreate(&unused[i], 0), CUDA_SUCCESS);
    assert_int_equal(cuStreamCreate(&a, 0), CUDA_SUCCESS);
    assert_int_equal(cuStreamCreate(&b, 0), CUDA_SUCCESS);
    entries[0] = enter(0);
    cuLaunchKernel(fake_function("k1"), 1, 1, 1, 1, 1, 1, 0, a, NULL, NULL);
    cuLaunchKernel(fake_function("k2"), 1, 1, 1, 1, 1, 1, 0, b, NULL, NULL);
    leave(entries[0], 0, WMI_NO_ENTRY);
}

static void test_new_streams(void **state) {
    (void)state;
    make(sm, NULL);
    run_all(SM_PASSES, program_new_streams);
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k2", 0, 201);
}

static void test_fallback(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_AUTO;
    make(sm, NULL);
    assert_int_equal(plan.pass_count, SM_PASSES + 1);
    run_all(SM_PASSES, program_differs);
    assert_int_equal(got.n, 0);
    assert_true(wmi_replay_wants(replay, SM_PASSES, 0));
    assert_false(wmi_replay_wants(replay, SM_PASSES, 1));
    run_pass(SM_PASSES, 0, program_differs);
    drain();
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k2", 0, 201);
    check(entries[0], "k3", 0, 301);
    assert_int_equal(count_of(WMI_READ_CLOCK), 3);
    assert_false(wmi_replay_wants(replay, SM_PASSES, 0));
    for (int32_t pass = 0; pass < SM_PASSES; pass++) run_pass(pass, 1, program_nested);
    assert_false(wmi_replay_wants(replay, SM_PASSES, 1));
}

/* A launch that no callback saw: which range is whose is not known. */
static void program_unseen(int32_t pass) {
    entries[0] = enter(0);
    launch("k1");
    wmi_launches_hide();
    if (pass >= 0) launch("k9");
    wmi_launches_show();
    launch("k2");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

static void test_more_ranges_than_launches(void **state) {
    (void)state;
    make(bytes, NULL);
    run_all(1, program_unseen);
    check_null(entries[0], "k1", 0, WM_REASON_SEQUENCE);
    check_null(entries[0], "k2", 0, WM_REASON_SEQUENCE);
}

enum { MANY = 200 };
static void program_many(int32_t pass) {
    (void)pass;
    entries[0] = enter(0);
    for (int i = 0; i < MANY; i++) launch("k1");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

/* The survey spoke of a few kernels, so there is room for 32. */
static void test_dropped(void **state) {
    (void)state;
    survey = (wmi_replay_survey){.kernels_in = 16, .regions = 1, .runs = 1};
    make(bytes, NULL);
    run_all(1, program_many);
    size_t values = 0, nulls = 0;
    for (size_t i = 0; i < got.n; i++) {
        if (got.v[i].metric != 0) continue;
        values += got.v[i].reason == WM_REASON_NONE && got.v[i].value == 102;
        nulls += got.v[i].reason == WM_REASON_RANGES_DROPPED;
    }
    assert_int_equal(values, 32);
    assert_int_equal(nulls, MANY - 32);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "168 of 200"));
}

/* ---- sequences that are not completed ---- */

static void test_given_up(void **state) {
    (void)state;
    make(sm, NULL);
    clean_pass(program_nested);
    run_pass(0, 0, program_nested); /* the configuration failed after it */
    for (int32_t pass = 0; pass < SM_PASSES; pass++) run_pass(pass, 1, program_nested);
    drain();
    assert_int_equal(count_of(0), 3);
    check(entries[0], "k2", 0, 201);
}

static void test_begun_late(void **state) {
    (void)state;
    make(sm, NULL);
    clean_pass(program_nested);
    for (int32_t pass = 1; pass < SM_PASSES; pass++) run_pass(pass, 0, program_nested);
    drain();
    assert_int_equal(count_of(0), 3);
    check_null(entries[0], "k2", 0, WM_REASON_NOT_COUNTED);
}

static void test_destroyed_while_open(void **state) {
    (void)state;
    make(sm, NULL);
    clean_pass(program_nested);
    open_pass(0, 0, 0);
    launch("k1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_stacked),          TEST(test_one_kernel_twice),
        TEST(test_nothing_known),    TEST(test_not_counted),
        TEST(test_ignored),          TEST(test_ambiguous),
        TEST(test_several_contexts), TEST(test_a_context_of_each_device),
        TEST(test_unused_context),   TEST(test_difference),
        TEST(test_one_launch_less),  TEST(test_new_streams),
        TEST(test_fallback),         TEST(test_more_ranges_than_launches),
        TEST(test_dropped),          TEST(test_given_up),
        TEST(test_begun_late),       TEST(test_destroyed_while_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
