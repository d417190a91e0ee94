#include "samples/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "samples/collected_store.h"
#include "samples/state_store.h"
#include "samples/work.h"

/* Things are allocated one by one and kept as pointers, so that what was handed out
 * stays where it is; each kind that is looked up has an index. */

typedef struct list {
    void **at;
    size_t n, cap;
} list;

struct wmi_samples {
    list benches;    /* char * */
    list configs;    /* wmi_config * */
    list name_lists; /* const char **, shared by configurations */
    list nodes;      /* wmi_node * */
    list metrics;    /* wmi_metric * */
    list series;     /* wmi_series * */
    wmi_stretch *stretches;
    size_t stretch_count, stretch_cap;
    wmi_index node_index, metric_index, series_index;
    wmi_index stretch_index; /* the last of each configuration and pass */
    wmi_work_store work;
    wmi_state_store states;
    wmi_collected_store collected;
};

static bool list_reserve(list *l) {
    if (l->n < l->cap) return true;
    size_t cap = l->cap ? l->cap + l->cap / 2 : 8;
    void **at = realloc(l->at, cap * sizeof *at);
    if (!at) return false;
    l->at = at;
    l->cap = cap;
    return true;
}

/* After list_reserve. */
static uint32_t list_add(list *l, void *thing) {
    l->at[l->n] = thing;
    return (uint32_t)l->n++;
}

static void list_fini(list *l, void (*destroy)(void *)) {
    for (size_t i = 0; i < l->n; i++) destroy(l->at[i]);
    free(l->at);
}

static void values_free(wm_value *values, size_t count) {
    for (size_t i = 0; values && i < count; i++)
        if (values[i].type == WM_STR) free((char *)values[i].as.str);
    free(values);
}

static void config_destroy(void *thing) {
    wmi_config *c = thing;
    values_free(c->values, c->count);
    free(c->key);
    free(c->reason);
    free(c);
}

static void node_destroy(void *thing) {
    wmi_node *node = thing;
    free(node->path);
    free(node);
}

static void series_destroy(void *thing) {
    wmi_series *series = thing;
    for (size_t i = 0; i < series->chunks; i++) {
        free(series->chunk[i].value);
        free(series->chunk[i].run);
        free(series->chunk[i].reason);
    }
    free(series->chunk);
    free(series);
}

wmi_samples *wmi_samples_create(void) { return calloc(1, sizeof(wmi_samples)); }

void wmi_samples_destroy(wmi_samples *s) {
    if (!s) return;
    list_fini(&s->benches, free);
    list_fini(&s->configs, config_destroy);
    list_fini(&s->name_lists, free);
    list_fini(&s->nodes, node_destroy);
    list_fini(&s->metrics, free);
    list_fini(&s->series, series_destroy);
    free(s->stretches);
    wmi_index_fini(&s->node_index);
    wmi_index_fini(&s->metric_index);
    wmi_index_fini(&s->series_index);
    wmi_index_fini(&s->stretch_index);
    wmi_work_store_fini(&s->work);
    wmi_state_store_fini(&s->states);
    wmi_collected_store_fini(&s->collected);
    free(s);
}

wmi_work_store *wmi_samples_work_store(wmi_samples *s) { return &s->work; }
const wmi_work_store *wmi_samples_work_store_of(const wmi_samples *s) { return &s->work; }

wmi_state_store *wmi_samples_state_store(wmi_samples *s) { return &s->states; }
const wmi_state_store *wmi_samples_state_store_of(const wmi_samples *s) { return &s->states; }

wmi_collected_store *wmi_samples_collected_store(wmi_samples *s) { return &s->collected; }
const wmi_collected_store *wmi_samples_collected_store_of(const wmi_samples *s) { return &s->collected; }

const char *wmi_better_text(wmi_better b) {
    static const char *const text[] = {"", "lower", "higher"};
    return text[b];
}

wmi_better wmi_better_of_unit(const char *unit) {
    static const char *const times[] = {"ns", "us", "ms", "s"};
    const size_t n = strlen(unit);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(unit, times[i]) == 0) return WMI_BETTER_LOWER;
    return n > 2 && strcmp(unit + n - 2, "/s") == 0 ? WMI_BETTER_HIGHER : WMI_BETTER_NONE;
}

