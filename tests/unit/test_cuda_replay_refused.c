/* Counter passes where counters are refused, or never end, on a made-up GPU. */
#include "fakes/cuda/fake_core.h"

/* ---- refusals ---- */

static void test_not_permitted(void **state) {
    (void)state;
    make(sm, bytes);
    fake_fail("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 1, -1);
    run_all(SM_PASSES, program_nested);
    check_null(entries[0], "k1", 0, WM_REASON_PERMISSION);
    check_null(entries[1], "k3", 1, WM_REASON_PERMISSION);
    assert_int_equal(count_of(0), 3);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "RmProfilingAdminOnly"));
    for (int32_t pass = 0; pass < SM_PASSES; pass++) run_pass(pass, 1, program_nested);
    assert_int_equal(warnings, 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
}

static void test_no_fallback_without_counters(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_AUTO;
    make(sm, NULL);
    fake_fail("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, 1, -1);
    run_all(SM_PASSES, program_differs);
    assert_false(wmi_replay_wants(replay, SM_PASSES, 0));
    check_null(entries[0], "k1", 0, WM_REASON_PERMISSION);
}

static void test_busy_for_a_while(void **state) {
    (void)state;
    make(bytes, NULL);
    fake_fail("cuptiRangeProfilerStart", CUPTI_ERROR_HARDWARE_BUSY, 1, 1);
    run_all(1, program_nested);
    check_null(entries[0], "k1", 0, WM_REASON_DEVICE_BUSY);
    assert_int_equal(warnings, 1);
    run_pass(0, 1, program_nested);
    drain();
    check(entries[0], "k1", 0, 102);
}

static void test_not_supported(void **state) {
    (void)state;
    make(bytes, NULL);
    fake_supported("vGpu", 1);
    run_all(1, program_nested);
    check_null(entries[0], "k1", 0, WM_REASON_NO_DEVICE);
}

static void test_values_cannot_be_read(void **state) {
    (void)state;
    make(bytes, NULL);
    fake_fail("cuptiProfilerHostEvaluateToGpuValues", CUPTI_ERROR_UNKNOWN, 1, 1);
    run_all(1, program_nested);
    check_null(entries[0], "k1", 0, WM_REASON_BACKEND);
}

static void test_context_gone(void **state) {
    (void)state;
    make(bytes, NULL);
    clean_pass(program_nested);
    assert_int_equal(cuCtxDestroy(context), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    run_pass(0, 0, program_nested);
    drain();
    check_null(entries[0], "k1", 0, WM_REASON_NOT_COUNTED); /* this one was not met before */
    run_pass(0, 1, program_nested);
    drain();
    check(entries[0], "k1", 0, 102);
    assert_int_equal(warnings, 0);
}

/* ---- kernels that wait for each other ---- */

static void *launch_held(void *unused) {
    (void)unused;
    assert_int_equal(cuCtxSetCurrent(context), CUDA_SUCCESS);
    here = 77;
    launch("k5_waits");
    return NULL;
}

static void test_watchdog(void **state) {
    (void)state;
    pthread_t thread;
    make(bytes, NULL);
    clean_pass(program_nested);
    fake_hold("k5_waits");
    open_pass(0, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, launch_held, NULL), 0);
    fake_wait_blocked(1);
    fake_advance(2 * opts.device.hang_ns);
    pthread_mutex_lock(&warned_lock);
    while (warnings == 0) pthread_cond_wait(&warned_now, &warned_lock);
    pthread_mutex_unlock(&warned_lock);
    fake_release("k5_waits"); /* it was only slow */
    pthread_join(thread, NULL);
    close_pass(0, 0, 0);
    drain();
    check(77, "k5_waits", 0, 502);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "k5_waits"));
}

static void test_never_at_rest(void **state) {
    (void)state;
    pthread_t thread;
    opts.device.hang_ns = 1000000;
    make(bytes, NULL);
    clean_pass(program_nested);
    fake_hold("k5_waits");
    open_pass(0, 0, 0);
    program_nested(0);
    assert_int_equal(pthread_create(&thread, NULL, launch_held, NULL), 0);
    fake_wait_blocked(1);
    close_pass(0, 0, 0);
    drain();
    check_null(entries[0], "k1", 0, WM_REASON_WAITING_KERNELS);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "k5_waits"));
    const uint64_t calls = fake_calls("cuptiRangeProfilerStop");
    assert_int_equal(calls, 0);
    fake_release("k5_waits");
    pthread_join(thread, NULL);
    run_pass(0, 1, program_nested); /* counters are off for good */
    drain();
    check_null(entries[0], "k1", 0, WM_REASON_WAITING_KERNELS);
    assert_int_equal(warnings, 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerStart"), 1);
}

/* What was abandoned stays enabled, and the thread that waited may still be on its way out: nothing can be
 * reset after it. */
static int end_abandoned(void **state) {
    (void)state;
    assert_int_equal(fake_profilers(), 1);
    clean_up();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_not_permitted),
        TEST(test_no_fallback_without_counters),
        TEST(test_busy_for_a_while),
        TEST(test_not_supported),
        TEST(test_values_cannot_be_read),
        TEST(test_context_gone),
        TEST(test_watchdog),
        cmocka_unit_test_setup_teardown(test_never_at_rest, begin, end_abandoned), /* the last */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
