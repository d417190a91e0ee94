/** Cold device caches: before each kernel in a region, a kernel of our own reads twice the
 *  L2, so that only clean lines of nobody's are left. (Writing instead would leave dirty lines,
 *  whose write-back the measured kernel pays for.)
 *
 *  Where counters are read it runs in a second context of the device, whose work is no range of
 *  the program's. Where times are taken it runs in the program's own context, and its record is
 *  that of no logged launch: a kernel record begins before the device has switched contexts, which
 *  would make each kernel some 35 us longer (seen on an H200). */
#ifndef WMI_BACKEND_CUDA_COLD_H
#define WMI_BACKEND_CUDA_COLD_H

#include "backend/cuda/device.h"

typedef struct wmi_cold wmi_cold;
typedef enum wmi_cold_place { WMI_COLD_INSIDE = 0, WMI_COLD_APART } wmi_cold_place;

/** Make ready for a device: a context, a buffer, the reading kernel (PTX that the driver
 *  compiles). Where a second context is not allowed (compute mode exclusive), the reader always
 *  runs in the program's own, and wmi_cold_kernel is its name, to be left out of ranges. WM_EUNSUPPORTED,
 * WM_ENOMEM (device memory), with the text. */
wm_status wmi_cold_create(const wmi_cuda_device *device, wmi_cold **out, wm_error *err);
void wmi_cold_destroy(wmi_cold *c);
/** Evict, from inside a launch callback: waits for the program's context (at most hang_ns),
 *  reads, waits. Nothing while a stream captures. Hides its own calls.
 *  Each eviction is one launch of the reading kernel. Any thread; one at a time, the others wait.
 *  WM_OK; WM_ESTATE: capturing; WM_EFAILED: the context did not come to rest within the time:
 *  kernels wait for each other, and c evicts nothing any more; in the program's own context
 *  also what wmi_cold_create may say. */
wm_status wmi_cold_evict(wmi_cold *c, const wmi_cuda_context *program, wmi_cold_place place, int64_t hang_ns,
                         wm_error *err);
/** The binary name of the reading kernel. */
extern const char wmi_cold_kernel[];
/** Does WMI_COLD_APART run in the program's context too? */
bool wmi_cold_in_program(const wmi_cold *c);

#endif
