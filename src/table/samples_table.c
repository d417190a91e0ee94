#include "table/params.h"
#include "table/reduce.h"

wm_status wmi_params_add_sample(const wmi_params *params, wm_table *t, const wmi_samples *samples,
                                const wmi_series *s, size_t i) {
    const wmi_config *config = wmi_samples_config_at(samples, s->config);
    const wmi_metric *metric = wmi_samples_metric_at(samples, s->metric);
    const wm_reason why = wmi_series_reason(s, i);
    const wm_value cells[WMI_SCOL_COUNT] = {
        [WMI_SCOL_BENCHMARK] = wmi_str(wmi_samples_bench_name(samples, config->bench)),
        [WMI_SCOL_REGION] = wmi_str(wmi_samples_node_at(samples, s->node)->path),
        [WMI_SCOL_METRIC] = wmi_str(metric->name),
        [WMI_SCOL_UNIT] = wmi_str(metric->unit),
        [WMI_SCOL_RUN] = wmi_i64(wmi_series_run(s, i)),
        [WMI_SCOL_PASS] = s->pass < 0 ? wmi_null(why) : wmi_i64(s->pass), /* below 0: in no pass */
        [WMI_SCOL_VALUE] = why ? wmi_null(why) : wmi_f64(wmi_series_value(s, i)),
        [WMI_SCOL_REASON] = why ? wmi_str(wm_reason_slug(why)) : wmi_null(WM_REASON_NOT_APPLICABLE),
        [WMI_SCOL_CONFIG_KEY] = wmi_str(config->key),
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t c = 0; c < WMI_SCOL_COUNT && status == WM_OK; c++)
        status = wmi_table_set(t, row, c, cells[c]);
    return status == WM_OK ? wmi_params_set(params, t, row, WMI_SCOL_COUNT, config) : status;
}

wm_status wmi_samples_to_table(const wmi_samples *samples, wm_table **out, wm_error *err) {
    wmi_params params;
    if (wmi_params_collect(samples, &params) != WM_OK) return wmi_error_nomem(err);
    wm_table *t = wmi_samples_table_create(params.count, params.names, params.types);
    size_t rows = 0;
    for (size_t k = 0; k < wmi_samples_series_count(samples); k++)
        rows += wmi_samples_series_at(samples, k)->n;
    wm_status status = t ? wmi_table_reserve(t, rows) : WM_ENOMEM;
    for (size_t k = 0; k < wmi_samples_series_count(samples) && status == WM_OK; k++) {
        const wmi_series *s = wmi_samples_series_at(samples, k);
        for (size_t i = 0; i < s->n && status == WM_OK; i++)
            status = wmi_params_add_sample(&params, t, samples, s, i);
    }
    wmi_params_fini(&params);
    if (status != WM_OK) {
        wm_table_destroy(t);
        return wmi_error_nomem(err);
    }
    *out = t;
    return WM_OK;
}
