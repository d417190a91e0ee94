#include "session/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "session/thread.h"

enum { RING_MARKS_DEFAULT = 262144, RING_MARKS_MAX = 1 << 30, WARNINGS_MAX = 64 };

void wmi_rows_how_fini(wmi_rows_how *how) {
    for (size_t i = 0; i < how->formula_count; i++) wmi_formula_destroy(how->formulas[i]);
    for (size_t i = 0; i < how->derivation_count; i++) {
        free((char *)how->derivations[i].metric);
        free((char *)how->derivations[i].unit);
        free((char *)how->derivations[i].inputs);
    }
    for (size_t i = 0; i < how->label_count; i++) {
        free((char *)how->labels[i].compute);
        free((char *)how->labels[i].memory);
    }
    free(how->labels);
    free(how->formulas);
    free(how->derivations);
    free(how->derive);
    free(how->baseline);
    free(how->clock_note);
    *how = (wmi_rows_how){0};
}

/* ---- messages ---- */

void wmi_session_log(const wm_session *s, wm_log_level level, const char *fmt, ...) {
    if (!s->log) return;
    wm_error line; /* for its one-line, valid-UTF-8 text */
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&line, WM_OK, 0, fmt, args);
    va_end(args);
    s->log(s->log_user, level, line.message);
}

static bool warned_before(const wm_session *s, const char *line) {
    for (size_t i = 0; i < s->warning_count; i++)
        if (!strcmp(s->warnings[i], line)) return true;
    return false;
}

static void warning_keep(wm_session *s, const char *line) {
    if (s->warning_count == WARNINGS_MAX) return;
    char *copy = wmi_strdup(line);
    char **warnings = copy ? realloc(s->warnings, (s->warning_count + 1) * sizeof *warnings) : NULL;
    if (!warnings) {
        free(copy);
        return;
    }
    s->warnings = warnings;
    s->warnings[s->warning_count++] = copy;
}

/* A backend may find that the program hangs, and then this thread is in the program. */
void wmi_session_warn(wm_session *s, const char *fmt, ...) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    wm_error line;
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&line, WM_OK, 0, fmt, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (!warned_before(s, line.message)) {
        if (s->log) s->log(s->log_user, WM_LOG_WARNING, line.message);
        warning_keep(s, line.message);
    }
    pthread_mutex_unlock(&lock);
}

void wmi_session_warn_machine(wm_session *s) {
    wmi_machine_warning w[4];
    if (s->machine_warned) return;
    s->machine_warned = true;
    if (wmi_build_unoptimised())
        wmi_session_warn(s, "the program was compiled without optimisation: compile it with -O2");
    const int n = wmi_machine_warnings(&s->machine, w, 4);
    for (int i = 0; i < n; i++) wmi_session_warn(s, "%s: %s", w[i].what, w[i].remedy);
}

/* ---- creating ---- */

static wm_status opts_read(const wm_session_opts *given, wm_session_opts *o, wm_error *err) {
    const wm_session_opts init = WM_SESSION_OPTS_INIT;
    *o = init;
    if (!given) return WM_OK;
    if (given->struct_size < sizeof given->struct_size || given->struct_size > 4096)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_session_opts: start from WM_SESSION_OPTS_INIT");
    const size_t n = given->struct_size < sizeof *o ? given->struct_size : sizeof *o;
    memcpy(o, given, n);
    if (o->state && strcmp(o->state, "auto") && strcmp(o->state, "on") && strcmp(o->state, "off"))
        return wmi_error_set(err, WM_EINVAL, 0, "state is auto, on or off, not '%.100s'", o->state);
    if (o->ring_marks > RING_MARKS_MAX)
        return wmi_error_set(err, WM_EINVAL, 0, "ring_marks may be at most %d", RING_MARKS_MAX);
    return WM_OK;
}

