#include "session/measure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "session/thread.h"

/* ---- resolving names ---- */

typedef struct name_list {
    const char **v;
    size_t n, cap;
} name_list;

static wm_status collect_name(void *user, const wmi_metric *m, bool available, const char *why_not) {
    name_list *l = user;
    (void)available;
    (void)why_not;
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 256;
        const char **v = realloc(l->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        l->v = v;
        l->cap = cap;
    }
    const uint32_t id = wmi_intern(m->name);
    if (!id) return WM_ENOMEM;
    l->v[l->n++] = wmi_intern_name(id);
    return WM_OK;
}

/* `why`: what the first backend said of the name. */
static wm_status unknown_metric(const char *name, const wm_error *why, wm_error *err) {
    name_list known = {NULL, 0, 0};
    const wmi_metric_list list = {&known, collect_name};
    for (size_t b = 0; wmi_backends[b]; b++) wmi_backends[b]->list(NULL, NULL, &list, NULL);
    char *near = wmi_nearest(name, known.v, known.n);
    if (near && *near)
        wmi_error_set(err, WM_ENOTFOUND, 0, "unknown metric '%s'; did you mean %s?", name, near);
    else
        wmi_error_set(err, WM_ENOTFOUND, 0,
                      "unknown metric '%.100s'; --list-metrics shows those there are%s (%s)", name,
                      wmi_backends_left_out(), why->message);
    free(near);
    free(known.v);
    return WM_ENOTFOUND;
}

static wm_status gauge_resolve(const char *name, wmi_gauge *out, wm_error *err) {
    wm_error why = WM_ERROR_INIT; /* of the first, whose names are the least peculiar */
    for (uint32_t b = 0; wmi_backends[b]; b++) {
        wm_error said = WM_ERROR_INIT;
        const wm_status s = wmi_backends[b]->describe(NULL, name, &out->about, &said);
        if (b == 0) why = said;
        if (s == WM_ENOTFOUND) continue;
        if (s != WM_OK && err) *err = said;
        out->backend = b;
        return s;
    }
    return unknown_metric(name, &why, err);
}

wm_status wmi_measure_knows(void *chip, const char *name) {
    wmi_metric about;
    for (size_t b = 0; wmi_backends[b]; b++) {
        const wm_status s = wmi_backends[b]->describe(chip, name, &about, NULL);
        if (s != WM_ENOTFOUND) return s;
    }
    return WM_ENOTFOUND;
}

/* ---- opening and planning ---- */

static wm_status source_add(wmi_measure *m, uint32_t backend, uint32_t gauge, wm_error *err) {
    wmi_source *source = &m->sources[backend];
    const char **names = realloc(source->names, (source->count + 1) * sizeof *names);
    if (!names) return wmi_error_nomem(err);
    source->names = names;
    uint32_t *gauges = realloc(source->gauges, (source->count + 1) * sizeof *gauges);
    if (!gauges) return wmi_error_nomem(err);
    source->gauges = gauges;
    source->names[source->count] = m->gauges[gauge].about.name;
    source->gauges[source->count] = gauge;
    m->gauges[gauge].local = (uint32_t)source->count++;
    return WM_OK;
}

static wmi_joint_pass *pass_add(wmi_measure *m, const wmi_pass *pass) {
    wmi_joint_pass *passes = realloc(m->passes, (m->pass_count + 1) * sizeof *passes);
    if (!passes) return NULL;
    m->passes = passes;
    wmi_joint_pass *joint = &passes[m->pass_count++];
    *joint = (wmi_joint_pass){.disturbs = pass->disturbs,
                              .deferred = pass->deferred,
                              .optional = pass->optional,
                              .window = pass->window};
    for (size_t i = 0; i < WMI_BACKENDS_MAX; i++) joint->local[i] = -1;
    return joint;
}

/* Merge one backend's passes of one sort (those that leave time alone, or those
 * that disturb it) into the joint list. */
