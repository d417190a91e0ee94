/* Windows of hardware counters, on a made-up GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/counters.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/launches.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

static const char sm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char bytes[] = "dram__bytes_read.sum";
static const char time_metric[] = "gpu__time_duration.sum";

static wmi_chip *chip;
static wmi_cuda_context context;
static wmi_counters *counters;

/* Which kernel a value is of: a name is "k" and a digit. */
static double value(void *user, const fake_range *range, const char *metric) {
    (void)user;
    const double number = range->kernel[0] == 'k' ? range->kernel[1] - '0' : 9;
    return 100 * number + (strcmp(metric, sm) == 0 ? 1 : strcmp(metric, bytes) == 0 ? 2 : 3);
}

static int begin(void **state) {
    (void)state;
    const wmi_cuda_device *devices;
    size_t count;
    fake_reset();
    fake_values(value, NULL);
    assert_int_equal(wmi_cuda_devices(&devices, &count, NULL), WM_OK);
    assert_int_equal(cuCtxCreate_v2(&context.handle, 0, 0), CUDA_SUCCESS);
    assert_int_equal(wmi_cupti_load(NULL), WM_OK);
    context.id = 1;
    context.device = devices;
    assert_int_equal(wmi_chip_find("GH100", &chip, NULL), WM_OK);
    assert_int_equal(wmi_counters_create(&context, &counters, NULL), WM_OK);
    return 0;
}

static int end(void **state) {
    (void)state;
    CUcontext current = NULL;
    assert_int_equal(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, context.handle); /* each call leaves the program's own as it was */
    wmi_counters_destroy(counters);
    counters = NULL;
    assert_int_equal(fake_profilers(), 0);
    return 0;
}

static const wmi_chip_config *config_of(const char *a, const char *b) {
    const char *const names[] = {a, b};
    const wmi_chip_config *config;
    assert_int_equal(wmi_chip_config_make(chip, names, b ? 2 : 1, &config, NULL), WM_OK);
    return config;
}

static void launch(const char *kernel) {
    assert_int_equal(cuLaunchKernel(fake_function(kernel), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_SUCCESS);
}

static void window(const char *const *kernels, size_t count) {
    wm_error err = WM_ERROR_INIT;
    if (wmi_counters_start(counters, &err) != WM_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) launch(kernels[i]);
    if (wmi_counters_stop(counters, &err) != WM_OK) fail_msg("%s", err.message);
}

static void begin_set(const wmi_chip_config *config, wmi_counter_mode mode, size_t ranges) {
    wm_error err = WM_ERROR_INIT;
    if (wmi_counters_begin(counters, config, mode, ranges, ranges, &err) != WM_OK)
        fail_msg("%s", err.message);
}

static void check_values(size_t range, double first, double second) {
    double values[2] = {-1, -1};
    assert_int_equal(wmi_counters_values(counters, range, values, NULL), WM_OK);
    assert_true(values[0] == first);
    assert_true(second == 0 || values[1] == second);
}

/* ---- one pass ---- */

static void test_one_window(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2", "k1"};
    size_t dropped = 9;
    begin_set(config_of(bytes, time_metric), WMI_COUNTERS_KERNELS, 3);
    window(kernels, 3);
    assert_true(wmi_counters_complete(counters));
    assert_int_equal(wmi_counters_ranges(counters, &dropped), 3);
    assert_int_equal(dropped, 0);
    check_values(0, 102, 103);
    check_values(1, 202, 203);
    check_values(2, 102, 103);
}

static void test_windows_append(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2", "k3", "k4"};
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 4);
    window(kernels, 1);
    assert_int_equal(wmi_counters_ranges(counters, NULL), 1);
    launch("k9"); /* between windows: no range */
    window(kernels + 1, 2);
    assert_int_equal(wmi_counters_ranges(counters, NULL), 3);
    window(NULL, 0);
    window(kernels + 3, 1);
    assert_int_equal(wmi_counters_ranges(counters, NULL), 4);
    for (size_t i = 0; i < 4; i++) check_values(i, 100.0 * (double)(i + 1) + 2, 0);
    assert_int_equal(fake_calls("cuptiRangeProfilerSetConfig"), fake_calls("cuptiRangeProfilerStart"));
}

