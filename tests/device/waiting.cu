/* Kernels that wait for each other, where kernels have to be run one by one: nothing hangs, and the kernel
 * is named. */
#include "device.h"
#include "kernels.h"

/* Until another kernel raises the flag; after four seconds all the same, so that the test ends. */
static __global__ void wants_the_other(const volatile int *flag) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (!*flag && now - begin < 4000000000ull);
}
static __global__ void raises(volatile int *flag) { *flag = 1; }

static cudaStream_t streams[2];
static int *flag;

static void pair(wm_state *st) {
    if (!GOOD(st, cudaMemset(flag, 0, sizeof *flag)) || !finished(st)) return;
    WM_BEGIN("pair");
    wants_the_other<<<1, 1, 0, streams[0]>>>(flag);
    raises<<<1, 1, 0, streams[1]>>>(flag);
    WM_END("pair");
    finished(st);
}

/* Both load their code, which a launch may wait for the device to do. */
static void warm_up() {
    NEED(cudaMemset(flag, 1, sizeof *flag));
    wants_the_other<<<1, 1, 0, streams[0]>>>(flag);
    raises<<<1, 1, 0, streams[1]>>>(flag);
    NEED(cudaDeviceSynchronize());
}

static void measure(const char *what, const std::vector<const char *> &options, bool waits) {
    session_log.clear();
    Session session(nullptr);
    session.sweep("waiting", pair, options);
    check(was_logged("wants_the_other") == waits, "%s: the kernel that waits is%s named", what,
          waits ? "" : " not");
}

int main() {
    device_begin(180);
    for (cudaStream_t &stream : streams) NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    NEED(cudaMalloc(&flag, sizeof *flag));
    warm_up();
    measure("times alone", {"--metrics", "kernel_time", "--runs", "3", "--hang-time", "500ms"}, false);
    measure("counters", {"--metrics", FMA_METRIC, "--runs", "1", "--hang-time", "500ms"}, true);
    measure("cold caches",
            {"--metrics", "kernel_time", "--cache-control", "all", "--runs", "1", "--hang-time", "500ms"},
            true);
    return device_end();
}
