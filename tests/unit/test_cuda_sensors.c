/* A GPU's sensors, read through NVML on the made-up GPU. NVML is opened once in a process, and the devices
 * are asked for once, so every case has a process of its own. */
#include <math.h>

#include "backend/cuda/device.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/nvml_dl.h"
#include "backend/cuda/sensors.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"
#include "fakes/nvml/fake_nvml.h"
#include "unit/apart.h"

enum {
    SECOND = 1000000000,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    NOT_LOADED = 9,
    LOST = 15,
    UNKNOWN = 999
};

static wmi_cuda_sensors sensors = {.watched = -1};
static wmi_sensed got;

static void begin(const char *const *names, size_t count) {
    fake_device v[8];
    for (size_t i = 0; i < count; i++) {
        v[i] = fake_device_default();
        v[i].name = names[i];
    }
    fake_devices(v, count);
}

/* Every sensor; the reason of those that are not asked for must stay. */
static void sense(uint32_t which) {
    wmi_sensed_clear(&got, WM_REASON_DROPPED);
    wmi_cuda_sense(&sensors, which, &got);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        CHECK(which & WMI_CUDA_SENSORS & (1u << i) || got.reason[i] == WM_REASON_DROPPED);
}

static void check_value(int line, wmi_sensor sensor, double expected) {
    if (!got.reason[sensor] && fabs(got.value[sensor] - expected) <= 1e-9 * fabs(expected)) return;
    fprintf(stderr, "%s: %g (%s), not %g\n", wmi_sensor_name(sensor), got.value[sensor],
            wm_reason_text((wm_reason)got.reason[sensor]), expected);
    give_up(__FILE__, line, "another value", "");
}

static void check_reason(int line, wmi_sensor sensor, wm_reason expected) {
    if (got.reason[sensor] == expected) return;
    fprintf(stderr, "%s: %g (%s)\n", wmi_sensor_name(sensor), got.value[sensor],
            wm_reason_text((wm_reason)got.reason[sensor]));
    give_up(__FILE__, line, "another reason than: ", wm_reason_text(expected));
}
#define VALUE(id, expected) check_value(__LINE__, WMI_SENSOR_##id, expected)
#define NONE(id, expected)  check_reason(__LINE__, WMI_SENSOR_##id, WM_REASON_##expected)
#define BIT(id)             WMI_SENSOR_BIT(id)

static void check_all(int line, wm_reason expected) {
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (WMI_CUDA_SENSORS >> i & 1) check_reason(line, (wmi_sensor)i, expected);
}
#define ALL(expected) check_all(__LINE__, WM_REASON_##expected)

/* ---- values ---- */

static void every_sensor_is_read(void) {
    fake_sensor_set(0, FAKE_SM_CLOCK, 0, 1410);
    fake_sensor_set(0, FAKE_MEMORY_CLOCK, 0, 2619);
    fake_sensor_set(0, FAKE_TEMPERATURE, 0, 61);
    fake_sensor_set(0, FAKE_MARGIN, 0, -2);
    fake_sensor_set(0, FAKE_PSTATE, 0, 8);
    fake_sensor_set(0, FAKE_UTILIZATION, 0, 35);
    fake_sensor_set(0, FAKE_POWER, 0, 250.125);
    fake_sensor_set(0, FAKE_REASONS, 0, 0x4 | 0x1);
    sense(UINT32_MAX);
    VALUE(GPU_CLOCK, 1.41e9);
    VALUE(GPU_MEMORY_CLOCK, 2.619e9);
    VALUE(GPU_TEMPERATURE, 61);
    VALUE(GPU_HEADROOM, -2);
    VALUE(GPU_PSTATE, 8);
    VALUE(GPU_UTILIZATION, 0.35);
    VALUE(GPU_POWER, 250.125);
    VALUE(GPU_ENERGY, 0);
    VALUE(GPU_THROTTLE, WMI_THROTTLE(POWER));
    fake_advance(2 * (int64_t)SECOND);
    sense(BIT(GPU_ENERGY));
    VALUE(GPU_ENERGY, 500.25);
}

