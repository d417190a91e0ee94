/* What turning samples into rows takes: time and memory a sample, for few long series and for many
 * short ones, beside copying the same values once and sorting them. Each shape has a process of its
 * own, so that the peak of its memory is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "table/reduce.h"

enum { ROUNDS = 5 };

typedef struct shape {
    const char *name;
    uint32_t configs;
    int32_t runs;
    bool interleaved; /* all configurations take turns, so that all series grow at once */
} shape;

static const shape shapes[] = {
    {"1 x 10,000,000", 1, 10000000, false},
    {"10,000 x 1,000", 10000, 1000, false},
    {"10,000 x 1,000, interleaved", 10000, 1000, true},
};

typedef struct figures {
    double reduce_ns, copy_ns, sort_ns; /* a sample */
    double peak_bytes;                  /* a sample */
} figures;

static void die(const char *what) {
    fprintf(stderr, "bench_reduce: %s\n", what);
    exit(1);
}

static void check(wm_status status) {
    if (status != WM_OK) die(wm_status_text(status));
}

/* Time of this process alone: it has one thread and waits for nothing. */
static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A line of /proc/self/status, in bytes. */
static double memory_bytes(const char *key) {
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) die("/proc/self/status cannot be read");
    while (kib < 0 && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) kib = strtol(line + strlen(key), NULL, 10);
    fclose(f);
    if (kib < 0) die("/proc/self/status lacks a line");
    return 1024.0 * (double)kib;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n) {
    qsort(x, n, sizeof *x, by_value);
    return x[n / 2];
}

/* Times as they come: near 1 us, a tail to the right, all different. */
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

static wmi_samples *make_samples(const shape *s, uint32_t *node, uint32_t *metric) {
    const wmi_metric time = {.name = "time",
                             .unit = "ns",
                             .text = "",
                             .backend = "cpu",
                             .timer = "tsc",
                             .better = WMI_BETTER_LOWER};
    const char *name = "n";
    uint32_t bench, config;
    wmi_samples *samples = wmi_samples_create();
    if (!samples) die("out of memory");
    check(wmi_samples_bench(samples, "bench", &bench));
    check(wmi_samples_node(samples, bench, UINT32_MAX, 0, node));
    check(wmi_samples_metric(samples, &time, metric));
    for (uint32_t c = 0; c < s->configs; c++) {
        const wm_value n = wmi_i64(c);
        check(wmi_samples_config(samples, bench, 1, &name, &n, &config));
    }
    return samples;
}

/* As a sweep does it: each run is noted, its series looked up, a value added. */
static wmi_samples *fill(const shape *s) {
    uint32_t node, metric;
    uint64_t state = 88172645463325252u;
    wmi_samples *samples = make_samples(s, &node, &metric);
    const int64_t total = (int64_t)s->configs * s->runs;
    for (int64_t i = 0; i < total; i++) {
        const int64_t config = s->interleaved ? i % s->configs : i / s->runs;
        const int64_t run = s->interleaved ? i / s->configs : i % s->runs;
        const wmi_run done = {(uint32_t)config, (int32_t)run, 0, 0, i, i + 1, 0};
        wmi_series *series;
        check(wmi_samples_run(samples, &done));
        check(wmi_samples_series(samples, (uint32_t)config, node, metric, 0, &series));
        check(wmi_series_add(series, (int32_t)run, next_value(&state), WM_REASON_NONE));
    }
    return samples;
}

static double time_reduce(const wmi_samples *samples) {
    const wmi_reduce_opts opts = {.stable_threshold = 0.02, .host = "host"};
    double ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        wm_table *table;
        const double begin = now_ns();
        check(wmi_reduce(samples, &opts, &table, NULL));
        ns[r] = now_ns() - begin;
        wm_table_destroy(table);
    }
    return median(ns, ROUNDS);
}

/* The values copied out once, and sorted series by series. */
static void time_references(const shape *s, const wmi_samples *samples, figures *out) {
    const size_t total = (size_t)s->configs * (size_t)s->runs, each = (size_t)s->runs;
    double *x = malloc(total * sizeof *x), *copy = malloc(total * sizeof *copy), ns[ROUNDS];
    if (!x || !copy) die("out of memory");
    for (size_t i = 0; i < total; i++)
        x[i] = wmi_series_value(wmi_samples_series_at(samples, i / each), i % each);
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = now_ns();
        memcpy(copy, x, total * sizeof *x);
        wm_keep(copy);
        ns[r] = now_ns() - begin;
    }
    out->copy_ns = median(ns, ROUNDS) / (double)total;
    const double begin = now_ns();
    for (size_t i = 0; i < total; i += each) qsort(copy + i, each, sizeof *copy, by_value);
    out->sort_ns = (now_ns() - begin) / (double)total;
    free(x);
    free(copy);
}

static figures measure(const shape *s) {
    figures f;
    const double total = (double)s->configs * s->runs, before = memory_bytes("VmRSS:");
    wmi_samples *samples = fill(s);
    f.reduce_ns = time_reduce(samples) / total;
    f.peak_bytes = (memory_bytes("VmHWM:") - before) / total;
    time_references(s, samples, &f);
    wmi_samples_destroy(samples);
    return f;
}

static figures measure_apart(const shape *s) {
    int ends[2], status;
    figures f;
    if (pipe(ends) != 0) die("no pipe");
    const pid_t child = fork();
    if (child < 0) die("no process");
    if (child == 0) {
        f = measure(s);
        _exit(write(ends[1], &f, sizeof f) == sizeof f ? 0 : 1);
    }
    close(ends[1]);
    const bool whole = read(ends[0], &f, sizeof f) == sizeof f;
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || !whole || status != 0) die("a measuring process failed");
    return f;
}

int main(void) {
    printf("%-28s %9s %9s %9s %12s %12s %12s\n", "samples to rows", "ns/sample", "copy", "sort", "of a copy",
           "of a sort", "peak B/sample");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const figures f = measure_apart(&shapes[i]);
        printf("%-28s %9.2f %9.2f %9.2f %12.2f %12.3f %12.2f\n", shapes[i].name, f.reduce_ns, f.copy_ns,
               f.sort_ns, f.reduce_ns / f.copy_ns, f.reduce_ns / f.sort_ns, f.peak_bytes);
    }
    return 0;
}
