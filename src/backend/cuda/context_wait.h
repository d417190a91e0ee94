/** Waiting for a context to come to rest, with a limit: the driver has no such call, so a
 *  thread of our own makes the one without. */
#ifndef WMI_BACKEND_CUDA_CONTEXT_WAIT_H
#define WMI_BACKEND_CUDA_CONTEXT_WAIT_H

#include <cuda.h>

#include "base/error.h"

typedef struct wmi_context_wait wmi_context_wait;

/** Start the thread; it takes no signals. WM_ENOMEM, also when threads ran out. */
wm_status wmi_context_wait_create(wmi_context_wait **out, wm_error *err);
/** Never blocks: a thread that still waits ends by itself, and frees what it needed. */
void wmi_context_wait_destroy(wmi_context_wait *w);
/** Wait until all that was launched in `context` has ended, at most limit_ns. One caller at a
 *  time. False: it has not, and w can only be destroyed. True: *result is what the driver said. */
bool wmi_context_wait_for(wmi_context_wait *w, CUcontext context, int64_t limit_ns, CUresult *result);

#endif
