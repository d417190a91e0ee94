#include "table/device.h"

#include <math.h>

#include "base/intern.h"

/* Beyond this share the passes do not tell of the same work any more. Where counters are read a kernel's
 * time holds up to 1.5 us more: what goes before its first block and after its last one. */
static const double ratio_noted = 0.05, more_ns = 1500;

/* The text of a buffer, or a null when nothing was added to it. */
static wm_value text_of(const wmi_buf *b, wm_reason why) { return b->len ? wmi_str(b->data) : wmi_null(why); }

/* ---- what the device did ---- */

static wm_value kernel_names(const wmi_work *w, wmi_buf *b) {
    for (uint32_t i = 0; i < w->name_count && i < WMI_WORK_NAMES; i++)
        wmi_buf_printf(b, "%s%s", i ? ", " : "", wmi_intern_name(w->names[i]));
    if (w->name_count > WMI_WORK_NAMES) wmi_buf_printf(b, " and %u more", w->name_count - WMI_WORK_NAMES);
    return text_of(b, WM_REASON_NO_KERNEL);
}

static wm_value device_of(const wmi_work *w) {
    if (w->devices_differ) return wmi_str("several");
    return w->device ? wmi_str(wmi_intern_name(w->device)) : wmi_null(WM_REASON_NOT_APPLICABLE);
}

static wm_value pass_time_ratio(const wmi_work *w) {
    if (w->clean_runs == 0 || w->counter_runs == 0 || !(w->clean_ns > 0) || !(w->counter_ns > 0))
        return wmi_null(WM_REASON_NOT_APPLICABLE);
    return wmi_f64(w->counter_ns / (double)w->counter_runs / (w->clean_ns / (double)w->clean_runs));
}

static wm_value note_of(const wmi_work *w, wm_value ratio, wmi_buf *b) {
    const double change = ratio.type == WM_F64 ? ratio.as.f64 - 1 : 0;
    const double ns = change * w->clean_ns / (double)(w->clean_runs ? w->clean_runs : 1);
    const double kernels = w->clean_runs ? (double)w->kernels / (double)w->clean_runs : 1;
    if (w->shared) wmi_buf_str(b, "other processes may share the device, and counters count theirs too");
    if (fabs(change) > ratio_noted && !(ns > 0 && ns <= more_ns * kernels))
        wmi_buf_printf(b, "%skernel time was %.0f %% %s in the passes that read counters", b->len ? "; " : "",
                       fabs(change) * 100, change > 0 ? "longer" : "shorter");
    return text_of(b, WM_REASON_NOT_APPLICABLE);
}

static void fill(const wmi_work *w, wmi_device_cells *c) {
    c->kernel = kernel_names(w, &c->kernel_text);
    c->kernels = wmi_i64((int64_t)w->kernels);
    c->shared = wmi_bool(w->shared);
    c->device = device_of(w);
    if (w->clock_weight > 0) {
        c->sm_clock_hz = wmi_f64(w->clock_sum / w->clock_weight);
        c->sm_clock_pass = wmi_i64(w->clock_pass);
    }
    c->pass_time_ratio = pass_time_ratio(w);
    c->note = note_of(w, c->pass_time_ratio, &c->note_text);
}

/* ---- what bounds the region ---- */

static void judge(double compute, double memory, double latency_below, wmi_buf *b) {
    if (compute < latency_below && memory < latency_below)
        wmi_buf_printf(b, "latency-bound: compute %.1f %%, memory %.1f %% (neither near its peak)", compute,
                       memory);
    else if (compute >= memory)
        wmi_buf_printf(b, "compute-bound: %.1f %% of peak, memory %.1f %%", compute, memory);
    else
        wmi_buf_printf(b, "memory-bound: %.1f %% of peak, compute %.1f %%", memory, compute);
}

/* The reason for a null is that of a metric that was asked for and has no value. */
static wm_value bound_of(const wmi_samples *samples, const wmi_region *r, const wmi_label *labels,
                         size_t count, wmi_buf *b) {
    wm_reason why = WM_REASON_NOT_APPLICABLE;
    for (size_t i = 0; i < count; i++) {
        const wmi_row *compute = wmi_region_find(samples, r, labels[i].compute);
        const wmi_row *memory = wmi_region_find(samples, r, labels[i].memory);
        if (compute && memory && compute->has_value && memory->has_value) {
            judge(compute->summary.mean, memory->summary.mean, labels[i].latency_below, b);
            break;
        }
        if (compute && !compute->has_value) why = compute->why;
        if (memory && !memory->has_value) why = memory->why;
    }
    return text_of(b, why);
}

/* ---- both ---- */

wm_status wmi_device_cells_make(const wmi_samples *samples, const wmi_region *region, const wmi_label *labels,
                                size_t label_count, wmi_device_cells *out) {
    const wm_value none = wmi_null(WM_REASON_NOT_APPLICABLE);
    wmi_device_cells c = {none, none, none, none,         none,         none,
                          none, none, none, WMI_BUF_INIT, WMI_BUF_INIT, WMI_BUF_INIT};
    const wmi_work *work = wmi_samples_work_of(samples, region->config, region->node);
    if (work) fill(work, &c);
    c.bound = bound_of(samples, region, labels, label_count, &c.bound_text);
    if (c.kernel_text.failed || c.note_text.failed || c.bound_text.failed) {
        wmi_device_cells_fini(&c);
        return WM_ENOMEM;
    }
    *out = c;
    return WM_OK;
}

void wmi_device_cells_fini(wmi_device_cells *c) {
    wmi_buf_free(&c->kernel_text);
    wmi_buf_free(&c->note_text);
    wmi_buf_free(&c->bound_text);
}
