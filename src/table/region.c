#include "table/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values, sample by sample ---- */

/* Were both series filled by the same executions? Chunks of equal number cover equal
 * positions. */
static bool same_runs(const wmi_series *a, const wmi_series *b) {
    if (a == b) return true;
    if (a->n != b->n || a->pass != b->pass) return false;
    for (size_t i = 0; i < a->chunks; i++) {
        size_t left = a->n - i * WMI_CHUNK, n = left < WMI_CHUNK ? left : WMI_CHUNK;
        if (memcmp(a->chunk[i].run, b->chunk[i].run, n * sizeof *a->chunk[i].run) != 0) return false;
    }
    return true;
}

/* Sample `at` of a row. A derived value is kept until another one is asked for, so that
 * formulas that read each other cost one evaluation each. */
static wm_reason row_sample(wmi_row *rows, wmi_row *row, size_t at, double *out) {
    if (!row->derived) {
        *out = wmi_series_value(row->series, at);
        return wmi_series_reason(row->series, at);
    }
    if (row->at != at) {
        row->at = at;
        row->reason = WM_REASON_NONE;
        for (size_t i = 0; i < row->derived->input_count && row->reason == WM_REASON_NONE; i++) {
            const wmi_input *input = &row->inputs[i];
            if (input->row == SIZE_MAX)
                row->in[i] = input->constant;
            else
                row->reason = row_sample(rows, &rows[input->row], at, &row->in[i]);
        }
        if (row->reason == WM_REASON_NONE && !wmi_derived_compute(row->derived, row->in, &row->value))
            row->reason = WM_REASON_NOT_FINITE;
    }
    *out = row->value;
    return row->reason;
}

/* ---- what a derived metric is made from ---- */

static bool param_number(const wmi_config *c, const char *name, double *out) {
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->names[i], name) != 0) continue;
        switch (c->values[i].type) {
        case WM_I64: *out = (double)c->values[i].as.i64; return true;
        case WM_F64: *out = c->values[i].as.f64; return true;
        case WM_BOOL: *out = c->values[i].as.b ? 1.0 : 0.0; return true;
        default: return false;
        }
    }
    return false;
}

static const char *row_name(const wmi_samples *samples, const wmi_row *row) {
    return row->derived ? row->derived->name : wmi_samples_metric_at(samples, row->series->metric)->name;
}

const wmi_row *wmi_region_find(const wmi_samples *samples, const wmi_region *r, const char *name) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(row_name(samples, &r->rows[i]), name) == 0) return &r->rows[i];
    return NULL;
}

/* A metric hides a parameter of its name. A row that is constant is taken as its
 * value. */
static bool find_input(const wmi_samples *samples, const wmi_config *config, const wmi_region *r,
                       const char *name, wmi_input *out) {
    *out = (wmi_input){SIZE_MAX, 0.0};
    const wmi_row *row = wmi_region_find(samples, r, name);
    if (!row) return param_number(config, name, &out->constant);
    if (row->constant && row->has_value)
        out->constant = row->summary.mean;
    else
        out->row = (size_t)(row - r->rows);
    return true;
}

/* The series that all inputs follow, or NULL. */
static const wmi_series *common_runs(const wmi_region *r, const wmi_row *row) {
    const wmi_series *lead = NULL;
    for (size_t i = 0; i < row->derived->input_count; i++) {
        if (row->inputs[i].row == SIZE_MAX) continue;
        const wmi_series *s = r->rows[row->inputs[i].row].series;
        if (!s || (lead && !same_runs(lead, s))) return NULL;
        lead = s;
    }
    return lead;
}

static void inherit_losses(const wmi_region *r, wmi_row *row) {
    for (size_t i = 0; i < row->derived->input_count; i++) {
        if (row->inputs[i].row == SIZE_MAX) continue;
        const wmi_row *from = &r->rows[row->inputs[i].row];
        if (from->dropped > row->dropped) row->dropped = from->dropped;
        if (from->unmatched > row->unmatched) row->unmatched = from->unmatched;
        if (!from->has_value && !row->text) row->text = from->text;
    }
}

/* ---- summaries ---- */

