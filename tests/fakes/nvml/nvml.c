/* libnvidia-ml. With FAKE_NVML_OLD: that of a driver from before many of its functions. The interface is
 * written down here a second time, from NVML's documentation, so that a mistake in warpmeter's own copy of it
 * shows. */
#include <stdio.h>
#include <string.h>

#include "nvml_state.h"

enum {
    SUCCESS = 0,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    VERSION_MISMATCH = 25
};

/* A device's handle points here; [1]: the part of it (MIG). */
static char handles[FAKE_MAX_DEVICES][2];

int nvmlInit_v2(void);
const char *nvmlErrorString(int code);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **out);
int nvmlDeviceGetClockInfo(void *handle, int domain, unsigned *mhz);
int nvmlDeviceGetTemperature(void *handle, int which, unsigned *degrees);
int nvmlDeviceGetTemperatureThreshold(void *handle, int which, unsigned *degrees);
int nvmlDeviceGetPerformanceState(void *handle, int *state);
int nvmlDeviceGetUtilizationRates(void *handle, unsigned percent[2]);
int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons);

#define ENTER(function)                                                                                      \
    do {                                                                                                     \
        int failure = fakei_enter(#function);                                                                \
        const int any = fakei_enter("nvml");                                                                 \
        if (!failure) failure = any;                                                                         \
        if (failure) return failure;                                                                         \
    } while (0)
#define DEVICE(handle)                                                                                       \
    const int device = device_of(handle);                                                                    \
    if (device < 0) return INVALID_ARGUMENT

/* -1: no whole device's. */
static int device_of(const void *handle) {
    for (int i = 0; i < FAKE_MAX_DEVICES; i++)
        if (handle == &handles[i][0]) return i;
    return -1;
}

static int whole(double x) { return (int)(x < 0 ? x - 0.5 : x + 0.5); }

static double sensor(int device, fake_sensor which) {
    fakei_lock();
    const double value = fakei_sensor_locked(device, which);
    fakei_unlock();
    return value;
}

int nvmlInit_v2(void) {
    ENTER(nvmlInit_v2);
    return SUCCESS;
}

const char *nvmlErrorString(int code) {
    switch (code) {
    case SUCCESS: return "The operation was successful";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NO_PERMISSION: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    default: return "Unknown Error";
    }
}

/* ---- devices ---- */

static void uuid_of(int device, bool part, char out[64]) {
    snprintf(out, 64, "%s-00010203-0405-0607-0809-0a0b0c0d0e%02x", part ? "MIG" : "GPU", (unsigned)device);
}

static size_t device_count(void) {
    fakei_lock();
    const size_t n = fakei_gpu.count;
    fakei_unlock();
    return n;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **out) {
    ENTER(nvmlDeviceGetHandleByUUID);
    for (int d = 0; d < (int)device_count(); d++) {
        for (int part = 0; part < 2; part++) {
            char own[64];
            uuid_of(d, part, own);
            if (strcmp(uuid, own) != 0) continue;
            *out = &handles[d][part];
            return SUCCESS;
        }
    }
    return NOT_FOUND;
}

/* ---- sensors ---- */

int nvmlDeviceGetClockInfo(void *handle, int domain, unsigned *mhz) {
    ENTER(nvmlDeviceGetClockInfo);
    DEVICE(handle);
    char name[64];
    snprintf(name, sizeof name, "nvmlDeviceGetClockInfo.%d", domain);
    const int failure = fakei_enter(name);
    if (failure) return failure;
    if (domain != 1 && domain != 2) return NOT_SUPPORTED;
    *mhz = (unsigned)whole(sensor(device, domain == 1 ? FAKE_SM_CLOCK : FAKE_MEMORY_CLOCK));
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *handle, int which, unsigned *degrees) {
    ENTER(nvmlDeviceGetTemperature);
    DEVICE(handle);
    if (which != 0) return INVALID_ARGUMENT;
    *degrees = (unsigned)whole(sensor(device, FAKE_TEMPERATURE));
    return SUCCESS;
}

int nvmlDeviceGetTemperatureThreshold(void *handle, int which, unsigned *degrees) {
    ENTER(nvmlDeviceGetTemperatureThreshold);
    DEVICE(handle);
    (void)device;
    if (which < 0 || which > 3) return INVALID_ARGUMENT;
    fakei_lock();
    const unsigned slowdown = fakei_nvml_state.slowdown;
    fakei_unlock();
    const unsigned all[] = {slowdown + 6, slowdown, slowdown + 6, slowdown - 2};
    *degrees = all[which];
    return SUCCESS;
}

int nvmlDeviceGetPerformanceState(void *handle, int *state) {
    ENTER(nvmlDeviceGetPerformanceState);
    DEVICE(handle);
    *state = whole(sensor(device, FAKE_PSTATE));
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *handle, unsigned percent[2]) {
    ENTER(nvmlDeviceGetUtilizationRates);
    DEVICE(handle);
    percent[0] = (unsigned)whole(sensor(device, FAKE_UTILIZATION));
    percent[1] = 99;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *mw) {
    ENTER(nvmlDeviceGetPowerUsage);
    DEVICE(handle);
    fakei_lock();
    *mw = (unsigned)whole(1e3 * fakei_power_average_locked(device));
    fakei_unlock();
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons) {
    ENTER(nvmlDeviceGetCurrentClocksThrottleReasons);
    DEVICE(handle);
    *reasons = (unsigned long long)sensor(device, FAKE_REASONS);
    return SUCCESS;
}

#ifndef FAKE_NVML_OLD
typedef struct margin {
    unsigned version;
    int degrees;
} margin;
typedef struct field {
    unsigned id, scope;
    long long timestamp, latency;
    int type, result;
    union {
        double d;
        int si;
        unsigned ui;
        unsigned long ul;
        unsigned long long ull;
        signed long long sll;
    } value;
} field;
_Static_assert(sizeof(margin) == 8 && sizeof(field) == 40, "as in nvml.h");

int nvmlSystemGetNVMLVersion(char *out, unsigned size);
int nvmlSystemGetDriverVersion(char *out, unsigned size);
int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out);
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **out);
int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *later);
int nvmlDeviceGetMarginTemperature(void *handle, margin *out);
int nvmlDeviceGetFieldValues(void *handle, int count, field *fields);
int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj);
int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons);
int nvmlDeviceGetSupportedGraphicsClocks(void *handle, unsigned memory, unsigned *count, unsigned *mhz);
int nvmlDeviceSetGpuLockedClocks(void *handle, unsigned lowest, unsigned highest);
int nvmlDeviceResetGpuLockedClocks(void *handle);

