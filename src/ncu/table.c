/* From the rows of a report, a kernel each, to samples and a table of results. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "ncu/ncu.h"
#include "samples/tally.h"
#include "table/reduce.h"

/* One configuration that the steps in a report name. */
typedef struct config {
    wmi_ncu_step step; /* that of its first kernel */
    uint32_t bench;    /* number among the benchmarks of the report, as they come */
    uint32_t id;       /* in the samples */
} config;

/* What is known of a range that is not in every row: its place among the regions. */
typedef struct place {
    uint64_t process, range;
    uint32_t node;
} place;

/* One kernel. */
typedef struct kernel {
    size_t row, config;
    int32_t run;
    uint32_t *nodes; /* [node_count] regions that it counts for; owned */
    size_t node_count;
} kernel;

/* One metric: its column, and what makes ours of a number in it. */
typedef struct metric {
    size_t column; /* SIZE_MAX: the report lacks it */
    wmi_ncu_unit unit;
    wmi_combine combine;
    uint32_t id;
} metric;

typedef struct work {
    const wmi_ncu_page *page;
    const char *domain; /* NULL: any */
    wmi_samples *samples;
    config *configs;
    size_t config_count;
    char **benches;
    bool *has_regions; /* by benchmark */
    size_t bench_count;
    place *places;
    size_t place_count, place_cap;
    kernel *kernels;
    size_t kernel_count;
    metric *metrics;
    size_t metric_count;
    size_t time;                  /* column of the kernels' times; SIZE_MAX */
    size_t process, name, device; /* columns */
    wmi_ncu_ranges ranges;        /* of the row at hand */
    wm_error *err;
} work;

/* ---- helpers ---- */

static uint32_t intern(wmi_ncu_text t) {
    char *copy = wmi_strndup(t.s, t.n);
    const uint32_t id = copy ? wmi_intern(copy) : 0;
    free(copy);
    return id;
}

static uint64_t number_of(wmi_ncu_text t) {
    uint64_t x = 0;
    for (size_t i = 0; i < t.n && t.s[i] >= '0' && t.s[i] <= '9'; i++) x = 10 * x + (uint64_t)(t.s[i] - '0');
    return x;
}

static bool ends_with(wmi_ncu_text t, const char *end) {
    const size_t n = strlen(end);
    return t.n >= n && memcmp(t.s + t.n - n, end, n) == 0;
}

/* ---- steps: benchmarks and configurations ---- */

static const char steps_end[] = ".steps";

/* The step that is open in the row at hand, and the domain of its regions. */
static wm_status step_of(work *k, size_t row, wmi_ncu_step *out, wmi_ncu_text *domain) {
    wm_status status = WM_EPARSE;
    if (k->page->ranges == SIZE_MAX) return WM_EPARSE;
    const wmi_ncu_text cells = wmi_ncu_cell(k->page, row, k->page->ranges);
    const wm_status read = wmi_ncu_ranges_read(cells, &k->ranges);
    if (read == WM_EPARSE && memmem(cells.s, cells.n, ".steps:@", 8))
        return wmi_error_set(k->err, WM_EINVAL, 0,
                             "the NVTX ranges of row %zu in ncu's report are not understood", row + 1);
    if (read != WM_OK) return read;
    for (size_t i = 0; i < k->ranges.n && status == WM_EPARSE; i++) {
        const wmi_ncu_range *r = &k->ranges.v[i];
        if (!ends_with(r->domain, steps_end)) continue;
        *domain = (wmi_ncu_text){r->domain.s, r->domain.n - (sizeof steps_end - 1)};
        if (!k->domain || wmi_ncu_text_is(*domain, k->domain)) status = wmi_ncu_step_read(r->name, out);
    }
    return status;
}

