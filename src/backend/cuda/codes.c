#include "backend/cuda/codes.h"

#include <stdio.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"

#define DRIVER               false
#define CUPTI                true
#define NOTHING_BUT_COUNTERS "; kernel times need no permission"

/* Numbers, not the headers' names: the library may be newer than the headers of the build. */
static const wmi_cuda_code codes[] = {
    {DRIVER, 2, WM_ENOMEM, WM_REASON_BACKEND, "CUDA_ERROR_OUT_OF_MEMORY", "the device has no memory left",
     "let the program take less of it"},
    {DRIVER, 34, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_STUB_LIBRARY",
     "this libcuda is the stub of a toolkit, made for linking and not for running",
     "take the folder 'stubs' out of LD_LIBRARY_PATH, and install NVIDIA's driver"},
    {DRIVER, 36, WM_EUNSUPPORTED, WM_REASON_BACKEND, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
     "the driver is too old for this call", "install a newer driver"},
    {DRIVER, 46, WM_EBUSY, WM_REASON_DEVICE_BUSY, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "another process has the device for itself, or its compute mode prohibits use",
     "see 'nvidia-smi -q -d COMPUTE', and end the other process"},
    {DRIVER, 100, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "the driver finds no device",
     "see 'nvidia-smi -L'; in a container, let it have the GPUs"},
    {DRIVER, 101, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
     "there is no such device", "see CUDA_VISIBLE_DEVICES and 'nvidia-smi -L'"},
    {DRIVER, 222, WM_EUNSUPPORTED, WM_REASON_BACKEND, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the driver is too old for this code", "install a newer driver"},
    {DRIVER, 304, WM_EPERM, WM_REASON_PERMISSION, "CUDA_ERROR_OPERATING_SYSTEM",
     "the system refused, most often to open /dev/nvidia*",
     "see the rights of those files; in a container, let it have the GPUs"},
    {DRIVER, 700, WM_EFAILED, WM_REASON_BACKEND, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "a kernel of the program touched memory that is not its own", "run the program under compute-sanitizer"},
    {DRIVER, 719, WM_EFAILED, WM_REASON_BACKEND, "CUDA_ERROR_LAUNCH_FAILED",
     "a kernel of the program crashed", "run the program under compute-sanitizer"},
    {DRIVER, 800, WM_EPERM, WM_REASON_PERMISSION, "CUDA_ERROR_NOT_PERMITTED",
     "the call is not permitted here", ""},
    {DRIVER, 801, WM_EUNSUPPORTED, WM_REASON_BACKEND, "CUDA_ERROR_NOT_SUPPORTED",
     "the device or the driver cannot do it", ""},
    {DRIVER, 802, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_SYSTEM_NOT_READY",
     "the system is not ready, most often because the fabric manager of its NVSwitches does not run",
     "start nvidia-fabricmanager in the version of the driver"},
    {DRIVER, 803, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "the kernel's driver and libcuda are of different versions, as after an update",
     "load the driver anew or restart the machine; in a container, install no driver of its own"},
    {DRIVER, 804, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "this device does not take a libcuda that is newer than its driver",
     "install a newer driver, or take the compatibility package out of LD_LIBRARY_PATH"},
    {DRIVER, 805, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "the multiprocess service (MPS) does not answer",
     "start nvidia-cuda-mps-control, or remove its pipe's folder"},
    {DRIVER, 806, WM_EIO, WM_REASON_BACKEND, "CUDA_ERROR_MPS_RPC_FAILURE",
     "the multiprocess service (MPS) broke off", "see its log, and start it anew"},
    {DRIVER, 807, WM_EBUSY, WM_REASON_DEVICE_BUSY, "CUDA_ERROR_MPS_SERVER_NOT_READY",
     "the multiprocess service (MPS) serves another user, or is starting", "wait for that user's programs"},
    {DRIVER, 808, WM_EBUSY, WM_REASON_DEVICE_BUSY, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
     "the multiprocess service (MPS) has as many clients as it takes", "end one of them"},
    {DRIVER, 809, WM_EBUSY, WM_REASON_DEVICE_BUSY, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
     "the multiprocess service (MPS) has no connection to the device left", "end one of its clients"},
    {DRIVER, 900, WM_ESTATE, WM_REASON_CAPTURE, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "a stream is being captured, and that forbids the call", ""},

    {CUPTI, 8, WM_ENOMEM, WM_REASON_BACKEND, "CUPTI_ERROR_OUT_OF_MEMORY",
     "memory ran out, of the host or the device", "let the program take less of it"},
    {CUPTI, 14, WM_EUNSUPPORTED, WM_REASON_BACKEND, "CUPTI_ERROR_NOT_COMPATIBLE",
     "this libcupti does not fit the driver",
     "install the CUPTI of the driver's CUDA version, or a newer driver"},
    {CUPTI, 15, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_NOT_INITIALIZED",
     "CUPTI cannot start, most often for want of a driver or a device", "see what doctor says of libcuda"},
    {CUPTI, 26, WM_EBUSY, WM_REASON_DEVICE_BUSY, "CUPTI_ERROR_HARDWARE_BUSY",
     "somebody else holds the device's counters: most often the monitor DCGM, or ncu or nsys",
     "end it, or for DCGM run 'dcgmi profpause' before and 'dcgmi profresume' after"},
    {CUPTI, 27, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_NOT_SUPPORTED",
     "the device or its configuration does not support it", "see what doctor says of the device"},
    {CUPTI, WMI_CUPTI_VGPU, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE,
     "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
     "the device is a virtual one (vGPU), which has no counters", "measure on a GPU that is passed through"},
    {CUPTI, 35, WM_EPERM, WM_REASON_PERMISSION, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
     "the driver keeps counters for administrators (RmProfilingAdminOnly: 1)" NOTHING_BUT_COUNTERS,
     WMI_CUDA_ALLOW_COUNTERS},
    {CUPTI, 36, WM_EBUSY, WM_REASON_BACKEND, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED",
     "another tool in this process uses CUPTI's old event interface, which excludes this one",
     "run the program without that tool"},
    {CUPTI, 39, WM_EBUSY, WM_REASON_BACKEND, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
     "another profiler is in this process, and CUPTI takes one: ncu, nsys, cuda-gdb, PyTorch's profiler "
     "(Kineto), which stays once it was used, or another tool on CUPTI",
     "run the program without it, or measure before it begins"},
    {CUPTI, WMI_CUPTI_VGPU_OFF, WM_EPERM, WM_REASON_PERMISSION,
     "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
     "the hypervisor does not let this virtual device (vGPU) be profiled" NOTHING_BUT_COUNTERS,
     "let its administrator set enable_profiling=1 for it"},
    {CUPTI, WMI_CUPTI_CONFIDENTIAL, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE,
     "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
     "the device computes in confidence, which forbids measuring", "switch confidential computing off"},
    {CUPTI, WMI_CUPTI_CMP, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
     "the device is made for mining (CMP) and cannot be measured", "measure on another GPU"},
    {CUPTI, WMI_CUPTI_MIG, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
     "the device is a part of a GPU (MIG) that cannot be measured", "measure on a whole GPU"},
    {CUPTI, WMI_CUPTI_SLI, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED",
     "the device is coupled with others (SLI)", "switch SLI off"},
    {CUPTI, WMI_CUPTI_WSL, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
     "this is Windows' Linux (WSL), where the device cannot be measured",
     "measure on Linux itself, or update the driver"},
    {CUPTI, 46, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, "CUPTI_ERROR_INVALID_CHIP_NAME",
     "this libcupti does not know the chip", "install a newer CUPTI"},
    {CUPTI, 999, WM_EIO, WM_REASON_BACKEND, "CUPTI_ERROR_UNKNOWN",
     "CUPTI does not say why; without a driver, newer ones say it to everything", "see what doctor says"},
};

const wmi_cuda_code *wmi_cuda_code_find(bool cupti, int code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].cupti == cupti && codes[i].code == code) return &codes[i];
    return NULL;
}

