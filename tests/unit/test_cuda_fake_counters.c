/* The fake counters behave as real ones were seen to. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cupti_dl.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

#define TIME "gpu__time_duration.sum"
#define SM   "sm__throughput.avg.pct_of_peak_sustained_elapsed"

#define PARAMS(type, name, ...)                                                                              \
    CUpti_##type##_Params name = {.structSize = CUpti_##type##_Params_STRUCT_SIZE, __VA_ARGS__}
#define OK(call) assert_int_equal((int)(call), 0)

static wmi_cupti_api cupti;
static CUcontext context;
static CUpti_Profiler_Host_Object *host;
static CUpti_RangeProfiler_Object *profiler;
static uint8_t config[1024], image[65536];
static size_t config_size, image_size;

static int load(void **state) {
    void *handle = dlopen(getenv("WARPMETER_LIBCUPTI"), RTLD_NOW | RTLD_LOCAL);
    (void)state;
    if (!handle) return -1;
#define CUPTI_SYMBOL(name, optional)                                                                         \
    memcpy(&cupti.name, &(void *){dlsym(handle, "cupti" #name)}, sizeof(void *));
    WMI_CUPTI_SYMBOLS(CUPTI_SYMBOL)
    return 0;
}

static int fresh(void **state) {
    PARAMS(Profiler_Host_Initialize, h, .pChipName = "GH100");
    (void)state;
    fake_reset();
    OK(cuCtxCreate_v2(&context, 0, 0));
    PARAMS(RangeProfiler_Enable, e, .ctx = context);
    OK(cupti.RangeProfilerEnable(&e));
    profiler = e.pRangeProfilerObject;
    OK(cupti.ProfilerHostInitialize(&h));
    host = h.pHostObject;
    return 0;
}

static int done(void **state) {
    PARAMS(Profiler_Host_Deinitialize, d, .pHostObject = host);
    (void)state;
    OK(cupti.ProfilerHostDeinitialize(&d));
    return 0;
}

static void launch(const char *kernel) {
    OK(cuLaunchKernel(fake_function(kernel), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

/* A configuration and an image for one metric; returns the passes. */
static size_t configure(const char *metric, size_t ranges) {
    PARAMS(Profiler_Host_ConfigAddMetrics, add, .pHostObject = host, .ppMetricNames = &metric,
           .numMetrics = 1);
    PARAMS(Profiler_Host_GetConfigImageSize, size, .pHostObject = host);
    OK(cupti.ProfilerHostConfigAddMetrics(&add));
    OK(cupti.ProfilerHostGetConfigImageSize(&size));
    config_size = size.configImageSize;
    PARAMS(Profiler_Host_GetConfigImage, get, .pHostObject = host, .configImageSize = config_size,
           .pConfigImage = config);
    OK(cupti.ProfilerHostGetConfigImage(&get));
    PARAMS(Profiler_Host_GetNumOfPasses, passes, .configImageSize = config_size, .pConfigImage = config);
    OK(cupti.ProfilerHostGetNumOfPasses(&passes));
    PARAMS(RangeProfiler_GetCounterDataSize, data, .pRangeProfilerObject = profiler, .pMetricNames = &metric,
           .numMetrics = 1, .maxNumOfRanges = ranges, .maxNumRangeTreeNodes = (uint32_t)ranges);
    OK(cupti.RangeProfilerGetCounterDataSize(&data));
    image_size = data.counterDataSize;
    assert_true(image_size <= sizeof image);
    PARAMS(RangeProfiler_CounterDataImage_Initialize, init, .pRangeProfilerObject = profiler,
           .counterDataSize = image_size, .pCounterData = image);
    OK(cupti.RangeProfilerCounterDataImageInitialize(&init));
    return passes.numOfPasses;
}

static CUptiResult set(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay, size_t pass) {
    PARAMS(RangeProfiler_SetConfig, p, .pRangeProfilerObject = profiler, .configSize = config_size,
           .pConfig = config, .counterDataImageSize = image_size, .pCounterDataImage = image, .range = range,
           .replayMode = replay, .maxRangesPerPass = 4, .numNestingLevels = 1, .minNestingLevel = 1,
           .passIndex = pass);
    return cupti.RangeProfilerSetConfig(&p);
}

