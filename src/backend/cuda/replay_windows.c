#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/replay_parts.h"
#include "base/intern.h"
#include "base/text.h"

/* Ranges to make room for when nothing is known of a configuration. */
enum { UNKNOWN_RANGES = 128, SPARE_RANGES = 16 };

void *wmi_replay_room(void *v, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return v;
    const size_t more = *cap ? 2 * *cap : 64;
    void *grown = realloc(v, more * size);
    if (grown) *cap = more;
    return grown;
}

/* ---- slots ---- */

static wm_reason reason_of(wm_status status) {
    switch (status) {
    case WM_EPERM: return WM_REASON_PERMISSION;
    case WM_EBUSY: return WM_REASON_DEVICE_BUSY;
    case WM_EUNSUPPORTED: return WM_REASON_NO_DEVICE;
    default: return WM_REASON_BACKEND;
    }
}

void wmi_replay_slot_failed(wmi_replay_plan *p, wmi_replay_slot *slot, wm_status status,
                            const wm_error *why) {
    /* Somebody in this process holds them, or another process does: the code says which. */
    slot->reason = status == WM_EBUSY ? wmi_cuda_reason(true, why->native_code) : reason_of(status);
    slot->for_ever |= status == WM_EPERM || status == WM_EUNSUPPORTED;
    if (p->opts.warn) p->opts.warn(p->opts.user, why->message);
}

static wm_status slots_grow(wmi_replay_plan *p, size_t count, wm_error *err) {
    if (count <= p->slot_count) return WM_OK;
    wmi_replay_slot *slots = realloc(p->slots, count * sizeof *slots);
    if (!slots) return wmi_error_nomem(err);
    memset(slots + p->slot_count, 0, (count - p->slot_count) * sizeof *slots);
    p->slots = slots;
    p->slot_count = count;
    return WM_OK;
}

static double kernels_of(const wmi_replay_survey *survey, size_t context) {
    if (!survey->kernels_of) return survey->kernels_in + survey->kernels_out;
    return context < survey->context_count ? survey->kernels_of[context] : 0.0;
}

static size_t ranges(double kernels) {
    const double most = kernels + SPARE_RANGES;
    return most < (double)UINT32_MAX ? (size_t)most : UINT32_MAX;
}

typedef struct room {
    size_t in_window, in_all;
} room;

/* Room in a window is dear, so it is for the most that was seen in a run. */
static room room_for(const wmi_replay_plan *p, const wmi_replay_survey *survey, size_t context) {
    if (!survey) {
        const size_t n = p->most > UNKNOWN_RANGES ? p->most + p->most / 4 : UNKNOWN_RANGES;
        return (room){n, n};
    }
    const double runs = p->window == WMI_WINDOW_RUN ? 1.0 : survey->runs;
    const double mean = survey->kernels_in + survey->kernels_out;
    const double more = survey->most > mean && mean > 0 ? survey->most / mean : 1.0;
    double of_run = kernels_of(survey, context) * more;
    double in_window = of_run;
    if (p->way == WMI_WAY_REGIONS && !p->whole_counts) in_window = survey->kernels_in * more;
    if (p->way == WMI_WAY_RANGES && survey->regions > 0) in_window = of_run = survey->regions * more;
    if (p->before && p->way != WMI_WAY_RANGES) { /* the kernel that evicts caches */
        of_run += survey->kernels_in > 0 ? survey->kernels_in * more : of_run;
        in_window += survey->kernels_in > 0 ? survey->kernels_in * more : in_window;
    }
    if (p->way != WMI_WAY_REGIONS) in_window *= runs;
    return (room){ranges(in_window), ranges(of_run * runs)};
}

static wm_status make_counters(wmi_replay_plan *p, size_t i, wm_error *err) {
    const wmi_cuda_context context = wmi_launches_context(i);
    const wm_status status = wmi_counters_create(&context, &p->slots[i].counters, err);
    if (status != WM_OK || wmi_counters_chip(p->slots[i].counters) == p->chip) return status;
    return wmi_error_set(err, WM_EUNSUPPORTED, 0, "counters are planned for a %s, and %s is none",
                         wmi_chip_name(p->chip), context.device->name);
}

/* The program may make its context anew for each configuration. One that is gone launches nothing. */
static bool exists(wmi_replay_slot *slot, size_t i) {
    if (wmi_launches_context(i).handle) return true;
    wmi_counters_destroy(slot->counters);
    slot->counters = NULL;
    return false;
}

