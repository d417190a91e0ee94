/* How long 1,000,000 samples take to become tables: their rows of results, one row for each sample, and
 * those rows as Arrow data, beside a plain loop for the mean and the standard deviation of the same
 * values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "table/arrow.h"
#include "table/reduce.h"

enum { ROUNDS = 7 };

typedef struct shape {
    const char *name;
    uint32_t configs;
    int32_t runs;
} shape;

static const shape shapes[] = {
    {"10 x 100,000", 10, 100000},
    {"1,000 x 1,000", 1000, 1000},
    {"100,000 x 10", 100000, 10},
};

static void die(const char *what) {
    fprintf(stderr, "bench_table: %s\n", what);
    exit(1);
}

static void check(wm_status status) {
    if (status != WM_OK) die(wm_status_text(status));
}

/* Time of this process alone: it has one thread and waits for nothing. */
static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times as they come: near 1 us, a tail to the right. */
static double next_value(uint64_t *state) {
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return 1000.0 + 5.0 * sum * sum * sum;
}

static wmi_samples *fill(const shape *s) {
    const wmi_metric time = {
        .name = "time", .unit = "ns", .backend = "cpu", .timer = "tsc", .better = WMI_BETTER_LOWER};
    const char *name = "n";
    uint64_t state = 88172645463325252u;
    uint32_t bench, node, metric, config;
    wmi_samples *samples = wmi_samples_create();
    if (!samples) die("out of memory");
    check(wmi_samples_bench(samples, "bench", &bench));
    check(wmi_samples_node(samples, bench, UINT32_MAX, 0, &node));
    check(wmi_samples_metric(samples, &time, &metric));
    for (uint32_t c = 0; c < s->configs; c++) {
        const wm_value n = wmi_i64(c);
        wmi_series *series;
        check(wmi_samples_config(samples, bench, 1, &name, &n, &config));
        check(wmi_samples_series(samples, config, node, metric, 0, &series));
        for (int32_t run = 0; run < s->runs; run++)
            check(wmi_series_add(series, run, next_value(&state), WM_REASON_NONE));
    }
    return samples;
}

/* ---- what is timed ---- */

/* What is made of the samples, and of what was made of them before. */
typedef struct work {
    const shape *shape;
    wmi_samples *samples;
    double *values; /* all of them, configuration by configuration */
    wm_table *results, *rows;
} work;

static void plain_loop(work *w) {
    const size_t runs = (size_t)w->shape->runs;
    double spread = 0.0;
    for (size_t c = 0; c < w->shape->configs; c++) {
        const double *x = w->values + c * runs;
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < runs; i++) sum += x[i];
        const double mean = sum / (double)runs;
        for (size_t i = 0; i < runs; i++) squares += (x[i] - mean) * (x[i] - mean);
        spread += sqrt(squares / (double)(runs - 1));
    }
    wm_keep(&spread);
}

static void to_results(work *w) {
    const wmi_reduce_opts opts = {.stable_threshold = 0.02, .host = "host"};
    wm_table_destroy(w->results);
    check(wmi_reduce(w->samples, &opts, &w->results, NULL));
}

static void to_rows(work *w) {
    wm_table_destroy(w->rows);
    check(wmi_samples_to_table(w->samples, &w->rows, NULL));
}

static void to_arrow(const wm_table *table) {
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    check(wm_table_arrow(table, &stream, NULL));
    if (stream.get_next(&stream, &batch) != 0) die("no batch");
    batch.release(&batch);
    stream.release(&stream);
}

static void results_to_arrow(work *w) { to_arrow(w->results); }
static void rows_to_arrow(work *w) { to_arrow(w->rows); }

/* The median of a few rounds. */
static double time_of(void (*body)(work *), work *w) {
    double ms[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = now_ms();
        body(w);
        ms[r] = now_ms() - begin;
    }
    qsort(ms, ROUNDS, sizeof *ms, by_value);
    return ms[ROUNDS / 2];
}

static void measure(const shape *s) {
    const size_t runs = (size_t)s->runs, total = s->configs * runs;
    work w = {.shape = s, .samples = fill(s), .values = malloc(total * sizeof *w.values)};
    if (!w.values) die("out of memory");
    for (size_t i = 0; i < total; i++)
        w.values[i] = wmi_series_value(wmi_samples_series_at(w.samples, i / runs), i % runs);
    const double loop = time_of(plain_loop, &w), results = time_of(to_results, &w);
    const double rows = time_of(to_rows, &w);
    const double results_arrow = time_of(results_to_arrow, &w), rows_arrow = time_of(rows_to_arrow, &w);
    printf("%-16s %9.2f %9.2f %9.1f %9.2f %9.2f %9.2f\n", s->name, loop, results, results / loop,
           results_arrow, rows, rows_arrow);
    wm_table_destroy(w.results);
    wm_table_destroy(w.rows);
    free(w.values);
    wmi_samples_destroy(w.samples);
}

int main(void) {
    printf("%-16s %9s %9s %9s %9s %9s %9s\n", "1,000,000 in ms", "loop", "results", "ratio", "Arrow",
           "samples", "Arrow");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) measure(&shapes[i]);
    return 0;
}
