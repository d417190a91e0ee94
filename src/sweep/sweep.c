#include "sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/groups.h"

enum { RUNS_DEFAULT = 10, WARMUP_DEFAULT = 1, MIN_RUNS_DEFAULT = 10, MAX_RUNS_DEFAULT = 100000 };
static const int64_t timeout_default_ns = 30000000000; /* of a configuration run until it is good enough */
static const int64_t batch_time_default_ns = 1000000;

/* ---- reading the options ---- */

wm_status wmi_sweep_blame(const wm_sweep *sweep, wm_status status, wm_error *err) {
    if (status == WM_OK || status == WM_ENOMEM || !err) return status;
    return wmi_error_set(err, status, err->native_code, "benchmark %.100s: %s", sweep->name, err->message);
}

static wm_status options_read(wm_sweep *sweep, const wm_benchmark *bench, int argc, const char *const *argv,
                              wm_error *err) {
    wmi_options *o = &sweep->options;
    wmi_options_init(o);
    wm_status status = WM_OK;
    if (bench->options && *bench->options) {
        char **words = NULL;
        size_t count = 0;
        wmi_buf where = WMI_BUF_INIT;
        wmi_buf_printf(&where, "benchmark %s", sweep->name);
        status = where.failed
                     ? wmi_error_nomem(err)
                     : wmi_sweep_blame(sweep, wmi_words_split(bench->options, &words, &count, err), err);
        if (status == WM_OK)
            status = wmi_options_parse(o, (int)count, (const char *const *)words, false, where.data, err);
        free(words);
        wmi_buf_free(&where);
    }
    if (status == WM_OK && argc > 0) status = wmi_options_parse(o, argc, argv, true, NULL, err);
    if (status == WM_OK) status = wmi_sweep_blame(sweep, wmi_options_check(o, err), err);
    if (status == WM_OK) status = wmi_profile_asked(&sweep->session->profile_runs, err);
    o->profile = o->profile || sweep->session->profile_runs;
    return status;
}

static bool adaptive(const wmi_options *o) {
    return o->min_time_ns > 0 || o->max_noise > 0 || o->target_ci > 0 || o->min_runs > 0 || o->max_runs > 0;
}

static void rules_set(wm_sweep *sweep) {
    wmi_options *o = &sweep->options;
    wmi_stop_rules *r = &sweep->rules;
    *r = (wmi_stop_rules){.runs = o->runs, .timeout_ns = o->timeout_ns};
    if (o->profile) { /* what is shown to others is warm, and the warm-up is not shown */
        const bool shown = sweep->session->profile_runs || wmi_session_nvtx(sweep->session);
        r->runs = sweep->session->profile_runs ? sweep->session->profile_runs : 1;
        o->warmup = shown;
    } else if (o->runs < 0 && !adaptive(o)) {
        r->runs = RUNS_DEFAULT;
    } else if (o->runs < 0) {
        r->min_runs = o->min_runs > 0 ? o->min_runs : MIN_RUNS_DEFAULT;
        r->max_runs = o->max_runs > 0 ? o->max_runs : MAX_RUNS_DEFAULT;
        if (o->max_runs > 0 && o->min_runs == 0 && r->min_runs > r->max_runs) r->min_runs = r->max_runs;
        if (r->max_runs < r->min_runs) r->max_runs = r->min_runs;
        r->min_time_ns = o->min_time_ns;
        r->max_noise = o->max_noise;
        r->target_ci = o->target_ci;
        if (r->timeout_ns <= 0) r->timeout_ns = timeout_default_ns;
    }
    if (o->warmup < 0) o->warmup = WARMUP_DEFAULT;
    if (o->batch_time_ns <= 0) o->batch_time_ns = batch_time_default_ns;
}

/* ---- metrics and derived metrics ---- */

/* Move the labels of a group. */
static wm_status labels_take(wmi_group *group, wmi_rows_how *how) {
    if (group->bound_count == 0) return WM_OK;
    wmi_label *labels = realloc(how->labels, (how->label_count + group->bound_count) * sizeof *labels);
    if (!labels) return WM_ENOMEM;
    how->labels = labels;
    for (size_t i = 0; i < group->bound_count; i++) {
        wmi_bound *b = &group->bounds[i];
        labels[how->label_count++] = (wmi_label){b->compute, b->memory, b->latency_below};
        b->compute = b->memory = NULL;
    }
    return WM_OK;
}

