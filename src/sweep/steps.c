/* Steps: what happens between two calls of the function. Setting up, windows, caches
 * and stop rules live here, for C and for every other language alike. */
#include <stdlib.h>
#include <string.h>

#include "session/thread.h"
#include "sweep/sweep.h"

/* ---- configurations ---- */

static wm_status point_end(wm_sweep *sweep, wmi_point *p, wmi_config_state state, const char *why) {
    const char *key = wmi_samples_config_at(sweep->session->samples, p->config)->key;
    p->dead = true;
    if (state == WMI_CONFIG_FAILED) sweep->failed++;
    if (state == WMI_CONFIG_SKIPPED) sweep->skipped++;
    wmi_session_log(sweep->session, state == WMI_CONFIG_FAILED ? WM_LOG_ERROR : WM_LOG_INFO, "%s%s%s %s: %s",
                    sweep->name, *key ? " " : "", key, state == WMI_CONFIG_FAILED ? "failed" : "skipped",
                    why);
    return wmi_samples_set_state(sweep->session->samples, p->config, state, why);
}

/* Act on what the function said; true when the configuration goes on. */
static bool outcome_take(wm_sweep *sweep, wmi_point *p, const wm_state *st, wm_status *status) {
    if (st->outcome == WMI_OUTCOME_OK) return true;
    if (!p->dead)
        *status = point_end(
            sweep, p, st->outcome == WMI_OUTCOME_SKIP ? WMI_CONFIG_SKIPPED : WMI_CONFIG_FAILED, st->why);
    return false;
}

void wmi_sweep_leave(wm_sweep *sweep) {
    wmi_point *p = sweep->current;
    wmi_pool_destroy(sweep->pool);
    sweep->pool = NULL;
    sweep->current = NULL;
    if (!p || !sweep->teardown) return;
    wm_status ignored = WM_OK;
    wmi_state_reset(&sweep->states[0], sweep, p, 0, p->threads);
    sweep->teardown(&sweep->states[0]);
    outcome_take(sweep, p, &sweep->states[0], &ignored);
}

static wm_status states_grow(wm_sweep *sweep, size_t count) {
    if (count <= sweep->state_count) return WM_OK;
    wmi_notes *notes = realloc(sweep->notes, count * sizeof *notes);
    if (!notes) return WM_ENOMEM;
    sweep->notes = notes;
    wm_state *states = realloc(sweep->states, count * sizeof *states);
    if (!states) return WM_ENOMEM;
    memset(states + sweep->state_count, 0, (count - sweep->state_count) * sizeof *states);
    sweep->states = states;
    sweep->state_count = count;
    return WM_OK;
}

/* Set a configuration up. It is not the current one after when its set-up said no. */
static wm_status point_enter(wm_sweep *sweep, wmi_point *p, wm_error *err) {
    if (states_grow(sweep, (size_t)p->threads) != WM_OK) return wmi_error_nomem(err);
    sweep->data = NULL;
    wm_status status = WM_OK;
    if (p->threads > 1) {
        wm_error why = WM_ERROR_INIT;
        if (wmi_pool_create(p->threads, &sweep->pool, &why) != WM_OK)
            status = point_end(sweep, p, WMI_CONFIG_FAILED, why.message);
        if (!sweep->pool) return status == WM_OK ? WM_OK : wmi_error_nomem(err);
    }
    if (sweep->setup) {
        wmi_state_reset(&sweep->states[0], sweep, p, 0, p->threads);
        sweep->setup(&sweep->states[0]);
        if (!outcome_take(sweep, p, &sweep->states[0], &status)) {
            wmi_pool_destroy(sweep->pool);
            sweep->pool = NULL;
            return status == WM_OK ? WM_OK : wmi_error_nomem(err);
        }
    }
    sweep->current = p;
    return WM_OK;
}

/* ---- stopping ---- */