static void only_what_is_asked_for_is_called(void) {
    sense(BIT(GPU_TEMPERATURE));
    const uint64_t before = fake_calls("nvml");
    sense(BIT(GPU_TEMPERATURE) | BIT(CPU_CLOCK));
    CHECK(fake_calls("nvml") == before + 1);
    CHECK(fake_calls("nvmlDeviceGetTemperature") == 2);
    sense(0);
    CHECK(fake_calls("nvml") == before + 1);
    CHECK(fake_calls("nvmlInit_v2") == 1);
    CHECK(fake_calls("nvmlDeviceGetHandleByUUID") == 1);
}

static void what_holds_clocks_down_is_told(void) {
    static const struct {
        unsigned theirs;
        uint32_t ours;
    } bits[] = {{0x1, 0}, /* idle */
                {0x2, 0}, /* clocks that were asked for */
                {0x4, WMI_THROTTLE(POWER)},
                {0x8, WMI_THROTTLE(HW_SLOWDOWN)},
                {0x10, 0}, /* in step with others */
                {0x20, WMI_THROTTLE(THERMAL)},
                {0x40, WMI_THROTTLE(HW_THERMAL)},
                {0x80, WMI_THROTTLE(POWER_BRAKE)},
                {0x100, 0}, /* the display's */
                {0x48, WMI_THROTTLE(HW_THERMAL) | WMI_THROTTLE(HW_SLOWDOWN)},
                {0, 0}};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        fake_sensor_set(0, FAKE_REASONS, 0, bits[i].theirs);
        sense(BIT(GPU_THROTTLE));
        VALUE(GPU_THROTTLE, bits[i].ours);
    }
}

/* Case C51: the average says what was before. */
static void power_is_that_of_now(void) {
    fake_sensor_set(0, FAKE_POWER, 5 * (int64_t)SECOND, 500);
    fake_sensor_set(0, FAKE_POWER, 6 * (int64_t)SECOND, 50);
    static const double at_quarters[] = {100, 500, 500, 500, 500, 50};
    fake_advance(5 * (int64_t)SECOND - SECOND / 4);
    for (size_t i = 0; i < sizeof at_quarters / sizeof *at_quarters; i++) {
        sense(BIT(GPU_POWER));
        VALUE(GPU_POWER, at_quarters[i]);
        fake_advance(SECOND / 4);
    }
    CHECK(fake_calls("nvmlDeviceGetPowerUsage") == 0);
}

/* Without the field: up to GA100 the call says what is now; on what came after it is an average. */
static void power_of_drivers_without_the_field(void) {
    static const struct {
        int major, minor;
        bool told;
    } chips[] = {{7, 0, true}, {8, 0, true}, {8, 6, false}, {9, 0, false}, {12, 0, false}};
    enum { CHIPS = sizeof chips / sizeof *chips };
    fake_device v[CHIPS];
    for (int i = 0; i < CHIPS; i++) {
        v[i] = fake_device_default();
        v[i].major = chips[i].major;
        v[i].minor = chips[i].minor;
    }
    fake_devices(v, CHIPS);
    fake_fail("nvmlDeviceGetFieldValues.186", 2, 1, -1); /* an argument that is not known */
    for (int i = 0; i < CHIPS; i++) {
        const uint64_t before = fake_calls("nvmlDeviceGetPowerUsage");
        sensors = (wmi_cuda_sensors){.watched = i};
        for (int k = 0; k < 2; k++) {
            sense(BIT(GPU_POWER));
            if (chips[i].told)
                VALUE(GPU_POWER, 100);
            else
                NONE(GPU_POWER, NO_SENSOR);
        }
        CHECK(fake_calls("nvmlDeviceGetPowerUsage") - before == (chips[i].told ? 2 : 0));
        CHECK(fake_calls("nvmlDeviceGetFieldValues.186") == (uint64_t)i + 1);
    }
}

