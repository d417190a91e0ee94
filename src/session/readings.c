/* What backends read at the marks, and what the program recorded, added up by region. */
#include <stdlib.h>

#include "base/intern.h"
#include "session/fold.h"

/* ---- what backends read ---- */

typedef struct tally {
    uint32_t node, key, n; /* key: number of the gauge, or of the metric's name */
    uint64_t entry;
    double value;
    wm_reason reason;
} tally;

static bool tally_alike(const tally *x, const tally *y) { return x->node == y->node && x->key == y->key; }

static int tally_order(const void *a, const void *b) {
    const tally *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int entry_order(const void *key, const void *at) {
    const uint64_t id = *(const uint64_t *)key;
    const wmi_entry *e = at;
    return id < e->id ? -1 : id > e->id;
}

/* Entries are in the order of their ids: by thread, then by sequence. */
const wmi_entry *wmi_fold_entry(const wmi_folding *d, uint64_t id) {
    id &= ~WMI_ROOT_ENTRY;
    return bsearch(&id, d->s->entries, d->s->entry_count, sizeof *d->s->entries, entry_order);
}

/* Make one of those of the same node and key, which are sorted: sums, or the largest. */
static size_t tallies_merge(tally *v, size_t n, const wmi_measure *m) {
    if (n == 0) return 0;
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        tally *to = &v[kept];
        if (!tally_alike(to, &v[i])) {
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

/* Readings of one source, mapped to nodes: one tally for each node and metric, or for
 * each reading where every entry is to be a sample. Sorted. */
static size_t tallies_make(const wmi_folding *d, const wmi_source *source, tally *v) {
    const wmi_readings *r = &d->s->drained.readings;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const wmi_reading *x = &r->v[i];
        const wmi_entry *e = wmi_fold_entry(d, x->entry);
        if (!e || x->metric >= source->count) continue;
        const uint32_t gauge = source->gauges[x->metric];
        const bool per_repetition = d->m->gauges[gauge].about.combine == WMI_COMBINE_SUM;
        v[n++] = (tally){
            e->node, gauge, 1, x->entry, per_repetition ? x->value / (double)e->batch : x->value, x->reason};
    }
    qsort(v, n, sizeof *v, tally_order);
    return d->by_entry ? n : tallies_merge(v, n, d->m);
}

static wm_status source_values(wmi_folding *d, const wmi_source *source) {
    if (d->s->drained.readings.n == 0) return WM_OK;
    tally *v = malloc((d->s->drained.readings.n + 1) * sizeof *v);
    if (!v) return WM_ENOMEM;
    const size_t n = tallies_make(d, source, v);
    wm_status status = WM_OK;
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        const wmi_gauge *g = &d->m->gauges[v[i].key];
        if (g->about.combine == WMI_COMBINE_MEAN) v[i].value /= v[i].n;
        wmi_series *series;
        status = wmi_fold_value(d, v[i].node, g->metric, g->pass, v[i].reason ? 0.0 : v[i].value, v[i].reason,
                                &series);
        if (status == WM_OK && (i == 0 || !tally_alike(&v[i - 1], &v[i])))
            wmi_fold_count(series, &d->s->folds[v[i].node]);
    }
    free(v);
    return status;
}

/* Values that the program recorded, of all its threads. */
wm_status wmi_fold_recorded(wmi_folding *d, const wmi_notes *notes, size_t notes_count) {
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
            const wmi_entry *e = note->entry == WMI_NO_ENTRY ? NULL : wmi_fold_entry(d, note->entry);
            uint32_t metric;
            status = wmi_samples_metric(d->s->samples, &about, &metric);
            v[n++] = (tally){e ? e->node : d->root, metric, 1, note->entry, note->value, WM_REASON_NONE};
        }
    }
    qsort(v, n, sizeof *v, tally_order);
    n = tallies_merge(v, n, NULL);
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        const bool finite = __builtin_isfinite(v[i].value);
        status = wmi_fold_value(d, v[i].node, v[i].key, d->place->pass, finite ? v[i].value : 0.0,
                                finite ? WM_REASON_NONE : WM_REASON_NOT_FINITE, NULL);
    }
    free(v);
    return status;
}

/* Readings of a deferred pass wait until those of all runs are there. */
static wm_status deferred_keep(const wm_session *s, wmi_deferred *to) {
    for (size_t i = 0; i < s->drained.readings.n; i++)
        if (!wmi_readings_add(&to->readings, s->drained.readings.v[i])) return WM_ENOMEM;
    return WM_OK;
}

wm_status wmi_drain(wmi_folding *d, const wmi_source *source, bool deferred, bool keep, wmi_works *works,
                    wm_error *err) {
    wmi_drained *drained = &d->s->drained;
    wm_status status = WM_OK;
    do {
        drained->readings.n = drained->records.n = 0;
        drained->more = false;
        status = source->ops->drain(source->self, drained, err);
        if (status == WM_OK && deferred) status = deferred_keep(d->s, &d->m->deferred);
        if (status == WM_OK && keep && !deferred) status = source_values(d, source);
        if (status == WM_OK && keep && works) status = wmi_works_add(d, works, &drained->records);
    } while (status == WM_OK && drained->more);
    return status;
}

wm_status wmi_fold_readings(wmi_folding *d, bool keep, wm_error *err) {
    const wmi_joint_pass *pass = &d->m->passes[d->place->pass];
    wmi_works *works = d->m->has_device && !pass->disturbs ? wmi_works_create() : NULL;
    if (d->m->has_device && !pass->disturbs && !works) return WM_ENOMEM;
    wm_status status = WM_OK;
    for (size_t b = 0; b < d->m->source_count && status == WM_OK; b++) {
        const wmi_source *source = &d->m->sources[b];
        if (pass->local[b] < 0 || !source->ops->drain) continue;
        status = wmi_drain(d, source, pass->deferred, keep, source->ops->device ? works : NULL, err);
    }
    if (status == WM_OK && keep && works) status = wmi_works_fold(d, works);
    wmi_works_destroy(works);
    return status;
}