static wm_status bench_at(work *k, const char *name, uint32_t *out) {
    for (size_t i = 0; i < k->bench_count; i++) {
        *out = (uint32_t)i;
        if (strcmp(k->benches[i], name) == 0) return WM_OK;
    }
    char **benches = realloc(k->benches, (k->bench_count + 1) * sizeof *benches);
    if (!benches) return WM_ENOMEM;
    k->benches = benches;
    bool *has_regions = realloc(k->has_regions, (k->bench_count + 1) * sizeof *has_regions);
    if (!has_regions) return WM_ENOMEM;
    k->has_regions = has_regions;
    benches[k->bench_count] = wmi_strdup(name);
    if (!benches[k->bench_count]) return WM_ENOMEM;
    has_regions[k->bench_count] = false;
    *out = (uint32_t)k->bench_count++;
    return WM_OK;
}

static bool same_params(const wmi_ncu_step *a, const wmi_ncu_step *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        const wm_value *x = &a->params[i].values[0], *y = &b->params[i].values[0];
        if (strcmp(a->params[i].name, b->params[i].name) != 0 || x->type != y->type) return false;
        if (x->type == WM_STR    ? strcmp(x->as.str, y->as.str) != 0
            : x->type == WM_BOOL ? x->as.b != y->as.b
                                 : x->as.i64 != y->as.i64) /* of a double its bits */
            return false;
    }
    return true;
}

/* The configuration of a step, which is taken over when it is a new one. */
static wm_status config_at(work *k, wmi_ncu_step *step, size_t *out) {
    uint32_t bench = 0;
    wm_status status = step->bench ? bench_at(k, step->bench, &bench) : WM_ENOMEM;
    for (size_t i = k->config_count; status == WM_OK && i-- > 0;) { /* mostly the last one */
        const config *c = &k->configs[i];
        if (c->bench != bench || c->step.config != step->config || !same_params(&c->step, step)) continue;
        *out = i;
        wmi_ncu_step_fini(step);
        return WM_OK;
    }
    config *configs = status == WM_OK ? realloc(k->configs, (k->config_count + 1) * sizeof *configs) : NULL;
    if (!configs) {
        wmi_ncu_step_fini(step);
        return WM_ENOMEM;
    }
    k->configs = configs;
    *out = k->config_count++;
    configs[*out] = (config){.step = *step, .bench = bench};
    return WM_OK;
}

static wm_status config_put(work *k, config *c) {
    const char **names = calloc(c->step.count + 1, sizeof *names);
    wm_value *values = calloc(c->step.count + 1, sizeof *values);
    wm_status status = names && values ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; status == WM_OK && i < c->step.count; i++) {
        names[i] = c->step.params[i].name;
        values[i] = c->step.params[i].values[0];
    }
    if (status == WM_OK)
        status = wmi_samples_config(k->samples, c->bench, c->step.count, names, values, &c->id);
    free(values);
    free(names);
    return status;
}

static int config_order(const void *a, const void *b) {
    const config *x = *(config *const *)a, *y = *(config *const *)b;
    if (x->bench != y->bench) return x->bench < y->bench ? -1 : 1;
    if (x->step.config != y->step.config) return x->step.config < y->step.config ? -1 : 1;
    return (x > y) - (x < y);
}

/* Into the samples, benchmark by benchmark, in the order of their numbers. */
static wm_status configs_put(work *k) {
    config **sorted = malloc((k->config_count + 1) * sizeof(config *));
    wm_status status = sorted ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; status == WM_OK && i < k->bench_count; i++) {
        uint32_t bench; /* the number is i */
        status = wmi_samples_bench(k->samples, k->benches[i], &bench);
    }
    for (size_t i = 0; status == WM_OK && i < k->config_count; i++) sorted[i] = &k->configs[i];
    if (status == WM_OK) qsort(sorted, k->config_count, sizeof(config *), config_order);
    for (size_t i = 0; status == WM_OK && i < k->config_count; i++) status = config_put(k, sorted[i]);
    free(sorted);
    return status;
}

/* ---- regions ---- */

