#include "table/state_cells.h"

const wmi_state_summary *wmi_state_cells_of(wmi_state_cells *cells, const wmi_samples *samples,
                                            const wmi_series *series) {
    if (!series || series->pass < 0 || !wmi_samples_has_states(samples)) return NULL;
    if (cells->config == series->config && cells->pass == series->pass && cells->n == series->n &&
        cells->nulls == 0 && series->nulls == 0)
        return cells->known ? &cells->summary : NULL;
    cells->config = series->config;
    cells->pass = series->pass;
    cells->n = series->n;
    cells->nulls = series->nulls;
    wmi_state_summary_init(&cells->summary);
    for (size_t i = 0; i < series->n; i++) {
        const wmi_sensed *run =
            wmi_series_reason(series, i)
                ? NULL
                : wmi_samples_state_of(samples, series->config, series->pass, wmi_series_run(series, i));
        if (run) wmi_state_summary_add(&cells->summary, run);
    }
    cells->known = cells->summary.runs > 0;
    return cells->known ? &cells->summary : NULL;
}

wm_status wmi_state_cells_put(wm_table *t, size_t row, size_t first, const wmi_sensed *sensed) {
    wm_status status = WM_OK;
    for (int i = 0; i < WMI_SENSOR_COUNT && status == WM_OK; i++) {
        char text[WMI_THROTTLE_TEXT_MAX];
        wm_value v = wmi_null((wm_reason)sensed->reason[i]);
        if (!sensed->reason[i] && wmi_sensor_kind_of((wmi_sensor)i) == WMI_SENSE_BITS)
            v = wmi_str(wmi_throttle_text((uint32_t)sensed->value[i], text));
        else if (!sensed->reason[i])
            v = wmi_f64(sensed->value[i]);
        status = wmi_table_set(t, row, first + (size_t)i, v);
    }
    return status;
}
