/* The product of two 4096 x 4096 matrices of fp16, accumulated in fp32, by cuBLAS. cuBLAS is
 * opened at run time: without it this benchmark alone is skipped. */
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <dlfcn.h>

#include <vector>

#include "device.h"

namespace {

enum { N = 4096 };

/* In C++ the header has a second cublasGemmEx; the library's own takes a compute type. */
using product_fn = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                      const void *, const void *, cudaDataType, int, const void *,
                                      cudaDataType, int, const void *, void *, cudaDataType, int,
                                      cublasComputeType_t, cublasGemmAlgo_t);

struct cublas_api {
    decltype(&cublasCreate_v2) create;
    decltype(&cublasDestroy_v2) destroy;
    product_fn product;
};

struct matrices {
    cublas_api api;
    cublasHandle_t handle;
    __half *a, *b, *c;
};

template <class F> bool find(void *library, const char *name, F *out) {
    *out = reinterpret_cast<F>(dlsym(library, name));
    return *out;
}

bool open_cublas(cublas_api *api) {
    void *library = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
        if (!library) library = dlopen(name, RTLD_NOW);
    return library && find(library, "cublasCreate_v2", &api->create) &&
           find(library, "cublasDestroy_v2", &api->destroy) && find(library, "cublasGemmEx", &api->product);
}

/* Values in -1 to 1 with all their bits in use: a product of zeros draws less power, and the
 * clock then stays higher than that of real work. */
std::vector<__half> some_values() {
    std::vector<__half> v(size_t{N} * N);
    uint32_t state = 1;
    for (__half &x : v) {
        state = state * 1664525u + 1013904223u;
        x = __float2half(static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f);
    }
    return v;
}

void release(matrices *m) {
    if (m->handle) m->api.destroy(m->handle);
    cudaFree(m->a);
    cudaFree(m->b);
    cudaFree(m->c);
    delete m;
}

bool fill(wm_state *st, matrices *m) {
    static const std::vector<__half> values = some_values();
    const size_t bytes = values.size() * sizeof(__half);
    for (__half **p : {&m->a, &m->b, &m->c})
        if (!good(st, cudaMalloc(p, bytes), "cudaMalloc") ||
            !good(st, cudaMemcpy(*p, values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy"))
            return false;
    const cublasStatus_t status = m->api.create(&m->handle);
    if (status != CUBLAS_STATUS_SUCCESS) wm_fail(st, "cublasCreate: status %d", status);
    return status == CUBLAS_STATUS_SUCCESS;
}

void setup(wm_state *st) {
    matrices *m = new matrices();
    if (!open_cublas(&m->api))
        wm_skip(st, "cuBLAS was not found");
    else if (fill(st, m)) {
        wm_set_data(st, m);
        return;
    }
    release(m);
}

void teardown(wm_state *st) {
    if (wm_data(st)) release(static_cast<matrices *>(wm_data(st)));
}

void gemm(wm_state *st) {
    const matrices *m = static_cast<matrices *>(wm_data(st));
    const float one = 1, zero = 0;
    WM_BEGIN("kernel");
    const cublasStatus_t status =
        m->api.product(m->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, m->a, CUDA_R_16F, N, m->b,
                       CUDA_R_16F, N, &zero, m->c, CUDA_R_16F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    WM_END("kernel");
    if (status != CUBLAS_STATUS_SUCCESS) wm_fail(st, "cublasGemmEx: status %d", status);
    good(st, cudaDeviceSynchronize(), "the product");
}
WM_BENCHMARK_WITH(gemm, setup, teardown, nullptr, nullptr)

} // namespace
