/** libnvidia-ml (NVML), opened at run time: WARPMETER_LIBNVML, a copy in the process, the loader's path. */
#ifndef WMI_BACKEND_CUDA_NVML_DL_H
#define WMI_BACKEND_CUDA_NVML_DL_H

#include "backend/cuda/nvml_interface.h"
#include "base/error.h"

/* X(member, symbol, type of the function as a pointer, optional): old drivers lack those that are optional */
#define WMI_NVML_SYMBOLS(X)                                                                                  \
    X(init, "nvmlInit_v2", int (*)(void), false)                                                             \
    X(error_text, "nvmlErrorString", const char *(*)(int), false)                                            \
    X(by_uuid, "nvmlDeviceGetHandleByUUID", int (*)(const char *, wmi_nvml_device *), false)                 \
    X(nvml_version, "nvmlSystemGetNVMLVersion", int (*)(char *, unsigned), true)                             \
    X(driver_version, "nvmlSystemGetDriverVersion", int (*)(char *, unsigned), true)                         \
    X(mig_parent, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",                                            \
      int (*)(wmi_nvml_device, wmi_nvml_device *), true)                                                     \
    X(mig_mode, "nvmlDeviceGetMigMode", int (*)(wmi_nvml_device, unsigned *, unsigned *), true)              \
    X(clock, "nvmlDeviceGetClockInfo", int (*)(wmi_nvml_device, int, unsigned *), true)                      \
    X(temperature, "nvmlDeviceGetTemperature", int (*)(wmi_nvml_device, int, unsigned *), true)              \
    X(threshold, "nvmlDeviceGetTemperatureThreshold", int (*)(wmi_nvml_device, int, unsigned *), true)       \
    X(margin, "nvmlDeviceGetMarginTemperature", int (*)(wmi_nvml_device, wmi_nvml_margin *), true)           \
    X(pstate, "nvmlDeviceGetPerformanceState", int (*)(wmi_nvml_device, int *), true)                        \
    X(utilization, "nvmlDeviceGetUtilizationRates", int (*)(wmi_nvml_device, wmi_nvml_utilization *), true)  \
    X(fields, "nvmlDeviceGetFieldValues", int (*)(wmi_nvml_device, int, wmi_nvml_field *), true)             \
    X(power, "nvmlDeviceGetPowerUsage", int (*)(wmi_nvml_device, unsigned *), true)                          \
    X(energy, "nvmlDeviceGetTotalEnergyConsumption", int (*)(wmi_nvml_device, unsigned long long *), true)   \
    X(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons",                                               \
      int (*)(wmi_nvml_device, unsigned long long *), true)                                                  \
    X(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons",                                         \
      int (*)(wmi_nvml_device, unsigned long long *), true)                                                  \
    X(supported_clocks, "nvmlDeviceGetSupportedGraphicsClocks",                                              \
      int (*)(wmi_nvml_device, unsigned, unsigned *, unsigned *), true)                                      \
    X(lock_clocks, "nvmlDeviceSetGpuLockedClocks", int (*)(wmi_nvml_device, unsigned, unsigned), true)       \
    X(reset_clocks, "nvmlDeviceResetGpuLockedClocks", int (*)(wmi_nvml_device), true)

typedef struct wmi_nvml_api {
#define WMI_NVML_MEMBER(member, symbol, type, optional) __typeof__(type) member;
    WMI_NVML_SYMBOLS(WMI_NVML_MEMBER)
#undef WMI_NVML_MEMBER
} wmi_nvml_api;

extern wmi_nvml_api wmi_nvml; /* filled by wmi_nvml_load */

/** Open it and call nvmlInit_v2, which takes some 10 ms; the first call decides for ever (but for want of
 *  memory). Any thread. It is never shut down: NVML counts who uses it, the program may be one of them, and
 *  clocks are given back as late as at the process's exit.
 *  WM_EUNSUPPORTED: no library, or one that lacks what is needed; else as wmi_nvml_error says. */
wm_status wmi_nvml_load(wm_error *err);
/** Where it was found; "" before. */
const char *wmi_nvml_path(void);

/** From a code: status, and the message "WHAT: text of the library (code)". Returns the status. */
wm_status wmi_nvml_error(wm_error *err, int code, const char *what);
/** The same as a reason for a null: NO_SENSOR, PERMISSION, DEVICE_LOST or BACKEND. */
wm_reason wmi_nvml_reason(int code);

#endif
