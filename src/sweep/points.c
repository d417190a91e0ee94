/* From axes and explicit configurations to the points of a sweep. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "input/option_table.h"
#include "sweep/sweep.h"

void wmi_point_fini(wmi_point *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->values && p->values[i].type == WM_STR) free((char *)p->values[i].as.str);
    free(p->names);
    free(p->values);
    free(p->batches);
    free(p->rule);
}

static wm_status point_fill(wmi_point *p, size_t count, const char *const *names, const wm_value *values) {
    p->names = malloc((count + 1) * sizeof *p->names);
    p->values = calloc(count + 1, sizeof *p->values);
    if (!p->names || !p->values) return WM_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const uint32_t id = wmi_intern(names[i]);
        if (!id) return WM_ENOMEM;
        p->names[i] = wmi_intern_name(id);
        p->values[i] = values[i];
        if (values[i].type == WM_STR) {
            p->values[i].as.str = wmi_strdup(values[i].as.str);
            if (!p->values[i].as.str) {
                p->values[i] = wmi_null(WM_REASON_NONE);
                p->count = i;
                return WM_ENOMEM;
            }
        }
        p->count = i + 1;
    }
    return WM_OK;
}

/* With `--threads`, a configuration that is given in full may choose its own number. */
static wm_status point_threads(const wmi_options *o, size_t count, const char *const *names,
                               const wm_value *values, int *threads, wm_error *err) {
    for (size_t i = 0; i < count && o->thread_count; i++) {
        const wm_value *v = &values[i];
        if (strcmp(names[i], "threads")) continue;
        if (v->type != WM_I64 || v->as.i64 < 1 || v->as.i64 > WMI_THREADS_MAX)
            return wmi_error_set(err, WM_EINVAL, 0,
                                 "the parameter 'threads' takes a whole number from 1 to %d beside --threads",
                                 WMI_THREADS_MAX);
        *threads = (int)v->as.i64;
    }
    return WM_OK;
}

wm_status wmi_point_add(wm_sweep *sweep, size_t count, const char *const *names, const wm_value *values,
                        wm_error *err) {
    if (sweep->point_count == sweep->point_cap) {
        const size_t cap = sweep->point_cap ? 2 * sweep->point_cap : 16;
        wmi_point *points = realloc(sweep->points, cap * sizeof *points);
        if (!points) return wmi_error_nomem(err);
        sweep->points = points;
        sweep->point_cap = cap;
    }
    wmi_point *p = &sweep->points[sweep->point_count];
    memset(p, 0, sizeof *p);
    p->threads = 1;
    if (point_fill(p, count, names, values) != WM_OK) {
        wmi_point_fini(p);
        return wmi_error_nomem(err);
    }
    if (point_threads(&sweep->options, count, names, values, &p->threads, err) != WM_OK) {
        wmi_point_fini(p);
        return WM_EINVAL;
    }
    sweep->point_count++;
    return WM_OK;
}

/* ---- axes ---- */

typedef struct axis_list {
    wmi_axis *v;
    size_t n;
} axis_list;

static void axes_free(axis_list *l) {
    for (size_t i = 0; i < l->n; i++) wmi_axis_fini(&l->v[i]);
    free(l->v);
    *l = (axis_list){NULL, 0};
}

/* `--threads` is an axis like any other, the last. */
static wm_status threads_axis(const wmi_options *o, wmi_axis *out) {
    *out = (wmi_axis){wmi_strdup("threads"), WM_I64, o->thread_count, NULL};
    out->values = malloc(o->thread_count * sizeof *out->values);
    if (!out->name || !out->values) {
        out->count = 0;
        wmi_axis_fini(out);
        return WM_ENOMEM;
    }
    for (size_t i = 0; i < o->thread_count; i++) out->values[i] = wmi_i64(o->threads[i]);
    return WM_OK;
}

static wm_status axes_read(const wmi_options *o, axis_list *l, wm_error *err) {
    l->v = calloc(o->axes.n + 1, sizeof *l->v);
    if (!l->v) return wmi_error_nomem(err);
    for (size_t i = 0; i < o->axes.n; i++) {
        const wm_status status = wmi_axis_parse(o->axes.v[i], &l->v[l->n], err);
        if (status != WM_OK) return status;
        if (o->thread_count && !strcmp(l->v[l->n].name, "threads")) {
            l->n++;
            return wmi_error_set(err, WM_EINVAL, 0, "an axis cannot be called 'threads' beside --threads");
        }
        l->n++;
    }
    if (!o->thread_count) return WM_OK;
    if (threads_axis(o, &l->v[l->n]) != WM_OK) return wmi_error_nomem(err);
    l->n++;
    return WM_OK;
}

