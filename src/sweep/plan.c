/* The plan as a table: what a sweep will do, before it does it. */
#include <stdlib.h>

#include "sweep/sweep.h"

static const char *window_name(wmi_window_kind kind) {
    static const char *const names[] = {"sweep", "configuration", "run", "region"};
    return names[kind];
}

static wm_status row_add(const wm_sweep *sweep, wm_table *t, const wmi_gauge *g) {
    const wmi_joint_pass *pass = g->pass >= 0 ? &sweep->measure->passes[g->pass] : NULL;
    const wm_value cells[] = {
        wmi_str(sweep->name),
        wmi_str(g->about.name),
        wmi_str(g->about.unit),
        wmi_str(g->about.backend),
        pass ? wmi_i64(g->pass) : wmi_null(g->reason),
        pass ? wmi_str(window_name(pass->window)) : wmi_null(g->reason),
        pass ? wmi_bool(pass->disturbs) : wmi_null(g->reason),
        pass ? wmi_null(WM_REASON_NOT_APPLICABLE) : wmi_str(g->why ? g->why : wm_reason_text(g->reason)),
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t i = 0; i < sizeof cells / sizeof *cells && status == WM_OK; i++)
        status = wmi_table_set(t, row, i, cells[i]);
    return status;
}

static wm_status columns_add(wm_table *t) {
    static const struct {
        const char *name;
        wm_type type;
    } columns[] = {{"benchmark", WM_STR}, {"metric", WM_STR}, {"unit", WM_STR},      {"backend", WM_STR},
                   {"pass", WM_I64},      {"window", WM_STR}, {"disturbs", WM_BOOL}, {"reason", WM_STR}};
    wm_status status = WM_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && status == WM_OK; i++)
        status = wmi_table_add_column(t, columns[i].name, columns[i].type, "", NULL);
    return status;
}

static const char *order_name(wmi_order order) {
    static const char *const names[] = {"sequential", "interleaved", "random"};
    return names[order];
}

/* How often the function runs: passes times runs, and the warm-up. */
static wm_status context_add(const wm_sweep *sweep, wm_table *t) {
    const wmi_stop_rules *r = &sweep->rules;
    const int64_t configs = (int64_t)sweep->point_count, passes = (int64_t)sweep->measure->pass_count;
    const int64_t least = r->runs >= 0 ? r->runs : r->min_runs, most = r->runs >= 0 ? r->runs : r->max_runs;
    const struct {
        const char *key;
        wm_value value;
    } facts[] = {
        {"benchmark", wmi_str(sweep->name)},
        {"configurations", wmi_i64(configs)},
        {"passes", wmi_i64(passes)},
        {"warmup_runs", wmi_i64(sweep->options.warmup)},
        {"runs_min", wmi_i64(least)},
        {"runs_max", wmi_i64(most)},
        {"calls_min", wmi_i64(configs * (least * passes + sweep->options.warmup))},
        {"calls_max", wmi_i64(configs * (most * passes + sweep->options.warmup))},
        {"timeout_s",
         r->timeout_ns > 0 ? wmi_f64((double)r->timeout_ns * 1e-9) : wmi_null(WM_REASON_NOT_APPLICABLE)},
        {"time_max_s", r->timeout_ns > 0 ? wmi_f64((double)(r->timeout_ns * configs * passes) * 1e-9)
                                         : wmi_null(WM_REASON_UNKNOWN)},
        {"time_min_s", wmi_f64((double)(r->min_time_ns * configs * passes) * 1e-9)},
        {"order", wmi_str(order_name(sweep->options.order))},
        {"cache_control", wmi_str(sweep->options.cache_clear == 1 ? "all" : "none")},
    };
    wm_status status = WM_OK;
    for (size_t i = 0; i < sizeof facts / sizeof *facts && status == WM_OK; i++)
        status = wmi_table_set_context(t, facts[i].key, facts[i].value);
    return status;
}

wm_status wm_sweep_plan(wm_sweep *sweep, wm_table **out, wm_error *err) {
    wm_status status = wmi_sweep_settle(sweep, err);
    if (status != WM_OK) return status;
    wm_table *t = wmi_table_create("plan");
    status = t ? columns_add(t) : WM_ENOMEM;
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
