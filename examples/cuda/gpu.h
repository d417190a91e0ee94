/* What the examples on GPUs share: every call of CUDA's is checked, and what failed is said. */
#ifndef EXAMPLES_CUDA_GPU_H
#define EXAMPLES_CUDA_GPU_H

#include <cuda_runtime.h>

#include "warpmeter.h"

/* Whether a call succeeded; fails the configuration where not. */
#define GPU_OK(st, call) gpu_ok((st), (call), #call)
static inline bool gpu_ok(wm_state *st, cudaError_t result, const char *call) {
    if (result == cudaSuccess) return true;
    wm_fail(st, "%s: %s", call, cudaGetErrorString(result));
    cudaGetLastError(); /* or the next configuration would be blamed for it */
    return false;
}

/* Whether there is a GPU; skips the configuration where there is none. */
static inline bool gpu_found(wm_state *st) {
    int count = 0;
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0) return true;
    wm_skip(st, "no GPU: %s", cudaGetErrorString(result == cudaSuccess ? cudaErrorNoDevice : result));
    return false;
}

/* An array on the GPU; NULL where the configuration has failed. */
static inline float *gpu_floats(wm_state *st, size_t count) {
    void *memory = NULL;
    cudaError_t result = cudaMalloc(&memory, count * sizeof(float));
    if (result == cudaSuccess) return (float *)memory;
    wm_fail(st, "no memory for %zu floats: %s", count, cudaGetErrorString(result));
    cudaGetLastError();
    return NULL;
}

/* Copies between host and GPU. */
static inline bool gpu_put(wm_state *st, float *to, const float *from, size_t count) {
    return GPU_OK(st, cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyHostToDevice));
}
static inline bool gpu_get(wm_state *st, float *to, const float *from, size_t count) {
    return GPU_OK(st, cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyDeviceToHost));
}

/* Whether what was launched has run to its end. */
static inline bool gpu_finished(wm_state *st) {
    return GPU_OK(st, cudaGetLastError()) && GPU_OK(st, cudaDeviceSynchronize());
}

/* The next number in [-1, 1), from Numerical Recipes' generator. */
static inline float gpu_next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}
static inline void gpu_fill(float *x, size_t count, uint32_t seed) {
    for (size_t i = 0; i < count; i++) x[i] = gpu_next(&seed);
}

#endif