static void test_dropped(void **state) {
    (void)state;
    enum { LAUNCHES = 70, ROOM = 32 };
    const char *kernels[LAUNCHES];
    size_t dropped;
    for (size_t i = 0; i < LAUNCHES; i++) kernels[i] = i < ROOM ? "k1" : "k2";
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
    window(kernels, LAUNCHES);
    assert_int_equal(wmi_counters_ranges(counters, &dropped), ROOM);
    assert_int_equal(dropped, LAUNCHES - ROOM);
    check_values(ROOM - 1, 102, 0);
    assert_int_equal(wmi_counters_values(counters, ROOM, NULL, NULL), WM_EINVAL);
}

/* Room in each window for fewer ranges than in all of them together. */
static void test_room_in_a_window(void **state) {
    (void)state;
    enum { LAUNCHES = 70, ROOM = 64, WINDOWS = 3 };
    const char *kernels[LAUNCHES];
    size_t dropped;
    for (size_t i = 0; i < LAUNCHES; i++) kernels[i] = i < ROOM ? "k1" : "k2";
    assert_int_equal(wmi_counters_begin(counters, config_of(bytes, NULL), WMI_COUNTERS_KERNELS, ROOM,
                                        WINDOWS * LAUNCHES, NULL),
                     WM_OK);
    for (size_t i = 1; i <= WINDOWS; i++) {
        window(kernels, LAUNCHES);
        assert_int_equal(wmi_counters_ranges(counters, &dropped), i * ROOM);
        assert_int_equal(dropped, i * (LAUNCHES - ROOM));
    }
    for (size_t i = 0; i < WINDOWS * ROOM; i++) check_values(i, 102, 0);
}

/* ---- several passes ---- */

static void test_passes(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2"};
    fake_metric_passes("sm__throughput", 3);
    begin_set(config_of(sm, bytes), WMI_COUNTERS_KERNELS, 2);
    for (int pass = 0; pass < 3; pass++) {
        assert_false(wmi_counters_complete(counters));
        window(kernels, 2);
    }
    assert_true(wmi_counters_complete(counters));
    assert_int_equal(wmi_counters_ranges(counters, NULL), 2);
    check_values(0, 101, 102);
    check_values(1, 201, 202);
    assert_int_equal(fake_calls("cuptiRangeProfilerDecodeData"), 1);
}

static void test_driver_replays(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2"};
    fake_metric_passes("sm__throughput", 3);
    begin_set(config_of(sm, bytes), WMI_COUNTERS_REPLAY, 2);
    window(kernels, 2);
    assert_true(wmi_counters_complete(counters));
    check_values(0, 101, 102);
    check_values(1, 201, 202);
}

/* Given up in the middle, the next set must not begin with the second pass. */
static void test_given_up(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2"};
    fake_metric_passes("sm__throughput", 3);
    const wmi_chip_config *config = config_of(sm, bytes);
    begin_set(config, WMI_COUNTERS_KERNELS, 2);
    window(kernels, 2);
    const uint64_t enabled = fake_calls("cuptiRangeProfilerEnable");
    begin_set(config, WMI_COUNTERS_KERNELS, 2);
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), enabled + 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerDisable"), 1);
    for (int pass = 0; pass < 3; pass++) window(kernels + 1, 1);
    assert_true(wmi_counters_complete(counters));
    assert_int_equal(wmi_counters_ranges(counters, NULL), 1);
    check_values(0, 201, 202);
}

