/* libcuda: the driver, devices, error names. */
#include <stdio.h>
#include <string.h>

#include "cuda_driver.h"

CUresult cuInit(unsigned flags) {
    PLAIN(cuInit);
    (void)flags;
    fakei_lock();
    CUresult result = fakei_gpu.stub ? CUDA_ERROR_STUB_LIBRARY : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && fakei_gpu.count == 0) result = CUDA_ERROR_NO_DEVICE;
    fakei_unlock();
    return result;
}

CUresult cuDriverGetVersion(int *version) {
    PLAIN(cuDriverGetVersion);
    fakei_lock();
    bool stub = fakei_gpu.stub;
    if (!stub) *version = fakei_gpu.driver_version;
    fakei_unlock();
    return stub ? CUDA_ERROR_STUB_LIBRARY : CUDA_SUCCESS;
}

#define ERROR(name, text)                                                                                    \
    { name, #name, text }
static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
    ERROR(CUDA_SUCCESS, "no error"),
    ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR(CUDA_ERROR_STUB_LIBRARY, "the library is a stub"),
    ERROR(CUDA_ERROR_DEVICE_UNAVAILABLE, "devices are busy or unavailable"),
    ERROR(CUDA_ERROR_NO_DEVICE, "no device is detected"),
    ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR(CUDA_ERROR_INVALID_IMAGE, "device image is invalid"),
    ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid context"),
    ERROR(CUDA_ERROR_INVALID_PTX, "a PTX compilation failed"),
    ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "driver and display driver have different versions"),
    ERROR(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility is not for this device"),
    ERROR(CUDA_ERROR_MPS_CONNECTION_FAILED, "MPS client failed to connect"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not permitted when a stream is capturing"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "failed because of an earlier error during capture"),
    ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static CUresult look_up(CUresult code, bool name, const char **out) {
    *out = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) *out = name ? errors[i].name : errors[i].text;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **out) {
    PLAIN(cuGetErrorName);
    return look_up(code, true, out);
}

CUresult cuGetErrorString(CUresult code, const char **out) {
    PLAIN(cuGetErrorString);
    return look_up(code, false, out);
}

CUresult cuDeviceGetCount(int *count) {
    PLAIN(cuDeviceGetCount);
    fakei_lock();
    *count = (int)fakei_gpu.count;
    fakei_unlock();
    return CUDA_SUCCESS;
}

static bool device_of(CUdevice device, fake_device *out) {
    fakei_lock();
    bool there = device >= 0 && (size_t)device < fakei_gpu.count;
    if (there) *out = fakei_gpu.v[device];
    fakei_unlock();
    return there;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    fake_device d;
    PLAIN(cuDeviceGet);
    if (!device_of(ordinal, &d)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    fake_device d;
    PLAIN(cuDeviceGetName);
    if (!device_of(device, &d)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", d.name);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    fake_device d;
    PLAIN(cuDeviceGetUuid_v2);
    if (!device_of(device, &d)) return CUDA_ERROR_INVALID_DEVICE;
    for (int i = 0; i < 15; i++) uuid->bytes[i] = (char)i;
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    fake_device d;
    PLAIN(cuDeviceTotalMem_v2);
    if (!device_of(device, &d)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = (size_t)d.memory_bytes;
    return CUDA_SUCCESS;
}

static int attribute_of(const fake_device *d, CUdevice_attribute attribute) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return d->major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return d->minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return d->multiprocessors;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return (int)d->l2_bytes;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000; /* kHz */
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3201000;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: return d->compute_mode;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: return d->concurrent_managed;
    default: return 0;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    fake_device d;
    PLAIN(cuDeviceGetAttribute);
    if (!device_of(device, &d)) return CUDA_ERROR_INVALID_DEVICE;
    fakei_lock();
    if (!fakei_attribute_locked(device, (int)attribute, value)) *value = attribute_of(&d, attribute);
    fakei_unlock();
    return CUDA_SUCCESS;
}