static CUptiResult start(void) {
    PARAMS(RangeProfiler_Start, p, .pRangeProfilerObject = profiler);
    return cupti.RangeProfilerStart(&p);
}

/* Returns whether all passes are in. */
static bool stop(void) {
    PARAMS(RangeProfiler_Stop, p, .pRangeProfilerObject = profiler);
    OK(cupti.RangeProfilerStop(&p));
    return p.isAllPassSubmitted;
}

/* Returns how many were dropped. */
static size_t decode(void) {
    PARAMS(RangeProfiler_DecodeData, p, .pRangeProfilerObject = profiler);
    OK(cupti.RangeProfilerDecodeData(&p));
    return p.numOfRangeDropped;
}

static size_t ranges(void) {
    PARAMS(RangeProfiler_GetCounterDataInfo, p, .pCounterDataImage = image,
           .counterDataImageSize = image_size);
    OK(cupti.RangeProfilerGetCounterDataInfo(&p));
    return p.numTotalRanges;
}

static double value(size_t range, const char *metric) {
    double v = -1.0;
    PARAMS(Profiler_Host_EvaluateToGpuValues, p, .pHostObject = host, .pCounterDataImage = image,
           .counterDataImageSize = image_size, .rangeIndex = range, .ppMetricNames = &metric, .numMetrics = 1,
           .pMetricValues = &v);
    OK(cupti.ProfilerHostEvaluateToGpuValues(&p));
    return v;
}

static void wrong_names(void **state) {
    static const char *const wrong[] = {"gpu__time_duration", "bogus__x.sum", "dram__bytes_read.bogus", "a,b",
                                        "TriageA.sm__throughput.avg.pct_of_peak_sustained_elapsed"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *name = wrong[i];
        PARAMS(Profiler_Host_ConfigAddMetrics, add, .pHostObject = host, .ppMetricNames = &name,
               .numMetrics = 1);
        assert_int_equal(cupti.ProfilerHostConfigAddMetrics(&add), CUPTI_ERROR_INVALID_PARAMETER);
    }
    PARAMS(Profiler_Host_GetConfigImageSize, size, .pHostObject = host);
    assert_int_equal(cupti.ProfilerHostGetConfigImageSize(&size), CUPTI_ERROR_UNKNOWN);
    PARAMS(Profiler_Host_GetMetricProperties, p, .pHostObject = host, .pMetricName = "bogus");
    assert_int_equal(cupti.ProfilerHostGetMetricProperties(&p), CUPTI_ERROR_INVALID_METRIC_NAME);
    p.pMetricName = "dram__bytes_read.sum.per_second";
    OK(cupti.ProfilerHostGetMetricProperties(&p));
    assert_string_equal(p.pDimUnit, "byte/second");
    PARAMS(Profiler_Host_Initialize, h, .pChipName = "XX100");
    assert_int_equal(cupti.ProfilerHostInitialize(&h), 46);
}

static void one_pass_appends(void **state) {
    (void)state;
    assert_int_equal(configure(TIME, 3), 1);
    fake_kernel_ns("long", 5000);
    for (int i = 0; i < 2; i++) {
        OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
        OK(start());
        launch("short");
        OK(cuMemsetD8(0x1000, 0, 64)); /* no range */
        launch("long");
        assert_true(stop());
        assert_int_equal(decode(), i == 0 ? 0 : 1); /* the fourth finds no room */
    }
    assert_int_equal(ranges(), 3);
    assert_true(value(0, TIME) == FAKE_KERNEL_NS);
    assert_true(value(1, TIME) == 5000.0);
    assert_true(isnan(value(0, SM))); /* not in the image */
}

static void start_wants_a_configuration(void **state) {
    (void)state;
    configure(TIME, 4);
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    OK(start());
    assert_true(stop());
    assert_int_equal(start(), CUPTI_ERROR_UNKNOWN);
    assert_int_equal(set(CUPTI_AutoRange, CUPTI_UserReplay, 0), CUPTI_ERROR_UNKNOWN); /* broken for good */
    PARAMS(RangeProfiler_Disable, d, .pRangeProfilerObject = profiler);
    OK(cupti.RangeProfilerDisable(&d));
    PARAMS(RangeProfiler_Enable, e, .ctx = context);
    OK(cupti.RangeProfilerEnable(&e));
    profiler = e.pRangeProfilerObject;
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    OK(start());
}

