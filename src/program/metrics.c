/* wm_metrics: the groups of metrics, then every metric that a backend knows: there may be
 * hundreds. */
#include <fnmatch.h>
#include <string.h>

#include "backend/backend.h"
#include "formula/formula.h"
#include "sweep/groups.h"
#include "table/table.h"

/* X(id, name, type) */
#define METRIC_COLUMNS(X)                                                                                    \
    X(METRIC, "metric", WM_STR)                                                                              \
    X(UNIT, "unit", WM_STR)                                                                                  \
    X(BACKEND, "backend", WM_STR)                                                                            \
    X(BETTER, "better", WM_STR)                                                                              \
    X(AVAILABLE, "available", WM_BOOL)                                                                       \
    X(REASON, "reason", WM_STR)                                                                              \
    X(TEXT, "text", WM_STR)

enum {
#define METRIC_ENUM(id, name, type) COL_##id,
    METRIC_COLUMNS(METRIC_ENUM)
#undef METRIC_ENUM
        COL_COUNT
};

static const struct {
    const char *name;
    wm_type type;
} columns[COL_COUNT] = {
#define METRIC_COLUMN(id, name, type) {name, type},
    METRIC_COLUMNS(METRIC_COLUMN)
#undef METRIC_COLUMN
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

static wm_status list_all(const char *pattern, const wmi_metric_list *list, wm_error *err) {
    wm_status status = WM_OK;
    for (const wmi_backend_ops *const *b = wmi_backends; *b && status == WM_OK; b++)
        status = (*b)->list(pattern, list, err);
    return status;
}

/* ---- groups ---- */

static wm_status note_available(void *user, const wmi_metric *m, bool available, const char *why_not) {
    bool *any = user;
    (void)m;
    (void)why_not;
    *any = *any || available;
    return WM_OK;
}

/* Can all that the group asks for be had? If not, *err says what cannot. */
static wm_status check_group(const wmi_group *g, wm_error *err) {
    const char *version, *path;
    if (g->derive.n > 0) {
        wm_status status = wmi_formula_library(&version, &path, err);
        if (status != WM_OK) return status;
    }
    for (size_t i = 0; i < g->metrics.n; i++) {
        bool available = false;
        const wmi_metric_list list = {&available, note_available};
        wm_status status = list_all(g->metrics.v[i], &list, err);
        if (status != WM_OK) return status;
        if (!available)
            return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s cannot be read here", g->metrics.v[i]);
    }
    return WM_OK;
}

static wm_status add_group(wm_table *t, const char *name, const char *shown) {
    wmi_group g = {0};
    wm_error why = WM_ERROR_INIT;
    wm_status status = wmi_group_load(name, &g, &why);
    bool loaded = status == WM_OK;
    if (loaded) status = check_group(&g, &why);
    if (status != WM_ENOMEM) {
        wmi_metric m = {.name = shown, .unit = "", .text = loaded ? g.text : NULL, .backend = ""};
        status = add_metric(t, &m, status == WM_OK, why.message);
    }
    if (loaded) wmi_group_fini(&g);
    return status;
}

static wm_status add_groups(wm_table *t, const char *pattern, wm_error *err) {
    wmi_list names = {NULL, 0, 0};
    wmi_buf shown = WMI_BUF_INIT;
    wm_status status = wmi_group_names(&names, err);
    for (size_t i = 0; i < names.n && status == WM_OK; i++) {
        shown.len = 0;
        wmi_buf_printf(&shown, "group:%s", names.v[i]);
        if (shown.failed) {
            status = WM_ENOMEM;
        } else if (!pattern || fnmatch(pattern, shown.data, 0) == 0) {
            status = add_group(t, names.v[i], shown.data);
        }
    }
    wmi_buf_free(&shown);
    wmi_list_free(&names);
    return status;
}

/* ---- the table ---- */

static wm_table *create_table(void) {
    wm_table *t = wmi_table_create("metrics");
    wm_status status = t ? WM_OK : WM_ENOMEM;
    size_t number;
    for (size_t i = 0; i < COL_COUNT && status == WM_OK; i++)
        status = wmi_table_add_column(t, columns[i].name, columns[i].type, "", &number);
    if (status == WM_OK) status = wmi_table_set_context(t, "version", wmi_str(wm_version()));
    if (status == WM_OK) return t;
    wm_table_destroy(t);
    return NULL;
}

wm_status wm_metrics(const char *pattern, wm_table **out, wm_error *err) {
    wm_table *t = create_table();
    if (!t) return wmi_error_nomem(err);
    const wmi_metric_list list = {t, add_metric};
    wm_status status = add_groups(t, pattern, err);
    if (status == WM_OK) status = list_all(pattern, &list, err);
    if (status == WM_OK) {
        *out = t;
    } else {
        wm_table_destroy(t);
    }
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
