/* From the marks in the threads' rings to entries, and to what the entries of each node add
 * up to. */
#include <stdlib.h>
#include <string.h>

#include "session/fold.h"
#include "stats/stats.h"

/* ---- nodes and their folds ---- */

static wm_status folds_grow(wm_session *s, size_t nodes) {
    if (nodes > s->fold_cap) {
        const size_t cap = nodes + nodes / 2 + 16;
        wmi_fold *folds = realloc(s->folds, cap * sizeof *folds);
        if (!folds) return WM_ENOMEM;
        memset(folds + s->fold_cap, 0, (cap - s->fold_cap) * sizeof *folds);
        s->folds = folds;
        s->fold_cap = cap;
    }
    if (nodes > s->touched_cap) {
        uint32_t *touched = realloc(s->touched, s->fold_cap * sizeof *touched);
        if (!touched) return WM_ENOMEM;
        s->touched = touched;
        s->touched_cap = s->fold_cap;
    }
    return WM_OK;
}

/* The fold of a node, made part of this run. NULL when out of memory. */
wmi_fold *wmi_fold_at(wm_session *s, uint32_t node) {
    if (folds_grow(s, (size_t)node + 1) != WM_OK) return NULL;
    wmi_fold *f = &s->folds[node];
    if (!f->touched) {
        *f = (wmi_fold){.touched = true, .last_thread = UINT64_MAX};
        s->touched[s->touched_count++] = node;
    }
    return f;
}

static wm_status child_node(wmi_folding *d, uint32_t parent, uint32_t name, uint32_t *out) {
    if (name == WMI_ROOT_NAME) {
        *out = d->root;
        return WM_OK;
    }
    if (parent != d->child_parent || name != d->child_name) {
        const wm_status status = wmi_samples_node(d->s->samples, d->place->bench, parent, name, &d->child);
        if (status != WM_OK) return status;
        d->child_parent = parent;
        d->child_name = name;
    }
    *out = d->child;
    return WM_OK;
}

/* ---- decoding a ring ---- */

static wm_status entry_begin(wmi_folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    wm_session *s = d->s;
    const uint32_t parent = d->depth ? s->entries[d->stack[d->depth - 1]].node : d->root;
    uint32_t node;
    wm_status status = child_node(d, parent, mark->name, &node);
    if (status != WM_OK) return status;
    wmi_fold *f = wmi_fold_at(s, node);
    if (!f) return WM_ENOMEM;
    if (mark->seq == WMI_NO_SEQ) { /* nested too deep */
        f->dropped++;
        return WM_OK;
    }
    if (s->entry_count == s->entry_cap) {
        const size_t cap = s->entry_cap ? 2 * s->entry_cap : 256;
        wmi_entry *entries = realloc(s->entries, cap * sizeof *entries);
        if (!entries) return WM_ENOMEM;
        s->entries = entries;
        s->entry_cap = cap;
    }
    s->entries[s->entry_count] = (wmi_entry){.begin = mark->ticks,
                                             .id = wmi_entry_id(t, mark->seq),
                                             .batch = 1,
                                             .node = node,
                                             .parent = d->depth ? d->stack[d->depth - 1] : UINT32_MAX};
    if (d->depth < WMI_DEPTH_MAX) d->stack[d->depth++] = (uint32_t)s->entry_count;
    s->entry_count++;
    return WM_OK;
}