static wmi_rule_node *rule_node(wmi_point *p, uint32_t node) {
    for (size_t i = 0; i < p->rule_count; i++)
        if (p->rule[i].node == node) return &p->rule[i];
    wmi_rule_node *rule = realloc(p->rule, (p->rule_count + 1) * sizeof *rule);
    if (!rule) return NULL;
    p->rule = rule;
    p->rule[p->rule_count] = (wmi_rule_node){.node = node, .batch = 1};
    return &p->rule[p->rule_count++];
}

/* Take in what the last run added to the series that the rules look at. */
static wm_status rules_feed(wm_sweep *sweep, wmi_point *p) {
    const wm_session *s = sweep->session;
    const wmi_gauge *g = &sweep->measure->gauges[sweep->measure->rule_gauge];
    if (g->pass != 0) return WM_OK; /* nothing can be measured */
    for (size_t i = 0; i < s->touched_count; i++) {
        wmi_series *series;
        wm_status status = wmi_samples_series(s->samples, p->config, s->touched[i], g->metric, 0, &series);
        wmi_rule_node *r = status == WM_OK ? rule_node(p, s->touched[i]) : NULL;
        if (!r) return WM_ENOMEM;
        if (series->batch_max > r->batch) r->batch = series->batch_max;
        for (; r->seen < series->n; r->seen++)
            if (!wmi_series_reason(series, r->seen))
                wmi_running_add(&r->values, wmi_series_value(series, r->seen));
    }
    return WM_OK;
}

static double worse(double a, double b) { return a >= b || a != a ? a : b; } /* a NaN stays */

/* In a region without any value in two runs there will be none: no kernel is launched there, say. */
static bool is_empty(const wmi_rule_node *r) { return r->seen > 1 && r->values.n == 0; }

/* False: there is nothing that quality could be told from. */
static bool rules_view(const wm_sweep *sweep, const wmi_point *p, wmi_stop_view *v) {
    const wm_session *s = sweep->session;
    const wmi_gauge *g = &sweep->measure->gauges[sweep->measure->rule_gauge];
    const bool is_time = !strcmp(wmi_samples_metric_at(s->samples, g->metric)->unit, "ns");
    *v = (wmi_stop_view){p->runs, 0, p->elapsed_ns, 0, 0};
    bool regions = false;
    for (size_t i = 0; i < p->rule_count; i++) {
        const wmi_node *node = wmi_samples_node_at(s->samples, p->rule[i].node);
        regions |= node->parent != UINT32_MAX;
    }
    size_t n = 0, empty = 0;
    for (size_t i = 0; i < p->rule_count; i++) {
        const wmi_rule_node *r = &p->rule[i];
        const wmi_node *node = wmi_samples_node_at(s->samples, r->node);
        const bool root = node->parent == UINT32_MAX;
        if (root && regions) continue;
        if (is_empty(r)) {
            empty++;
            continue;
        }
        const bool outermost = root || wmi_samples_node_at(s->samples, node->parent)->parent == UINT32_MAX;
        if (outermost && is_time) v->measured_ns += r->values.mean * (double)r->values.n * (double)r->batch;
        n++;
        const double sd = wmi_running_stddev(&r->values);
        const double mean = r->values.mean < 0 ? -r->values.mean : r->values.mean;
        if (sd == 0) continue; /* also where all are 0 */
        v->noise = worse(v->noise, sd / mean);
        v->ci = worse(v->ci, wmi_running_rel_ci95(&r->values));
    }
    const bool nothing = g->pass != 0 || (n == 0 && empty > 0);
    if (n == 0) v->noise = v->ci = __builtin_nan("");
    if (!is_time || nothing) v->measured_ns = p->counted_ns;
    return !nothing;
}

static void rules_apply(wm_sweep *sweep, wmi_point *p) {
    wmi_stop_rules rules = sweep->rules;
    wmi_stop_view view;
    if (!rules_view(sweep, p, &view)) rules.max_noise = rules.target_ci = 0;
    const char *reason = wmi_stop_reason(&rules, &view);
    if (!reason) return;
    wmi_config *config = wmi_samples_config_at(sweep->session->samples, p->config);
    p->done = true;
    config->stop_reason = reason;
    wmi_session_log(sweep->session, WM_LOG_INFO, "%s%s%s ended after %lld run%s (%s)", sweep->name,
                    *config->key ? " " : "", config->key, (long long)p->runs, p->runs == 1 ? "" : "s",
                    reason);
}

