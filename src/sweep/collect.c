#include "sweep/collect.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/collect_built_in.h"
#include "sweep/sweep.h"

/* ---- what a benchmark gives ---- */

/* The members that there have been from the first version on. */
static const size_t size_min = offsetof(wm_collector, user) + sizeof(void *);

static wm_status given_check(const char *name, wm_collect_scope scope, wm_error *err) {
    if (!name || !*name) return wmi_error_set(err, WM_EINVAL, 0, "a collector needs a name");
    if ((int)scope >= WM_COLLECT_ONCE && (int)scope <= WM_COLLECT_REGION) return WM_OK;
    return wmi_error_set(err, WM_EINVAL, 0, "collector '%.100s': there is no scope %d", name, (int)scope);
}

static wm_status collector_copy(const wm_collector *from, size_t size, wm_collector *to, wm_error *err) {
    if (from->struct_size != size) {
        wmi_error_set(err, WM_EINVAL, 0, "wm_collector: start from WM_COLLECTOR_INIT");
        return WM_EINVAL;
    }
    memcpy(to, from, size < sizeof *to ? size : sizeof *to);
    const char *name = to->name;
    to->name = NULL;
    const wm_status status = given_check(name, to->scope, err);
    if (status != WM_OK) return status;
    to->name = wmi_strdup(name);
    return to->name ? WM_OK : wmi_error_nomem(err);
}

wm_status wmi_collectors_copy(const wm_collector *given, size_t count, wm_collector **out, wm_error *err) {
    *out = NULL;
    if (!given || count == 0) return WM_OK;
    const size_t size = given->struct_size; /* of all: it is how far apart they lie */
    if (size < size_min || size > 4096)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_collector: start from WM_COLLECTOR_INIT");
    wm_collector *own = calloc(count, sizeof *own);
    if (!own) return wmi_error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const wm_collector *from = (const void *)((const char *)given + i * size);
        const wm_status status = collector_copy(from, size, &own[i], err);
        if (status == WM_OK) {
            own[i].struct_size = sizeof own[i];
            continue;
        }
        wmi_collectors_free(own, count);
        return status;
    }
    *out = own;
    return WM_OK;
}

void wmi_collectors_free(wm_collector *collectors, size_t count) {
    for (size_t i = 0; collectors && i < count; i++) free((char *)collectors[i].name);
    free(collectors);
}

/* ---- names ---- */

/* The names of columns that a collector may have: its own, and that with an ending. */
enum { COLUMNS_MAX = 5 };
static const char *const endings[COLUMNS_MAX] = {"", "_avg", "_std", "_min", "_max"};

static size_t column_count(wm_collect_scope scope) { return scope == WM_COLLECT_ONCE ? 1 : COLUMNS_MAX; }

/* Is `column` one that the collector may have? */
static bool has_column(const char *name, wm_collect_scope scope, const char *column) {
    const size_t n = strlen(name);
    if (strncmp(name, column, n) != 0) return false;
    for (size_t i = 0; i < column_count(scope); i++)
        if (!strcmp(column + n, endings[i])) return true;
    return false;
}

static const char *column_of_schemas(const char *name, wm_collect_scope scope) {
    static const char *const kinds[] = {"results", "samples"};
    if (has_column(name, scope, "nulls")) return "nulls";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const wmi_schema *schema = wmi_schema_of(kinds[k]);
        for (size_t i = 0; i < schema->count; i++)
            if (has_column(name, scope, schema->columns[i].name)) return schema->columns[i].name;
    }
    return NULL;
}

static const char *parameter_of(const wm_sweep *sweep, const char *name, wm_collect_scope scope) {
    for (size_t i = 0; i < sweep->point_count; i++)
        for (size_t k = 0; k < sweep->points[i].count; k++)
            if (has_column(name, scope, sweep->points[i].names[k])) return sweep->points[i].names[k];
    return NULL;
}

/* Another collector of the benchmark that would share a column. */
static const wmi_collector *rival_of(const wm_sweep *sweep, const char *name, wm_collect_scope scope) {
    const wmi_samples *samples = sweep->session->samples;
    for (size_t i = 0; i < wmi_samples_collectors(samples); i++) {
        const wmi_collector *other = wmi_samples_collector_at(samples, (uint32_t)i);
        if (other->bench != sweep->bench) continue;
        if (has_column(name, scope, other->name) || has_column(other->name, other->scope, name)) return other;
    }
    return NULL;
}

