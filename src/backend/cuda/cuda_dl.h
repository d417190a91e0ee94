/** libcuda, opened at run time: WARPMETER_LIBCUDA, a copy in the process, the loader's
 *  path. The symbol's version is part of its name here, since cuda.h's macros rename. */
#ifndef WMI_BACKEND_CUDA_CUDA_DL_H
#define WMI_BACKEND_CUDA_CUDA_DL_H

#include <cuda.h>

#include "base/error.h"

/* X(member, symbol, type of the function as a pointer, optional) */
#define WMI_CUDA_SYMBOLS(X)                                                                                  \
    X(init, "cuInit", CUresult (*)(unsigned), false)                                                         \
    X(driver_version, "cuDriverGetVersion", CUresult (*)(int *), false)                                      \
    X(error_name, "cuGetErrorName", CUresult (*)(CUresult, const char **), false)                            \
    X(device_count, "cuDeviceGetCount", CUresult (*)(int *), false)                                          \
    X(device_get, "cuDeviceGet", CUresult (*)(CUdevice *, int), false)                                       \
    X(device_name, "cuDeviceGetName", CUresult (*)(char *, int, CUdevice), false)                            \
    X(device_uuid, "cuDeviceGetUuid_v2", CUresult (*)(CUuuid *, CUdevice), true)                             \
    X(device_memory, "cuDeviceTotalMem_v2", CUresult (*)(size_t *, CUdevice), true)                          \
    X(device_attribute, "cuDeviceGetAttribute", CUresult (*)(int *, CUdevice_attribute, CUdevice), false)    \
    X(ctx_create, "cuCtxCreate_v2", CUresult (*)(CUcontext *, unsigned, CUdevice), false)                    \
    X(ctx_destroy, "cuCtxDestroy_v2", CUresult (*)(CUcontext), false)                                        \
    X(ctx_push, "cuCtxPushCurrent_v2", CUresult (*)(CUcontext), false)                                       \
    X(ctx_pop, "cuCtxPopCurrent_v2", CUresult (*)(CUcontext *), false)                                       \
    X(ctx_current, "cuCtxGetCurrent", CUresult (*)(CUcontext *), false)                                      \
    X(ctx_device, "cuCtxGetDevice", CUresult (*)(CUdevice *), false)                                         \
    X(ctx_synchronize, "cuCtxSynchronize", CUresult (*)(void), false)                                        \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", CUresult (*)(CUstreamCaptureMode *), false)         \
    X(stream_is_capturing, "cuStreamIsCapturing", CUresult (*)(CUstream, CUstreamCaptureStatus *), false)    \
    X(mem_alloc, "cuMemAlloc_v2", CUresult (*)(CUdeviceptr *, size_t), false)                                \
    X(mem_free, "cuMemFree_v2", CUresult (*)(CUdeviceptr), false)                                            \
    X(memset_d32, "cuMemsetD32_v2", CUresult (*)(CUdeviceptr, unsigned, size_t), false)                      \
    X(module_load, "cuModuleLoadData", CUresult (*)(CUmodule *, const void *), false)                        \
    X(module_function, "cuModuleGetFunction", CUresult (*)(CUfunction *, CUmodule, const char *), false)     \
    X(module_unload, "cuModuleUnload", CUresult (*)(CUmodule), false)                                        \
    X(launch_kernel, "cuLaunchKernel",                                                                       \
      CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                   CUstream, void **, void **),                                                              \
      false)

typedef struct wmi_cuda_api {
#define WMI_CUDA_MEMBER(member, symbol, type, optional) __typeof__(type) member;
    WMI_CUDA_SYMBOLS(WMI_CUDA_MEMBER)
#undef WMI_CUDA_MEMBER
} wmi_cuda_api;

extern wmi_cuda_api wmi_cuda; /* filled by wmi_cuda_load */

/** Open libcuda and call cuInit; the first call decides for ever (but for want of memory). Any
 *  thread.
 *  WM_EUNSUPPORTED: no library, the stub (its cuInit says so), no driver or no device, in
 *  three different messages; `native_code` is the CUresult. */
wm_status wmi_cuda_load(wm_error *err);
/** Where it was found; "" before. */
const char *wmi_cuda_path(void);
/** The newest CUDA that the driver is for, as 13000; 0 before, and where there is no driver. */
int wmi_cuda_driver(void);
/** Whether libraries of CUDA may be opened: WM_EUNSUPPORTED when WARPMETER_CUDA is "off", WM_EINVAL
 *  when it is anything else than "on". Asked by both loaders, at every call. */
wm_status wmi_cuda_allowed(wm_error *err);

#endif
