/* Hardware counters where the program does not do the same each time, or not what a plan expects. A value
 * may be missing, with a reason; it is never wrong. */
#include <cmath>

#include <cuda.h>

#include "device.h"
#include "kernels.h"

/* Its passes and those of FMA_METRIC together are several. */
static const char PERCENT[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char BOTH[] =
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed";

/* Every sample of a metric in a region is one of these or missing; how many were there. */
static size_t check_samples(const Session &session, const char *what, const char *region, const char *metric,
                            const std::vector<double> &right) {
    const Table samples = session.samples();
    size_t there = 0, wrong = 0;
    double example = NAN;
    std::string reason;
    for (size_t row = 0; row < samples.rows(); row++) {
        if (samples.text(row, "region") != region || samples.text(row, "metric") != metric) continue;
        const double value = samples.number(row, "value");
        if (std::isnan(value)) {
            reason = samples.text(row, "reason");
            check(!reason.empty(), "%s: a missing value of %s has a reason", what, region);
            continue;
        }
        there++;
        bool known = right.empty() && value >= 0.0;
        for (const double x : right) known = known || value == x;
        if (known) continue;
        wrong++;
        example = value;
    }
    check(wrong == 0, "%s: %s: %zu values, %zu wrong%s%s%s%s", what, region, there, wrong,
          wrong ? ", such as " : "", wrong ? std::to_string(example).c_str() : "",
          reason.empty() ? "" : ", others missing for ", reason.c_str());
    return there;
}

static bool any_reason(const Session &session, const char *region, const char *metric, const char *slug) {
    const Table samples = session.samples();
    for (size_t row = 0; row < samples.rows(); row++)
        if (samples.text(row, "region") == region && samples.text(row, "metric") == metric &&
            samples.text(row, "reason") == slug)
            return true;
    return false;
}

/* ---- passes that differ ---- */

static int calls;

static void one_more_every_third_call(wm_state *st) {
    WM_BEGIN("before");
    launch_multiply_adds<50>();
    WM_END("before");
    if (++calls % 3 == 0) {
        WM_BEGIN("more");
        launch_multiply_adds<10>();
        WM_END("more");
    }
    WM_BEGIN("after");
    launch_multiply_adds<100>();
    WM_END("after");
    finished(st);
}

static void passes_that_differ() {
    for (const char *replay : {"stacked", "window", "auto", "kernel"}) {
        const std::string what = std::string("a kernel more in every third call, --replay ") + replay;
        Session session(nullptr);
        calls = 0;
        session.sweep("differ", one_more_every_third_call,
                      {"--metrics", BOTH, "--runs", "4", "--warmup", "1", "--replay", replay});
        check_samples(session, what.c_str(), "before", FMA_METRIC, {0.5 * FMA_TOTAL});
        const size_t after = check_samples(session, what.c_str(), "after", FMA_METRIC, {FMA_TOTAL});
        check_samples(session, what.c_str(), "after", PERCENT, {});
        const bool replayed = !std::strcmp(replay, "auto") || !std::strcmp(replay, "kernel");
        if (replayed)
            check(after == 4, "%s: %zu of 4 values by replaying each kernel", what.c_str(), after);
        else if (!std::strcmp(replay, "stacked"))
            check(any_reason(session, "after", FMA_METRIC, "sequence"), "%s: the reason is the sequence",
                  what.c_str());
    }
}

/* ---- a number of kernels that differs from run to run ---- */

static void one_two_three(wm_state *st) {
    const int kernels = calls++ % 3 + 1;
    WM_BEGIN("some");
    for (int i = 0; i < kernels; i++) launch_multiply_adds<100>();
    WM_END("some");
    WM_BEGIN("none");
    WM_END("none");
    finished(st);
}

static void number_that_differs() {
    Session session(nullptr);
    calls = 0;
    session.sweep("number", one_two_three, {"--metrics", FMA_METRIC, "--runs", "6"});
    const size_t there = check_samples(session, "1, 2 or 3 kernels a run", "some", FMA_METRIC,
                                       {FMA_TOTAL, 2 * FMA_TOTAL, 3 * FMA_TOTAL});
    const double mean = session.table().mean("some", FMA_METRIC);
    check(there == 6 && mean == 2 * FMA_TOTAL,
          "1, 2 or 3 kernels a run: %zu of 6 values, on average %.0f of %.0f", there, mean, 2 * FMA_TOTAL);
    check(session.table().missing("none", FMA_METRIC) == "no-kernel",
          "no kernel in a region: no value, for: %s", session.table().missing("none", FMA_METRIC).c_str());
}

static void launch_nothing(wm_state *) {
    WM_BEGIN("none");
    WM_END("none");
}

static void nothing_launched() {
    Session session(nullptr);
    session.sweep("nothing", launch_nothing, {"--metrics", BOTH, "--runs", "3"});
    check(session.table().missing("none", FMA_METRIC) == "no-kernel",
          "nothing launched at all: no value, for: %s", session.table().missing("none", FMA_METRIC).c_str());
}

/* ---- cold caches ---- */

/* As a softmax does: reads a row three times and writes it once. */
static __global__ void rows_three_times(size_t cols, const float *x, float *y) {
    x += blockIdx.x * cols;
    y += blockIdx.x * cols;
    float top = 0.0f, sum = 0.0f;
    for (size_t j = threadIdx.x; j < cols; j += blockDim.x) top = fmaxf(top, x[j]);
    for (size_t j = threadIdx.x; j < cols; j += blockDim.x) sum += __expf(x[j] - top);
    for (size_t j = threadIdx.x; j < cols; j += blockDim.x) y[j] = __expf(x[j] - top) / sum;
}

static const size_t COLS = 1024;
static size_t rows;
static float *from, *to;

static void read_and_write(wm_state *st) {
    WM_BEGIN("rows");
    rows_three_times<<<static_cast<unsigned>(rows), 256>>>(COLS, from, to);
    WM_END("rows");
    finished(st);
}

/* What the kernel writes fits into a quarter of the L2, where it stays: nothing of it need be written to
 * memory while it runs, unless lines that others left dirty make room for it. */
static void cold_caches() {
    static const char READ[] = "dram__bytes_read.sum", WRITTEN[] = "dram__bytes_write.sum";
    int l2 = 0;
    NEED(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    rows = static_cast<size_t>(l2) / 4 / (COLS * sizeof(float));
    if (rows == 0) return;
    const double bytes = static_cast<double>(rows * COLS * sizeof(float));
    NEED(cudaMalloc(&from, rows * COLS * sizeof(float)));
    NEED(cudaMalloc(&to, rows * COLS * sizeof(float)));
    NEED(cudaMemset(from, 0, rows * COLS * sizeof(float)));

    double read[2], written[2];
    const char *const caches[2] = {"none", "all"};
    for (int i = 0; i < 2; i++) {
        Session session(nullptr);
        session.sweep("cold", read_and_write,
                      {"--metrics", "dram__bytes_read.sum,dram__bytes_write.sum,kernel_count", "--runs", "5",
                       "--cache-control", caches[i]});
        const Table table = session.table();
        read[i] = table.mean("rows", READ);
        written[i] = table.mean("rows", WRITTEN);
        std::printf("        --cache-control %s: %.2f MB read, %.2f MB written of %.2f MB\n", caches[i],
                    read[i] / 1e6, written[i] / 1e6, bytes / 1e6);
        check(table.mean("rows", "kernel_count") == 1, "--cache-control %s: %g of 1 kernel", caches[i],
              table.mean("rows", "kernel_count"));
    }
    check(read[1] >= 0.9 * bytes, "cold: all of the input is read from memory: %.2f of %.2f MB",
          read[1] / 1e6, bytes / 1e6);
    check(read[0] < 0.5 * bytes, "warm: the input is in the cache: %.2f of %.2f MB read", read[0] / 1e6,
          bytes / 1e6);
    check(written[1] < 0.5 * bytes, "cold: the flush leaves clean lines: %.2f MB written, of %.2f",
          written[1] / 1e6, bytes / 1e6);
    NEED(cudaFree(from));
    NEED(cudaFree(to));
}

/* ---- graphs ---- */

/* A counter of the hardware, which is right for a graph; counters of machine instructions are not. Each
 * warp executes its multiply-adds, and few other instructions. */
static const char INSTRUCTIONS[] = "smsp__inst_executed.sum";
static const char INSTRUCTIONS_AND_FMA[] =
    "smsp__inst_executed.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
static const double LEAST_INSTRUCTIONS = 1.5 * FMA_TOTAL / 32;

static cudaGraphExec_t graph;

static void make_graph() {
    cudaStream_t stream;
    cudaGraph_t made;
    NEED(cudaStreamCreate(&stream));
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_multiply_adds<100>(stream);
    launch_multiply_adds<50>(stream);
    NEED(cudaStreamEndCapture(stream, &made));
    NEED(cudaGraphInstantiate(&graph, made, 0));
    NEED(cudaGraphDestroy(made));
    NEED(cudaStreamDestroy(stream));
}

static void launch_a_graph(wm_state *st) {
    WM_BEGIN("graph");
    GOOD(st, cudaGraphLaunch(graph, nullptr));
    WM_END("graph");
    WM_BEGIN("kernels");
    launch_multiply_adds<100>();
    launch_multiply_adds<50>();
    WM_END("kernels");
    finished(st);
}

/* Two regions that execute the same kernels, one of them as a graph. */
static void check_graph(const Table &table, const char *what) {
    const double of_graph = table.mean("graph", INSTRUCTIONS), plain = table.mean("kernels", INSTRUCTIONS);
    check(of_graph >= LEAST_INSTRUCTIONS && of_graph <= 1.5 * LEAST_INSTRUCTIONS,
          "%s: %.0f instructions, at least %.0f of them multiply-adds", what, of_graph, LEAST_INSTRUCTIONS);
    check(std::fabs(of_graph - plain) <= 0.01 * plain, "%s: %.0f instructions, and %.0f without the graph",
          what, of_graph, plain);
    for (const char *region : {"graph", "kernels"})
        check(table.missing(region, FMA_METRIC) == "not-counted", "%s: no multiply-adds for %s, for: %s",
              what, region, table.missing(region, FMA_METRIC).c_str());
}

static void graphs() {
    make_graph();
    for (const char *caches : {"none", "all"}) {
        const std::string what = std::string("a graph of two kernels, --cache-control ") + caches;
        const std::string metrics = std::string(INSTRUCTIONS_AND_FMA) + ",kernel_count";
        Session session(nullptr);
        session.sweep("graphs", launch_a_graph,
                      {"--metrics", metrics.c_str(), "--runs", "3", "--cache-control", caches});
        check_graph(session.table(), what.c_str());
        check_samples(session, what.c_str(), "graph", "kernel_count", {2});
    }
    NEED(cudaGraphExecDestroy(graph));
}

/* ---- two contexts: the counters of a device are read in the first of them ---- */

template <typename Function> static Function driver(const char *name) {
    void *found = nullptr;
    NEED(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, nullptr));
    if (!found) check(false, "the driver has %s", name);
    return reinterpret_cast<Function>(found);
}

typedef CUresult (*CreateContext)(CUcontext *, unsigned, CUdevice);
static CUcontext second;

static void launch_in_two_contexts(wm_state *st) {
    static const auto push = driver<decltype(&cuCtxPushCurrent)>("cuCtxPushCurrent");
    static const auto pop = driver<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent");
    WM_BEGIN("first");
    launch_multiply_adds<100>();
    WM_END("first");
    finished(st);
    CUcontext popped;
    if (push(second) != CUDA_SUCCESS) wm_fail(st, "the second context cannot be entered");
    WM_BEGIN("second");
    launch_multiply_adds<50>();
    WM_END("second");
    finished(st);
    if (pop(&popped) != CUDA_SUCCESS) wm_fail(st, "the second context cannot be left");
}

static void two_contexts() {
    void *found = nullptr;
    NEED(cudaGetDriverEntryPointByVersion("cuCtxCreate", &found, 11000, cudaEnableDefault, nullptr));
    const CUresult made =
        found ? reinterpret_cast<CreateContext>(found)(&second, 0, 0) : CUDA_ERROR_NOT_FOUND;
    if (made != CUDA_SUCCESS) {
        std::printf("        two contexts: left out, error %d of the driver\n", static_cast<int>(made));
        return;
    }
    CUcontext popped;
    driver<decltype(&cuCtxPopCurrent)>("cuCtxPopCurrent")(&popped);
    const std::string metrics = std::string(FMA_METRIC) + ",kernel_time,kernel_count";
    Session session(nullptr);
    session.sweep("contexts", launch_in_two_contexts, {"--metrics", metrics.c_str(), "--runs", "3"});
    const Table table = session.table();
    const size_t there = check_samples(session, "two contexts", "first", FMA_METRIC, {FMA_TOTAL});
    check(there == 3, "two contexts: %zu of 3 values in the first", there);
    check(table.missing("second", FMA_METRIC) == "backend", "two contexts: no value in the second, for: %s",
          table.missing("second", FMA_METRIC).c_str());
    for (const char *region : {"first", "second"})
        check(table.mean(region, "kernel_count") == 1 && table.mean(region, "kernel_time") > 0,
              "two contexts: %s: %g of 1 kernel, %g ns", region, table.mean(region, "kernel_count"),
              table.mean(region, "kernel_time"));
    driver<decltype(&cuCtxDestroy)>("cuCtxDestroy")(second);
}

int main() {
    device_begin(540);
    NEED(cudaFree(nullptr));
    number_that_differs();
    nothing_launched();
    cold_caches();
    graphs();
    two_contexts();
    passes_that_differ();
    return device_end();
}