static wm_status parameter_check(const wm_sweep *sweep, const char *name, wm_collect_scope scope,
                                 wm_error *err) {
    const char *parameter = parameter_of(sweep, name, scope);
    if (!parameter) return WM_OK;
    return wmi_error_set(err, WM_EINVAL, 0,
                         "benchmark %.100s: the collector '%.100s' would have the column of the parameter "
                         "'%.100s'",
                         sweep->name, name, parameter);
}

/* Declare one whose name is free. */
static wm_status declare(wm_sweep *sweep, const char *name, wm_collect_scope scope, uint32_t *out,
                         wm_error *err) {
    const char *column = column_of_schemas(name, scope);
    const wmi_collector *rival = rival_of(sweep, name, scope);
    if (column)
        return wmi_error_set(
            err, WM_EINVAL, 0,
            "benchmark %.100s: the collector '%.100s' would have the column '%s', which every "
            "table has",
            sweep->name, name, column);
    if (rival && !strcmp(rival->name, name))
        return wmi_error_set(err, WM_EINVAL, 0, "benchmark %.100s: the collector '%.100s' is there twice",
                             sweep->name, name);
    if (rival)
        return wmi_error_set(err, WM_EINVAL, 0,
                             "benchmark %.100s: the collectors '%.100s' and '%.100s' would share a column",
                             sweep->name, rival->name, name);
    if (wmi_samples_collector(sweep->session->samples, sweep->bench, name, scope, out) == WM_OK) return WM_OK;
    return wmi_error_nomem(err);
}

wm_status wmi_collecting_check(const wm_sweep *sweep, wm_error *err) {
    const wmi_samples *samples = sweep->session->samples;
    wm_status status = WM_OK;
    for (size_t i = 0; i < wmi_samples_collectors(samples) && status == WM_OK; i++) {
        const wmi_collector *k = wmi_samples_collector_at(samples, (uint32_t)i);
        if (k->bench == sweep->bench) status = parameter_check(sweep, k->name, k->scope, err);
    }
    return status;
}

/* ---- making ---- */

/* *own is taken over, also on failure. */
static wm_status add(wm_sweep *sweep, const char *name, wm_collect_scope scope, wmi_own_collector *own,
                     wm_error *err) {
    wmi_collecting *c = &sweep->collecting;
    wm_status status = declare(sweep, name, scope, &own->number, err);
    if (status == WM_OK && c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 8;
        wmi_own_collector *v = realloc(c->v, cap * sizeof *v);
        if (v) {
            c->v = v;
            c->cap = cap;
        }
        if (!v) status = wmi_error_nomem(err);
    }
    if (status == WM_OK)
        c->v[c->n++] = *own;
    else
        free(own->variable);
    return status;
}

static wm_status add_built_in(wm_sweep *sweep, const char *word, wm_error *err) {
    wmi_built_in is;
    wm_status status = wmi_sweep_blame(sweep, wmi_built_in_find(word, &is, err), err);
    if (status != WM_OK) return status;
    wmi_own_collector own = {.collect = is.collect, .user = sweep, .again = is.of_device};
    wmi_buf column = WMI_BUF_INIT;
    wmi_buf_printf(&column, "%s%s", is.column, is.variable ? is.variable : "");
    if (is.variable) own.user = own.variable = wmi_strdup(is.variable);
    if (column.failed || !own.user) {
        free(own.variable);
        status = wmi_error_nomem(err);
    } else {
        status = add(sweep, column.data, WM_COLLECT_ONCE, &own, err);
    }
    wmi_buf_free(&column);
    return status;
}

