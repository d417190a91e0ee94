/* From the marks of one run to the values of that run. Decoding happens here, on the
 * controlling thread, so that marking stays cheap. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "session/thread.h"
#include "stats/stats.h"

/* What the entries of one node add up to in the run at hand. */
struct wmi_fold {
    bool touched;
    uint32_t entries, threads, last_thread;
    uint64_t batch;
    double sum_ns, union_ns;
    double amount[3]; /* by wmi_note_kind */
    bool has_amount[3], has_manual;
    double manual_ns;
    uint64_t dropped, unmatched;
};

typedef struct folding {
    wm_session *s;
    const wmi_measure *m;
    const wmi_run_place *place;
    uint32_t root;
    bool by_entry;                 /* a sample for each entry, not for each run */
    uint32_t stack[WMI_DEPTH_MAX]; /* open entries of the thread at hand */
    uint32_t depth;
    uint32_t thread_first;                    /* its first entry */
    uint32_t child_parent, child_name, child; /* last look-up */
} folding;

bool wmi_notes_add(wmi_notes *notes, wmi_note note) {
    if (notes->n == notes->cap) {
        const size_t cap = notes->cap ? 2 * notes->cap : 16;
        wmi_note *v = realloc(notes->v, cap * sizeof *v);
        if (!v) return false;
        notes->v = v;
        notes->cap = cap;
    }
    notes->v[notes->n++] = note;
    return true;
}

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
static wmi_fold *fold_at(wm_session *s, uint32_t node) {
    if (folds_grow(s, (size_t)node + 1) != WM_OK) return NULL;
    wmi_fold *f = &s->folds[node];
    if (!f->touched) {
        *f = (wmi_fold){.touched = true, .last_thread = UINT32_MAX};
        s->touched[s->touched_count++] = node;
    }
    return f;
}