static wm_status place_find(work *k, uint64_t process, uint64_t range, uint32_t parent, uint32_t bench,
                            wmi_ncu_text name, uint32_t *out) {
    for (size_t i = k->place_count; i-- > 0;) {
        if (k->places[i].range != range || k->places[i].process != process) continue;
        *out = k->places[i].node;
        return WM_OK;
    }
    if (k->place_count == k->place_cap) {
        const size_t cap = k->place_cap ? 2 * k->place_cap : 64;
        place *places = realloc(k->places, cap * sizeof *places);
        if (!places) return WM_ENOMEM;
        k->places = places;
        k->place_cap = cap;
    }
    const bool whole = wmi_samples_node_at(k->samples, parent)->parent == UINT32_MAX &&
                       wmi_ncu_text_is(name, k->benches[bench]);
    *out = parent;
    if (!whole) { /* a function without regions shows itself as one of its name */
        const uint32_t id = intern(name);
        if (!id || wmi_samples_node(k->samples, bench, parent, id, out) != WM_OK) return WM_ENOMEM;
        k->has_regions[bench] = true;
    }
    k->places[k->place_count++] = (place){process, range, *out};
    return WM_OK;
}

/* The regions that were open at a kernel. One that goes on after the region around it has ended keeps the
 * path that it began with, where a kernel was seen then. */
static wm_status regions_put(work *k, kernel *at, wmi_ncu_text domain) {
    const uint32_t bench = k->configs[at->config].bench;
    const uint64_t process = number_of(wmi_ncu_cell(k->page, at->row, k->process));
    uint32_t parent = 0;
    wm_status status = wmi_samples_node(k->samples, bench, UINT32_MAX, 0, &parent);
    at->nodes = calloc(k->ranges.n + 1, sizeof *at->nodes);
    if (!at->nodes) return WM_ENOMEM;
    for (size_t i = 0; status == WM_OK && i < k->ranges.n; i++) {
        const wmi_ncu_range *r = &k->ranges.v[i];
        uint32_t node = 0;
        if (r->domain.n != domain.n || memcmp(r->domain.s, domain.s, domain.n) != 0) continue;
        status = place_find(k, process, r->id, parent, bench, r->name, &node);
        if (status != WM_OK) break;
        bool again = false;
        for (size_t n = 0; n < at->node_count; n++) again |= at->nodes[n] == node;
        if (!again) at->nodes[at->node_count++] = node;
        parent = node;
    }
    return status;
}

/* ---- reports of others ---- */

/* A program without our ranges is one benchmark, and each kernel a region of it; its launches are runs. */
static wm_status foreign_put(work *k, size_t row, size_t process_name) {
    const wmi_ncu_text program =
        process_name == SIZE_MAX ? (wmi_ncu_text){"program", 7} : wmi_ncu_cell(k->page, row, process_name);
    wmi_ncu_step step = {.bench = wmi_strndup(program.s, program.n)};
    kernel *at = &k->kernels[k->kernel_count];
    *at = (kernel){.row = row};
    wm_status status = step.bench ? config_at(k, &step, &at->config) : WM_ENOMEM;
    if (status == WM_OK) k->kernel_count++;
    return status;
}

static wm_status foreign_regions(work *k, kernel *at) {
    const uint32_t bench = k->configs[at->config].bench,
                   name = intern(wmi_ncu_cell(k->page, at->row, k->name));
    uint32_t root;
    at->nodes = malloc(sizeof *at->nodes);
    if (!at->nodes || wmi_samples_node(k->samples, bench, UINT32_MAX, 0, &root) != WM_OK) return WM_ENOMEM;
    k->has_regions[bench] = true;
    at->node_count = 1;
    if (!name) { /* it has none */
        at->nodes[0] = root;
        return WM_OK;
    }
    const wm_status status = wmi_samples_node(k->samples, bench, root, name, at->nodes);
    for (const kernel *before = at; status == WM_OK && before-- > k->kernels;) {
        if (before->config != at->config || before->nodes[0] != at->nodes[0]) continue;
        at->run = before->run + 1;
        break;
    }
    return status;
}

/* ---- all kernels ---- */

static wm_status kernel_put(work *k, size_t row) {
    wmi_ncu_step step = {0};
    wmi_ncu_text domain = {"", 0};
    wm_status status = step_of(k, row, &step, &domain);
    if (status == WM_EPARSE) return WM_OK; /* not in a step */
    if (status != WM_OK) return status;
    kernel *at = &k->kernels[k->kernel_count];
    *at = (kernel){.row = row, .run = step.run};
    status = config_at(k, &step, &at->config);
    if (status == WM_OK) k->kernel_count++;
    return status;
}

