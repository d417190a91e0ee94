/* A program that launches kernels on the fake GPU (tests/fakes/cuda), for command-line tests. Kernels
 * "alpha", "beta" and "gamma" last 1, 2 and 4 us; "setup" runs outside of any region. A script lets the
 * library find the fakes with WARPMETER_LIBCUPTI=$BIN/../fakes/libcupti.so.13. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"
#include "warpmeter.h"

static CUcontext context;
static CUstream streams[2];
static CUgraphExec graph;

static bool ok(wm_state *st, CUresult result) {
    const char *name = NULL;
    if (result == CUDA_SUCCESS) return true;
    (void)cuGetErrorName(result, &name);
    wm_fail(st, "%s", name ? name : "an error without a name");
    return false;
}

/* $BENCH_DEVICE is the number of the device; 0 unless given. */
static void open_device(wm_state *st) {
    const char *device = getenv("BENCH_DEVICE");
    if (context) return;
    fake_kernel_ns("alpha", 1000);
    fake_kernel_ns("beta", 2000);
    fake_kernel_ns("gamma", 4000);
    if (!ok(st, cuInit(0)) || !ok(st, cuCtxCreate_v2(&context, 0, device ? atoi(device) : 0))) return;
    (void)ok(st, cuStreamCreate(&streams[0], CU_STREAM_DEFAULT));
    (void)ok(st, cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING));
}

