#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/cuda/codes.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/device.h"
#include "backend/cuda/nvidia_proc.h"
#include "backend/cuda/probe.h"
#include "base/text.h"

static void add_absent(wmi_probe *out, const char *item, const char *reason, const char *remedy) {
    wmi_probe_add(out, "cuda", item, WMI_STATE_ABSENT, reason, remedy, "%s", "");
}

/* A message that has a remedy has it after the first semicolon. */
static void add_message(wmi_probe *out, const char *item, const char *message) {
    const char *semicolon = strstr(message, "; ");
    char reason[256];
    size_t n = semicolon ? (size_t)(semicolon - message) : strlen(message);
    if (n >= sizeof reason) n = sizeof reason - 1;
    memcpy(reason, message, n);
    reason[n] = '\0';
    add_absent(out, item, reason, semicolon ? semicolon + 2 : "");
}

/* What wmi_cuda_error has put together is taken apart again, for the remedy has a field of its own. */
static void add_failure(wmi_probe *out, const char *item, const wm_error *why, bool cupti) {
    const wmi_cuda_code *known = wmi_cuda_code_find(cupti, why->native_code);
    char text[sizeof why->message];
    if (why->code == WM_ENOMEM) {
        out->failed = true;
    } else if (known && strstr(why->message, known->why)) {
        snprintf(text, sizeof text, "%s: %s", known->name, known->why);
        add_absent(out, item, text, known->remedy);
    } else {
        add_message(out, item, why->message);
    }
}

/* Times and counters do without it. */
static void add_nvml_failure(wmi_probe *out, const wm_error *why) {
    if (why->code == WM_ENOMEM)
        out->failed = true;
    else
        add_message(out, "libnvidia-ml", why->message);
}

/* ---- libraries ---- */

static void probe_libcuda(wmi_probe *out, const wm_error *why) {
    char kernel[64];
    int version = wmi_cuda_driver();
    if (why->code != WM_OK) {
        add_failure(out, "libcuda", why, false);
        return;
    }
    bool told = wmi_nvidia_version("", kernel, sizeof kernel);
    wmi_probe_add(out, "cuda", "libcuda", WMI_STATE_OK, "", "", "CUDA %d.%d%s%s (%s)", version / 1000,
                  version % 1000 / 10, told ? ", driver " : "", kernel, wmi_cuda_path());
}

static void probe_libcupti(wmi_probe *out) {
    int driver = wmi_cuda_driver() / 1000;
    uint32_t cupti = wmi_cupti_version() / 10000; /* 0 before 13, whose drivers run older ones too */
    bool newer = driver > 0 && cupti > (uint32_t)driver;
    wmi_probe_add(out, "cuda", "libcupti", newer ? WMI_STATE_LIMITED : WMI_STATE_OK,
                  newer ? "it is newer than the driver, and may not start on a device" : "",
                  newer ? "install a newer driver, or the CUPTI of the driver's CUDA version" : "", "%s (%s)",
                  wmi_cupti_version_text(), wmi_cupti_path());
}

static bool stat_folder_of(const char *file, struct stat *st) {
    char folder[4096];
    const char *slash = strrchr(file, '/');
    return slash &&
           snprintf(folder, sizeof folder, "%.*s", (int)(slash - file + 1), file) < (int)sizeof folder &&
           stat(folder, st) == 0;
}

