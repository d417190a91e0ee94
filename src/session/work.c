/* From the records of a device to the values of a run: what ran for each region and those in it. */
#include <math.h>
#include <stdlib.h>

#include "session/fold.h"
#include "stats/stats.h"

/* What was done for one node. Amounts are of one repetition where entries stand for several. */
typedef struct work {
    wmi_tally kernels;  /* durations [ns] */
    double count;       /* kernels */
    double latency;     /* added up [ns] */
    uint64_t launched;  /* kernels, whole: what latency is divided by */
    uint64_t batch;     /* most repetitions behind a record */
    int64_t begin, end; /* first start, last end */
    double first;       /* time of first launches [ns] */
    uint64_t firsts;
    wm_reason unread; /* a kernel has no time */
    double copy_ns, copy_bytes, set_ns, set_bytes;
    wm_reason why_not[3]; /* by the kind of record: it is not known how many there were */
    wm_reason copy_reason, set_reason;
    wmi_interval *v; /* of kernels, where their union is wanted */
    size_t n, cap;
} work;

struct wmi_works {
    work *v; /* by node, or by the number of the entry where each is to be a sample */
    size_t n;
    wm_reason why_not[3]; /* as in a work, of all of them */
};

wmi_works *wmi_works_create(void) { return calloc(1, sizeof(wmi_works)); }

void wmi_works_destroy(wmi_works *w) {
    if (!w) return;
    for (size_t i = 0; i < w->n; i++) free(w->v[i].v);
    free(w->v);
    free(w);
}

static work *work_at(wmi_works *w, size_t i) {
    if (i >= w->n) {
        const size_t n = i + i / 2 + 16;
        work *v = realloc(w->v, n * sizeof *v);
        if (!v) return NULL;
        for (size_t k = w->n; k < n; k++) v[k] = (work){0};
        w->v = v;
        w->n = n;
    }
    return &w->v[i];
}

static bool wanted(const wmi_folding *d, wmi_of_records of) {
    for (size_t i = 0; i < d->m->gauge_count; i++)
        if (d->m->gauges[i].about.of == of) return true;
    return false;
}

