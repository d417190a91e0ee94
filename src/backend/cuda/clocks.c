#include "backend/cuda/clocks.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/cuda/clock_lock_file.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/met_contexts.h"
#include "backend/cuda/nvidia_proc.h"
#include "backend/cuda/nvml_dl.h"
#include "backend/cuda/sensors.h"

#define RIGHTS "run as root or with CAP_SYS_ADMIN; try:base goes on without"

#define PARTITIONED "the device is a part of a GPU (MIG), whose clocks are its neighbours' too"
#define WHOLE       "measure on a whole GPU"

enum { CLOCK_CONTROL_SINCE = 130400 };

/* What this process has locked. */
typedef struct held {
    const wmi_cuda_device *device;
    wmi_nvml_device handle; /* NULL: by CUPTI, which has one lock for the process */
    pid_t pid;              /* a child made by fork holds nothing */
} held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static held held_now[16];
static size_t held_count;
static bool at_exit;

/* ---- giving back ---- */

static wm_status release_locked(size_t index, wm_error *err) {
    const held h = held_now[index];
    int code = 0;
    if (h.pid != getpid()) {
        /* its parent's */
    } else if (h.handle) {
        code = wmi_nvml.reset_clocks(h.handle);
        if (code != WMI_NVML_SUCCESS) wmi_nvml_error(err, code, "nvmlDeviceResetGpuLockedClocks");
    } else {
        code = (int)wmi_cupti.ClockControlUnlock();
        if (code != (int)CUPTI_SUCCESS) wmi_cuda_error(err, true, code, "cuptiClockControlUnlock");
    }
    if (code != 0) return WM_EIO; /* tried again at the exit, and the file goes on saying so */
    held_now[index] = held_now[--held_count];
    wmi_clock_holder_release(h.device->uuid);
    return WM_OK;
}

static void release_all(void) {
    pthread_mutex_lock(&lock);
    for (size_t i = held_count; i-- > 0;) (void)release_locked(i, NULL);
    pthread_mutex_unlock(&lock);
}

bool wmi_clocks_unlock(const wmi_cuda_device *d, wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    wm_status status = WM_OK;
    pthread_mutex_lock(&lock);
    for (size_t i = held_count; i-- > 0;)
        if (held_now[i].device == d) status = release_locked(i, &why);
    pthread_mutex_unlock(&lock);
    if (status == WM_OK) return true;
    wmi_error_set(err, status, why.native_code,
                  "the clocks of %s could not be given back: %s; do it as root: nvidia-smi -i %s -rgc",
                  d->name, why.message, d->uuid);
    return false;
}

/* ---- the base clock, by CUPTI ---- */

static bool in_context_of(const wmi_cuda_device *d, CUcontext context) {
    CUcontext popped;
    CUdevice ordinal = -1;
    if (wmi_cuda.ctx_push(context) != CUDA_SUCCESS) return false;
    const bool told = wmi_cuda.ctx_device(&ordinal) == CUDA_SUCCESS;
    (void)wmi_cuda.ctx_pop(&popped);
    return told && ordinal == d->ordinal;
}

/* A context of the device that is there now: the calling thread's, or one that a launch was made in. */
static CUcontext context_of(const wmi_cuda_device *d) {
    CUcontext context = NULL;
    if (wmi_cuda.ctx_current(&context) == CUDA_SUCCESS && context && in_context_of(d, context))
        return context;
    for (size_t i = 0; i < wmi_met_contexts(); i++) {
        const wmi_cuda_context *met = wmi_met_context_at(i);
        if (met->device == d && !wmi_met_context_is_gone(i)) return met->handle;
    }
    return NULL;
}

static bool base_by_cupti(const wmi_cuda_device *d) {
    if (wmi_cupti_version() < CLOCK_CONTROL_SINCE || !wmi_cupti.ClockControlLock ||
        !wmi_cupti.ClockControlUnlock)
        return false;
    CUcontext context = context_of(d);
    return context && wmi_cupti.ClockControlLock(context, WMI_CUPTI_CLOCK_CONTROL_BASE) == CUPTI_SUCCESS;
}

/* ---- by NVML ---- */

static wm_status explain(int code, const char *what, wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    const wm_status status = wmi_nvml_error(&why, code, what);
    if (status == WM_EPERM)
        wmi_error_set(err, WM_EPERM, why.native_code, "clocks are for administrators to hold (%s); %s",
                      why.message, RIGHTS);
    else if (err)
        *err = why;
    return status;
}

static wm_status lock_by_nvml(wmi_nvml_device handle, unsigned mhz, wm_error *err) {
    if (!wmi_nvml.lock_clocks || !wmi_nvml.reset_clocks)
        return wmi_error_set(err, WM_EUNSUPPORTED, 0,
                             "NVIDIA's driver is too old to hold clocks; install a newer driver");
    const int code = wmi_nvml.lock_clocks(handle, mhz, mhz);
    return code == WMI_NVML_SUCCESS ? WM_OK : explain(code, "nvmlDeviceSetGpuLockedClocks", err);
}

static wm_status refuse_frequency(double mhz, double below, double above, wm_error *err) {
    char nearest[64];
    if (below > 0 && above < HUGE_VAL)
        snprintf(nearest, sizeof nearest, "%.0f MHz and %.0f MHz", below, above);
    else
        snprintf(nearest, sizeof nearest, "%.0f MHz", below > 0 ? below : above);
    return wmi_error_set(err, WM_EINVAL, 0, "the GPU has no clock of %.6g MHz: the nearest %s %s", mhz,
                         below > 0 && above < HUGE_VAL ? "are" : "is", nearest);
}

