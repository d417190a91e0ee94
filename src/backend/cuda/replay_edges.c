#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/replay_parts.h"
#include "base/intern.h"

/* Regions of several threads may lie over each other: the first that is entered opens the window,
 * the last that is left closes it. */

static bool is_whole_function(const wmi_mark *mark) {
    return !wmi_entry_in_region(mark->entry) || !*wmi_intern_name(mark->name);
}

/* ---- ranges ---- */

/* Ranges of one name would be added up. */
static void push(wmi_replay_plan *p) {
    char name[24];
    snprintf(name, sizeof name, "%zu", p->pushes);
    for (size_t i = 0; i < p->slot_count; i++) {
        wm_error why = WM_ERROR_INIT;
        if (!wmi_replay_counts(&p->slots[i])) continue;
        const wm_status status = wmi_counters_push(p->slots[i].counters, name, &why);
        if (status != WM_OK) wmi_replay_slot_failed(p, &p->slots[i], status, &why);
    }
    p->pushes++;
}

/* Not before the kernels of the region have ended. */
static void pop(wmi_replay_plan *p) {
    (void)wmi_replay_rested(p);
    for (size_t i = 0; i < p->slot_count; i++) {
        wm_error why = WM_ERROR_INIT;
        if (!wmi_replay_counts(&p->slots[i])) continue;
        const wm_status status = wmi_counters_pop(p->slots[i].counters, &why);
        if (status != WM_OK) wmi_replay_slot_failed(p, &p->slots[i], status, &why);
    }
}

/* The regions of the last range have no values. */
static void spoil(wmi_replay_plan *p, wm_reason reason) {
    const uint32_t range = (uint32_t)(p->pushes - 1);
    for (size_t i = p->range_count; i > 0 && p->ranges[i - 1].range == range; i--)
        p->ranges[i - 1].reason = (uint8_t)reason;
}

static void note_range(wmi_replay_plan *p, uint64_t entry) {
    wmi_replay_range *v = wmi_replay_room(p->ranges, p->range_count, &p->range_cap, sizeof *v);
    if (!v) {
        p->short_of_memory = true;
        return;
    }
    p->ranges = v;
    const uint32_t range = (uint32_t)(p->pushes - 1);
    v[p->range_count++] = (wmi_replay_range){entry, range, WM_REASON_NONE};
    if (p->range_count > 1 && v[p->range_count - 2].range == range) spoil(p, WM_REASON_AMBIGUOUS);
}

/* Its value would be less, or more, than what it did. */
static void note_uncovered(wmi_replay_plan *p, uint64_t entry, wm_reason reason) {
    wmi_replay_uncovered *v = wmi_replay_room(p->uncovered, p->uncovered_count, &p->uncovered_cap, sizeof *v);
    if (!v) {
        p->short_of_memory = true;
        return;
    }
    p->uncovered = v;
    v[p->uncovered_count++] = (wmi_replay_uncovered){entry, reason};
}

/* ---- outermost regions ---- */

static wm_status close_left(wmi_replay_plan *p, wm_error *err);

/* Starting and stopping counters waits for the device, and that spoils what is captured. */
static void first_enters(wmi_replay_plan *p) {
    wm_error ignored = WM_ERROR_INIT;
    const bool goes_on = p->left_open && p->way == WMI_WAY_REGIONS;
    p->passed_over = !goes_on && wmi_launches_capturing();
    if (goes_on || p->passed_over) return;
    if (close_left(p, &ignored) != WM_OK) p->short_of_memory = true;
    if (p->way == WMI_WAY_RANGES)
        push(p);
    else if (p->set)
        wmi_replay_window_start(p);
}

static void thread_enters(wmi_replay_plan *p, uint64_t entry) {
    if (p->threads_in++ == 0) first_enters(p);
    if (p->way == WMI_WAY_RANGES && !p->passed_over) note_range(p, entry);
}

static wm_status close_range_or_window(wmi_replay_plan *p, wm_error *err) {
    if (p->way == WMI_WAY_RANGES) {
        pop(p);
        return WM_OK;
    }
    if (!p->counting) return WM_OK;
    const size_t from = p->shape_count;
    const wm_status status = wmi_replay_window_stop(p, err);
    return status == WM_OK ? wmi_replay_map(p, from, err) : status;
}

static wm_status close_left(wmi_replay_plan *p, wm_error *err) {
    if (!p->left_open) return WM_OK;
    p->left_open = false;
    return close_range_or_window(p, err);
}

static wm_status last_leaves(wmi_replay_plan *p, wm_error *err) {
    if (p->passed_over) return WM_OK;
    p->left_open = wmi_launches_capturing();
    if (p->left_open && p->way == WMI_WAY_RANGES) spoil(p, WM_REASON_CAPTURE);
    return p->left_open ? WM_OK : close_range_or_window(p, err);
}

static void thread_leaves(wmi_replay_plan *p) {
    wm_error ignored = WM_ERROR_INIT;
    if (--p->threads_in == 0 && last_leaves(p, &ignored) != WM_OK) p->short_of_memory = true;
}

wm_status wmi_replay_leave_all(wmi_replay_plan *p, wm_error *err) {
    if (p->threads_in > 0 && !p->passed_over) p->left_open = true;
    p->threads_in = 0;
    return close_left(p, err);
}

/* ---- marks ---- */

static uint32_t *depth_of(wmi_replay_plan *p, uint32_t thread) {
    if (thread >= p->depth_count) {
        const size_t count = (size_t)thread + 8;
        uint32_t *depth = realloc(p->depth, count * sizeof *depth);
        if (!depth) {
            p->short_of_memory = true;
            return NULL;
        }
        memset(depth + p->depth_count, 0, (count - p->depth_count) * sizeof *depth);
        p->depth = depth;
        p->depth_count = count;
    }
    return &p->depth[thread];
}

static void region_mark(wmi_replay_plan *p, const wmi_mark *mark) {
    uint32_t *depth = depth_of(p, mark->thread);
    if (!depth) return;
    if (!mark->end) {
        if ((*depth)++ == 0) thread_enters(p, mark->entry);
        if (p->passed_over) note_uncovered(p, mark->entry, WM_REASON_CAPTURE);
    } else if (*depth > 0 && --*depth == 0) {
        thread_leaves(p);
    }
}

/* Regions that are open when their function ends are closed with it. */
static void whole_function_mark(wmi_replay_plan *p, const wmi_mark *mark) {
    if (!mark->end) {
        note_uncovered(p, mark->entry, WM_REASON_NOT_COUNTED); /* but for its regions */
        return;
    }
    uint32_t *depth = depth_of(p, mark->thread);
    if (!depth || *depth == 0) return;
    *depth = 0;
    thread_leaves(p);
}

void wmi_replay_edge(wmi_replay_plan *p, const wmi_mark *mark) {
    const wmi_replay_way way = p->way;
    if (way != WMI_WAY_REGIONS && way != WMI_WAY_RANGES) return;
    pthread_mutex_lock(&p->lock);
    if (p->window_open) {
        if (is_whole_function(mark) && !p->whole_counts)
            whole_function_mark(p, mark);
        else
            region_mark(p, mark);
    }
    pthread_mutex_unlock(&p->lock);
}
