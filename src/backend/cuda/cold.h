/** Cold device caches: before each kernel in a region, a kernel of our own reads twice the
 *  L2, so that only clean lines of nobody's are left. (Writing instead would leave dirty lines,
 *  whose write-back the measured kernel pays for.)
 *
 *  It runs in the program's own context: 0.1 ms each time, 1.3 ms where counters of the
 *  multiprocessors are read (H200). There it is a kernel record and a range like others, known by
 *  its name. Or in a second context of the device: 1.1 and 2.4 ms, but neither record nor range. */
#ifndef WMI_BACKEND_CUDA_COLD_H
#define WMI_BACKEND_CUDA_COLD_H

#include "backend/cuda/device.h"

typedef struct wmi_cold wmi_cold;
/* Where the reading kernel runs: in the program's context, or in a second one. */
typedef enum wmi_cold_place { WMI_COLD_INSIDE = 0, WMI_COLD_APART } wmi_cold_place;

/** Make ready for a device. In each context it gets a buffer and the reading kernel (PTX that the
 *  driver compiles) when it first runs there. Where a second context is not allowed (compute mode
 *  exclusive), it always runs in the program's own.
 *  WM_EUNSUPPORTED, with the text; WM_ENOMEM. */
wm_status wmi_cold_create(const wmi_cuda_device *device, wmi_cold **out, wm_error *err);
void wmi_cold_destroy(wmi_cold *c);
/** Evict, from inside a launch callback: waits for the program's context (at most hang_ns),
 *  reads, waits. Nothing while a stream captures. Hides its own calls.
 *  Each eviction is one launch of the reading kernel. Any thread; one at a time, the others wait.
 *  WM_OK; WM_ESTATE: capturing; WM_EFAILED: the context did not come to rest within the time:
 *  kernels wait for each other, and c evicts nothing any more; what may go wrong in making
 *  the buffer and the kernel, with its text. */
wm_status wmi_cold_evict(wmi_cold *c, const wmi_cuda_context *program, wmi_cold_place place, int64_t hang_ns,
                         wm_error *err);
/** The binary name of the reading kernel. */
extern const char wmi_cold_kernel[];
/** Does WMI_COLD_APART run in the program's context too? */
bool wmi_cold_in_program(const wmi_cold *c);

#endif