static wm_status slot_begin(wmi_replay_plan *p, size_t i, const wmi_replay_survey *survey, wm_error *err) {
    static const wmi_counter_mode modes[] = {[WMI_WAY_STACKED] = WMI_COUNTERS_KERNELS,
                                             [WMI_WAY_DRIVER] = WMI_COUNTERS_REPLAY,
                                             [WMI_WAY_REGIONS] = WMI_COUNTERS_KERNELS,
                                             [WMI_WAY_RANGES] = WMI_COUNTERS_RANGES};
    wmi_replay_slot *slot = &p->slots[i];
    wm_error why = WM_ERROR_INIT;
    slot->used = exists(slot, i) && (!survey || !survey->kernels_of || kernels_of(survey, i) > 0);
    slot->mapped = 0;
    if (!slot->used || slot->for_ever) return WM_OK;
    slot->reason = WM_REASON_NONE;
    wm_status status = slot->counters ? WM_OK : make_counters(p, i, &why);
    const room size = room_for(p, survey, i);
    if (status == WM_OK)
        status = wmi_counters_begin(slot->counters, p->set->config, modes[p->way], size.in_window,
                                    size.in_all, &why);
    if (status == WM_OK) return WM_OK;
    if (status == WM_ENOMEM && why.native_code == 0) return wmi_error_nomem(err);
    wmi_replay_slot_failed(p, slot, status, &why);
    return WM_OK;
}

wm_status wmi_replay_slots_begin(wmi_replay_plan *p, const wmi_replay_survey *survey, wm_error *err) {
    wm_status status = slots_grow(p, wmi_launches_contexts(), err);
    for (size_t i = 0; i < p->slot_count && status == WM_OK; i++) status = slot_begin(p, i, survey, err);
    return status;
}

void wmi_replay_slots_end(wmi_replay_plan *p) {
    for (size_t i = 0; i < p->slot_count; i++)
        if (p->slots[i].counters) wmi_counters_end(p->slots[i].counters);
}

bool wmi_replay_counts(const wmi_replay_slot *slot) { return slot->used && slot->counters && !slot->reason; }

/* ---- coming to rest ---- */

/* The device never ends what it is at. Nothing that waits for it may be called any more. */
static void give_up(wmi_replay_plan *p) {
    p->hung = true;
    for (size_t i = 0; i < p->slot_count; i++) {
        wmi_counters_abandon(p->slots[i].counters);
        p->slots[i].counters = NULL;
        p->slots[i].reason = WM_REASON_WAITING_KERNELS;
        p->slots[i].for_ever = true;
    }
}

static bool can_wait(wmi_replay_plan *p) {
    wm_error ignored = WM_ERROR_INIT;
    return p->wait || wmi_context_wait_create(&p->wait, &ignored) == WM_OK;
}

bool wmi_replay_rested(wmi_replay_plan *p) {
    if (wmi_launches_capturing()) return true; /* to wait would spoil what is captured */
    for (size_t i = 0; i < p->slot_count; i++) {
        CUresult result;
        if (!wmi_replay_counts(&p->slots[i]) || !can_wait(p)) continue;
        if (wmi_context_wait_for(p->wait, wmi_launches_context(i).handle, p->opts.device.hang_ns, &result))
            continue;
        give_up(p);
        return false;
    }
    return true;
}

/* ---- the kernel that evicts caches ---- */

/* On the launching thread, in the order in which the device gets the launches: the log holds its
 * lock meanwhile. */
static void before_launch(void *user, const wmi_cuda_context *context, const wmi_shape *shape) {
    wmi_replay_plan *p = user;
    const bool reader = p->before(p->before_user, context, shape, p->way == WMI_WAY_RANGES);
    bool *v = wmi_replay_room(p->readers, p->reader_count, &p->reader_cap, sizeof *v);
    if (!v) {
        p->reader_met |= reader;
        return; /* then there are fewer of these than launches, and no range is given away */
    }
    p->readers = v;
    v[p->reader_count++] = reader;
    p->reader_met |= reader;
}

/* ---- windows ---- */

/* A device counts for one of its contexts at a time. */
static wm_status start_one(const wmi_replay_plan *p, size_t i, wm_error *err) {
    for (size_t k = 0; k < i; k++)
        if (wmi_replay_counts(&p->slots[k]) &&
            wmi_launches_context(k).device == wmi_launches_context(i).device)
            return wmi_error_set(
                err, WM_ESTATE, 0,
                "kernels run in several contexts of %s, and its counters are read in the first "
                "of them only",
                wmi_launches_context(i).device->name);
    return wmi_counters_start(p->slots[i].counters, err);
}

static void slots_start(wmi_replay_plan *p) {
    for (size_t i = 0; i < p->slot_count; i++) {
        wm_error why = WM_ERROR_INIT;
        if (!wmi_replay_counts(&p->slots[i])) continue;
        const wm_status status = start_one(p, i, &why);
        if (status != WM_OK) wmi_replay_slot_failed(p, &p->slots[i], status, &why);
    }
}

static void slots_stop(wmi_replay_plan *p) {
    for (size_t i = 0; i < p->slot_count; i++) {
        wm_error why = WM_ERROR_INIT;
        if (!wmi_replay_counts(&p->slots[i])) continue;
        const wm_status status = wmi_counters_stop(p->slots[i].counters, &why);
        if (status != WM_OK) wmi_replay_slot_failed(p, &p->slots[i], status, &why);
    }
}