wm_status wm_session_create(const wm_session_opts *opts, wm_session **out, wm_error *err) {
    wm_session_opts o;
    wm_status status = opts_read(opts, &o, err);
    if (status != WM_OK) return status;
    wm_session *s = calloc(1, sizeof *s);
    if (!s) return wmi_error_nomem(err);
    s->log = o.log;
    s->log_user = o.log_user;
    s->ring_marks = o.ring_marks ? o.ring_marks : RING_MARKS_DEFAULT;
    s->by_entry = o.by_entry;
    s->keep_records = o.keep_records;
    s->keep_first = o.keep_first;
    s->seed = -1;
    s->stretch_state = !o.state || !strcmp(o.state, "auto") ? WMI_SENSING_AUTO
                       : !strcmp(o.state, "on")             ? WMI_SENSING_ON
                                                            : WMI_SENSING_OFF;
    s->name = wmi_strdup(o.name && *o.name ? o.name : "session");
    s->stretch_metrics = wmi_strdup(o.metrics && *o.metrics ? o.metrics : "time");
    s->nvtx_domain = wmi_strdup(o.nvtx_domain && *o.nvtx_domain ? o.nvtx_domain : "warpmeter");
    s->samples = wmi_samples_create();
    status = s->name && s->stretch_metrics && s->nvtx_domain && s->samples ? wmi_clock_init(&s->clock, err)
                                                                           : wmi_error_nomem(err);
    if (status != WM_OK) {
        wm_session_destroy(s);
        return status;
    }
    wmi_machine_read(&s->machine, "");
    *out = s;
    return WM_OK;
}

void wm_session_destroy(wm_session *s) {
    if (!s) return;
    if (s->running) wmi_run_drop();
    wmi_measure_close(s->stretch);
    wmi_samples_destroy(s->samples);
    for (size_t i = 0; i < s->how_count; i++) wmi_rows_how_fini(&s->how[i]);
    for (size_t i = 0; i < s->warning_count; i++) free(s->warnings[i]);
    wmi_drained_free(&s->drained);
    free(s->how);
    free(s->warnings);
    free(s->entries);
    free(s->folds);
    free(s->touched);
    free(s->stretch_metrics);
    free(s->nvtx_domain);
    free(s->name);
    free(s);
}

wm_status wmi_session_state(wm_session *s, const wmi_measure *m, const wmi_run_place *place,
                            const wmi_sensed *sensed) {
    if (!wmi_sensing_tells(m->sensing)) return WM_OK;
    if (place->warmup || place->failed) return WM_OK;
    const wmi_run_state state = {place->config, place->pass, place->run, *sensed};
    return wmi_samples_state_add(s->samples, &state);
}

void wmi_session_state_cost(wm_session *s, const wmi_measure *m) {
    if (!wmi_sensing_tells(m->sensing)) return;
    s->state_interval_ns = wmi_sensing_interval_ns(m->sensing);
    s->state_cost = wmi_sensing_cost(m->sensing);
}

wm_status wmi_session_bench(wm_session *s, const char *name, wmi_rows_how *how, uint32_t *out,
                            wm_error *err) {
    wmi_rows_how *all = realloc(s->how, (s->how_count + 1) * sizeof *all);
    if (all) s->how = all;
    if (!all || wmi_samples_bench(s->samples, name, out) != WM_OK) {
        wmi_rows_how_fini(how);
        return wmi_error_nomem(err);
    }
    s->how[s->how_count++] = *how;
    *how = (wmi_rows_how){0};
    return WM_OK;
}

/* ---- one run ---- */

wm_status wmi_run_claim(wm_error *err) {
    if (wmi_threads_claim() == WM_OK) return WM_OK;
    return wmi_error_set(err, WM_EBUSY, 0,
                         "a session is active already in this process, or this is a forked child");
}

wm_status wmi_run_begin(wm_session *s, wmi_measure *measure, int32_t pass, wm_error *err) {
    wmi_threads_open(s, measure, pass);
    /* so that its ring exists before the run's first mark */
    if (wmi_thread_self()) return WM_OK;
    wmi_run_drop();
    return wmi_error_nomem(err);
}

void wmi_run_end(wm_session *s) {
    wmi_threads_close();
    wmi_clock_anchor(&s->clock);
}

void wmi_run_drop(void) {
    wmi_threads_close();
    wmi_threads_release();
}

/* ---- what other tools are shown ---- */

wm_status wmi_profile_asked(int64_t *runs, wm_error *err) {
    static const char tool[] = "ncu";
    const size_t n = sizeof tool - 1;
    const char *text = getenv("WARPMETER_PROFILE");
    int64_t count = 1;
    if (!text || !*text) {
        *runs = 0;
        return WM_OK;
    }
    bool good = strncmp(text, tool, n) == 0 && (text[n] == '\0' || text[n] == ':');
    if (good && text[n]) good = wmi_i64_parse(text + n + 1, strlen(text + n + 1), &count);
    if (!good || count < 1 || count > INT32_MAX)
        return wmi_error_set(err, WM_EINVAL, 0, "WARPMETER_PROFILE is ncu or ncu:RUNS, not '%.100s'", text);
    *runs = count;
    return WM_OK;
}

