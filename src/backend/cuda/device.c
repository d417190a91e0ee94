#include "backend/cuda/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/cuda/codes.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "base/intern.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock until found; constant after. */
static wmi_cuda_device *devices;
static size_t device_count;

/* ---- finding ---- */

static void read_uuid(wmi_cuda_device *d, CUdevice handle) {
    CUuuid id;
    if (!wmi_cuda.device_uuid || wmi_cuda.device_uuid(&id, handle) != CUDA_SUCCESS) return;
    /* Of a part of a GPU (MIG) it is the part's own. */
    int n = snprintf(d->uuid, sizeof d->uuid, "%s", wmi_cuda_is_mig(d) ? "MIG" : "GPU");
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        n += snprintf(d->uuid + n, sizeof d->uuid - (size_t)n, dash ? "-%02x" : "%02x",
                      (unsigned char)id.bytes[i]);
    }
}

static int attribute(CUdevice handle, CUdevice_attribute which) {
    int value = 0;
    return wmi_cuda.device_attribute(&value, which, handle) == CUDA_SUCCESS ? value : 0;
}

static void read_attributes(wmi_cuda_device *d, CUdevice handle) {
    size_t memory = 0;
    d->major = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    d->minor = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    d->multiprocessors = attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    d->l2_bytes = attribute(handle, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    d->rated_hz = 1e3 * attribute(handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    d->memory_rated_hz = 1e3 * attribute(handle, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    d->compute_mode = attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    d->concurrent_managed = attribute(handle, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
    if (wmi_cuda.device_memory && wmi_cuda.device_memory(&memory, handle) == CUDA_SUCCESS)
        d->memory_bytes = (int64_t)memory;
}

static void read_chip(wmi_cuda_device *d) {
    CUpti_Device_GetChipName_Params p;
    memset(&p, 0, sizeof p);
    p.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    p.deviceIndex = (size_t)d->ordinal;
    if (wmi_cupti.DeviceGetChipName(&p) == CUPTI_SUCCESS && p.pChipName)
        snprintf(d->chip, sizeof d->chip, "%s", p.pChipName);
}

static wm_status read_device(wmi_cuda_device *d, int ordinal, wm_error *err) {
    CUdevice handle = 0;
    d->ordinal = ordinal;
    CUresult code = wmi_cuda.device_get(&handle, ordinal);
    if (code == CUDA_SUCCESS) code = wmi_cuda.device_name(d->name, (int)sizeof d->name, handle);
    if (code != CUDA_SUCCESS) return wmi_cuda_error(err, false, (int)code, "a device cannot be asked");
    d->name[sizeof d->name - 1] = '\0';
    read_uuid(d, handle);
    read_attributes(d, handle);
    return WM_OK;
}

/* The profiler must be started before a chip has a name. */
static void read_chips(wmi_cuda_device *found, size_t count) {
    CUpti_Profiler_Initialize_Params p;
    memset(&p, 0, sizeof p);
    p.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    if (wmi_cupti_load(NULL) != WM_OK || wmi_cupti.ProfilerInitialize(&p) != CUPTI_SUCCESS) return;
    for (size_t i = 0; i < count; i++) read_chip(&found[i]);
}

static bool is_one_of_several(const wmi_cuda_device *found, size_t count, size_t i) {
    for (size_t k = 0; k < count; k++)
        if (k != i && strcmp(found[k].name, found[i].name) == 0) return true;
    return false;
}

static wm_status label(wmi_cuda_device *found, size_t count, wm_error *err) {
    for (size_t i = 0; i < count; i++) {
        char text[sizeof found->name + 16];
        if (is_one_of_several(found, count, i))
            snprintf(text, sizeof text, "%s (%d)", found[i].name, found[i].ordinal);
        else
            snprintf(text, sizeof text, "%s", found[i].name);
        found[i].label = wmi_intern(text);
        if (!found[i].label) return wmi_error_nomem(err);
    }
    return WM_OK;
}

static wm_status find_locked(wm_error *err) {
    int count = 0;
    CUresult code = wmi_cuda.device_count(&count);
    if (code != CUDA_SUCCESS) return wmi_cuda_error(err, false, (int)code, "devices cannot be counted");
    wmi_cuda_device *found = calloc((size_t)count, sizeof *found);
    if (!found) return wmi_error_nomem(err);
    wm_status status = WM_OK;
    for (int i = 0; i < count && status == WM_OK; i++) status = read_device(&found[i], i, err);
    if (status == WM_OK) read_chips(found, (size_t)count);
    if (status == WM_OK) status = label(found, (size_t)count, err);
    if (status == WM_OK) {
        devices = found;
        device_count = (size_t)count;
    } else {
        free(found);
    }
    return status;
}

wm_status wmi_cuda_devices(const wmi_cuda_device **out, size_t *count, wm_error *err) {
    wm_status status = wmi_cuda_load(err);
    if (status != WM_OK) return status;
    pthread_mutex_lock(&lock);
    if (!devices) status = find_locked(err);
    if (status == WM_OK) {
        *out = devices;
        *count = device_count;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

bool wmi_cuda_is_mig(const wmi_cuda_device *d) { return strstr(d->name, " MIG ") != NULL; }

/* ---- what allows and forbids counters ---- */

static wm_reason say(char why[256], char remedy[256], wm_reason reason, const char *what, const char *to_do) {
    if (why) snprintf(why, 256, "%.255s", what);
    if (remedy) snprintf(remedy, 256, "%.255s", to_do);
    return reason;
}

/* As if CUPTI had refused with that code. */
static wm_reason say_refusal(char why[256], char remedy[256], const char *flag, int code) {
    const wmi_cuda_code *known = wmi_cuda_code_find(true, code);
    char text[256];
    snprintf(text, sizeof text, "%s (CUPTI's flag %s)", known->why, flag);
    return say(why, remedy, known->reason, text, known->remedy);
}

static bool forbids(CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
}

static wm_reason say_flag(const wmi_cuda_device *d, const CUpti_Profiler_DeviceSupported_Params *p,
                          char why[256], char remedy[256]) {
    bool switched_off = p->vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED;
    if (forbids(p->wsl)) return say_refusal(why, remedy, "wsl", WMI_CUPTI_WSL);
    if (forbids(p->vGpu))
        return say_refusal(why, remedy, "vGpu", switched_off ? WMI_CUPTI_VGPU_OFF : WMI_CUPTI_VGPU);
    if (forbids(p->confidentialCompute))
        return say_refusal(why, remedy, "confidentialCompute", WMI_CUPTI_CONFIDENTIAL);
    if (forbids(p->cmp)) return say_refusal(why, remedy, "cmp", WMI_CUPTI_CMP);
    if (forbids(p->sli)) return say_refusal(why, remedy, "sli", WMI_CUPTI_SLI);
    if (forbids(p->architecture))
        return say(why, remedy, WM_REASON_NO_DEVICE,
                   "the device is older than the interface of its counters (CUPTI's flag architecture)",
                   "measure on a GPU of compute capability 7.5 or higher");
    if (wmi_cuda_is_mig(d)) return say_refusal(why, remedy, "isSupported", WMI_CUPTI_MIG);
    return say(why, remedy, WM_REASON_NO_DEVICE,
               "CUPTI says that the device is not supported, and none of its flags says why",
               "install a newer driver and CUPTI");
}

static wm_reason say_code(char why[256], char remedy[256], bool cupti, int code, const char *what) {
    const wmi_cuda_code *known = wmi_cuda_code_find(cupti, code);
    wm_error error = WM_ERROR_INIT;
    if (known) return say(why, remedy, known->reason, known->why, known->remedy);
    wmi_cuda_error(&error, cupti, code, what);
    return say(why, remedy, wmi_cuda_reason(cupti, code), error.message, "");
}

wm_reason wmi_cuda_profiling(const wmi_cuda_device *d, char why[256], char remedy[256]) {
    wm_error error = WM_ERROR_INIT;
    if (wmi_cupti_load(&error) != WM_OK) return say(why, remedy, WM_REASON_BACKEND, error.message, "");
    CUpti_Profiler_DeviceSupported_Params p;
    memset(&p, 0, sizeof p);
    p.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
    p.api = CUPTI_PROFILER_RANGE_PROFILING;
    CUresult code = wmi_cuda.device_get(&p.cuDevice, d->ordinal);
    if (code != CUDA_SUCCESS) return say_code(why, remedy, false, (int)code, "cuDeviceGet");
    CUptiResult answer = wmi_cupti.ProfilerDeviceSupported(&p);
    if (answer != CUPTI_SUCCESS)
        return say_code(why, remedy, true, (int)answer, "cuptiProfilerDeviceSupported");
    if (p.isSupported >= CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return say(why, remedy, WM_REASON_NONE, "", "");
    return say_flag(d, &p, why, remedy);
}

bool wmi_cuda_mps(void) {
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    char path[4096];
    struct stat st;
    if (!folder || !*folder) folder = "/tmp/nvidia-mps";
    if (snprintf(path, sizeof path, "%s/control", folder) >= (int)sizeof path) return false;
    return stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}