static wm_status kernels_put(work *k) {
    wm_status status = WM_OK;
    const size_t rows = k->page->rows, program = wmi_ncu_page_find(k->page, "Process Name");
    k->kernels = calloc(rows + 1, sizeof *k->kernels);
    if (!k->kernels) return WM_ENOMEM;
    for (size_t row = 0; status == WM_OK && row < rows; row++) status = kernel_put(k, row);
    const bool ours = k->kernel_count > 0;
    for (size_t row = 0; status == WM_OK && !ours && row < rows; row++) status = foreign_put(k, row, program);
    if (status == WM_OK) status = configs_put(k);
    for (size_t i = 0; status == WM_OK && i < k->kernel_count; i++) {
        kernel *at = &k->kernels[i];
        wmi_ncu_step step = {0};
        wmi_ncu_text domain = {"", 0};
        if (!ours) {
            status = foreign_regions(k, at);
            continue;
        }
        status = step_of(k, at->row, &step, &domain); /* reads its ranges */
        wmi_ncu_step_fini(&step);
        if (status == WM_OK) status = regions_put(k, at, domain);
    }
    return status;
}

/* A kernel outside of regions is the whole function's where that has none. */
static void roots_set(work *k) {
    for (size_t i = 0; i < k->kernel_count; i++) {
        kernel *at = &k->kernels[i];
        const uint32_t bench = k->configs[at->config].bench;
        uint32_t root;
        if (k->has_regions[bench] || at->node_count) continue;
        if (wmi_samples_node(k->samples, bench, UINT32_MAX, 0, &root) == WM_OK) /* it is there */
            at->nodes[at->node_count++] = root;
    }
}

/* ---- metrics ---- */

static wm_status metric_put(work *k, const char *name, size_t column) {
    metric *m = &k->metrics[k->metric_count++];
    const char *bars = NULL;
    for (const char *p = name; (p = strstr(p, "__")) != NULL; p++) bars = p;
    const char *rollup = bars ? bars + strcspn(bars, ".") : "";
    const wmi_ncu_text unit = column == SIZE_MAX ? (wmi_ncu_text){"", 0} : k->page->units[column];
    *m = (metric){column, wmi_ncu_unit_of(unit.s, unit.n), wmi_combine_of_rollup(rollup), 0};
    if (strcmp(name, "gpu__time_duration.avg") == 0) m->combine = WMI_COMBINE_MEAN;
    const bool share = strcmp(m->unit.unit, "%") == 0 && strstr(name, "throughput");
    const wmi_metric about = {.name = name,
                              .unit = m->unit.unit,
                              .text = "read by Nsight Compute",
                              .backend = "ncu",
                              .timer = strcmp(m->unit.unit, "ns") == 0 ? "profiler" : "",
                              .better = share ? WMI_BETTER_HIGHER : wmi_better_of_unit(m->unit.unit),
                              .combine = m->combine};
    return wmi_samples_metric(k->samples, &about, &m->id);
}

/* Beside what was asked for ncu writes facts of the device and of the launch, whose names have no rollup;
 * and of a counter all four rollups. */
static bool is_metric(const wmi_ncu_page *page, wmi_ncu_text name) {
    static const char *const others[] = {".avg", ".max", ".min"};
    const char *bars = memmem(name.s, name.n, "__", 2);
    if (!bars || !memchr(bars, '.', name.n - (size_t)(bars - name.s))) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wmi_buf sum = WMI_BUF_INIT;
        if (!ends_with(name, others[i])) continue;
        wmi_buf_printf(&sum, "%.*s.sum", (int)(name.n - strlen(others[i])), name.s);
        const bool has_sum = !sum.failed && wmi_ncu_page_find(page, sum.data) != SIZE_MAX;
        wmi_buf_free(&sum);
        return !has_sum;
    }
    return true;
}

