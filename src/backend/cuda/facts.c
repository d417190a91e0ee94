#include <stdio.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/device.h"
#include "backend/cuda/nvidia_proc.h"

static wm_value hz(double x) { return x > 0 ? wmi_f64(x) : wmi_null(WM_REASON_UNKNOWN); }
static wm_value text(const char *s) { return *s ? wmi_str(s) : wmi_null(WM_REASON_UNKNOWN); }

/* The first device's keys have no number. */
static void add(const wmi_fact_list *list, size_t device, const char *what, wm_value value) {
    char key[48] = "gpu", number[24] = "";
    if (device > 0) snprintf(number, sizeof number, "_%zu", device + 1);
    snprintf(key, sizeof key, "gpu%s%s", number, what);
    list->add(list->user, key, value);
}

static void add_device(const wmi_fact_list *list, size_t i, const wmi_cuda_device *d) {
    add(list, i, "", text(d->name));
    add(list, i, "_uuid", text(d->uuid));
    add(list, i, "_chip", text(d->chip));
    add(list, i, "_rated_hz", hz(d->rated_hz));
    add(list, i, "_memory_rated_hz", hz(d->memory_rated_hz));
    add(list, i, "_memory_bytes",
        d->memory_bytes > 0 ? wmi_i64(d->memory_bytes) : wmi_null(WM_REASON_UNKNOWN));
}

void wmi_cuda_facts(const wmi_fact_list *list) {
    const wmi_cuda_device *devices;
    size_t count;
    char kernel[64] = "", cuda[24];
    wm_error ignored = WM_ERROR_INIT;
    if (wmi_cuda_devices(&devices, &count, &ignored) != WM_OK) return;
    for (size_t i = 0; i < count; i++) add_device(list, i, &devices[i]);
    (void)wmi_nvidia_version("", kernel, sizeof kernel);
    snprintf(cuda, sizeof cuda, "%d.%d", wmi_cuda_driver() / 1000, wmi_cuda_driver() % 1000 / 10);
    list->add(list->user, "gpu_driver", text(kernel));
    list->add(list->user, "gpu_driver_cuda", text(cuda));
    list->add(list->user, "cupti", text(wmi_cupti_version_text()));
}
