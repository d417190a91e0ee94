/* matmul: four ways to multiply two square matrices of floats, C = A * B.
 *
 *     matmul                          n = 128, 256 and 512
 *     matmul --axis n=[64,1000]       other sizes
 *     matmul --metrics time,cpu_time  other metrics
 *
 * naive follows the definition; blocked keeps a tile of B in the caches; vector keeps a tile of C in
 * vector registers; openblas is the library's sgemm, on one thread as the others are. Each
 * result is checked. The table has a row for each of them with its time, its FLOP/s and its ratio to
 * naive. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "warpmeter.h"

#ifdef HAVE_OPENBLAS
#include <cblas.h>
#endif

typedef struct matrices {
    size_t n;
    float *a, *b, *c, *expected, *strip;
} matrices;

static void naive(size_t n, const float *a, const float *b, float *c) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0.0f;
            for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* A tile of B, 64 rows of 256 floats, is used for all rows of A before the next one is read. */
static void blocked(size_t n, const float *restrict a, const float *restrict b, float *restrict c) {
    enum { ROWS = 64, COLUMNS = 256 };
    memset(c, 0, n * n * sizeof *c);
    for (size_t k0 = 0; k0 < n; k0 += ROWS)
        for (size_t j0 = 0; j0 < n; j0 += COLUMNS) {
            size_t k1 = smaller(k0 + ROWS, n), j1 = smaller(j0 + COLUMNS, n);
            for (size_t i = 0; i < n; i++)
                for (size_t k = k0; k < k1; k++) {
                    float x = a[i * n + k];
                    for (size_t j = j0; j < j1; j++) c[i * n + j] += x * b[k * n + j];
                }
        }
}

/* ---- vector: a tile of C stays in registers over the whole of k ---- */

enum { LANES = 8, TILE_ROWS = 6, TILE_VECTORS = 2, TILE_COLUMNS = TILE_VECTORS * LANES };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef lanes loose __attribute__((aligned(sizeof(float)), may_alias)); /* where it lies in an array */

#define INLINE static inline __attribute__((always_inline))

/* 6 rows by 2 vectors: 12 sums, 2 vectors of B and one number of A fill the 16 vector registers that
 * most processors have. `strip` is 16 columns of B, copied so that they lie side by side. */
INLINE void tile(size_t n, const float *a, const float *strip, float *c) {
    lanes sum[TILE_ROWS][TILE_VECTORS] = {{{0}}};
    for (size_t k = 0; k < n; k++) {
        const loose *y = (const loose *)(strip + k * TILE_COLUMNS);
        for (size_t i = 0; i < TILE_ROWS; i++)
            for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] += a[i * n + k] * y[v];
    }
    for (size_t i = 0; i < TILE_ROWS; i++)
        for (size_t v = 0; v < TILE_VECTORS; v++) ((loose *)(c + i * n))[v] = sum[i][v];
}

/* What is left at the right and at the bottom where n is no multiple of the tile. */
INLINE void edge(size_t n, size_t i, size_t j, const float *a, const float *b, float *c) {
    float sum = 0.0f;
    for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

INLINE void tiles(size_t n, const float *a, const float *b, float *c, float *strip) {
    size_t rows = n / TILE_ROWS * TILE_ROWS, columns = n / TILE_COLUMNS * TILE_COLUMNS;
    for (size_t j = 0; j < columns; j += TILE_COLUMNS) {
        for (size_t k = 0; k < n; k++)
            memcpy(strip + k * TILE_COLUMNS, b + k * n + j, TILE_COLUMNS * sizeof *strip);
        for (size_t i = 0; i < rows; i += TILE_ROWS) tile(n, a + i * n, strip, c + i * n + j);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i < rows ? columns : 0; j < n; j++) edge(n, i, j, a, b, c);
}

/* The same code for the instruction set that the compiler was told of, and for one with fused
 * multiply-add where the processor has it. */
static void vector_plain(size_t n, const float *a, const float *b, float *c, float *strip) {
    tiles(n, a, b, c, strip);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void vector_fma(size_t n, const float *a, const float *b, float *c,
                                                           float *strip) {
    tiles(n, a, b, c, strip);
}
#endif

static void vector(size_t n, const float *a, const float *b, float *c, float *strip) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        vector_fma(n, a, b, c, strip);
        return;
    }
#endif
    vector_plain(n, a, b, c, strip);
}

/* ---- the benchmark ---- */

static float *new_matrix(size_t n, uint32_t seed) {
    float *x = malloc(n * n * sizeof *x);
    for (size_t i = 0; x && i < n * n; i++) {
        seed = seed * 1664525u + 1013904223u;        /* Numerical Recipes' generator */
        x[i] = (float)(seed >> 8) * 0x1p-23f - 1.0f; /* in [-1, 1) */
    }
    return x;
}

static void setup(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    matrices *m = calloc(1, sizeof *m);
    wm_set_data(st, m);
    if (!m || n < 1 || n > 16384) {
        wm_fail(st, "n must be from 1 to 16384");
        return;
    }
    m->n = (size_t)n;
    m->a = new_matrix(m->n, 1);
    m->b = new_matrix(m->n, 2);
    m->c = new_matrix(m->n, 3);
    m->expected = new_matrix(m->n, 4);
    m->strip = malloc(m->n * TILE_COLUMNS * sizeof *m->strip);
    if (!m->a || !m->b || !m->c || !m->expected || !m->strip) {
        wm_fail(st, "no memory for four matrices of n = %lld", (long long)n);
        return;
    }
    naive(m->n, m->a, m->b, m->expected);
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1);
#endif
}

static void teardown(wm_state *st) {
    matrices *m = wm_data(st);
    if (!m) return;
    free(m->a);
    free(m->b);
    free(m->c);
    free(m->expected);
    free(m->strip);
    free(m);
}

/* Two sums of the same n products, none above 1, differ by at most 2 * n * n * 2^-24 whatever their order
 * (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). */
static void check(wm_state *st, const matrices *m, const char *region) {
    float bound = (float)m->n * (float)m->n * 0x1p-23f;
    float worst = 0.0f;
    for (size_t i = 0; i < m->n * m->n; i++) worst = fmaxf(worst, fabsf(m->c[i] - m->expected[i]));
    if (!(worst <= bound)) wm_fail(st, "%s is wrong by %g", region, (double)worst);
    memset(m->c, 0, m->n * m->n * sizeof *m->c);
}

static void matmul(wm_state *st) {
    matrices *m = wm_data(st);
    double flops = 2.0 * (double)m->n * (double)m->n * (double)m->n;

    WM_BEGIN("naive");
    naive(m->n, m->a, m->b, m->c);
    WM_END("naive");
    wm_add_flops(st, "naive", flops);
    check(st, m, "naive");

    WM_BEGIN("blocked");
    blocked(m->n, m->a, m->b, m->c);
    WM_END("blocked");
    wm_add_flops(st, "blocked", flops);
    check(st, m, "blocked");

    WM_BEGIN("vector");
    vector(m->n, m->a, m->b, m->c, m->strip);
    WM_END("vector");
    wm_add_flops(st, "vector", flops);
    check(st, m, "vector");

#ifdef HAVE_OPENBLAS
    int n = (int)m->n;
    WM_BEGIN("openblas");
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, m->a, n, m->b, n, 0.0f, m->c, n);
    WM_END("openblas");
    wm_add_flops(st, "openblas", flops);
    check(st, m, "openblas");
#endif
}
WM_BENCHMARK_WITH(matmul, setup, teardown, NULL, "--axis n=[128,256,512] --runs 10 --normalize-against naive")

WM_MAIN()
