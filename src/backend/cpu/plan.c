#include <errno.h>
#include <stdlib.h>

#include "backend/cpu/cpu.h"

/* ---- can an event be had? ---- */

static bool refused(int native) { return native == EACCES || native == EPERM; }

static void exclude_kernel(struct perf_event_attr *attr) {
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
}

/* perf's own tool does the same: kernel code as well where that is permitted, else user code alone. */
static int try_event(const wmi_perf_sys *sys, wmi_cpu_modes *modes, wmi_perf_event *event) {
    struct perf_event_attr user = event->attr;
    exclude_kernel(&user);
    bool may_fall_back = !event->asks_kernel && !event->attr.exclude_kernel && !event->attr.exclude_user;
    if (!may_fall_back || !modes->user_only) {
        int native = wmi_perf_try(sys, &event->attr);
        if (!refused(native) || !may_fall_back) return native;
    }
    int native = wmi_perf_try(sys, &user);
    if (native != 0) return native;
    modes->user_only = true;
    event->attr = user;
    return 0;
}

wm_reason wmi_cpu_check(const wmi_perf_sys *sys, wmi_cpu_modes *modes, wmi_perf_event *event, wmi_buf *why,
                        wmi_buf *remedy) {
    bool kernel_only = wmi_perf_is_kernel_only(&event->attr);
    if (kernel_only && event->attr.exclude_kernel) {
        wmi_buf_str(why, "it happens in kernel code alone, and only user code was asked for");
        return WM_REASON_NO_EVENT;
    }
    int native = try_event(sys, modes, event);
    if (native == 0 && kernel_only && event->attr.exclude_kernel) native = EACCES;
    if (native == 0) return WM_REASON_NONE;
    wmi_perf_explain(native, event->asks_kernel || kernel_only, why, remedy);
    return wmi_perf_reason(native);
}

/* ---- passes ---- */

void wmi_cpu_passes_free(wmi_cpu_passes *passes) {
    for (size_t i = 0; i < passes->n; i++) {
        free(passes->v[i].attrs);
        free(passes->v[i].metrics);
    }
    free(passes->v);
    *passes = (wmi_cpu_passes){0};
}

static size_t group_words(size_t events) { return events ? WMI_PERF_FIRST + events : 0; }

size_t wmi_cpu_pass_words(const wmi_cpu_pass *pass) {
    if (pass->kind == WMI_CPU_THREAD_TIME) return 1;
    return group_words(pass->hardware) + group_words(pass->count - pass->hardware);
}

typedef struct planner {
    const wmi_perf_sys *sys;
    const wmi_metric_set *set;
    wmi_cpu_modes *modes;
    wmi_cpu_kind *kinds;    /* [set->count] */
    wmi_perf_event *events; /* [set->count] */
    wmi_perf_group trial;   /* the hardware events of the last pass, opened to see whether another fits */
    wmi_cpu_passes *passes;
    wmi_plan *plan;
    wm_error *err;
} planner;

static wm_status add_pass(planner *p, wmi_cpu_kind kind) {
    wmi_cpu_pass *v = realloc(p->passes->v, (p->passes->n + 1) * sizeof *v);
    if (!v) return wmi_error_nomem(p->err);
    p->passes->v = v;
    wmi_cpu_pass pass = {.kind = kind};
    pass.attrs = calloc(p->set->count, sizeof *pass.attrs);
    pass.metrics = calloc(p->set->count, sizeof *pass.metrics);
    v[p->passes->n++] = pass;
    if (!pass.attrs || !pass.metrics) return wmi_error_nomem(p->err);
    bool clean = kind == WMI_CPU_CLOCK;
    int32_t index;
    return wmi_plan_add_pass(p->plan,
                             (wmi_pass){.window = WMI_WINDOW_CONFIG, .disturbs = !clean, .edges = !clean},
                             &index, p->err);
}

static void put(planner *p, size_t pass_index, size_t metric) {
    wmi_cpu_pass *pass = &p->passes->v[pass_index];
    pass->attrs[pass->count] = p->events[metric].attr;
    pass->metrics[pass->count++] = (uint32_t)metric;
    p->plan->pass_of[metric] = (int32_t)pass_index;
}

static wm_status put_all_of_kind(planner *p, wmi_cpu_kind kind) {
    bool any = false;
    for (size_t i = 0; i < p->set->count; i++) {
        if (p->kinds[i] != kind || p->plan->pass_of[i] < 0) continue;
        if (!any) {
            wm_status status = add_pass(p, kind);
            if (status != WM_OK) return status;
        }
        any = true;
        put(p, p->passes->n - 1, i);
    }
    return WM_OK;
}