/* Replace each group by its metrics; its formulas join the derived ones. */
static wm_status metrics_expand(const wmi_options *o, wmi_list *metrics, wmi_list *derive, wmi_rows_how *how,
                                wm_error *err) {
    /* The other profiler may hold what a metric would need, so none is so much as looked up. */
    if (o->profile) return wmi_list_add(metrics, "time", 4) == WM_OK ? WM_OK : wmi_error_nomem(err);
    wm_status status = WM_OK;
    for (size_t i = 0; i < o->metrics.n && status == WM_OK; i++) {
        const char *name = o->metrics.v[i];
        if (strncmp(name, "group:", 6)) {
            status = wmi_list_add(metrics, name, strlen(name)) == WM_OK ? WM_OK : wmi_error_nomem(err);
            continue;
        }
        wmi_group group = {0};
        status = wmi_group_load(name + 6, &group, err);
        if (status == WM_OK) status = wmi_group_choose(&group, wmi_measure_knows, NULL, err);
        for (size_t k = 0; k < group.metrics.n && status == WM_OK; k++)
            status = wmi_list_add(metrics, group.metrics.v[k], strlen(group.metrics.v[k]));
        for (size_t k = 0; k < group.derive.n && status == WM_OK; k++)
            status = wmi_list_add(derive, group.derive.v[k], strlen(group.derive.v[k]));
        if (status == WM_OK) status = labels_take(&group, how);
        wmi_group_fini(&group);
    }
    if (status == WM_OK && metrics->n == 0) status = wmi_list_add(metrics, "time", 4);
    for (size_t i = 0; i < o->derive.n && status == WM_OK; i++)
        status = wmi_list_add(derive, o->derive.v[i], strlen(o->derive.v[i]));
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}

static wm_status derivation_copy(const wm_derivation *d, wm_derivation *out, wm_error *err) {
    if (!d->metric || !*d->metric || !d->compute)
        return wmi_error_set(err, WM_EINVAL, 0, "a derivation needs a name and a function");
    out->metric = wmi_strdup(d->metric);
    out->unit = wmi_strdup(d->unit ? d->unit : "");
    out->inputs = wmi_strdup(d->inputs ? d->inputs : "");
    out->compute = d->compute;
    return out->metric && out->unit && out->inputs ? WM_OK : wmi_error_nomem(err);
}

static wm_status how_make(const wm_sweep *sweep, const wm_benchmark *bench, const wmi_list *derive,
                          wmi_rows_how *how, wm_error *err) {
    const wmi_options *o = &sweep->options;
    const size_t n = derive->n + bench->derivation_count;
    how->stable_threshold = o->stable_threshold > 0 ? o->stable_threshold : 0.02;
    how->tag_throttled = o->throttled != 1; /* where runs are discarded, counters may still be of such */
    how->clock_requested = wmi_null(WM_REASON_NOT_APPLICABLE);
    how->formulas = calloc(derive->n + 1, sizeof(wmi_formula *));
    how->derivations = calloc(bench->derivation_count + 1, sizeof *how->derivations);
    how->derive = calloc(n + 1, sizeof *how->derive);
    if (o->normalize) how->baseline = wmi_strdup(o->normalize);
    if (!how->formulas || !how->derivations || !how->derive || (o->normalize && !how->baseline))
        return wmi_error_nomem(err);
    for (size_t i = 0; i < derive->n; i++) {
        const wm_status status = wmi_formula_parse(derive->v[i], &how->formulas[i], err);
        if (status != WM_OK) return status;
        how->formula_count++;
        how->derive[i].formula = how->formulas[i];
    }
    for (size_t i = 0; i < bench->derivation_count; i++) {
        const size_t at = how->derivation_count++;
        const wm_status status = derivation_copy(&bench->derivations[i], &how->derivations[at], err);
        if (status != WM_OK) return status;
        how->derive[derive->n + i] = (wmi_derive){NULL, &how->derivations[at], bench->user};
    }
    return WM_OK;
}

static void warn_measure(void *user, const char *line) { wmi_session_warn(user, "%s", line); }

static bool combine_find(const void *how, const char *metric, wmi_combine usual, wmi_combine *out) {
    return wmi_combine_find(how, metric, usual, out);
}