static void point_log(const wm_sweep *sweep, const wmi_point *p) {
    const char *key = wmi_samples_config_at(sweep->session->samples, p->config)->key;
    wmi_session_log(sweep->session, WM_LOG_DEBUG, "%s%s%s is set up", sweep->name, *key ? " " : "", key);
}

/* A baseline's name can only be checked against the regions that were entered. */
static void baseline_check(wm_sweep *sweep) {
    wm_session *s = sweep->session;
    const char *wanted = sweep->options.normalize;
    const size_t n = wmi_samples_nodes(s->samples);
    const char **paths = wanted ? malloc((n + 1) * sizeof *paths) : NULL;
    size_t count = 0;
    bool several = false;
    for (size_t i = 0; i < n && paths; i++) {
        const wmi_node *node = wmi_samples_node_at(s->samples, (uint32_t)i);
        if (node->bench == sweep->bench) paths[count++] = node->path;
    }
    if (count && wmi_samples_find_node(s->samples, sweep->bench, wanted, &several) == UINT32_MAX) {
        char *near = wmi_nearest(wanted, paths, count);
        if (several)
            wmi_session_warn(s, "benchmark %s: several regions end in '%s': give the whole path", sweep->name,
                             wanted);
        else if (near && *near)
            wmi_session_warn(s, "benchmark %s has no region '%s' to normalise against; did you mean %s?",
                             sweep->name, wanted, near);
        else
            wmi_session_warn(s, "benchmark %s has no region '%s' to normalise against", sweep->name, wanted);
        free(near);
    }
    free(paths);
}

/* ---- the next step ---- */

bool wmi_sweep_wants(void *user, uint32_t point, int32_t pass, int64_t run) {
    const wm_sweep *sweep = user;
    const wmi_point *p = &sweep->points[point];
    if (p->dead) return false;
    if (pass == 0) return !p->done;
    if (run < 0 || run >= p->runs) return false;
    if (!sweep->measure->passes[pass].deferred) return true;
    if (sweep->options.counter_runs > 0 && run >= sweep->options.counter_runs) return false;
    return wmi_measure_wants(sweep->measure, pass, p->config);
}

/* Close the window that is open; what was read in deferred passes of the configuration at hand
 * becomes values then. */
static wm_status window_close(wm_sweep *sweep, wm_error *err) {
    wm_status status = wmi_pending_fold(sweep->session, sweep->measure, err);
    const wm_status closed = wmi_measure_window_close(sweep->measure, err);
    if (status == WM_OK) status = closed;
    if (status != WM_OK || !sweep->current) return status;
    if (sweep->current->dead) wmi_deferred_drop(sweep->measure);
    return wmi_deferred_fold(sweep->session, sweep->measure, sweep->current->config, err);
}

/* Wait until the device is cool enough for the point. False: it fails, or *status says why the sweep is over.
 * The time counts to no configuration. */
static bool cooled(wm_sweep *sweep, wmi_point *p, wm_status *status, wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    const int64_t begin_ns = (int64_t)wmi_monotonic_ns();
    const wm_status hot = wmi_thermal_guard(sweep, &why);
    sweep->step_end_ns += (int64_t)wmi_monotonic_ns() - begin_ns;
    if (hot == WM_EHOT) {
        sweep->hot++;
        *status = point_end(sweep, p, WMI_CONFIG_FAILED, why.message);
        if (*status != WM_OK) wmi_error_nomem(err);
    } else if (hot != WM_OK) {
        *err = why;
        *status = hot;
    }
    return hot == WM_OK;
}

