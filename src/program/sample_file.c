/* Raw samples go to their file after every step, whole lines at a time, so that a
 * program that is killed loses at most the step at hand. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "program/program.h"
#include "sink/sink.h"

struct wmi_sample_file {
    wmi_appender *appender;
    const char **params; /* of all sweeps; interned */
    wm_type *types;
    size_t param_count;
    size_t *written; /* [series] values already in the file */
    size_t *next;    /* [series] the next one of its configuration; SIZE_MAX ends */
    size_t series_count;
    size_t *first; /* [configuration] its newest series; SIZE_MAX: none */
    size_t config_count;
};

/* A parameter that has two types in two benchmarks becomes text. */
static wm_status param_add(wmi_sample_file *f, const char *name, wm_type type) {
    for (size_t i = 0; i < f->param_count; i++) {
        if (strcmp(f->params[i], name)) continue;
        if (f->types[i] == type) return WM_OK;
        const bool numbers =
            f->types[i] != WM_STR && f->types[i] != WM_BOOL && type != WM_STR && type != WM_BOOL;
        f->types[i] = numbers ? WM_F64 : WM_STR;
        return WM_OK;
    }
    const char **params = realloc(f->params, (f->param_count + 1) * sizeof *params);
    if (params) f->params = params;
    wm_type *types = realloc(f->types, (f->param_count + 1) * sizeof *types);
    if (types) f->types = types;
    if (!params || !types) return WM_ENOMEM;
    f->params[f->param_count] = name;
    f->types[f->param_count++] = type;
    return WM_OK;
}

static wm_status header_write(wmi_sample_file *f, wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    wm_table *t = wmi_samples_table_create(f->param_count, f->params, f->types);
    wm_status status = t ? wmi_csv_header(t, &text) : WM_ENOMEM;
    if (status == WM_OK && text.failed) status = WM_ENOMEM;
    status = status == WM_OK ? wmi_appender_add(f->appender, text.data, text.len, err) : wmi_error_nomem(err);
    wmi_buf_free(&text);
    wm_table_destroy(t);
    return status;
}

wm_status wmi_sample_file_open(const char *path, wm_sweep *const *sweeps, size_t count, wmi_sample_file **out,
                               wm_error *err) {
    const size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 4, ".csv"))
        return wmi_error_set(err, WM_EINVAL, 0, "--samples takes a file that ends in .csv, not '%s'", path);
    wmi_sample_file *f = calloc(1, sizeof *f);
    if (!f) return wmi_error_nomem(err);
    wm_status status = WM_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sweeps[i]->point_count; k++)
            for (size_t j = 0; j < sweeps[i]->points[k].count && status == WM_OK; j++)
                status = param_add(f, sweeps[i]->points[k].names[j], sweeps[i]->points[k].values[j].type);
    status = status == WM_OK ? wmi_appender_open(path, &f->appender, err) : wmi_error_nomem(err);
    if (status == WM_OK) status = header_write(f, err);
    if (status != WM_OK) {
        wmi_sample_file_close(f, NULL);
        return status;
    }
    *out = f;
    return WM_OK;
}

/* A value as the type of its column. */
static wm_status param_set(wm_table *t, size_t row, size_t column, wm_type type, wm_value v) {
    if (type != WM_STR || v.type == WM_STR) return wmi_table_set(t, row, column, v);
    const char *name = "v";
    char *key = wmi_config_key(1, &name, &v);
    if (!key) return WM_ENOMEM;
    const wm_status status = wmi_table_set(t, row, column, wmi_str(key + 2));
    free(key);
    return status;
}

