/* From what a run added up to, to the values of that run. */
#include <stdlib.h>

#include "base/intern.h"
#include "session/fold.h"

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

/* ---- notes ---- */

wm_status wmi_fold_value(wmi_folding *d, uint32_t node, uint32_t metric, int32_t pass, double value,
                         wm_reason why, wmi_series **out) {
    wmi_series *series;
    const bool failed = node < d->s->fold_cap && d->s->folds[node].touched && d->s->folds[node].failed;
    if (d->place->throttled) why = WM_REASON_THROTTLED;
    if (failed) why = WM_REASON_FAILED;
    wm_status status = wmi_samples_series(d->s->samples, d->place->config, node, metric, pass, &series);
    if (status == WM_OK) status = wmi_series_add(series, d->place->run, why ? 0.0 : value, why);
    if (status == WM_OK && out) *out = series;
    return status;
}

/* Of several threads that measured for themselves, the slowest says how long it took. */
static void manual_add(wmi_fold *f, size_t thread, double ns) {
    if (!f->has_manual || f->manual_thread != thread) f->manual_thread_ns = 0;
    f->has_manual = true;
    f->manual_thread = thread;
    f->manual_thread_ns += ns;
    f->manual_ns += ns;
    if (f->manual_thread_ns > f->manual_longest_ns) f->manual_longest_ns = f->manual_thread_ns;
}

/* The region that the program means: one of this run, else one of another. */
static uint32_t note_node(const wmi_folding *d, const char *name, bool *ambiguous) {
    const wmi_samples *samples = d->s->samples;
    const uint32_t node =
        wmi_samples_find_among(samples, d->s->touched, d->s->touched_count, name, ambiguous);
    if (node != UINT32_MAX || *ambiguous) return node;
    return wmi_samples_find_node(samples, d->place->bench, name, ambiguous);
}

static wm_status note_apply(wmi_folding *d, const wmi_note *note, size_t thread) {
    bool ambiguous = false;
    uint32_t node = note->region ? note_node(d, wmi_intern_name(note->region), &ambiguous) : d->root;
    if (node == UINT32_MAX) {
        wmi_session_warn(d->s,
                         ambiguous ? "several regions end in '%s': give the whole path"
                                   : "work was added to the region '%s', which was never entered",
                         wmi_intern_name(note->region));
        return WM_OK;
    }
    wmi_fold *f = wmi_fold_at(d->s, node);
    if (!f) return WM_ENOMEM;
    /* A region that is repeated counts one repetition; one around it counts all of them,
     * and those by which the count was found. */
    if (f->repeated && note->when == WMI_NOTE_TRIED) return WM_OK;
    const double share = f->repeated && note->when == WMI_NOTE_REPEATED ? 1.0 / (double)f->batch : 1.0;
    if (note->kind == WMI_NOTE_TIME) {
        manual_add(f, thread, note->value * share);
    } else {
        f->amount[note->kind] += note->value * share;
        f->has_amount[note->kind] = true;
    }
    return WM_OK;
}

/* ---- handing over to the samples ---- */

static const wmi_metric rates[3] = {
    {.name = "flop_rate",
     .unit = "FLOP/s",
     .text = "floating-point operations per second, from wm_add_flops"},
    {.name = "byte_rate", .unit = "B/s", .text = "bytes per second, from wm_add_bytes"},
    {.name = "item_rate", .unit = "item/s", .text = "items per second, from wm_add_items"},
};

static wm_status rates_add(wmi_folding *d, uint32_t node, const wmi_fold *f, double time_ns, int32_t pass) {
    for (int k = 0; k < 3; k++) {
        if (!f->has_amount[k]) continue;
        uint32_t metric;
        wmi_metric about = rates[k];
        about.backend = "cpu";
        about.timer = "";
        about.better = WMI_BETTER_HIGHER;
        wm_status status = wmi_samples_metric(d->s->samples, &about, &metric);
        if (status != WM_OK) return status;
        const double rate = f->amount[k] * 1e9 / time_ns;
        const wm_reason why = !(time_ns > 0)              ? WM_REASON_RESOLUTION
                              : !__builtin_isfinite(rate) ? WM_REASON_NOT_FINITE
                                                          : WM_REASON_NONE;
        wmi_series *series;
        status = wmi_fold_value(d, node, metric, pass, why ? 0.0 : rate, why, &series);
        if (status != WM_OK) return status;
        series->entries += f->entries;
        if (f->threads > series->threads) series->threads = f->threads;
    }
    return WM_OK;
}