static wm_status metrics_put(work *k, const wmi_list *wanted) {
    wm_status status = WM_OK;
    k->metrics = calloc(wanted->n + k->page->columns + 1, sizeof *k->metrics);
    if (!k->metrics) return WM_ENOMEM;
    for (size_t i = 0; status == WM_OK && i < wanted->n; i++)
        status = metric_put(k, wanted->v[i], wmi_ncu_page_find(k->page, wanted->v[i]));
    for (size_t i = k->name + 1; status == WM_OK && wanted->n == 0 && i < k->page->columns; i++) {
        if (!is_metric(k->page, k->page->names[i])) continue;
        char *name = wmi_strndup(k->page->names[i].s, k->page->names[i].n);
        status = name ? metric_put(k, name, i) : WM_ENOMEM;
        free(name);
    }
    return status;
}

static double value_of(const work *k, const metric *m, size_t row, wm_reason *why) {
    double x = 0;
    *why = m->column == SIZE_MAX ? WM_REASON_NO_EVENT : WM_REASON_NONE;
    if (*why) return 0;
    const wmi_ncu_text cell = wmi_ncu_cell(k->page, row, m->column);
    if (!wmi_ncu_number(cell.s, cell.n, &x)) *why = WM_REASON_BACKEND;
    return x * m->unit.factor;
}

/* ---- values: what the kernels of a run make ---- */

static int kernel_order(const void *a, const void *b) {
    const kernel *x = a, *y = b;
    if (x->config != y->config) return x->config < y->config ? -1 : 1;
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool counts_for(const kernel *at, uint32_t node) {
    for (size_t i = 0; i < at->node_count; i++)
        if (at->nodes[i] == node) return true;
    return false;
}

static double weight_of(const work *k, size_t row) {
    double x = 0;
    if (k->time == SIZE_MAX) return 0;
    const wmi_ncu_text cell = wmi_ncu_cell(k->page, row, k->time), unit = k->page->units[k->time];
    return wmi_ncu_number(cell.s, cell.n, &x) && x > 0 ? x * wmi_ncu_unit_of(unit.s, unit.n).factor : 0;
}

static wm_status work_put(const work *k, const kernel *at, uint32_t where, uint32_t node) {
    wmi_work *done;
    uint32_t device = 0;
    const uint32_t name = intern(wmi_ncu_cell(k->page, at->row, k->name));
    if (k->device != SIZE_MAX) device = intern(wmi_ncu_cell(k->page, at->row, k->device));
    if (wmi_samples_work(k->samples, where, node, &done) != WM_OK) return WM_ENOMEM;
    done->kernels++;
    return wmi_work_add_kernel(done, name, device);
}

/* One region in one run: kernels [n] of that run, of which some are its own. */
static wm_status value_put(const work *k, const kernel *v, size_t n, uint32_t node) {
    const uint32_t where = k->configs[v->config].id;
    wm_status status = WM_OK;
    for (size_t at = 0; status == WM_OK && at < k->metric_count; at++) {
        const metric *m = &k->metrics[at];
        wmi_tally tally = {0};
        wm_reason why;
        for (size_t i = 0; i < n; i++) {
            if (!counts_for(&v[i], node)) continue;
            const double x = value_of(k, m, v[i].row, &why);
            wmi_tally_add(&tally, x, weight_of(k, v[i].row), why);
        }
        const double x = wmi_tally_value(&tally, m->combine, &why);
        wmi_series *series;
        status = wmi_samples_series(k->samples, where, node, m->id, 0, &series);
        if (status != WM_OK) break;
        series->batch_min = series->batch_max = 1;
        series->entries++;
        series->threads = 1;
        status = wmi_series_add(series, v->run, x, why);
    }
    for (size_t i = 0; status == WM_OK && i < n; i++)
        if (counts_for(&v[i], node)) status = work_put(k, &v[i], where, node);
    return status;
}

/* Regions in the order in which the run met them: a node that an earlier kernel has is done. */
static wm_status run_put(const work *k, const kernel *v, size_t n) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; status == WM_OK && r < v[i].node_count; r++) {
            bool done = false;
            for (size_t before = i; before-- > 0 && !done;) done = counts_for(&v[before], v[i].nodes[r]);
            if (!done) status = value_put(k, v, n, v[i].nodes[r]);
        }
    }
    return status;
}

