/* Readings that come when a window closes: they are of entries of many runs, and those of each
 * kernel belong to the innermost region and to all around it. */
#include <math.h>
#include <stdlib.h>

#include "base/intern.h"
#include "session/fold.h"

const char *wmi_several_kernels(const wmi_samples *samples, uint32_t config, uint32_t node) {
    const wmi_work *work = wmi_samples_work_of(samples, config, node);
    const uint32_t n = !work ? 0 : work->name_count < WMI_WORK_NAMES ? work->name_count : WMI_WORK_NAMES;
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "several kernels ran");
    for (uint32_t i = 0; i < n; i++)
        wmi_buf_printf(&text, "%s %s", i ? "," : ":", wmi_intern_name(work->names[i]));
    if (work && work->name_count > n) wmi_buf_str(&text, " and others");
    wmi_buf_str(&text, "; --combine says what to make of them");
    const uint32_t id = text.failed ? 0 : wmi_intern(text.data);
    wmi_buf_free(&text);
    return id ? wmi_intern_name(id) : NULL;
}

/* ---- entries ---- */

wm_status wmi_deferred_entries(wmi_folding *d) {
    wm_session *s = d->s;
    wmi_deferred *to = &d->m->deferred;
    const size_t n = to->n + s->entry_count;
    if (n > to->cap) {
        const size_t cap = n + n / 2;
        wmi_late_entry *v = realloc(to->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        to->v = v;
        to->cap = cap;
    }
    for (size_t i = 0; i < s->entry_count; i++) {
        const wmi_entry *e = &s->entries[i];
        const uint32_t parent = e->parent == UINT32_MAX ? UINT32_MAX : (uint32_t)to->n + e->parent;
        to->v[to->n + i] = (wmi_late_entry){
            e->id, e->batch, e->node, parent, d->place->run, e->outlived, s->folds[e->node].failed};
    }
    to->n = n;
    return WM_OK;
}

/* ---- values of one node and run ---- */

typedef struct hit {
    uint32_t node;
    int32_t run;
    uint32_t gauge; /* UINT32_MAX: the clock */
    wm_reason reason;
    double value, weight;
    size_t order; /* of its coming, which is that of the launches */
    bool of_kernel;
} hit;

typedef struct late {
    wm_session *s;
    const wmi_measure *m;
    uint32_t config;
    const wmi_late_entry **by_id; /* [n] */
    hit *hits;
    size_t hit_count, hit_cap;
    double *values, *weights; /* room for a function of the program's */
    size_t room;
} late;

static int id_order(const void *a, const void *b) {
    const wmi_late_entry *x = *(const wmi_late_entry *const *)a, *y = *(const wmi_late_entry *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static const wmi_late_entry *entry_of(const late *l, uint64_t id) {
    size_t low = 0, high = l->m->deferred.n;
    id &= ~WMI_ROOT_ENTRY;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (l->by_id[mid]->id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->m->deferred.n && l->by_id[low]->id == id ? l->by_id[low] : NULL;
}

static wm_status hit_add(late *l, hit h) {
    if (l->hit_count == l->hit_cap) {
        const size_t cap = l->hit_cap ? 2 * l->hit_cap : 256;
        hit *hits = realloc(l->hits, cap * sizeof *hits);
        if (!hits) return WM_ENOMEM;
        l->hits = hits;
        l->hit_cap = cap;
    }
    h.order = l->hit_count;
    l->hits[l->hit_count++] = h;
    return WM_OK;
}

static bool is_sum(const late *l, uint32_t gauge) {
    return gauge != UINT32_MAX && l->m->gauges[gauge].about.combine == WMI_COMBINE_SUM;
}

static wm_status reading_add(late *l, const wmi_source *source, const wmi_reading *r) {
    const wmi_late_entry *e = entry_of(l, r->entry);
    if (!e || (r->metric != WMI_READ_CLOCK && r->metric >= source->count)) return WM_OK;
    const uint32_t gauge = r->metric == WMI_READ_CLOCK ? UINT32_MAX : source->gauges[r->metric];
    const int32_t run = e->run;
    uint32_t node = e->node;
    wm_reason reason = r->reason;
    while (node != UINT32_MAX) {
        const double share = is_sum(l, gauge) && e ? 1.0 / (double)e->batch : 1.0;
        const wm_status status =
            hit_add(l, (hit){node, run, gauge, reason, r->value * share, r->weight, 0, r->kernel != 0});
        if (status != WM_OK) return status;
        reason = e && e->outlived ? WM_REASON_AMBIGUOUS : r->reason;
        if (e) e = e->parent == UINT32_MAX ? NULL : &l->m->deferred.v[e->parent];
        node = e ? e->node : wmi_samples_node_at(l->s->samples, node)->parent;
    }
    return WM_OK;
}

static int hit_order(const void *a, const void *b) {
    const hit *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->gauge != y->gauge) return x->gauge < y->gauge ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Which regions were entered in which runs: each of them has a value, or says why not. */
typedef struct spot {
    uint32_t node;
    int32_t run;
    bool failed; /* in some pass */
} spot;

static int spot_order(const void *a, const void *b) {
    const spot *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static size_t spots_unique(spot *v, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || spot_order(&v[i], &v[kept - 1]) != 0)
            v[kept++] = v[i];
        else
            v[kept - 1].failed |= v[i].failed;
    }
    return kept;
}

/* ---- adding up ---- */

static wm_status user_room(late *l, size_t n) {
    if (n <= l->room) return WM_OK;
    double *values = realloc(l->values, n * sizeof *values);
    if (values) l->values = values;
    double *weights = realloc(l->weights, n * sizeof *weights);
    if (weights) l->weights = weights;
    if (!values || !weights) return WM_ENOMEM;
    l->room = n;
    return WM_OK;
}

static wm_status combine(late *l, const wmi_gauge *g, const hit *hits, size_t n, double *value,
                         wm_reason *why) {
    wmi_tally t = {0};
    for (size_t i = 0; i < n; i++) wmi_tally_add(&t, hits[i].value, hits[i].weight, hits[i].reason);
    *value = wmi_tally_value(&t, g->about.combine, why);
    if (*why != WM_REASON_NONE || g->about.combine != WMI_COMBINE_USER) return WM_OK;
    const wm_status status = user_room(l, n);
    if (status != WM_OK) return status;
    for (size_t i = 0; i < n; i++) {
        l->values[i] = hits[i].value;
        l->weights[i] = hits[i].weight;
    }
    *value = l->m->combine_with(l->m->combine_user, g->about.name, l->values, l->weights, n);
    if (!isfinite(*value)) *why = WM_REASON_NOT_FINITE;
    return WM_OK;
}

/* Where no reading came though kernels ran, something is missing; and a range in which none ran
 * says nothing. */
static wm_reason reason_of(const late *l, uint32_t node, size_t readings) {
    const wmi_work *work = wmi_samples_work_of(l->s->samples, l->config, node);
    if (!l->m->device_clean) return readings ? WM_REASON_NONE : WM_REASON_NO_KERNEL;
    if (work && work->why_not == WM_REASON_AMBIGUOUS) return WM_REASON_AMBIGUOUS;
    if (work && work->why_not && !readings) return work->why_not;
    if (!work || !work->kernels) return WM_REASON_NO_KERNEL;
    return readings ? WM_REASON_NONE : WM_REASON_NOT_COUNTED;
}

static wm_status value_add(late *l, uint32_t gauge, spot at, const hit *hits, size_t n) {
    const wmi_gauge *g = &l->m->gauges[gauge];
    double value = 0.0;
    wm_reason why = at.failed ? WM_REASON_FAILED : reason_of(l, at.node, n);
    wmi_series *series;
    wm_status status = why ? WM_OK : combine(l, g, hits, n, &value, &why);
    if (status == WM_OK)
        status = wmi_samples_series(l->s->samples, l->config, at.node, g->metric, g->pass, &series);
    if (status == WM_OK) status = wmi_series_add(series, at.run, why ? 0.0 : value, why);
    if (status != WM_OK) return status;
    if (why == WM_REASON_SEVERAL_KERNELS && !series->why)
        series->why = wmi_several_kernels(l->s->samples, l->config, at.node);
    if (!series->batch_max) series->batch_min = series->batch_max = 1;
    series->entries++;
    return WM_OK;
}

static size_t alike(const hit *hits, size_t n, uint32_t node, uint32_t gauge, int32_t run) {
    size_t k = 0;
    while (k < n && hits[k].node == node && hits[k].gauge == gauge && hits[k].run == run) k++;
    return k;
}

static size_t first_of(const late *l, uint32_t node, uint32_t gauge) {
    size_t low = 0, high = l->hit_count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const hit *h = &l->hits[mid];
        if (h->node < node || (h->node == node && h->gauge < gauge))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static wm_status node_values(late *l, uint32_t gauge, const spot *spots, size_t n) {
    size_t at = first_of(l, spots[0].node, gauge);
    for (size_t i = 0; i < n; i++) {
        const size_t k = alike(l->hits + at, l->hit_count - at, spots[i].node, gauge, spots[i].run);
        const wm_status status = value_add(l, gauge, spots[i], l->hits + at, k);
        if (status != WM_OK) return status;
        at += k;
    }
    return WM_OK;
}

/* Was the time of every kernel of the run read? Each has as many readings of a metric as of the clock. A
 * range has gaps between its kernels too. */
static bool times_complete(const late *l, const hit *clocks, size_t n, uint32_t gauge) {
    size_t at = first_of(l, clocks->node, gauge);
    while (at < l->hit_count && l->hits[at].node == clocks->node && l->hits[at].gauge == gauge &&
           l->hits[at].run < clocks->run)
        at++;
    if (alike(l->hits + at, l->hit_count - at, clocks->node, gauge, clocks->run) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (clocks[i].reason || !clocks[i].of_kernel || l->hits[at + i].reason) return false;
    return true;
}

/* The clock, and how long the kernels took where counters were read. `gauge`: one that was read there. */
static wm_status node_clock(late *l, uint32_t gauge, uint32_t node) {
    size_t at = first_of(l, node, UINT32_MAX);
    wmi_work *work;
    if (gauge == UINT32_MAX || at == l->hit_count || l->hits[at].node != node) return WM_OK;
    const wm_status status = wmi_samples_work(l->s->samples, l->config, node, &work);
    if (status != WM_OK) return status;
    while (at < l->hit_count && l->hits[at].node == node) {
        const hit *clocks = &l->hits[at];
        const size_t n = alike(clocks, l->hit_count - at, node, UINT32_MAX, clocks->run);
        const bool complete = times_complete(l, clocks, n, gauge);
        for (size_t i = 0; i < n; i++) {
            if (clocks[i].reason) continue;
            work->clock_sum += clocks[i].value * clocks[i].weight;
            work->clock_weight += clocks[i].weight;
            if (complete) work->counter_ns += clocks[i].weight;
        }
        work->counter_runs += complete;
        at += n;
    }
    work->clock_pass = l->m->gauges[gauge].pass;
    return WM_OK;
}

/* Without a pass of their times, kernels are known by their readings: by those of one metric each. */
static wm_status kernels_note(late *l, const wmi_source *source) {
    const wmi_readings *r = &l->m->deferred.readings;
    uint32_t first = UINT32_MAX;
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].metric < first && r->v[i].metric < source->count) first = r->v[i].metric;
    wm_status status = WM_OK;
    for (size_t i = 0; i < r->n && status == WM_OK; i++) {
        const wmi_late_entry *e = entry_of(l, r->v[i].entry);
        if (r->v[i].metric != first || !r->v[i].kernel || !e) continue;
        uint32_t node = e->node;
        while (node != UINT32_MAX && status == WM_OK) {
            wmi_work *work;
            status = wmi_samples_work(l->s->samples, l->config, node, &work);
            if (status == WM_OK) {
                work->kernels++;
                status = wmi_work_add_kernel(work, r->v[i].kernel, 0);
            }
            node = wmi_samples_node_at(l->s->samples, node)->parent;
        }
    }
    return status;
}

static wm_status source_fold(late *l, const wmi_source *source, const spot *spots, size_t count) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < l->m->deferred.readings.n && status == WM_OK; i++)
        status = reading_add(l, source, &l->m->deferred.readings.v[i]);
    if (!l->m->device_clean && status == WM_OK) status = kernels_note(l, source);
    if (l->hit_count) qsort(l->hits, l->hit_count, sizeof *l->hits, hit_order);
    for (size_t at = 0; at < count && status == WM_OK;) {
        size_t n = 1;
        uint32_t gauge = UINT32_MAX;
        while (at + n < count && spots[at + n].node == spots[at].node) n++;
        for (size_t i = 0; i < source->count && status == WM_OK; i++) {
            const wmi_gauge *g = &l->m->gauges[source->gauges[i]];
            if (g->about.of != WMI_OF_NONE || g->pass < 0 || !l->m->passes[g->pass].deferred) continue;
            gauge = source->gauges[i];
            status = node_values(l, gauge, spots + at, n);
        }
        if (status == WM_OK) status = node_clock(l, gauge, spots[at].node);
        at += n;
    }
    return status;
}

/* Entries of every pass were kept; those of one pass name all regions and runs. */
static wm_status fold(late *l) {
    const wmi_deferred *from = &l->m->deferred;
    const wmi_source *source = NULL;
    for (size_t b = 0; b < l->m->source_count; b++)
        if (l->m->sources[b].ops->device && l->m->sources[b].count) source = &l->m->sources[b];
    spot *spots = malloc((from->n + 1) * sizeof *spots);
    l->by_id = malloc((from->n + 1) * sizeof *l->by_id);
    wm_status status = spots && l->by_id ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; i < from->n && status == WM_OK; i++) {
        spots[i] = (spot){from->v[i].node, from->v[i].run, from->v[i].failed};
        l->by_id[i] = &from->v[i];
    }
    if (status == WM_OK && source) {
        qsort(l->by_id, from->n, sizeof *l->by_id, id_order);
        qsort(spots, from->n, sizeof *spots, spot_order);
        status = source_fold(l, source, spots, spots_unique(spots, from->n));
    }
    free(spots);
    free(l->by_id);
    free(l->hits);
    free(l->values);
    free(l->weights);
    return status;
}

void wmi_deferred_drop(wmi_measure *m) {
    m->deferred.n = 0;
    m->deferred.readings.n = 0;
}

wm_status wmi_deferred_fold(wm_session *s, wmi_measure *m, uint32_t config, wm_error *err) {
    wmi_run_place place = {.config = config};
    wmi_folding d = {.s = s, .m = m, .place = &place};
    wm_status status = WM_OK;
    if (!m->deferred.n) return WM_OK;
    for (size_t b = 0; b < m->source_count && status == WM_OK; b++) {
        const wmi_source *source = &m->sources[b];
        if (source->self && source->ops->device) status = wmi_drain(&d, source, true, false, NULL, err);
    }
    late l = {.s = s, .m = m, .config = config};
    if (status == WM_OK) status = fold(&l);
    wmi_deferred_drop(m);
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
