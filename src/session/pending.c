/* Runs of which only the records of devices are still to be read. To read them the device has to come to
 * rest, which between short kernels costs more than they do: so it is done once for many runs. Each run is
 * kept as its marks were folded, and taken up again when its records are there. */
#include <stdlib.h>
#include <string.h>

#include "session/fold.h"

enum { RUNS_MAX = 4096, ENTRIES_MAX = 65536 };

typedef struct wmi_pending_run {
    wmi_run_place place;
    uint32_t root;
    uint16_t number; /* what its records call it */
    wmi_entry *entries;
    size_t entry_count;
    uint32_t *touched; /* [touched_count] nodes, and their folds */
    wmi_fold *folds;
    size_t touched_count;
} pending_run;

static void run_fini(pending_run *r) {
    free(r->entries);
    free(r->touched);
    free(r->folds);
}

void wmi_pending_drop(wmi_pending *pending) {
    for (size_t i = 0; i < pending->n; i++) run_fini(&pending->v[i]);
    pending->n = pending->entries = 0;
}

/* Not when something else is read in this pass, which would be of one run only. */
bool wmi_pending_can(const wmi_folding *d) {
    const wmi_joint_pass *pass = &d->m->passes[d->place->pass];
    if (!d->place->later || d->by_entry || pass->disturbs || pass->deferred || !d->m->has_device)
        return false;
    for (size_t b = 0; b < d->m->source_count; b++)
        if (pass->local[b] >= 0 && !d->m->sources[b].ops->device) return false;
    return true;
}

/* ---- keeping a run ---- */

static void *copy(const void *v, size_t bytes) {
    void *made = malloc(bytes ? bytes : 1);
    if (made && bytes) memcpy(made, v, bytes);
    return made;
}

static bool run_init(pending_run *r, const wmi_folding *d) {
    const wm_session *s = d->s;
    *r = (pending_run){.place = *d->place,
                       .root = d->root,
                       .number = d->run,
                       .entry_count = s->entry_count,
                       .touched_count = s->touched_count};
    r->entries = copy(s->entries, s->entry_count * sizeof *s->entries);
    r->touched = copy(s->touched, s->touched_count * sizeof *s->touched);
    r->folds = calloc(s->touched_count + 1, sizeof *r->folds);
    if (r->entries && r->touched && r->folds) {
        for (size_t i = 0; i < s->touched_count; i++) r->folds[i] = s->folds[s->touched[i]];
        return true;
    }
    run_fini(r);
    return false;
}

