/* The plan as a table: what a sweep will do, before it does it. */
#include <stdlib.h>

#include "sweep/sweep.h"

static wm_status row_add(const wm_sweep *sweep, wm_table *t, const wmi_gauge *g) {
    const wmi_joint_pass *pass = g->pass >= 0 ? &sweep->measure->passes[g->pass] : NULL;
    const wm_value none = wmi_null(WM_REASON_NOT_APPLICABLE);
    const wm_value cells[] = {
        wmi_str(sweep->name),
        wmi_str(g->about.name),
        wmi_str(g->about.unit),
        wmi_str(g->about.backend),
        pass ? wmi_i64(g->pass) : wmi_null(g->reason),
        pass ? wmi_str(wmi_window_text(pass->window)) : none,
        pass ? wmi_bool(pass->disturbs) : none,
        pass ? none : wmi_str(g->why ? g->why : wm_reason_text(g->reason)),
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t i = 0; i < sizeof cells / sizeof *cells && status == WM_OK; i++)
        status = wmi_table_set(t, row, i, cells[i]);
    return status;
}

static const char *order_name(wmi_order order) {
    static const char *const names[] = {"sequential", "interleaved", "random"};
    return names[order];
}

/* What evicting the caches once costs: done here, since it depends on the machine alone. */
static double eviction_s(const wm_sweep *sweep) {
    wmi_evictor *e = NULL;
    if (!wmi_sweep_evicts(sweep)) return 0;
    if (wmi_evictor_create(&sweep->session->machine, &e, NULL, NULL) != WM_OK) return 0;
    const uint64_t begin = wmi_monotonic_ns();
    wmi_evictor_run(e);
    const uint64_t end = wmi_monotonic_ns();
    wmi_evictor_destroy(e);
    return (double)(end - begin) * 1e-9;
}

/* How often the function runs and how long that takes, as far as it can be known before. */
typedef struct forecast {
    int64_t configs, passes, runs_min, runs_max, calls_min, calls_max;
    double own_s;           /* warpmeter's share: eviction */
    double least_s, most_s; /* from the rules; most_s 0: no limit */
} forecast;

static forecast forecast_make(const wm_sweep *sweep) {
    const wmi_stop_rules *r = &sweep->rules;
    forecast f = {.configs = (int64_t)sweep->point_count, .passes = (int64_t)sweep->measure->pass_count};
    f.runs_min = r->runs >= 0 ? r->runs : r->min_runs;
    f.runs_max = r->runs >= 0 ? r->runs : r->max_runs;
    for (int64_t p = 0; p < f.passes; p++) {
        const wmi_joint_pass *pass = &sweep->measure->passes[p];
        const int64_t most =
            pass->deferred && sweep->options.counter_runs > 0 ? sweep->options.counter_runs : INT64_MAX;
        if (!pass->optional) f.calls_min += f.configs * (f.runs_min < most ? f.runs_min : most);
        f.calls_max += f.configs * (f.runs_max < most ? f.runs_max : most);
    }
    f.calls_min += f.configs * sweep->options.warmup;
    f.calls_max += f.configs * sweep->options.warmup;
    f.own_s = eviction_s(sweep) * (double)f.calls_min;
    f.least_s = f.own_s + (double)r->min_time_ns * 1e-9 * (double)(f.configs * f.passes);
    f.most_s = (double)r->timeout_ns * 1e-9 * (double)(f.configs * f.passes);
    return f;
}

static void estimate_text(const forecast *f, wmi_buf *out) {
    wmi_buf_printf(out, "%lld", (long long)f->calls_min);
    if (f->calls_max != f->calls_min) wmi_buf_printf(out, " to %lld", (long long)f->calls_max);
    wmi_buf_str(out, " calls, each as long as the function takes");
    if (f->least_s > 0) wmi_buf_printf(out, "; at least %.3g s", f->least_s);
    if (f->own_s > 0) wmi_buf_printf(out, " (eviction of caches %.3g s)", f->own_s);
    if (f->most_s > 0) wmi_buf_printf(out, "; at most about %.3g s", f->most_s);
}

static wm_status context_add(const wm_sweep *sweep, wm_table *t) {
    const forecast f = forecast_make(sweep);
    wmi_buf estimate = WMI_BUF_INIT;
    estimate_text(&f, &estimate);
    const struct {
        const char *key;
        wm_value value;
    } facts[] = {
        {"benchmark", wmi_str(sweep->name)},
        {"configurations", wmi_i64(f.configs)},
        {"passes", wmi_i64(f.passes)},
        {"warmup_runs", wmi_i64(sweep->options.warmup)},
        {"runs_min", wmi_i64(f.runs_min)},
        {"runs_max", wmi_i64(f.runs_max)},
        {"calls_min", wmi_i64(f.calls_min)},
        {"calls_max", wmi_i64(f.calls_max)},
        {"estimate", wmi_str(estimate.data)},
        {"order", wmi_str(order_name(sweep->options.order))},
        {"cache_control", wmi_str(sweep->options.cache_clear == 1 ? "all" : "none")},
    };
    wm_status status = estimate.failed ? WM_ENOMEM : WM_OK;
    for (size_t i = 0; i < sizeof facts / sizeof *facts && status == WM_OK; i++)
        status = wmi_table_set_context(t, facts[i].key, facts[i].value);
    wmi_buf_free(&estimate);
    return status;
}

wm_status wm_sweep_plan(wm_sweep *sweep, wm_table **out, wm_error *err) {
    wm_status status = wmi_sweep_settle(sweep, err);
    if (status != WM_OK) return status;
    wm_table *t = wmi_schema_table(wmi_schema_of("plan"), 0, NULL, NULL);
    status = t ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; i < sweep->measure->gauge_count && status == WM_OK; i++)
        status = row_add(sweep, t, &sweep->measure->gauges[i]);
    if (status == WM_OK) status = context_add(sweep, t);
    if (status != WM_OK) {
        wm_table_destroy(t);
        return wmi_error_nomem(err);
    }
    *out = t;
    return WM_OK;
}