/* The library's own name of the code; NULL where it has none, or is not open. */
static const char *vendor_name(bool cupti, int code) {
    const char *name = NULL;
    if (cupti) {
        if (wmi_cupti_path()[0] && wmi_cupti.GetResultString((CUptiResult)code, &name) != CUPTI_SUCCESS)
            return NULL;
    } else {
        if (wmi_cuda_path()[0] && wmi_cuda.error_name((CUresult)code, &name) != CUDA_SUCCESS) return NULL;
    }
    return name;
}

static wm_status set_unknown(wm_error *err, bool cupti, int code, const char *what) {
    const char *name = vendor_name(cupti, code);
    if (name) return wmi_error_set(err, WM_EIO, code, "%.200s: %s (%d)", what, name, code);
    return wmi_error_set(err, WM_EIO, code, "%.200s: error %d of %s", what, code,
                         cupti ? "CUPTI" : "the driver");
}

wm_status wmi_cuda_error(wm_error *err, bool cupti, int code, const char *what) {
    const wmi_cuda_code *known = wmi_cuda_code_find(cupti, code);
    if (!known) return set_unknown(err, cupti, code, what);
    return wmi_error_set(err, known->status, code, "%.80s: %s (%s%s%s)", what, known->name, known->why,
                         known->remedy[0] ? "; " : "", known->remedy);
}

wm_reason wmi_cuda_reason(bool cupti, int code) {
    const wmi_cuda_code *known = wmi_cuda_code_find(cupti, code);
    return known ? known->reason : WM_REASON_BACKEND;
}