/* The point that is due, set up; NULL when the sweep is over. */
static wmi_point *point_next(wm_sweep *sweep, wm_status *status, wm_error *err) {
    while (sweep->again || wmi_cursor_next(&sweep->cursor)) {
        sweep->attempt = sweep->again ? sweep->attempt + 1 : 0;
        sweep->again = false;
        wmi_point *p = &sweep->points[wmi_cursor_config(&sweep->cursor)];
        if (sweep->current != p) {
            *status = window_close(sweep, err);
            wmi_sweep_leave(sweep);
        }
        const bool cool = *status == WM_OK && cooled(sweep, p, status, err);
        if (*status != WM_OK) return NULL;
        if (!cool) continue;
        if (sweep->current != p) {
            *status = point_enter(sweep, p, err);
            if (*status != WM_OK) return NULL;
            if (sweep->current != p) continue;
            point_log(sweep, p);
        }
        if (sweep->cursor.at[WMI_DIM_PASS] == 0 && sweep->cursor.at[WMI_DIM_RUN] >= 0 && p->runs == 0) {
            rules_apply(sweep, p); /* the warm-up may have used up the time */
            if (p->done) continue;
        }
        return p;
    }
    return NULL;
}

/* The sweep cannot go on; every later step says why. */
static bool broken(wm_sweep *sweep, wm_status status, const wm_error *err) {
    if (err) sweep->broken = *err;
    sweep->broken.code = status;
    return false;
}

/* The members that there have been from the first version on. */
static const size_t step_size_min = offsetof(wm_step, first_pass) + sizeof(bool);

static void step_fill(const wm_sweep *sweep, wmi_point *p, wm_step *step) {
    const wm_step fresh = {
        .struct_size = step->struct_size,
        .state = &sweep->states[0],
        .benchmark = sweep->name,
        .config_key = wmi_samples_config_at(sweep->session->samples, p->config)->key,
        .config = wmi_cursor_config(&sweep->cursor),
        .run = sweep->cursor.at[WMI_DIM_RUN],
        .attempt = sweep->attempt,
        .pass = (int32_t)sweep->cursor.at[WMI_DIM_PASS],
        .threads = p->threads,
        .warmup = sweep->cursor.at[WMI_DIM_RUN] < 0,
        .first_pass = sweep->cursor.at[WMI_DIM_PASS] == 0,
    };
    memcpy(step, &fresh, step->struct_size < sizeof fresh ? step->struct_size : sizeof fresh);
}

static wm_status run_start(wm_sweep *sweep, int32_t pass, uint32_t config, int32_t run, wm_error *err) {
    wm_status status = WM_OK;
    if (pass != 0) status = wmi_pending_fold(sweep->session, sweep->measure, err);
    if (status == WM_OK) status = wmi_measure_window(sweep->measure, pass, config, run, err);
    if (status != WM_OK) {
        wmi_run_drop();
        return status;
    }
    if (sweep->evictor && sweep->measure->passes[pass].host) wmi_evictor_run(sweep->evictor);
    wmi_sensing_begin(sweep->measure->sensing); /* after it: what is read meanwhile is of no run */
    return wmi_run_begin(sweep->session, sweep->measure, pass, err);
}

/* Tools that listen see measured runs; a function that is known to mark no region, as one. */
static void show_begin(wm_sweep *sweep, const wmi_point *p) {
    wm_session *s = sweep->session;
    const int64_t run = sweep->cursor.at[WMI_DIM_RUN];
    s->shown = (wmi_shown){NULL, NULL};
    if (run >= 0) s->shown = (wmi_shown){wmi_session_nvtx(s), p->unmarked ? sweep->name : NULL};
    sweep->step_range = wmi_session_step_range(s, wmi_cursor_config(&sweep->cursor), run, sweep->name,
                                               wmi_samples_config_at(s->samples, p->config)->key);
}

/* The run has ended, and its marks are still there. */
static void show_end(wm_sweep *sweep, wmi_point *p) {
    const wm_session *s = sweep->session;
    if (s->shown.nvtx) wmi_nvtx_step_end(s->shown.nvtx, sweep->step_range);
    if (s->nvtx) p->unmarked = !wmi_threads_marked();
}