static wm_status points_of_axes(wm_sweep *sweep, const axis_list *l, wm_error *err) {
    size_t *index = NULL, count = 0;
    wm_status status = wmi_axes_expand(l->v, l->n, sweep->options.zip, &index, &count, err);
    const char **names = malloc((l->n + 1) * sizeof *names);
    wm_value *values = malloc((l->n + 1) * sizeof *values);
    if (status == WM_OK && (!names || !values)) status = wmi_error_nomem(err);
    for (size_t i = 0; i < count && status == WM_OK; i++) {
        for (size_t k = 0; k < l->n; k++) {
            names[k] = l->v[k].name;
            values[k] = l->v[k].values[index[i * l->n + k]];
        }
        status = wmi_point_add(sweep, l->n, names, values, err);
    }
    free(names);
    free(values);
    free(index);
    return status;
}

static wm_status point_explicit(wm_sweep *sweep, const char *text, wm_error *err) {
    wmi_axis *axes = NULL;
    size_t count = 0;
    wm_status status = wmi_config_parse(text, &axes, &count, err);
    if (status != WM_OK) return status;
    const char **names = malloc((count + 1) * sizeof *names);
    wm_value *values = malloc((count + 1) * sizeof *values);
    if (!names || !values) status = wmi_error_nomem(err);
    for (size_t i = 0; i < count && status == WM_OK; i++) {
        names[i] = axes[i].name;
        values[i] = axes[i].values[0];
    }
    if (status == WM_OK) status = wmi_point_add(sweep, count, names, values, err);
    free(names);
    free(values);
    for (size_t i = 0; i < count; i++) wmi_axis_fini(&axes[i]);
    free(axes);
    return status;
}

wm_status wmi_points_make(wm_sweep *sweep, wm_error *err) {
    axis_list axes = {NULL, 0};
    const wmi_list *configs = &sweep->options.configs;
    wm_status status = axes_read(&sweep->options, &axes, err);
    if (status == WM_OK && (axes.n || !configs->n)) status = points_of_axes(sweep, &axes, err);
    sweep->implicit = axes.n == 0 && configs->n == 0;
    for (size_t i = 0; i < configs->n && status == WM_OK; i++)
        status = point_explicit(sweep, configs->v[i], err);
    axes_free(&axes);
    return status;
}

static wm_status config_check(size_t count, const char *const *names, const wm_value *values, wm_error *err) {
    for (size_t i = 0; i < count; i++) {
        const wm_value *v = &values[i];
        if (!names[i] || !*names[i]) return wmi_error_set(err, WM_EINVAL, 0, "parameter %zu has no name", i);
        const bool typed = v->type == WM_I64 || v->type == WM_BOOL ||
                           (v->type == WM_F64 && __builtin_isfinite(v->as.f64)) ||
                           (v->type == WM_STR && v->as.str);
        if (!typed) return wmi_error_set(err, WM_EINVAL, 0, "the parameter '%s' has no value", names[i]);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names[k], names[i]))
                return wmi_error_set(err, WM_EINVAL, 0, "the parameter '%s' is there twice", names[i]);
    }
    return WM_OK;
}

wm_status wm_sweep_add_config(wm_sweep *sweep, size_t count, const char *const *names, const wm_value *values,
                              wm_error *err) {
    if (sweep->settled)
        return wmi_error_set(err, WM_ESTATE, 0, "the sweep has begun: no configuration can be added");
    wm_status status = config_check(count, names, values, err);
    if (status == WM_OK) status = wmi_point_add(sweep, count, names, values, err);
    if (status != WM_OK || !sweep->implicit) return status;
    wmi_point_fini(&sweep->points[0]);
    sweep->points[0] = sweep->points[--sweep->point_count];
    sweep->implicit = false;
    return WM_OK;
}

/* ---- settling ---- */

