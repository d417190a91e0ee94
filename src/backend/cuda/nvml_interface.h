/** What warpmeter uses of NVML, NVIDIA's library of management, which is part of the driver: the layouts and
 *  numbers of its interface, which is stable, so that no header of it is needed to build. Names are ours. */
#ifndef WMI_BACKEND_CUDA_NVML_INTERFACE_H
#define WMI_BACKEND_CUDA_NVML_INTERFACE_H

#include <stddef.h>

/** A device; the library's own. */
typedef struct wmi_nvml_device_of_library *wmi_nvml_device;

/* Codes that its functions return. There are more. */
enum {
    WMI_NVML_SUCCESS = 0,
    WMI_NVML_UNINITIALIZED = 1,
    WMI_NVML_INVALID_ARGUMENT = 2,
    WMI_NVML_NOT_SUPPORTED = 3,
    WMI_NVML_NO_PERMISSION = 4,
    WMI_NVML_NOT_FOUND = 6,
    WMI_NVML_INSUFFICIENT_SIZE = 7,
    WMI_NVML_DRIVER_NOT_LOADED = 9,
    WMI_NVML_FUNCTION_NOT_FOUND = 13,
    WMI_NVML_GPU_IS_LOST = 15,
    WMI_NVML_VERSION_MISMATCH = 18,
    WMI_NVML_ARGUMENT_VERSION_MISMATCH = 25, /* a struct of a version that the driver does not know */
    WMI_NVML_UNKNOWN = 999
};

/* Of nvmlDeviceGetClockInfo. */
enum { WMI_NVML_CLOCK_SM = 1, WMI_NVML_CLOCK_MEMORY = 2 };
/* The one sensor of nvmlDeviceGetTemperature. */
enum { WMI_NVML_TEMPERATURE_GPU = 0 };
/* Of nvmlDeviceGetTemperatureThreshold. */
enum { WMI_NVML_THRESHOLD_SLOWDOWN = 1 };
/* nvmlDeviceGetPerformanceState: from 0 to 15, or not known. */
enum { WMI_NVML_PSTATE_SLOWEST = 15, WMI_NVML_PSTATE_UNKNOWN = 32 };

/** Degrees left until the hottest part is as hot as it may be. */
typedef struct wmi_nvml_margin {
    unsigned version; /* WMI_NVML_MARGIN_VERSION, set by the caller */
    int degrees;
} wmi_nvml_margin;
#define WMI_NVML_MARGIN_VERSION ((unsigned)sizeof(wmi_nvml_margin) | 1u << 24)

typedef struct wmi_nvml_utilization {
    unsigned gpu, memory; /* percent */
} wmi_nvml_utilization;

/* Of nvmlDeviceGetFieldValues: power now, as opposed to an average [mW]. */
enum { WMI_NVML_FIELD_POWER_INSTANT = 186 };
/* How a field's value is to be read. */
enum { WMI_NVML_DOUBLE = 0, WMI_NVML_UINT = 1, WMI_NVML_ULONG = 2, WMI_NVML_ULONGLONG = 3 };
typedef struct wmi_nvml_field {
    unsigned id, scope; /* set by the caller; scope 0: the GPU alone */
    long long at_us, latency_us;
    int type;
    int result; /* a code, of this field */
    union {
        double f64;
        unsigned u32;
        unsigned long ulong;
        unsigned long long u64;
    } value;
} wmi_nvml_field;

/* Why clocks are held down, as bits. Idleness, clocks that were asked for, and keeping in step with other
 * devices are bits too, but hold nothing down. */
#define WMI_NVML_SW_POWER_CAP   0x4ull
#define WMI_NVML_HW_SLOWDOWN    0x8ull
#define WMI_NVML_SW_THERMAL     0x20ull
#define WMI_NVML_HW_THERMAL     0x40ull
#define WMI_NVML_HW_POWER_BRAKE 0x80ull

/* For nvmlDeviceSetGpuLockedClocks, in the place of both frequencies: the base clock. */
#define WMI_NVML_LIMIT_TDP 0xffffff01u

#endif
