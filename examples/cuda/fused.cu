/* fused: y = a + b * c on a GPU, as two kernels and as one.
 *
 *     fused                            the sizes of the default axis
 *     fused --axis n=[1000,1000000]    others
 *     fused --kernels kernels.csv      a row for each kernel as well
 *
 * The two kernels write b * c to memory and read it again: 24 bytes for each element, where one kernel
 * moves 16. A region adds up the times of its kernels. */
#include <math.h>
#include <stdlib.h>

#include "gpu.h"

__global__ void multiply(size_t n, const float *b, const float *c, float *product) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) product[i] = b[i] * c[i];
}
__global__ void add(size_t n, const float *a, const float *product, float *y) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + product[i];
}
__global__ void multiply_add(size_t n, const float *a, const float *b, const float *c, float *y) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i] * c[i];
}

typedef struct arrays {
    size_t n; /* elements of each */
    float *a, *b, *c, *product, *y;
} arrays;

enum { THREADS = 256 };
static unsigned blocks(const arrays *v) { return (unsigned)((v->n + THREADS - 1) / THREADS); }

static void unfused(const arrays *v) {
    multiply<<<blocks(v), THREADS>>>(v->n, v->b, v->c, v->product);
    add<<<blocks(v), THREADS>>>(v->n, v->a, v->product, v->y);
}
static void fused_into_one(const arrays *v) {
    multiply_add<<<blocks(v), THREADS>>>(v->n, v->a, v->b, v->c, v->y);
}

/* Numbers below 1 make a result below 2, which two roundings change by at most 2^-23. */
static bool right(wm_state *st, const arrays *v, float *host, const char *name) {
    if (!gpu_finished(st) || !gpu_get(st, host, v->y, v->n)) return false;
    uint32_t of_a = 1, of_b = 2, of_c = 3;
    for (size_t i = 0; i < v->n; i++) {
        double a = gpu_next(&of_a), b = gpu_next(&of_b), c = gpu_next(&of_c);
        if (fabs(host[i] - (a + b * c)) <= 1.0 / 8388608.0) continue;
        wm_fail(st, "%s: element %zu is %g instead of %g", name, i, (double)host[i], a + b * c);
        return false;
    }
    return true;
}

static bool put(wm_state *st, float *to, float *host, size_t count, uint32_t seed) {
    gpu_fill(host, count, seed);
    return gpu_put(st, to, host, count);
}

static bool check(wm_state *st, const arrays *v, float *host) {
    if (!put(st, v->a, host, v->n, 1) || !put(st, v->b, host, v->n, 2) || !put(st, v->c, host, v->n, 3))
        return false;
    unfused(v);
    if (!right(st, v, host, "unfused")) return false;
    fused_into_one(v);
    return right(st, v, host, "fused");
}

static bool prepare(wm_state *st, arrays *v) {
    float **all[] = {&v->a, &v->b, &v->c, &v->product, &v->y};
    for (float **array : all) {
        *array = gpu_floats(st, v->n);
        if (!*array) return false;
    }
    float *host = (float *)malloc(v->n * sizeof(float));
    if (!host) wm_fail(st, "no memory for %zu floats", v->n);
    bool done = host && check(st, v, host);
    free(host);
    return done;
}

static void destroy(arrays *v) {
    cudaFree(v->a);
    cudaFree(v->b);
    cudaFree(v->c);
    cudaFree(v->product);
    cudaFree(v->y);
    free(v);
}

static void setup(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    if (!gpu_found(st)) return;
    if (n < 1 || n > (int64_t)1 << 34) {
        wm_fail(st, "n must be from 1 to 2^34");
        return;
    }
    arrays *v = (arrays *)calloc(1, sizeof *v);
    if (!v) {
        wm_fail(st, "no memory");
        return;
    }
    v->n = (size_t)n;
    if (!prepare(st, v)) {
        destroy(v);
        return;
    }
    wm_set_data(st, v);
}

static void teardown(wm_state *st) { destroy((arrays *)wm_data(st)); }

static void fused(wm_state *st) {
    const arrays *v = (const arrays *)wm_data(st);

    WM_BEGIN("unfused");
    unfused(v);
    bool ok = gpu_finished(st);
    WM_END("unfused");
    if (!ok) return;

    WM_BEGIN("fused");
    fused_into_one(v);
    gpu_finished(st);
    WM_END("fused");
}
WM_BENCHMARK_WITH(fused, setup, teardown, NULL,
                  "--axis n[pow2]=[16:26:5] --runs 10 --metrics kernel_time,time --normalize-against unfused "
                  "--derive 'bandwidth = 16*n/kernel_time [GB/s]'")

WM_MAIN()
