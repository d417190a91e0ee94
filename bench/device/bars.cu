/* The kernels that warpmeter is compared with ncu on, a benchmark each; the matrix product is
 * in gemm.cu. Each launches its kernel and no other, so that under ncu, with --profile, every
 * kernel of the process is one to compare. */
#include "device.h"
#include "kernels.h"

namespace {

/* ---- an input and an output of so many floats ---- */

struct arrays {
    float *x, *y;
};

void teardown(wm_state *st) {
    arrays *a = static_cast<arrays *>(wm_data(st));
    if (!a) return;
    cudaFree(a->x);
    cudaFree(a->y);
    delete a;
}

void setup(wm_state *st) {
    const size_t bytes = *static_cast<const size_t *>(wm_user(st)) * sizeof(float);
    arrays *a = new arrays{nullptr, nullptr};
    if (good(st, cudaMalloc(&a->x, bytes), "cudaMalloc") &&
        good(st, cudaMalloc(&a->y, bytes), "cudaMalloc") &&
        good(st, cudaMemset(a->x, 0x3c, bytes), "cudaMemset") &&
        good(st, cudaDeviceSynchronize(), "cudaMemset")) {
        wm_set_data(st, a);
        return;
    }
    cudaFree(a->x);
    cudaFree(a->y);
    delete a;
}

void finish(wm_state *st) {
    if (good(st, cudaGetLastError(), "the launch")) good(st, cudaDeviceSynchronize(), "the kernel");
}

/* ---- 2 * x ---- */

size_t large = size_t{64} << 20, small = 1024;

void double_all(wm_state *st) {
    const arrays *a = static_cast<arrays *>(wm_data(st));
    const size_t quads = *static_cast<const size_t *>(wm_user(st)) / 4;
    WM_BEGIN("kernel");
    scale_kernel<<<blocks_for(quads), BLOCK>>>(reinterpret_cast<float4 *>(a->x),
                                               reinterpret_cast<float4 *>(a->y), quads);
    WM_END("kernel");
    finish(st);
}

void scale(wm_state *st) { double_all(st); }
void tiny(wm_state *st) { double_all(st); }
WM_BENCHMARK_WITH(scale, setup, teardown, &large, nullptr)
WM_BENCHMARK_WITH(tiny, setup, teardown, &small, nullptr)

/* ---- softmax ---- */

enum { SOFTMAX_ROWS = 8192 };
size_t softmax_size = size_t{SOFTMAX_ROWS} * SOFTMAX_COLUMNS;

void softmax(wm_state *st) {
    const arrays *a = static_cast<arrays *>(wm_data(st));
    WM_BEGIN("kernel");
    softmax_rows(a->x, a->y, SOFTMAX_ROWS);
    WM_END("kernel");
    finish(st);
}
WM_BENCHMARK_WITH(softmax, setup, teardown, &softmax_size, nullptr)

/* ---- 256 MiB read, several times the L2, and nothing written: what is written then is not the
 * kernel's own ---- */

size_t readonly_size = size_t{64} << 20;

/* No sum of what setup() leaves in x is `never`. */
__global__ void readonly_kernel(const float4 *x, float *y, size_t quads, float never) {
    const size_t i = size_t{blockIdx.x} * BLOCK + threadIdx.x;
    if (i >= quads) return;
    const float4 v = x[i];
    if (v.x + v.y + v.z + v.w == never) *y = never;
}

void readonly(wm_state *st) {
    const arrays *a = static_cast<arrays *>(wm_data(st));
    const size_t quads = readonly_size / 4;
    WM_BEGIN("kernel");
    readonly_kernel<<<blocks_for(quads), BLOCK>>>(reinterpret_cast<float4 *>(a->x), a->y, quads, -1.0f);
    WM_END("kernel");
    finish(st);
}
WM_BENCHMARK_WITH(readonly, setup, teardown, &readonly_size, nullptr)

/* ---- a known number of fused multiplications and additions ---- */

enum { FFMA_THREADS = 1 << 20, FFMA_EACH = 100 };
size_t ffma_size = FFMA_THREADS;

__global__ void ffma_kernel(const float *x, float *y, float a, float b) {
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    float v = x[i];
#pragma unroll
    for (int k = 0; k < FFMA_EACH; k++) v = __fmaf_rn(v, a, b);
    y[i] = v;
}

void ffma(wm_state *st) {
    const arrays *d = static_cast<arrays *>(wm_data(st));
    WM_BEGIN("kernel");
    ffma_kernel<<<FFMA_THREADS / BLOCK, BLOCK>>>(d->x, d->y, 0.5f, 1.0f);
    WM_END("kernel");
    finish(st);
}
WM_BENCHMARK_WITH(ffma, setup, teardown, &ffma_size, nullptr)

} // namespace

WM_MAIN()