void wmi_fold_count(wmi_series *series, const wmi_fold *f) {
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
static wm_status clock_series(wmi_folding *d, uint32_t node, const wmi_fold *f, int32_t gauge, double ns) {
    if (gauge < 0 || (!f->entries && !f->unmatched && !f->dropped && !f->has_manual)) return WM_OK;
    const wmi_gauge *g = &d->m->gauges[gauge];
    wmi_series *series;
    wm_status status;
    if (f->entries || f->has_manual)
        status = wmi_fold_value(d, node, g->metric, g->pass, ns, WM_REASON_NONE, &series);
    else
        status = wmi_fold_value(d, node, g->metric, g->pass, 0.0,
                                f->dropped ? WM_REASON_DROPPED : WM_REASON_UNMATCHED, &series);
    if (status == WM_OK) wmi_fold_count(series, f);
    return status;
}

static wm_status node_time(wmi_folding *d, uint32_t node, wmi_fold *f) {
    wm_session *s = d->s;
    if (f->threads > 1) {
        const wm_status status = wmi_fold_union(s, node, f);
        if (status != WM_OK) return status;
    } else {
        f->union_ns = f->sum_ns;
    }
    if (f->has_manual) {
        f->union_ns = f->manual_longest_ns;
        f->sum_ns = f->manual_ns;
    }
    wm_status status = clock_series(d, node, f, d->m->time, f->union_ns);
    if (status == WM_OK) status = clock_series(d, node, f, d->m->time_sum, f->sum_ns);
    if (status == WM_OK && d->m->time >= 0 && (f->entries || f->has_manual))
        status = rates_add(d, node, f, f->union_ns, d->place->pass);
    return status;
}

/* A sample for each entry instead of one for each run. */
static wm_status entry_times(wmi_folding *d, int32_t gauge) {
    if (gauge < 0) return WM_OK;
    const wmi_gauge *g = &d->m->gauges[gauge];
    for (size_t i = 0; i < d->s->entry_count; i++) {
        const wmi_entry *e = &d->s->entries[i];
        if (!e->closed) continue;
        const double ns = wmi_clock_span_ns(&d->s->clock, e->begin + e->own, e->end);
        const wm_status status = wmi_fold_value(d, e->node, g->metric, g->pass, ns, WM_REASON_NONE, NULL);
        if (status != WM_OK) return status;
    }
    for (size_t i = 0; i < d->s->touched_count; i++) {
        wmi_series *series;
        const uint32_t node = d->s->touched[i];
        const wm_status status =
            wmi_samples_series(d->s->samples, d->place->config, node, g->metric, g->pass, &series);
        if (status != WM_OK) return status;
        wmi_fold_count(series, &d->s->folds[node]);
    }
    return WM_OK;
}

/* Metrics that cannot be had get one null in each region, so that their rows exist
 * and say why. */
static wm_status missing_values(wmi_folding *d) {
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

static wm_status run_add(wmi_folding *d, const wmi_notes *notes, size_t notes_count) {
    wm_session *s = d->s;
    wm_status status = WM_OK;
    if (d->place->pass != 0) return WM_OK; /* once a run: what the function says, and its time */
    for (size_t k = 0; k < notes_count && status == WM_OK; k++)
        for (size_t i = 0; i < notes[k].n && status == WM_OK; i++)
            if (notes[k].v[i].kind != WMI_NOTE_VALUE) status = note_apply(d, &notes[k].v[i], k);
    const bool clean = !d->m->passes[0].disturbs;
    if (status == WM_OK && clean && d->by_entry) status = entry_times(d, d->m->time);
    if (status == WM_OK && clean && d->by_entry) status = entry_times(d, d->m->time_sum);
    for (size_t i = 0; i < s->touched_count && status == WM_OK && clean && !d->by_entry; i++)
        status = node_time(d, s->touched[i], &s->folds[s->touched[i]]);
    if (status == WM_OK) status = wmi_fold_recorded(d, notes, notes_count);
    if (status == WM_OK) status = missing_values(d);
    return status;
}

wm_status wmi_run_fold(wm_session *s, wmi_measure *measure, const wmi_run_place *place,
                       const wmi_notes *notes, size_t notes_count, wm_error *err) {
    wmi_folding d = {.s = s,
                     .m = measure,
                     .place = place,
                     .run = wmi_run_number(),
                     .by_entry = s->by_entry && measure == s->stretch,
                     .child_parent = UINT32_MAX};
    const bool keep = !place->warmup && !place->failed;
    wm_status status = wmi_samples_node(s->samples, place->bench, UINT32_MAX, 0, &d.root);
    if (status == WM_OK) status = wmi_decode(&d);
    if (status == WM_OK && keep) status = run_add(&d, notes, notes_count);
    if (status == WM_OK && keep && measure->passes[place->pass].deferred) status = wmi_deferred_entries(&d);
    const bool pending = keep && status == WM_OK && wmi_pending_can(&d);
    const wm_status drained =
        pending ? wmi_pending_add(&d, err) : wmi_fold_readings(&d, keep && status == WM_OK, err);
    if (status == WM_OK) status = drained;
    /* Not before all was drained: the window of another run would end this one's. */
    wmi_threads_release();
    for (size_t i = 0; i < s->touched_count; i++) s->folds[s->touched[i]].touched = false;
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}

bool wmi_run_entered(const wm_session *s, uint32_t node) {
    return node < s->fold_cap && s->folds[node].entries > 0;
}