static double by_launch(void *user, const fake_range *range, const char *metric) {
    (void)user;
    (void)metric;
    return 100.0 * (double)range->pass + (double)range->range +
           (strcmp(range->kernel, "odd") == 0 ? 0.5 : 0.0);
}

static void passes_in_a_row(void **state) {
    size_t passes = configure(SM, 4);
    (void)state;
    assert_int_equal(passes, 8);
    fake_values(by_launch, NULL);
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    for (size_t i = 0; i < passes; i++) {
        OK(start());
        launch("k");
        launch(i + 1 == passes ? "odd" : "k"); /* another kernel in the last pass: wrong without a word */
        if (i > 0) launch("k");                /* not in every pass */
        assert_int_equal(stop(), i + 1 == passes);
    }
    assert_int_equal(decode(), 0);
    assert_int_equal(ranges(), 3);
    assert_true(value(0, SM) == 700.0);
    assert_true(value(1, SM) == 701.5);
    assert_true(isnan(value(2, SM)));
}

static void windows_with_several_passes(void **state) {
    size_t passes = configure(SM, 16);
    (void)state;
    for (size_t i = 0; i < passes; i++) {
        OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0)); /* the first pass again, it says */
        OK(start());
        launch("k");
        (void)stop();
    }
    (void)decode();
    assert_true(ranges() > 0 && isnan(value(0, SM)));
}

static void kernel_replay_in_one_window(void **state) {
    (void)state;
    (void)configure(SM, 4);
    OK(set(CUPTI_AutoRange, CUPTI_KernelReplay, 0));
    OK(start());
    for (int i = 0; i < 5; i++) launch("k");
    assert_true(stop());
    assert_int_equal(decode(), 1); /* maxRangesPerPass is 4 */
    assert_int_equal(ranges(), 4);
    assert_true(value(3, SM) == 50.0);
}

static void pushed_ranges(void **state) {
    PARAMS(RangeProfiler_PushRange, push, .pRangeProfilerObject = profiler, .pRangeName = "region");
    PARAMS(RangeProfiler_PopRange, pop, .pRangeProfilerObject = profiler);
    (void)state;
    (void)configure("smsp__inst_executed.sum", 4);
    assert_int_equal(cupti.RangeProfilerPushRange(&push), CUPTI_ERROR_INVALID_OPERATION);
    OK(set(CUPTI_UserRange, CUPTI_UserReplay, 0));
    OK(start());
    OK(cupti.RangeProfilerPushRange(&push));
    launch("k");
    launch("k");
    OK(cupti.RangeProfilerPopRange(&pop));
    assert_int_equal(cupti.RangeProfilerPopRange(&pop), CUPTI_ERROR_INVALID_OPERATION);
    launch("k");
    assert_true(stop());
    (void)decode();
    assert_int_equal(ranges(), 1);
    PARAMS(RangeProfiler_CounterData_GetRangeInfo, info, .pCounterDataImage = image,
           .counterDataImageSize = image_size);
    OK(cupti.RangeProfilerCounterDataGetRangeInfo(&info));
    assert_string_equal(info.rangeName, "region");
    assert_true(value(0, "smsp__inst_executed.sum") == 2000.0);
}

static CUptiResult push_of(const char *name) {
    PARAMS(RangeProfiler_PushRange, push, .pRangeProfilerObject = profiler, .pRangeName = name);
    return cupti.RangeProfilerPushRange(&push);
}

static CUptiResult pop(void) {
    PARAMS(RangeProfiler_PopRange, p, .pRangeProfilerObject = profiler);
    return cupti.RangeProfilerPopRange(&p);
}

static void ranges_of_one_name_add_up(void **state) {
    (void)state;
    (void)configure(TIME, 8);
    fake_values(NULL, NULL);
    OK(set(CUPTI_UserRange, CUPTI_UserReplay, 0));
    OK(start());
    for (int i = 0; i < 3; i++) {
        OK(push_of(i == 1 ? "b" : "a"));
        fake_advance(i == 1 ? 50 : 100);
        OK(pop());
    }
    assert_true(stop());
    assert_int_equal(decode(), 0);
    assert_int_equal(ranges(), 2);
    assert_true(value(0, TIME) == 200.0);
    assert_true(value(1, TIME) == 50.0);
}