wm_status wmi_pending_add(wmi_folding *d, wm_error *err) {
    wmi_pending *p = &d->m->pending;
    if (p->n == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 16;
        pending_run *v = realloc(p->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        p->v = v;
        p->cap = cap;
    }
    if (!run_init(&p->v[p->n], d)) return WM_ENOMEM;
    p->entries += p->v[p->n++].entry_count;
    d->s->waiting = d->m;
    if (p->n < RUNS_MAX && p->entries < ENTRIES_MAX) return WM_OK;
    for (size_t i = 0; i < d->s->touched_count; i++) d->s->folds[d->s->touched[i]].touched = false;
    const wm_status status = wmi_pending_fold(d->s, d->m, err);
    d->s->touched_count = 0;
    return status;
}

/* ---- taking runs up again ---- */

static wm_status run_restore(wm_session *s, const pending_run *r) {
    if (r->entry_count > s->entry_cap) {
        wmi_entry *entries = realloc(s->entries, r->entry_count * sizeof *entries);
        if (!entries) return WM_ENOMEM;
        s->entries = entries;
        s->entry_cap = r->entry_count;
    }
    if (r->entry_count) memcpy(s->entries, r->entries, r->entry_count * sizeof *s->entries);
    s->entry_count = r->entry_count;
    s->touched_count = 0;
    for (size_t i = 0; i < r->touched_count; i++) {
        wmi_fold *f = wmi_fold_at(s, r->touched[i]);
        if (!f) return WM_ENOMEM;
        *f = r->folds[i];
    }
    return WM_OK;
}

static void run_leave(wm_session *s) {
    for (size_t i = 0; i < s->touched_count; i++) s->folds[s->touched[i]].touched = false;
    s->touched_count = s->entry_count = 0;
}

/* How many runs after the first one this one was. */
static uint32_t distance(const wmi_pending *p, uint16_t number) {
    return ((uint32_t)number + 65535 - p->v[0].number) % 65535;
}

/* The place of the run that a record belongs to; p->n: to none of these. */
static size_t place_of(const wmi_pending *p, const wmi_record *r) {
    const uint32_t at = distance(p, r->run);
    size_t low = 0, high = p->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (distance(p, p->v[mid].number) < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->n && p->v[low].number == r->run ? low : p->n;
}

/* Records by run, in the order in which they came. Those of no known run are of each of them. */
typedef struct sorted {
    size_t *begin;  /* [runs + 2] */
    size_t *record; /* [records] */
    const wmi_records *all;
} sorted;

static bool sorted_init(sorted *s, const wmi_pending *p, const wmi_records *all) {
    *s = (sorted){calloc(p->n + 2, sizeof *s->begin), malloc((all->n + 1) * sizeof *s->record), all};
    size_t *next = malloc((p->n + 1) * sizeof *next);
    const bool made = s->begin && s->record && next;
    for (size_t i = 0; made && i < all->n; i++) s->begin[place_of(p, &all->v[i]) + 1]++;
    for (size_t i = 0; made && i <= p->n; i++) s->begin[i + 1] += s->begin[i];
    if (made) memcpy(next, s->begin, (p->n + 1) * sizeof *next);
    for (size_t i = 0; made && i < all->n; i++) s->record[next[place_of(p, &all->v[i])]++] = i;
    free(next);
    return made;
}

static void sorted_fini(sorted *s) {
    free(s->begin);
    free(s->record);
}

static wm_status run_records(const sorted *s, size_t runs, size_t at, wmi_records *own) {
    own->n = 0;
    for (size_t i = s->begin[at]; i < s->begin[at + 1]; i++)
        if (!wmi_records_add(own, &s->all->v[s->record[i]])) return WM_ENOMEM;
    for (size_t i = s->begin[runs]; i < s->begin[runs + 1]; i++) {
        const wmi_record *r = &s->all->v[s->record[i]];
        if (r->run == 0 && !wmi_records_add(own, r)) return WM_ENOMEM;
    }
    return WM_OK;
}

static wm_status run_fold(wm_session *s, wmi_measure *m, const pending_run *r, const wmi_records *own) {
    wmi_folding d = {
        .s = s, .m = m, .place = &r->place, .root = r->root, .run = r->number, .child_parent = UINT32_MAX};
    wmi_works *works = wmi_works_create();
    wm_status status = works ? run_restore(s, r) : WM_ENOMEM;
    if (status == WM_OK) status = wmi_works_add(&d, works, own);
    if (status == WM_OK) status = wmi_works_fold(&d, works);
    wmi_works_destroy(works);
    run_leave(s);
    return status;
}

static wm_status drain_all(wmi_measure *m, wmi_drained *out, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t b = 0; b < m->source_count && status == WM_OK; b++) {
        const wmi_source *source = &m->sources[b];
        if (!source->self || !source->ops->device || !source->ops->drain) continue;
        do {
            out->more = false;
            status = source->ops->drain(source->self, out, err);
        } while (status == WM_OK && out->more);
    }
    return status;
}

wm_status wmi_pending_fold(wm_session *s, wmi_measure *m, wm_error *err) {
    if (m->pending.n == 0 || WM_IS_ACTIVE()) return WM_OK;
    wmi_drained drained = {0};
    wmi_records own = {0};
    sorted by_run = {0};
    wm_status status = drain_all(m, &drained, err);
    if (status == WM_OK && !sorted_init(&by_run, &m->pending, &drained.records)) status = WM_ENOMEM;
    for (size_t i = 0; i < m->pending.n && status == WM_OK; i++) {
        status = run_records(&by_run, m->pending.n, i, &own);
        if (status == WM_OK) status = run_fold(s, m, &m->pending.v[i], &own);
    }
    sorted_fini(&by_run);
    wmi_records_free(&own);
    wmi_drained_free(&drained);
    wmi_pending_drop(&m->pending);
    s->waiting = NULL;
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
