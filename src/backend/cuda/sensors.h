/** The sensors of one GPU, read through NVML. The device is found by its UUID: CUDA's numbers and NVML's
 *  differ under CUDA_VISIBLE_DEVICES and by order. Of a part of a GPU (MIG) what holds for the whole chip is
 *  read of the whole: clocks, temperatures, performance state, what holds clocks down. Utilisation, power and
 *  energy are not: they would be those of its neighbours too.
 *
 *  Power is the instant field. Where a driver does not know it, nvmlDeviceGetPowerUsage is as good up to
 *  GA100; on newer chips that is an average of the last second, which is no power in a run, so a null. */
#ifndef WMI_BACKEND_CUDA_SENSORS_H
#define WMI_BACKEND_CUDA_SENSORS_H

#include "backend/cuda/device.h"
#include "backend/cuda/nvml_dl.h"
#include "samples/state.h"

#define WMI_CUDA_SENSORS                                                                                     \
    (WMI_SENSOR_BIT(GPU_CLOCK) | WMI_SENSOR_BIT(GPU_MEMORY_CLOCK) | WMI_SENSOR_BIT(GPU_TEMPERATURE) |        \
     WMI_SENSOR_BIT(GPU_HEADROOM) | WMI_SENSOR_BIT(GPU_PSTATE) | WMI_SENSOR_BIT(GPU_UTILIZATION) |           \
     WMI_SENSOR_BIT(GPU_POWER) | WMI_SENSOR_BIT(GPU_ENERGY) | WMI_SENSOR_BIT(GPU_THROTTLE))

/** The device whose state is told, by CUDA's number; -1: that of the first context that a launch was made
 *  in and that is still there; CUDA's first before there is one. WM_EUNSUPPORTED: no such device. */
wm_status wmi_cuda_watched(int watched, const wmi_cuda_device **out, wm_error *err);
/** NVML's handle of a device; of a part of a GPU (MIG) that of the whole one. NVML is loaded. Returns a code
 *  of NVML. */
int wmi_nvml_handle(const wmi_cuda_device *d, wmi_nvml_device *out);

/** What is remembered between readings. One thread at a time. */
typedef struct wmi_cuda_sensors {
    int watched;                   /* as in wmi_device_opts */
    const wmi_cuda_device *device; /* that was read last; NULL: none yet */
    wmi_nvml_device handle;
    bool found, lost;
    uint32_t absent;    /* sensors that the device said it does not have: it is not asked again */
    bool no_margin;     /* headroom is made of a threshold */
    bool no_instant;    /* power is read as older drivers tell it */
    unsigned threshold; /* 0: not read yet */
    bool energy_begun;  /* energy is counted from the device's first reading on … */
    unsigned long long energy_begin;
    double energy_before, energy; /* … after what those before it counted [J] */
} wmi_cuda_sensors;

/** Begin with {.watched = N} and zeros. Reads the sensors of `which` that are WMI_CUDA_SENSORS, as
 *  wmi_backend_ops.sense says. After "GPU is lost" the device is not asked any more. */
void wmi_cuda_sense(wmi_cuda_sensors *s, uint32_t which, wmi_sensed *out);

#endif
