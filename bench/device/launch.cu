/* What a launch costs more while its time is taken:  launch [LAUNCHES] [ROUNDS]
 *
 * A loop of empty kernels, up to the device's rest, without and with a session, in turns.
 * Prints one line of JSON: medians in microseconds a launch, what ending the session cost a
 * kernel, and how many kernels it recorded. */
#include <algorithm>
#include <vector>

#include "device.h"

namespace {

enum { WARM = 1000 };

__global__ void empty_kernel() {}

double loop_us(long launches) {
    const double begin = now_s();
    for (long i = 0; i < launches; i++) empty_kernel<<<1, 1>>>();
    need(cudaDeviceSynchronize(), "the kernels");
    return 1e6 * (now_s() - begin) / static_cast<double>(launches);
}

struct measured {
    double loop_us, stop_us;
    long long kernels;
};

/* The first kernel after records were switched on waits for milliseconds: it is one of the
 * loop before. */
measured measured_loop(long launches) {
    wm_session *session = session_of_times();
    wm_error err = WM_ERROR_INIT;
    measured m;
    need(wm_session_start(session, &err), err);
    loop_us(WARM);
    WM_BEGIN("launches");
    m.loop_us = loop_us(launches);
    WM_END("launches");
    const double begin = now_s();
    need(wm_session_stop(session, &err), err);
    m.stop_us = 1e6 * (now_s() - begin) / static_cast<double>(launches);
    m.kernels = kernels_of(session, "launches");
    wm_session_destroy(session);
    return m;
}

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
    const long launches = argc > 1 ? std::atol(argv[1]) : 100000, rounds = argc > 2 ? std::atol(argv[2]) : 9;
    if (launches < 1 || rounds < 1) {
        std::fprintf(stderr, "usage: launch [LAUNCHES] [ROUNDS]\n");
        return 2;
    }
    std::vector<double> bare, with, stop;
    long long fewest = launches;
    loop_us(WARM);
    for (long i = 0; i < rounds; i++) {
        bare.push_back(loop_us(launches));
        const measured m = measured_loop(launches);
        with.push_back(m.loop_us);
        stop.push_back(m.stop_us);
        fewest = std::min(fewest, m.kernels);
    }
    std::printf("{\"launches\": %ld, \"bare_us\": %.4f, \"measured_us\": %.4f, \"stop_us\": %.4f, "
                "\"kernels\": %lld}\n",
                launches, median(bare), median(with), median(stop), fewest);
    return 0;
}