/* A complete set needs none of that, and an image serves again. */
static void test_sets_in_a_row(void **state) {
    (void)state;
    const char *const kernels[] = {"k1", "k2"};
    fake_metric_passes("sm__throughput", 3);
    const wmi_chip_config *config = config_of(sm, bytes);
    for (size_t set = 0; set < 3; set++) {
        begin_set(config, WMI_COUNTERS_KERNELS, 2);
        assert_int_equal(wmi_counters_ranges(counters, NULL), 0);
        for (int pass = 0; pass < 3; pass++) window(kernels + set % 2, 1);
        check_values(0, set % 2 ? 201 : 101, 0);
    }
    assert_int_equal(fake_calls("cuptiRangeProfilerEnable"), 1);
    assert_int_equal(fake_calls("cuptiRangeProfilerCounterDataImageInitialize"), 1);
    begin_set(config, WMI_COUNTERS_KERNELS, 1000);
    assert_int_equal(fake_calls("cuptiRangeProfilerCounterDataImageInitialize"), 2);
}

/* ---- push and pop ---- */

static void test_push_and_pop(void **state) {
    (void)state;
    double got;
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_RANGES, 2);
    fake_values(NULL, NULL); /* 1000 for each kernel */
    assert_int_equal(wmi_counters_push(counters, "early", NULL), WM_ESTATE);
    assert_int_equal(wmi_counters_start(counters, NULL), WM_OK);
    launch("k1");
    assert_int_equal(wmi_counters_push(counters, "a", NULL), WM_OK);
    launch("k1");
    launch("k2");
    assert_int_equal(wmi_counters_pop(counters, NULL), WM_OK);
    assert_int_equal(wmi_counters_stop(counters, NULL), WM_OK);
    assert_int_equal(wmi_counters_ranges(counters, NULL), 1);
    assert_int_equal(wmi_counters_values(counters, 0, &got, NULL), WM_OK);
    assert_true(got == 2000);
}

/* ---- failures ---- */

static void test_out_of_turn(void **state) {
    (void)state;
    double got;
    assert_int_equal(wmi_counters_start(counters, NULL), WM_ESTATE);
    assert_int_equal(wmi_counters_stop(counters, NULL), WM_ESTATE);
    assert_int_equal(wmi_counters_pop(counters, NULL), WM_ESTATE);
    assert_int_equal(wmi_counters_values(counters, 0, &got, NULL), WM_EINVAL);
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
    assert_int_equal(wmi_counters_start(counters, NULL), WM_OK);
    assert_int_equal(wmi_counters_start(counters, NULL), WM_ESTATE);
}

static void check_refused(const char *function, int code, wm_status status) {
    wmi_counters *none = NULL;
    wm_error err = WM_ERROR_INIT;
    wmi_counters_destroy(counters);
    counters = NULL;
    fake_fail(function, code, 1, -1);
    assert_int_equal(wmi_counters_create(&context, &none, &err), status);
    assert_null(none);
    assert_int_equal(err.native_code, code);
    fake_fail(function, 0, 1, 0);
    assert_int_equal(wmi_counters_create(&context, &counters, NULL), WM_OK);
}