wm_status wmi_collecting_make(wm_sweep *sweep, const wm_collector *given, size_t count, wm_error *err) {
    const wmi_list *words = &sweep->options.collect;
    wm_collector *copies = NULL;
    wm_status status = wmi_sweep_blame(sweep, wmi_collectors_copy(given, count, &copies, err), err);
    for (size_t i = 0; status == WM_OK && copies && i < count; i++) {
        wmi_own_collector own = {.collect = copies[i].collect, .user = copies[i].user};
        status = add(sweep, copies[i].name, copies[i].scope, &own, err);
    }
    wmi_collectors_free(copies, count);
    for (size_t i = 0; i < words->n && status == WM_OK; i++) status = add_built_in(sweep, words->v[i], err);
    return status;
}

void wmi_collecting_fini(wmi_collecting *c) {
    for (size_t i = 0; i < c->n; i++) free(c->v[i].variable);
    free(c->v);
    *c = (wmi_collecting){0};
}

/* ---- calling ---- */

static wm_collect_scope scope_of(const wm_sweep *sweep, const wmi_own_collector *c) {
    return wmi_samples_collector_at(sweep->session->samples, c->number)->scope;
}

bool wmi_collects_regions(const wm_sweep *sweep) {
    for (size_t i = 0; i < sweep->collecting.n; i++)
        if (sweep->collecting.v[i].collect && scope_of(sweep, &sweep->collecting.v[i]) == WM_COLLECT_REGION)
            return true;
    return false;
}

/* A value that can be kept. */
static wm_value checked(wm_value v) {
    const bool typed = v.type == WM_NULL || v.type == WM_I64 || v.type == WM_F64 || v.type == WM_BOOL ||
                       (v.type == WM_STR && v.as.str);
    return typed ? v : wmi_null(WM_REASON_NOT_COLLECTED);
}

static wm_status call(wm_sweep *sweep, const wmi_own_collector *c, wmi_point *p, uint32_t node, int64_t run) {
    wm_session *s = sweep->session;
    wm_state *st = p ? &sweep->states[0] : NULL;
    const char *region = node == UINT32_MAX ? NULL : wmi_samples_node_at(s->samples, node)->path;
    wmi_collected value = {c->number, p ? p->config : UINT32_MAX, node, (int32_t)run,
                           wmi_null(WM_REASON_NOT_COLLECTED)};
    if (st) wmi_state_reset(st, sweep, p, 0, p->threads);
    if (!c->collect(c->user, st, region, &value.value)) {
        value.value = wmi_null(WM_REASON_NOT_COLLECTED);
        wmi_session_warn(s, "benchmark %s: the collector '%s' had no value", sweep->name,
                         wmi_samples_collector_at(s->samples, c->number)->name);
    }
    value.value = checked(value.value);
    return wmi_samples_collect(s->samples, &value);
}

/* Those of a scope. */
static wm_status call_all(wm_sweep *sweep, wm_collect_scope scope, wmi_point *p, uint32_t node, int64_t run) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < sweep->collecting.n && status == WM_OK; i++) {
        const wmi_own_collector *c = &sweep->collecting.v[i];
        if (c->collect && scope_of(sweep, c) == scope) status = call(sweep, c, p, node, run);
    }
    return status;
}

wm_status wmi_collect_once(wm_sweep *sweep) {
    return sweep->options.profile ? WM_OK : call_all(sweep, WM_COLLECT_ONCE, NULL, UINT32_MAX, -1);
}

wm_status wmi_collect_before(wm_sweep *sweep, wmi_point *p) {
    wm_status status = WM_OK;
    if (sweep->options.profile || sweep->collecting.n == 0) return WM_OK;
    if (!p->collected) status = call_all(sweep, WM_COLLECT_CONFIG, p, UINT32_MAX, -1);
    p->collected = true;
    const int64_t run = sweep->cursor.at[WMI_DIM_RUN];
    if (status != WM_OK || sweep->cursor.at[WMI_DIM_PASS] != 0 || run < 0 || sweep->attempt > 0)
        return status;
    return call_all(sweep, WM_COLLECT_RUN, p, UINT32_MAX, run);
}