static wm_status row_add(const wmi_sample_file *f, const wmi_samples *samples, const wmi_series *s, size_t i,
                         wm_table *t) {
    const wmi_config *c = wmi_samples_config_at(samples, s->config);
    const wmi_metric *m = wmi_samples_metric_at(samples, s->metric);
    const wm_reason why = wmi_series_reason(s, i);
    const wm_value cells[WMI_SCOL_COUNT] = {
        [WMI_SCOL_BENCHMARK] = wmi_str(wmi_samples_bench_name(samples, c->bench)),
        [WMI_SCOL_REGION] = wmi_str(wmi_samples_node_at(samples, s->node)->path),
        [WMI_SCOL_METRIC] = wmi_str(m->name),
        [WMI_SCOL_UNIT] = wmi_str(m->unit),
        [WMI_SCOL_RUN] = wmi_i64(wmi_series_run(s, i)),
        [WMI_SCOL_PASS] = s->pass < 0 ? wmi_null(why) : wmi_i64(s->pass),
        [WMI_SCOL_VALUE] = why ? wmi_null(why) : wmi_f64(wmi_series_value(s, i)),
        [WMI_SCOL_REASON] = why ? wmi_str(wm_reason_slug(why)) : wmi_null(WM_REASON_NOT_APPLICABLE),
        [WMI_SCOL_CONFIG_KEY] = wmi_str(c->key),
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t k = 0; k < WMI_SCOL_COUNT && status == WM_OK; k++)
        status = wmi_table_set(t, row, k, cells[k]);
    for (size_t k = 0; k < c->count && status == WM_OK; k++)
        for (size_t p = 0; p < f->param_count && status == WM_OK; p++)
            if (!strcmp(f->params[p], c->names[k]))
                status = param_set(t, row, WMI_SCOL_COUNT + p, f->types[p], c->values[k]);
    return status;
}

/* Enlarge an array of numbers; the new ones are `fill`. */
static bool grow(size_t **v, size_t from, size_t to, size_t fill) {
    size_t *grown = to > from ? realloc(*v, to * sizeof *grown) : *v;
    if (to > from && !grown) return false;
    for (size_t i = from; i < to; i++) grown[i] = fill;
    *v = grown;
    return true;
}

/* Take in series that are new, so that a step looks only at those of its configuration. */
static bool index_series(wmi_sample_file *f, const wmi_samples *samples) {
    const size_t n = wmi_samples_series_count(samples), configs = wmi_samples_configs(samples);
    if (!grow(&f->first, f->config_count, configs, SIZE_MAX)) return false;
    f->config_count = configs;
    if (!grow(&f->written, f->series_count, n, 0) || !grow(&f->next, f->series_count, n, SIZE_MAX))
        return false;
    for (; f->series_count < n; f->series_count++) {
        const uint32_t config = wmi_samples_series_at(samples, f->series_count)->config;
        f->next[f->series_count] = f->first[config];
        f->first[config] = f->series_count;
    }
    return true;
}

wm_status wmi_sample_file_add(wmi_sample_file *f, const wmi_samples *samples, uint32_t config,
                              wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    if (!index_series(f, samples)) return wmi_error_nomem(err);
    wm_table *t = wmi_samples_table_create(f->param_count, f->params, f->types);
    wm_status status = t ? WM_OK : WM_ENOMEM;
    for (size_t k = f->first[config]; k != SIZE_MAX && status == WM_OK; k = f->next[k]) {
        const wmi_series *s = wmi_samples_series_at(samples, k);
        for (size_t i = f->written[k]; i < s->n && status == WM_OK; i++)
            status = row_add(f, samples, s, i, t);
    }
    if (status == WM_OK && wm_table_rows(t)) status = wmi_csv_rows(t, 0, &text);
    if (status == WM_OK && text.failed) status = WM_ENOMEM;
    if (status == WM_OK && text.len)
        status = wmi_appender_add(f->appender, text.data, text.len, err);
    else if (status != WM_OK)
        wmi_error_nomem(err);
    for (size_t k = f->first[config]; k != SIZE_MAX && status == WM_OK; k = f->next[k])
        f->written[k] = wmi_samples_series_at(samples, k)->n;
    wmi_buf_free(&text);
    wm_table_destroy(t);
    return status;
}

wm_status wmi_sample_file_close(wmi_sample_file *f, wm_error *err) {
    if (!f) return WM_OK;
    const wm_status status = f->appender ? wmi_appender_close(f->appender, err) : WM_OK;
    free(f->params);
    free(f->types);
    free(f->written);
    free(f->next);
    free(f->first);
    free(f);
    return status;
}
