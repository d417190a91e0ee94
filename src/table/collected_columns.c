#include "table/collected_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "table/columns.h"
#include "table/params.h"

enum { SPREAD = 4 };
static const char *const endings[SPREAD] = {"_avg", "_std", "_min", "_max"};

/* ---- which columns there are ---- */

static bool is_number(const wmi_collector *k) {
    return !k->counts[WM_STR] && !k->counts[WM_BOOL] && (k->counts[WM_I64] || k->counts[WM_F64]);
}

/* Values that say nothing of their type leave it open. */
static bool is_open(const wmi_collector *k) {
    return !k->counts[WM_STR] && !k->counts[WM_BOOL] && !is_number(k);
}

static bool is_spread(const wmi_collector *k) { return k->scope != WM_COLLECT_ONCE && is_number(k); }

static size_t find(const wmi_collected_columns *c, const char *name) {
    size_t i = 0;
    while (i < c->count && c->v[i].name != name) i++; /* interned */
    return i;
}

static wm_type type_of(const wmi_collector *k, wm_type before) {
    static const wm_type types[] = {WM_I64, WM_F64, WM_STR, WM_BOOL};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (k->counts[types[i]]) before = wmi_type_common(before, types[i]);
    return before;
}

static void add_collector(wmi_collected_columns *c, size_t i, bool results) {
    const wmi_collector *k = wmi_samples_collector_at(c->samples, (uint32_t)i);
    const size_t at = find(c, k->name);
    wmi_collected_column *column = &c->v[at];
    if (at == c->count) c->v[c->count++] = (wmi_collected_column){.name = k->name, .type = WM_NULL};
    c->of[i] = at;
    if (results && is_spread(k)) {
        column->spread = true;
        return;
    }
    column->single |= !results || !is_open(k) || k->scope == WM_COLLECT_ONCE;
    column->type = type_of(k, column->type);
}

wm_status wmi_collected_columns_make(const wmi_samples *samples, bool results, wmi_collected_columns *out) {
    const size_t n = wmi_samples_collectors(samples);
    *out = (wmi_collected_columns){.samples = samples};
    if (n == 0) return WM_OK;
    out->v = calloc(n, sizeof *out->v);
    out->of = malloc(n * sizeof *out->of);
    if (!out->v || !out->of) return WM_ENOMEM;
    for (size_t i = 0; i < n; i++) add_collector(out, i, results);
    for (size_t i = 0; i < out->count; i++) {
        wmi_collected_column *column = &out->v[i];
        column->single |= !column->spread;
        if (column->type == WM_NULL) column->type = WM_STR;
        column->at = out->cell_count;
        out->cell_count += (size_t)column->single + (column->spread ? SPREAD : 0);
    }
    out->cells = malloc(out->cell_count * sizeof *out->cells);
    return out->cells ? WM_OK : WM_ENOMEM;
}

void wmi_collected_columns_fini(wmi_collected_columns *c) {
    free(c->v);
    free(c->of);
    free(c->cells);
    *c = (wmi_collected_columns){0};
}

/* One name of the list in the context, in which a comma divides. */
static void list_add(wmi_buf *list, const char *name) {
    if (list->len) wmi_buf_char(list, ',');
    for (; *name; name++) {
        if (*name == ',') wmi_buf_char(list, '\\');
        wmi_buf_char(list, *name);
    }
}

static wm_status add_column(wm_table *t, const char *name, const char *ending, wm_type type, wmi_buf *list) {
    wmi_buf whole = WMI_BUF_INIT;
    wm_column made = {0};
    size_t at;
    wmi_buf_printf(&whole, "%s%s", name, ending);
    const wm_status status = whole.failed ? WM_ENOMEM : wmi_table_add_column(t, whole.data, type, "", &at);
    if (status == WM_OK && wm_table_column(t, at, &made) == WM_OK) list_add(list, made.name);
    wmi_buf_free(&whole);
    return status;
}

wm_status wmi_collected_columns_add(wmi_collected_columns *c, wm_table *t) {
    wmi_buf list = WMI_BUF_INIT;
    wm_status status = WM_OK;
    c->first = wm_table_columns(t);
    for (size_t i = 0; i < c->count && status == WM_OK; i++) {
        const wmi_collected_column *column = &c->v[i];
        if (column->single) status = add_column(t, column->name, "", column->type, &list);
        for (size_t k = 0; column->spread && k < SPREAD && status == WM_OK; k++)
            status = add_column(t, column->name, endings[k], WM_F64, &list);
    }
    if (list.failed) status = WM_ENOMEM;
    if (status == WM_OK && list.len) status = wmi_table_set_context(t, "collected", wmi_str(list.data));
    wmi_buf_free(&list);
    return status;
}

wm_status wmi_collected_find(const wm_table *t, bool *flags) {
    const wm_value list = wmi_table_context_value(t, "collected");
    char **names = NULL;
    size_t count = 0;
    for (size_t i = 0; i < wm_table_columns(t); i++) flags[i] = false;
    if (list.type != WM_STR) return WM_OK;
    const wm_status status = wmi_items_split(list.as.str, &names, &count, NULL);
    for (size_t i = 0; status == WM_OK && i < count; i++) {
        const size_t at = wm_table_find(t, names[i]);
        if (at != SIZE_MAX) flags[at] = true;
    }
    free(names);
    return status;
}

/* ---- cells of results ---- */

