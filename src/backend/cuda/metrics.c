/* The metrics of this backend: those made of records, and those of the chip. */
#include <fnmatch.h>
#include <string.h>

#include "backend/cuda/chip.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/device.h"

/* ---- those of records ---- */

static const struct {
    const char *name, *unit, *text;
    wmi_of_records of;
    wmi_combine combine;
} of_records[] = {
    {"kernel_time", "ns", "time of the kernels, added up", WMI_OF_KERNEL_TIME, WMI_COMBINE_SUM},
    {"kernel_union", "ns", "time in which at least one kernel ran", WMI_OF_KERNEL_UNION, WMI_COMBINE_SUM},
    {"kernel_count", "", "kernels", WMI_OF_KERNEL_COUNT, WMI_COMBINE_SUM},
    {"launch_latency", "ns", "from the call that launches a kernel to its start, on average",
     WMI_OF_LAUNCH_LATENCY, WMI_COMBINE_MEAN},
    {"kernel_gap", "ns", "time between the first kernel's start and the last one's end in which none ran",
     WMI_OF_KERNEL_GAP, WMI_COMBINE_SUM},
    {"first_kernel_time", "ns", "time of first launches, which the other metrics leave out",
     WMI_OF_FIRST_TIME, WMI_COMBINE_SUM},
    {"copy_time", "ns", "time of copies", WMI_OF_COPY_TIME, WMI_COMBINE_SUM},
    {"copy_bytes", "B", "bytes copied", WMI_OF_COPY_BYTES, WMI_COMBINE_SUM},
    {"memset_time", "ns", "time of memory sets", WMI_OF_SET_TIME, WMI_COMBINE_SUM},
    {"memset_bytes", "B", "bytes set", WMI_OF_SET_BYTES, WMI_COMBINE_SUM},
};
enum { RECORD_METRICS = sizeof of_records / sizeof of_records[0] };

static wmi_metric record_metric(size_t i) {
    const bool time = strcmp(of_records[i].unit, "ns") == 0;
    return (wmi_metric){.name = of_records[i].name,
                        .unit = of_records[i].unit,
                        .text = of_records[i].text,
                        .backend = "cuda",
                        .timer = time ? "cupti" : "",
                        .better = wmi_better_of_unit(of_records[i].unit),
                        .combine = of_records[i].combine,
                        .of = of_records[i].of};
}

static bool find_record_metric(const char *name, wmi_metric *out) {
    for (size_t i = 0; i < RECORD_METRICS; i++) {
        if (strcmp(of_records[i].name, name) != 0) continue;
        *out = record_metric(i);
        return true;
    }
    return false;
}

/* ---- the chip that is asked ---- */

/* The profiler's time of a kernel is about 1 us longer than its record: what goes before the first
 * block and after the last one is in it. */
static void set_time(wmi_metric *m) {
    static const char base[] = "gpu__time_duration.";
    if (strncmp(m->name, base, sizeof base - 1) != 0) return;
    m->timer = "profiler";
    if (!strcmp(m->name + sizeof base - 1, "avg")) m->combine = WMI_COMBINE_MEAN;
}

static wm_status first_device(const wmi_cuda_device **out, wm_error *err) {
    const wmi_cuda_device *devices = NULL;
    size_t count = 0;
    const wm_status s = wmi_cuda_devices(&devices, &count, err);
    if (s == WM_OK) *out = &devices[0];
    return s;
}

static wm_status device_chip(const wmi_cuda_device *d, wmi_chip **out, wm_error *err) {
    if (d->chip[0]) return wmi_chip_find(d->chip, out, err);
    const wm_status s = wmi_cupti_load(err);
    if (s != WM_OK) return s;
    return wmi_error_set(err, WM_EUNSUPPORTED, 0, "CUPTI %s does not say which chip the %s has",
                         wmi_cupti_version_text(), d->name);
}