int nvmlSystemGetNVMLVersion(char *out, unsigned size) {
    ENTER(nvmlSystemGetNVMLVersion);
    snprintf(out, size, "13.580.1");
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size) {
    ENTER(nvmlSystemGetDriverVersion);
    snprintf(out, size, "580.1");
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *out) {
    ENTER(nvmlDeviceGetCount_v2);
    *out = (unsigned)device_count();
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **out) {
    ENTER(nvmlDeviceGetHandleByIndex_v2);
    const size_t count = device_count();
    if (index >= count) return INVALID_ARGUMENT;
    *out = &handles[fakei_nvml_state.reversed ? count - 1 - index : index][0];
    return SUCCESS;
}

static int part_of(const void *handle) {
    for (int i = 0; i < FAKE_MAX_DEVICES; i++)
        if (handle == &handles[i][1]) return i;
    return -1;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **out) {
    ENTER(nvmlDeviceGetDeviceHandleFromMigDeviceHandle);
    const int device = part_of(part);
    if (device < 0) return INVALID_ARGUMENT;
    *out = &handles[device][0];
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *later) {
    ENTER(nvmlDeviceGetMigMode);
    DEVICE(handle);
    fakei_lock();
    *now = *later = strstr(fakei_gpu.v[device].name, " MIG ") != NULL;
    fakei_unlock();
    return SUCCESS;
}

