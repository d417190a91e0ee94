/* Values that the caller has of a run only after it: made of others, or of what it looked up later. */
#include <string.h>

#include "base/intern.h"
#include "sweep/sweep.h"

/* The gauge of a metric that is measured; NULL: it is one of the caller's own. */
static const wmi_gauge *gauge_of(const wmi_measure *m, const char *metric) {
    for (size_t i = 0; i < m->gauge_count; i++)
        if (!strcmp(metric, m->gauges[i].about.name)) return &m->gauges[i];
    return NULL;
}

/* A number as a value of a run; a null keeps its reason. */
static wm_status number_of(wm_value v, double *value, wm_reason *why, wm_error *err) {
    *why = WM_REASON_NONE;
    *value = 0;
    switch (v.type) {
    case WM_F64: *value = v.as.f64; return WM_OK;
    case WM_I64: *value = (double)v.as.i64; return WM_OK;
    case WM_NULL:
        *why = v.reason > WM_REASON_NONE && v.reason < WM_REASON_COUNT ? v.reason : WM_REASON_UNKNOWN;
        return WM_OK;
    default: return wmi_error_set(err, WM_EINVAL, 0, "wm_sweep_put takes a number or a null");
    }
}

static wm_status node_of(const wm_sweep *sweep, const char *region, uint32_t *out, wm_error *err) {
    const wmi_samples *samples = sweep->session->samples;
    const char *path = region ? region : sweep->name;
    *out = wmi_samples_find_node(samples, sweep->bench, path, NULL);
    if (*out != UINT32_MAX) return WM_OK;
    return wmi_error_set(err, WM_ENOTFOUND, 0, "benchmark %s has no region '%s'", sweep->name, path);
}

static wm_status own_metric(wm_sweep *sweep, const char *metric, const char *unit, uint32_t *out,
                            wm_error *err) {
    const uint32_t name = wmi_intern(metric), unit_id = wmi_intern(unit ? unit : "");
    if (!name || !unit_id) return wmi_error_nomem(err);
    const wmi_metric about = {.name = wmi_intern_name(name),
                              .unit = wmi_intern_name(unit_id),
                              .text = "recorded by the program",
                              .backend = "user",
                              .timer = "",
                              .better = wmi_better_of_unit(wmi_intern_name(unit_id))};
    const char *before = wmi_sweep_unit_before(sweep, about.name);
    if (before && before != about.unit)
        return wmi_error_set(err, WM_EINVAL, 0, "'%s' is in '%s' here and was in '%s' before", about.name,
                             about.unit, before);
    if (wmi_sweep_is_taken(sweep, about.name))
        return wmi_error_set(err, WM_EINVAL, 0, "'%s' is the name of another metric", about.name);
    return wmi_samples_metric(sweep->session->samples, &about, out) == WM_OK ? WM_OK : wmi_error_nomem(err);
}

static wm_status refuse_run(const wm_sweep *sweep, int64_t run, const char *metric, wm_error *err) {
    return wmi_error_set(err, WM_ENOTFOUND, 0, "run %lld of %s has no value of %s there", (long long)run,
                         sweep->name, metric);
}

/* In place of what was measured, or of what was put before. */
static wm_status put(wm_sweep *sweep, uint32_t config, int64_t run, uint32_t node, const char *metric,
                     const char *unit, double value, wm_reason why, wm_error *err) {
    const wmi_gauge *g = gauge_of(sweep->measure, metric);
    uint32_t number = 0;
    wmi_series *series;
    if (!g) {
        const wm_status own = own_metric(sweep, metric, unit, &number, err);
        if (own != WM_OK) return own;
    } else {
        number = g->metric;
    }
    wm_status status =
        wmi_samples_series(sweep->session->samples, config, node, number, g ? g->pass : 0, &series);
    if (status == WM_OK) status = wmi_series_put(series, (int32_t)run, value, why);
    if (status == WM_ENOTFOUND && g) return refuse_run(sweep, run, metric, err);
    if (status == WM_ENOTFOUND && series->n && wmi_series_run(series, series->n - 1) > run)
        return wmi_error_set(err, WM_EINVAL, 0, "values of '%s' come in the order of runs", metric);
    if (status == WM_ENOTFOUND) status = wmi_series_add(series, (int32_t)run, value, why);
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}

wm_status wm_sweep_put(wm_sweep *sweep, size_t config, int64_t run, const char *region, const char *metric,
                       wm_value value, const char *unit, wm_error *err) {
    double number;
    wm_reason why;
    uint32_t node;
    if (sweep->in_step || !sweep->cursor_made)
        return wmi_error_set(err, WM_ESTATE, 0, "wm_sweep_put is for between the steps and after them");
    if (!metric || !*metric) return wmi_error_set(err, WM_EINVAL, 0, "wm_sweep_put needs a metric's name");
    if (config >= sweep->point_count)
        return wmi_error_set(err, WM_ENOTFOUND, 0, "%s has no configuration %zu", sweep->name, config);
    const wmi_point *p = &sweep->points[config];
    if (run < 0 || run >= p->runs)
        return wmi_error_set(err, WM_ENOTFOUND, 0, "configuration %zu of %s has no run %lld", config,
                             sweep->name, (long long)run);
    wm_status status = number_of(value, &number, &why, err);
    if (status == WM_OK) status = wmi_pending_fold(sweep->session, sweep->measure, err);
    if (status == WM_OK) status = node_of(sweep, region, &node, err);
    return status == WM_OK ? put(sweep, p->config, run, node, metric, unit, number, why, err) : status;
}
