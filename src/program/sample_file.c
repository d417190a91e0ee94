/* Raw samples go to their file after every step, whole lines at a time, so that a
 * program that is killed loses at most the step at hand. The context is beside them from the
 * start, for the same reason. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "program/program.h"
#include "sink/sink.h"
#include "table/params.h"

struct wmi_sample_file {
    char *path;
    const wm_session *session;
    wmi_appender *appender;
    wmi_params params; /* of all sweeps */
    wmi_collected_columns collected;
    size_t *written; /* [series] values already in the file */
    size_t *next;    /* [series] the next one of its configuration; SIZE_MAX ends */
    size_t series_count;
    size_t *first; /* [configuration] its newest series; SIZE_MAX: none */
    size_t config_count;
};

/* A column's type is known only from what its collector has said, so these are made anew each time. */
static wm_table *rows_create(wmi_sample_file *f) {
    wmi_collected_columns_fini(&f->collected);
    wm_status status = wmi_collected_columns_make(f->session->samples, false, &f->collected);
    wm_table *t = wmi_samples_table_create(f->params.count, f->params.names, f->params.types);
    if (status == WM_OK && t) status = wmi_collected_columns_add(&f->collected, t);
    if (status == WM_OK) return t;
    wm_table_destroy(t);
    return NULL;
}

static wm_status context_write(wmi_sample_file *f, wm_error *err) {
    wm_table *t = rows_create(f);
    wm_status status = t ? wmi_session_context(f->session, t) : WM_ENOMEM;
    status = status == WM_OK ? wmi_sink_write_beside(&wmi_sink_csv, t, f->path, err) : wmi_error_nomem(err);
    wm_table_destroy(t);
    return status;
}

static wm_status header_write(wmi_sample_file *f, wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    wm_table *t = rows_create(f);
    wm_status status = t ? wmi_csv_header(t, &text) : WM_ENOMEM;
    if (status == WM_OK && text.failed) status = WM_ENOMEM;
    status = status == WM_OK ? wmi_appender_add(f->appender, text.data, text.len, err) : wmi_error_nomem(err);
    wmi_buf_free(&text);
    wm_table_destroy(t);
    return status;
}

static wm_status file_free(wmi_sample_file *f, wm_error *err) {
    const wm_status status = f->appender ? wmi_appender_close(f->appender, err) : WM_OK;
    wmi_params_fini(&f->params);
    wmi_collected_columns_fini(&f->collected);
    free(f->path);
    free(f->written);
    free(f->next);
    free(f->first);
    free(f);
    return status;
}

wm_status wmi_sample_file_open(const char *path, const wm_session *session, wmi_sample_file **out,
                               wm_error *err) {
    const size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 4, ".csv") != 0)
        return wmi_error_set(err, WM_EINVAL, 0, "--samples takes a file that ends in .csv, not '%s'", path);
    wmi_sample_file *f = calloc(1, sizeof *f);
    if (!f) return wmi_error_nomem(err);
    f->session = session;
    f->path = wmi_strdup(path);
    wm_status status = f->path ? wmi_params_collect(session->samples, &f->params) : WM_ENOMEM;
    status = status == WM_OK ? wmi_appender_open(path, &f->appender, err) : wmi_error_nomem(err);
    if (status == WM_OK) status = context_write(f, err);
    if (status == WM_OK) status = header_write(f, err);
    if (status != WM_OK) {
        file_free(f, NULL);
        return status;
    }
    *out = f;
    return WM_OK;
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
    wm_table *t = rows_create(f);
    wm_status status = t ? WM_OK : WM_ENOMEM;
    for (size_t k = f->first[config]; k != SIZE_MAX && status == WM_OK; k = f->next[k]) {
        const wmi_series *s = wmi_samples_series_at(samples, k);
        status = wmi_params_add_samples(&f->params, &f->collected, t, samples, s, f->written[k]);
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
    const wm_status told = context_write(f, err); /* first: the lock keeps others away */
    const wm_status closed = file_free(f, told == WM_OK ? err : NULL);
    return told == WM_OK ? closed : told;
}
