/** Cold device caches: before each kernel in a region, a kernel of our own reads twice the
 *  L2 from a second context of the device, so that only clean lines of nobody's are left.
 *  (Writing instead would leave dirty lines, whose write-back the measured kernel pays for.)
 *  The second context's work is no record and no range of the program's. */
#ifndef WMI_BACKEND_CUDA_COLD_H
#define WMI_BACKEND_CUDA_COLD_H

#include "backend/cuda/device.h"

typedef struct wmi_cold wmi_cold;

/** Make ready for a device: a context, a buffer, the reading kernel (PTX that the driver
 *  compiles). Where a second context is not allowed (compute mode exclusive), the reader runs
 *  in the program's own, and wmi_cold_kernel is its name, to be left out of records and
 *  ranges. WM_EUNSUPPORTED, WM_ENOMEM (device memory), with the text. */
wm_status wmi_cold_create(const wmi_cuda_device *device, wmi_cold **out, wm_error *err);
void wmi_cold_destroy(wmi_cold *c);
/** Evict, from inside a launch callback: waits for the program's context (at most hang_ns),
 *  reads, waits. Nothing while a stream captures. Hides its own calls.
 *  Each eviction is one launch of the reading kernel. Any thread; one at a time, the others wait.
 *  WM_OK; WM_ESTATE: capturing; WM_EFAILED: the context did not come to rest within the time:
 *  kernels wait for each other, and c evicts nothing any more; in the program's own context
 *  also what wmi_cold_create may say. */
wm_status wmi_cold_evict(wmi_cold *c, const wmi_cuda_context *program, int64_t hang_ns, wm_error *err);
/** The binary name of the reading kernel. */
extern const char wmi_cold_kernel[];
/** Does it run in the program's context? */
bool wmi_cold_in_program(const wmi_cold *c);

#endif