/* ---- benchmarks and configurations ---- */

wm_status wmi_samples_bench(wmi_samples *s, const char *name, uint32_t *out) {
    if (!list_reserve(&s->benches)) return WM_ENOMEM;
    char *copy = wmi_strdup(name);
    if (!copy) return WM_ENOMEM;
    *out = list_add(&s->benches, copy);
    return WM_OK;
}

static bool same_names(const wmi_config *c, size_t count, const char *const *names) {
    if (c->count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(c->names[i], names[i]) != 0) return false;
    return true;
}

/* The interned names, in one list for all configurations in a row that have the
 * same. NULL when out of memory. */
static const char **config_names(wmi_samples *s, size_t count, const char *const *names) {
    if (s->configs.n) {
        const wmi_config *last = s->configs.at[s->configs.n - 1];
        if (same_names(last, count, names)) return last->names;
    }
    if (!list_reserve(&s->name_lists)) return NULL;
    const char **own = malloc((count ? count : 1) * sizeof *own);
    for (size_t i = 0; own && i < count; i++) {
        uint32_t id = wmi_intern(names[i]);
        if (id == 0) {
            free(own);
            return NULL;
        }
        own[i] = wmi_intern_name(id);
    }
    if (own) list_add(&s->name_lists, own);
    return own;
}

/* NULL when out of memory. */
static wm_value *values_copy(const wm_value *values, size_t count) {
    wm_value *own = malloc((count ? count : 1) * sizeof *own);
    if (!own) return NULL;
    for (size_t i = 0; i < count; i++) {
        own[i] = values[i];
        if (own[i].type == WM_STR) own[i].as.str = wmi_strdup(values[i].as.str);
        if (own[i].type == WM_STR && !own[i].as.str) {
            values_free(own, i);
            return NULL;
        }
    }
    return own;
}

wm_status wmi_samples_config(wmi_samples *s, uint32_t bench, size_t count, const char *const *names,
                             const wm_value *values, uint32_t *out) {
    wmi_config *c = list_reserve(&s->configs) ? calloc(1, sizeof *c) : NULL;
    if (!c) return WM_ENOMEM;
    c->bench = bench;
    c->count = count;
    c->values = values_copy(values, count);
    c->key = wmi_config_key(count, names, values);
    c->names = c->values && c->key ? config_names(s, count, names) : NULL;
    if (!c->names) {
        config_destroy(c);
        return WM_ENOMEM;
    }
    *out = list_add(&s->configs, c);
    return WM_OK;
}

wm_status wmi_samples_set_state(wmi_samples *s, uint32_t config, wmi_config_state state, const char *reason) {
    wmi_config *c = s->configs.at[config];
    char *copy = reason ? wmi_strdup(reason) : NULL;
    if (reason && !copy) return WM_ENOMEM;
    free(c->reason);
    c->reason = copy;
    c->state = state;
    return WM_OK;
}

/* ---- nodes ---- */

static bool same_node(const void *owner, uint32_t id, const void *key) {
    const wmi_node *a = ((const wmi_samples *)owner)->nodes.at[id], *b = key;
    return a->bench == b->bench && a->parent == b->parent && a->name == b->name;
}

/* The path of a node below the root leaves the root out. */
static char *node_path(const wmi_samples *s, const wmi_node *node) {
    if (node->parent == UINT32_MAX) return wmi_strdup(s->benches.at[node->bench]);
    const wmi_node *parent = s->nodes.at[node->parent];
    const char *name = wmi_intern_name(node->name);
    if (parent->parent == UINT32_MAX) return wmi_strdup(name);
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_printf(&b, "%s/%s", parent->path, name);
    return wmi_buf_take(&b);
}

