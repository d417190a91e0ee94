/* memory: the bandwidth of copy, scale and triad, from the first cache to memory.
 *
 *     memory                               the sizes of the default axis
 *     memory --axis bytes=[16384,1048576]  others; three arrays share the bytes
 *     memory --cache-control all           every run from cold caches
 *
 * Bytes are counted as STREAM does: what the loop names, 16 an element for copy and scale and 24 for
 * triad. Where a store first reads its line from memory, the machine moves more than that. Small sizes
 * take less time than a clock can tell, so the loops are repeated and the table's `batch` says how often. */
#include <stdint.h>
#include <stdlib.h>

#include "warpmeter.h"

typedef struct arrays {
    size_t n; /* elements of each */
    double *a, *b, *c;
} arrays;

static void copy(size_t n, double *restrict to, const double *restrict from) {
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}
static void scale(size_t n, double *restrict to, const double *restrict from, double by) {
    for (size_t i = 0; i < n; i++) to[i] = by * from[i];
}
static void triad(size_t n, double *restrict to, const double *restrict x, const double *restrict y,
                  double by) {
    for (size_t i = 0; i < n; i++) to[i] = x[i] + by * y[i];
}

static double *new_array(size_t n, double value) {
    enum { LINE = 64 };
    size_t bytes = (n * sizeof(double) + LINE - 1) / LINE * LINE;
    double *x = aligned_alloc(LINE, bytes);
    for (size_t i = 0; x && i < n; i++) x[i] = value;
    return x;
}

static void setup(wm_state *st) {
    int64_t bytes = wm_i64(st, "bytes");
    arrays *v = calloc(1, sizeof *v);
    wm_set_data(st, v);
    if (!v || bytes < (int64_t)(3 * sizeof(double))) {
        wm_fail(st, "bytes must hold three arrays of at least one double");
        return;
    }
    v->n = (size_t)bytes / (3 * sizeof(double));
    v->a = new_array(v->n, 1.0);
    v->b = new_array(v->n, 2.0);
    v->c = new_array(v->n, 0.0);
    if (!v->a || !v->b || !v->c) wm_fail(st, "no memory for %lld bytes", (long long)bytes);
}

static void teardown(wm_state *st) {
    arrays *v = wm_data(st);
    if (!v) return;
    free(v->a);
    free(v->b);
    free(v->c);
    free(v);
}

static void memory(wm_state *st) {
    arrays *v = wm_data(st);
    double bytes = (double)(v->n * sizeof(double));

    WM_REPEAT(st, "copy") {
        copy(v->n, v->c, v->a);
        wm_keep(v->c);
    }
    wm_add_bytes(st, "copy", 2.0 * bytes);

    WM_REPEAT(st, "scale") {
        scale(v->n, v->b, v->c, 3.0);
        wm_keep(v->b);
    }
    wm_add_bytes(st, "scale", 2.0 * bytes);

    WM_REPEAT(st, "triad") {
        triad(v->n, v->c, v->a, v->b, 3.0);
        wm_keep(v->c);
    }
    wm_add_bytes(st, "triad", 3.0 * bytes);

    /* a = 1 throughout, so scale leaves 3 * 1 in b and triad 1 + 3 * 3 in c. */
    if (v->b[v->n - 1] != 3.0 || v->c[v->n - 1] != 10.0) wm_fail(st, "wrong results");
}
WM_BENCHMARK_WITH(memory, setup, teardown, NULL, "--axis bytes[pow2]=[14:28:2] --runs 10 --batch-time 2ms")

WM_MAIN()