static int key_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Axes cannot give a configuration twice; explicit ones can. */
static wm_status duplicates_check(const wm_sweep *sweep, wm_error *err) {
    const size_t n = sweep->point_count;
    char **keys = calloc(n + 1, sizeof *keys);
    if (!keys) return wmi_error_nomem(err);
    wm_status status = WM_OK;
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        const wmi_point *p = &sweep->points[i];
        keys[i] = wmi_config_key(p->count, p->names, p->values);
        if (!keys[i]) status = wmi_error_nomem(err);
    }
    if (status == WM_OK) qsort(keys, n, sizeof *keys, key_order);
    for (size_t i = 1; i < n && status == WM_OK; i++)
        if (!strcmp(keys[i], keys[i - 1]))
            status = wmi_error_set(err, WM_EINVAL, 0, "benchmark %s has the configuration %s twice",
                                   sweep->name, keys[i]);
    for (size_t i = 0; i < n; i++) free(keys[i]);
    free(keys);
    return status;
}

/* Keep the points whose "benchmark/key" matches. */
static wm_status points_filter(wm_sweep *sweep, wm_error *err) {
    regex_t regex;
    if (!sweep->options.filter) return WM_OK;
    if (regcomp(&regex, sweep->options.filter, REG_EXTENDED | REG_NOSUB))
        return wmi_error_set(err, WM_EINVAL, 0, "--filter: '%s' is no regular expression",
                             sweep->options.filter);
    wm_status status = WM_OK;
    size_t kept = 0;
    for (size_t i = 0; i < sweep->point_count; i++) {
        wmi_point *p = &sweep->points[i];
        wmi_buf name = WMI_BUF_INIT;
        char *key = wmi_config_key(p->count, p->names, p->values);
        wmi_buf_printf(&name, "%s/%s", sweep->name, key ? key : "");
        if (!key || name.failed) status = WM_ENOMEM;
        if (status == WM_OK && regexec(&regex, name.data, 0, NULL, 0) != 0)
            wmi_point_fini(p);
        else
            sweep->points[kept++] = *p;
        wmi_buf_free(&name);
        free(key);
    }
    sweep->point_count = kept;
    regfree(&regex);
    return status == WM_OK ? WM_OK : wmi_error_nomem(err);
}

/* The names that formulas may use: metrics that are measured, rates, and parameters
 * that are numbers. */
static wm_status formulas_check(wm_sweep *sweep, wm_error *err) {
    const wmi_rows_how *how = &sweep->session->how[sweep->bench];
    const size_t derived = how->formula_count + how->derivation_count;
    if (!derived) return WM_OK;
    size_t n = 0, cap = sweep->measure->gauge_count + 3;
    for (size_t i = 0; i < sweep->point_count; i++) cap += sweep->points[i].count;
    const char **known = malloc(cap * sizeof *known);
    if (!known) return wmi_error_nomem(err);
    for (size_t i = 0; i < sweep->measure->gauge_count; i++)
        known[n++] = sweep->measure->gauges[i].about.name;
    if (sweep->measure->time >= 0) {
        known[n++] = "flop_rate";
        known[n++] = "byte_rate";
        known[n++] = "item_rate";
    }
    for (size_t i = 0; i < sweep->point_count; i++) {
        const wmi_point *p = &sweep->points[i];
        for (size_t k = 0; k < p->count; k++) {
            bool seen = p->values[k].type == WM_STR;
            for (size_t j = 0; j < n && !seen; j++) seen = !strcmp(known[j], p->names[k]);
            if (!seen) known[n++] = p->names[k];
        }
    }
    const wm_status status =
        wmi_sweep_blame(sweep, wmi_derive_check(how->derive, derived, known, n, err), err);
    free(known);
    return status;
}

wm_status wmi_sweep_settle(wm_sweep *sweep, wm_error *err) {
    if (sweep->settled) return WM_OK;
    wm_status status = duplicates_check(sweep, err);
    if (status == WM_OK) status = formulas_check(sweep, err);
    if (status == WM_OK) status = wmi_collecting_check(sweep, err);
    if (status == WM_OK) status = points_filter(sweep, err);
    for (size_t i = 0; i < sweep->point_count && status == WM_OK; i++) {
        wmi_point *p = &sweep->points[i];
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the filter moved those it kept over those it freed */
        if (wmi_samples_config(sweep->session->samples, sweep->bench, p->count, p->names, p->values,
                               &p->config) != WM_OK)
            status = wmi_error_nomem(err);
    }
    sweep->settled = status == WM_OK;
    return status;
}
