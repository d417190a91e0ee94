/* scale: y = 2 * x on a GPU, from what fits in a cache to what fits in memory alone.
 *
 *     scale                                the sizes of the default axis
 *     scale --axis bytes=[4096,1048576]    others: bytes of x, and as many of y
 *     scale --cache-control all            every kernel from a cold L2 cache
 *
 * Small sizes show what a kernel costs at the least, and large ones how fast memory is. */
#include <stdlib.h>

#include "gpu.h"

__global__ void twice(size_t n, const float *x, float *y) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

typedef struct arrays {
    size_t n; /* elements of each */
    float *x, *y;
} arrays;

static void launch(const arrays *v) {
    enum { THREADS = 256 };
    twice<<<(unsigned)((v->n + THREADS - 1) / THREADS), THREADS>>>(v->n, v->x, v->y);
}

static bool check(wm_state *st, const arrays *v, float *host) {
    gpu_fill(host, v->n, 1);
    if (!gpu_put(st, v->x, host, v->n)) return false;
    launch(v);
    if (!gpu_finished(st) || !gpu_get(st, host, v->y, v->n)) return false;
    uint32_t seed = 1;
    for (size_t i = 0; i < v->n; i++) {
        if (host[i] == 2.0f * gpu_next(&seed)) continue;
        wm_fail(st, "element %zu is wrong", i);
        return false;
    }
    return true;
}

static bool prepare(wm_state *st, arrays *v) {
    v->x = gpu_floats(st, v->n);
    v->y = v->x ? gpu_floats(st, v->n) : NULL;
    if (!v->y) return false;
    float *host = (float *)malloc(v->n * sizeof(float));
    if (!host) wm_fail(st, "no memory for %zu floats", v->n);
    bool right = host && check(st, v, host);
    free(host);
    return right;
}

static void destroy(arrays *v) {
    cudaFree(v->x);
    cudaFree(v->y);
    free(v);
}

static void setup(wm_state *st) {
    int64_t bytes = wm_i64(st, "bytes");
    if (!gpu_found(st)) return;
    if (bytes < (int64_t)sizeof(float) || bytes > (int64_t)1 << 38) {
        wm_fail(st, "bytes must be from 4 to 2^38");
        return;
    }
    arrays *v = (arrays *)calloc(1, sizeof *v);
    if (!v) {
        wm_fail(st, "no memory");
        return;
    }
    v->n = (size_t)bytes / sizeof(float);
    if (!prepare(st, v)) {
        destroy(v);
        return;
    }
    wm_set_data(st, v);
}

static void teardown(wm_state *st) { destroy((arrays *)wm_data(st)); }

static void scale(wm_state *st) {
    WM_BEGIN("twice");
    launch((const arrays *)wm_data(st));
    gpu_finished(st);
    WM_END("twice");
}
WM_BENCHMARK_WITH(scale, setup, teardown, NULL,
                  "--axis bytes[pow2]=[12:28:4] --runs 10 --metrics kernel_time,time "
                  "--derive 'bandwidth = 2*bytes/kernel_time [GB/s]'")

WM_MAIN()