/* Numbers so far, and why there are none. */
typedef struct numbers {
    wmi_running running;
    double min, max;
    wm_reason why;
} numbers;

static void numbers_add(numbers *n, const wm_value *v) {
    if (v->type == WM_NULL) {
        n->why = v->reason;
        return;
    }
    const double x = v->type == WM_I64 ? (double)v->as.i64 : v->as.f64;
    if (n->running.n == 0 || x < n->min) n->min = x;
    if (n->running.n == 0 || x > n->max) n->max = x;
    wmi_running_add(&n->running, x);
}

static void numbers_cells(const numbers *n, wm_value cells[SPREAD]) {
    for (size_t i = 0; i < SPREAD; i++) cells[i] = wmi_null(n->why);
    if (n->running.n == 0) return;
    cells[0] = wmi_f64(n->running.mean);
    cells[1] = n->running.n > 1 ? wmi_f64(wmi_running_stddev(&n->running)) : wmi_null(WM_REASON_FEW_SAMPLES);
    cells[2] = wmi_f64(n->min);
    cells[3] = wmi_f64(n->max);
}

static wm_reason nothing_in(const wmi_samples *samples, uint32_t config) {
    return wmi_samples_config_at(samples, config)->state == WMI_CONFIG_OK ? WM_REASON_NO_SAMPLES
                                                                          : WM_REASON_NOT_RUN;
}

/* Calls take(user, value) with each value of the collector in these runs, in their order. */
static void each_value(const wmi_samples *samples, uint32_t k, uint32_t config, uint32_t node,
                       const wmi_series *runs, void (*take)(void *user, const wm_value *v), void *user) {
    const bool per_run = wmi_samples_collector_at(samples, k)->scope >= WM_COLLECT_RUN;
    const size_t n = per_run ? (runs ? runs->n : 0) : 1;
    for (size_t i = 0; i < n; i++) {
        const int32_t run = per_run ? wmi_series_run(runs, i) : -1;
        const wm_value *v = wmi_samples_collected_of(samples, k, config, node, run);
        if (v) take(user, v);
    }
}

static void take_number(void *user, const wm_value *v) { numbers_add(user, v); }

static void take_first(void *user, const wm_value *v) {
    wm_value *first = user;
    if (first->type == WM_NULL) *first = *v;
}

void wmi_collected_cells_make(wmi_collected_columns *c, uint32_t config, uint32_t node,
                              const wmi_series *runs) {
    const uint32_t bench = wmi_samples_config_at(c->samples, config)->bench;
    for (size_t i = 0; i < c->cell_count; i++) c->cells[i] = wmi_null(WM_REASON_NOT_APPLICABLE);
    for (uint32_t k = 0; k < wmi_samples_collectors(c->samples); k++) {
        const wmi_collector *collector = wmi_samples_collector_at(c->samples, k);
        const wmi_collected_column *column = &c->v[c->of[k]];
        if (collector->bench != bench) continue;
        wm_value *cells = &c->cells[column->at];
        const bool open = collector->scope != WM_COLLECT_ONCE && is_open(collector);
        if (is_spread(collector) || (open && column->spread)) {
            numbers n = {.why = nothing_in(c->samples, config)};
            each_value(c->samples, k, config, node, runs, take_number, &n);
            numbers_cells(&n, cells + column->single);
        } else {
            cells[0] = wmi_null(nothing_in(c->samples, config));
            each_value(c->samples, k, config, node, runs, take_first, &cells[0]);
        }
    }
}

wm_status wmi_collected_cells_put(const wmi_collected_columns *c, wm_table *t, size_t row) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < c->count && status == WM_OK; i++) {
        const wmi_collected_column *column = &c->v[i];
        const size_t n = (size_t)column->single + (column->spread ? SPREAD : 0);
        for (size_t k = 0; k < n && status == WM_OK; k++)
            status =
                wmi_value_fill(t, row, 1, c->first + column->at + k,
                               column->single && k == 0 ? column->type : WM_F64, c->cells[column->at + k]);
    }
    return status;
}

/* ---- cells of samples ---- */

static wm_status fill_one(const wmi_collected_columns *c, uint32_t k, wm_table *t, size_t row, size_t count,
                          const wmi_series *s, size_t from) {
    const wmi_collected_column *column = &c->v[c->of[k]];
    const bool per_run = wmi_samples_collector_at(c->samples, k)->scope >= WM_COLLECT_RUN;
    wm_status status = WM_OK;
    for (size_t i = 0; i < count && status == WM_OK; i += per_run ? 1 : count) {
        const int32_t run = wmi_series_run(s, from + i);
        const wm_value *v = wmi_samples_collected_of(c->samples, k, s->config, s->node, run);
        status = wmi_value_fill(t, row + i, per_run ? 1 : count, c->first + column->at, column->type,
                                v ? *v : wmi_null(WM_REASON_NO_SAMPLES));
    }
    return status;
}

wm_status wmi_collected_fill(const wmi_collected_columns *c, wm_table *t, size_t row, size_t count,
                             const wmi_series *s, size_t from) {
    const uint32_t bench = wmi_samples_config_at(c->samples, s->config)->bench;
    wm_status status = WM_OK;
    for (uint32_t k = 0; k < wmi_samples_collectors(c->samples) && status == WM_OK; k++)
        if (wmi_samples_collector_at(c->samples, k)->bench == bench)
            status = fill_one(c, k, t, row, count, s, from);
    return status;
}