/* Is it one of those that the device has at its memory's clock? Where it does not say, the driver decides. */
static wm_status check_frequency(wmi_nvml_device handle, double mhz, wm_error *err) {
    unsigned memory = 0, count = 0;
    double below = 0, above = HUGE_VAL;
    if (!wmi_nvml.clock || !wmi_nvml.supported_clocks ||
        wmi_nvml.clock(handle, WMI_NVML_CLOCK_MEMORY, &memory) != WMI_NVML_SUCCESS)
        return WM_OK;
    const int size = wmi_nvml.supported_clocks(handle, memory, &count, NULL);
    if ((size != WMI_NVML_SUCCESS && size != WMI_NVML_INSUFFICIENT_SIZE) || count == 0) return WM_OK;
    unsigned *clocks = calloc(count, sizeof *clocks);
    if (!clocks) return wmi_error_nomem(err);
    const bool told = wmi_nvml.supported_clocks(handle, memory, &count, clocks) == WMI_NVML_SUCCESS;
    for (unsigned i = 0; told && i < count; i++) {
        if (clocks[i] <= mhz && clocks[i] > below) below = clocks[i];
        if (clocks[i] >= mhz && clocks[i] < above) above = clocks[i];
    }
    free(clocks);
    return !told || below == mhz || above == mhz ? WM_OK : refuse_frequency(mhz, below, above, err);
}

/* ---- locking ---- */

static bool is_partitioned(const wmi_cuda_device *d, wmi_nvml_device handle) {
    unsigned now = 0, later = 0;
    if (wmi_cuda_is_mig(d)) return true;
    return wmi_nvml.mig_mode && wmi_nvml.mig_mode(handle, &now, &later) == WMI_NVML_SUCCESS && now;
}

static wm_status refuse_mig(wm_error *err) {
    return wmi_error_set(err, WM_EUNSUPPORTED, 0, PARTITIONED "; " WHOLE);
}

static wm_status device_handle(const wmi_cuda_device *d, wmi_nvml_device *out, wm_error *err) {
    const wm_status status = wmi_nvml_load(err);
    if (status != WM_OK) return status;
    const int code = wmi_nvml_handle(d, out);
    if (code != WMI_NVML_SUCCESS) return explain(code, "nvmlDeviceGetHandleByUUID", err);
    return WM_OK;
}

/* Under the lock, and the file is ours. */
static wm_status hold_locked(const wmi_cuda_device *d, wmi_nvml_device handle, bool base, unsigned mhz,
                             wm_error *err) {
    if (held_count == sizeof held_now / sizeof *held_now)
        return wmi_error_set(err, WM_EUNSUPPORTED, 0, "clocks of too many devices are held");
    if (!at_exit && atexit(release_all) != 0) return wmi_error_nomem(err);
    at_exit = true;
    held h = {.device = d, .handle = handle, .pid = getpid()};
    if (base && base_by_cupti(d)) {
        h.handle = NULL;
    } else {
        const wm_status status = lock_by_nvml(handle, base ? WMI_NVML_LIMIT_TDP : mhz, err);
        if (status != WM_OK) return status;
    }
    held_now[held_count++] = h;
    return WM_OK;
}

wm_status wmi_clocks_lock(const wmi_cuda_device *d, const wmi_clock_request *request, double *held_hz,
                          wm_error *err) {
    const bool base = request->how == WMI_CLOCKS_BASE;
    const double mhz = request->hz / 1e6;
    char what[32] = "base";
    wmi_nvml_device handle = NULL;
    wm_status status = device_handle(d, &handle, err);
    if (status == WM_OK && is_partitioned(d, handle)) status = refuse_mig(err);
    if (status == WM_OK && !base) status = check_frequency(handle, mhz, err);
    if (status != WM_OK) return status;
    if (!base) snprintf(what, sizeof what, "%.0f MHz", mhz);
    pthread_mutex_lock(&lock);
    status = wmi_clock_holder_claim(d->uuid, what, err);
    if (status == WM_OK) {
        status = hold_locked(d, handle, base, (unsigned)(mhz + 0.5), err);
        if (status != WM_OK) wmi_clock_holder_release(d->uuid);
    }
    pthread_mutex_unlock(&lock);
    if (status == WM_OK) *held_hz = base ? 0 : request->hz;
    return status;
}

/* ---- doctor ---- */

static wm_reason say(char why[256], char remedy[256], wm_reason reason, const char *what, const char *to_do) {
    snprintf(why, 256, "%.255s", what);
    snprintf(remedy, 256, "%.255s", to_do);
    return reason;
}

wm_reason wmi_clocks_may_be_held(const wmi_cuda_device *d, char why[256], char remedy[256]) {
    wmi_nvml_device handle = NULL;
    wm_error error = WM_ERROR_INIT;
    const wm_status status = device_handle(d, &handle, &error);
    if (status != WM_OK) return say(why, remedy, WM_REASON_BACKEND, error.message, "");
    if (is_partitioned(d, handle)) return say(why, remedy, WM_REASON_NO_DEVICE, PARTITIONED, WHOLE);
    if (!wmi_nvml.lock_clocks || !wmi_nvml.reset_clocks)
        return say(why, remedy, WM_REASON_NO_DEVICE, "NVIDIA's driver is too old to hold clocks",
                   "install a newer driver");
    if (geteuid() != 0 && !wmi_nvidia_is_admin(""))
        return say(why, remedy, WM_REASON_PERMISSION,
                   "clocks are for administrators to hold, and this process is none",
                   "run as root or with CAP_SYS_ADMIN");
    return say(why, remedy, WM_REASON_NONE, "", "");
}
