/* matmul_cuda: two ways to multiply two square matrices of floats on a GPU, C = A * B.
 *
 *     matmul_cuda                            n = 512, 1024 and 2048
 *     matmul_cuda --axis n=[100,4096]        other sizes
 *     matmul_cuda --metrics group:roofline   what bounds it
 *     matmul_cuda --cache-control all        every kernel from a cold L2 cache
 *
 * naive has a thread for each number of C, which reads its row and its column from memory. tiled copies
 * tiles of A and B into shared memory, from where each number is used 32 times. kernel_time is the
 * kernel's own, time what the caller waits for it. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"

enum { TILE = 32 };

__global__ void naive(int n, const float *a, const float *b, float *c) {
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    if (i >= n || j >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[(size_t)i * n + k] * b[(size_t)k * n + j];
    c[(size_t)i * n + j] = sum;
}

/* Tiles that reach past an edge are filled up with zeros. */
__global__ void tiled(int n, const float *a, const float *b, float *c) {
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int y = threadIdx.y, x = threadIdx.x;
    int i = blockIdx.y * TILE + y, j = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        of_a[y][x] = i < n && k0 + x < n ? a[(size_t)i * n + k0 + x] : 0.0f;
        of_b[y][x] = k0 + y < n && j < n ? b[(size_t)(k0 + y) * n + j] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) sum += of_a[y][k] * of_b[k][x];
        __syncthreads();
    }
    if (i < n && j < n) c[(size_t)i * n + j] = sum;
}

typedef void (*product)(int n, const float *a, const float *b, float *c);

typedef struct matrices {
    int n;
    float *a, *b, *c;                /* on the GPU */
    float *host_a, *host_b, *host_c; /* the same here, for the check; freed after it */
} matrices;

static void launch(product kernel, const matrices *m) {
    unsigned tiles = (unsigned)(m->n + TILE - 1) / TILE;
    kernel<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(m->n, m->a, m->b, m->c);
}

/* Eight rows are computed here as well. Two sums of the same n products, none above 1, differ by at most
 * 2 * n * n * 2^-24 whatever their order (Higham, Accuracy and Stability of Numerical Algorithms,
 * section 4.2). */
static bool right(wm_state *st, const matrices *m, const char *name) {
    size_t n = (size_t)m->n;
    double worst = 0.0;
    for (size_t row = 0; row < 8; row++) {
        size_t i = row * (n - 1) / 7;
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < n; k++) sum += (double)m->host_a[i * n + k] * m->host_b[k * n + j];
            worst = fmax(worst, fabs(sum - m->host_c[i * n + j]));
        }
    }
    if (worst <= (double)n * (double)n / 8388608.0) return true;
    wm_fail(st, "%s is wrong by %g", name, worst);
    return false;
}

static bool check(wm_state *st, const matrices *m, product kernel, const char *name) {
    size_t count = (size_t)m->n * m->n;
    launch(kernel, m);
    return gpu_finished(st) && gpu_get(st, m->host_c, m->c, count) && right(st, m, name);
}

static bool prepare(wm_state *st, matrices *m) {
    size_t count = (size_t)m->n * m->n;
    m->host_a = (float *)malloc(count * sizeof(float));
    m->host_b = (float *)malloc(count * sizeof(float));
    m->host_c = (float *)malloc(count * sizeof(float));
    if (!m->host_a || !m->host_b || !m->host_c) {
        wm_fail(st, "no memory for three matrices of n = %d", m->n);
        return false;
    }
    gpu_fill(m->host_a, count, 1);
    gpu_fill(m->host_b, count, 2);
    m->a = gpu_floats(st, count);
    m->b = m->a ? gpu_floats(st, count) : NULL;
    m->c = m->b ? gpu_floats(st, count) : NULL;
    return m->c && gpu_put(st, m->a, m->host_a, count) && gpu_put(st, m->b, m->host_b, count) &&
           check(st, m, naive, "naive") && check(st, m, tiled, "tiled");
}

static void free_host(matrices *m) {
    free(m->host_a);
    free(m->host_b);
    free(m->host_c);
    m->host_a = m->host_b = m->host_c = NULL;
}

static void destroy(matrices *m) {
    free_host(m);
    cudaFree(m->a);
    cudaFree(m->b);
    cudaFree(m->c);
    free(m);
}

static void setup(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    if (!gpu_found(st)) return;
    if (n < 1 || n > 16384) {
        wm_fail(st, "n must be from 1 to 16384");
        return;
    }
    matrices *m = (matrices *)calloc(1, sizeof *m);
    if (!m) {
        wm_fail(st, "no memory");
        return;
    }
    m->n = (int)n;
    if (!prepare(st, m)) {
        destroy(m);
        return;
    }
    free_host(m);
    wm_set_data(st, m);
}

static void teardown(wm_state *st) { destroy((matrices *)wm_data(st)); }

static void matmul(wm_state *st) {
    const matrices *m = (const matrices *)wm_data(st);

    WM_BEGIN("naive");
    launch(naive, m);
    bool ok = gpu_finished(st);
    WM_END("naive");
    if (!ok) return;

    WM_BEGIN("tiled");
    launch(tiled, m);
    gpu_finished(st);
    WM_END("tiled");
}
WM_BENCHMARK_WITH(matmul, setup, teardown, NULL,
                  "--axis n=[512,1024,2048] --runs 10 --metrics kernel_time,time --normalize-against naive "
                  "--derive 'gflops = 2*n^3/kernel_time [GFLOP/s]'")

WM_MAIN()
