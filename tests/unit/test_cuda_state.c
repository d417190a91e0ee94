/* The state of a made-up GPU in sweeps: what tables say of it, and that nothing that NVML does spoils what is
 * measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda_program.h"
#include "fakes/cuda/fake_gpu.h"
#include "fakes/nvml/fake_nvml.h"
#include "samples/state.h"
#include "unit/benches.h"

enum { KERNEL_NS = 3000, NOT_SUPPORTED = 3, NO_PERMISSION = 4, LOST = 15, UNKNOWN = 999 };
static char folder[64];

static int begin(void **state) {
    *state = program_begin(1);
    fake_kernel_ns("kernel", KERNEL_NS);
    return 0;
}

/* ---- programs ---- */

static void launch(wm_state *st) {
    (void)st;
    WM_BEGIN("region");
    program_launch("kernel", NULL);
    WM_END("region");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

/* Stays until the core's thread has read every quick sensor once at least: power is the last but one of them.
 */
static void launch_and_stay(wm_state *st) {
    launch(st);
    const uint64_t before = fake_calls("nvmlDeviceGetFieldValues");
    while (fake_calls("nvmlDeviceGetFieldValues") < before + 2) usleep(1000);
}

/* ---- tables ---- */

static bool is_gpu(int sensor) { return strncmp(wmi_sensor_name((wmi_sensor)sensor), "gpu_", 4) == 0; }

static size_t row_of(const wm_table *t, const char *metric) {
    const size_t row = find_row(t, "region", metric, NULL);
    assert_true(row != SIZE_MAX);
    return row;
}

static void check_measured(const wm_table *t) {
    check_mean(t, "region", "kernel_time", NULL, KERNEL_NS);
    const size_t row = row_of(t, "time");
    assert_string_equal(text_cell(t, row, "status"), "ok");
    assert_true(number_cell(t, row, "mean") > 0);
}

static void check_null(const wm_table *t, const char *sensor, wm_reason reason) {
    const wm_value v = cell(t, row_of(t, "time"), sensor);
    if (v.type != WM_NULL || v.reason != reason) fail_msg("%s: %s", sensor, wm_reason_text(v.reason));
}

static void check_number(const wm_table *t, const char *sensor, double expected) {
    const double x = number_cell(t, row_of(t, "time"), sensor);
    if (!(fabs(x - expected) <= 1e-9 * fabs(expected))) fail_msg("%s: %g, not %g", sensor, x, expected);
}

/* Warnings in the context that begin with that name. */
static size_t warnings_of(const wm_table *t, const char *sensor) {
    size_t n = 0;
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        assert_int_equal(wm_table_context(t, i, &key, &v), WM_OK);
        if (strncmp(key, "warning", 7) == 0 && v.type == WM_STR)
            n += strncmp(v.as.str, sensor, strlen(sensor)) == 0 && v.as.str[strlen(sensor)] == ' ';
    }
    return n;
}

static wm_table *measure(wm_fn fn, const char *options, const char *state) {
    const wm_benchmark b = bench_of("state", fn, options);
    return sweep_table(&b, ARGS("--metrics", "time,kernel_time", "--state", state), WM_OK);
}

/* ---- what is told ---- */

static void test_a_row_has_the_state_of_its_runs(void **state) {
    (void)state;
    fake_sensor_set(0, FAKE_SM_CLOCK, 0, 1755);
    fake_sensor_set(0, FAKE_TEMPERATURE, 0, 63);
    fake_sensor_set(0, FAKE_UTILIZATION, 0, 45);
    fake_sensor_set(0, FAKE_REASONS, 0, 0x4 | 0x8);
    wm_table *t = measure(launch_and_stay, "--runs 2 --warmup 1", "on");
    check_measured(t);
    check_number(t, "gpu_clock_hz", 1.755e9);
    check_number(t, "gpu_memory_clock_hz", 3.201e9);
    check_number(t, "gpu_temperature_c", 63);
    check_number(t, "gpu_headroom_c", 47);
    check_number(t, "gpu_pstate", 0);
    check_number(t, "gpu_utilization", 0.45);
    check_number(t, "gpu_power_w", 100);
    assert_string_equal(text_cell(t, row_of(t, "time"), "gpu_throttle"), "power,hw-slowdown");
    check_number(t, "throttled", 2);
    for (int s = 0; s < WMI_SENSOR_COUNT; s++)
        if (is_gpu(s)) assert_int_equal(warnings_of(t, wmi_sensor_name((wmi_sensor)s)), 0);
    wm_table_destroy(t);
}

/* Case C50: a run far shorter than the counter's step has no energy, and certainly not 0. */
static void test_energy_of_a_short_run(void **state) {
    (void)state;
    wm_table *t = measure(launch_and_stay, "--runs 2", "on");
    check_null(t, "gpu_energy_j", WM_REASON_RESOLUTION);
    wm_table_destroy(t);
    fake_fail("nvmlDeviceGetTotalEnergyConsumption", NOT_SUPPORTED, 1, -1);
    t = measure(launch_and_stay, "--runs 2", "on");
    check_measured(t);
    check_null(t, "gpu_energy_j", WM_REASON_NO_SENSOR);
    assert_int_equal(warnings_of(t, "gpu_energy_j"), 1);
    wm_table_destroy(t);
}

/* Case C51: power went up, and the average of the last second does not say so. Without a reading in a run
 * there is no power. */