static wm_status step_start(wm_sweep *sweep, wmi_point *p, wm_error *err) {
    const int32_t pass = (int32_t)sweep->cursor.at[WMI_DIM_PASS],
                  run = (int32_t)sweep->cursor.at[WMI_DIM_RUN];
    const bool measuring = !sweep->options.profile, listened = wmi_session_nvtx(sweep->session);
    sweep->marking = measuring || listened;
    if (!sweep->marking) return WM_OK;
    wm_status status = wmi_run_claim(err);
    if (status != WM_OK) return status;
    show_begin(sweep, p);
    return measuring ? run_start(sweep, pass, p->config, run, err)
                     : wmi_run_begin(sweep->session, NULL, 0, err);
}

bool wm_sweep_next(wm_sweep *sweep, wm_step *step, wm_error *err) {
    wm_error local = WM_ERROR_INIT;
    if (!err) err = &local;
    *err = (wm_error)WM_ERROR_INIT;
    if (sweep->broken.code != WM_OK) {
        *err = sweep->broken;
        return false;
    }
    if (step->struct_size < step_size_min) {
        wmi_error_set(err, WM_EINVAL, 0, "wm_step: start from WM_STEP_INIT");
        return false;
    }
    if (sweep->in_step) {
        wmi_error_set(err, WM_ESTATE, 0, "wm_sweep_done must end the step at hand first");
        return false;
    }
    wm_status status = WM_OK;
    if (!sweep->cursor_made) {
        status = wmi_sweep_begin(sweep, err);
        if (status == WM_OK && wmi_collect_once(sweep) != WM_OK) status = wmi_error_nomem(err);
    }
    if (status != WM_OK) return broken(sweep, status, err);
    if (!sweep->step_end_ns) sweep->step_end_ns = (int64_t)wmi_monotonic_ns();
    wmi_point *p = point_next(sweep, &status, err);
    if (!p) {
        if (status == WM_OK) status = window_close(sweep, err);
        wmi_sweep_leave(sweep);
        wmi_sweep_end(sweep);
        baseline_check(sweep);
        return status == WM_OK ? false : broken(sweep, status, err);
    }
    if (wmi_collect_before(sweep, p) != WM_OK) return broken(sweep, wmi_error_nomem(err), err);
    for (int i = 0; i < p->threads; i++) wmi_state_reset(&sweep->states[i], sweep, p, i, p->threads);
    step_fill(sweep, p, step);
    sweep->in_step = true;
    sweep->step_due_ns = sweep->step_begin_ns = (int64_t)wmi_monotonic_ns();
    status = step_start(sweep, p, err);
    if (status != WM_OK) {
        sweep->in_step = false;
        return broken(sweep, status, err);
    }
    sweep->step_begin_ns = (int64_t)wmi_monotonic_ns();
    if (sweep->marking && p->threads == 1) wmi_thread_begin(wmi_thread_self(), WMI_ROOT_NAME);
    return true;
}

/* ---- calling ---- */

static void call_in_thread(void *user, int thread) {
    wm_sweep *sweep = user;
    wm_state *st = &sweep->states[thread];
    wmi_thread *t = WM_IS_ACTIVE() ? wmi_thread_self() : NULL;
    if (t) wmi_thread_begin(t, WMI_ROOT_NAME);
    sweep->run(st);
    if (t) wmi_thread_end(t, WMI_ROOT_NAME);
}

void wm_step_call(const wm_step *step) {
    wm_sweep *sweep = step->state->sweep;
    if (!sweep->run) {
        wm_fail(step->state, "benchmark %s has no function", sweep->name);
    } else if (sweep->pool) {
        wmi_pool_run(sweep->pool, call_in_thread, sweep);
    } else {
        sweep->run(step->state);
    }
}

/* ---- the end of a step ---- */

enum { ATTEMPTS = 3 };

