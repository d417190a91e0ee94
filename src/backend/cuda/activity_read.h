/** CUPTI's activity records of kernels, copies and sets: from its layouts to ours. */
#ifndef WMI_BACKEND_CUDA_ACTIVITY_READ_H
#define WMI_BACKEND_CUDA_ACTIVITY_READ_H

#include "backend/cuda/activity_store.h"

/** Walk a buffer: *record NULL for the first, then the last one. false at the end; *broken: there is
 *  more that cannot be read. */
bool wmi_activity_next(uint8_t *buffer, size_t size, void **record, bool *broken);

typedef enum wmi_activity_verdict {
    WMI_ACTIVITY_READ = 0,
    WMI_ACTIVITY_OTHER, /* of another kind */
    WMI_ACTIVITY_NOMEM  /* its kernel's name could not be kept */
} wmi_activity_verdict;
wmi_activity_verdict wmi_activity_read(const void *record, wmi_activity *out);

#endif