static wm_status child_node(folding *d, uint32_t parent, uint32_t name, uint32_t *out) {
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

static wm_status entry_begin(folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    wm_session *s = d->s;
    const uint32_t parent = d->depth ? s->entries[d->stack[d->depth - 1]].node : d->root;
    uint32_t node;
    wm_status status = child_node(d, parent, mark->name, &node);
    if (status != WM_OK) return status;
    wmi_fold *f = fold_at(s, node);
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
    s->entries[s->entry_count] =
        (wmi_entry){mark->ticks, 0, (uint64_t)t->index << 40 | mark->seq, node, t->index, 1, false};
    if (d->depth < WMI_DEPTH_MAX) d->stack[d->depth++] = (uint32_t)s->entry_count;
    s->entry_count++;
    return WM_OK;
}

/* The entry of a sequence number: at its place unless begins were dropped. */
static wmi_entry *entry_find(const folding *d, const wmi_thread *t, uint32_t seq) {
    const wm_session *s = d->s;
    const uint64_t id = (uint64_t)t->index << 40 | seq;
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

static wm_status entry_end(folding *d, const wmi_thread *t, const wmi_ring_mark *mark) {
    if (mark->seq == WMI_NO_SEQ) {
        uint32_t node;
        const uint32_t parent = d->depth ? d->s->entries[d->stack[d->depth - 1]].node : d->root;
        const wm_status status = child_node(d, parent, mark->name & ~WMI_END_BIT, &node);
        if (status != WM_OK) return status;
        wmi_fold *f = fold_at(d->s, node);
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
        memmove(&d->stack[i], &d->stack[i + 1], (d->depth - i - 1) * sizeof d->stack[0]);
        d->depth--;
        break;
    }
    return WM_OK;
}

static wm_status thread_decode(void *user, const wmi_thread *t) {
    folding *d = user;
    const uint32_t n = atomic_load_explicit(&t->count, memory_order_acquire);
    const uint32_t dropped = atomic_load_explicit(&t->dropped, memory_order_relaxed);
    d->depth = 0;
    d->thread_first = (uint32_t)d->s->entry_count;
    for (uint32_t i = 0; i < n; i++) {
        const wmi_ring_mark *mark = &t->ring[i];
        wm_status status = WM_OK;
        if (mark->name == WMI_BATCH_NAME) {
            wmi_entry *e = entry_find(d, t, mark->seq);
            if (e) e->batch = (uint32_t)mark->ticks;
        } else if (mark->name & WMI_END_BIT) {
            status = entry_end(d, t, mark);
        } else {
            status = entry_begin(d, t, mark);
        }
        if (status != WM_OK) return status;
    }
    if (!dropped) return WM_OK;
    /* Which regions the lost marks were of is not known: all of this thread say so. */
    for (size_t i = d->thread_first; i < d->s->entry_count; i++) {
        wmi_fold *f = fold_at(d->s, d->s->entries[i].node);
        if (!f) return WM_ENOMEM;
        f->dropped = dropped > f->dropped ? dropped : f->dropped;
    }
    return WM_OK;
}

/* ---- adding up ---- */

static wm_status entries_sum(folding *d) {
    wm_session *s = d->s;
    for (size_t i = 0; i < s->entry_count; i++) {
        const wmi_entry *e = &s->entries[i];
        wmi_fold *f = fold_at(s, e->node);
        if (!f) return WM_ENOMEM;
        if (!e->closed) {
            f->unmatched += !f->dropped;
            continue;
        }
        f->entries++;
        if (f->last_thread != e->thread) {
            f->last_thread = e->thread; /* threads are decoded one after the other */
            f->threads++;
        }
        if (e->batch > f->batch) f->batch = e->batch;
        f->sum_ns += wmi_clock_span_ns(&s->clock, e->begin, e->end) / (double)e->batch;
    }
    return WM_OK;
}

/* The time in which at least one thread was inside. */
static wm_status union_time(wm_session *s, uint32_t node, wmi_fold *f) {
    wmi_interval *v = malloc(f->entries * sizeof *v);
    if (!v) return WM_ENOMEM;
    size_t n = 0;
    uint64_t origin = UINT64_MAX;
    for (size_t i = 0; i < s->entry_count; i++)
        if (s->entries[i].node == node && s->entries[i].begin < origin) origin = s->entries[i].begin;
    for (size_t i = 0; i < s->entry_count; i++) {
        const wmi_entry *e = &s->entries[i];
        if (e->node != node || !e->closed) continue;
        const int64_t begin = (int64_t)(e->begin - origin);
        const int64_t end = e->end > e->begin ? (int64_t)(e->end - origin) : begin;
        v[n++] = (wmi_interval){begin, end};
    }
    f->union_ns = (double)wmi_union_length(v, n) * s->clock.ns_per_tick / (double)f->batch;
    free(v);
    return WM_OK;
}

/* ---- notes ---- */

static wm_status value_add(folding *d, uint32_t node, uint32_t metric, int32_t pass, double value,
                           wm_reason why, wmi_series **out) {
    wmi_series *series;
    wm_status status = wmi_samples_series(d->s->samples, d->place->config, node, metric, pass, &series);
    if (status == WM_OK) status = wmi_series_add(series, d->place->run, value, why);
    if (status == WM_OK && out) *out = series;
    return status;
}

static wm_status note_apply(folding *d, const wmi_note *note) {
    bool ambiguous = false;
    uint32_t node = d->root;
    if (note->region)
        node =
            wmi_samples_find_node(d->s->samples, d->place->bench, wmi_intern_name(note->region), &ambiguous);
    if (node == UINT32_MAX) {
        wmi_session_warn(d->s,
                         ambiguous ? "several regions end in '%s': give the whole path"
                                   : "work was added to the region '%s', which was never entered",
                         wmi_intern_name(note->region));
        return WM_OK;
    }
    wmi_fold *f = fold_at(d->s, node);
    if (!f) return WM_ENOMEM;
    if (note->kind == WMI_NOTE_TIME) {
        f->manual_ns += note->value;
        f->has_manual = true;
    } else {
        f->amount[note->kind] += note->value;
        f->has_amount[note->kind] = true;
    }
    return WM_OK;
}

/* ---- handing over to the samples ---- */

static const wmi_metric rates[3] = {
    {"flop_rate", "FLOP/s", "floating-point operations per second, from wm_add_flops", "cpu", "",
     WMI_BETTER_HIGHER, WMI_COMBINE_SUM},
    {"byte_rate", "B/s", "bytes per second, from wm_add_bytes", "cpu", "", WMI_BETTER_HIGHER,
     WMI_COMBINE_SUM},
    {"item_rate", "item/s", "items per second, from wm_add_items", "cpu", "", WMI_BETTER_HIGHER,
     WMI_COMBINE_SUM},
};

static wm_status rates_add(folding *d, uint32_t node, const wmi_fold *f, double time_ns, int32_t pass) {
    for (int k = 0; k < 3; k++) {
        if (!f->has_amount[k]) continue;
        uint32_t metric;
        wm_status status = wmi_samples_metric(d->s->samples, &rates[k], &metric);
        if (status != WM_OK) return status;
        const double rate = f->amount[k] * 1e9 / time_ns;
        const wm_reason why = !(time_ns > 0)              ? WM_REASON_RESOLUTION
                              : !__builtin_isfinite(rate) ? WM_REASON_NOT_FINITE
                                                          : WM_REASON_NONE;
        wmi_series *series;
        status = value_add(d, node, metric, pass, why ? 0.0 : rate, why, &series);
        if (status != WM_OK) return status;
        series->entries += f->entries;
        if (f->threads > series->threads) series->threads = f->threads;
    }
    return WM_OK;
}

static void series_count(wmi_series *series, const wmi_fold *f) {
    const uint64_t batch = f->batch ? f->batch : 1;
    series->entries += f->entries;
    if (f->threads > series->threads) series->threads = f->threads;
    if (!series->batch_min || batch < series->batch_min) series->batch_min = batch;
    if (batch > series->batch_max) series->batch_max = batch;
    series->dropped += f->dropped;
    series->unmatched += f->unmatched;
    series->manual |= f->has_manual;
}

/* A region with marks but no whole entry has no value, and its row must say so. */
static wm_status clock_series(folding *d, uint32_t node, const wmi_fold *f, int32_t gauge, double ns) {
    if (gauge < 0 || (!f->entries && !f->unmatched && !f->dropped && !f->has_manual)) return WM_OK;
    const wmi_gauge *g = &d->m->gauges[gauge];
    wmi_series *series;
    wm_status status;
    if (f->entries || f->has_manual)
        status = value_add(d, node, g->metric, g->pass, ns, WM_REASON_NONE, &series);
    else
        status = value_add(d, node, g->metric, g->pass, 0.0,
                           f->dropped ? WM_REASON_DROPPED : WM_REASON_UNMATCHED, &series);
    if (status == WM_OK) series_count(series, f);
    return status;
}

static wm_status node_time(folding *d, uint32_t node, wmi_fold *f) {
    wm_session *s = d->s;
    if (f->threads > 1) {
        const wm_status status = union_time(s, node, f);
        if (status != WM_OK) return status;
    } else {
        f->union_ns = f->sum_ns;
    }
    if (f->has_manual) f->union_ns = f->sum_ns = f->manual_ns;
    wm_status status = clock_series(d, node, f, d->m->time, f->union_ns);
    if (status == WM_OK) status = clock_series(d, node, f, d->m->time_sum, f->sum_ns);
    if (status == WM_OK && d->m->time >= 0 && (f->entries || f->has_manual))
        status = rates_add(d, node, f, f->union_ns, d->place->pass);
    return status;
}

/* A sample for each entry instead of one for each run. */
static wm_status entry_times(folding *d) {
    if (d->m->time < 0) return WM_OK;
    const wmi_gauge *g = &d->m->gauges[d->m->time];
    for (size_t i = 0; i < d->s->entry_count; i++) {
        const wmi_entry *e = &d->s->entries[i];
        if (!e->closed) continue;
        const double ns = wmi_clock_span_ns(&d->s->clock, e->begin, e->end);
        const wm_status status = value_add(d, e->node, g->metric, g->pass, ns, WM_REASON_NONE, NULL);
        if (status != WM_OK) return status;
    }
    for (size_t i = 0; i < d->s->touched_count; i++) {
        wmi_series *series;
        const uint32_t node = d->s->touched[i];
        const wm_status status =
            wmi_samples_series(d->s->samples, d->place->config, node, g->metric, g->pass, &series);
        if (status != WM_OK) return status;
        series_count(series, &d->s->folds[node]);
    }
    return WM_OK;
}

/* ---- what backends read ---- */

typedef struct tally {
    uint32_t node, key, n; /* key: number of the gauge, or of the metric's name */
    double value;
    wm_reason reason;
} tally;

static int tally_order(const void *a, const void *b) {
    const tally *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int entry_order(const void *key, const void *at) {
    const uint64_t id = *(const uint64_t *)key;
    const wmi_entry *e = at;
    return id < e->id ? -1 : id > e->id;
}

/* Entries are in the order of their ids: by thread, then by sequence. */
static const wmi_entry *entry_by_id(const folding *d, uint64_t id) {
    return bsearch(&id, d->s->entries, d->s->entry_count, sizeof *d->s->entries, entry_order);
}

/* Sort, and make one of those of the same node and key: sums, or the largest. */
static size_t tallies_merge(tally *v, size_t n, const wmi_measure *m) {
    if (n == 0) return 0;
    qsort(v, n, sizeof *v, tally_order);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        tally *to = &v[kept];
        if (tally_order(to, &v[i])) {
            v[++kept] = v[i];
            continue;
        }
        if (v[i].reason) to->reason = v[i].reason;
        to->n++;
        if (!m || m->gauges[to->key].about.combine != WMI_COMBINE_MAX)
            to->value += v[i].value;
        else if (v[i].value > to->value)
            to->value = v[i].value;
    }
    return kept + 1;
}

/* Readings of one source, mapped to nodes, one tally for each node and metric. */
static size_t tallies_make(const folding *d, const wmi_source *source, tally *v) {
    const wmi_readings *r = &d->s->readings;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const wmi_reading *x = &r->v[i];
        const wmi_entry *e = entry_by_id(d, x->entry);
        if (!e || x->metric >= source->count) continue;
        const uint32_t gauge = source->gauges[x->metric];
        const bool per_repetition = d->m->gauges[gauge].about.combine == WMI_COMBINE_SUM;
        v[n++] =
            (tally){e->node, gauge, 1, per_repetition ? x->value / (double)e->batch : x->value, x->reason};
    }
    return tallies_merge(v, n, d->m);
}

static wm_status source_values(folding *d, const wmi_source *source) {
    if (d->s->readings.n == 0) return WM_OK;
    tally *v = malloc((d->s->readings.n + 1) * sizeof *v);
    if (!v) return WM_ENOMEM;
    const size_t n = tallies_make(d, source, v);
    wm_status status = WM_OK;
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        const wmi_gauge *g = &d->m->gauges[v[i].key];
        if (g->about.combine == WMI_COMBINE_MEAN) v[i].value /= v[i].n;
        wmi_series *series;
        status =
            value_add(d, v[i].node, g->metric, g->pass, v[i].reason ? 0.0 : v[i].value, v[i].reason, &series);
        if (status == WM_OK) series_count(series, &d->s->folds[v[i].node]);
    }
    free(v);
    return status;
}

