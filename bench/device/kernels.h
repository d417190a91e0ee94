/* Kernels that several programs of this folder launch. */
#ifndef BENCH_DEVICE_KERNELS_H
#define BENCH_DEVICE_KERNELS_H

enum { BLOCK = 256 };
static inline unsigned blocks_for(size_t threads) {
    return static_cast<unsigned>((threads + BLOCK - 1) / BLOCK);
}

static __global__ void scale_kernel(const float4 *x, float4 *y, size_t n) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4 v = x[i];
    y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

/* Softmax of rows of SOFTMAX_COLUMNS values: a warp for each row keeps it in registers, as the kernels
 * of the frameworks do for rows of this length. */
enum { SOFTMAX_COLUMNS = 1024, SOFTMAX_WARPS = 4 };
static __global__ void softmax_kernel(const float *x, float *y) {
    constexpr int each = SOFTMAX_COLUMNS / 32;
    const size_t row = static_cast<size_t>(blockIdx.x) * SOFTMAX_WARPS + threadIdx.y;
    const size_t first = row * SOFTMAX_COLUMNS + threadIdx.x;
    float v[each], top = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < each; i++) v[i] = x[first + 32 * i];
#pragma unroll
    for (int i = 0; i < each; i++) top = fmaxf(top, v[i]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
#pragma unroll
    for (int i = 0; i < each; i++) sum += v[i] = __expf(v[i] - top);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
#pragma unroll
    for (int i = 0; i < each; i++) y[first + 32 * i] = v[i] / sum;
}
/* `rows` is a multiple of SOFTMAX_WARPS. */
static inline void softmax_rows(const float *x, float *y, unsigned rows) {
    softmax_kernel<<<rows / SOFTMAX_WARPS, dim3(32, SOFTMAX_WARPS)>>>(x, y);
}

#endif
