/* The table of records. */
#include <stdlib.h>

#include "base/intern.h"
#include "table/params.h"
#include "table/reduce.h"

/* A record and its place among the others. */
typedef struct place {
    uint32_t config;
    int32_t run;
    uint64_t launch; /* number of the launch */
    size_t at;
} place;

typedef struct builder {
    const wmi_samples *samples;
    wmi_params params;
    wm_table *table;
    place *places;
    size_t count;
    uint64_t *ordinals; /* [nodes + 1] launches so far in the run at hand; the last: of no region */
    bool *divided;      /* [benchmarks + 1] whether one has regions of its own */
    int64_t origin_ns;
} builder;

static int place_order(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->config != y->config) return x->config < y->config ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool arrange(builder *b) {
    b->count = wmi_samples_kept(b->samples);
    b->places = malloc((b->count + 1) * sizeof *b->places);
    const size_t nodes = wmi_samples_nodes(b->samples);
    b->ordinals = calloc(nodes + 1, sizeof *b->ordinals);
    b->divided = calloc(wmi_samples_benches(b->samples) + 1, sizeof *b->divided);
    if (!b->places || !b->ordinals || !b->divided) return false;
    for (uint32_t i = 0; i < nodes; i++) {
        const wmi_node *node = wmi_samples_node_at(b->samples, i);
        b->divided[node->bench] |= node->parent != UINT32_MAX;
    }
    b->origin_ns = INT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const wmi_kept *k = wmi_samples_kept_at(b->samples, i);
        b->places[i] = (place){k->config, k->run, k->record.correlation, i};
        if (k->record.launch_ns < b->origin_ns) b->origin_ns = k->record.launch_ns;
    }
    qsort(b->places, b->count, sizeof *b->places, place_order);
    return true;
}

static wm_value text(uint32_t id) {
    return id ? wmi_str(wmi_intern_name(id)) : wmi_null(WM_REASON_NOT_APPLICABLE);
}

/* Of a launch without a record only the launch is known. */
static wm_value recorded(const wmi_record *r, int64_t x) {
    return r->reason == WM_REASON_NO_RECORD ? wmi_null(WM_REASON_NO_RECORD) : wmi_i64(x);
}

/* Of kernels alone. */
static wm_value of_kernel(const wmi_record *r, uint32_t x) {
    return r->kind == WMI_RECORD_KERNEL ? recorded(r, x) : wmi_null(WM_REASON_NOT_APPLICABLE);
}

static wm_value name(const wmi_record *r, uint32_t id) {
    const bool lost = r->kind == WMI_RECORD_KERNEL && r->reason == WM_REASON_NO_RECORD;
    return lost && !id ? wmi_null(WM_REASON_NO_RECORD) : text(id);
}

/* Subtracted before it is a double, which cannot tell times of day a few ns apart. Unsigned,
 * because broken records hold any times. */
static double elapsed(int64_t from, int64_t to) { return (double)(int64_t)((uint64_t)to - (uint64_t)from); }

/* A launch that could have been one of several regions' has its times. */
static bool is_ambiguous(const wmi_record *r) {
    return r->entry == WMI_AMBIGUOUS_ENTRY || r->reason == WM_REASON_AMBIGUOUS;
}

static wm_value between(const wmi_record *r, int64_t from, int64_t to) {
    const bool known = r->reason == WM_REASON_NONE || r->reason == WM_REASON_AMBIGUOUS;
    return known ? wmi_f64(elapsed(from, to)) : wmi_null((wm_reason)r->reason);
}

/* Of what was launched beside a benchmark's regions: null. The benchmark has a name too, which may be
 * that of one of them. */
static wm_value region_of(const builder *b, const wmi_kept *k) {
    if (is_ambiguous(&k->record)) return wmi_null(WM_REASON_AMBIGUOUS);
    if (k->node == UINT32_MAX) return wmi_null(WM_REASON_NOT_APPLICABLE);
    const wmi_node *node = wmi_samples_node_at(b->samples, k->node);
    if (node->parent == UINT32_MAX && b->divided[node->bench]) return wmi_null(WM_REASON_NOT_APPLICABLE);
    return wmi_str(node->path);
}

static wm_value reason_of(const wmi_record *r) {
    wm_reason why = (wm_reason)r->reason;
    if (why == WM_REASON_NONE && is_ambiguous(r)) why = WM_REASON_AMBIGUOUS;
    return why ? wmi_str(wm_reason_slug(why)) : wmi_null(WM_REASON_NOT_APPLICABLE);
}

