#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/text.h"
#include "samples/collected_store.h"

/* ---- collectors ---- */

uint32_t wmi_samples_find_collector(const wmi_samples *s, uint32_t bench, const char *name) {
    const wmi_collected_store *store = wmi_samples_collected_store_of(s);
    for (size_t i = 0; i < store->collector_count; i++)
        if (store->collectors[i].bench == bench && !strcmp(store->collectors[i].name, name))
            return (uint32_t)i;
    return UINT32_MAX;
}

wm_status wmi_samples_collector(wmi_samples *s, uint32_t bench, const char *name, wm_collect_scope scope,
                                uint32_t *out) {
    wmi_collected_store *store = wmi_samples_collected_store(s);
    *out = wmi_samples_find_collector(s, bench, name);
    if (*out != UINT32_MAX) return WM_OK;
    if (store->collector_count == store->collector_cap) {
        const size_t cap = store->collector_cap ? store->collector_cap * 2 : 8;
        wmi_collector *collectors = realloc(store->collectors, cap * sizeof *collectors);
        if (!collectors) return WM_ENOMEM;
        store->collectors = collectors;
        store->collector_cap = cap;
    }
    const uint32_t id = wmi_intern(name);
    if (!id) return WM_ENOMEM;
    *out = (uint32_t)store->collector_count++;
    store->collectors[*out] = (wmi_collector){.bench = bench, .scope = scope, .name = wmi_intern_name(id)};
    return WM_OK;
}

size_t wmi_samples_collectors(const wmi_samples *s) {
    return wmi_samples_collected_store_of(s)->collector_count;
}

const wmi_collector *wmi_samples_collector_at(const wmi_samples *s, uint32_t collector) {
    return &wmi_samples_collected_store_of(s)->collectors[collector];
}

/* ---- values ---- */

static bool same_place(const void *owner, uint32_t id, const void *key) {
    const wmi_collected *a = &((const wmi_collected_store *)owner)->v[id], *b = key;
    return a->collector == b->collector && a->config == b->config && a->node == b->node && a->run == b->run;
}

static uint64_t hash_of(const wmi_collected *c) {
    return wmi_hash_pair((uint64_t)c->collector << 32 | c->config,
                         (uint64_t)c->node << 32 | (uint32_t)c->run);
}

/* Only what means something in the scope tells places apart. */
static wmi_collected place_of(const wmi_collected_store *store, uint32_t collector, uint32_t config,
                              uint32_t node, int32_t run) {
    const wm_collect_scope scope = store->collectors[collector].scope;
    return (wmi_collected){.collector = collector,
                           .config = scope >= WM_COLLECT_CONFIG ? config : UINT32_MAX,
                           .node = scope >= WM_COLLECT_REGION ? node : UINT32_MAX,
                           .run = scope >= WM_COLLECT_RUN ? run : -1};
}

static bool value_copy(wm_value *v) {
    if (v->type == WM_F64 && !__builtin_isfinite(v->as.f64)) *v = wmi_null(WM_REASON_NOT_FINITE);
    if (v->type == WM_NULL && (v->reason <= WM_REASON_NONE || v->reason >= WM_REASON_COUNT))
        v->reason = WM_REASON_NOT_COLLECTED;
    if (v->type != WM_STR) return true;
    v->as.str = wmi_strdup(v->as.str);
    return v->as.str != NULL;
}

static void value_free(wm_value *v) {
    if (v->type == WM_STR) free((char *)v->as.str);
}

static bool reserve(wmi_collected_store *store) {
    if (store->n == store->cap) {
        const size_t cap = store->cap ? store->cap + store->cap / 2 : 16;
        wmi_collected *v = realloc(store->v, cap * sizeof *v);
        if (!v) return false;
        store->v = v;
        store->cap = cap;
    }
    return wmi_index_reserve(&store->index);
}

wm_status wmi_samples_collect(wmi_samples *s, const wmi_collected *given) {
    wmi_collected_store *store = wmi_samples_collected_store(s);
    wmi_collected own = place_of(store, given->collector, given->config, given->node, given->run);
    const uint64_t hash = hash_of(&own);
    uint32_t *counts = store->collectors[own.collector].counts;
    if (!reserve(store)) return WM_ENOMEM;
    own.value = given->value;
    if (!value_copy(&own.value)) return WM_ENOMEM;
    const uint32_t *found = wmi_index_find(&store->index, hash, same_place, store, &own);
    if (found) {
        wm_value *before = &store->v[*found].value;
        counts[before->type]--;
        value_free(before);
        *before = own.value;
    } else {
        store->v[store->n] = own;
        wmi_index_add(&store->index, hash, (uint32_t)store->n++);
    }
    counts[own.value.type]++;
    return WM_OK;
}

const wm_value *wmi_samples_collected_of(const wmi_samples *s, uint32_t collector, uint32_t config,
                                         uint32_t node, int32_t run) {
    const wmi_collected_store *store = wmi_samples_collected_store_of(s);
    const wmi_collected key = place_of(store, collector, config, node, run);
    const uint32_t *id =
        store->n ? wmi_index_find(&store->index, hash_of(&key), same_place, store, &key) : NULL;
    return id ? &store->v[*id].value : NULL;
}

void wmi_collected_store_fini(wmi_collected_store *store) {
    for (size_t i = 0; i < store->n; i++) value_free(&store->v[i].value);
    free(store->v);
    free(store->collectors);
    wmi_index_fini(&store->index);
}
