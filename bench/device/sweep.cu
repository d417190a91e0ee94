/* A small sweep as users make them: 2 configurations, 10 runs and 3 regions make 60 kernels
 * in regions, and the set-up in each call 80 more.
 *
 *     sweep FILE.json [OPTIONS]   measures it, with a sweep's options
 *     sweep plain                 runs the 140 kernels and measures nothing, for another profiler */
#include "device.h"
#include "kernels.h"
#include "timed_sweep.h"

namespace {

enum { LARGEST = 1024, TILE = 16, RUNS = 10 };
const int sizes[] = {512, LARGEST};

float *a, *b, *c, *rows, *out;
const size_t largest = size_t{LARGEST} * LARGEST, softmax_size = size_t{LARGEST} * SOFTMAX_COLUMNS;

__global__ void fill_kernel(float *x, size_t n, float value) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}

/* c = a * b; n is a multiple of TILE */
__global__ void product_kernel(const float *x, const float *y, float *z, int n) {
    __shared__ float tx[TILE][TILE], ty[TILE][TILE];
    const int i = static_cast<int>(threadIdx.y), k = static_cast<int>(threadIdx.x);
    const int row = static_cast<int>(blockIdx.y) * TILE + i, column = static_cast<int>(blockIdx.x) * TILE + k;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        tx[i][k] = x[row * n + t + k];
        ty[i][k] = y[(t + i) * n + column];
        __syncthreads();
        for (int s = 0; s < TILE; s++) sum += tx[i][s] * ty[s][k];
        __syncthreads();
    }
    z[row * n + column] = sum;
}

void allocate() {
    for (float **p : {&a, &b, &c}) need(cudaMalloc(p, largest * sizeof(float)), "cudaMalloc");
    for (float **p : {&rows, &out}) need(cudaMalloc(p, softmax_size * sizeof(float)), "cudaMalloc");
}

void fill(float *x, size_t n, float value) { fill_kernel<<<blocks_for(n), BLOCK>>>(x, n, value); }

cudaError_t work(int n) {
    const size_t size = static_cast<size_t>(n) * n;
    const dim3 tiles(static_cast<unsigned>(n) / TILE, static_cast<unsigned>(n) / TILE), tile(TILE, TILE);
    fill(a, size, 1.0f);
    fill(b, size, 0.5f);
    fill(c, size, 0.0f);
    fill(rows, static_cast<size_t>(n) * SOFTMAX_COLUMNS, 0.25f);
    WM_BEGIN("product");
    product_kernel<<<tiles, tile>>>(a, b, c, n);
    WM_END("product");
    WM_BEGIN("scale");
    scale_kernel<<<blocks_for(size / 4), BLOCK>>>(reinterpret_cast<float4 *>(a),
                                                  reinterpret_cast<float4 *>(b), size / 4);
    WM_END("scale");
    WM_BEGIN("softmax");
    softmax_rows(rows, out, static_cast<unsigned>(n));
    WM_END("softmax");
    const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    return launched == cudaSuccess ? ran : launched;
}

void run(wm_state *st) { good(st, work(static_cast<int>(wm_i64(st, "n"))), "the kernels"); }

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: sweep FILE.json [OPTIONS] | sweep plain\n");
        return 2;
    }
    allocate();
    if (std::strcmp(argv[1], "plain") == 0) {
        for (int n : sizes)
            for (int i = 0; i < RUNS; i++) need(work(n), "the kernels");
        return 0;
    }
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = "sweep";
    bench.run = run;
    bench.options = "--axis n=[512,1024] --runs 10";
    return timed_sweep(bench, argv[1], argc - 2, argv + 2);
}
