#include "backend/cuda/cuda_dl.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/dl.h"

wmi_cuda_api wmi_cuda;

/* Set before the first load returns. */
static const char *_Atomic path;
static _Atomic int driver;

wm_status wmi_cuda_allowed(wm_error *err) {
    const char *wish = getenv("WARPMETER_CUDA");
    if (!wish || !*wish || strcmp(wish, "on") == 0) return WM_OK;
    if (strcmp(wish, "off") == 0)
        return wmi_error_set(err, WM_EUNSUPPORTED, 0, "CUDA is switched off: WARPMETER_CUDA is off");
    return wmi_error_set(err, WM_EINVAL, 0, "WARPMETER_CUDA takes on or off, not '%.100s'", wish);
}

static wm_status open_library(wm_error *err) {
#define CUDA_ENTRY(member, symbol, type, optional) {symbol, (void **)(void *)&wmi_cuda.member, optional},
    static const wmi_dl_symbol symbols[] = {WMI_CUDA_SYMBOLS(CUDA_ENTRY)};
#undef CUDA_ENTRY
    /* The second is what toolkits call their stub: a program that was to be linked, not run, with it gets
     * the stub's own error. */
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
    static const wmi_dl_spec spec = {
        .what = "libcuda",
        .env = "WARPMETER_LIBCUDA",
        .names = names,
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
        .remedy = "install NVIDIA's driver, or in a container let it have the GPUs",
    };
    void *handle = NULL;
    const char *where = NULL;
    wm_status status = wmi_dl_open(&spec, &handle, &where, err);
    if (status == WM_OK) path = where;
    return status;
}

static wm_status no_device(wm_error *err) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (!visible) return wmi_cuda_error(err, false, CUDA_ERROR_NO_DEVICE, "cuInit");
    return wmi_error_set(err, WM_EUNSUPPORTED, CUDA_ERROR_NO_DEVICE,
                         "cuInit: CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is '%.100s' and leaves no "
                         "device; unset it, or name one that nvidia-smi -L lists",
                         visible);
}

static wm_status initialise(wm_error *err) {
    int version = 0, count = 0;
    if (wmi_cuda.driver_version(&version) == CUDA_SUCCESS) driver = version;
    CUresult code = wmi_cuda.init(0);
    if (code == CUDA_SUCCESS) code = wmi_cuda.device_count(&count);
    if (code == CUDA_ERROR_NO_DEVICE || (code == CUDA_SUCCESS && count == 0)) return no_device(err);
    return code == CUDA_SUCCESS ? WM_OK : wmi_cuda_error(err, false, (int)code, "cuInit");
}

static wm_status load(wm_error *err) {
    const wm_status status = open_library(err);
    return status == WM_OK ? initialise(err) : status;
}

wm_status wmi_cuda_load(wm_error *err) {
    static wmi_dl_once once = WMI_DL_ONCE_INIT;
    const wm_status status = wmi_cuda_allowed(err);
    return status == WM_OK ? wmi_dl_open_once(&once, load, err) : status;
}

const char *wmi_cuda_path(void) {
    const char *where = path;
    return where ? where : "";
}

int wmi_cuda_driver(void) { return driver; }
