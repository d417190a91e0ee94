/* How much memory the times of many kernels in one run take:  memory [LAUNCHES]
 *
 * Prints one line of JSON: the most memory that the process had in use before and after, in
 * bytes, and how many kernels were recorded. A short session comes first, so that what CUDA
 * and CUPTI take once is not counted. */
#include "device.h"

namespace {

enum { FIRST = 1000 };

__global__ void empty_kernel() {}

long long most_memory_bytes() {
    long long kib = -1;
    char line[256];
    FILE *f = std::fopen("/proc/self/status", "r");
    while (f && kib < 0 && std::fgets(line, sizeof line, f))
        if (std::sscanf(line, "VmHWM: %lld", &kib) != 1) kib = -1;
    if (f) std::fclose(f);
    if (kib < 0) {
        std::fprintf(stderr, "/proc/self/status has no VmHWM\n");
        std::exit(1);
    }
    return 1024 * kib;
}

long long measure(long launches) {
    wm_session *session = session_of_times();
    wm_error err = WM_ERROR_INIT;
    need(wm_session_start(session, &err), err);
    WM_BEGIN("launches");
    for (long i = 0; i < launches; i++) empty_kernel<<<1, 1>>>();
    need(cudaDeviceSynchronize(), "the kernels");
    WM_END("launches");
    need(wm_session_stop(session, &err), err);
    const long long kernels = kernels_of(session, "launches");
    wm_session_destroy(session);
    return kernels;
}

} // namespace

int main(int argc, char **argv) {
    const long launches = argc > 1 ? std::atol(argv[1]) : 1000000;
    if (launches < 1) {
        std::fprintf(stderr, "usage: memory [LAUNCHES]\n");
        return 2;
    }
    measure(FIRST);
    const long long before = most_memory_bytes(), kernels = measure(launches), after = most_memory_bytes();
    std::printf("{\"launches\": %ld, \"before\": %lld, \"after\": %lld, \"kernels\": %lld}\n", launches,
                before, after, kernels);
    return 0;
}