/* A metric that is known but not measured is fine: one command line may be for several benchmarks. */
static wm_status combine_check(const wmi_list *combine, const wmi_list *metrics, wm_error *err) {
    for (size_t i = 0; i < combine->n; i++) {
        char name[128];
        const char *item = combine->v[i], *equals = strchr(item, '=');
        const int n = equals ? (int)(equals - item) : 0;
        if (!equals || snprintf(name, sizeof name, "%.*s", n, item) >= (int)sizeof name) continue;
        const wm_status known = wmi_measure_knows(NULL, name);
        if (known != WM_ENOTFOUND && known != WM_EINVAL) continue;
        char *near = wmi_nearest(name, (const char *const *)metrics->v, metrics->n);
        wmi_error_set(err, WM_EINVAL, 0, "--combine: there is no metric '%s'%s%s%s", name,
                      near && *near ? "; did you mean " : "", near ? near : "", near && *near ? "?" : "");
        free(near);
        return WM_EINVAL;
    }
    return WM_OK;
}

/* A metric that is read in a later pass has no values while the number of runs is found. */
static wm_status rules_check(const wmi_stop_rules *rules, const wmi_measure *m, wm_error *err) {
    const wmi_gauge *late = NULL;
    if (rules->max_noise <= 0 && rules->target_ci <= 0) return WM_OK;
    for (size_t i = 0; i < m->gauge_count; i++) {
        if (m->gauges[i].pass == 0) return WM_OK;
        if (m->gauges[i].pass > 0 && !late) late = &m->gauges[i];
    }
    if (!late) return WM_OK;
    return wmi_error_set(
        err, WM_EINVAL, 0,
        "--%s looks at what is read in the first pass, and '%s' is read in a later one: add %s "
        "to --metrics",
        rules->max_noise > 0 ? "max-noise" : "target-ci", late->about.name,
        m->sources[late->backend].ops->device ? "kernel_time" : "time");
}

static wm_status measuring_make(wm_sweep *sweep, const wm_benchmark *bench, wm_error *err) {
    wm_session *s = sweep->session;
    wmi_list metrics = {NULL, 0, 0}, derive = {NULL, 0, 0};
    wmi_rows_how how = {0};
    const wmi_options *o = &sweep->options;
    const wmi_measure_opts opts = {.warn = warn_measure,
                                   .user = s,
                                   .device = {.scope = (wmi_scope)o->scope,
                                              .replay = (wmi_replay)o->replay,
                                              .counter_runs = o->counter_runs,
                                              .cold = o->cache_clear == 1,
                                              .ignored = (const char *const *)o->ignore_kernels.v,
                                              .ignored_count = o->ignore_kernels.n,
                                              .hang_ns = o->hang_ns,
                                              .watched = o->thermal_device},
                                   .keep_first = o->first_launch == 1,
                                   .combine_with = bench->combine,
                                   .combine_user = bench->user,
                                   .combine_find = combine_find,
                                   .combine_how = &o->combine};
    wm_status status = metrics_expand(o, &metrics, &derive, &how, err);
    if (status == WM_OK)
        status = wmi_measure_open(s->samples, (const char *const *)metrics.v, metrics.n, &opts,
                                  &sweep->measure, err);
    if (status == WM_OK) wmi_session_measured_by(s, sweep->measure);
    if (status == WM_OK) status = rules_check(&sweep->rules, sweep->measure, err);
    if (status == WM_OK) status = combine_check(&o->combine, &metrics, err);
    if (status == WM_OK) status = how_make(sweep, bench, &derive, &how, err);
    if (status == WM_OK)
        status = wmi_session_bench(s, sweep->name, &how, &sweep->bench, err);
    else
        wmi_rows_how_fini(&how);
    wmi_list_free(&metrics);
    wmi_list_free(&derive);
    return status;
}

/* ---- caches and processors ---- */

bool wmi_sweep_evicts(const wm_sweep *sweep) {
    bool host = false;
    for (size_t i = 0; i < sweep->measure->pass_count; i++) host |= sweep->measure->passes[i].host;
    return host && sweep->options.cache_clear == 1;
}

static wm_status machine_prepare(wm_sweep *sweep, wm_error *err) {
    const wmi_options *o = &sweep->options;
    if (o->pin >= 0 && !o->profile) {
        sweep->pinned = sched_getaffinity(0, sizeof sweep->affinity, &sweep->affinity) == 0;
        const wm_status status = wmi_pin(o->pin, err);
        if (status != WM_OK) return status;
    }
    if (!wmi_sweep_evicts(sweep) || o->profile) return WM_OK;
    return wmi_evictor_create(&sweep->session->machine, &sweep->evictor, &sweep->evictor_bytes, err);
}

/* Try the processor before anything runs, and go back. */
static wm_status pin_check(int cpu, wm_error *err) {
    cpu_set_t before;
    const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    const wm_status status = cpu >= 0 ? wmi_pin(cpu, err) : WM_OK;
    if (cpu >= 0 && known) sched_setaffinity(0, sizeof before, &before);
    return status;
}

