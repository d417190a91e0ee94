#include "table/state_cells.h"

/* Have both values in the same runs? */
static bool same_runs(const wmi_series *a, const wmi_series *b) {
    if (a->config != b->config || a->pass != b->pass || a->n != b->n || a->nulls || b->nulls) return false;
    for (size_t i = 0; i < a->n; i++)
        if (wmi_series_run(a, i) != wmi_series_run(b, i)) return false;
    return true;
}

const wmi_state_summary *wmi_state_cells_of(wmi_state_cells *cells, const wmi_samples *samples,
                                            const wmi_series *series) {
    if (!series || series->pass < 0 || !wmi_samples_has_states(samples)) return NULL;
    if (cells->of && same_runs(cells->of, series)) return cells->known ? &cells->summary : NULL;
    cells->of = series;
    wmi_state_summary_init(&cells->summary);
    for (size_t i = 0; i < series->n; i++) {
        const wmi_sensed *run = wmi_series_reason(series, i)
                                    ? NULL
                                    : wmi_samples_state_of(samples, series->config, series->pass,
                                                           wmi_series_run(series, i), NULL);
        if (run) wmi_state_summary_add(&cells->summary, run);
    }
    cells->known = cells->summary.runs > 0;
    return cells->known ? &cells->summary : NULL;
}

wm_status wmi_state_cells_put(wm_table *t, size_t row, size_t count, size_t first, const wmi_sensed *sensed) {
    wm_status status = WM_OK;
    for (int i = 0; i < WMI_SENSOR_COUNT && status == WM_OK; i++) {
        char text[WMI_THROTTLE_TEXT_MAX];
        wm_value v = wmi_null((wm_reason)sensed->reason[i]);
        if (!sensed->reason[i] && wmi_sensor_kind_of((wmi_sensor)i) == WMI_SENSE_BITS)
            v = wmi_str(wmi_throttle_text((uint32_t)sensed->value[i], text));
        else if (!sensed->reason[i])
            v = wmi_f64(sensed->value[i]);
        status = wmi_table_fill(t, row, count, first + (size_t)i, v);
    }
    return status;
}