/* Values that the program recorded, of all its threads. */
static wm_status recorded_values(folding *d, const wmi_notes *notes, size_t notes_count) {
    size_t n = 0, total = 0;
    for (size_t k = 0; k < notes_count; k++) total += notes[k].n;
    if (total == 0) return WM_OK;
    tally *v = malloc(total * sizeof *v);
    if (!v) return WM_ENOMEM;
    wm_status status = WM_OK;
    for (size_t k = 0; k < notes_count; k++) {
        for (size_t i = 0; i < notes[k].n && status == WM_OK; i++) {
            const wmi_note *note = &notes[k].v[i];
            if (note->kind != WMI_NOTE_VALUE) continue;
            const wmi_metric about = {.name = wmi_intern_name(note->metric),
                                      .unit = wmi_intern_name(note->unit),
                                      .text = "recorded by the program",
                                      .backend = "user",
                                      .timer = "",
                                      .better = wmi_better_of_unit(wmi_intern_name(note->unit))};
            const wmi_entry *e = note->entry == WMI_NO_ENTRY ? NULL : entry_by_id(d, note->entry);
            uint32_t metric;
            status = wmi_samples_metric(d->s->samples, &about, &metric);
            v[n++] = (tally){e ? e->node : d->root, metric, 1, note->value, WM_REASON_NONE};
        }
    }
    n = tallies_merge(v, n, NULL);
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        const bool finite = __builtin_isfinite(v[i].value);
        status = value_add(d, v[i].node, v[i].key, d->place->pass, finite ? v[i].value : 0.0,
                           finite ? WM_REASON_NONE : WM_REASON_NOT_FINITE, NULL);
    }
    free(v);
    return status;
}

