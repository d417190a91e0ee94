// What one begin/end pair costs, beside what a clock costs, and beside Google Benchmark's
// PauseTiming + ResumeTiming, all in one run. Each figure is the median of 200 rounds of
// 1,000 pairs, in ns a pair.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "warpmeter.h"

namespace {

constexpr int kRounds = 200, kPairs = 1000;

double now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
    return v[v.size() / 2];
}

template <class Before, class Body, class After> double pair_ns(Before before, Body body, After after) {
    std::vector<double> rounds;
    for (int r = 0; r < kRounds; r++) {
        before();
        const double begin = now_ns();
        for (int i = 0; i < kPairs; i++) body();
        rounds.push_back((now_ns() - begin) / kPairs);
        after();
    }
    return median(rounds);
}

void nothing() {}

double two_clock_reads() {
    return pair_ns(
        nothing,
        [] {
            timespec a, b;
            clock_gettime(CLOCK_MONOTONIC, &a);
            clock_gettime(CLOCK_MONOTONIC, &b);
            wm_keep(&a);
            wm_keep(&b);
        },
        nothing);
}

#if defined(__x86_64__)
double two_counter_reads() {
    return pair_ns(
        nothing,
        [] {
            unsigned long long a = __builtin_ia32_rdtsc();
            WM_KEEP(a);
            unsigned long long b = __builtin_ia32_rdtsc();
            WM_KEEP(b);
        },
        nothing);
}
#endif

void marked() {
    WM_BEGIN("pair");
    WM_END("pair");
}

double without_session() { return pair_ns(nothing, marked, nothing); }

double with_session() {
    wm_session *session = nullptr;
    wm_error err = WM_ERROR_INIT;
    if (wm_session_create(nullptr, &session, &err) != WM_OK) {
        std::fprintf(stderr, "bench_marks: %s\n", err.message);
        std::exit(1);
    }
    auto check = [&err](wm_status status) {
        if (status == WM_OK) return;
        std::fprintf(stderr, "bench_marks: %s\n", err.message);
        std::exit(1);
    };
    const double ns = pair_ns([&] { check(wm_session_start(session, &err)); }, marked,
                              [&] { check(wm_session_stop(session, &err)); });
    wm_session_destroy(session);
    return ns;
}

double google_ns;

void pause_resume(benchmark::State &state) {
    for (auto _ : state)
        google_ns = pair_ns(
            nothing,
            [&state] {
                state.PauseTiming();
                state.ResumeTiming();
            },
            nothing);
}
BENCHMARK(pause_resume)->Iterations(1);

class NoReporter : public benchmark::BenchmarkReporter {
    bool ReportContext(const Context &) override { return true; }
    void ReportRuns(const std::vector<Run> &) override {}
};

} // namespace

int main(int argc, char **argv) {
    NoReporter quiet;
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks(&quiet);
    const double clock = two_clock_reads(), off = without_session(), on = with_session();
    std::printf("%-48s %9s %s\n", "one pair", "ns", "ratio");
    std::printf("%-48s %9.2f\n", "two reads of CLOCK_MONOTONIC", clock);
#if defined(__x86_64__)
    const double counter = two_counter_reads();
    std::printf("%-48s %9.2f\n", "two reads of the cycle counter", counter);
#endif
    std::printf("%-48s %9.2f %.2f of two clock reads\n", "begin/end, session active", on, on / clock);
    std::printf("%-48s %9.2f\n", "begin/end, no session", off);
    std::printf("%-48s %9.2f %.1f times begin/end\n", "Google Benchmark's PauseTiming + ResumeTiming",
                google_ns, google_ns / on);
    return 0;
}
