#include "table/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/collected_columns.h"
#include "table/device.h"
#include "table/params.h"
#include "table/state_cells.h"

/* A series and where its rows go. */
typedef struct item {
    uint32_t bench, config, node, metric, series;
} item;

/* What is the same for all rows of a benchmark, and the regions of the configuration
 * at hand. */
typedef struct work {
    const wmi_samples *samples;
    const wmi_reduce_opts *opts;
    wm_table *table;
    wmi_params params;
    wmi_collected_columns collected;
    wmi_derived *derived;
    wmi_scratch scratch;
    wmi_region *regions;
    size_t region_count, region_cap;
    wmi_state_cells state;
} work;

/* ---- one row of the table ---- */

typedef struct writer {
    wm_table *table;
    size_t row;
    wm_status status;
} writer;

static void put(writer *w, size_t column, wm_value v) {
    if (w->status == WM_OK) w->status = wmi_table_set(w->table, w->row, column, v);
}

/* An empty text is one that does not apply. */
static void put_text(writer *w, size_t column, const char *s) {
    put(w, column, s && *s ? wmi_str(s) : wmi_null(WM_REASON_NOT_APPLICABLE));
}

static void put_number(writer *w, size_t column, double x, wm_reason why_nan) {
    put(w, column, isnan(x) ? wmi_null(why_nan) : wmi_f64(x));
}

static writer begin_row(const work *k, const wmi_config *config) {
    writer w = {k->table, 0, WM_OK};
    w.status = wmi_table_add_row(k->table, &w.row);
    put(&w, WMI_COL_BENCHMARK, wmi_str(wmi_samples_bench_name(k->samples, config->bench)));
    put(&w, WMI_COL_CONFIG_KEY, wmi_str(config->key));
    put_text(&w, WMI_COL_HOST, k->opts->host);
    put_text(&w, WMI_COL_STOP_REASON, config->stop_reason);
    if (w.status == WM_OK) w.status = wmi_params_set(&k->params, k->table, w.row, WMI_COL_COUNT, config);
    if (w.status == WM_OK) w.status = wmi_collected_cells_put(&k->collected, k->table, w.row);
    return w;
}

static const size_t value_columns[] = {
    WMI_COL_MEAN, WMI_COL_STDDEV,   WMI_COL_MIN,       WMI_COL_MAX,        WMI_COL_MEDIAN, WMI_COL_P05,
    WMI_COL_P95,  WMI_COL_CI95_LOW, WMI_COL_CI95_HIGH, WMI_COL_REL_STDDEV, WMI_COL_STABLE, WMI_COL_OUTLIERS};

static void put_nulls(writer *w, wm_reason why) {
    for (size_t i = 0; i < sizeof value_columns / sizeof *value_columns; i++)
        put(w, value_columns[i], wmi_null(why));
}

static void put_summary(writer *w, const wmi_summary *s, double stable_threshold) {
    const wm_reason few = s->n < 2 ? WM_REASON_FEW_SAMPLES : WM_REASON_NOT_FINITE;
    const wm_reason no_share = s->n < 2 ? few : s->mean == 0.0 ? WM_REASON_ZERO_MEAN : WM_REASON_NOT_FINITE;
    put_number(w, WMI_COL_MEAN, s->mean, WM_REASON_NOT_FINITE);
    put_number(w, WMI_COL_STDDEV, s->stddev, few);
    put_number(w, WMI_COL_MIN, s->min, WM_REASON_NOT_FINITE);
    put_number(w, WMI_COL_MAX, s->max, WM_REASON_NOT_FINITE);
    put_number(w, WMI_COL_MEDIAN, s->median, WM_REASON_NOT_FINITE);
    put_number(w, WMI_COL_P05, s->p05, WM_REASON_NOT_FINITE);
    put_number(w, WMI_COL_P95, s->p95, WM_REASON_NOT_FINITE);
    put(w, WMI_COL_SAMPLES, wmi_i64((int64_t)s->n));
    put_number(w, WMI_COL_CI95_LOW, s->ci95_low, few);
    put_number(w, WMI_COL_CI95_HIGH, s->ci95_high, few);
    put_number(w, WMI_COL_REL_STDDEV, s->rel_stddev, no_share);
    put(w, WMI_COL_STABLE,
        isnan(s->rel_stddev) ? wmi_null(no_share) : wmi_bool(s->rel_stddev < stable_threshold));
    put(w, WMI_COL_OUTLIERS, wmi_i64((int64_t)s->outliers));
}