static wm_status passes_merge(wmi_measure *m, uint32_t b, const wmi_plan *plan, bool disturbs,
                              int32_t *joint_of, wm_error *err) {
    size_t shared = 0; /* next clean joint pass that this backend may share */
    for (size_t p = 0; p < plan->pass_count; p++) {
        const wmi_pass *pass = &plan->passes[p];
        if (pass->disturbs != disturbs) continue;
        wmi_joint_pass *joint = NULL;
        if (!disturbs && shared < m->pass_count) joint = &m->passes[shared];
        if (!joint) joint = pass_add(m, pass);
        if (!joint) return wmi_error_nomem(err);
        shared = (size_t)(joint - m->passes) + 1;
        joint->local[b] = (int32_t)p;
        joint->edges |= pass->edges;
        joint->host |= !m->sources[b].ops->device;
        if (pass->window > joint->window) joint->window = pass->window;
        joint_of[p] = (int32_t)(joint - m->passes);
    }
    return WM_OK;
}

static wm_status gauges_place(wmi_measure *m, uint32_t b, const wmi_plan *plan, const int32_t *joint_of,
                              wm_error *err) {
    const wmi_source *source = &m->sources[b];
    for (size_t i = 0; i < source->count; i++) {
        wmi_gauge *g = &m->gauges[source->gauges[i]];
        g->pass = plan->pass_of[i] < 0 ? -1 : joint_of[plan->pass_of[i]];
        if (g->pass >= 0) continue;
        g->reason = plan->reason[i];
        if (!plan->why[i]) continue;
        const uint32_t id = wmi_intern(plan->why[i]);
        if (!id) return wmi_error_nomem(err);
        g->why = wmi_intern_name(id);
    }
    return WM_OK;
}

static wm_status sources_plan(wmi_measure *m, wm_error *err) {
    wmi_plan plans[WMI_BACKENDS_MAX] = {{0}};
    int32_t *joint_of[WMI_BACKENDS_MAX] = {NULL};
    wm_status status = WM_OK;
    for (uint32_t b = 0; b < m->source_count && status == WM_OK; b++) {
        const wmi_source *source = &m->sources[b];
        if (!source->count) continue;
        const wmi_metric_set set = {source->names, source->count};
        status = source->ops->plan(source->self, &set, &plans[b], err);
        if (status != WM_OK) break;
        joint_of[b] = malloc((plans[b].pass_count + 1) * sizeof *joint_of[b]);
        status = joint_of[b] ? WM_OK : wmi_error_nomem(err);
    }
    for (int disturbs = 0; disturbs < 2; disturbs++)
        for (uint32_t b = 0; b < m->source_count && status == WM_OK; b++)
            if (joint_of[b]) status = passes_merge(m, b, &plans[b], disturbs, joint_of[b], err);
    for (uint32_t b = 0; b < m->source_count; b++) {
        if (status == WM_OK && joint_of[b]) status = gauges_place(m, b, &plans[b], joint_of[b], err);
        free(joint_of[b]);
        wmi_plan_free(&plans[b]);
    }
    return status; /* NOLINT(clang-analyzer-unix.Malloc): the loop before freed every joint_of */
}

static wm_status sources_open(wmi_measure *m, const wmi_measure_opts *o, wm_error *err) {
    for (uint32_t b = 0; b < m->source_count; b++) {
        wmi_source *source = &m->sources[b];
        if (!source->count) continue;
        const wmi_metric_set set = {source->names, source->count};
        const wmi_backend_opts opts = {.set = &set,
                                       .warn = o->warn,
                                       .user = o->user,
                                       .device = o->device,
                                       .launch_entry = wmi_launch_entry,
                                       .launch_run = wmi_run_number,
                                       .exclude = wmi_thread_exclude};
        const wm_status s = source->ops->open(&opts, &source->self, err);
        if (s != WM_OK) return s;
    }
    return WM_OK;
}

static wm_status gauges_add(wmi_measure *m, wmi_samples *samples, const char *const *names, size_t count,
                            wm_error *err) {
    for (size_t i = 0; i < count; i++) {
        wmi_gauge g = {0};
        wm_status s = gauge_resolve(names[i], &g, err);
        bool again = false;
        for (size_t k = 0; s == WM_OK && k < m->gauge_count; k++)
            again |= !strcmp(m->gauges[k].about.name, g.about.name);
        if (again) continue;
        if (s == WM_OK && wmi_samples_metric(samples, &g.about, &g.metric) != WM_OK) s = wmi_error_nomem(err);
        if (s != WM_OK) return s;
        g.about = *wmi_samples_metric_at(samples, g.metric);
        m->has_device |= wmi_backends[g.backend]->device;
        if (!strcmp(g.about.name, "time")) m->time = (int32_t)m->gauge_count;
        if (!strcmp(g.about.name, "time_sum")) m->time_sum = (int32_t)m->gauge_count;
        m->gauges[m->gauge_count] = g;
        s = source_add(m, g.backend, (uint32_t)m->gauge_count++, err);
        if (s != WM_OK) return s;
    }
    return WM_OK;
}

