#include "table/params.h"
#include "table/reduce.h"
#include "table/state_cells.h"

/* What differs from value to value. */
static wm_status set_value(wm_table *t, size_t row, const wmi_series *s, size_t i) {
    const wm_reason why = wmi_series_reason(s, i);
    wm_status status = wmi_table_set(t, row, WMI_SCOL_RUN, wmi_i64(wmi_series_run(s, i)));
    if (status == WM_OK)
        status = wmi_table_set(t, row, WMI_SCOL_VALUE, why ? wmi_null(why) : wmi_f64(wmi_series_value(s, i)));
    if (status == WM_OK && why) status = wmi_table_set(t, row, WMI_SCOL_REASON, wmi_str(wm_reason_slug(why)));
    if (status == WM_OK && s->pass < 0) /* in no pass */
        status = wmi_table_set(t, row, WMI_SCOL_PASS, wmi_null(why));
    return status;
}

/* The machine's state in the run of each value. Many short runs lie between two readings, so what is the same
 * is put at once. */
static wm_status set_states(wm_table *t, size_t row, const wmi_samples *samples, const wmi_series *s,
                            size_t from) {
    wm_status status = WM_OK;
    if (s->pass < 0 || !wmi_samples_has_states(samples)) return WM_OK;
    for (size_t i = from, next; i < s->n && status == WM_OK; i = next) {
        const int32_t run = wmi_series_run(s, i);
        int32_t last;
        const wmi_sensed *state = wmi_samples_state_of(samples, s->config, s->pass, run, &last);
        for (next = i + 1; next < s->n; next++)
            if (wmi_series_run(s, next) < run || wmi_series_run(s, next) > last) break;
        if (state) status = wmi_state_cells_put(t, row + (i - from), next - i, WMI_SCOL_GPU_CLOCK, state);
    }
    return status;
}

/* Column by column, which is several times as fast as row by row. */
wm_status wmi_params_add_samples(const wmi_params *params, const wmi_collected_columns *collected,
                                 wm_table *t, const wmi_samples *samples, const wmi_series *s, size_t from) {
    const size_t count = s->n - from;
    const wmi_config *config = wmi_samples_config_at(samples, s->config);
    const wmi_metric *metric = wmi_samples_metric_at(samples, s->metric);
    const struct {
        size_t column;
        wm_value v;
    } same[] = {
        {WMI_SCOL_BENCHMARK, wmi_str(wmi_samples_bench_name(samples, config->bench))},
        {WMI_SCOL_REGION, wmi_str(wmi_samples_node_at(samples, s->node)->path)},
        {WMI_SCOL_METRIC, wmi_str(metric->name)},
        {WMI_SCOL_UNIT, wmi_str(metric->unit)},
        {WMI_SCOL_CONFIG_KEY, wmi_str(config->key)},
        {WMI_SCOL_PASS, wmi_i64(s->pass)},
    };
    size_t row;
    wm_status status = wmi_table_add_rows(t, count, &row);
    for (size_t c = 0; c < sizeof same / sizeof *same && status == WM_OK; c++)
        status = wmi_table_fill(t, row, count, same[c].column, same[c].v);
    for (size_t i = 0; i < count && status == WM_OK; i++) status = set_value(t, row + i, s, from + i);
    if (status == WM_OK) status = set_states(t, row, samples, s, from);
    if (status == WM_OK) status = wmi_params_fill(params, t, row, count, WMI_SCOL_COUNT, config);
    return status == WM_OK ? wmi_collected_fill(collected, t, row, count, s, from) : status;
}

wm_status wmi_samples_to_table(const wmi_samples *samples, wm_table **out, wm_error *err) {
    wmi_params params;
    if (wmi_params_collect(samples, &params) != WM_OK) return wmi_error_nomem(err);
    wmi_collected_columns collected;
    wm_status status = wmi_collected_columns_make(samples, false, &collected);
    wm_table *t = wmi_samples_table_create(params.count, params.names, params.types);
    size_t rows = 0;
    for (size_t k = 0; k < wmi_samples_series_count(samples); k++)
        rows += wmi_samples_series_at(samples, k)->n;
    if (!t) status = WM_ENOMEM;
    if (status == WM_OK) status = wmi_collected_columns_add(&collected, t);
    if (status == WM_OK) status = wmi_table_reserve(t, rows);
    for (size_t k = 0; k < wmi_samples_series_count(samples) && status == WM_OK; k++)
        status =
            wmi_params_add_samples(&params, &collected, t, samples, wmi_samples_series_at(samples, k), 0);
    wmi_params_fini(&params);
    wmi_collected_columns_fini(&collected);
    if (status != WM_OK) {
        wm_table_destroy(t);
        return wmi_error_nomem(err);
    }
    *out = t;
    return WM_OK;
}