static void put_values(writer *w, const wmi_row *row, double stable_threshold) {
    if (!row->has_value) {
        put_nulls(w, row->why);
        put(w, WMI_COL_SAMPLES, wmi_i64(0));
    } else if (row->series) {
        put_summary(w, &row->summary, stable_threshold);
    } else { /* computed from means: what tells of a spread stays as a new row has it, not applicable */
        put(w, WMI_COL_MEAN, wmi_f64(row->summary.mean));
        if (row->summary.n) put(w, WMI_COL_SAMPLES, wmi_i64((int64_t)row->summary.n));
    }
}

/* ---- status ---- */

static void add_loss(wmi_buf *b, uint64_t n, const char *one, const char *many) {
    if (n == 0) return;
    if (b->len) wmi_buf_str(b, "; ");
    wmi_buf_printf(b, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void put_status(writer *w, const wmi_config *config, const wmi_row *row) {
    if (config->state != WMI_CONFIG_OK) {
        bool failed = config->state == WMI_CONFIG_FAILED;
        put(w, WMI_COL_STATUS, wmi_str(failed ? "failed" : "skipped"));
        put(w, WMI_COL_REASON, wmi_str(config->reason ? config->reason : wm_reason_text(WM_REASON_NOT_RUN)));
        return;
    }
    if (row && (row->dropped || row->unmatched)) {
        wmi_buf b = WMI_BUF_INIT;
        add_loss(&b, row->dropped, "mark was dropped because a ring was full",
                 "marks were dropped because a ring was full");
        add_loss(&b, row->unmatched, "begin or end has no partner", "begins or ends have no partner");
        put(w, WMI_COL_STATUS, wmi_str("error"));
        if (b.failed)
            w->status = WM_ENOMEM;
        else
            put(w, WMI_COL_REASON, wmi_str(b.data));
        wmi_buf_free(&b);
        return;
    }
    if (!row || !row->has_value) {
        const char *text = row && row->text ? row->text : NULL;
        put(w, WMI_COL_STATUS, wmi_str("missing"));
        put(w, WMI_COL_REASON, wmi_str(text ? text : wm_reason_text(row ? row->why : WM_REASON_NO_SAMPLES)));
        return;
    }
    put(w, WMI_COL_STATUS, wmi_str("ok"));
}

/* How many items there are of the first one's node. */
static size_t count_node(const item *items, size_t count) {
    size_t n = 1;
    while (n < count && items[n].node == items[0].node) n++;
    return n;
}

/* ---- normalising ---- */

/* The baseline's node in a configuration with these items; UINT32_MAX: it has none. */
static wm_status find_baseline(const work *k, const item *items, size_t count, uint32_t *out) {
    *out = UINT32_MAX;
    if (!k->opts->baseline || count == 0) return WM_OK;
    uint32_t *nodes = malloc(count * sizeof *nodes);
    if (!nodes) return WM_ENOMEM;
    size_t n = 0;
    for (size_t at = 0; at < count; at += count_node(items + at, count - at)) nodes[n++] = items[at].node;
    *out = wmi_samples_find_among(k->samples, nodes, n, k->opts->baseline, NULL);
    free(nodes);
    return WM_OK;
}

static const wmi_region *region_of(const work *k, uint32_t node) {
    for (size_t i = 0; i < k->region_count; i++)
        if (k->regions[i].node == node) return &k->regions[i];
    return NULL;
}

static wmi_ratio row_ratio(const wmi_region *region, wmi_row *row, const wmi_region *base_region) {
    wmi_ratio none = {NAN, NAN, NAN, WM_REASON_NO_BASELINE, WM_REASON_NO_BASELINE};
    wmi_row *base = base_region ? wmi_region_counterpart(base_region, row) : NULL;
    if (!row->has_value)
        none.reason = none.ci_reason = row->why;
    else if (base && base->has_value && base->summary.mean != 0.0 && base == row)
        return (wmi_ratio){1.0, 1.0, 1.0, WM_REASON_NONE, WM_REASON_NONE};
    else if (base && base->has_value)
        return wmi_region_ratio(region, row, base_region, base);
    return none;
}

static void put_ratio(writer *w, const work *k, const wmi_region *region, wmi_row *row,
                      const wmi_region *base_region) {
    if (!k->opts->baseline) return;
    const wmi_ratio r = row_ratio(region, row, base_region);
    const char *path = base_region ? wmi_samples_node_at(k->samples, base_region->node)->path : NULL;
    put(w, WMI_COL_BASELINE, wmi_str(path ? path : k->opts->baseline));
    put_number(w, WMI_COL_RATIO, r.ratio, r.reason);
    put_number(w, WMI_COL_RATIO_CI95_LOW, r.low, r.ci_reason);
    put_number(w, WMI_COL_RATIO_CI95_HIGH, r.high, r.ci_reason);
}

/* ---- rows of a configuration ---- */

static void put_measured(writer *w, const wmi_series *s, const wmi_metric *m) {
    put(w, WMI_COL_METRIC, wmi_str(m->name));
    put(w, WMI_COL_UNIT, wmi_str(m->unit));
    put_text(w, WMI_COL_BETTER, wmi_better_text(m->better));
    put_text(w, WMI_COL_BACKEND, m->backend);
    put_text(w, WMI_COL_TIMER, s->manual ? "manual" : m->timer);
    if (s->batch_max) put(w, WMI_COL_BATCH, wmi_i64((int64_t)s->batch_max));
}

static void put_derived(writer *w, const wmi_row *row) {
    put(w, WMI_COL_METRIC, wmi_str(row->derived->name));
    put(w, WMI_COL_UNIT, wmi_str(row->derived->unit));
    put_text(w, WMI_COL_BETTER, wmi_better_text(wmi_better_of_unit(row->derived->unit)));
    put(w, WMI_COL_EVALUATED, wmi_str(row->series ? "samples" : "summary"));
}

static void put_device(writer *w, const wmi_device_cells *c) {
    put(w, WMI_COL_KERNEL, c->kernel);
    put(w, WMI_COL_KERNELS, c->kernels);
    put(w, WMI_COL_SHARED, c->shared);
    put(w, WMI_COL_DEVICE, c->device);
    put(w, WMI_COL_SM_CLOCK_HZ, c->sm_clock_hz);
    put(w, WMI_COL_SM_CLOCK_PASS, c->sm_clock_pass);
    put(w, WMI_COL_PASS_TIME_RATIO, c->pass_time_ratio);
    put(w, WMI_COL_BOUND, c->bound);
}

static void add_note(wmi_buf *b, const char *text) {
    if (b->len) wmi_buf_str(b, "; ");
    wmi_buf_str(b, text);
}

/* Why a good row deserves a second look, and the state of the machine in its runs. */
static void put_state(writer *w, work *k, const wmi_row *row, const wmi_device_cells *c) {
    const wmi_state_summary *state = wmi_state_cells_of(&k->state, k->samples, row->series);
    wmi_buf note = WMI_BUF_INIT;
    if (row->has_value && c->note.type == WM_STR) add_note(&note, c->note.as.str);
    if (row->has_value && k->opts->clock_note) {
        add_note(&note, "clocks were not held: ");
        wmi_buf_str(&note, k->opts->clock_note);
    }
    if (state) {
        char why[WMI_THROTTLE_TEXT_MAX];
        const wmi_sensed *s = &state->mean;
        const uint32_t bits =
            (s->reason[WMI_SENSOR_GPU_THROTTLE] ? 0 : (uint32_t)s->value[WMI_SENSOR_GPU_THROTTLE]) |
            (s->reason[WMI_SENSOR_CPU_THROTTLE] ? 0 : (uint32_t)s->value[WMI_SENSOR_CPU_THROTTLE]);
        if (state->throttled && k->opts->tag_throttled && row->has_value) {
            add_note(&note, "");
            wmi_buf_printf(&note, "%llu of %llu samples were taken while a clock was held down (%s)",
                           (unsigned long long)state->throttled, (unsigned long long)state->runs,
                           wmi_throttle_text(bits, why));
        }
        if (w->status == WM_OK) w->status = wmi_state_cells_put(w->table, w->row, 1, WMI_COL_GPU_CLOCK, s);
        put(w, WMI_COL_THROTTLED, wmi_i64((int64_t)state->throttled));
    }
    if (k->opts->clock_requested.type != WM_NULL || k->opts->clock_requested.reason)
        put(w, WMI_COL_CLOCK_REQUESTED, k->opts->clock_requested);
    if (note.failed) w->status = WM_ENOMEM;
    if (note.len && !note.failed) put(w, WMI_COL_NOTE, wmi_str(note.data));
    wmi_buf_free(&note);
}

static wm_status write_row(work *k, const wmi_config *config, const wmi_region *region, wmi_row *row,
                           const wmi_device_cells *device, const wmi_region *base_region) {
    writer w = begin_row(k, config);
    put(&w, WMI_COL_REGION, wmi_str(wmi_samples_node_at(k->samples, region->node)->path));
    if (row->derived)
        put_derived(&w, row);
    else
        put_measured(&w, row->series, wmi_samples_metric_at(k->samples, row->series->metric));
    put_values(&w, row, k->opts->stable_threshold);
    put_ratio(&w, k, region, row, base_region);
    put(&w, WMI_COL_ENTRIES, wmi_i64((int64_t)region->entries));
    put(&w, WMI_COL_THREADS, wmi_i64(region->threads));
    put_device(&w, device);
    put_state(&w, k, row, device);
    put_status(&w, config, row);
    return w.status;
}

/* Of the region's series the longest: it has all runs in which the region was entered. */
static const wmi_series *runs_of(const wmi_region *region) {
    const wmi_series *longest = NULL;
    for (size_t i = 0; i < region->count; i++) {
        const wmi_series *s = region->rows[i].series;
        if (s && (!longest || s->n > longest->n)) longest = s;
    }
    return longest;
}

static wm_status write_region(work *k, const wmi_config *config, const wmi_region *region,
                              const wmi_region *base_region) {
    wmi_device_cells device;
    wm_status status =
        wmi_device_cells_make(k->samples, region, k->opts->labels, k->opts->label_count, &device);
    if (status != WM_OK) return status;
    wmi_collected_cells_make(&k->collected, region->config, region->node, runs_of(region));
    for (size_t i = 0; i < region->count && status == WM_OK; i++)
        status = write_row(k, config, region, &region->rows[i], &device, base_region);
    wmi_device_cells_fini(&device);
    return status;
}

/* The one row of a configuration that has no series. */
static wm_status write_empty(work *k, uint32_t at) {
    const wmi_config *config = wmi_samples_config_at(k->samples, at);
    wmi_collected_cells_make(&k->collected, at, UINT32_MAX, NULL);
    writer w = begin_row(k, config);
    const wm_reason why = config->state == WMI_CONFIG_OK ? WM_REASON_NO_SAMPLES : WM_REASON_NOT_RUN;
    put_nulls(&w, why);
    put(&w, WMI_COL_REGION, wmi_null(why));
    put(&w, WMI_COL_METRIC, wmi_null(why));
    put(&w, WMI_COL_SAMPLES, wmi_i64(0));
    put_status(&w, config, NULL);
    return w.status;
}

/* A function that marked regions is no region itself, unless it is the baseline or its
 * series say what theirs do not: values that the program gave for it, or marks that were lost. */
static bool root_counts(const work *k, const item *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const wmi_series *s = wmi_samples_series_at(k->samples, items[i].series);
        const bool given = s->pass >= 0 && s->batch_max == 0;
        if (given || s->manual || s->dropped || s->unmatched) return true;
    }
    return false;
}

static wm_status make_region(work *k, const item *items, size_t count) {
    if (k->region_count == k->region_cap) {
        size_t cap = k->region_cap ? k->region_cap * 2 : 8;
        wmi_region *regions = realloc(k->regions, cap * sizeof *regions);
        if (!regions) return WM_ENOMEM;
        k->regions = regions;
        k->region_cap = cap;
    }
    const wmi_series **series = malloc(count * sizeof *series);
    if (!series) return WM_ENOMEM;
    for (size_t i = 0; i < count; i++) series[i] = wmi_samples_series_at(k->samples, items[i].series);
    wm_status status = wmi_region_make(k->samples, series, count, k->derived, k->opts->derive_count,
                                       &k->scratch, &k->regions[k->region_count]);
    if (status == WM_OK) k->region_count++;
    free(series);
    return status;
}

static void drop_regions(work *k) {
    for (size_t i = 0; i < k->region_count; i++) wmi_region_fini(&k->regions[i]);
    k->region_count = 0;
}

static wm_status write_config(work *k, uint32_t number, const item *items, size_t count) {
    const wmi_config *config = wmi_samples_config_at(k->samples, number);
    uint32_t baseline;
    wm_status status = count ? WM_OK : write_empty(k, number);
    if (status == WM_OK) status = find_baseline(k, items, count, &baseline);
    for (size_t at = 0; at < count && status == WM_OK;) {
        size_t n = count_node(items + at, count - at);
        bool root = wmi_samples_node_at(k->samples, items[at].node)->parent == UINT32_MAX;
        if (!root || n == count || items[at].node == baseline || root_counts(k, items + at, n))
            status = make_region(k, items + at, n);
        at += n;
    }
    const wmi_region *base = status == WM_OK ? region_of(k, baseline) : NULL;
    for (size_t i = 0; i < k->region_count && status == WM_OK; i++)
        status = write_region(k, config, &k->regions[i], base);
    drop_regions(k);
    return status;
}

/* ---- all of it ---- */

static int item_order(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->bench != y->bench) return x->bench < y->bench ? -1 : 1;
    if (x->config != y->config) return x->config < y->config ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    return x->series < y->series ? -1 : x->series > y->series;
}