/* ---- combining kernels ---- */

/* Only what is read of kernels, or of their times, is combined over kernels. */
static bool combines(const wmi_gauge *g) {
    if (g->about.of != WMI_OF_NONE) return g->about.of == WMI_OF_KERNEL_TIME;
    return wmi_backends[g->backend]->device;
}

static void combine_set(wmi_measure *m, const wmi_measure_opts *opts) {
    m->combine_with = opts->combine_with;
    m->combine_user = opts->combine_user;
    for (size_t i = 0; i < m->gauge_count; i++) {
        wmi_gauge *g = &m->gauges[i];
        if (!combines(g)) continue;
        const wmi_combine usual =
            m->combine_with && g->about.of == WMI_OF_NONE ? WMI_COMBINE_USER : g->about.combine;
        g->about.combine = usual;
        if (opts->combine_find)
            opts->combine_find(opts->combine_how, g->about.name, usual, &g->about.combine);
    }
}

wm_status wmi_measure_open(wmi_samples *samples, const char *const *names, size_t count,
                           const wmi_measure_opts *opts, wmi_measure **out, wm_error *err) {
    wmi_measure *m = calloc(1, sizeof *m);
    if (!m) return wmi_error_nomem(err);
    m->time = m->time_sum = -1;
    m->gauges = calloc(count + 1, sizeof *m->gauges);
    while (m->source_count < WMI_BACKENDS_MAX && wmi_backends[m->source_count]) {
        m->sources[m->source_count].ops = wmi_backends[m->source_count];
        m->source_count++;
    }
    wm_status s = m->gauges ? gauges_add(m, samples, names, count, err) : wmi_error_nomem(err);
    m->keep_first = opts->keep_first;
    if (s == WM_OK) combine_set(m, opts);
    if (s == WM_OK) s = sources_open(m, opts, err);
    if (s == WM_OK) s = sources_plan(m, err);
    for (size_t p = 0; p < m->pass_count && s == WM_OK; p++)
        for (size_t b = 0; b < m->source_count; b++)
            m->device_clean |=
                m->sources[b].ops->device && m->passes[p].local[b] >= 0 && !m->passes[p].deferred;
    /* With nothing that can be had the function still runs, so that rows can say why. */
    const wmi_pass clean = {.window = WMI_WINDOW_CONFIG};
    if (s == WM_OK && m->pass_count == 0) {
        wmi_joint_pass *only = pass_add(m, &clean);
        if (only) only->host = true;
        if (!only) s = wmi_error_nomem(err);
    }
    if (s != WM_OK) {
        wmi_measure_close(m);
        return s;
    }
    for (uint32_t i = (uint32_t)m->gauge_count; i-- > 0;)
        if (m->gauges[i].pass == 0) m->rule_gauge = i;
    if (m->time >= 0) m->rule_gauge = (uint32_t)m->time;
    *out = m;
    return WM_OK;
}

wm_status wmi_measure_watch(wmi_measure *m, const wmi_sensing_opts *opts, wm_error *err) {
    wmi_sensing_source sources[WMI_BACKENDS_MAX];
    for (size_t b = 0; b < m->source_count; b++)
        sources[b] = (wmi_sensing_source){m->sources[b].ops, m->sources[b].self};
    return wmi_sensing_create(sources, m->source_count, opts, &m->sensing, err);
}

wm_status wmi_measure_lock_clocks(wmi_measure *m, const wmi_clock_request *request, double *held_hz,
                                  wm_error *err) {
    for (size_t b = 0; b < m->source_count; b++) {
        const wmi_source *source = &m->sources[b];
        if (!source->self || !source->ops->lock_clocks) continue;
        m->clocks_held = true;
        return source->ops->lock_clocks(source->self, request, held_hz, err);
    }
    return wmi_error_set(err, WM_EUNSUPPORTED, 0,
                         "nothing that is measured has clocks that can be held: --lock-clocks is for GPUs");
}

void wmi_measure_unlock_clocks(wmi_measure *m) {
    if (!m->clocks_held) return;
    m->clocks_held = false;
    for (size_t b = 0; b < m->source_count; b++)
        if (m->sources[b].self && m->sources[b].ops->unlock_clocks)
            m->sources[b].ops->unlock_clocks(m->sources[b].self);
}

