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

/* op over all threads of a block of BLOCK; every thread gets the result */
template <class Op> static __device__ float reduce(float v, Op op) {
    __shared__ float of_warp[BLOCK / 32];
    for (int step = 16; step > 0; step /= 2) v = op(v, __shfl_xor_sync(~0u, v, step));
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    v = of_warp[0];
    for (int i = 1; i < BLOCK / 32; i++) v = op(v, of_warp[i]);
    return v;
}

/* Softmax of rows of 4 * BLOCK values, a block each. */
enum { SOFTMAX_COLUMNS = 4 * BLOCK };
static __global__ void softmax_kernel(const float4 *x, float4 *y) {
    const size_t i = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x;
    const float4 v = x[i];
    const float top =
        reduce(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), [](float a, float b) { return fmaxf(a, b); });
    const float4 e = make_float4(__expf(v.x - top), __expf(v.y - top), __expf(v.z - top), __expf(v.w - top));
    const float sum = reduce(e.x + e.y + e.z + e.w, [](float a, float b) { return a + b; });
    y[i] = make_float4(e.x / sum, e.y / sum, e.z / sum, e.w / sum);
}
static inline void softmax_rows(const float *x, float *y, unsigned rows) {
    softmax_kernel<<<rows, BLOCK>>>(reinterpret_cast<const float4 *>(x), reinterpret_cast<float4 *>(y));
}

#endif