static void set_missing(wmi_row *row, wm_reason why) {
    row->has_value = false;
    row->why = why;
}

static void summarise_scratch(wmi_row *row, wmi_scratch *scratch, size_t n, wm_reason why_none) {
    row->has_value = n > 0 && wmi_summarise(scratch->x, n, &scratch->t95, &row->summary) == WM_OK;
    if (!row->has_value) row->why = n > 0 ? WM_REASON_NOT_FINITE : why_none;
}

/* Where nothing was done, or kernels follow each other at once, a time of 0 is the truth. */
static bool may_be_zero(wmi_of_records of) {
    return of == WMI_OF_KERNEL_GAP || of == WMI_OF_COPY_TIME || of == WMI_OF_SET_TIME;
}

/* Nothing but zeros from a clock says that the clock is too coarse, not that no time went by. */
static bool below_resolution(const wmi_row *row, const wmi_metric *m) {
    return row->has_value && m->timer[0] && !row->series->manual && !may_be_zero(m->of) &&
           row->summary.max == 0.0;
}

/* The values without the nulls, in one piece. */
static void summarise_series(wmi_row *row, wmi_scratch *scratch) {
    const wmi_series *s = row->series;
    double *x = scratch->x;
    size_t n = 0;
    for (size_t i = 0; i < s->chunks; i++) {
        const wmi_chunk *c = &s->chunk[i];
        size_t left = s->n - i * WMI_CHUNK, room = left < WMI_CHUNK ? left : WMI_CHUNK;
        if (room == 0) break; /* it was made for a value for which memory ran out */
        if (!c->reason) {
            memcpy(x + n, c->value, room * sizeof *x);
            n += room;
            continue;
        }
        for (size_t k = 0; k < room; k++)
            if (c->reason[k] == WM_REASON_NONE) x[n++] = c->value[k];
    }
    summarise_scratch(row, scratch, n, s->nulls ? s->last_reason : WM_REASON_NO_SAMPLES);
}

static void summarise_samples(wmi_region *r, wmi_row *row, wmi_scratch *scratch) {
    wm_reason last = WM_REASON_NO_SAMPLES;
    size_t n = 0;
    for (size_t i = 0; i < row->series->n; i++) {
        wm_reason why = row_sample(r->rows, row, i, &scratch->x[n]);
        if (why == WM_REASON_NONE)
            n++;
        else
            last = why;
    }
    summarise_scratch(row, scratch, n, last);
}

/* One value from the means of the inputs, or from constants alone. */
static void compute_from_means(const wmi_region *r, wmi_row *row) {
    size_t least = SIZE_MAX;
    row->constant = true;
    for (size_t i = 0; i < row->derived->input_count; i++) {
        const wmi_input *input = &row->inputs[i];
        row->in[i] = input->constant;
        if (input->row == SIZE_MAX) continue;
        const wmi_row *from = &r->rows[input->row];
        if (!from->has_value) {
            row->constant = false;
            set_missing(row, from->why);
            return;
        }
        row->constant = false;
        row->in[i] = from->summary.mean;
        if (from->summary.n < least) least = from->summary.n;
    }
    row->has_value = wmi_derived_compute(row->derived, row->in, &row->summary.mean);
    row->why = WM_REASON_NOT_FINITE;
    row->summary.n = row->constant ? 0 : least;
}

/* ---- making a region ---- */

static bool scratch_reserve(wmi_scratch *s, size_t n) {
    if (n <= s->cap) return true;
    free(s->x); /* nothing in it is wanted: no copy, and never two of them */
    s->x = malloc(n * sizeof *s->x);
    s->cap = s->x ? n : 0;
    return s->x != NULL;
}

static bool add_measured(const wmi_samples *samples, wmi_region *r, const wmi_series *s,
                         wmi_scratch *scratch) {
    wmi_row *row = &r->rows[r->count];
    if (!scratch_reserve(scratch, s->n)) return false;
    *row = (wmi_row){.series = s, .text = s->why, .dropped = s->dropped, .unmatched = s->unmatched};
    summarise_series(row, scratch);
    if (below_resolution(row, wmi_samples_metric_at(samples, s->metric)))
        set_missing(row, WM_REASON_RESOLUTION);
    if (s->entries > r->entries) r->entries = s->entries;
    if (s->threads > r->threads) r->threads = s->threads;
    r->count++;
    return true;
}

