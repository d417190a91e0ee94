#include "backend/cuda/nvml_dl.h"

#include "backend/cuda/cuda_dl.h"
#include "base/dl.h"

wmi_nvml_api wmi_nvml;

/* Set before the first load returns. */
static const char *_Atomic path;

/* ---- what codes mean ---- */

static wm_status status_of(int code) {
    switch (code) {
    case WMI_NVML_NO_PERMISSION: return WM_EPERM;
    case WMI_NVML_NOT_SUPPORTED:
    case WMI_NVML_NOT_FOUND:
    case WMI_NVML_DRIVER_NOT_LOADED:
    case WMI_NVML_FUNCTION_NOT_FOUND:
    case WMI_NVML_VERSION_MISMATCH: return WM_EUNSUPPORTED;
    default: return WM_EIO;
    }
}

wm_status wmi_nvml_error(wm_error *err, int code, const char *what) {
    const char *text = wmi_nvml.error_text ? wmi_nvml.error_text(code) : NULL;
    return wmi_error_set(err, status_of(code), code, "%.200s: %.200s (NVML's code %d)", what,
                         text ? text : "an unknown error", code);
}

wm_reason wmi_nvml_reason(int code) {
    switch (code) {
    case WMI_NVML_NOT_SUPPORTED:
    case WMI_NVML_NOT_FOUND:
    case WMI_NVML_ARGUMENT_VERSION_MISMATCH:
    case WMI_NVML_FUNCTION_NOT_FOUND: return WM_REASON_NO_SENSOR;
    case WMI_NVML_NO_PERMISSION: return WM_REASON_PERMISSION;
    case WMI_NVML_GPU_IS_LOST: return WM_REASON_DEVICE_LOST;
    default: return WM_REASON_BACKEND;
    }
}

/* ---- opening ---- */

static wm_status open_library(wm_error *err) {
#define NVML_ENTRY(member, symbol, type, optional) {symbol, (void **)(void *)&wmi_nvml.member, optional},
    static const wmi_dl_symbol symbols[] = {WMI_NVML_SYMBOLS(NVML_ENTRY)};
#undef NVML_ENTRY
    /* The bare name without a number is that of a toolkit's stub, which has no sensors. */
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static const wmi_dl_spec spec = {
        .what = "libnvidia-ml",
        .env = "WARPMETER_LIBNVML",
        .names = names,
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
        .remedy = "install NVIDIA's driver whole, or in a container let it have the driver's utilities",
    };
    void *handle = NULL;
    const char *where = NULL;
    const wm_status status = wmi_dl_open(&spec, &handle, &where, err);
    if (status == WM_OK) path = where;
    return status;
}

static wm_status load(wm_error *err) {
    const wm_status status = open_library(err);
    const int code = status == WM_OK ? wmi_nvml.init() : WMI_NVML_SUCCESS;
    return code == WMI_NVML_SUCCESS ? status : wmi_nvml_error(err, code, "nvmlInit_v2");
}

wm_status wmi_nvml_load(wm_error *err) {
    static wmi_dl_once once = WMI_DL_ONCE_INIT;
    const wm_status status = wmi_cuda_allowed(err);
    return status == WM_OK ? wmi_dl_open_once(&once, load, err) : status;
}

const char *wmi_nvml_path(void) {
    const char *where = path;
    return where ? where : "";
}