const wmi_nvtx *wmi_session_nvtx(wm_session *s) {
    if (!s->nvtx_asked) s->nvtx = wmi_nvtx_of(s->nvtx_domain);
    s->nvtx_asked = true;
    return s->nvtx;
}

uint64_t wmi_session_step_range(const wm_session *s, size_t config, int64_t run, const char *bench,
                                const char *key) {
    wmi_buf text = WMI_BUF_INIT;
    if (!s->shown.nvtx) return WMI_NVTX_NONE;
    wmi_buf_printf(&text, "@%zu/%lld %s %s", config, (long long)run, bench, key);
    const uint64_t range = text.failed ? WMI_NVTX_NONE : wmi_nvtx_step_begin(s->shown.nvtx, text.data);
    wmi_buf_free(&text);
    return range;
}

/* ---- start and stop ---- */

static const int64_t hang_default_ns = 10000000000;

static void warn_stretch(void *user, const char *line) { wmi_session_warn(user, "%s", line); }

/* A stretch of code runs once, so it can be read in one pass only: the first. */
static wm_status stretch_check(const wm_session *s, wm_error *err) {
    if (s->stretch->pass_count <= 1) return WM_OK;
    const char *first = NULL, *other = NULL;
    for (size_t i = 0; i < s->stretch->gauge_count; i++) {
        const wmi_gauge *g = &s->stretch->gauges[i];
        if (g->pass == 0 && !first) first = g->about.name;
        if (g->pass > 0 && !other) other = g->about.name;
    }
    if (!first)
        return wmi_error_set(err, WM_EINVAL, 0,
                             "'%s' takes further runs of the code, and start/stop runs it once: use a sweep",
                             other ? other : "?");
    return wmi_error_set(
        err, WM_EINVAL, 0,
        "'%s' and '%s' cannot be read in one pass, and start/stop runs the code once: use a sweep", first,
        other ? other : "?");
}

static wm_status stretch_open(wm_session *s, wm_error *err) {
    size_t count = 1, i = 0;
    for (const char *p = s->stretch_metrics; *p; p++) count += *p == ',';
    char *copy = wmi_strdup(s->stretch_metrics);
    const char **names = malloc(count * sizeof *names);
    wm_status status = copy && names ? WM_OK : wmi_error_nomem(err);
    char *rest = copy;
    const wmi_measure_opts opts = {
        .warn = warn_stretch, .user = s, .device = {.hang_ns = hang_default_ns}, .keep_first = s->keep_first};
    for (char *word; status == WM_OK && (word = strtok_r(rest, ", ", &rest)) != NULL;) names[i++] = word;
    if (status == WM_OK) status = wmi_measure_open(s->samples, names, i, &opts, &s->stretch, err);
    if (status == WM_OK) wmi_session_measured_by(s, s->stretch);
    free(names);
    free(copy);
    if (status != WM_OK) return status;
    status = stretch_check(s, err);
    wmi_rows_how how = {.stable_threshold = 0.02,
                        .tag_throttled = true,
                        .clock_requested = wmi_null(WM_REASON_NOT_APPLICABLE)};
    if (status == WM_OK) wmi_session_warn_machine(s);
    const wmi_sensing_opts sensing = {.when = s->stretch_state, .warn = warn_stretch, .user = s};
    if (status == WM_OK) status = wmi_measure_watch(s->stretch, &sensing, err);
    if (status == WM_OK) status = wmi_session_bench(s, s->name, &how, &s->stretch_bench, err);
    if (status == WM_OK &&
        wmi_samples_config(s->samples, s->stretch_bench, 0, NULL, NULL, &s->stretch_config) != WM_OK)
        status = wmi_error_nomem(err);
    if (status != WM_OK) {
        wmi_measure_close(s->stretch);
        s->stretch = NULL;
    }
    return status;
}

/* There is no warm-up that tells whether it marks regions, so the whole is shown until it does. */
static void stretch_show(wm_session *s) {
    s->shown = (wmi_shown){wmi_session_nvtx(s), s->stretch_marks ? NULL : s->name};
    s->stretch_range = wmi_session_step_range(s, 0, s->stretch_runs, s->name, "");
}

static void stretch_shown(wm_session *s) {
    if (!s->shown.nvtx) return;
    wmi_nvtx_step_end(s->shown.nvtx, s->stretch_range);
    s->stretch_marks = wmi_threads_marked();
}

