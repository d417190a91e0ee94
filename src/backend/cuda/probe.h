/** The parts of what doctor tells. */
#ifndef WMI_BACKEND_CUDA_PROBE_H
#define WMI_BACKEND_CUDA_PROBE_H

#include "backend/backend.h"
#include "backend/cuda/device.h"

/** NVML's library. False, and nothing was told: it cannot be used, and *why says why. */
bool wmi_cuda_probe_nvml(wmi_probe *out, wm_error *why);
/** The sensors and clocks of a device, with NVML loaded. */
void wmi_cuda_probe_state(wmi_probe *out, const wmi_cuda_device *d);

#endif