/* NULL when out of memory. */
static item *sorted_items(const wmi_samples *samples, size_t *count) {
    *count = wmi_samples_series_count(samples);
    item *items = malloc((*count + 1) * sizeof *items);
    if (!items) return NULL;
    for (size_t i = 0; i < *count; i++) {
        const wmi_series *s = wmi_samples_series_at(samples, i);
        uint32_t bench = wmi_samples_config_at(samples, s->config)->bench;
        items[i] = (item){bench, s->config, s->node, s->metric, (uint32_t)i};
    }
    qsort(items, *count, sizeof *items, item_order);
    return items;
}

/* The configurations of one benchmark. *items is moved past those written. */
static wm_status write_bench(work *k, uint32_t bench, const item **items, const item *end) {
    k->derived = wmi_derived_open(k->opts->derive, k->opts->derive_count);
    wm_status status = k->derived ? WM_OK : WM_ENOMEM;
    for (size_t c = 0; c < wmi_samples_configs(k->samples) && status == WM_OK; c++) {
        if (wmi_samples_config_at(k->samples, (uint32_t)c)->bench != bench) continue;
        const item *first = *items;
        while (*items < end && (*items)->config == c) ++*items;
        status = write_config(k, (uint32_t)c, first, (size_t)(*items - first));
    }
    wmi_derived_close(k->derived, k->opts->derive_count);
    return status;
}

wm_status wmi_reduce(const wmi_samples *samples, const wmi_reduce_opts *opts, wm_table **out, wm_error *err) {
    work k = {.samples = samples};
    size_t count;
    item *items = sorted_items(samples, &count);
    const item *at = items;
    wm_status status = items ? wmi_params_collect(samples, &k.params) : WM_ENOMEM;
    if (status == WM_OK) status = wmi_collected_columns_make(samples, true, &k.collected);
    if (status == WM_OK) {
        k.table = wmi_results_create(k.params.count, k.params.names, k.params.types);
        status = k.table ? wmi_collected_columns_add(&k.collected, k.table) : WM_ENOMEM;
    }
    if (status == WM_OK) status = wmi_table_reserve(k.table, count);
    for (uint32_t b = 0; b < wmi_samples_benches(samples) && status == WM_OK; b++) {
        k.opts = &opts[b];
        status = write_bench(&k, b, &at, items + count);
    }
    free(items);
    free(k.scratch.x);
    free(k.regions);
    wmi_params_fini(&k.params);
    wmi_collected_columns_fini(&k.collected);
    if (status != WM_OK) {
        wm_table_destroy(k.table);
        return wmi_error_nomem(err);
    }
    *out = k.table;
    return WM_OK;
}
