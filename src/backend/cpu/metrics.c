#include <fnmatch.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/pfm_dl.h"
#include "base/clock.h"
#include "base/intern.h"

static const wmi_metric own_metrics[] = {
    {.name = "time", .unit = "ns", .text = "wall time; entries that overlap count once"},
    {.name = "time_sum", .unit = "ns", .text = "wall time added up over entries and threads"},
    {.name = "cpu_time", .unit = "ns", .text = "processor time of the threads that entered"},
};
enum { OWN_COUNT = sizeof own_metrics / sizeof own_metrics[0], OWN_CLOCK_COUNT = 2 };

static bool find_own(const char *name, wmi_cpu_kind *kind, wmi_metric *out) {
    for (size_t i = 0; i < OWN_COUNT; i++) {
        if (strcmp(own_metrics[i].name, name) != 0) continue;
        *kind = i < OWN_CLOCK_COUNT ? WMI_CPU_CLOCK : WMI_CPU_THREAD_TIME;
        *out = own_metrics[i];
        out->backend = wmi_cpu_backend.name;
        out->timer = *kind == WMI_CPU_CLOCK ? wmi_clock_name() : "";
        out->better = WMI_BETTER_LOWER;
        out->combine = WMI_COMBINE_SUM;
        return true;
    }
    return false;
}

static const char *intern(const char *text) {
    uint32_t id = wmi_intern(text);
    return id ? wmi_intern_name(id) : NULL;
}

static wm_status from_pfm(const wmi_pfm_event *p, wmi_perf_event *out, wm_error *err) {
    const char *text = intern(p->text);
    if (!text) return wmi_error_nomem(err);
    memset(out, 0, sizeof *out);
    out->attr.type = p->type;
    out->attr.config = p->config;
    out->attr.config1 = p->config1;
    out->attr.config2 = p->config2;
    out->attr.exclude_user = p->exclude_user;
    out->attr.exclude_kernel = p->exclude_kernel;
    out->attr.exclude_hv = p->exclude_hv;
    out->attr.exclude_guest = p->exclude_guest;
    out->attr.exclude_host = p->exclude_host;
    out->asks_kernel = p->asks_kernel;
    bool is_time = p->type == PERF_TYPE_SOFTWARE &&
                   (p->config == PERF_COUNT_SW_CPU_CLOCK || p->config == PERF_COUNT_SW_TASK_CLOCK);
    out->unit = is_time ? "ns" : "";
    out->text = text;
    out->better = is_time ? WMI_BETTER_LOWER : WMI_BETTER_NONE;
    return WM_OK;
}

static wm_status find_event(const char *name, wmi_perf_event *out, wm_error *err) {
    wm_error perf_error = WM_ERROR_INIT, pfm_error = WM_ERROR_INIT;
    wmi_pfm_event encoded;
    if (wmi_perf_parse(name, out, &perf_error) == WM_OK) return WM_OK;
    wm_status status = wmi_pfm_encode(name, &encoded, &pfm_error);
    if (status == WM_OK) return from_pfm(&encoded, out, err);
    if (status == WM_ENOMEM) return wmi_error_nomem(err);
    if (status == WM_EUNSUPPORTED)
        return wmi_error_set(err, WM_ENOTFOUND, 0, "%s (for more names: %s)", perf_error.message,
                             pfm_error.message);
    return wmi_error_set(err, WM_ENOTFOUND, 0, "%s, and %s", perf_error.message, pfm_error.message);
}

wm_status wmi_cpu_lookup(const char *name, wmi_cpu_kind *kind, wmi_metric *metric, wmi_perf_event *event,
                         wm_error *err) {
    if (find_own(name, kind, metric)) return WM_OK;
    wmi_perf_event found;
    wm_status status = find_event(name, &found, err);
    if (status != WM_OK) return status;
    const char *kept = intern(name);
    if (!kept) return wmi_error_nomem(err);
    *kind = WMI_CPU_EVENT;
    *metric = (wmi_metric){.name = kept,
                           .unit = found.unit,
                           .text = found.text,
                           .backend = wmi_cpu_backend.name,
                           .timer = "",
                           .better = found.better,
                           .combine = WMI_COMBINE_SUM};
    if (event) *event = found;
    return WM_OK;
}

/* ---- listing ---- */

typedef struct listing {
    const wmi_perf_sys *sys;
    const char *pattern;
    const wmi_metric_list *to;
    wmi_cpu_modes modes;
    wm_error *err;
} listing;

static wm_status add_event(listing *l, const wmi_metric *metric, wmi_perf_event *event) {
    wmi_buf why = WMI_BUF_INIT, remedy = WMI_BUF_INIT;
    wm_reason reason = wmi_cpu_check(l->sys, &l->modes, event, &why, &remedy);
    if (remedy.len > 0) wmi_buf_printf(&why, " (%s)", remedy.data);
    wm_status status = why.failed || remedy.failed
                           ? wmi_error_nomem(l->err)
                           : l->to->add(l->to->user, metric, reason == WM_REASON_NONE, why.data);
    wmi_buf_free(&why);
    wmi_buf_free(&remedy);
    return status;
}

/* Some of libpfm4's events are none without a unit mask: what it cannot encode is not listed. */
static wm_status add_name(listing *l, const char *name) {
    wmi_cpu_kind kind = WMI_CPU_CLOCK;
    wmi_metric metric;
    wmi_perf_event event;
    wm_status status = wmi_cpu_lookup(name, &kind, &metric, &event, NULL);
    if (status == WM_ENOTFOUND) return WM_OK;
    if (status != WM_OK) return wmi_error_nomem(l->err);
    if (kind == WMI_CPU_EVENT) return add_event(l, &metric, &event);
    return l->to->add(l->to->user, &metric, true, NULL);
}

static wm_status add_if_matched(void *user, const char *name) {
    listing *l = user;
    return !l->pattern || fnmatch(l->pattern, name, 0) == 0 ? add_name(l, name) : WM_OK;
}

static wm_status list_patterned(listing *l) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < OWN_COUNT && status == WM_OK; i++) status = add_if_matched(l, own_metrics[i].name);
    for (size_t i = 0; i < wmi_perf_names() && status == WM_OK; i++)
        status = add_if_matched(l, wmi_perf_name(i));
    if (status == WM_OK) status = wmi_pfm_list(add_if_matched, l, NULL);
    if (status == WM_EUNSUPPORTED) return WM_OK; /* without libpfm4, perf's names are the list */
    return status == WM_ENOMEM ? wmi_error_nomem(l->err) : status;
}

wm_status wmi_cpu_list(const wmi_perf_sys *sys, const char *pattern, const wmi_metric_list *list,
                       wm_error *err) {
    listing l = {.sys = sys, .pattern = pattern, .to = list, .err = err};
    bool is_name = pattern && !strpbrk(pattern, "*?[\\");
    return is_name ? add_name(&l, pattern) : list_patterned(&l);
}
