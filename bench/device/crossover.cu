/* 50 kernels in regions among many that are in none:  crossover FILE.json UNMARKED [OPTIONS]
 *
 * 10 runs of 5 regions with a kernel each, and before each of these an equal share of the
 * UNMARKED kernels of all runs together. With few of them one window over all is cheaper,
 * with many a window for each region. */
#include "device.h"
#include "kernels.h"
#include "timed_sweep.h"

namespace {

enum { REGIONS = 5, MARKED = 50 };
const size_t quads = size_t{1} << 20;
float4 *x, *y;
long before_each;

void launch() { scale_kernel<<<blocks_for(quads), BLOCK>>>(x, y, quads); }

void run(wm_state *st) {
    for (int region = 0; region < REGIONS; region++) {
        for (long i = 0; i < before_each; i++) launch();
        WM_BEGIN("marked");
        launch();
        WM_END("marked");
    }
    if (good(st, cudaGetLastError(), "a launch")) good(st, cudaDeviceSynchronize(), "the kernels");
}

} // namespace

int main(int argc, char **argv) {
    const long unmarked = argc > 2 ? std::atol(argv[2]) : -1;
    if (unmarked < 0 || unmarked % MARKED != 0) {
        std::fprintf(stderr, "usage: crossover FILE.json UNMARKED [OPTIONS], UNMARKED a multiple of %d\n",
                     MARKED);
        return 2;
    }
    before_each = unmarked / MARKED;
    need(cudaMalloc(&x, quads * sizeof *x), "cudaMalloc");
    need(cudaMalloc(&y, quads * sizeof *y), "cudaMalloc");
    need(cudaMemset(x, 0, quads * sizeof *x), "cudaMemset");
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = "crossover";
    bench.run = run;
    bench.options = "--runs 10";
    return timed_sweep(bench, argv[1], argc - 3, argv + 3);
}