static wm_status interval_add(work *k, const wmi_record *r) {
    if (k->n == k->cap) {
        const size_t cap = k->cap ? k->cap + k->cap / 2 : 16;
        wmi_interval *v = realloc(k->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        k->v = v;
        k->cap = cap;
    }
    k->v[k->n++] = (wmi_interval){r->begin_ns, r->end_ns};
    return WM_OK;
}

static wm_status kernel_add(wmi_folding *d, work *k, const wmi_record *r, uint64_t batch) {
    const double ns = (double)(r->end_ns - r->begin_ns);
    k->count += 1.0 / (double)batch;
    if (batch > k->batch) k->batch = batch;
    if (r->reason) {
        k->unread = (wm_reason)r->reason;
        wmi_tally_add(&k->kernels, 0.0, 0.0, (wm_reason)r->reason);
        return WM_OK;
    }
    if (r->flags & WMI_RECORD_FIRST) {
        k->first += ns;
        k->firsts++;
    }
    if ((r->flags & WMI_RECORD_FIRST) && !d->m->keep_first) {
        wmi_tally_add(&k->kernels, 0.0, 0.0, WM_REASON_FIRST_LAUNCH);
        return WM_OK;
    }
    wmi_tally_add(&k->kernels, ns, ns, WM_REASON_NONE);
    if (!k->launched || r->begin_ns < k->begin) k->begin = r->begin_ns;
    if (!k->launched || r->end_ns > k->end) k->end = r->end_ns;
    k->launched++;
    k->latency += (double)(r->begin_ns - r->launch_ns);
    const bool spans = wanted(d, WMI_OF_KERNEL_UNION) || wanted(d, WMI_OF_KERNEL_GAP);
    return spans ? interval_add(k, r) : WM_OK;
}

static void transfer_add(work *k, const wmi_record *r, uint64_t batch) {
    const double share = 1.0 / (double)batch, ns = (double)(r->end_ns - r->begin_ns) * share;
    if (r->kind == WMI_RECORD_COPY) {
        k->copy_ns += ns;
        k->copy_bytes += (double)r->bytes * share;
        if (r->reason) k->copy_reason = (wm_reason)r->reason;
    } else {
        k->set_ns += ns;
        k->set_bytes += (double)r->bytes * share;
        if (r->reason) k->set_reason = (wm_reason)r->reason;
    }
}

/* What a launch did that has no record at all is not known; nor is how much a graph would have done. */
static void not_known(wm_reason why_not[3], wm_reason why) {
    for (int kind = 0; kind < 3; kind++) why_not[kind] = why;
}

static bool is_lost_graph(const wmi_record *r) {
    return r->reason == WM_REASON_NO_RECORD && (r->flags & WMI_RECORD_GRAPH);
}

/* `e`: the entry of the node, NULL where another thread's is around it. */
static wm_status node_add(wmi_folding *d, wmi_works *w, uint32_t node, const wmi_entry *e,
                          const wmi_record *r, bool unsure) {
    if (d->by_entry && !e) return WM_OK;
    const uint64_t batch = e ? e->batch : 1;
    work *k = work_at(w, d->by_entry ? (size_t)(e - d->s->entries) : node);
    if (!k) return WM_ENOMEM;
    if (unsure) k->why_not[r->kind] = WM_REASON_AMBIGUOUS;
    if (is_lost_graph(r)) not_known(k->why_not, WM_REASON_NO_RECORD);
    if (r->kind != WMI_RECORD_KERNEL) {
        transfer_add(k, r, batch);
        return WM_OK;
    }
    if (unsure) wmi_tally_add(&k->kernels, 0.0, 0.0, WM_REASON_AMBIGUOUS);
    wm_status status = unsure ? WM_OK : kernel_add(d, k, r, batch);
    if (status != WM_OK || d->place->warmup || d->place->failed) return status;
    wmi_work *kept;
    status = wmi_samples_work(d->s->samples, d->place->config, node, &kept);
    if (status != WM_OK) return status;
    kept->kernels++;
    kept->shared |= (r->flags & WMI_RECORD_SHARED) != 0;
    wmi_work_add_kernel(kept, r->plain, r->device);
    return WM_OK;
}

/* To the innermost entry's node and to all around it. An entry of a thread of its own has no
 * entry around it, but its node has nodes around it. Of an entry that ended before the one in it,
 * it is not known whether it was still open. */
static wm_status record_add(wmi_folding *d, wmi_works *w, const wmi_record *r) {
    const wmi_entry *e = wmi_fold_entry(d, r->entry);
    if (!e) {
        if (r->entry != WMI_AMBIGUOUS_ENTRY) return WM_OK;
        if (r->reason == WM_REASON_NO_RECORD)
            not_known(w->why_not, WM_REASON_NO_RECORD);
        else
            w->why_not[r->kind] = WM_REASON_AMBIGUOUS;
        return WM_OK;
    }
    uint32_t node = e->node;
    bool unsure = false;
    while (node != UINT32_MAX) {
        const wm_status status = node_add(d, w, node, e, r, unsure);
        if (status != WM_OK) return status;
        unsure = e && e->outlived;
        if (e) e = e->parent == UINT32_MAX ? NULL : &d->s->entries[e->parent];
        node = e ? e->node : wmi_samples_node_at(d->s->samples, node)->parent;
    }
    return WM_OK;
}

static wm_status record_keep(wmi_folding *d, const wmi_record *r) {
    const wmi_entry *e = wmi_fold_entry(d, r->entry);
    wmi_record kept = *r;
    if (!e && !kept.reason) kept.reason = WM_REASON_AMBIGUOUS;
    return wmi_samples_keep(d->s->samples, d->place->config, e ? e->node : d->root, d->place->run, &kept);
}

wm_status wmi_works_add(wmi_folding *d, wmi_works *w, const wmi_records *records) {
    const bool keep = d->s->keep_records && !d->place->warmup;
    wm_status status = WM_OK;
    for (size_t i = 0; i < records->n && status == WM_OK; i++) {
        const wmi_record *r = &records->v[i];
        if (r->run && r->run != d->run) continue; /* of one that was given up */
        if (keep) status = record_keep(d, r);
        if (status == WM_OK && !(r->flags & WMI_RECORD_IGNORED)) status = record_add(d, w, r);
    }
    return status;
}

/* ---- values ---- */

/* NaN, and why, where there is none. */
static double kernel_value(work *k, const wmi_gauge *g, wm_reason *why) {
    const double value = wmi_tally_value(&k->kernels, g->about.combine, why);
    const double batch = k->batch ? (double)k->batch : 1.0;
    if (*why != WM_REASON_NONE) return NAN;
    if (g->about.of == WMI_OF_KERNEL_TIME) return g->about.combine == WMI_COMBINE_SUM ? value / batch : value;
    if (g->about.of == WMI_OF_LAUNCH_LATENCY) return k->latency / (double)k->launched;
    const double together = (double)wmi_union_length(k->v, k->n);
    if (g->about.of == WMI_OF_KERNEL_UNION) return together / batch;
    return ((double)(k->end - k->begin) - together) / batch;
}

/* What kind of record a metric is made of. */
static wmi_record_kind kind_of(const wmi_gauge *g) {
    switch (g->about.of) {
    case WMI_OF_COPY_TIME:
    case WMI_OF_COPY_BYTES: return WMI_RECORD_COPY;
    case WMI_OF_SET_TIME:
    case WMI_OF_SET_BYTES: return WMI_RECORD_SET;
    default: return WMI_RECORD_KERNEL;
    }
}

static double transfer_value(const work *k, const wmi_gauge *g, wm_reason *why) {
    *why = kind_of(g) == WMI_RECORD_COPY ? k->copy_reason : k->set_reason;
    if (!*why) *why = k->why_not[kind_of(g)];
    switch (g->about.of) {
    case WMI_OF_COPY_TIME: return k->copy_ns;
    case WMI_OF_COPY_BYTES: return k->copy_bytes;
    case WMI_OF_SET_TIME: return k->set_ns;
    default: return k->set_bytes;
    }
}

static double gauge_value(work *k, const wmi_gauge *g, wm_reason *why) {
    *why = WM_REASON_NONE;
    switch (g->about.of) {
    case WMI_OF_KERNEL_COUNT: *why = k->why_not[WMI_RECORD_KERNEL]; return k->count;
    case WMI_OF_FIRST_TIME:
        if (!k->firsts) *why = WM_REASON_NOT_APPLICABLE;
        if (k->unread) *why = k->unread; /* it may have been one */
        return k->first;
    case WMI_OF_COPY_TIME:
    case WMI_OF_COPY_BYTES:
    case WMI_OF_SET_TIME:
    case WMI_OF_SET_BYTES: return transfer_value(k, g, why);
    default: return kernel_value(k, g, why);
    }
}

/* Which of the open regions a launch belonged to is not known: none of them may claim to be
 * complete, but the function as a whole has it, if it is known to have been launched in it. */
static wm_status work_values(wmi_folding *d, const wmi_works *w, work *k, uint32_t node) {
    for (size_t i = 0; i < d->m->gauge_count; i++) {
        const wmi_gauge *g = &d->m->gauges[i];
        if (g->about.of == WMI_OF_NONE || g->pass != d->place->pass) continue;
        wm_reason why;
        const double value = gauge_value(k, g, &why);
        if (w->why_not[kind_of(g)]) why = w->why_not[kind_of(g)];
        wmi_series *series;
        const wm_status status = wmi_fold_value(d, node, g->metric, g->pass, why ? 0.0 : value, why, &series);
        if (status != WM_OK) return status;
        if (!d->by_entry) wmi_fold_count(series, &d->s->folds[node]);
        if (g->about.of == WMI_OF_FIRST_TIME && why == WM_REASON_NOT_APPLICABLE)
            series->why = "the kernels were first launched before the measured runs";
        if (why == WM_REASON_SEVERAL_KERNELS && !series->why)
            series->why = wmi_several_kernels(d->s->samples, d->place->config, node);
    }
    const wm_reason unknown = w->why_not[WMI_RECORD_KERNEL];
    const wm_reason why = unknown ? unknown : k->kernels.reason;
    const bool known = !unknown && why != WM_REASON_AMBIGUOUS;
    if (known && (why || k->kernels.n == 0)) return WM_OK;
    wmi_work *kept;
    const wm_status status = wmi_samples_work(d->s->samples, d->place->config, node, &kept);
    if (status != WM_OK) return status;
    if (!known) kept->why_not = why;
    if (kept->why_not) return WM_OK;
    kept->clean_ns += k->kernels.sum;
    kept->clean_runs++;
    return WM_OK;
}

static wm_status count_entries(wmi_folding *d, uint32_t node) {
    for (size_t i = 0; i < d->m->gauge_count; i++) {
        const wmi_gauge *g = &d->m->gauges[i];
        if (g->about.of == WMI_OF_NONE || g->pass != d->place->pass) continue;
        wmi_series *series;
        const wm_status status =
            wmi_samples_series(d->s->samples, d->place->config, node, g->metric, g->pass, &series);
        if (status != WM_OK) return status;
        wmi_fold_count(series, &d->s->folds[node]);
    }
    return WM_OK;
}

/* A sample for each entry that was left. */
static wm_status entries_fold(wmi_folding *d, wmi_works *w) {
    for (size_t i = 0; i < d->s->entry_count; i++) {
        const wmi_entry *e = &d->s->entries[i];
        work *k = work_at(w, i);
        const wm_status status = !k ? WM_ENOMEM : e->closed ? work_values(d, w, k, e->node) : WM_OK;
        if (status != WM_OK) return status;
    }
    for (size_t i = 0; i < d->s->touched_count; i++) {
        const wm_status status = count_entries(d, d->s->touched[i]);
        if (status != WM_OK) return status;
    }
    return WM_OK;
}

wm_status wmi_works_fold(wmi_folding *d, wmi_works *w) {
    if (d->by_entry) return entries_fold(d, w);
    for (size_t i = 0; i < d->s->touched_count; i++) {
        const uint32_t node = d->s->touched[i];
        work *k = work_at(w, node);
        const wm_status status = k ? work_values(d, w, k, node) : WM_ENOMEM;
        if (status != WM_OK) return status;
    }
    return WM_OK;
}