static wm_status values_put(work *k) {
    wm_status status = WM_OK;
    qsort(k->kernels, k->kernel_count, sizeof *k->kernels, kernel_order);
    for (size_t at = 0; status == WM_OK && at < k->kernel_count;) {
        const kernel *first = &k->kernels[at];
        size_t n = 1;
        while (at + n < k->kernel_count && first[n].config == first->config && first[n].run == first->run)
            n++;
        status = run_put(k, first, n);
        at += n;
    }
    return status;
}

/* ---- the table ---- */

/* A report does not say what the marks would. */
static wm_status unknown_set(wm_table *t) {
    const wm_value unknown = wmi_null(WM_REASON_UNKNOWN);
    const size_t rows = wm_table_rows(t);
    wm_status status = WM_OK;
    if (rows) status = wmi_table_fill(t, 0, rows, WMI_COL_THREADS, unknown);
    if (rows && status == WM_OK) status = wmi_table_fill(t, 0, rows, WMI_COL_SHARED, unknown);
    if (rows && status == WM_OK) status = wmi_table_fill(t, 0, rows, WMI_COL_ENTRIES, unknown);
    return status;
}

static wm_status table_make(const work *k, wm_table **out) {
    wmi_reduce_opts *opts = calloc(k->bench_count + 1, sizeof *opts);
    wm_table *t = NULL;
    wm_status status = opts ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; status == WM_OK && i < k->bench_count; i++)
        opts[i] = (wmi_reduce_opts){.stable_threshold = 0.02,
                                    .clock_requested = wmi_null(WM_REASON_NOT_APPLICABLE)};
    if (status == WM_OK) status = wmi_reduce(k->samples, opts, &t, k->err);
    if (status == WM_OK) status = unknown_set(t);
    free(opts);
    if (status == WM_OK)
        *out = t;
    else
        wm_table_destroy(t);
    return status;
}

static void work_fini(work *k) {
    for (size_t i = 0; i < k->config_count; i++) wmi_ncu_step_fini(&k->configs[i].step);
    for (size_t i = 0; i < k->bench_count; i++) free(k->benches[i]);
    for (size_t i = 0; k->kernels && i < k->kernel_count; i++) free(k->kernels[i].nodes);
    free(k->configs);
    free(k->benches);
    free(k->has_regions);
    free(k->places);
    free(k->kernels);
    free(k->metrics);
    free(k->ranges.v);
    wmi_samples_destroy(k->samples);
}

wm_status wmi_ncu_table(const wmi_ncu_page *raw, const wmi_list *wanted, const char *domain, wm_table **out,
                        wm_error *err) {
    work k = {.page = raw, .domain = domain, .err = err};
    k.name = wmi_ncu_page_find(raw, "Kernel Name");
    k.process = wmi_ncu_page_find(raw, "Process ID");
    k.device = wmi_ncu_page_find(raw, "device__attribute_display_name");
    k.time = wmi_ncu_page_find(raw, WMI_NCU_TIME);
    if (k.name == SIZE_MAX || k.process == SIZE_MAX)
        return wmi_error_set(err, WM_EPARSE, 0, "ncu's report has no column of kernels' names");
    if (raw->rows == 0) return wmi_error_set(err, WM_EEMPTY, 0, "the report holds no kernel");
    k.samples = wmi_samples_create();
    wm_status status = k.samples ? kernels_put(&k) : WM_ENOMEM;
    if (status == WM_OK) {
        roots_set(&k);
        status = metrics_put(&k, wanted);
    }
    if (status == WM_OK && k.metric_count == 0)
        status = wmi_error_set(err, WM_EEMPTY, 0, "the report holds no metric");
    if (status == WM_OK) status = values_put(&k);
    if (status == WM_OK) status = table_make(&k, out);
    work_fini(&k);
    return status == WM_ENOMEM ? wmi_error_nomem(err) : status;
}
