/** Kernels that were launched in this process, each on each device. */
#ifndef WMI_BACKEND_CUDA_KERNELS_SEEN_H
#define WMI_BACKEND_CUDA_KERNELS_SEEN_H

#include "base/error.h"

/** Note a launch of the kernel (interned binary name) on the device; *first: it is the first
 *  one. false when out of memory. One thread at a time. */
bool wmi_kernels_seen_add(uint32_t name, uint32_t device, bool *first);

#endif
