/** Buffers that CUPTI fills with activity records. One set for the process; what CUPTI holds
 *  stays ours until it hands it back, for ever if it must be. */
#ifndef WMI_BACKEND_CUDA_ACTIVITY_BUFFERS_H
#define WMI_BACKEND_CUDA_ACTIVITY_BUFFERS_H

#include "base/error.h"

/** Give CUPTI our callbacks; records go to the store. size: of a buffer, in bytes; refuse:
 *  this CUPTI bears that it is given none when memory runs out. WM_ENOMEM; CUPTI's failures. */
wm_status wmi_activity_buffers_open(size_t size, bool refuse, wm_error *err);
/** Free what CUPTI does not hold. */
void wmi_activity_buffers_close(void);
/** Buffers of others that were handed to us, since the last call. */
uint64_t wmi_activity_buffers_foreign(void);

#endif
