/* Kernels of known length and of known work. */
#ifndef TESTS_DEVICE_KERNELS_H
#define TESTS_DEVICE_KERNELS_H

/* One thread waits that long. */
static __global__ void spin(unsigned long long ns) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < ns);
}

/* Every thread makes COUNT fused multiply-adds, and no other. Their operands are three registers: of an
 * instruction that has one of them twice NVIDIA's counter, which ncu reads too, misses some 6 %. The store,
 * which is never made, keeps them. */
template <int COUNT> static __global__ void multiply_adds(float factor, float summand, float *never) {
    float x = factor + static_cast<float>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(factor), "f"(summand));
    if (x == 1e30f) *never = x;
}

/* With this many threads a kernel of 100 makes this many. */
enum { FMA_THREADS = 256, FMA_BLOCKS = 4096 };
static const double FMA_TOTAL = 104857600.0; /* 2^20 * 100 */
static const char FMA_METRIC[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

template <int COUNT> static void launch_multiply_adds(cudaStream_t stream = nullptr) {
    multiply_adds<COUNT><<<FMA_BLOCKS, FMA_THREADS, 0, stream>>>(0.5f, 0.25f, nullptr);
}

#endif