int nvmlDeviceGetMarginTemperature(void *handle, margin *out) {
    ENTER(nvmlDeviceGetMarginTemperature);
    DEVICE(handle);
    if (out->version != (8 | 1u << 24)) return VERSION_MISMATCH;
    out->degrees = whole(sensor(device, FAKE_MARGIN));
    return SUCCESS;
}

static void read_field(int device, field *f) {
    char name[64];
    snprintf(name, sizeof name, "nvmlDeviceGetFieldValues.%u", f->id);
    f->result = fakei_enter(name);
    if (f->result) return;
    f->type = 1;
    fakei_lock();
    if (f->id == 186 && f->scope == 0)
        f->value.ui = (unsigned)whole(1e3 * fakei_sensor_locked(device, FAKE_POWER));
    else if (f->id == 185 && f->scope == 0)
        f->value.ui = (unsigned)whole(1e3 * fakei_power_average_locked(device));
    else
        f->result = NOT_SUPPORTED;
    f->timestamp = fakei_now_locked() / 1000;
    fakei_unlock();
}

int nvmlDeviceGetFieldValues(void *handle, int count, field *fields) {
    ENTER(nvmlDeviceGetFieldValues);
    DEVICE(handle);
    for (int i = 0; i < count; i++) read_field(device, &fields[i]);
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *mj) {
    ENTER(nvmlDeviceGetTotalEnergyConsumption);
    DEVICE(handle);
    fakei_lock();
    *mj = (unsigned long long)(1e3 * fakei_energy_locked(device) + 0.5);
    fakei_unlock();
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons) {
    ENTER(nvmlDeviceGetCurrentClocksEventReasons);
    DEVICE(handle);
    *reasons = (unsigned long long)sensor(device, FAKE_REASONS);
    return SUCCESS;
}

/* ---- clocks ---- */

int nvmlDeviceGetSupportedGraphicsClocks(void *handle, unsigned memory, unsigned *count, unsigned *mhz) {
    enum { N = (FAKE_CLOCK_HIGHEST - FAKE_CLOCK_LOWEST) / FAKE_CLOCK_STEP + 1 };
    ENTER(nvmlDeviceGetSupportedGraphicsClocks);
    DEVICE(handle);
    if ((int)memory != whole(sensor(device, FAKE_MEMORY_CLOCK))) return NOT_FOUND;
    const bool room = *count >= N && mhz;
    *count = N;
    if (!room) return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < N; i++) mhz[i] = FAKE_CLOCK_HIGHEST - i * FAKE_CLOCK_STEP;
    return SUCCESS;
}

int nvmlDeviceSetGpuLockedClocks(void *handle, unsigned lowest, unsigned highest) {
    ENTER(nvmlDeviceSetGpuLockedClocks);
    DEVICE(handle);
    const bool base = lowest == 0xffffff01u && highest == lowest;
    if (!base && (lowest > highest || highest > FAKE_CLOCK_HIGHEST)) return INVALID_ARGUMENT;
    fakei_lock();
    const bool forbidden = fakei_nvml_state.forbidden;
    if (!forbidden) fakei_clocks_lock_locked(device, base ? FAKE_CLOCK_BASE : highest, false);
    fakei_unlock();
    return forbidden ? NO_PERMISSION : SUCCESS;
}

int nvmlDeviceResetGpuLockedClocks(void *handle) {
    ENTER(nvmlDeviceResetGpuLockedClocks);
    DEVICE(handle);
    fakei_lock();
    const bool forbidden = fakei_nvml_state.forbidden;
    if (!forbidden) (void)fakei_clocks_unlock_locked(device, false);
    fakei_unlock();
    return forbidden ? NO_PERMISSION : SUCCESS;
}
#endif