/* The entry of a sequence number: at its place unless begins were dropped. */
static wmi_entry *entry_find(const wmi_folding *d, const wmi_thread *t, uint32_t seq) {
    const wm_session *s = d->s;
    const uint64_t id = wmi_entry_id(t, seq);
    const uint32_t first = atomic_load_explicit(&t->first, memory_order_relaxed);
    size_t low = d->thread_first, high = s->entry_count;
    const size_t guess = low + (seq - first);
    if (guess < high && s->entries[guess].id == id) return &s->entries[guess];
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (s->entries[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->entry_count && s->entries[low].id == id ? &s->entries[low] : NULL;
}

static wm_status entry_end(wmi_folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    if (mark->seq == WMI_NO_SEQ) {
        uint32_t node;
        const uint32_t parent = d->depth ? d->s->entries[d->stack[d->depth - 1]].node : d->root;
        const wm_status status = child_node(d, parent, mark->name & ~WMI_END_BIT, &node);
        if (status != WM_OK) return status;
        wmi_fold *f = wmi_fold_at(d->s, node);
        if (!f) return WM_ENOMEM;
        f->unmatched++;
        return WM_OK;
    }
    wmi_entry *e = entry_find(d, t, mark->seq);
    if (!e) return WM_OK; /* its begin was dropped, and counted */
    e->end = mark->ticks;
    e->closed = true;
    const uint32_t at = (uint32_t)(e - d->s->entries);
    for (uint32_t i = d->depth; i-- > 0;) {
        if (d->stack[i] != at) continue;
        if (i + 1 < d->depth) d->s->entries[d->stack[i + 1]].outlived = true;
        memmove(&d->stack[i], &d->stack[i + 1], (d->depth - i - 1) * sizeof d->stack[0]);
        d->depth--;
        break;
    }
    return WM_OK;
}

/* An entry is about to end that held `count` repetitions: so did all those that began
 * since in its thread, since they are all within it. */
static void entry_batch(const wmi_folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    wmi_entry *e = entry_find(d, t, mark->seq);
    const wmi_entry *end = d->s->entries + d->s->entry_count;
    for (; e && e < end; e++) {
        e->batch *= mark->ticks;
        e->repeated = true;
    }
}

/* Its node has a fold since its begin. */
static void entry_failed(const wmi_folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    const wmi_entry *e = entry_find(d, t, mark->seq);
    if (e) d->s->folds[e->node].failed = true;
}

static void entries_exclude(const wmi_folding *d, uint64_t ticks) {
    for (uint32_t i = 0; i < d->depth; i++) d->s->entries[d->stack[i]].own += ticks;
}

static wm_status thread_decode(void *user, const wmi_thread *t) {
    wmi_folding *d = user;
    const uint32_t n = atomic_load_explicit(&t->count, memory_order_acquire);
    d->dropped += atomic_load_explicit(&t->dropped, memory_order_relaxed);
    d->depth = 0;
    d->thread_first = (uint32_t)d->s->entry_count;
    for (uint32_t i = 0; i < n; i++) {
        const wmi_ring_mark *mark = &t->ring[i];
        wm_status status = WM_OK;
        if (mark->name == WMI_BATCH_NAME) {
            entry_batch(d, t, mark);
        } else if (mark->name == WMI_FAILED_NAME) {
            entry_failed(d, t, mark);
        } else if (mark->name == WMI_OWN_NAME) {
            entries_exclude(d, mark->ticks);
        } else if (mark->name & WMI_END_BIT) {
            status = entry_end(d, t, mark);
        } else {
            status = entry_begin(d, t, mark);
        }
        if (status != WM_OK) return status;
    }
    return WM_OK;
}

/* Which regions the lost marks were of is not known: all of this run say so, and the
 * function as a whole, which may be all that is left. */
static wm_status dropped_spread(wmi_folding *d) {
    if (!d->dropped) return WM_OK;
    if (!wmi_fold_at(d->s, d->root)) return WM_ENOMEM;
    for (size_t i = 0; i < d->s->touched_count; i++) d->s->folds[d->s->touched[i]].dropped += d->dropped;
    return WM_OK;
}

/* ---- adding up ---- */

static wm_status entries_sum(wmi_folding *d) {
    wm_session *s = d->s;
    for (size_t i = 0; i < s->entry_count; i++) {
        const wmi_entry *e = &s->entries[i];
        wmi_fold *f = wmi_fold_at(s, e->node);
        if (!f) return WM_ENOMEM;
        if (!e->closed) {
            f->unmatched += !d->dropped;
            continue;
        }
        f->entries++;
        if (f->last_thread != e->id >> 32) {
            f->last_thread = e->id >> 32; /* threads are decoded one after the other */
            f->threads++;
        }
        f->repeated |= e->repeated;
        if (e->batch > f->batch) f->batch = e->batch;
        f->sum_ns += wmi_clock_span_ns(&s->clock, e->begin + e->own, e->end) / (double)e->batch;
    }
    return WM_OK;
}

/* The intervals of those entries of a node that stand for `batch` repetitions. *more: the
 * next larger number of repetitions; 0 for none. */
static size_t intervals_of(const wm_session *s, uint32_t node, uint64_t batch, wmi_interval *v,
                           uint64_t *more) {
    const uint64_t origin = s->entries[0].begin;
    size_t n = 0;
    *more = 0;
    for (size_t i = 0; i < s->entry_count; i++) {
        const wmi_entry *e = &s->entries[i];
        if (e->node != node || !e->closed) continue;
        if (e->batch > batch && (!*more || e->batch < *more)) *more = e->batch;
        if (e->batch != batch) continue;
        const int64_t begin = (int64_t)(e->begin + e->own - origin);
        v[n++] = (wmi_interval){begin, e->end > e->begin + e->own ? (int64_t)(e->end - origin) : begin};
    }
    return n;
}

/* Entries of unlike batches are no measure of the same thing, so each kind has a union. */
wm_status wmi_fold_union(wm_session *s, uint32_t node, wmi_fold *f) {
    wmi_interval *v = malloc(f->entries * sizeof *v);
    if (!v) return WM_ENOMEM;
    f->union_ns = 0;
    for (uint64_t batch = 1, more; batch; batch = more) {
        const size_t n = intervals_of(s, node, batch, v, &more);
        f->union_ns += (double)wmi_union_length(v, n) * s->clock.ns_per_tick / (double)batch;
    }
    free(v);
    return WM_OK;
}

wm_status wmi_decode(wmi_folding *d) {
    d->s->entry_count = d->s->touched_count = 0;
    d->dropped = wmi_threads_lost();
    wm_status status = wmi_threads_visit(thread_decode, d);
    if (status == WM_OK) status = dropped_spread(d);
    return status == WM_OK ? entries_sum(d) : status;
}