static void test_not_permitted(void **state) {
    (void)state;
    check_refused("cuptiRangeProfilerEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, WM_EPERM);
}

static void test_busy(void **state) {
    (void)state;
    check_refused("cuptiRangeProfilerEnable", CUPTI_ERROR_HARDWARE_BUSY, WM_EBUSY);
}

static void test_not_supported(void **state) {
    (void)state;
    wmi_counters *none = NULL;
    wm_error err = WM_ERROR_INIT;
    fake_supported("wsl", 1);
    assert_int_equal(wmi_counters_create(&context, &none, &err), WM_EUNSUPPORTED);
    assert_null(none);
    assert_non_null(strstr(err.message, "WSL"));
}

/* An object whose Start failed is broken: the next set has a new one. */
static void test_start_fails(void **state) {
    (void)state;
    const char *const kernels[] = {"k1"};
    wm_error err = WM_ERROR_INIT;
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
    fake_fail("cuptiRangeProfilerStart", CUPTI_ERROR_HARDWARE_BUSY, 1, 1);
    assert_int_equal(wmi_counters_start(counters, &err), WM_EBUSY);
    assert_int_equal(wmi_counters_start(counters, NULL), WM_ESTATE);
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
    window(kernels, 1);
    check_values(0, 102, 0);
}

static void test_stop_and_decode_fail(void **state) {
    (void)state;
    static const char *const functions[] = {"cuptiRangeProfilerStop", "cuptiRangeProfilerDecodeData",
                                            "cuptiRangeProfilerGetCounterDataInfo"};
    const char *const kernels[] = {"k1"};
    for (size_t i = 0; i < 3; i++) {
        begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
        assert_int_equal(wmi_counters_start(counters, NULL), WM_OK);
        fake_fail(functions[i], CUPTI_ERROR_UNKNOWN, 1, 1);
        assert_int_not_equal(wmi_counters_stop(counters, NULL), WM_OK);
        assert_int_equal(wmi_counters_ranges(counters, NULL), 0);
        begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
        window(kernels, 1);
        check_values(0, 102, 0);
    }
}

/* A device may have room for fewer ranges than were asked for. */
static void test_smaller_room(void **state) {
    (void)state;
    enum { LAUNCHES = 600 };
    const char *kernels[LAUNCHES];
    size_t dropped;
    for (size_t i = 0; i < LAUNCHES; i++) kernels[i] = "k1";
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1024);
    fake_fail("cuptiRangeProfilerSetConfig", CUPTI_ERROR_INVALID_OPERATION, 1, 1);
    window(kernels, LAUNCHES);
    assert_int_equal(wmi_counters_ranges(counters, &dropped), 512);
    assert_int_equal(dropped, LAUNCHES - 512);
    check_values(511, 102, 0);
}

static void test_no_context(void **state) {
    (void)state;
    begin_set(config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 1);
    fake_fail("cuCtxPushCurrent_v2", CUDA_ERROR_CONTEXT_IS_DESTROYED, 1, 1);
    assert_int_not_equal(wmi_counters_start(counters, NULL), WM_OK);
    assert_int_equal(wmi_counters_start(counters, NULL), WM_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void test_context_that_ends(void **state) {
    (void)state;
    wmi_cuda_context second = {.id = 2, .device = context.device};
    wmi_counters *of_second;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_launches_attach(NULL), WM_OK);
    assert_int_equal(cuCtxCreate_v2(&second.handle, 0, 0), CUDA_SUCCESS);
    assert_int_equal(wmi_counters_create(&second, &of_second, NULL), WM_OK);
    assert_int_equal(fake_profilers(), 2);
    assert_int_equal(cuCtxDestroy_v2(second.handle), CUDA_SUCCESS);
    assert_int_equal(fake_profilers(), 1); /* it went before its context did */
    assert_int_equal(wmi_counters_begin(of_second, config_of(bytes, NULL), WMI_COUNTERS_KERNELS, 4, 4, &err),
                     WM_ESTATE);
    assert_non_null(strstr(err.message, "destroyed the context"));
    wmi_counters_destroy(of_second);
    wmi_launches_detach();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_one_window),
        TEST(test_windows_append),
        TEST(test_dropped),
        TEST(test_passes),
        TEST(test_driver_replays),
        TEST(test_given_up),
        TEST(test_sets_in_a_row),
        TEST(test_push_and_pop),
        TEST(test_out_of_turn),
        TEST(test_not_permitted),
        TEST(test_busy),
        TEST(test_not_supported),
        TEST(test_start_fails),
        TEST(test_stop_and_decode_fail),
        TEST(test_smaller_room),
        TEST(test_no_context),
        TEST(test_room_in_a_window),
        TEST(test_context_that_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