/* Room for four in a window, and for many in the image. */
static void room_of_a_window(void **state) {
    (void)state;
    (void)configure(TIME, 16);
    for (size_t i = 1; i <= 3; i++) {
        OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
        OK(start());
        for (int k = 0; k < 5; k++) launch("k");
        assert_true(stop());
        assert_int_equal(decode(), 1);
        assert_int_equal(ranges(), 4 * i);
    }
}

static void one_context_at_a_time(void **state) {
    CUcontext second;
    CUpti_RangeProfiler_Object *first = profiler;
    (void)state;
    (void)configure(TIME, 4);
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    OK(start());
    OK(cuCtxCreate_v2(&second, 0, 0));
    PARAMS(RangeProfiler_Enable, e, .ctx = second);
    OK(cupti.RangeProfilerEnable(&e));
    profiler = e.pRangeProfilerObject;
    (void)configure(TIME, 4);
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    assert_int_equal(start(), CUPTI_ERROR_HARDWARE_BUSY);
    profiler = first;
    assert_true(stop());
    profiler = e.pRangeProfilerObject;
    OK(start());
    launch("k");
    assert_true(stop());
    OK(cuCtxDestroy(second));
}

/* A graph of two kernels. */
static CUgraphExec graph_of_two(void) {
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < 2; i++)
        OK(cuLaunchKernel(fake_function("k"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    return exec;
}

static void graph_among_kernels(void **state) {
    CUgraphExec graph = graph_of_two();
    (void)state;
    (void)configure(TIME, 4);
    OK(set(CUPTI_AutoRange, CUPTI_UserReplay, 0));
    OK(start());
    launch("k");
    OK(cuGraphLaunch(graph, NULL));
    PARAMS(RangeProfiler_Stop, p, .pRangeProfilerObject = profiler);
    assert_int_equal(cupti.RangeProfilerStop(&p), CUPTI_ERROR_UNKNOWN);
    assert_int_equal(set(CUPTI_AutoRange, CUPTI_UserReplay, 0), CUPTI_ERROR_UNKNOWN);
    OK(cuGraphExecDestroy(graph));
}

#define FFMA         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define INSTRUCTIONS "smsp__inst_executed.sum"

/* What a range of a graph and of one kernel has of a metric: each kernel has 1000. */
static double in_a_range(const char *metric) {
    CUgraphExec graph = graph_of_two();
    (void)configure(metric, 4);
    OK(set(CUPTI_UserRange, CUPTI_UserReplay, 0));
    OK(start());
    OK(push_of("range"));
    launch("k");
    OK(cuGraphLaunch(graph, NULL));
    OK(pop());
    assert_true(stop());
    (void)decode();
    OK(cuGraphExecDestroy(graph));
    return value(0, metric);
}

static void instructions_of_graphs(void **state) {
    (void)state;
    assert_true(in_a_range(INSTRUCTIONS) == 3000.0);
}

static void machine_instructions_of_graphs(void **state) {
    (void)state;
    assert_true(in_a_range(FFMA) == 1000.0);
}

static double of_a_kernel(CUpti_ProfilerReplayMode replay) {
    const size_t at = ranges();
    OK(set(CUPTI_AutoRange, replay, 0));
    OK(start());
    launch("k");
    assert_true(stop());
    (void)decode();
    return value(at, FFMA);
}

static void machine_instructions_with_records(void **state) {
    (void)state;
    (void)configure(FFMA, 8);
    assert_true(of_a_kernel(CUPTI_UserReplay) == 1000.0);
    OK(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    assert_true(of_a_kernel(CUPTI_UserReplay) == 0.0);
    assert_true(of_a_kernel(CUPTI_KernelReplay) == 1000.0);
    OK(cupti.ActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    assert_true(of_a_kernel(CUPTI_UserReplay) == 1000.0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh, done)
    const struct CMUnitTest tests[] = {
        TEST(wrong_names),
        TEST(one_pass_appends),
        TEST(start_wants_a_configuration),
        TEST(passes_in_a_row),
        TEST(windows_with_several_passes),
        TEST(kernel_replay_in_one_window),
        TEST(pushed_ranges),
        TEST(ranges_of_one_name_add_up),
        TEST(room_of_a_window),
        TEST(one_context_at_a_time),
        TEST(graph_among_kernels),
        TEST(instructions_of_graphs),
        TEST(machine_instructions_of_graphs),
        TEST(machine_instructions_with_records),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