static void launch(wm_state *st, const char *kernel, unsigned blocks, CUstream stream) {
    (void)ok(st, cuLaunchKernel(fake_function(kernel), blocks, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
}

#define GPU_BENCHMARK(fn, options) WM_BENCHMARK_WITH(fn, open_device, NULL, NULL, options)

/* As many kernels in the region as n says, none for 0, and one before it. */
static void kernels(wm_state *st) {
    static const char *const names[] = {"alpha", "beta", "gamma"};
    int64_t n = wm_i64(st, "n");
    launch(st, "setup", 1, NULL);
    WM_BEGIN("work");
    for (int64_t i = 0; i < n; i++) launch(st, names[i % 3], (unsigned)n, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(kernels, "--axis n=[0,1,3] --runs 3")

/* Two regions, one after the other and of different kernels. */
static void regions(wm_state *st) {
    WM_BEGIN("small");
    launch(st, "alpha", 1, NULL);
    WM_END("small");
    WM_BEGIN("large");
    launch(st, "gamma", 8, NULL);
    launch(st, "beta", 8, NULL);
    WM_END("large");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(regions, "--runs 3")

/* A region inside another: the outer one has both kernels. */
static void nested(wm_state *st) {
    WM_BEGIN("outer");
    launch(st, "alpha", 1, NULL);
    WM_BEGIN("inner");
    launch(st, "beta", 1, NULL);
    WM_END("inner");
    WM_END("outer");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(nested, "--runs 3")

/* One kernel, launched in the way that `call` names. */
static CUresult launch_by(const char *call) {
    CUlaunchConfig config = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    CUfunction f = fake_function("alpha");
    if (strcmp(call, "ptsz") == 0) return cuLaunchKernel_ptsz(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    if (strcmp(call, "ex") == 0) return cuLaunchKernelEx(&config, f, NULL, NULL);
    if (strcmp(call, "ex_ptsz") == 0) return cuLaunchKernelEx_ptsz(&config, f, NULL, NULL);
    if (strcmp(call, "cooperative") == 0)
        return cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL);
    return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void calls(wm_state *st) {
    const char *call = wm_str(st, "call");
    WM_BEGIN("work");
    (void)ok(st, launch_by(call));
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(calls, "--axis call=[kernel,ptsz,ex,ex_ptsz,cooperative] --runs 2")

/* Three kernels from a thread that has no region open, while this one has. */
static void *work_apart(void *unused) {
    (void)unused;
    (void)cuCtxPushCurrent(context);
    for (int i = 0; i < 3; i++)
        (void)cuLaunchKernel(fake_function("alpha"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    (void)cuCtxPopCurrent(NULL);
    return NULL;
}

static void worker(wm_state *st) {
    pthread_t thread;
    WM_BEGIN("work");
    if (pthread_create(&thread, NULL, work_apart, NULL) == 0)
        pthread_join(thread, NULL);
    else
        wm_fail(st, "no thread");
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(worker, "--runs 2")

/* Regions that cross: the second begins in the first and ends after it. */
static void crossing(wm_state *st) {
    WM_BEGIN("first");
    launch(st, "alpha", 1, NULL);
    WM_BEGIN("second");
    launch(st, "beta", 1, NULL);
    WM_END("first");
    launch(st, "gamma", 1, NULL);
    WM_END("second");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(crossing, "--runs 2")

/* A region that is ended twice, and one that is not. */
static void unmatched(wm_state *st) {
    WM_BEGIN("twice");
    launch(st, "alpha", 1, NULL);
    WM_END("twice");
    WM_END("twice");
    WM_BEGIN("good");
    launch(st, "beta", 1, NULL);
    WM_END("good");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(unmatched, "--runs 2")

/* Three kernels from a thread without a region, while two other threads have one open each. */
static void *region_apart(void *unused) {
    pthread_t thread;
    (void)unused;
    WM_BEGIN("second");
    if (pthread_create(&thread, NULL, work_apart, NULL) == 0) pthread_join(thread, NULL);
    WM_END("second");
    return NULL;
}

static void ambiguous(wm_state *st) {
    pthread_t thread;
    WM_BEGIN("first");
    if (pthread_create(&thread, NULL, region_apart, NULL) == 0)
        pthread_join(thread, NULL);
    else
        wm_fail(st, "no thread");
    WM_END("first");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(ambiguous, "--runs 2")

/* A kernel of 1,000 s, of which the host sees nothing: times are made up. */
static void patient(wm_state *st) {
    fake_kernel_ns("patient", 1000000000000);
    WM_BEGIN("work");
    launch(st, "patient", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(patient, "--runs 2")

/* Two kernels, with 10 us between them in which the device rests. */
static void gap(wm_state *st) {
    WM_BEGIN("work");
    launch(st, "alpha", 1, NULL);
    (void)ok(st, cuCtxSynchronize());
    fake_advance(10000);
    launch(st, "alpha", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(gap, "--runs 2")

/* The first of two kernels has a record whose times cannot be true, in the second of three runs. */
static void untrue(wm_state *st) {
    static const struct {
        const char *name;
        uint64_t begin, end;
    } times[] = {{"zeros", 0, 0}, {"backwards", 5, 3}, {"huge", 1ULL << 63, 1ULL << 63}};
    static unsigned call; /* of the warm-up and three runs */
    const char *wanted = wm_str(st, "times");
    const bool second = call++ % 4 == 2;
    WM_BEGIN("work");
    for (size_t i = 0; i < sizeof times / sizeof *times && second; i++)
        if (strcmp(wanted, times[i].name) == 0) fake_record_times(times[i].begin, times[i].end, 1);
    launch(st, "alpha", 1, NULL);
    launch(st, "beta", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(untrue, "--axis times=[zeros,backwards,huge] --runs 3")

/* One kernel in the warm-up and the first three runs, then 3000: counters have room for fewer. */
static void grows(wm_state *st) {
    static unsigned call;
    const unsigned count = call++ < 4 ? 1 : 3000;
    WM_BEGIN("work");
    for (unsigned i = 0; i < count; i++) launch(st, "alpha", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(grows, "--runs 3")

/* Ends the program in the third run after the warm-up. */
static void quits(wm_state *st) {
    static unsigned call;
    WM_BEGIN("work");
    launch(st, "alpha", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
    if (++call < 4) return;
    if (strcmp(wm_str(st, "by"), "exit") == 0) exit(0);
    _exit(0);
}
GPU_BENCHMARK(quits, "--axis by=[exit,_exit] --runs 5")

/* Another number of kernels in every run, and another kernel in every other one. */
static void varies(wm_state *st) {
    static unsigned run;
    const char *kernel = run % 2 ? "beta" : "alpha";
    unsigned count = 1 + run % 3;
    run++;
    WM_BEGIN("work");
    for (unsigned i = 0; i < count; i++) launch(st, kernel, 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(varies, "--runs 6")

/* Kernels that overlap: two streams. */
static void overlap(wm_state *st) {
    WM_BEGIN("work");
    launch(st, "gamma", 1, streams[0]);
    launch(st, "gamma", 1, streams[1]);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
GPU_BENCHMARK(overlap, "--runs 2")

/* No kernel: a copy and a set of `bytes`. */
static void copies(wm_state *st) {
    int64_t bytes = wm_i64(st, "bytes");
    CUdeviceptr memory;
    char *host = calloc(1, (size_t)bytes);
    if (host && ok(st, cuMemAlloc(&memory, (size_t)bytes))) {
        WM_BEGIN("copy");
        (void)ok(st, cuMemcpyHtoD(memory, host, (size_t)bytes));
        WM_END("copy");
        WM_BEGIN("set");
        (void)ok(st, cuMemsetD8Async(memory, 0, (size_t)bytes, NULL));
        WM_END("set");
        (void)ok(st, cuCtxSynchronize());
        (void)ok(st, cuMemFree(memory));
    }
    free(host);
}
GPU_BENCHMARK(copies, "--axis bytes=[64,6400] --runs 2")

/* Two kernels, captured in one region and launched as a graph in another. */
static void graphs(wm_state *st) {
    CUgraph captured;
    WM_BEGIN("capture");
    if (!graph && ok(st, cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL))) {
        launch(st, "alpha", 1, streams[0]);
        launch(st, "beta", 1, streams[0]);
        if (ok(st, cuStreamEndCapture(streams[0], &captured))) {
            (void)ok(st, cuGraphInstantiate(&graph, captured, 0));
            (void)ok(st, cuGraphDestroy(captured));
        }
    }
    WM_END("capture");
    WM_BEGIN("replay");
    (void)ok(st, cuGraphLaunch(graph, streams[0]));
    WM_END("replay");
    (void)ok(st, cuCtxSynchronize());
}
static void graphs_end(wm_state *st) {
    if (graph) (void)ok(st, cuGraphExecDestroy(graph));
    graph = NULL;
}
WM_BENCHMARK_WITH(graphs, open_device, graphs_end, NULL, "--runs 2")

/* A program that makes its context anew for each configuration. */
static CUcontext anew_context;
static void anew_begin(wm_state *st) {
    fake_kernel_ns("alpha", 1000);
    if (ok(st, cuInit(0))) (void)ok(st, cuCtxCreate_v2(&anew_context, 0, 0));
}
static void anew(wm_state *st) {
    WM_BEGIN("work");
    launch(st, "alpha", 1, NULL);
    WM_END("work");
    (void)ok(st, cuCtxSynchronize());
}
static void anew_end(wm_state *st) {
    if (anew_context) (void)ok(st, cuCtxDestroy_v2(anew_context));
    anew_context = NULL;
}
WM_BENCHMARK_WITH(anew, anew_begin, anew_end, NULL, "--axis n=[1,2] --runs 2")

/* Code that uses no device. */
static void host(wm_state *st) {
    double sum = 0.0;
    (void)st;
    WM_BEGIN("work");
    for (int i = 0; i < 1000; i++) {
        sum += (double)i;
        WM_KEEP(sum);
    }
    WM_END("work");
}
WM_BENCHMARK(host, "--runs 3")

WM_MAIN()