void wmi_measure_close(wmi_measure *m) {
    if (!m) return;
    wmi_measure_window_close(m, NULL);
    wmi_sensing_destroy(m->sensing);
    wmi_measure_unlock_clocks(m);
    for (size_t b = 0; b < m->source_count; b++) {
        wmi_source *source = &m->sources[b];
        if (source->self) source->ops->close(source->self);
        free(source->names);
        free(source->gauges);
    }
    wmi_readings_free(&m->deferred.readings);
    free(m->deferred.v);
    wmi_pending_drop(&m->pending);
    free(m->pending.v);
    free(m->gauges);
    free(m->passes);
    free(m);
}

bool wmi_measure_wants(wmi_measure *m, int32_t pass, uint32_t config) {
    const wmi_joint_pass *joint = &m->passes[pass];
    if (!joint->optional) return true;
    if (m->window.pass != pass) wmi_measure_window_close(m, &m->failed);
    for (size_t b = 0; b < m->source_count; b++) {
        const wmi_source *source = &m->sources[b];
        if (joint->local[b] >= 0 && source->ops->wants)
            return source->ops->wants(source->self, joint->local[b], config);
    }
    return true;
}

size_t wmi_measure_late(const wmi_measure *m) {
    size_t p = 0;
    while (p < m->pass_count && !m->passes[p].deferred) p++;
    return p;
}

/* ---- windows ---- */

static bool window_same(const wmi_window *a, const wmi_window *b) {
    if (a->pass != b->pass || a->kind != b->kind) return false;
    if (a->kind >= WMI_WINDOW_CONFIG && a->config != b->config) return false;
    return a->kind < WMI_WINDOW_RUN || a->run == b->run;
}

/* What a window of a backend opens may be there once in a process, as the callbacks of a vendor's
 * library are: one measure at a time has a window open. */
static pthread_mutex_t windows = PTHREAD_MUTEX_INITIALIZER;
static wmi_measure *holder;

static wm_status close_locked(wmi_measure *m, wm_error *err) {
    wm_status status = WM_OK;
    if (holder != m) return WM_OK;
    holder = NULL;
    const wmi_joint_pass *joint = &m->passes[m->window.pass];
    for (size_t b = 0; b < m->source_count; b++) {
        const wmi_source *source = &m->sources[b];
        if (joint->local[b] < 0 || !source->ops->close_window) continue;
        wmi_window w = m->window;
        w.pass = joint->local[b];
        const wm_status s = source->ops->close_window(source->self, &w, err);
        if (status == WM_OK) status = s;
    }
    return status;
}

static wm_status open_locked(wmi_measure *m, const wmi_window *window, wm_error *err) {
    const wmi_joint_pass *joint = &m->passes[window->pass];
    wm_status status = WM_OK;
    m->window = *window;
    holder = m;
    for (size_t b = 0; b < m->source_count && status == WM_OK; b++) {
        const wmi_source *source = &m->sources[b];
        wmi_window w = *window;
        w.pass = joint->local[b];
        if (w.pass >= 0 && source->ops->open_window) status = source->ops->open_window(source->self, &w, err);
    }
    if (status != WM_OK) (void)close_locked(m, NULL);
    return status;
}

static wm_status change_locked(wmi_measure *m, const wmi_window *window, wm_error *err) {
    if (holder == m && window_same(window, &m->window)) return WM_OK;
    if (holder && holder != m) (void)close_locked(holder, &holder->failed);
    const wm_status status = close_locked(m, err);
    if (status != WM_OK) return status;
    if (m->failed.code == WM_OK) return open_locked(m, window, err);
    if (err) *err = m->failed;
    return m->failed.code;
}

wm_status wmi_measure_window(wmi_measure *m, int32_t pass, uint32_t config, int32_t run, wm_error *err) {
    const wmi_window window = {m->passes[pass].window, pass, config, run};
    pthread_mutex_lock(&windows);
    const wm_status status = change_locked(m, &window, err);
    pthread_mutex_unlock(&windows);
    return status;
}

wm_status wmi_measure_window_close(wmi_measure *m, wm_error *err) {
    pthread_mutex_lock(&windows);
    const wm_status status = close_locked(m, err);
    pthread_mutex_unlock(&windows);
    return status;
}
