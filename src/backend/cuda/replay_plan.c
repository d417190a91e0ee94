#include <stdlib.h>
#include <string.h>

#include "backend/cuda/replay_parts.h"
#include "base/text.h"

/* Read beside the metrics asked for: how long each kernel ran while it was counted, and at which
 * clock. */
static const char time_metric[] = "gpu__time_duration.sum";
static const char clock_metric[] = "gpc__cycles_elapsed.avg.per_second";

/* ---- sets ---- */

static void set_free(wmi_replay_set *set) {
    free(set->metric);
    *set = (wmi_replay_set){0};
}

static size_t find(const char *const *names, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0) i++;
    return i < count ? i : SIZE_MAX;
}

static bool has(wmi_chip *chip, const char *name) {
    wmi_metric unused;
    wm_error ignored = WM_ERROR_INIT;
    return wmi_chip_metric(chip, name, &unused, &ignored) == WM_OK;
}

/* A configuration of names[0..count) and so many of the two read beside them. */
static wm_status configure(wmi_chip *chip, const char *const *names, size_t count, int beside,
                           const wmi_chip_config **out, wm_error *err) {
    const char **v = malloc((count + 2) * sizeof *v);
    if (!v) return wmi_error_nomem(err);
    size_t n = count;
    memcpy(v, names, count * sizeof *v);
    if (beside >= 1 && find(v, n, time_metric) == SIZE_MAX && has(chip, time_metric)) v[n++] = time_metric;
    if (beside >= 2 && find(v, n, clock_metric) == SIZE_MAX && has(chip, clock_metric)) v[n++] = clock_metric;
    const wm_status status = wmi_chip_config_make(chip, v, n, out, err);
    free(v);
    return status;
}

/* metric_of: of names[0..count), the first in the configuration. */
static wm_status set_make(wmi_replay_set *set, const wmi_chip_config *config, const uint32_t *metric_of,
                          size_t count, wm_error *err) {
    set->metric = malloc((count ? count : 1) * sizeof *set->metric);
    if (!set->metric) return wmi_error_nomem(err);
    memcpy(set->metric, metric_of, count * sizeof *set->metric);
    set->config = config;
    set->asked = count;
    set->time = find(config->names, config->count, time_metric);
    set->clock = find(config->names, config->count, clock_metric);
    return WM_OK;
}

/* ---- one-pass configurations ---- */

static wm_status one_pass(wmi_chip *chip, const char *const *names, size_t count, int beside,
                          const wmi_chip_config **out, wm_error *err) {
    const wm_status status = configure(chip, names, count, beside, out, err);
    if (status == WM_OK && (*out)->passes != 1) *out = NULL;
    if (status == WM_OK || status == WM_ENOMEM) return status;
    *out = NULL; /* they cannot be counted together */
    return WM_OK;
}

static wm_status close_set(wmi_replay_plan *p, size_t first, size_t count, const wmi_chip_config *bare,
                           wm_error *err) {
    const wmi_chip_config *config = NULL;
    wm_status status = WM_OK;
    for (int beside = 2; beside > 0 && !config && status == WM_OK; beside--)
        status = one_pass(p->chip, p->names + first, count, beside, &config, err);
    if (status == WM_OK)
        status =
            set_make(&p->split[p->split_count], config ? config : bare, p->metric_of + first, count, err);
    if (status == WM_OK) p->split_count++;
    return status;
}

static void forget_split(wmi_replay_plan *p) {
    for (size_t i = 0; i < p->split_count; i++) set_free(&p->split[i]);
    free(p->split);
    p->split = NULL;
    p->split_count = 0;
}

/* In order, each set as large as one pass allows. *fits: all metrics have their place. */
static wm_status split_greedily(wmi_replay_plan *p, bool *fits, wm_error *err) {
    size_t first = 0;
    const wmi_chip_config *held = NULL;
    wm_status status = WM_OK;
    *fits = true;
    for (size_t i = 0; i < p->count && *fits && status == WM_OK;) {
        const wmi_chip_config *more = NULL;
        status = one_pass(p->chip, p->names + first, i + 1 - first, 0, &more, err);
        if (status != WM_OK) break;
        if (more) {
            held = more;
            i++;
            continue;
        }
        *fits = i > first && p->split_count + 1 < p->passes; /* else it needs several passes itself */
        if (*fits) status = close_set(p, first, i - first, held, err);
        first = i;
    }
    return *fits && status == WM_OK ? close_set(p, first, p->count - first, held, err) : status;
}

wm_status wmi_replay_split(wmi_replay_plan *p, wm_error *err) {
    /* Metrics of one pass each never take more passes together than there are of them. */
    const bool hopeless = p->all.config->passes > p->all.config->count;
    bool fits = false;
    if (p->split_tried || hopeless) return WM_OK;
    p->split = calloc(p->passes + 1, sizeof *p->split);
    if (!p->split) return wmi_error_nomem(err);
    const wm_status status = split_greedily(p, &fits, err);
    if (status != WM_OK || !fits) forget_split(p);
    p->split_tried = status == WM_OK;
    return status;
}

/* ---- which metrics can be counted ---- */

static wm_status leave_out(wmi_plan *out, uint32_t metric, wm_status status, const wm_error *why,
                           wm_error *err) {
    out->pass_of[metric] = -1;
    out->reason[metric] = status == WM_EUNSUPPORTED ? WM_REASON_NOT_COUNTED : WM_REASON_NO_EVENT;
    out->why[metric] = wmi_strdup(why->message);
    return out->why[metric] ? WM_OK : wmi_error_nomem(err);
}

