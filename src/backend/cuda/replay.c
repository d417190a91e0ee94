#include "backend/cuda/replay.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda/replay_parts.h"

/* ---- which way ---- */

/* With windows of one pass: around each region, or around each run? Where no kernel, or every kernel,
 * is in a region, one around a run does as well. */
static double windows_ms(const wmi_replay_survey *survey, wmi_replay_costs costs, bool *by_run) {
    const double runs = wmi_replay_runs_ms(survey, costs), regions = wmi_replay_regions_ms(survey, costs);
    *by_run = survey->kernels_in <= 0 || survey->kernels_out <= 0 || runs < regions;
    return *by_run ? runs : regions;
}

static wm_status windows_cheaper(wmi_replay_plan *p, const wmi_replay_survey *survey, bool *cheaper,
                                 wm_error *err) {
    const wmi_replay_costs all = wmi_replay_costs_of(p->all.config->names, p->all.asked);
    const double stacked = wmi_replay_stacked_ms(survey, all, p->passes);
    *cheaper = false;
    /* Finding one-pass configurations takes a while: not when even one alone would be dearer. */
    if (windows_ms(survey, all, &p->by_run) >= stacked) return WM_OK;
    const wm_status status = wmi_replay_split(p, err);
    if (status != WM_OK || !p->split) return status;
    double windows = 0;
    for (size_t i = 0; i < p->split_count; i++)
        windows +=
            windows_ms(survey, wmi_replay_costs_of(p->split[i].config->names, p->split[i].asked), &p->by_run);
    *cheaper = windows < stacked;
    return WM_OK;
}

static bool has_graphs(const wmi_replay_survey *survey) { return survey && survey->graphs > 0; }

static void warn_of_graphs(wmi_replay_plan *p) {
    if (p->warned_of_graphs || !p->opts.warn) return;
    p->warned_of_graphs = true;
    p->opts.warn(p->opts.user,
                 p->way == WMI_WAY_RANGES
                     ? "graphs are launched: their counters are those of whole regions, gaps between "
                       "kernels included, and machine instructions (__sass_) are not counted"
                     : "graphs are launched, and counters of single kernels cannot be read beside one: "
                       "--replay auto and range read those of whole regions");
}

static wm_status choose_way(wmi_replay_plan *p, int32_t pass, const wmi_replay_survey *survey,
                            wm_error *err) {
    const wmi_replay replay = p->opts.device.replay;
    wmi_replay_way way = WMI_WAY_STACKED;
    wm_status status = WM_OK;
    bool cheaper = false;
    p->by_run = false;
    p->graphs = has_graphs(survey);
    if (replay == WMI_REPLAY_KERNEL || pass == p->fallback)
        way = WMI_WAY_DRIVER;
    else if (replay == WMI_REPLAY_RANGE || (replay == WMI_REPLAY_AUTO && p->graphs))
        way = WMI_WAY_RANGES; /* a graph launched in a window of kernels makes all its values unreadable */
    else if (replay == WMI_REPLAY_AUTO && survey)
        status = windows_cheaper(p, survey, &cheaper, err);
    if (cheaper || (replay == WMI_REPLAY_WINDOW && p->split)) way = WMI_WAY_REGIONS;
    if (replay == WMI_REPLAY_WINDOW && p->split && survey)
        (void)windows_ms(survey, wmi_replay_costs_of(p->all.config->names, p->all.asked), &p->by_run);
    p->way = way;
    if (p->graphs) warn_of_graphs(p);
    return status;
}

/* Without regions the whole function is one; and a window around a run is one around its function,
 * while ranges shall be of the regions. */
static bool whole_counts(const wmi_replay_plan *p, const wmi_replay_survey *survey) {
    if (!survey) return false;
    return survey->kernels_in <= 0 || (p->way == WMI_WAY_REGIONS && p->by_run);
}

/* ---- sequences of passes ---- */