/* A GPU that is to be looked at is there, where any is measured. */
static wm_status thermal_device_check(const wm_sweep *sweep, wm_error *err) {
    const int number = sweep->options.thermal_device;
    if (number < 0 || sweep->options.thermal == WMI_THERMAL_OFF) return WM_OK;
    for (size_t b = 0; b < sweep->measure->source_count; b++) {
        const wmi_source *source = &sweep->measure->sources[b];
        if (source->self && source->ops->device_in_use && source->ops->device_in_use(number) < 0)
            return wmi_error_set(err, WM_EINVAL, 0,
                                 "--thermal-device %d: no GPU has that number; warpmeter doctor lists them",
                                 number);
    }
    return WM_OK;
}

/* ---- creating ---- */

static wm_status bench_read(const wm_benchmark *given, wm_benchmark *out, wm_error *err) {
    const wm_benchmark init = WM_BENCHMARK_INIT;
    *out = init;
    if (!given || given->struct_size < sizeof given->struct_size || given->struct_size > 4096)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_benchmark: start from WM_BENCHMARK_INIT");
    memcpy(out, given, given->struct_size < sizeof *out ? given->struct_size : sizeof *out);
    if (!out->name || !*out->name) return wmi_error_set(err, WM_EINVAL, 0, "a benchmark needs a name");
    if (!out->derivations) out->derivation_count = 0;
    if (!out->collectors) out->collector_count = 0;
    return WM_OK;
}

wm_status wm_sweep_create(wm_session *session, const wm_benchmark *bench, int argc, const char *const *argv,
                          wm_sweep **out, wm_error *err) {
    wm_benchmark b;
    wm_status status = bench_read(bench, &b, err);
    if (status != WM_OK) return status;
    wm_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep) return wmi_error_nomem(err);
    sweep->session = session;
    session->sweeps++;
    sweep->run = b.run;
    sweep->setup = b.setup;
    sweep->teardown = b.teardown;
    sweep->user = b.user;
    sweep->name = wmi_strdup(b.name);
    wmi_options_init(&sweep->options);
    wmi_thermal_init(&sweep->thermal);
    status = sweep->name ? options_read(sweep, &b, argc, argv, err) : wmi_error_nomem(err);
    if (status == WM_OK) status = pin_check(sweep->options.pin, err);
    if (status == WM_OK) {
        rules_set(sweep);
        status = wmi_sweep_blame(sweep, wmi_points_make(sweep, err), err);
    }
    if (status == WM_OK) status = measuring_make(sweep, &b, err);
    if (status == WM_OK) status = thermal_device_check(sweep, err);
    if (status == WM_OK) status = wmi_collecting_make(sweep, b.collectors, b.collector_count, err);
    if (status != WM_OK) {
        wm_sweep_destroy(sweep);
        return status;
    }
    *out = sweep;
    return WM_OK;
}

/* ---- the machine's state ---- */

/* Which sensors are needed for more than the table. */
static uint32_t sensors_needed(const wmi_options *o) {
    uint32_t bits = 0;
    if (o->throttled == 2) bits |= WMI_SENSOR_BIT(GPU_THROTTLE) | WMI_SENSOR_BIT(CPU_THROTTLE);
    if (o->thermal != 2) bits |= WMI_SENSOR_BIT(GPU_HEADROOM);
    return bits;
}

static wm_status clocks_hold(wm_sweep *sweep, wm_error *err) {
    const wmi_lock_clocks *lock = &sweep->options.lock_clocks;
    wmi_rows_how *how = &sweep->session->how[sweep->bench];
    const wmi_clock_request request = {lock->hz < 0 ? WMI_CLOCKS_BASE : WMI_CLOCKS_HZ, lock->hz};
    wm_error why = WM_ERROR_INIT;
    double hz = 0;
    if (lock->hz == 0) return WM_OK;
    const wm_status status = wmi_measure_lock_clocks(sweep->measure, &request, &hz, &why);
    if (status == WM_OK) {
        how->clock_requested = hz > 0 ? wmi_f64(hz) : wmi_null(WM_REASON_UNKNOWN);
        return WM_OK;
    }
    if (!lock->soft || status == WM_ENOMEM)
        return wmi_error_set(err, status, why.native_code, "--lock-clocks: %s", why.message);
    wmi_session_warn(sweep->session, "clocks are not held: %s", why.message);
    how->clock_requested = wmi_null(status == WM_EPERM ? WM_REASON_PERMISSION : WM_REASON_BACKEND);
    how->clock_note = wmi_strdup(why.message);
    return how->clock_note ? WM_OK : wmi_error_nomem(err);
}