wm_status wmi_samples_node(wmi_samples *s, uint32_t bench, uint32_t parent, uint32_t name, uint32_t *out) {
    wmi_node key = {bench, parent, parent == UINT32_MAX ? 0 : name, NULL};
    uint64_t hash = wmi_hash_pair((uint64_t)bench << 32 | parent, key.name);
    const uint32_t *found = wmi_index_find(&s->node_index, hash, same_node, s, &key);
    if (found) {
        *out = *found;
        return WM_OK;
    }
    if (!list_reserve(&s->nodes) || !wmi_index_reserve(&s->node_index)) return WM_ENOMEM;
    wmi_node *node = malloc(sizeof *node);
    if (!node) return WM_ENOMEM;
    *node = key;
    node->path = node_path(s, node);
    if (!node->path) {
        free(node);
        return WM_ENOMEM;
    }
    *out = list_add(&s->nodes, node);
    wmi_index_add(&s->node_index, hash, *out);
    return WM_OK;
}

/* ---- metrics ---- */

static bool same_metric(const void *owner, uint32_t id, const void *key) {
    const wmi_metric *m = ((const wmi_samples *)owner)->metrics.at[id];
    return strcmp(m->name, key) == 0;
}

/* Metrics are few and come again in every session: their texts are interned. */
static bool intern_text(const char **text) {
    uint32_t id = wmi_intern(*text ? *text : "");
    *text = wmi_intern_name(id);
    return id != 0;
}

wm_status wmi_samples_metric(wmi_samples *s, const wmi_metric *m, uint32_t *out) {
    uint64_t hash = wmi_hash_text(m->name);
    const uint32_t *found = wmi_index_find(&s->metric_index, hash, same_metric, s, m->name);
    if (found) {
        *out = *found;
        return WM_OK;
    }
    if (!list_reserve(&s->metrics) || !wmi_index_reserve(&s->metric_index)) return WM_ENOMEM;
    wmi_metric *own = malloc(sizeof *own);
    if (!own) return WM_ENOMEM;
    *own = *m;
    if (!intern_text(&own->name) || !intern_text(&own->unit) || !intern_text(&own->text) ||
        !intern_text(&own->backend) || !intern_text(&own->timer)) {
        free(own);
        return WM_ENOMEM;
    }
    *out = list_add(&s->metrics, own);
    wmi_index_add(&s->metric_index, hash, *out);
    return WM_OK;
}

/* ---- runs ---- */

static bool same_stretch(const void *owner, uint32_t id, const void *key) {
    const wmi_run *a = &((const wmi_samples *)owner)->stretches[id].first, *b = key;
    return a->config == b->config && a->pass == b->pass;
}

static bool continues(const wmi_stretch *t, const wmi_run *run) {
    return t->first.attempt == run->attempt && t->first.flags == run->flags &&
           (int64_t)t->first.run + t->count == run->run;
}

wm_status wmi_samples_run(wmi_samples *s, const wmi_run *run) {
    uint64_t hash = wmi_hash_pair(run->config, (uint32_t)run->pass);
    uint32_t *last = wmi_index_find(&s->stretch_index, hash, same_stretch, s, run);
    if (last && continues(&s->stretches[*last], run)) {
        s->stretches[*last].end_ns = run->end_ns;
        s->stretches[*last].count++;
        return WM_OK;
    }
    if (s->stretch_count == s->stretch_cap) {
        size_t cap = s->stretch_cap ? s->stretch_cap + s->stretch_cap / 2 : 16;
        wmi_stretch *stretches = realloc(s->stretches, cap * sizeof *stretches);
        if (!stretches) return WM_ENOMEM;
        s->stretches = stretches;
        s->stretch_cap = cap;
    }
    if (!last && !wmi_index_reserve(&s->stretch_index)) return WM_ENOMEM;
    uint32_t id = (uint32_t)s->stretch_count++;
    s->stretches[id] = (wmi_stretch){*run, run->end_ns, 1};
    if (last)
        *last = id;
    else
        wmi_index_add(&s->stretch_index, hash, id);
    return WM_OK;
}

/* ---- series ---- */

static bool same_series(const void *owner, uint32_t id, const void *key) {
    const wmi_series *a = ((const wmi_samples *)owner)->series.at[id], *b = key;
    return a->config == b->config && a->node == b->node && a->metric == b->metric && a->pass == b->pass;
}

