/** The devices of this process, and the contexts that were met. */
#ifndef WMI_BACKEND_CUDA_DEVICE_H
#define WMI_BACKEND_CUDA_DEVICE_H

#include <cuda.h>

#include "base/error.h"

typedef struct wmi_cuda_device {
    int ordinal;
    char name[96];  /* "NVIDIA H200" */
    char uuid[48];  /* "GPU-…"; "MIG-…" of a part of one; "" where the driver does not say */
    char chip[32];  /* CUPTI's name: "GH100"; "" where CUPTI does not say */
    uint32_t label; /* interned name; with several of a name "NVIDIA H200 (1)" */
    int major, minor, multiprocessors;
    int64_t l2_bytes, memory_bytes;
    double rated_hz;        /* of the multiprocessors; 0 where the driver does not say */
    double memory_rated_hz; /* of the memory, likewise */
    int compute_mode;       /* CUcomputemode */
    bool concurrent_managed;
} wmi_cuda_device;

/** The devices, found once for ever; needs libcuda, takes chips from libcupti where it is
 *  there. Makes no context. WM_EUNSUPPORTED: none. */
wm_status wmi_cuda_devices(const wmi_cuda_device **out, size_t *count, wm_error *err);

/** Is it a part of a GPU (MIG)? */
bool wmi_cuda_is_mig(const wmi_cuda_device *d);

/** Why counters cannot be had on this device: WM_REASON_NONE when they can. `why` (may be
 *  NULL) gets one line that names the flag (WSL, vGPU, confidential computing, MIG, CMP,
 *  architecture) and `remedy` what to do. */
wm_reason wmi_cuda_profiling(const wmi_cuda_device *d, char why[256], char remedy[256]);
/** Whether a multiprocess service runs (its pipe is there): other processes may share the
 *  device, and counters then count theirs too. */
bool wmi_cuda_mps(void);

/** A context of the program, found by the callbacks. */
typedef struct wmi_cuda_context {
    CUcontext handle;
    uint32_t id; /* CUPTI's number */
    const wmi_cuda_device *device;
} wmi_cuda_context;

#endif