static int32_t run_of(const wmi_window *w) { return w->kind == WMI_WINDOW_RUN ? w->run : -1; }

static bool continues(const wmi_replay_plan *p, int32_t pass, const wmi_window *w) {
    return p->at_work && p->next == pass && p->config == w->config && p->run == run_of(w);
}

static void sequence_clear(wmi_replay_plan *p) {
    wmi_replay_slots_end(p);
    for (size_t i = 0; i < p->slot_count; i++) p->slots[i].used = false;
    free(p->first);
    p->first = NULL;
    p->first_count = p->first_pushes = 0;
    p->differs = SIZE_MAX;
    p->mismatched = p->clock_read = p->at_work = false;
    p->pending.n = 0;
}

static bool is_first(const wmi_replay_plan *p, int32_t pass) { return pass == 0 || pass == p->fallback; }
static bool is_last(const wmi_replay_plan *p, int32_t pass) {
    return pass == p->fallback || pass + 1 == (int32_t)p->passes;
}

/* A pass whose earlier ones were not run has no counters; its readings say so. */
static wm_status sequence_begin(wmi_replay_plan *p, int32_t pass, const wmi_window *w,
                                const wmi_replay_survey *survey, wm_error *err) {
    sequence_clear(p);
    p->config = w->config;
    p->run = run_of(w);
    p->at_work = true;
    p->set = &p->all;
    p->way = WMI_WAY_STACKED;
    if (!is_first(p, pass)) return WM_OK;
    wm_status status = choose_way(p, pass, survey, err);
    p->whole_counts = whole_counts(p, survey);
    if (status == WM_OK && p->way != WMI_WAY_REGIONS) status = wmi_replay_slots_begin(p, survey, err);
    return status;
}

/* ---- opening ---- */

static void pass_clear(wmi_replay_plan *p) {
    p->shape_count = p->range_count = p->pushes = p->uncovered_count = 0;
    p->threads_in = 0;
    p->left_open = p->passed_over = false;
    p->short_of_memory = false;
    if (p->depth_count) memset(p->depth, 0, p->depth_count * sizeof *p->depth);
}

static wm_status pass_begin(wmi_replay_plan *p, int32_t pass, const wmi_replay_survey *survey,
                            wm_error *err) {
    pass_clear(p);
    if (p->way != WMI_WAY_REGIONS) {
        wmi_replay_window_start(p);
        return WM_OK;
    }
    p->set = (size_t)pass < p->split_count ? &p->split[pass] : NULL;
    return p->set ? wmi_replay_slots_begin(p, survey, err) : WM_OK;
}

static bool watches(const wmi_replay_plan *p) {
    bool any = false;
    for (size_t i = 0; i < p->slot_count; i++) any |= wmi_replay_counts(&p->slots[i]);
    return any && p->opts.device.hang_ns > 0 && !p->warned_of_waiting;
}