/* Case C50. */
static void energy_moves_now_and_then(void) {
    fake_energy_period(SECOND);
    sense(BIT(GPU_ENERGY));
    fake_advance(SECOND - 1);
    sense(BIT(GPU_ENERGY));
    VALUE(GPU_ENERGY, 0);
    fake_advance(1);
    sense(BIT(GPU_ENERGY));
    VALUE(GPU_ENERGY, 100);
}

/* ---- which device: case C48 ---- */

static uint64_t no_entry(wmi_scope scope) {
    (void)scope;
    return WMI_NO_ENTRY;
}

static void launch_on(CUdevice device) {
    CUcontext context = NULL;
    CHECK(cuCtxCreate_v2(&context, 0, device) == CUDA_SUCCESS);
    CHECK(cuLaunchKernel(fake_function("k"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
}

static void the_device_in_use_is_read(void) {
    static const char *const three[] = {"NVIDIA A", "NVIDIA B", "NVIDIA B"};
    begin(three, 3);
    fake_nvml_reversed(true);
    for (int i = 0; i < 3; i++) {
        fake_sensor_set(i, FAKE_TEMPERATURE, 0, 50 + i);
        fake_sensor_set(i, FAKE_POWER, 0, 100 + 1000 * i);
    }
    CHECK(cuInit(0) == CUDA_SUCCESS && wmi_launches_attach(NULL) == WM_OK);
    wmi_launches_start(WMI_LAUNCHES_TIMES, WMI_SCOPE_PROCESS, no_entry, NULL, NULL);
    sense(UINT32_MAX);
    VALUE(GPU_TEMPERATURE, 50); /* CUDA's first, as long as nothing was launched */
    fake_advance(SECOND);
    sense(UINT32_MAX);
    VALUE(GPU_ENERGY, 100);
    launch_on(2);
    launch_on(1);
    sense(UINT32_MAX);
    VALUE(GPU_TEMPERATURE, 52);
    VALUE(GPU_POWER, 2100);
    VALUE(GPU_ENERGY, 100); /* of the device's own only what it took from now on */
    fake_advance(SECOND);
    sense(UINT32_MAX);
    const double own = got.value[WMI_SENSOR_GPU_ENERGY] - 100;
    CHECK(own > 2099 && own < 2101); /* launches take some of the time, too */
    sensors = (wmi_cuda_sensors){.watched = 1};
    sense(UINT32_MAX);
    VALUE(GPU_TEMPERATURE, 51);
    sensors = (wmi_cuda_sensors){.watched = 3};
    sense(UINT32_MAX);
    ALL(NO_SENSOR);
    wmi_launches_detach();
}

/* Case C52: what would be the neighbours' too has no value, and certainly not 0. */
static void a_part_of_a_gpu(void) {
    static const char *const part[] = {"NVIDIA H200", "NVIDIA H200 MIG 1g.18gb"};
    const wmi_cuda_device *d;
    size_t count;
    begin(part, 2);
    fake_sensor_set(1, FAKE_TEMPERATURE, 0, 77);
    fake_sensor_set(1, FAKE_UTILIZATION, 0, 0);
    CHECK(wmi_cuda_devices(&d, &count, NULL) == WM_OK);
    CHECK_TEXT(d[0].uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e00");
    CHECK_TEXT(d[1].uuid, "MIG-00010203-0405-0607-0809-0a0b0c0d0e01");
    CHECK(!wmi_cuda_is_mig(&d[0]) && wmi_cuda_is_mig(&d[1]));
    sensors.watched = 1;
    sense(UINT32_MAX);
    VALUE(GPU_TEMPERATURE, 77);
    VALUE(GPU_CLOCK, 1.98e9);
    VALUE(GPU_THROTTLE, 0);
    NONE(GPU_UTILIZATION, NO_SENSOR);
    NONE(GPU_POWER, NO_SENSOR);
    NONE(GPU_ENERGY, NO_SENSOR);
    CHECK(fake_calls("nvmlDeviceGetUtilizationRates") == 0);
}

/* ---- sensors that fail ---- */

static void what_a_device_lacks_is_asked_once(void) {
    static const struct {
        wmi_sensor sensor;
        const char *function;
    } all[] = {{WMI_SENSOR_GPU_CLOCK, "nvmlDeviceGetClockInfo.1"},
               {WMI_SENSOR_GPU_MEMORY_CLOCK, "nvmlDeviceGetClockInfo.2"},
               {WMI_SENSOR_GPU_TEMPERATURE, "nvmlDeviceGetTemperature"},
               {WMI_SENSOR_GPU_PSTATE, "nvmlDeviceGetPerformanceState"},
               {WMI_SENSOR_GPU_UTILIZATION, "nvmlDeviceGetUtilizationRates"},
               {WMI_SENSOR_GPU_POWER, "nvmlDeviceGetFieldValues"},
               {WMI_SENSOR_GPU_POWER, "nvmlDeviceGetFieldValues.186"},
               {WMI_SENSOR_GPU_ENERGY, "nvmlDeviceGetTotalEnergyConsumption"},
               {WMI_SENSOR_GPU_THROTTLE, "nvmlDeviceGetCurrentClocksEventReasons"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fake_reset();
        fake_fail(all[i].function, NOT_SUPPORTED, 1, -1);
        sensors = (wmi_cuda_sensors){.watched = -1};
        for (int k = 0; k < 5; k++) {
            sense(WMI_CUDA_SENSORS);
            for (int s = 0; s < WMI_SENSOR_COUNT; s++)
                if (WMI_CUDA_SENSORS >> s & 1)
                    check_reason(__LINE__, (wmi_sensor)s,
                                 s == (int)all[i].sensor ? WM_REASON_NO_SENSOR : WM_REASON_NONE);
        }
        CHECK(fake_calls(all[i].function) == 1);
    }
}

static void other_failures_are_tried_again(void) {
    fake_fail("nvmlDeviceGetClockInfo.1", UNKNOWN, 2, 1);
    sense(BIT(GPU_CLOCK));
    VALUE(GPU_CLOCK, 1.98e9);
    sense(BIT(GPU_CLOCK) | BIT(GPU_MEMORY_CLOCK));
    NONE(GPU_CLOCK, BACKEND);
    VALUE(GPU_MEMORY_CLOCK, 3.201e9);
    sense(BIT(GPU_CLOCK));
    VALUE(GPU_CLOCK, 1.98e9);
    fake_fail("nvmlDeviceGetPerformanceState", NO_PERMISSION, 1, 1);
    sense(BIT(GPU_PSTATE));
    NONE(GPU_PSTATE, PERMISSION);
    sense(BIT(GPU_PSTATE));
    VALUE(GPU_PSTATE, 0);
    fake_sensor_set(0, FAKE_PSTATE, 0, 32);
    sense(BIT(GPU_PSTATE));
    NONE(GPU_PSTATE, BACKEND);
}

static void headroom_without_a_margin(void) {
    static const int codes[] = {NOT_SUPPORTED, 13, 25};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fake_reset();
        sensors = (wmi_cuda_sensors){.watched = -1};
        fake_fail("nvmlDeviceGetMarginTemperature", codes[i], 1, -1);
        fake_slowdown(92);
        for (int t = 40; t < 45; t++) {
            fake_sensor_set(0, FAKE_TEMPERATURE, 0, t);
            sense(BIT(GPU_HEADROOM));
            VALUE(GPU_HEADROOM, 92 - t);
        }
        CHECK(fake_calls("nvmlDeviceGetMarginTemperature") == 1);
        CHECK(fake_calls("nvmlDeviceGetTemperatureThreshold") == 1);
    }
    fake_reset();
    sensors = (wmi_cuda_sensors){.watched = -1};
    fake_fail("nvmlDeviceGetMarginTemperature", NOT_SUPPORTED, 1, -1);
    fake_fail("nvmlDeviceGetTemperatureThreshold", NOT_SUPPORTED, 1, -1);
    for (int k = 0; k < 3; k++) {
        sense(BIT(GPU_HEADROOM));
        NONE(GPU_HEADROOM, NO_SENSOR);
    }
    CHECK(fake_calls("nvmlDeviceGetTemperatureThreshold") == 1);
}

/* Case C49. */
static void a_device_that_is_lost_is_left_alone(void) {
    fake_fail("nvmlDeviceGetMarginTemperature", NOT_SUPPORTED, 1, -1);
    fake_fail("nvmlDeviceGetTemperature", LOST, 5, -1);
    for (int k = 0; k < 4; k++) {
        sense(BIT(GPU_HEADROOM) | BIT(GPU_POWER));
        VALUE(GPU_HEADROOM, 89 - 40);
        VALUE(GPU_POWER, 100);
    }
    sense(BIT(GPU_HEADROOM) | BIT(GPU_POWER) | BIT(GPU_CLOCK));
    VALUE(GPU_CLOCK, 1.98e9); /* it was read before */
    NONE(GPU_HEADROOM, DEVICE_LOST);
    NONE(GPU_POWER, DEVICE_LOST);
    const uint64_t calls = fake_calls("nvml");
    sense(UINT32_MAX);
    ALL(DEVICE_LOST);
    CHECK(fake_calls("nvml") == calls);
}

/* From any call on, or at any one call. */
static void every_call_fails_in_turn(void) {
    static const struct {
        int code, times;
        wm_reason reason;
    } ways[] = {{LOST, -1, WM_REASON_DEVICE_LOST},
                {UNKNOWN, -1, WM_REASON_BACKEND},
                {NO_PERMISSION, -1, WM_REASON_PERMISSION},
                {UNKNOWN, 1, WM_REASON_BACKEND}};
    CHECK(wmi_nvml_load(NULL) == WM_OK);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        int n = 1;
        for (bool failed = true; failed; n++) {
            fake_reset();
            fake_fail("nvml", ways[w].code, n, ways[w].times);
            sensors = (wmi_cuda_sensors){.watched = -1};
            failed = false;
            for (int k = 0; k < 3; k++) {
                sense(UINT32_MAX);
                for (int s = 0; s < WMI_SENSOR_COUNT; s++) {
                    if (!(WMI_CUDA_SENSORS >> s & 1) || !got.reason[s]) continue;
                    check_reason(__LINE__, (wmi_sensor)s, ways[w].reason);
                    failed = true;
                }
            }
        }
        CHECK(n > 25); /* 9 sensors, three times, and the handle */
    }
}

/* ---- the library ---- */

static void the_library_is_opened_once(void) {
    CHECK_TEXT(wmi_nvml_path(), "");
    CHECK(wmi_nvml_load(NULL) == WM_OK && wmi_nvml_load(NULL) == WM_OK);
    CHECK_TEXT(wmi_nvml_path(), getenv("WARPMETER_LIBNVML"));
    CHECK(fake_calls("nvmlInit_v2") == 1);
}

static void without_the_library(void) {
    wm_error err = WM_ERROR_INIT;
    setenv("WARPMETER_LIBNVML", "/nowhere/libnvidia-ml.so.1", 1);
    for (int k = 0; k < 2; k++) {
        sense(UINT32_MAX);
        ALL(NO_SENSOR);
    }
    CHECK(wmi_nvml_load(&err) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "libnvidia-ml could not be opened from WARPMETER_LIBNVML: /nowhere/");
}

static void a_library_of_another_kind(void) {
    wm_error err = WM_ERROR_INIT;
    setenv("WARPMETER_LIBNVML", getenv("WARPMETER_LIBCUDA"), 1);
    CHECK(wmi_nvml_load(&err) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "lacks nvmlInit_v2");
    sense(UINT32_MAX);
    ALL(NO_SENSOR);
}

static void an_old_driver(void) {
    char path[512];
    const char *now = getenv("WARPMETER_LIBNVML");
    snprintf(path, sizeof path, "%.*s/libnvidia-ml-old.so.1", (int)(strrchr(now, '/') - now), now);
    setenv("WARPMETER_LIBNVML", path, 1);
    fake_sensor_set(0, FAKE_REASONS, 0, 0x40);
    for (int k = 0; k < 2; k++) {
        sense(UINT32_MAX);
        VALUE(GPU_CLOCK, 1.98e9);
        VALUE(GPU_TEMPERATURE, 40);
        VALUE(GPU_HEADROOM, 49);
        VALUE(GPU_UTILIZATION, 0.3);
        VALUE(GPU_THROTTLE, WMI_THROTTLE(HW_THERMAL));
        NONE(GPU_POWER, NO_SENSOR);
        NONE(GPU_ENERGY, NO_SENSOR);
    }
}

static void a_driver_that_is_not_there(void) {
    wm_error err = WM_ERROR_INIT;
    fake_fail("nvmlInit_v2", NOT_LOADED, 1, 1);
    for (int k = 0; k < 3; k++) {
        CHECK(wmi_nvml_load(&err) == WM_EUNSUPPORTED);
        CHECK_TEXT(err.message, "nvmlInit_v2: Driver Not Loaded (NVML's code 9)");
        CHECK(err.native_code == NOT_LOADED);
        sense(UINT32_MAX);
        ALL(NO_SENSOR);
    }
    CHECK(fake_calls("nvmlInit_v2") == 1);
}

static void a_start_that_is_not_permitted(void) {
    fake_fail("nvmlInit_v2", NO_PERMISSION, 1, -1);
    sense(UINT32_MAX);
    ALL(PERMISSION);
}

static void a_start_that_fails(void) {
    fake_fail("nvmlInit_v2", UNKNOWN, 1, -1);
    sense(UINT32_MAX);
    ALL(BACKEND);
}

static void a_device_that_nvml_does_not_know(void) {
    fake_fail("nvmlDeviceGetHandleByUUID", NOT_FOUND, 1, -1);
    for (int k = 0; k < 3; k++) {
        sense(UINT32_MAX);
        ALL(NO_SENSOR);
    }
    CHECK(fake_calls("nvmlDeviceGetHandleByUUID") == 1);
}

static void a_handle_that_comes_late(void) {
    fake_fail("nvmlDeviceGetHandleByUUID", UNKNOWN, 1, 2);
    for (int k = 0; k < 2; k++) {
        sense(UINT32_MAX);
        ALL(BACKEND);
    }
    sense(UINT32_MAX);
    VALUE(GPU_TEMPERATURE, 40);
}

static void switched_off(void) {
    setenv("WARPMETER_CUDA", "off", 1);
    sense(UINT32_MAX);
    ALL(NO_SENSOR);
    CHECK(wmi_nvml_load(NULL) == WM_EUNSUPPORTED);
    CHECK(fake_calls("nvml") == 0 && fake_calls("nvmlInit_v2") == 0);
}

#define CASES(X)                                                                                             \
    X(every_sensor_is_read)                                                                                  \
    X(only_what_is_asked_for_is_called)                                                                      \
    X(what_holds_clocks_down_is_told)                                                                        \
    X(power_is_that_of_now)                                                                                  \
    X(power_of_drivers_without_the_field)                                                                    \
    X(energy_moves_now_and_then)                                                                             \
    X(the_device_in_use_is_read)                                                                             \
    X(a_part_of_a_gpu)                                                                                       \
    X(what_a_device_lacks_is_asked_once)                                                                     \
    X(other_failures_are_tried_again)                                                                        \
    X(headroom_without_a_margin)                                                                             \
    X(a_device_that_is_lost_is_left_alone)                                                                   \
    X(every_call_fails_in_turn)                                                                              \
    X(the_library_is_opened_once)                                                                            \
    X(without_the_library)                                                                                   \
    X(a_library_of_another_kind)                                                                             \
    X(an_old_driver)                                                                                         \
    X(a_driver_that_is_not_there)                                                                            \
    X(a_start_that_is_not_permitted)                                                                         \
    X(a_start_that_fails)                                                                                    \
    X(a_device_that_nvml_does_not_know)                                                                      \
    X(a_handle_that_comes_late)                                                                              \
    X(switched_off)

int main(void) {
    CASES(APART_BODY)
    const struct CMUnitTest tests[] = {CASES(APART_TEST)};
    return cmocka_run_group_tests_name("cuda_sensors", tests, NULL, NULL);
}
