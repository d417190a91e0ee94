/** Holding a GPU's clocks. What is locked is the device's, for all its users, so exactly what was locked is
 *  given back: by unlock, and for what a program forgot or left by exit(), at the process's exit. What a
 *  process that was killed left is told by its file (clock_lock_file.h). Clocks that an administrator had
 *  locked before are free after: NVML does not tell that they were. */
#ifndef WMI_BACKEND_CUDA_CLOCKS_H
#define WMI_BACKEND_CUDA_CLOCKS_H

#include "backend/backend.h"
#include "backend/cuda/device.h"

/** As wmi_backend_ops.lock_clocks says, of this device. The base clock is asked of CUPTI where it is 13.4 or
 *  newer and the device has a context, else of NVML; *held_hz is then 0, for neither says what it is. */
wm_status wmi_clocks_lock(const wmi_cuda_device *d, const wmi_clock_request *request, double *held_hz,
                          wm_error *err);
/** Undo it. False: it could not be undone, and *err says why and what to do; the file stays. True also when
 *  this process holds nothing of the device. */
bool wmi_clocks_unlock(const wmi_cuda_device *d, wm_error *err);
/** Whether they could be held by this process, as far as can be told without trying: WM_REASON_NONE, or why
 *  not, in one line, and what to do. NVML is loaded. */
wm_reason wmi_clocks_may_be_held(const wmi_cuda_device *d, char why[256], char remedy[256]);

#endif
