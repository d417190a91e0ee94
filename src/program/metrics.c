/* wm_metrics: the groups of metrics, then the metrics, of which there may be hundreds. */
#include <fnmatch.h>
#include <string.h>

#include "backend/backend.h"
#include "formula/formula.h"
#include "input/groups.h"
#include "program/program.h"
#include "session/measure.h"
#include "table/table.h"

enum {
#define METRIC_ENUM(id, name, type, unit, text) COL_##id,
    WMI_METRIC_COLUMNS(METRIC_ENUM)
#undef METRIC_ENUM
        COL_COUNT
};

static wm_status add_metric(void *user, const wmi_metric *m, bool available, const char *why_not) {
    wm_table *t = user;
    const wm_value cells[COL_COUNT] = {
        [COL_METRIC] = wmi_str(m->name),       [COL_UNIT] = wmi_str(m->unit),
        [COL_BACKEND] = wmi_str(m->backend),   [COL_BETTER] = wmi_str(wmi_better_text(m->better)),
        [COL_AVAILABLE] = wmi_bool(available), [COL_REASON] = wmi_str(available ? "" : why_not),
        [COL_TEXT] = wmi_str(m->text),
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t i = 0; i < COL_COUNT && status == WM_OK; i++) {
        bool empty = cells[i].type == WM_STR && (!cells[i].as.str || !cells[i].as.str[0]);
        if (!empty) status = wmi_table_set(t, row, i, cells[i]);
    }
    return status;
}

/* ---- groups ---- */

static wm_status check_gauges(const wmi_measure *m, wm_error *err) {
    for (size_t i = 0; i < m->gauge_count; i++) {
        const wmi_gauge *g = &m->gauges[i];
        if (g->pass < 0)
            return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s: %s", g->about.name,
                                 g->why ? g->why : wm_reason_text(g->reason));
    }
    return WM_OK;
}

/* Can all that the group asks for be had here? A plan is made, as for a sweep; *err says what
 * stands in its way. */
static wm_status check_here(const wmi_group *g, wm_error *err) {
    const wmi_measure_opts opts = {0};
    wmi_measure *m = NULL;
    wmi_samples *samples = wmi_samples_create();
    if (!samples) return wmi_error_nomem(err);
    wm_status status =
        wmi_measure_open(samples, (const char *const *)g->metrics.v, g->metrics.n, &opts, &m, err);
    if (status == WM_OK) status = check_gauges(m, err);
    wmi_measure_close(m);
    wmi_samples_destroy(samples);
    return status;
}

/* WM_ENOTFOUND: it is not a group of that chip's metrics. */
static wm_status check_on(const wmi_group *g, const char *chip) {
    for (size_t i = 0; i < g->metrics.n; i++) {
        const wm_status status = wmi_measure_knows((void *)(uintptr_t)chip, g->metrics.v[i]);
        if (status != WM_OK) return status == WM_ENOMEM ? status : WM_ENOTFOUND;
    }
    return WM_OK;
}

static wm_status check_group(wmi_group *g, const char *chip, wm_error *err) {
    const char *version, *path;
    wm_status status = wmi_group_choose(g, wmi_measure_knows, (void *)(uintptr_t)chip, err);
    if (status == WM_OK && chip) status = check_on(g, chip);
    if (status == WM_OK && g->derive.n > 0) status = wmi_formula_library(&version, &path, err);
    if (status == WM_OK && !chip) status = check_here(g, err);
    return status;
}

static wm_status add_group(wm_table *t, const char *name, const char *chip, const char *shown) {
    wmi_group g = {0};
    wm_error why = WM_ERROR_INIT;
    wm_status status = wmi_group_load(name, &g, &why);
    bool loaded = status == WM_OK;
    if (loaded) status = check_group(&g, chip, &why);
    if (chip && (!loaded || status == WM_ENOTFOUND)) {
        status = status == WM_ENOMEM ? status : WM_OK; /* the listing of a chip is of its groups alone */
    } else if (status != WM_ENOMEM) {
        wmi_metric m = {.name = shown, .unit = "", .text = loaded ? g.text : NULL, .backend = ""};
        status = add_metric(t, &m, status == WM_OK, why.message);
    }
    if (loaded) wmi_group_fini(&g);
    return status;
}

static wm_status add_groups(wm_table *t, const wm_metrics_opts *o, wm_error *err) {
    wmi_list names = {NULL, 0, 0};
    wmi_buf shown = WMI_BUF_INIT;
    wm_status status = wmi_group_names(&names, err);
    for (size_t i = 0; i < names.n && status == WM_OK; i++) {
        shown.len = 0;
        wmi_buf_printf(&shown, "group:%s", names.v[i]);
        if (shown.failed) {
            status = WM_ENOMEM;
        } else if (!o->pattern || fnmatch(o->pattern, shown.data, 0) == 0) {
            status = add_group(t, names.v[i], o->chip, shown.data);
        }
    }
    wmi_buf_free(&shown);
    wmi_list_free(&names);
    return status;
}

/* ---- the table ---- */

static wm_status list_here(const wm_metrics_opts *o, const wmi_metric_list *list, wm_error *err) {
    wm_status status = WM_OK;
    for (const wmi_backend_ops *const *b = wmi_backends; *b && status == WM_OK; b++)
        status = (*b)->list(NULL, o->pattern, list, err);
    return status;
}

/* The chip is one backend's. */
static wm_status list_chip(const wm_metrics_opts *o, const wmi_metric_list *list, wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    wm_status status = wmi_no_chips(&why);
    for (const wmi_backend_ops *const *b = wmi_backends; *b; b++) {
        if (!(*b)->plan_on) continue;
        status = (*b)->list(o->chip, o->pattern, list, &why);
        if (status != WM_ENOTFOUND) break;
    }
    if (status != WM_OK && err) *err = why;
    return status;
}

wm_status wm_metrics(const wm_metrics_opts *opts, wm_table **out, wm_error *err) {
    wm_metrics_opts o = WM_METRICS_OPTS_INIT;
    if (!out) return wmi_error_set(err, WM_EINVAL, 0, "wm_metrics needs a place for the table");
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    wm_table *t = wmi_schema_table(wmi_schema_of("metrics"), 0, NULL, NULL);
    const wmi_metric_list list = {t, add_metric};
    wm_status status = t ? wmi_table_set_context(t, "version", wmi_str(wm_version())) : WM_ENOMEM;
    if (status == WM_OK && o.chip) status = wmi_table_set_context(t, "chip", wmi_str(o.chip));
    if (status == WM_OK) status = add_groups(t, &o, err);
    if (status == WM_OK) status = o.chip ? list_chip(&o, &list, err) : list_here(&o, &list, err);
    if (status == WM_OK) {
        *out = t;
    } else {
        wm_table_destroy(t);
    }
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