/* Was a clock held down in the run, and is such a run not wanted? Counters are shares of what the clock
 * allows, so that only runs in which times are taken are run again. */
static bool is_throttled(const wm_sweep *sweep, int32_t pass) {
    return sweep->options.throttled == 2 && !sweep->measure->passes[pass].disturbs &&
           wmi_sensed_throttled(&sweep->sensed);
}

/* What the sensors said in the run that has just ended. */
static void state_take(wm_sweep *sweep, int64_t end_ns) {
    wmi_sensing *sensing = sweep->measure->sensing;
    wmi_sensed now;
    if (sweep->options.throttled == 2) /* a short run may lie between two readings */
        wmi_sensing_now(sensing, WMI_SENSOR_BIT(GPU_THROTTLE) | WMI_SENSOR_BIT(CPU_THROTTLE), &now);
    wmi_sensing_end(sensing, sweep->step_begin_ns, end_ns, &sweep->sensed);
}

static wm_status run_keep(wm_sweep *sweep, wmi_point *p, bool failed, int64_t end_ns, wm_error *err) {
    const bool throttled = is_throttled(sweep, (int32_t)sweep->cursor.at[WMI_DIM_PASS]);
    wm_session *s = sweep->session;
    const size_t n = (size_t)p->threads;
    for (size_t i = 0; i < n; i++) sweep->notes[i] = sweep->states[i].notes;
    const int64_t run = sweep->cursor.at[WMI_DIM_RUN];
    const wmi_run_place place = {.bench = sweep->bench,
                                 .config = p->config,
                                 .run = (int32_t)run,
                                 .pass = (int32_t)sweep->cursor.at[WMI_DIM_PASS],
                                 .attempt = sweep->attempt,
                                 .warmup = run < 0 || sweep->again,
                                 .failed = failed,
                                 .later = sweep->rules.runs >= 0 && !sweep->prompt &&
                                          sweep->options.throttled != 2 && !wmi_collects_regions(sweep),
                                 .throttled = throttled};
    const wmi_run kept = {p->config,
                          place.run,
                          place.pass,
                          place.attempt,
                          sweep->step_begin_ns,
                          end_ns,
                          (run < 0 ? WMI_RUN_WARMUP : 0u) | (failed ? WMI_RUN_FAILED : 0u) |
                              (sweep->again ? WMI_RUN_DISCARDED : 0u)};
    wm_status status = wmi_run_fold(s, sweep->measure, &place, sweep->notes, n, err);
    if (status == WM_OK && (wmi_samples_run(s->samples, &kept) != WM_OK ||
                            wmi_session_state(s, sweep->measure, &place, &sweep->sensed) != WM_OK))
        status = wmi_error_nomem(err);
    return status;
}

static void warn_repeat(wm_sweep *sweep) {
    if (!__atomic_load_n(&sweep->repeat_seen, __ATOMIC_RELAXED)) return;
    wmi_session_warn(
        sweep->session,
        "benchmark %s: WM_REPEAT ran its body once a run, because --cache-control all and repetition "
        "exclude each other",
        sweep->name);
}