static wm_status add_row(const builder *b, const wmi_kept *k, uint64_t ordinal) {
    static const char *const kinds[] = {"kernel", "copy", "set"};
    const wmi_record *r = &k->record;
    const wmi_config *config = wmi_samples_config_at(b->samples, k->config);
    const wm_value not_applicable = wmi_null(WM_REASON_NOT_APPLICABLE);
    const wm_value cells[WMI_KCOL_COUNT] = {
        [WMI_KCOL_BENCHMARK] = wmi_str(wmi_samples_bench_name(b->samples, config->bench)),
        [WMI_KCOL_REGION] = region_of(b, k),
        [WMI_KCOL_RUN] = wmi_i64(k->run),
        [WMI_KCOL_ORDINAL] = wmi_i64((int64_t)ordinal),
        [WMI_KCOL_KIND] = wmi_str(kinds[r->kind]),
        [WMI_KCOL_KERNEL] = name(r, r->plain),
        [WMI_KCOL_KERNEL_FULL] = name(r, r->full),
        [WMI_KCOL_KERNEL_BINARY] = name(r, r->name),
        [WMI_KCOL_DEVICE] = text(r->device),
        [WMI_KCOL_STREAM] = recorded(r, r->stream),
        [WMI_KCOL_THREAD] = wmi_i64(r->thread),
        [WMI_KCOL_LAUNCH_NS] = wmi_f64(elapsed(b->origin_ns, r->launch_ns)),
        [WMI_KCOL_BEGIN_NS] = between(r, b->origin_ns, r->begin_ns),
        [WMI_KCOL_DURATION_NS] = between(r, r->begin_ns, r->end_ns),
        [WMI_KCOL_LAUNCH_LATENCY_NS] = between(r, r->launch_ns, r->begin_ns),
        [WMI_KCOL_GRID_X] = of_kernel(r, r->grid[0]),
        [WMI_KCOL_GRID_Y] = of_kernel(r, r->grid[1]),
        [WMI_KCOL_GRID_Z] = of_kernel(r, r->grid[2]),
        [WMI_KCOL_BLOCK_X] = of_kernel(r, r->block[0]),
        [WMI_KCOL_BLOCK_Y] = of_kernel(r, r->block[1]),
        [WMI_KCOL_BLOCK_Z] = of_kernel(r, r->block[2]),
        [WMI_KCOL_REGISTERS] = of_kernel(r, r->registers),
        [WMI_KCOL_STATIC_SHARED_BYTES] = of_kernel(r, r->static_shared),
        [WMI_KCOL_DYNAMIC_SHARED_BYTES] = of_kernel(r, r->dynamic_shared),
        [WMI_KCOL_BYTES] = r->kind == WMI_RECORD_KERNEL ? not_applicable : recorded(r, (int64_t)r->bytes),
        [WMI_KCOL_FIRST] = wmi_bool(r->flags & WMI_RECORD_FIRST),
        [WMI_KCOL_GRAPH] = wmi_bool(r->flags & WMI_RECORD_GRAPH),
        [WMI_KCOL_IGNORED] = wmi_bool(r->flags & WMI_RECORD_IGNORED),
        [WMI_KCOL_REASON] = reason_of(r),
        [WMI_KCOL_CONFIG_KEY] = wmi_str(config->key),
    };
    size_t row;
    wm_status status = wmi_table_add_row(b->table, &row);
    for (size_t c = 0; c < WMI_KCOL_COUNT && status == WM_OK; c++)
        status = wmi_table_set(b->table, row, c, cells[c]);
    return status == WM_OK ? wmi_params_set(&b->params, b->table, row, WMI_KCOL_COUNT, config) : status;
}

static wm_status add_rows(const builder *b) {
    const size_t nodes = wmi_samples_nodes(b->samples);
    for (size_t i = 0; i < b->count; i++) {
        const place *p = &b->places[i];
        const bool same_run = i > 0 && p[-1].config == p->config && p[-1].run == p->run;
        for (size_t n = 0; n <= nodes && !same_run; n++) b->ordinals[n] = 0;
        const wmi_kept *k = wmi_samples_kept_at(b->samples, p->at);
        const size_t slot = k->node < nodes && !is_ambiguous(&k->record) ? k->node : nodes;
        const wm_status status = add_row(b, k, b->ordinals[slot]++);
        if (status != WM_OK) return status;
    }
    return WM_OK;
}

wm_status wmi_kernels_to_table(const wmi_samples *samples, wm_table **out, wm_error *err) {
    builder b = {.samples = samples};
    if (wmi_params_collect(samples, &b.params) != WM_OK) return wmi_error_nomem(err);
    b.table = wmi_schema_table(wmi_schema_of("kernels"), b.params.count, b.params.names, b.params.types);
    const wm_status status = b.table && arrange(&b) ? add_rows(&b) : WM_ENOMEM;
    free(b.places);
    free(b.ordinals);
    free(b.divided);
    wmi_params_fini(&b.params);
    if (status != WM_OK) {
        wm_table_destroy(b.table);
        return wmi_error_nomem(err);
    }
    *out = b.table;
    return WM_OK;
}
