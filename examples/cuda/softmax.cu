/* softmax: exp(x) / sum of exp(x) over each row of a matrix, on a GPU.
 *
 *     softmax                                  8192 rows of 256, 1024 and 4096 columns
 *     softmax --axis rows=[100] --axis cols=[1000]
 *     softmax --metrics group:roofline         what bounds it
 *
 * A block makes a row. It reads the row three times, for the largest number, the sum and the results: the
 * first time from memory, then from a cache. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"

enum { THREADS = 256, WARP = 32 };

/* The largest, or the sum, of what the threads of a block hold; every thread gets it. */
template <typename Combine> __device__ float of_block(float x, float none, Combine combine) {
    __shared__ float of_warps[THREADS / WARP];
    for (int apart = WARP / 2; apart; apart /= 2) x = combine(x, __shfl_xor_sync(~0u, x, apart));
    if (threadIdx.x % WARP == 0) of_warps[threadIdx.x / WARP] = x;
    __syncthreads();
    x = none;
    for (int warp = 0; warp < THREADS / WARP; warp++) x = combine(x, of_warps[warp]);
    __syncthreads();
    return x;
}

struct larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

/* The largest number is taken off first, so that no exp overflows. */
__global__ void by_row(size_t cols, const float *x, float *y) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float top = -INFINITY;
    for (size_t j = threadIdx.x; j < cols; j += THREADS) top = fmaxf(top, x[j]);
    top = of_block(top, -INFINITY, larger());
    float total = 0.0f;
    for (size_t j = threadIdx.x; j < cols; j += THREADS) total += __expf(x[j] - top);
    total = of_block(total, 0.0f, sum());
    for (size_t j = threadIdx.x; j < cols; j += THREADS) y[j] = __expf(x[j] - top) / total;
}

typedef struct matrix {
    size_t rows, cols;
    float *x, *y;
} matrix;

static void launch(const matrix *m) { by_row<<<(unsigned)m->rows, THREADS>>>(m->cols, m->x, m->y); }

/* The fast exp is right to 2 units in the last place and, by its argument, a little more; a sum of so many
 * terms is to about 2^-20. */
static bool right(wm_state *st, const matrix *m, size_t row, const float *x, const float *y) {
    double total = 0.0;
    for (size_t j = 0; j < m->cols; j++) total += exp((double)x[j]);
    for (size_t j = 0; j < m->cols; j++) {
        double expected = exp((double)x[j]) / total;
        if (fabs(y[j] - expected) <= 1e-5 * expected) continue;
        wm_fail(st, "row %zu, column %zu is %g instead of %g", row, j, (double)y[j], expected);
        return false;
    }
    return true;
}

/* The first, the middle and the last row. */
static bool check(wm_state *st, const matrix *m, float *host_x, float *host_y) {
    size_t count = m->rows * m->cols;
    gpu_fill(host_x, count, 1);
    if (!gpu_put(st, m->x, host_x, count)) return false;
    launch(m);
    if (!gpu_finished(st) || !gpu_get(st, host_y, m->y, count)) return false;
    const size_t rows[] = {0, m->rows / 2, m->rows - 1};
    for (size_t row : rows)
        if (!right(st, m, row, host_x + row * m->cols, host_y + row * m->cols)) return false;
    return true;
}

static bool prepare(wm_state *st, matrix *m) {
    size_t count = m->rows * m->cols;
    m->x = gpu_floats(st, count);
    m->y = m->x ? gpu_floats(st, count) : NULL;
    if (!m->y) return false;
    float *host_x = (float *)malloc(count * sizeof(float)), *host_y = (float *)malloc(count * sizeof(float));
    if (!host_x || !host_y) wm_fail(st, "no memory for two matrices of %zu floats", count);
    bool done = host_x && host_y && check(st, m, host_x, host_y);
    free(host_x);
    free(host_y);
    return done;
}

static void destroy(matrix *m) {
    cudaFree(m->x);
    cudaFree(m->y);
    free(m);
}

static void setup(wm_state *st) {
    int64_t rows = wm_i64(st, "rows"), cols = wm_i64(st, "cols");
    if (!gpu_found(st)) return;
    if (rows < 1 || rows > 1 << 24 || cols < 1 || cols > 1 << 16) {
        wm_fail(st, "rows must be from 1 to 2^24, cols from 1 to 2^16");
        return;
    }
    matrix *m = (matrix *)calloc(1, sizeof *m);
    if (!m) {
        wm_fail(st, "no memory");
        return;
    }
    m->rows = (size_t)rows;
    m->cols = (size_t)cols;
    if (!prepare(st, m)) {
        destroy(m);
        return;
    }
    wm_set_data(st, m);
}

static void teardown(wm_state *st) { destroy((matrix *)wm_data(st)); }

static void softmax(wm_state *st) {
    WM_BEGIN("by_row");
    launch((const matrix *)wm_data(st));
    gpu_finished(st);
    WM_END("by_row");
}
WM_BENCHMARK_WITH(softmax, setup, teardown, NULL,
                  "--axis rows=[8192] --axis cols=[256,1024,4096] --runs 10 --metrics kernel_time,time "
                  "--derive 'bandwidth = 8*rows*cols/kernel_time [GB/s]'")

WM_MAIN()
