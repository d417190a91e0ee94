#include "samples/work.h"

#include <stdlib.h>

/* Records come by the hundred thousand: chunks of one size, so that adding one moves
 * none, and a record takes its own size and hardly more. */
enum { KEPT_CHUNK = 1024 };
_Static_assert(sizeof(wmi_kept) <= 128, "a million records take 128 MB");

/* Names beyond those that a wmi_work has room for are kept only to be counted once. */
struct wmi_work_item {
    wmi_work work; /* first: what was handed out is found again from it */
    wmi_index more;
};

void wmi_work_store_fini(wmi_work_store *store) {
    for (size_t i = 0; i < store->work_count; i++) {
        wmi_index_fini(&store->works[i]->more);
        free(store->works[i]);
    }
    free(store->works);
    wmi_index_fini(&store->index);
    for (size_t i = 0; i < store->chunk_count; i++) free(store->kept[i]);
    free(store->kept);
}

/* ---- work ---- */

static bool same_work(const void *owner, uint32_t id, const void *key) {
    const wmi_work *a = &((const wmi_work_store *)owner)->works[id]->work, *b = key;
    return a->config == b->config && a->node == b->node;
}

static wmi_work *find(const wmi_work_store *store, uint64_t hash, const wmi_work *key) {
    const uint32_t *id = wmi_index_find(&store->index, hash, same_work, store, key);
    return id ? &store->works[*id]->work : NULL;
}

static bool reserve_work(wmi_work_store *store) {
    if (!wmi_index_reserve(&store->index)) return false;
    if (store->work_count < store->work_cap) return true;
    size_t cap = store->work_cap ? store->work_cap + store->work_cap / 2 : 8;
    struct wmi_work_item **works = realloc(store->works, cap * sizeof(struct wmi_work_item *));
    if (!works) return false;
    store->works = works;
    store->work_cap = cap;
    return true;
}

wm_status wmi_samples_work(wmi_samples *s, uint32_t config, uint32_t node, wmi_work **out) {
    wmi_work_store *store = wmi_samples_work_store(s);
    const wmi_work key = {.config = config, .node = node, .clock_pass = -1};
    const uint64_t hash = wmi_hash_pair(config, node);
    wmi_work *found = find(store, hash, &key);
    if (!found) {
        struct wmi_work_item *item = reserve_work(store) ? calloc(1, sizeof *item) : NULL;
        if (!item) return WM_ENOMEM;
        item->work = key;
        wmi_index_add(&store->index, hash, (uint32_t)store->work_count);
        store->works[store->work_count++] = item;
        found = &item->work;
    }
    *out = found;
    return WM_OK;
}

const wmi_work *wmi_samples_work_of(const wmi_samples *s, uint32_t config, uint32_t node) {
    const wmi_work key = {.config = config, .node = node};
    return find(wmi_samples_work_store_of(s), wmi_hash_pair(config, node), &key);
}

static bool same_name(const void *owner, uint32_t id, const void *key) {
    (void)owner;
    return id == *(const uint32_t *)key;
}

static wm_status add_name(struct wmi_work_item *item, uint32_t plain) {
    wmi_work *work = &item->work;
    for (uint32_t i = 0; i < work->name_count && i < WMI_WORK_NAMES; i++)
        if (work->names[i] == plain) return WM_OK;
    if (work->name_count < WMI_WORK_NAMES) {
        work->names[work->name_count++] = plain;
        return WM_OK;
    }
    const uint64_t hash = wmi_hash_pair(plain, 0);
    if (wmi_index_find(&item->more, hash, same_name, NULL, &plain)) return WM_OK;
    if (!wmi_index_reserve(&item->more)) return WM_ENOMEM;
    wmi_index_add(&item->more, hash, plain);
    work->name_count++;
    return WM_OK;
}

wm_status wmi_work_add_kernel(wmi_work *work, uint32_t plain, uint32_t device) {
    if (device != 0) {
        if (work->device == 0) work->device = device;
        work->devices_differ = work->devices_differ || work->device != device;
    }
    return plain == 0 ? WM_OK : add_name((struct wmi_work_item *)work, plain);
}

/* ---- records ---- */

static bool reserve_kept(wmi_work_store *store) {
    if (store->kept_count < store->chunk_count * KEPT_CHUNK) return true;
    if (store->chunk_count == store->chunk_cap) {
        size_t cap = store->chunk_cap ? store->chunk_cap * 2 : 8;
        wmi_kept **kept = realloc(store->kept, cap * sizeof *kept);
        if (!kept) return false;
        store->kept = kept;
        store->chunk_cap = cap;
    }
    wmi_kept *chunk = malloc(KEPT_CHUNK * sizeof *chunk);
    if (!chunk) return false;
    store->kept[store->chunk_count++] = chunk;
    return true;
}

wm_status wmi_samples_keep(wmi_samples *s, uint32_t config, uint32_t node, int32_t run,
                           const wmi_record *record) {
    wmi_work_store *store = wmi_samples_work_store(s);
    if (!reserve_kept(store)) return WM_ENOMEM;
    const size_t at = store->kept_count++;
    store->kept[at / KEPT_CHUNK][at % KEPT_CHUNK] = (wmi_kept){config, node, run, *record};
    return WM_OK;
}

size_t wmi_samples_kept(const wmi_samples *s) { return wmi_samples_work_store_of(s)->kept_count; }

const wmi_kept *wmi_samples_kept_at(const wmi_samples *s, size_t i) {
    return &wmi_samples_work_store_of(s)->kept[i / KEPT_CHUNK][i % KEPT_CHUNK];
}