static wm_status sources_drain(folding *d, bool keep, wm_error *err) {
    const wmi_joint_pass *pass = &d->m->passes[d->place->pass];
    for (size_t b = 0; b < d->m->source_count; b++) {
        const wmi_source *source = &d->m->sources[b];
        if (pass->local[b] < 0 || !source->ops->drain) continue;
        d->s->readings.n = 0;
        wm_status status = source->ops->drain(source->self, &d->s->readings, err);
        if (status == WM_OK && keep) status = source_values(d, source);
        if (status != WM_OK) return status;
    }
    return WM_OK;
}

/* Metrics that cannot be had get one null in each region, so that their rows exist
 * and say why. */
static wm_status missing_values(folding *d) {
    for (size_t i = 0; i < d->m->gauge_count; i++) {
        const wmi_gauge *g = &d->m->gauges[i];
        if (g->pass >= 0) continue;
        for (size_t k = 0; k < d->s->touched_count; k++) {
            wmi_series *series;
            const uint32_t node = d->s->touched[k];
            wm_status status =
                wmi_samples_series(d->s->samples, d->place->config, node, g->metric, -1, &series);
            if (status == WM_OK && series->n == 0) {
                status = wmi_series_add(series, d->place->run, 0.0, g->reason);
                series->why = g->why;
            }
            if (status != WM_OK) return status;
        }
    }
    return WM_OK;
}