wm_status wm_sweep_done(wm_sweep *sweep, const wm_step *step, wm_status given, const char *why,
                        wm_error *err) {
    if (!sweep->in_step || step->state != &sweep->states[0])
        return wmi_error_set(err, WM_ESTATE, 0, "wm_sweep_next must begin a step first");
    wmi_point *p = sweep->current;
    const bool measuring = !sweep->options.profile;
    if (sweep->marking) {
        wmi_thread *t = p->threads == 1 ? wmi_thread_self() : NULL;
        if (t) wmi_thread_end(t, WMI_ROOT_NAME);
        wmi_run_end(sweep->session);
        show_end(sweep, p);
    }
    const int64_t end_ns = (int64_t)wmi_monotonic_ns();
    if (measuring) state_take(sweep, end_ns);
    sweep->in_step = false;
    p->elapsed_ns += (double)(end_ns - sweep->step_due_ns);
    p->spent_ns += (double)(end_ns - sweep->step_end_ns);
    p->steps++;
    sweep->step_end_ns = end_ns;

    wm_status status = WM_OK;
    if (given != WM_OK) wm_fail(&sweep->states[0], "%s", why ? why : wm_status_text(given));
    bool good = true;
    for (int i = 0; i < p->threads; i++) good &= outcome_take(sweep, p, &sweep->states[i], &status);
    const int32_t pass = (int32_t)sweep->cursor.at[WMI_DIM_PASS];
    sweep->again = measuring && good && status == WM_OK && sweep->cursor.at[WMI_DIM_RUN] >= 0 &&
                   sweep->attempt + 1 < ATTEMPTS && is_throttled(sweep, pass);
    sweep->discarded += sweep->again;
    const bool counts = pass == 0 && sweep->cursor.at[WMI_DIM_RUN] >= 0 && !sweep->again;
    if (status != WM_OK) wmi_error_nomem(err);
    if (measuring) {
        const wm_status kept = run_keep(sweep, p, !good, end_ns, err);
        if (status == WM_OK) status = kept;
    } else if (sweep->marking) {
        wmi_run_drop();
    }
    if (status == WM_OK && counts) {
        p->runs++;
        p->counted_ns += (double)(end_ns - sweep->step_begin_ns);
        if (measuring && good && rules_feed(sweep, p) != WM_OK) status = wmi_error_nomem(err);
        if (status == WM_OK && good) rules_apply(sweep, p);
        if (status == WM_OK && good && wmi_collect_after(sweep, p) != WM_OK) status = wmi_error_nomem(err);
    }
    warn_repeat(sweep);
    if (status != WM_OK) broken(sweep, status, err);
    return status;
}

wm_status wm_sweep_run(wm_sweep *sweep, wm_error *err) {
    wm_error local = WM_ERROR_INIT;
    wm_step step = WM_STEP_INIT;
    if (!err) err = &local;
    while (wm_sweep_next(sweep, &step, err)) {
        wm_step_call(&step);
        const wm_status status = wm_sweep_done(sweep, &step, WM_OK, NULL, err);
        if (status != WM_OK) return status;
    }
    if (err->code != WM_OK) return err->code;
    return wm_sweep_outcome(sweep, err);
}

wm_status wm_sweep_outcome(const wm_sweep *sweep, wm_error *err) {
    if (sweep->hot)
        return wmi_error_set(
            err, WM_EHOT, 0,
            "%d of %zu configurations of %s failed, %d of them because the device did not cool "
            "down in time",
            sweep->failed, sweep->point_count, sweep->name, sweep->hot);
    if (sweep->failed)
        return wmi_error_set(err, WM_EFAILED, 0, "%d of %zu configurations of %s failed", sweep->failed,
                             sweep->point_count, sweep->name);
    return WM_OK;
}

void wm_sweep_on_wait(wm_sweep *sweep, wm_wait_fn fn, void *user) {
    sweep->thermal.on_wait = fn;
    sweep->thermal.on_wait_user = user;
}

double wmi_sweep_left_ns(const wm_sweep *sweep, double step_ns) {
    const wmi_stop_rules *rules = &sweep->rules;
    const double most = (double)(rules->runs >= 0 ? rules->runs : rules->max_runs);
    const double passes = sweep->options.profile ? 1 : (double)sweep->measure->pass_count;
    double left = 0;
    for (size_t i = 0; i < sweep->point_count; i++) {
        const wmi_point *p = &sweep->points[i];
        if (p->dead) continue;
        const double pace = p->steps ? p->spent_ns / (double)p->steps : step_ns;
        double runs = p->done ? (double)p->runs : most;
        if (!p->done && rules->timeout_ns > 0 && runs * pace > (double)rules->timeout_ns)
            runs = (double)rules->timeout_ns / pace;
        const double steps = runs * passes + (double)sweep->options.warmup - (double)p->steps;
        if (steps > 0) left += steps * pace;
    }
    return left;
}