static void test_power_is_that_in_the_run(void **state) {
    (void)state;
    fake_advance((int64_t)5000000000);
    fake_sensor_set(0, FAKE_POWER, 0, 640);
    wm_table *t = measure(launch_and_stay, "--runs 2 --warmup 0", "on");
    check_number(t, "gpu_power_w", 640);
    wm_table_destroy(t);
    assert_int_equal(fake_calls("nvmlDeviceGetPowerUsage"), 0);
}

/* ---- what NVML may do: case C52 ---- */

static const struct {
    int code, times;
    wm_reason reason;
} ways[] = {{LOST, -1, WM_REASON_DEVICE_LOST},
            {UNKNOWN, -1, WM_REASON_BACKEND},
            {NO_PERMISSION, -1, WM_REASON_PERMISSION},
            {UNKNOWN, 1, WM_REASON_BACKEND}};

/* How many sensors have no value. One that has none says why, and once; none says it twice. */
static size_t check_state(const wm_table *t, wm_reason reason, bool stays) {
    size_t without = 0;
    for (int s = 0; s < WMI_SENSOR_COUNT; s++) {
        const char *name = wmi_sensor_name((wmi_sensor)s);
        if (!is_gpu(s)) continue;
        const wm_value v = cell(t, row_of(t, "time"), name);
        const size_t warned = warnings_of(t, name);
        assert_true(warned <= 1);
        if (v.type != WM_NULL || v.reason == WM_REASON_RESOLUTION) continue;
        if (v.reason != reason) fail_msg("%s: %s", name, wm_reason_text(v.reason));
        if (stays) assert_int_equal(warned, 1);
        without++;
    }
    return without;
}

static void test_every_call_fails_in_turn(void **state) {
    (void)state;
    wm_table_destroy(measure(launch, "--runs 2", "on")); /* opens the library */
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        size_t most = 0;
        int n = 1;
        for (bool failed = true; failed; n++) {
            (void)begin(state);
            fake_fail("nvml", ways[w].code, n, ways[w].times);
            wm_table *t = measure(launch, "--runs 2 --warmup 1", "on");
            check_measured(t);
            const size_t without = check_state(t, ways[w].reason, ways[w].times < 0);
            if (without > most) most = without;
            failed = fake_calls("nvml") >= (uint64_t)n;
            wm_table_destroy(t);
        }
        assert_true(n > 20);
        if (ways[w].times < 0) assert_int_equal(most, 9);
    }
}

/* The same for calls of the core's thread, while the program runs: a sweep makes some thirty before. */
static uint64_t enough;

static void launch_until_enough(wm_state *st) {
    launch(st);
    while (fake_calls("nvml") < enough) usleep(1000);
}

static void test_sensors_fail_while_it_runs(void **state) {
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        for (int n = 40; n <= 60; n += 5) {
            const bool lost = ways[w].code == LOST; /* then there is no call after that one */
            (void)begin(state);
            fake_fail("nvml", ways[w].code, n, ways[w].times);
            enough = (uint64_t)n + (lost ? 0 : 20);
            wm_table *t = measure(launch_until_enough, "--runs 3 --warmup 1", "on");
            check_measured(t);
            (void)check_state(t, ways[w].reason, false);
            size_t warned = 0;
            for (int s = 0; s < WMI_SENSOR_COUNT; s++)
                warned += warnings_of(t, wmi_sensor_name((wmi_sensor)s));
            if (ways[w].times < 0 && !lost) assert_true(warned >= 1);
            wm_table_destroy(t);
        }
    }
}

/* ---- clocks ---- */

static void test_clocks_that_are_held(void **state) {
    (void)state;
    fake_bind(0.8); /* case C53 */
    wm_table *t = measure(launch_and_stay, "--runs 2 --lock-clocks 1410MHz", "on");
    check_measured(t);
    check_number(t, "clock_requested_hz", 1.41e9);
    check_number(t, "gpu_clock_hz", 1.128e9);
    assert_int_equal(fake_locked(0), 0);
    assert_int_equal(fake_locks(), 1);
    assert_int_equal(fake_unlocks(), 1);
    wm_table_destroy(t);
    t = measure(launch_and_stay, "--runs 2 --lock-clocks base", "on");
    check_null(t, "clock_requested_hz", WM_REASON_UNKNOWN);
    check_number(t, "gpu_clock_hz", 0.8e6 * FAKE_CLOCK_BASE);
    assert_int_equal(fake_locked(0), 0);
    wm_table_destroy(t);
}

static void test_clocks_that_may_not_be_held(void **state) {
    (void)state;
    fake_clocks_forbidden(true);
    wm_table *t = measure(launch, "--runs 2 --lock-clocks try:base", "auto");
    check_measured(t);
    check_null(t, "clock_requested_hz", WM_REASON_PERMISSION);
    assert_non_null(strstr(text_cell(t, row_of(t, "time"), "note"), "clocks were not held: "));
    wm_table_destroy(t);
    assert_int_equal(fake_locks(), 0);
}

/* ---- a folder for what is held ---- */

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/warpmeter_state_XXXXXX");
    return mkdtemp(folder) ? setenv("WARPMETER_RUN_DIR", folder, 1) : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char file[128];
    snprintf(file, sizeof file, "%s/GPU-00010203-0405-0607-0809-0a0b0c0d0e00.clocks", folder);
    (void)unlink(file);
    return rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_row_has_the_state_of_its_runs), TEST(test_energy_of_a_short_run),
        TEST(test_power_is_that_in_the_run),        TEST(test_every_call_fails_in_turn),
        TEST(test_sensors_fail_while_it_runs),      TEST(test_clocks_that_are_held),
        TEST(test_clocks_that_may_not_be_held),
    };
    return cmocka_run_group_tests_name("cuda_state", tests, make_folder, remove_folder);
}