static wm_status run_add(folding *d, const wmi_notes *notes, size_t notes_count) {
    wm_session *s = d->s;
    const bool clean = !d->m->passes[d->place->pass].disturbs && d->place->pass == 0;
    wm_status status = WM_OK;
    if (!clean) return WM_OK;
    for (size_t k = 0; k < notes_count && status == WM_OK; k++)
        for (size_t i = 0; i < notes[k].n && status == WM_OK; i++)
            if (notes[k].v[i].kind != WMI_NOTE_VALUE) status = note_apply(d, &notes[k].v[i]);
    if (status == WM_OK && d->by_entry) status = entry_times(d);
    for (size_t i = 0; i < s->touched_count && status == WM_OK && !d->by_entry; i++)
        status = node_time(d, s->touched[i], &s->folds[s->touched[i]]);
    if (status == WM_OK) status = recorded_values(d, notes, notes_count);
    if (status == WM_OK) status = missing_values(d);
    return status;
}

wm_status wmi_run_fold(wm_session *s, const wmi_measure *measure, const wmi_run_place *place,
                       const wmi_notes *notes, size_t notes_count, wm_error *err) {
    folding d = {.s = s,
                 .m = measure,
                 .place = place,
                 .by_entry = s->by_entry && measure == s->stretch,
                 .child_parent = UINT32_MAX};
    const bool keep = !place->warmup && !place->failed;
    s->entry_count = s->touched_count = 0;
    wm_status status = wmi_samples_node(s->samples, place->bench, UINT32_MAX, 0, &d.root);
    if (status == WM_OK) status = wmi_threads_visit(thread_decode, &d);
    if (status == WM_OK) status = entries_sum(&d);
    if (status == WM_OK && keep) status = run_add(&d, notes, notes_count);
    const wm_status drained = sources_drain(&d, keep && status == WM_OK, err);
    if (status == WM_OK) status = drained;
    for (size_t i = 0; i < s->touched_count; i++) s->folds[s->touched[i]].touched = false;
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