static bool tells_throttling(wmi_sensing *s) {
    wm_reason gpu, cpu;
    wmi_sensing_latest(s, WMI_SENSOR_GPU_THROTTLE, INT64_MAX, &gpu);
    wmi_sensing_latest(s, WMI_SENSOR_CPU_THROTTLE, INT64_MAX, &cpu);
    return gpu == WM_REASON_NONE || cpu == WM_REASON_NONE;
}

static wm_status state_begin(wm_sweep *sweep, wm_error *err) {
    const wmi_options *o = &sweep->options;
    const wmi_sensing_opts opts = {.when = (wmi_sensing_when)o->state,
                                   .wanted = sensors_needed(o),
                                   .warn = warn_measure,
                                   .user = sweep->session};
    wm_status status = wmi_measure_watch(sweep->measure, &opts, err);
    if (status != WM_OK) return status;
    if (o->throttled == 2 && !tells_throttling(sweep->measure->sensing))
        wmi_session_warn(sweep->session,
                         "benchmark %s: nothing here tells whether a clock is held down, so --throttled "
                         "discard discards nothing",
                         sweep->name);
    wmi_thermal_begin(sweep);
    return clocks_hold(sweep, err);
}

void wmi_sweep_end(wm_sweep *sweep) {
    if (!sweep->measure) return;
    wmi_session_state_cost(sweep->session, sweep->measure);
    wmi_sensing_pause(sweep->measure->sensing);
    wmi_measure_unlock_clocks(sweep->measure);
}

wm_status wmi_sweep_begin(wm_sweep *sweep, wm_error *err) {
    const wmi_options *o = &sweep->options;
    wm_status status = wmi_sweep_settle(sweep, err);
    if (status == WM_OK) status = machine_prepare(sweep, err);
    if (status != WM_OK) return status;
    if (!o->profile) {
        wmi_session_warn_machine(sweep->session);
        status = state_begin(sweep, err);
        if (status != WM_OK) return status;
    }
    const wmi_joint_pass *last = &sweep->measure->passes[sweep->measure->pass_count - 1];
    const size_t passes = o->profile ? 1 : sweep->measure->pass_count;
    if (wmi_cursor_init(&sweep->cursor, passes, sweep->point_count, o->warmup,
                        o->order != WMI_ORDER_SEQUENTIAL, last->window == WMI_WINDOW_SWEEP,
                        last->window >= WMI_WINDOW_RUN) != WM_OK)
        return wmi_error_nomem(err);
    sweep->cursor_made = true;
    const size_t late = wmi_measure_late(sweep->measure);
    if (!o->profile && o->order != WMI_ORDER_SEQUENTIAL && late > 0) wmi_cursor_late(&sweep->cursor, late);
    sweep->cursor.wants = wmi_sweep_wants;
    sweep->cursor.user = sweep;
    if (o->order != WMI_ORDER_RANDOM) return WM_OK;
    const uint64_t seed = o->seed_given ? o->seed : (wmi_monotonic_ns() ^ (uint64_t)getpid() << 32) >> 1;
    sweep->session->seed = (int64_t)(seed & INT64_MAX);
    wmi_cursor_shuffle(&sweep->cursor, seed);
    return WM_OK;
}

void wm_sweep_destroy(wm_sweep *sweep) {
    if (!sweep) return;
    if (sweep->in_step && sweep->marking) wmi_run_drop();
    if (sweep->measure) (void)wmi_pending_fold(sweep->session, sweep->measure, NULL);
    wmi_sweep_leave(sweep);
    wmi_measure_close(sweep->measure);
    wmi_evictor_destroy(sweep->evictor);
    if (sweep->pinned) sched_setaffinity(0, sizeof sweep->affinity, &sweep->affinity);
    for (size_t i = 0; i < sweep->state_count; i++) wmi_state_fini(&sweep->states[i]);
    for (size_t i = 0; i < sweep->point_count; i++) wmi_point_fini(&sweep->points[i]);
    if (sweep->cursor_made) wmi_cursor_fini(&sweep->cursor);
    wmi_collecting_fini(&sweep->collecting);
    wmi_options_fini(&sweep->options);
    sweep->session->sweeps--;
    free(sweep->states);
    free(sweep->notes);
    free(sweep->points);
    free(sweep->name);
    free(sweep);
}