wm_status wmi_replay_open(wmi_replay_plan *p, int32_t pass, const wmi_window *w,
                          const wmi_replay_survey *survey, wm_error *err) {
    wm_status status = WM_OK;
    if (!survey) wmi_launches_meet_current(); /* what was launched before is not known */
    pthread_mutex_lock(&p->lock);
    if (is_first(p, pass) || !continues(p, pass, w)) status = sequence_begin(p, pass, w, survey, err);
    if (status == WM_OK) status = pass_begin(p, pass, survey, err);
    if (status == WM_OK) {
        p->next = pass + 1;
        p->window_open = true;
        if (watches(p)) p->watch = wmi_replay_watch_start(&p->opts, &p->warned_of_waiting);
    } else {
        sequence_clear(p);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- closing ---- */

/* Whether this pass launched what the first one did. */
static wm_status compare(wmi_replay_plan *p, wm_error *err) {
    if (!wmi_replay_renumber(p->shapes, p->shape_count)) return wmi_error_nomem(err);
    if (p->next == 1) {
        p->first = malloc((p->shape_count + 1) * sizeof *p->first);
        if (!p->first) return wmi_error_nomem(err);
        if (p->shape_count) memcpy(p->first, p->shapes, p->shape_count * sizeof *p->first);
        p->first_count = p->shape_count;
        p->first_pushes = p->pushes;
        return WM_OK;
    }
    const size_t differs = wmi_replay_difference(p->first, p->first_count, p->shapes, p->shape_count);
    if (differs < p->differs) p->differs = differs;
    if (p->pushes != p->first_pushes) p->differs = 0;
    return WM_OK;
}

static wm_status pass_end(wmi_replay_plan *p, int32_t pass, wm_error *err) {
    const bool several = p->way != WMI_WAY_DRIVER && p->all.config->passes > 1;
    wm_status status = wmi_replay_leave_all(p, err);
    if (status == WM_OK && p->way == WMI_WAY_REGIONS) return p->set ? wmi_replay_read(p, err) : WM_OK;
    if (status == WM_OK) status = wmi_replay_window_stop(p, err);
    if (status == WM_OK && several) status = compare(p, err);
    if (status != WM_OK || !is_last(p, pass)) return status;
    status = wmi_replay_map(p, 0, err);
    return status == WM_OK ? wmi_replay_read(p, err) : status;
}

static wm_status due_add(wmi_replay_plan *p, wm_error *err) {
    uint32_t *v = wmi_replay_room(p->due, p->due_count, &p->due_cap, sizeof *v);
    if (!v) return wmi_error_nomem(err);
    p->due = v;
    v[p->due_count++] = p->config;
    return WM_OK;
}

static void due_remove(wmi_replay_plan *p) {
    size_t kept = 0;
    for (size_t i = 0; i < p->due_count; i++)
        if (p->due[i] != p->config) p->due[kept++] = p->due[i];
    p->due_count = kept;
}

/* Values that cannot be told apart are given up for those of the fallback, where there is one. */
static wm_status sequence_end(wmi_replay_plan *p, int32_t pass, wm_error *err) {
    bool counted = false;
    wm_status status = WM_OK;
    for (size_t i = 0; i < p->slot_count; i++) counted |= wmi_replay_counts(&p->slots[i]);
    const bool unsure = counted && (p->differs != SIZE_MAX || p->mismatched);
    due_remove(p);
    if (unsure && p->fallback >= 0 && pass != p->fallback && !p->graphs)
        status = due_add(p, err);
    else
        for (size_t i = 0; i < p->pending.n && status == WM_OK; i++)
            if (!wmi_readings_add(&p->ready, p->pending.v[i])) status = wmi_error_nomem(err);
    sequence_clear(p);
    return status;
}

wm_status wmi_replay_close(wmi_replay_plan *p, int32_t pass, const wmi_window *w, wm_error *err) {
    (void)w;
    pthread_mutex_lock(&p->lock);
    wm_status status = WM_OK;
    if (p->window_open) {
        status = pass_end(p, pass, err);
        p->window_open = false;
        wmi_replay_watch_stop(p->watch);
        p->watch = NULL;
        if (status == WM_OK && p->short_of_memory) status = wmi_error_nomem(err);
        if (status == WM_OK && is_last(p, pass)) status = sequence_end(p, pass, err);
        if (status != WM_OK) sequence_clear(p);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- results ---- */

bool wmi_replay_wants(const wmi_replay_plan *p, int32_t pass, uint32_t config) {
    if (pass != p->fallback) return true;
    for (size_t i = 0; i < p->due_count; i++)
        if (p->due[i] == config) return true;
    return false;
}

wm_status wmi_replay_drain(wmi_replay_plan *p, wmi_readings *out, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < p->ready.n && status == WM_OK; i++)
        if (!wmi_readings_add(out, p->ready.v[i])) status = wmi_error_nomem(err);
    p->ready.n = 0;
    return status;
}