wm_status wmi_samples_series(wmi_samples *s, uint32_t config, uint32_t node, uint32_t metric, int32_t pass,
                             wmi_series **out) {
    const wmi_series key = {.config = config, .node = node, .metric = metric, .pass = pass};
    uint64_t hash = wmi_hash_pair(wmi_hash_pair(config, node), (uint64_t)metric << 32 | (uint32_t)pass);
    const uint32_t *found = wmi_index_find(&s->series_index, hash, same_series, s, &key);
    if (found) {
        *out = s->series.at[*found];
        return WM_OK;
    }
    if (!list_reserve(&s->series) || !wmi_index_reserve(&s->series_index)) return WM_ENOMEM;
    wmi_series *series = malloc(sizeof *series);
    if (!series) return WM_ENOMEM;
    *series = key;
    wmi_index_add(&s->series_index, hash, list_add(&s->series, series));
    *out = series;
    return WM_OK;
}

/* ---- reading ---- */

size_t wmi_samples_benches(const wmi_samples *s) { return s->benches.n; }
const char *wmi_samples_bench_name(const wmi_samples *s, uint32_t bench) { return s->benches.at[bench]; }
size_t wmi_samples_configs(const wmi_samples *s) { return s->configs.n; }
wmi_config *wmi_samples_config_at(const wmi_samples *s, uint32_t config) { return s->configs.at[config]; }
size_t wmi_samples_nodes(const wmi_samples *s) { return s->nodes.n; }
const wmi_node *wmi_samples_node_at(const wmi_samples *s, uint32_t node) { return s->nodes.at[node]; }

static bool ends_with_name(const char *path, const char *name) {
    const size_t n = strlen(path), length = strlen(name);
    return n > length && path[n - length - 1] == '/' && strcmp(path + n - length, name) == 0;
}

/* What a name was found to mean so far. */
typedef struct meaning {
    uint32_t region, root, end; /* the path itself; the whole function; the last with that end */
    size_t ends;
} meaning;
static const meaning no_meaning = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0};

static void look_at(meaning *m, const wmi_samples *s, uint32_t id, const char *name) {
    const wmi_node *node = wmi_samples_node_at(s, id);
    if (strcmp(node->path, name) == 0) {
        *(node->parent == UINT32_MAX ? &m->root : &m->region) = id;
    } else if (ends_with_name(node->path, name)) {
        m->end = id;
        m->ends++;
    }
}

static uint32_t best_of(const meaning *m, bool *several) {
    if (several) *several = false;
    if (m->region != UINT32_MAX) return m->region;
    if (m->root != UINT32_MAX) return m->root;
    if (several) *several = m->ends > 1;
    return m->ends == 1 ? m->end : UINT32_MAX;
}

uint32_t wmi_samples_find_node(const wmi_samples *s, uint32_t bench, const char *name, bool *several) {
    meaning m = no_meaning;
    for (uint32_t i = 0; i < wmi_samples_nodes(s); i++)
        if (wmi_samples_node_at(s, i)->bench == bench) look_at(&m, s, i, name);
    return best_of(&m, several);
}

uint32_t wmi_samples_find_among(const wmi_samples *s, const uint32_t *nodes, size_t count, const char *name,
                                bool *several) {
    meaning m = no_meaning;
    for (size_t i = 0; i < count; i++) look_at(&m, s, nodes[i], name);
    return best_of(&m, several);
}

size_t wmi_samples_metrics(const wmi_samples *s) { return s->metrics.n; }
const wmi_metric *wmi_samples_metric_at(const wmi_samples *s, uint32_t metric) {
    return s->metrics.at[metric];
}
size_t wmi_samples_stretches(const wmi_samples *s) { return s->stretch_count; }
const wmi_stretch *wmi_samples_stretch_at(const wmi_samples *s, size_t i) { return &s->stretches[i]; }
size_t wmi_samples_series_count(const wmi_samples *s) { return s->series.n; }
wmi_series *wmi_samples_series_at(const wmi_samples *s, size_t i) { return s->series.at[i]; }
