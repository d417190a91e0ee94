/* wm_metrics_plan: how many passes a set of metrics takes. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/intern.h"
#include "input/groups.h"
#include "program/program.h"
#include "session/measure.h"
#include "table/table.h"

wm_status wmi_no_chips(wm_error *err) {
    (void)wmi_error_set(
        err, WM_EUNSUPPORTED, 0,
        "this build knows no chips: it was made without CUDA's headers; warpmeter doctor tells "
        "what to install");
    return WM_EUNSUPPORTED; /* as a constant, so that a checker knows that it is no success */
}

/* ---- what was asked for ---- */

static wm_status add_name(wmi_list *names, const char *name) {
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->v[i], name) == 0) return WM_OK;
    return wmi_list_add(names, name, strlen(name));
}

static wm_status add_group(wmi_list *names, const char *name, const char *chip, wm_error *err) {
    wmi_group g = {0};
    wm_status s = wmi_group_load(name, &g, err);
    if (s == WM_OK) s = wmi_group_choose(&g, wmi_measure_knows, (void *)(uintptr_t)chip, err);
    for (size_t i = 0; i < g.metrics.n && s == WM_OK; i++)
        if (add_name(names, g.metrics.v[i]) != WM_OK) s = wmi_error_nomem(err);
    wmi_group_fini(&g);
    return s;
}

/* The list is read as the option is. */
static wm_status names_read(const char *list, const char *chip, wmi_list *names, wm_error *err) {
    const char *const words[] = {"--metrics", list};
    wmi_options o;
    wmi_options_init(&o);
    wm_status s = wmi_options_parse(&o, 2, words, true, NULL, err);
    for (size_t i = 0; i < o.metrics.n && s == WM_OK; i++) {
        const char *name = o.metrics.v[i];
        if (strncmp(name, "group:", strlen("group:")) == 0)
            s = add_group(names, name + strlen("group:"), chip, err);
        else if (add_name(names, name) != WM_OK)
            s = wmi_error_nomem(err);
    }
    wmi_options_fini(&o);
    return s;
}

/* ---- the table ---- */

enum {
#define PLAN_ENUM(id, name, type, unit, text) COL_##id,
    WMI_PLAN_COLUMNS(PLAN_ENUM)
#undef PLAN_ENUM
        COL_COUNT
};

/* One metric's place. window NULL: it has none. */
static wm_status add_row(wm_table *t, const wmi_metric *m, int32_t at, const wmi_window_kind *window,
                         bool disturbs, wm_reason reason, const char *why) {
    const wm_value none = wmi_null(WM_REASON_NOT_APPLICABLE);
    const wm_value cells[COL_COUNT] = {
        [COL_BENCHMARK] = none,
        [COL_METRIC] = wmi_str(m->name),
        [COL_UNIT] = wmi_str(m->unit),
        [COL_BACKEND] = wmi_str(m->backend),
        [COL_PASS] = window ? wmi_i64(at) : wmi_null(reason),
        [COL_WINDOW] = window ? wmi_str(wmi_window_text(*window)) : none,
        [COL_DISTURBS] = window ? wmi_bool(disturbs) : none,
        [COL_REASON] = window ? none : wmi_str(why ? why : wm_reason_text(reason)),
    };
    size_t row;
    wm_status s = wmi_table_add_row(t, &row);
    for (size_t i = 0; i < COL_COUNT && s == WM_OK; i++) s = wmi_table_set(t, row, i, cells[i]);
    return s;
}

typedef struct totals {
    int64_t passes, counter_passes;
} totals;

static void count_pass(totals *n, bool optional, bool disturbs) {
    n->passes += !optional;
    n->counter_passes += !optional && disturbs;
}

/* ---- on this machine ---- */

