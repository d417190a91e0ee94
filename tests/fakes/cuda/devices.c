/* The devices, and what the libraries say of themselves. */
#include <string.h>

#include "fake_state.h"

typedef struct attribute {
    int device, attribute, value;
} attribute;

/* What the profiler needs of a device. */
static const char *const flags[] = {"isSupported",         "architecture", "sli", "vGpu",
                                    "confidentialCompute", "cmp",          "wsl"};
#define FLAGS (sizeof flags / sizeof *flags)
static CUpti_Profiler_Support_Level levels[FLAGS];

fakei_devices fakei_gpu;
static attribute attributes[64];
static size_t attribute_count;

fake_device fake_device_default(void) {
    return (fake_device){.name = "NVIDIA Fake H200",
                         .chip = "GH100",
                         .major = 9,
                         .minor = 0,
                         .multiprocessors = 132,
                         .l2_bytes = INT64_C(60) << 20,
                         .memory_bytes = INT64_C(141) << 30,
                         .compute_mode = 0,
                         .concurrent_managed = true};
}

void fakei_devices_reset_locked(void) {
    memset(&fakei_gpu, 0, sizeof fakei_gpu);
    fakei_gpu.v[0] = fake_device_default();
    fakei_gpu.count = 1;
    fakei_gpu.driver_version = 13000;
    attribute_count = 0;
    for (size_t i = 0; i < FLAGS; i++) levels[i] = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
}

void fake_devices(const fake_device *devices, size_t count) {
    fakei_lock();
    fakei_gpu.count = count < FAKE_MAX_DEVICES ? count : FAKE_MAX_DEVICES;
    for (size_t i = 0; i < fakei_gpu.count; i++) {
        fakei_gpu.v[i] = devices[i];
        fakei_gpu.v[i].name = fakei_intern(devices[i].name);
        fakei_gpu.v[i].chip = fakei_intern(devices[i].chip);
    }
    fakei_unlock();
}

void fake_attribute(int device, int which, int value) {
    fakei_lock();
    if (attribute_count < sizeof attributes / sizeof *attributes)
        attributes[attribute_count++] = (attribute){device, which, value};
    fakei_unlock();
}

bool fakei_attribute_locked(int device, int which, int *value) {
    for (size_t i = attribute_count; i-- > 0;) { /* the last one that was set */
        if (attributes[i].device != device || attributes[i].attribute != which) continue;
        *value = attributes[i].value;
        return true;
    }
    return false;
}

void fake_stub(bool stub) {
    fakei_lock();
    fakei_gpu.stub = stub;
    fakei_unlock();
}

void fake_driver_version(int version) {
    fakei_lock();
    fakei_gpu.driver_version = version;
    fakei_unlock();
}

void fake_cupti_version(uint32_t version) {
    fakei_lock();
    fakei_gpu.cupti_version = version;
    fakei_unlock();
}

void fake_supported(const char *flag, int level) {
    fakei_lock();
    for (size_t i = 0; i < FLAGS; i++)
        if (strcmp(flags[i], flag) == 0) levels[i] = (CUpti_Profiler_Support_Level)level;
    fakei_unlock();
}

void fakei_supported_locked(CUpti_Profiler_DeviceSupported_Params *out) {
    out->isSupported = levels[0];
    for (size_t i = 1; i < FLAGS; i++)
        if (levels[i] != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
            out->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    out->architecture = levels[1];
    out->sli = levels[2];
    out->vGpu = levels[3];
    out->confidentialCompute = levels[4];
    out->cmp = levels[5];
    out->wsl = levels[6];
}