/* ---- events ---- */

static wm_status place_hardware(planner *p, size_t metric) {
    const struct perf_event_attr *attr = &p->events[metric].attr;
    if (p->trial.count == 0 || !wmi_perf_group_grow(&p->trial, attr)) {
        wm_status status = add_pass(p, WMI_CPU_EVENT);
        if (status != WM_OK) return status;
        wmi_perf_group_close(&p->trial);
        wmi_perf_group_add(&p->trial, attr); /* if this fails, the next event finds no group to join */
    }
    put(p, p->passes->n - 1, metric);
    p->passes->v[p->passes->n - 1].hardware++;
    return WM_OK;
}

/* Software events go into the first pass of events, so that their ratios to hardware events are had too. */
static wm_status place_events(planner *p) {
    size_t first = p->passes->n;
    wm_status status = WM_OK;
    for (int software = 0; software <= 1; software++) {
        for (size_t i = 0; i < p->set->count && status == WM_OK; i++) {
            if (p->kinds[i] != WMI_CPU_EVENT || p->plan->pass_of[i] < 0) continue;
            if (wmi_perf_is_software(&p->events[i].attr) != (software == 1)) continue;
            if (!software) {
                status = place_hardware(p, i);
                continue;
            }
            if (p->passes->n == first) status = add_pass(p, WMI_CPU_EVENT);
            if (status == WM_OK) put(p, first, i);
        }
    }
    return status;
}

/* ---- the plan ---- */

static wm_status leave_out(planner *p, size_t metric, wm_reason reason, const char *why, const char *remedy) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, why);
    if (remedy[0]) wmi_buf_printf(&text, " (%s)", remedy);
    p->plan->pass_of[metric] = -1;
    p->plan->reason[metric] = reason;
    p->plan->why[metric] = wmi_buf_take(&text);
    return p->plan->why[metric] ? WM_OK : wmi_error_nomem(p->err);
}

static wm_status check_event(planner *p, size_t metric) {
    wmi_buf why = WMI_BUF_INIT, remedy = WMI_BUF_INIT;
    wm_status status = WM_OK;
    wm_reason reason = wmi_cpu_check(p->sys, p->modes, &p->events[metric], &why, &remedy);
    if (why.failed || remedy.failed)
        status = wmi_error_nomem(p->err);
    else if (reason != WM_REASON_NONE)
        status = leave_out(p, metric, reason, why.data, remedy.data ? remedy.data : "");
    wmi_buf_free(&why);
    wmi_buf_free(&remedy);
    return status;
}

static wm_status look_up(planner *p, size_t metric) {
    wmi_metric unused;
    wm_error unknown = WM_ERROR_INIT;
    wm_status status =
        wmi_cpu_lookup(p->set->names[metric], &p->kinds[metric], &unused, &p->events[metric], &unknown);
    if (status == WM_ENOTFOUND) return leave_out(p, metric, WM_REASON_NO_EVENT, unknown.message, "");
    if (status != WM_OK) return wmi_error_nomem(p->err);
    return p->kinds[metric] == WMI_CPU_EVENT ? check_event(p, metric) : WM_OK;
}

static wm_status make_plan(planner *p) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < p->set->count && status == WM_OK; i++) status = look_up(p, i);
    if (status == WM_OK) status = put_all_of_kind(p, WMI_CPU_CLOCK);
    if (status == WM_OK) status = put_all_of_kind(p, WMI_CPU_THREAD_TIME);
    if (status == WM_OK) status = place_events(p);
    return status;
}

wm_status wmi_cpu_plan(const wmi_perf_sys *sys, const wmi_metric_set *set, wmi_cpu_modes *modes,
                       wmi_cpu_passes *passes, wmi_plan *plan, wm_error *err) {
    wmi_cpu_passes made = {0};
    wmi_plan filled;
    wm_status status = wmi_plan_init(&filled, set->count, err);
    if (status != WM_OK) return status;
    size_t n = set->count ? set->count : 1;
    planner p = {.sys = sys, .set = set, .modes = modes, .passes = &made, .plan = &filled, .err = err};
    p.kinds = calloc(n, sizeof *p.kinds);
    p.events = calloc(n, sizeof *p.events);
    bool ready = p.kinds && p.events && wmi_perf_group_init(&p.trial, sys, n);
    status = ready ? make_plan(&p) : wmi_error_nomem(err);
    if (ready) wmi_perf_group_fini(&p.trial);
    free(p.kinds);
    free(p.events);
    if (status == WM_OK) {
        *passes = made;
        *plan = filled;
    } else {
        wmi_cpu_passes_free(&made);
        wmi_plan_free(&filled);
    }
    return status;
}
