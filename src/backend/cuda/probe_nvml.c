/* What doctor tells of NVML: its library, the sensors of each device, and whether clocks can be held. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/clock_lock_file.h"
#include "backend/cuda/clocks.h"
#include "backend/cuda/probe.h"
#include "backend/cuda/sensors.h"

static void probe_library(wmi_probe *out) {
    char nvml[96] = "", driver[96] = "";
    const bool versions = wmi_nvml.nvml_version && wmi_nvml.driver_version &&
                          wmi_nvml.nvml_version(nvml, sizeof nvml) == WMI_NVML_SUCCESS &&
                          wmi_nvml.driver_version(driver, sizeof driver) == WMI_NVML_SUCCESS;
    if (versions)
        wmi_probe_add(out, "cuda", "libnvidia-ml", WMI_STATE_OK, "", "", "NVML %s, driver %s (%s)", nvml,
                      driver, wmi_nvml_path());
    else
        wmi_probe_add(out, "cuda", "libnvidia-ml", WMI_STATE_OK, "", "", "version unknown (%s)",
                      wmi_nvml_path());
}

/* The name without the prefix that all have. */
static const char *short_name(int sensor) { return wmi_sensor_name((wmi_sensor)sensor) + strlen("gpu_"); }

static void add_name(char *list, size_t size, int sensor) {
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", short_name(sensor));
}

/* "energy_j, pstate: the text of the reason; …", for the sensors that have no value. */
static void tell_reasons(const wmi_sensed *s, char *out, size_t size) {
    for (int reason = 1; reason <= UINT8_MAX; reason++) {
        char names[160] = "";
        for (int i = 0; i < WMI_SENSOR_COUNT; i++)
            if (WMI_CUDA_SENSORS >> i & 1 && s->reason[i] == reason) add_name(names, sizeof names, i);
        const size_t n = strlen(out);
        if (names[0] && n < size)
            snprintf(out + n, size - n, "%s%s: %s", n ? "; " : "", names, wm_reason_text((wm_reason)reason));
    }
}

static void probe_sensors(wmi_probe *out, const wmi_cuda_device *d) {
    wmi_cuda_sensors sensors = {.watched = d->ordinal};
    wmi_sensed s;
    char names[200] = "", reasons[256] = "";
    wmi_sensed_clear(&s, WM_REASON_NO_SENSOR);
    wmi_cuda_sense(&sensors, WMI_CUDA_SENSORS, &s);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (WMI_CUDA_SENSORS >> i & 1 && !s.reason[i]) add_name(names, sizeof names, i);
    tell_reasons(&s, reasons, sizeof reasons);
    const wmi_state state = !reasons[0] ? WMI_STATE_OK : names[0] ? WMI_STATE_LIMITED : WMI_STATE_ABSENT;
    wmi_probe_add(out, "cuda", "sensors", state, reasons, "", "%d%s%s", d->ordinal, names[0] ? ": " : "",
                  names);
}

static void probe_clocks(wmi_probe *out, const wmi_cuda_device *d) {
    char why[256], remedy[256];
    const wm_reason reason = wmi_clocks_may_be_held(d, why, remedy);
    const wmi_state state = !reason                          ? WMI_STATE_OK
                            : reason == WM_REASON_PERMISSION ? WMI_STATE_LIMITED
                                                             : WMI_STATE_ABSENT;
    wmi_probe_add(out, "cuda", "clocks", state, why, remedy, "%d%s", d->ordinal,
                  reason ? "" : ": may be held");
}

/* Only where there is one. */
static void probe_lock(wmi_probe *out, const wmi_cuda_device *d) {
    wmi_clock_holder h;
    char why[256], remedy[256] = "";
    wmi_clock_holder_find(d->uuid, &h);
    if (h.state == WMI_CLOCKS_NOBODYS) return;
    if (h.state == WMI_CLOCKS_LEFT_BEHIND) {
        snprintf(why, sizeof why, "process %lld, which is gone, left the clocks held at %s", h.pid, h.what);
        snprintf(remedy, sizeof remedy,
                 "as root run 'nvidia-smi -i %s -rgc', or measure with --lock-clocks, which gives them back",
                 d->uuid);
    } else {
        snprintf(why, sizeof why, "process %lld holds the clocks, at %s", h.pid, h.what);
    }
    wmi_probe_add(out, "cuda", "clock lock", WMI_STATE_LIMITED, why, remedy, "%d: %s", d->ordinal, h.what);
}

bool wmi_cuda_probe_nvml(wmi_probe *out, wm_error *why) {
    if (wmi_nvml_load(why) != WM_OK) return false;
    probe_library(out);
    return true;
}

void wmi_cuda_probe_state(wmi_probe *out, const wmi_cuda_device *d) {
    probe_sensors(out, d);
    probe_clocks(out, d);
    probe_lock(out, d);
}