static wm_status keep_countable(wmi_replay_plan *p, const char *const *names, const uint32_t *metric_of,
                                size_t count, wmi_plan *out, wm_error *err) {
    const wmi_chip_config *unused;
    wm_error why = WM_ERROR_INIT;
    wm_status status = configure(p->chip, names, count, 0, &unused, &why);
    const bool all = status == WM_OK;
    for (size_t i = 0; i < count && status != WM_ENOMEM; i++) {
        p->names[p->count] = names[i];
        p->metric_of[p->count] = metric_of[i];
        status = all ? WM_OK : configure(p->chip, p->names, p->count + 1, 0, &unused, &why);
        if (status == WM_OK)
            p->count++;
        else if (status != WM_ENOMEM)
            status = leave_out(out, metric_of[i], status, &why, err);
    }
    return status == WM_ENOMEM ? wmi_error_nomem(err) : WM_OK;
}

/* What is read beside must never cost a metric. */
static wm_status set_of_all(wmi_replay_plan *p, wm_error *err) {
    const wmi_chip_config *config;
    wm_status status = WM_EUNSUPPORTED;
    for (int beside = 2; beside >= 0 && status != WM_OK && status != WM_ENOMEM; beside--)
        status = configure(p->chip, p->names, p->count, beside, &config, err);
    return status == WM_OK ? set_make(&p->all, config, p->metric_of, p->count, err) : status;
}

/* ---- passes ---- */

static wm_status add_pass(wmi_replay_plan *p, wmi_plan *out, wmi_pass pass, int32_t *index, wm_error *err) {
    pass.disturbs = pass.deferred = true;
    pass.window = p->window;
    return wmi_plan_add_pass(out, pass, index, err);
}

static wm_status add_passes(wmi_replay_plan *p, wmi_plan *out, wm_error *err) {
    const wmi_replay replay = p->opts.device.replay;
    const bool windows = p->split != NULL;
    const wmi_pass pass = {.edges = windows || replay == WMI_REPLAY_RANGE || replay == WMI_REPLAY_AUTO};
    wm_status status = WM_OK;
    int32_t index = -1;
    for (size_t i = 0; i < p->passes && status == WM_OK; i++) {
        status = add_pass(p, out, pass, &index, err);
        const wmi_replay_set *set = windows ? &p->split[i] : i + 1 == p->passes ? &p->all : NULL;
        for (size_t k = 0; set && k < set->asked && status == WM_OK; k++)
            out->pass_of[set->metric[k]] = index;
    }
    if (status != WM_OK || replay != WMI_REPLAY_AUTO) return status;
    p->fallback = (int32_t)p->passes;
    return add_pass(p, out, (wmi_pass){.optional = true, .edges = true}, &index, err);
}

static wm_status choose_passes(wmi_replay_plan *p, const wmi_plan *out, wm_error *err) {
    const wmi_replay replay = p->opts.device.replay;
    p->window = WMI_WINDOW_CONFIG;
    p->passes = replay == WMI_REPLAY_KERNEL ? 1 : p->all.config->passes;
    if (replay == WMI_REPLAY_KERNEL && out->pass_count == 0)
        p->window = WMI_WINDOW_RUN; /* to learn its size */
    if (replay != WMI_REPLAY_WINDOW) return WM_OK;
    const wm_status status = wmi_replay_split(p, err);
    if (p->split)
        p->passes = p->split_count;
    else
        p->window = WMI_WINDOW_RUN;
    return status;
}

/* ---- the plan ---- */

static wm_status fill(wmi_replay_plan *p, const char *const *names, const uint32_t *metric_of, size_t count,
                      wmi_plan *out, wm_error *err) {
    p->names = malloc((count ? count : 1) * sizeof *p->names);
    p->metric_of = malloc((count ? count : 1) * sizeof *p->metric_of);
    if (!p->names || !p->metric_of) return wmi_error_nomem(err);
    wm_status status = count ? keep_countable(p, names, metric_of, count, out, err) : WM_OK;
    if (status != WM_OK || p->count == 0) return status;
    status = set_of_all(p, err);
    if (status == WM_OK) status = choose_passes(p, out, err);
    return status == WM_OK ? add_passes(p, out, err) : status;
}

wm_status wmi_replay_plan_make(wmi_chip *chip, const char *const *names, const uint32_t *metric_of,
                               size_t count, const wmi_replay_how *how, wmi_plan *out, wmi_replay_plan **made,
                               wm_error *err) {
    *made = NULL;
    wmi_replay_plan *p = calloc(1, sizeof *p);
    if (!p) return wmi_error_nomem(err);
    p->chip = chip;
    p->opts = *how->opts;
    p->before = how->before;
    p->before_user = how->user;
    p->fallback = -1;
    pthread_mutex_init(&p->lock, NULL);
    const wm_status status = fill(p, names, metric_of, count, out, err);
    if (status == WM_OK && p->count)
        *made = p;
    else
        wmi_replay_plan_destroy(p);
    return status;
}

void wmi_replay_plan_destroy(wmi_replay_plan *p) {
    if (!p) return;
    if (p->window_open) wmi_launches_stop();
    wmi_replay_watch_stop(p->watch);
    if (p->at_work) wmi_replay_slots_end(p); /* else they may be at work for another plan */
    for (size_t i = 0; i < p->slot_count; i++) wmi_counters_destroy(p->slots[i].counters);
    wmi_context_wait_destroy(p->wait);
    set_free(&p->all);
    forget_split(p);
    wmi_readings_free(&p->pending);
    wmi_readings_free(&p->ready);
    free(p->names);
    free(p->metric_of);
    free(p->slots);
    free(p->first);
    free(p->shapes);
    free(p->fates);
    free(p->ranges);
    free(p->uncovered);
    free(p->readers);
    free(p->depth);
    free(p->due);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