/* The regions that the run has just entered; the whole function where there are none. The caller frees. */
static uint32_t *regions_of(const wm_sweep *sweep, size_t *count) {
    const wm_session *s = sweep->session;
    uint32_t *nodes = malloc((s->touched_count + 1) * sizeof *nodes), root = UINT32_MAX;
    *count = 0;
    for (size_t i = 0; nodes && i < s->touched_count; i++) {
        const uint32_t node = s->touched[i];
        if (wmi_samples_node_at(s->samples, node)->parent == UINT32_MAX)
            root = node;
        else if (wmi_run_entered(s, node))
            nodes[(*count)++] = node;
    }
    if (nodes && *count == 0 && root != UINT32_MAX) nodes[(*count)++] = root;
    return nodes;
}

wm_status wmi_collect_after(wm_sweep *sweep, wmi_point *p) {
    wm_status again = WM_OK;
    if (sweep->options.profile) return WM_OK;
    for (size_t i = 0; i < sweep->collecting.n && again == WM_OK; i++) {
        if (!sweep->collecting.v[i].again) continue;
        sweep->collecting.v[i].again = false;
        again = call(sweep, &sweep->collecting.v[i], NULL, UINT32_MAX, -1);
    }
    if (again != WM_OK || !wmi_collects_regions(sweep)) return again;
    size_t count;
    uint32_t *nodes = regions_of(sweep, &count);
    wm_status status = nodes ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; i < count && status == WM_OK; i++)
        status = call_all(sweep, WM_COLLECT_REGION, p, nodes[i], sweep->cursor.at[WMI_DIM_RUN]);
    free(nodes);
    return status;
}

/* ---- from outside ---- */

static wm_status number_of(wm_sweep *sweep, const char *name, wm_collect_scope scope, uint32_t *out,
                           wm_error *err) {
    const wmi_samples *samples = sweep->session->samples;
    *out = wmi_samples_find_collector(samples, sweep->bench, name);
    if (*out == UINT32_MAX) {
        const wm_status status = parameter_check(sweep, name, scope, err);
        return status == WM_OK ? declare(sweep, name, scope, out, err) : status;
    }
    if (wmi_samples_collector_at(samples, *out)->scope == scope) return WM_OK;
    return wmi_error_set(err, WM_EINVAL, 0, "the collector '%.100s' was declared with another scope", name);
}

static wm_status place_of(const wm_sweep *sweep, wm_collect_scope scope, size_t config, int64_t run,
                          const char *region, wmi_collected *out, wm_error *err) {
    if (scope >= WM_COLLECT_CONFIG && config >= sweep->point_count)
        return wmi_error_set(err, WM_ENOTFOUND, 0, "%s has no configuration %zu", sweep->name, config);
    if (scope >= WM_COLLECT_CONFIG) out->config = sweep->points[config].config;
    /* The next run has a number too: what is collected for it comes before it. */
    if (scope >= WM_COLLECT_RUN && (run < 0 || run > sweep->points[config].runs))
        return wmi_error_set(err, WM_ENOTFOUND, 0, "configuration %zu of %s has no run %lld", config,
                             sweep->name, (long long)run);
    if (scope >= WM_COLLECT_RUN) out->run = (int32_t)run;
    if (scope < WM_COLLECT_REGION) return WM_OK;
    const char *path = region ? region : sweep->name;
    out->node = wmi_samples_find_node(sweep->session->samples, sweep->bench, path, NULL);
    if (out->node != UINT32_MAX) return WM_OK;
    return wmi_error_set(err, WM_ENOTFOUND, 0, "benchmark %s has no region '%s'", sweep->name, path);
}

wm_status wm_sweep_collect(wm_sweep *sweep, const char *name, wm_collect_scope scope, size_t config,
                           int64_t run, const char *region, wm_value value, wm_error *err) {
    wmi_collected place = {.config = UINT32_MAX, .node = UINT32_MAX, .run = -1, .value = checked(value)};
    if (sweep->in_step || !sweep->cursor_made)
        return wmi_error_set(err, WM_ESTATE, 0, "wm_sweep_collect is for between the steps and after them");
    wm_status status = given_check(name, scope, err);
    if (status == WM_OK) status = place_of(sweep, scope, config, run, region, &place, err);
    if (status == WM_OK) status = number_of(sweep, name, scope, &place.collector, err);
    if (status == WM_OK && wmi_samples_collect(sweep->session->samples, &place) != WM_OK)
        status = wmi_error_nomem(err);
    return status;
}