/* Folders have several names: lib64 is often a link. */
static bool in_one_folder(const char *a, const char *b) {
    struct stat one, other;
    return stat_folder_of(a, &one) && stat_folder_of(b, &other) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static void probe_nvperf(wmi_probe *out) {
    const char *path = wmi_nvperf_path();
    if (!path[0])
        add_absent(out, "libnvperf_host", "it was not found beside libcupti nor elsewhere; counters need it",
                   "install libcupti and it from one package");
    else if (!in_one_folder(path, wmi_cupti_path()))
        wmi_probe_add(out, "cuda", "libnvperf_host", WMI_STATE_LIMITED,
                      "it is not the one beside libcupti; where their versions differ counters fail",
                      "see that nothing else opens or preloads it, and that LD_LIBRARY_PATH names no other",
                      "%s", path);
    else
        wmi_probe_add(out, "cuda", "libnvperf_host", WMI_STATE_OK, "", "", "%s", path);
}

/* ---- devices ---- */

static void probe_counters(wmi_probe *out, const wmi_cuda_device *d) {
    char why[256], remedy[256];
    if (wmi_cuda_profiling(d, why, remedy) == WM_REASON_NONE)
        wmi_probe_add(out, "cuda", "counters", WMI_STATE_OK, "", "", "%d: can be had", d->ordinal);
    else
        wmi_probe_add(out, "cuda", "counters", WMI_STATE_ABSENT, why, remedy, "%d", d->ordinal);
}

static void probe_device(wmi_probe *out, const wmi_cuda_device *d) {
    static const int64_t mib = 1024 * 1024;
    wmi_probe_add(out, "cuda", "device", WMI_STATE_OK, "", "",
                  "%d: %s, %s, compute capability %d.%d, %d multiprocessors, L2 %lld MiB, memory %lld MiB",
                  d->ordinal, d->name, d->chip[0] ? d->chip : "chip unknown", d->major, d->minor,
                  d->multiprocessors, (long long)(d->l2_bytes / mib), (long long)(d->memory_bytes / mib));
}

static void probe_devices(wmi_probe *out, bool counters, bool nvml) {
    const wmi_cuda_device *devices;
    size_t count;
    wm_error why = WM_ERROR_INIT;
    if (wmi_cuda_devices(&devices, &count, &why) != WM_OK) {
        add_failure(out, "device", &why, false);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        probe_device(out, &devices[i]);
        if (counters) probe_counters(out, &devices[i]);
        if (nvml) wmi_cuda_probe_state(out, &devices[i]);
    }
}

/* ---- rights and company ---- */

static void probe_rights(wmi_probe *out) {
    switch (wmi_nvidia_counter_rights("")) {
    case WMI_RIGHTS_UNKNOWN: break;
    case WMI_RIGHTS_ALL:
        wmi_probe_add(out, "cuda", "permission", WMI_STATE_OK, "", "", "counters are for everybody");
        break;
    case WMI_RIGHTS_ADMIN:
        wmi_probe_add(out, "cuda", "permission", WMI_STATE_OK, "", "",
                      "counters are for administrators, and this process has CAP_SYS_ADMIN");
        break;
    case WMI_RIGHTS_NONE:
        wmi_probe_add(
            out, "cuda", "permission", WMI_STATE_LIMITED,
            "the driver keeps counters for administrators (RmProfilingAdminOnly: 1), and this process lacks "
            "CAP_SYS_ADMIN; kernel times need no permission",
            WMI_CUDA_ALLOW_COUNTERS, "%s", "");
        break;
    }
}

static void probe_mps(wmi_probe *out) {
    if (wmi_cuda_mps())
        wmi_probe_add(out, "cuda", "sharing", WMI_STATE_LIMITED,
                      "other processes may share the device, and counters count their work too",
                      "echo quit | nvidia-cuda-mps-control", "a multiprocess service (MPS)");
    else
        wmi_probe_add(out, "cuda", "sharing", WMI_STATE_OK, "", "", "no multiprocess service (MPS)");
}

void wmi_cuda_probe(wmi_probe *out) {
    wm_error why = WM_ERROR_INIT, cupti_why = WM_ERROR_INIT;
    if (wmi_cuda_allowed(&why) != WM_OK) {
        add_absent(out, "switch", why.message, "unset WARPMETER_CUDA");
        return;
    }
    bool driver = wmi_cuda_load(&why) == WM_OK;
    bool cupti = wmi_cupti_load(&cupti_why) == WM_OK;
    probe_libcuda(out, &why);
    if (cupti) {
        probe_libcupti(out);
        probe_nvperf(out);
    } else {
        add_failure(out, "libcupti", &cupti_why, true);
    }
    if (!driver) return;
    wm_error nvml_why = WM_ERROR_INIT;
    const bool nvml = wmi_cuda_probe_nvml(out, &nvml_why);
    if (!nvml) add_nvml_failure(out, &nvml_why);
    probe_devices(out, cupti, nvml);
    probe_rights(out);
    probe_mps(out);
}