/* *out is NULL where only metrics of records can be had. */
static wm_status chip_for(const char *chip, const char *name, bool of_chip, wmi_chip **out, wm_error *err) {
    if (chip) return wmi_chip_find(chip, out, err);
    wm_error why = WM_ERROR_INIT;
    const wmi_cuda_device *device = NULL;
    wm_status s = first_device(&device, &why);
    *out = NULL;
    if (s == WM_OK && of_chip) s = device_chip(device, out, &why);
    if (s == WM_OK) return WM_OK;
    /* A chip that this CUPTI does not know is no mistake in the name. */
    return wmi_error_set(err, s == WM_ENOMEM ? s : WM_EUNSUPPORTED, why.native_code,
                         "'%.100s' is measured on a GPU: %s", name, why.message);
}

wm_status wmi_cuda_describe(const char *chip, const char *name, wmi_metric *out, wm_error *err) {
    wmi_metric record;
    wmi_chip *asked = NULL;
    const bool of_records_alone = find_record_metric(name, &record);
    if (!of_records_alone && !strstr(name, "__"))
        return wmi_error_set(err, WM_ENOTFOUND, 0, "'%.100s' is no metric of a GPU", name);
    wm_status s = chip_for(chip, name, !of_records_alone, &asked, err);
    if (s != WM_OK) return s;
    if (of_records_alone) {
        *out = record;
        return WM_OK;
    }
    s = wmi_chip_metric(asked, name, out, err);
    if (s == WM_OK) set_time(out);
    if (s != WM_ENOTFOUND) return s;
    if (err) err->code = WM_EINVAL;
    return WM_EINVAL;
}

/* ---- listing ---- */

typedef struct listing {
    const wmi_metric_list *to;
    const char *why_not; /* NULL: they can be had */
} listing;

static wm_status add(void *user, const wmi_metric *m, bool available, const char *why_not) {
    const listing *l = user;
    wmi_metric own = *m;
    (void)available;
    (void)why_not;
    set_time(&own);
    return l->to->add(l->to->user, &own, !l->why_not, l->why_not ? l->why_not : "");
}

static wm_status list_records(const char *pattern, const wmi_metric_list *list, const char *why_not,
                              wm_error *err) {
    listing l = {list, why_not};
    wm_status s = WM_OK;
    for (size_t i = 0; i < RECORD_METRICS && s == WM_OK; i++) {
        const wmi_metric m = record_metric(i);
        if (!pattern || fnmatch(pattern, m.name, 0) == 0) s = add(&l, &m, true, "");
    }
    return s == WM_ENOMEM ? wmi_error_nomem(err) : s;
}

static wm_status list_chip(wmi_chip *chip, const char *pattern, const wmi_metric_list *list,
                           const char *why_not, wm_error *err) {
    listing l = {list, why_not};
    const wmi_metric_list own = {&l, add};
    return wmi_chip_list(chip, pattern, &own, err);
}

/* What this machine has: without a device the names are there, and the reason. */
static wm_status list_here(const char *pattern, const wmi_metric_list *list, wm_error *err) {
    const wmi_cuda_device *device = NULL;
    wmi_chip *chip = NULL;
    wm_error why = WM_ERROR_INIT;
    wm_status s = first_device(&device, &why);
    if (s == WM_ENOMEM) return wmi_error_nomem(err);
    if (s == WM_OK) s = wmi_cupti_load(&why);
    const wm_status listed = list_records(pattern, list, s == WM_OK ? NULL : why.message, err);
    if (listed != WM_OK || s != WM_OK) return listed;
    s = device_chip(device, &chip, &why);
    if (s != WM_OK) return s == WM_ENOMEM ? wmi_error_nomem(err) : WM_OK; /* doctor says why */
    char reason[256] = "";
    const bool counts = wmi_cuda_profiling(device, reason, NULL) == WM_REASON_NONE;
    return list_chip(chip, pattern, list, counts ? NULL : reason, err);
}

wm_status wmi_cuda_list(const char *chip, const char *pattern, const wmi_metric_list *list, wm_error *err) {
    if (!chip) return list_here(pattern, list, err);
    wmi_chip *asked = NULL;
    wm_status s = wmi_chip_find(chip, &asked, err);
    if (s == WM_OK) s = list_records(pattern, list, NULL, err);
    return s == WM_OK ? list_chip(asked, pattern, list, NULL, err) : s;
}