static wm_status stretch_begin(wm_session *s, wm_error *err) {
    wm_status status = wmi_run_claim(err);
    if (status != WM_OK) return status;
    if (!s->profile_runs) status = wmi_measure_window(s->stretch, 0, s->stretch_config, s->stretch_runs, err);
    if (status != WM_OK) {
        wmi_run_drop();
        return status;
    }
    if (!s->profile_runs) wmi_sensing_begin(s->stretch->sensing);
    stretch_show(s);
    return wmi_run_begin(s, s->profile_runs ? NULL : s->stretch, 0, err);
}

wm_status wm_session_start(wm_session *s, wm_error *err) {
    if (s->running) return wmi_error_set(err, WM_ESTATE, 0, "the session is running already");
    wm_status status = wmi_profile_asked(&s->profile_runs, err);
    if (status == WM_OK && !s->stretch && !s->profile_runs) status = stretch_open(s, err);
    if (status == WM_OK) status = stretch_begin(s, err);
    if (status != WM_OK) return status;
    s->running = true;
    s->stretch_begin_ns = (int64_t)wmi_monotonic_ns();
    wmi_thread_begin(wmi_thread_self(), WMI_ROOT_NAME);
    return WM_OK;
}

wm_status wm_session_stop(wm_session *s, wm_error *err) {
    if (!s->running) return wmi_error_set(err, WM_ESTATE, 0, "the session is not running");
    wmi_thread *t = wmi_thread_self();
    if (t) wmi_thread_end(t, WMI_ROOT_NAME);
    wmi_run_end(s);
    stretch_shown(s);
    s->running = false;
    if (s->profile_runs) {
        s->stretch_runs++;
        wmi_run_drop();
        return WM_OK;
    }
    wmi_sensed sensed;
    wmi_sensing_end(s->stretch->sensing, s->stretch_begin_ns, (int64_t)wmi_monotonic_ns(), &sensed);
    wmi_session_state_cost(s, s->stretch);
    wmi_sensing_pause(s->stretch->sensing);
    const wmi_run_place place = {
        .bench = s->stretch_bench, .config = s->stretch_config, .run = s->stretch_runs++};
    wm_status status = wmi_run_fold(s, s->stretch, &place, NULL, 0, err);
    if (status == WM_OK && wmi_session_state(s, s->stretch, &place, &sensed) != WM_OK)
        status = wmi_error_nomem(err);
    if (status != WM_OK || !s->stretch->passes[0].deferred) return status;
    status = wmi_measure_window_close(s->stretch, err);
    return status == WM_OK ? wmi_deferred_fold(s, s->stretch, s->stretch_config, err) : status;
}

/* ---- tables ---- */

static wm_status context_add(const wm_session *s, wm_status status, wm_table **out, wm_error *err) {
    if (status != WM_OK) return status;
    if (wmi_session_context(s, *out) == WM_OK) return WM_OK;
    wm_table_destroy(*out);
    *out = NULL;
    return wmi_error_nomem(err);
}

static wm_status pending_fold(wm_session *s, wm_error *err) {
    return s->waiting ? wmi_pending_fold(s, s->waiting, err) : WM_OK;
}

wm_status wm_session_table(wm_session *s, wm_table **out, wm_error *err) {
    wm_status status = pending_fold(s, err);
    if (status != WM_OK) return status;
    wmi_reduce_opts *opts = calloc(s->how_count + 1, sizeof *opts);
    if (!opts) return wmi_error_nomem(err);
    for (size_t i = 0; i < s->how_count; i++) {
        const wmi_rows_how *how = &s->how[i];
        opts[i] = (wmi_reduce_opts){how->derive,          how->formula_count + how->derivation_count,
                                    how->baseline,        how->stable_threshold,
                                    s->machine.host,      how->labels,
                                    how->label_count,     how->tag_throttled,
                                    how->clock_requested, how->clock_note};
    }
    wm_table *table = NULL;
    status = wmi_reduce(s->samples, opts, &table, err);
    free(opts);
    status = context_add(s, status, &table, err);
    if (status == WM_OK) *out = table;
    return status;
}

wm_status wm_session_samples(wm_session *s, wm_table **out, wm_error *err) {
    wm_table *table = NULL;
    wm_status status = pending_fold(s, err);
    if (status == WM_OK) status = wmi_samples_to_table(s->samples, &table, err);
    status = context_add(s, status, &table, err);
    if (status == WM_OK) *out = table;
    return status;
}

wm_status wm_session_kernels(wm_session *s, wm_table **out, wm_error *err) {
    wm_table *table = NULL;
    wm_status status = pending_fold(s, err);
    if (status == WM_OK) status = wmi_kernels_to_table(s->samples, &table, err);
    status = context_add(s, status, &table, err);
    if (status == WM_OK) *out = table;
    return status;
}