void wmi_replay_window_start(wmi_replay_plan *p) {
    p->hooks = (wmi_launch_hooks){before_launch, p};
    p->reader_count = 0;
    p->reader_met = false;
    slots_start(p);
    wmi_launches_start(WMI_LAUNCHES_SHAPES, p->opts.device.scope, p->opts.launch_entry, p->opts.launch_run,
                       p->before ? &p->hooks : NULL);
    p->counting = true;
}

static wm_status take_shapes(wmi_replay_plan *p, wm_error *err) {
    size_t n;
    const wmi_shape *v = wmi_launches_shapes(&n);
    if (p->shape_count + n > p->shape_cap) {
        const size_t cap = p->shape_count + n + p->shape_count / 2;
        wmi_shape *shapes = realloc(p->shapes, cap * sizeof *shapes);
        if (!shapes) return wmi_error_nomem(err);
        p->shapes = shapes;
        wmi_replay_fate *fates = realloc(p->fates, cap * sizeof *fates);
        if (!fates) return wmi_error_nomem(err);
        p->fates = fates;
        p->shape_cap = cap;
    }
    if (n) memcpy(p->shapes + p->shape_count, v, n * sizeof *v);
    for (size_t i = 0; i < n; i++) p->fates[p->shape_count + i] = (wmi_replay_fate){0, 0};
    p->shape_count += n;
    return WM_OK;
}

/* ---- launches to ranges ---- */

/* The n-th range of a context is the n-th launch in it, less those of the kernel that evicts. */
static void number_ranges(wmi_replay_plan *p, size_t from, size_t *met) {
    const bool aligned = p->reader_count == p->shape_count - from;
    for (size_t i = from; i < p->shape_count; i++) {
        const size_t context = p->shapes[i].context;
        wmi_replay_fate *fate = &p->fates[i];
        if (context >= p->slot_count || !p->slots[context].used) {
            fate->reason = WM_REASON_NOT_COUNTED;
            continue;
        }
        if (p->reader_met && aligned && p->readers[i - from]) met[context]++;
        fate->range = (uint32_t)met[context]++;
        fate->reason = (uint8_t)p->slots[context].reason;
        if (!fate->reason && p->reader_met && !aligned) fate->reason = WM_REASON_SEQUENCE;
    }
    p->mismatched |= p->reader_met && !aligned;
}

/* As many ranges as launches, or it is not known which is whose. */
static void check_slot(wmi_replay_plan *p, size_t from, size_t context, size_t met) {
    wmi_replay_slot *slot = &p->slots[context];
    size_t dropped;
    if (!wmi_replay_counts(slot)) return;
    const size_t decoded = wmi_counters_ranges(slot->counters, &dropped);
    const bool complete = wmi_counters_complete(slot->counters);
    const bool cut = decoded < met && dropped > 0;
    const bool differs = p->differs != SIZE_MAX;
    const bool all = complete && decoded != met && !cut && !differs;
    slot->mapped = decoded;
    p->mismatched |= all;
    for (size_t i = from; i < p->shape_count; i++) {
        wmi_replay_fate *fate = &p->fates[i];
        if (p->shapes[i].context != context || fate->reason) continue;
        if (!complete)
            fate->reason = WM_REASON_NOT_COUNTED;
        else if (all)
            fate->reason = p->graphs ? WM_REASON_BACKEND : WM_REASON_SEQUENCE;
        else if (fate->range >= decoded)
            fate->reason = cut ? WM_REASON_RANGES_DROPPED : WM_REASON_SEQUENCE;
    }
    if (cut && p->opts.warn) {
        wmi_buf line = WMI_BUF_INIT;
        wmi_buf_printf(&line,
                       "counters: %zu of %zu kernels were dropped, because their image has room for no "
                       "more; --counter-runs reads counters over fewer runs",
                       met - decoded, met);
        if (!line.failed) p->opts.warn(p->opts.user, line.data);
        wmi_buf_free(&line);
    }
}

wm_status wmi_replay_map(wmi_replay_plan *p, size_t from, wm_error *err) {
    size_t *met = calloc(p->slot_count + 1, sizeof *met);
    if (!met) return wmi_error_nomem(err);
    for (size_t i = 0; i < p->slot_count; i++) met[i] = p->slots[i].mapped;
    number_ranges(p, from, met);
    for (size_t i = 0; i < p->slot_count && p->way != WMI_WAY_RANGES; i++) check_slot(p, from, i, met[i]);
    free(met);
    return WM_OK;
}

/* A launch that does not come back is not in the log. */
wm_status wmi_replay_window_stop(wmi_replay_plan *p, wm_error *err) {
    p->counting = false;
    (void)wmi_replay_rested(p);
    const char *stuck = p->hung ? wmi_launches_stuck(0) : NULL;
    wmi_launches_stop();
    slots_stop(p);
    const wm_status status = take_shapes(p, err);
    if (p->shape_count > p->most) p->most = p->shape_count;
    const char *last = p->shape_count ? wmi_intern_name(p->shapes[p->shape_count - 1].name) : "";
    if (p->hung) wmi_replay_warn_of_waiting(&p->opts, &p->warned_of_waiting, stuck ? stuck : last);
    return status;
}
