/* What reading the machine's state costs a loop of short runs, and what it says of a GPU at work and
 * at rest.
 *
 *   state loop RUNS REPETITIONS    prints JSON: seconds of a sweep of runs of 1 ms, with and without
 *   state work FILE                writes a table: runs of 2 s, at work and at rest */
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "device.h"

namespace {

const unsigned blocks = 264, threads = 1024;
float *result;

/* All multiprocessors multiply and add for that long. */
__global__ void burn_kernel(float *out, unsigned long long ns) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    float x = static_cast<float>(threadIdx.x);
    do {
        for (int i = 0; i < 256; i++) x = __fmaf_rn(x, 0.999f, 1.0f);
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begin < ns);
    if (x < 0) *out = x;
}

void burn(wm_state *st, unsigned long long ns) {
    WM_BEGIN("burn");
    burn_kernel<<<blocks, threads>>>(result, ns);
    good(st, cudaDeviceSynchronize(), "the kernel");
    WM_END("burn");
}

void one_ms(wm_state *st) { burn(st, 1000000); }

void two_s(wm_state *st) {
    if (wm_bool(st, "work")) {
        burn(st, 2000000000);
        return;
    }
    WM_BEGIN("rest");
    usleep(2000000);
    WM_END("rest");
}

double sweep_s(const wm_benchmark &bench, const std::vector<const char *> &options, const char *file) {
    wm_session *session = nullptr;
    wm_sweep *sweep = nullptr;
    wm_table *table = nullptr;
    wm_error err = WM_ERROR_INIT;
    need(wm_session_create(nullptr, &session, &err), err);
    need(wm_sweep_create(session, &bench, static_cast<int>(options.size()), options.data(), &sweep, &err),
         err);
    wm_step step = WM_STEP_INIT;
    double begin = 0;
    while (wm_sweep_next(sweep, &step, &err)) {
        if (step.run == 0 && begin == 0) begin = now_s(); /* warmed up: records are on, sensors known */
        wm_step_call(&step);
        need(wm_sweep_done(sweep, &step, WM_OK, nullptr, &err), err);
    }
    need(err.code, err);
    const double took = now_s() - begin;
    need(wm_session_table(session, &table, &err), err);
    if (file) need(wm_table_write(table, file, "json", nullptr, &err), err);
    wm_table_destroy(table);
    wm_sweep_destroy(sweep);
    wm_session_destroy(session);
    return took;
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

int loop(const char *runs, int repetitions) {
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = "loop";
    bench.run = one_ms;
    const auto measure = [&](const char *state) {
        return sweep_s(bench,
                       {"--runs", runs, "--metrics", "kernel_time", "--thermal", "off", "--state", state},
                       nullptr);
    };
    std::vector<double> with, without, ratios;
    measure("on");
    for (int i = 0; i < repetitions; i++) {
        if (i % 2) with.push_back(measure("on"));
        without.push_back(measure("off"));
        if (i % 2 == 0) with.push_back(measure("on"));
        ratios.push_back(with.back() / without.back());
    }
    std::printf("{\"off_s\": %.5f, \"on_s\": %.5f, \"ratio\": %.5f, \"lowest\": %.5f, \"highest\": %.5f}\n",
                median(without), median(with), median(ratios),
                *std::min_element(ratios.begin(), ratios.end()),
                *std::max_element(ratios.begin(), ratios.end()));
    return 0;
}

int work(const char *file) {
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = "work";
    bench.run = two_s;
    sweep_s(bench,
            {"--axis", "work=[false,true]", "--runs", "3", "--metrics", "time,kernel_count", "--thermal",
             "off", "--state", "on"},
            file);
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    need(cudaMalloc(&result, sizeof *result), "cudaMalloc");
    if (argc == 4 && std::strcmp(argv[1], "loop") == 0) return loop(argv[2], std::atoi(argv[3]));
    if (argc == 3 && std::strcmp(argv[1], "work") == 0) return work(argv[2]);
    std::fprintf(stderr, "usage: state loop RUNS REPETITIONS | state work FILE\n");
    return 2;
}