/* A region that lacks an input altogether has no row. */
static bool add_derived(const wmi_samples *samples, const wmi_config *config, wmi_region *r,
                        const wmi_derived *d, wmi_scratch *scratch) {
    wmi_row *row = &r->rows[r->count];
    *row = (wmi_row){.derived = d, .at = SIZE_MAX};
    row->inputs = malloc((d->input_count + 1) * sizeof *row->inputs);
    row->in = malloc((d->input_count + 1) * sizeof *row->in);
    bool found = row->inputs && row->in;
    const bool memory = found;
    for (size_t i = 0; i < d->input_count && found; i++)
        found = find_input(samples, config, r, d->inputs[i], &row->inputs[i]);
    if (found) {
        row->series = common_runs(r, row);
        inherit_losses(r, row);
        if (!row->series)
            compute_from_means(r, row);
        else if (scratch_reserve(scratch, row->series->n))
            summarise_samples(r, row, scratch);
        else
            found = false;
    }
    if (found) {
        r->count++;
        return true;
    }
    free(row->inputs);
    free(row->in);
    return memory;
}

wm_status wmi_region_make(const wmi_samples *samples, const wmi_series *const *series, size_t count,
                          const wmi_derived *derived, size_t derived_count, wmi_scratch *scratch,
                          wmi_region *out) {
    const wmi_config *config = wmi_samples_config_at(samples, series[0]->config);
    wmi_region r = {.config = series[0]->config, .node = series[0]->node};
    r.rows = malloc((count + derived_count) * sizeof *r.rows);
    bool ok = r.rows != NULL;
    for (size_t i = 0; i < count && ok; i++) ok = add_measured(samples, &r, series[i], scratch);
    for (size_t i = 0; i < derived_count && ok; i++)
        ok = add_derived(samples, config, &r, &derived[i], scratch);
    if (!ok) {
        wmi_region_fini(&r);
        return WM_ENOMEM;
    }
    *out = r;
    return WM_OK;
}

void wmi_region_fini(wmi_region *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->rows[i].inputs);
        free(r->rows[i].in);
    }
    free(r->rows);
    *r = (wmi_region){0};
}

/* ---- normalising ---- */

wmi_row *wmi_region_counterpart(const wmi_region *r, const wmi_row *row) {
    for (size_t i = 0; i < r->count; i++) {
        wmi_row *other = &r->rows[i];
        if (other->derived != row->derived) continue;
        if (row->derived || other->series->metric == row->series->metric) return other;
    }
    return NULL;
}

/* Are the values of both rows pairs, one of each run? */
static bool are_paired(const wmi_row *a, const wmi_row *b) {
    return a->summary.n >= 2 && a->summary.n == a->series->n && b->summary.n == b->series->n &&
           same_runs(a->series, b->series);
}

wmi_ratio wmi_region_ratio(const wmi_region *region, wmi_row *row, const wmi_region *base_region,
                           wmi_row *base) {
    bool spread = row->series && base->series;
    size_t n = row->summary.n, base_n = base->summary.n;
    if (!spread) n = base_n = 1; /* the means are all there is */
    const wmi_moments x = {row->summary.mean, row->summary.stddev, n};
    const wmi_moments y = {base->summary.mean, base->summary.stddev, base_n};
    if (!spread || !are_paired(row, base)) {
        wmi_ratio ratio = wmi_ratio_of_means(x, y, 0.0, false);
        if (!spread && ratio.ci_reason == WM_REASON_FEW_SAMPLES) ratio.ci_reason = WM_REASON_NOT_APPLICABLE;
        return ratio;
    }
    wmi_comoment m = {0};
    for (size_t i = 0; i < n; i++) {
        double a, b;
        row_sample(region->rows, row, i, &a);
        row_sample(base_region->rows, base, i, &b);
        wmi_comoment_add(&m, a, b);
    }
    return wmi_ratio_of_means(x, y, wmi_comoment_covariance(&m), true);
}
