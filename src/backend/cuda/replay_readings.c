#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/kernel_names.h"
#include "backend/cuda/replay_parts.h"
#include "base/intern.h"

/* What the values of a range become readings of. */
typedef struct subject {
    uint64_t entry;
    uint32_t kernel;
    wm_reason reason;
    const double *values; /* NULL with a reason */
} subject;

static bool add(wmi_replay_plan *p, wmi_reading reading) { return wmi_readings_add(&p->pending, reading); }

static wm_status add_metrics(wmi_replay_plan *p, const subject *of, wm_error *err) {
    const wmi_replay_set *set = p->set;
    const double time = of->values && set->time != SIZE_MAX ? of->values[set->time] : NAN;
    wmi_reading r = {
        .entry = of->entry, .kernel = of->kernel, .weight = isfinite(time) && time > 0 ? time : 0};
    for (size_t i = 0; i < set->asked; i++) {
        const bool unread = p->graphs && strstr(set->config->names[i], "__sass_");
        const double value = of->values && !unread ? of->values[i] : NAN;
        r.metric = set->metric[i];
        r.reason = of->reason ? of->reason : isnan(value) ? WM_REASON_NOT_COUNTED : WM_REASON_NONE;
        r.value = r.reason ? 0 : value;
        if (!add(p, r)) return wmi_error_nomem(err);
    }
    const double clock = of->values && set->clock != SIZE_MAX ? of->values[set->clock] : NAN;
    if (p->clock_read || !isfinite(clock)) return WM_OK;
    r.metric = WMI_READ_CLOCK;
    r.reason = WM_REASON_NONE;
    r.value = clock;
    return add(p, r) ? WM_OK : wmi_error_nomem(err);
}

/* Values of a range; WM_OK with of->reason set when they cannot be had. */
static wm_status evaluate(wmi_replay_plan *p, size_t context, size_t range, double *values, subject *of,
                          wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    wmi_replay_slot *slot = &p->slots[context];
    const wm_status status = wmi_counters_values(slot->counters, range, values, &why);
    if (status == WM_ENOMEM) return wmi_error_nomem(err);
    if (status == WM_OK)
        of->values = values;
    else
        wmi_replay_slot_failed(p, slot, status, &why);
    if (status != WM_OK) of->reason = slot->reason;
    return WM_OK;
}

/* ---- kernels ---- */

static bool ignored(const wmi_device_opts *opts, const char *plain) {
    for (size_t i = 0; i < opts->ignored_count; i++)
        if (fnmatch(opts->ignored[i], plain, 0) == 0) return true;
    return false;
}

/* 0 when out of memory. */
static uint32_t plain_name(const wmi_shape *shape) {
    return shape->kind == WMI_LAUNCH_GRAPH ? wmi_intern("graph")
                                           : wmi_kernel_name_of(wmi_intern_name(shape->name)).plain;
}

static wm_status read_launch(wmi_replay_plan *p, size_t i, double *values, wm_error *err) {
    const wmi_shape *shape = &p->shapes[i];
    if (shape->entry == WMI_NO_ENTRY || shape->entry == WMI_AMBIGUOUS_ENTRY) return WM_OK;
    subject of = {
        .entry = shape->entry, .kernel = plain_name(shape), .reason = (wm_reason)p->fates[i].reason};
    if (!of.kernel) return wmi_error_nomem(err);
    if (ignored(&p->opts.device, wmi_intern_name(of.kernel))) return WM_OK;
    if (!of.reason && i >= p->differs) of.reason = WM_REASON_SEQUENCE;
    if (!of.reason) of.reason = p->slots[shape->context].reason;
    wm_status status = WM_OK;
    if (!of.reason) status = evaluate(p, shape->context, p->fates[i].range, values, &of, err);
    return status == WM_OK ? add_metrics(p, &of, err) : status;
}

static wm_status read_launches(wmi_replay_plan *p, double *values, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < p->shape_count && status == WM_OK; i++) status = read_launch(p, i, values, err);
    return status;
}

/* ---- ranges ---- */

/* Why the ranges of a context say nothing. */
static wm_reason range_reason(const wmi_replay_plan *p, const wmi_replay_slot *slot,
                              const wmi_replay_range *r) {
    if (slot->reason) return slot->reason;
    if (p->reader_met) return WM_REASON_BACKEND; /* the kernel that evicts caches is in it */
    if (r->reason) return (wm_reason)r->reason;
    size_t dropped;
    const size_t decoded = wmi_counters_ranges(slot->counters, &dropped);
    if (!wmi_counters_complete(slot->counters)) return WM_REASON_NOT_COUNTED;
    if (p->differs != SIZE_MAX) return WM_REASON_SEQUENCE;
    if (decoded == p->pushes) return WM_REASON_NONE;
    if (decoded > p->pushes || dropped == 0) return WM_REASON_SEQUENCE;
    return r->range < decoded ? WM_REASON_NONE : WM_REASON_RANGES_DROPPED;
}

/* Of several contexts those in which nothing ran say nothing. */
static bool nothing_ran(const wmi_replay_plan *p, const subject *of, size_t contexts) {
    const size_t time = p->set->time;
    return contexts > 1 && of->values && time != SIZE_MAX && !(of->values[time] > 0);
}

static wm_status read_ranges(wmi_replay_plan *p, double *values, wm_error *err) {
    wm_status status = WM_OK;
    size_t contexts = 0;
    for (size_t c = 0; c < p->slot_count; c++) contexts += p->slots[c].used;
    for (size_t i = 0; i < p->range_count; i++) {
        const wmi_replay_range *r = &p->ranges[i];
        for (size_t c = 0; c < p->slot_count && status == WM_OK; c++) {
            if (!p->slots[c].used) continue;
            subject of = {.entry = r->entry, .reason = range_reason(p, &p->slots[c], r)};
            if (!of.reason) status = evaluate(p, c, r->range, values, &of, err);
            if (status == WM_OK && !nothing_ran(p, &of, contexts)) status = add_metrics(p, &of, err);
        }
    }
    return status;
}

static wm_status read_uncovered(wmi_replay_plan *p, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < p->uncovered_count && status == WM_OK; i++) {
        const subject of = {.entry = p->uncovered[i].entry, .reason = p->uncovered[i].reason};
        status = add_metrics(p, &of, err);
    }
    return status;
}

wm_status wmi_replay_read(wmi_replay_plan *p, wm_error *err) {
    double *values = malloc(p->set->config->count * sizeof *values);
    if (!values) return wmi_error_nomem(err);
    wm_status status = p->way == WMI_WAY_RANGES ? read_ranges(p, values, err) : read_launches(p, values, err);
    if (status == WM_OK) status = read_uncovered(p, err);
    p->clock_read |= p->set->clock != SIZE_MAX;
    free(values);
    return status;
}