static wm_status plan_here(const wmi_list *names, wm_table *t, totals *n, wm_error *err) {
    const wmi_measure_opts opts = {0};
    wmi_measure *m = NULL;
    wmi_samples *samples = wmi_samples_create();
    if (!samples) return wmi_error_nomem(err);
    wm_status s = wmi_measure_open(samples, (const char *const *)names->v, names->n, &opts, &m, err);
    for (size_t i = 0; s == WM_OK && i < m->pass_count; i++)
        count_pass(n, m->passes[i].optional, m->passes[i].disturbs);
    for (size_t i = 0; s == WM_OK && i < m->gauge_count; i++) {
        const wmi_gauge *g = &m->gauges[i];
        const wmi_joint_pass *pass = g->pass >= 0 ? &m->passes[g->pass] : NULL;
        s = add_row(t, &g->about, g->pass, pass ? &pass->window : NULL, pass && pass->disturbs, g->reason,
                    g->why);
    }
    wmi_measure_close(m);
    wmi_samples_destroy(samples);
    return s;
}

/* ---- on a chip ---- */

/* The backend whose chip it is and that makes the plan. */
static wm_status plan_make(const char *chip, const wmi_metric_set *set, wmi_plan *plan,
                           const wmi_backend_ops **owner, wm_error *err) {
    wm_error why = WM_ERROR_INIT;
    wm_status s = wmi_no_chips(&why);
    for (const wmi_backend_ops *const *b = wmi_backends; *b; b++) {
        if (!(*b)->plan_on) continue;
        *owner = *b;
        s = (*b)->plan_on(chip, set, plan, &why);
        if (s != WM_ENOTFOUND) break;
    }
    if (s != WM_OK && err) *err = why;
    return s;
}

static wm_status plan_chip(const wmi_list *names, const char *chip, wm_table *t, totals *n, wm_error *err) {
    const wmi_metric_set set = {(const char *const *)names->v, names->n};
    const wmi_backend_ops *owner = NULL;
    wmi_plan plan = {0};
    wm_status s = plan_make(chip, &set, &plan, &owner, err);
    for (size_t i = 0; i < plan.pass_count; i++)
        count_pass(n, plan.passes[i].optional, plan.passes[i].disturbs);
    for (size_t i = 0; i < names->n && s == WM_OK; i++) {
        wmi_metric about;
        const int32_t at = plan.pass_of[i];
        const wmi_pass *pass = at >= 0 ? &plan.passes[at] : NULL;
        s = owner->describe(chip, names->v[i], &about, err);
        if (s == WM_OK)
            s = add_row(t, &about, at, pass ? &pass->window : NULL, pass && pass->disturbs, plan.reason[i],
                        plan.why[i]);
    }
    wmi_plan_free(&plan);
    return s;
}

static wm_status add_facts(wm_table *t, const char *chip, const totals *n) {
    wm_status s = chip ? wmi_table_set_context(t, "chip", wmi_str(chip)) : WM_OK;
    if (s == WM_OK) s = wmi_table_set_context(t, "passes", wmi_i64(n->passes));
    if (s == WM_OK) s = wmi_table_set_context(t, "counter_passes", wmi_i64(n->counter_passes));
    return s;
}

wm_status wm_metrics_plan(const char *list, const char *chip, wm_table **out, wm_error *err) {
    wmi_list names = {0};
    totals n = {0, 0};
    if (!list || !out)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_metrics_plan needs metrics and a place for the table");
    wm_table *t = wmi_schema_table(wmi_schema_of("plan"), 0, NULL, NULL);
    wm_status s = t ? names_read(list, chip, &names, err) : WM_ENOMEM;
    if (s == WM_OK) s = chip ? plan_chip(&names, chip, t, &n, err) : plan_here(&names, t, &n, err);
    if (s == WM_OK) s = add_facts(t, chip, &n);
    wmi_list_free(&names);
    if (s == WM_OK)
        *out = t;
    else
        wm_table_destroy(t);
    return s == WM_ENOMEM ? wmi_error_nomem(err) : s;
}
