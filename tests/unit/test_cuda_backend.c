/* The whole backend on a made-up GPU: records and counters of one sweep, which disturb each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cold.h"
#include "cuda_program.h"
#include "unit/benches.h"

/* Of both a kernel has 1000. The first is of machine instructions. */
#define FFMA         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define INSTRUCTIONS "smsp__inst_executed.sum"
#define METRICS      FFMA "," INSTRUCTIONS ",kernel_time,kernel_count"
enum { KERNEL_NS = 3000, CUPTI_UNKNOWN = 999 };

static CUcontext second;
static CUgraphExec graph;
static CUstream streams[2];
static bool unwaited; /* the program does not wait for the device */

static int begin(void **state) {
    *state = program_begin(1);
    fake_kernel_ns("kernel", KERNEL_NS);
    return 0;
}

static void check_missing(const wm_table *t, const char *region, const char *metric, wm_reason reason) {
    const size_t row = find_row(t, region, metric, NULL);
    assert_true(row != SIZE_MAX);
    assert_int_equal(cell(t, row, "mean").type, WM_NULL);
    assert_int_equal(cell(t, row, "mean").reason, reason);
}

static void check_kernels(const wm_table *t, const char *region, const char *key, int kernels) {
    check_mean(t, region, FFMA, key, 1000.0 * kernels);
    check_mean(t, region, INSTRUCTIONS, key, 1000.0 * kernels);
    check_mean(t, region, "kernel_time", key, (double)KERNEL_NS * kernels);
    check_mean(t, region, "kernel_count", key, kernels);
}

/* ---- records and counters ---- */

static void launch_n(wm_state *st) {
    const int64_t n = wm_i64(st, "n");
    program_launch("outside", NULL);
    WM_BEGIN("region");
    for (int64_t i = 0; i < n; i++) program_launch("kernel", NULL);
    WM_END("region");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

/* The second configuration's records come after the counters of the first. */
static wm_table *count(const char *replay, const char *caches) {
    const wm_benchmark b = bench_of("launch", launch_n, "--axis n=[1,2] --runs 3");
    return sweep_table(&b, ARGS("--metrics", METRICS, "--replay", replay, "--cache-control", caches), WM_OK);
}

static const char *const ways[] = {"auto", "stacked", "window", "kernel", "range"};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void test_records_are_off_where_counters_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        wm_table *t = count(ways[i], "none");
        check_kernels(t, "region", "n=1", 1);
        check_kernels(t, "region", "n=2", 2);
        wm_table_destroy(t);
    }
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 0);
}

/* The kernel that evicts caches runs inside a launch, in which its record has the launch's number. */
static void test_evictions_are_not_measured(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        const uint64_t before = fake_launches_of(wmi_cold_kernel);
        wm_table *t = count(ways[i], "all");
        check_kernels(t, "region", "n=1", 1);
        check_kernels(t, "region", "n=2", 2);
        wm_table_destroy(t);
        /* before each kernel in a region, in the runs of records and in those of counters */
        assert_true(fake_launches_of(wmi_cold_kernel) - before >= 2 * 3 * (1 + 2));
    }
}

/* Warm caches are not what was asked for: neither times nor counters are claimed then. */
static void test_evictions_that_fail(void **state) {
    (void)state;
    static const char *const calls[] = {"cuMemAlloc_v2", "cuModuleLoadData", "cuMemsetD32_v2"};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        for (size_t i = 0; i < WAYS; i++) {
            fake_fail(calls[k], CUDA_ERROR_OUT_OF_MEMORY, 1, -1);
            wm_table *t = count(ways[i], "all");
            check_missing(t, "region", "kernel_time", WM_REASON_BACKEND);
            check_missing(t, "region", INSTRUCTIONS, WM_REASON_BACKEND);
            check_mean(t, "region", "kernel_count", "n=1", 1);
            wm_table_destroy(t);
            fake_fail(calls[k], 0, 1, 0);
        }
    }
}

static void begin_capture(void) {
    assert_int_equal(cuStreamBeginCapture_v2(streams[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
}

/* It fails when somebody waited for the context meanwhile. */
static void end_capture(void) {
    CUgraph captured = NULL;
    assert_int_equal(cuStreamEndCapture(streams[0], &captured), CUDA_SUCCESS);
    assert_int_equal(cuGraphDestroy(captured), CUDA_SUCCESS);
}

static void launch_beside_captures(wm_state *st) {
    for (int64_t i = wm_i64(st, "outside"); i > 0; i--) program_launch("outside", streams[1]);
    WM_BEGIN("before");
    program_launch("kernel", streams[1]);
    begin_capture();
    WM_END("before");
    program_launch("outside", streams[1]);
    WM_BEGIN("during");
    WM_BEGIN("inner");
    program_launch("kernel", streams[1]);
    WM_END("inner");
    WM_END("during");
    end_capture();
    begin_capture();
    WM_BEGIN("again");
    program_launch("kernel", streams[1]);
    WM_END("again");
    end_capture();
    WM_BEGIN("after");
    program_launch("kernel", streams[1]);
    WM_END("after");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

/* Counters are neither started nor stopped while a stream is captured: to wait for the device would spoil
 * that. With so many kernels outside there are windows around regions. */
static void test_regions_beside_captures(void **state) {
    (void)state;
    static const char *const spoilt[] = {"before", "during", "during/inner", "again"};
    const wm_benchmark b = bench_of("capture", launch_beside_captures, "--runs 3 --axis outside=[1,2000]");
    for (size_t i = 0; i < 2; i++) streams[i] = program_stream();
    for (size_t i = 0; i < WAYS; i++) {
        wm_table *t = sweep_table(&b, ARGS("--metrics", METRICS, "--replay", ways[i]), WM_OK);
        check_kernels(t, "after", "outside=1", 1);
        check_kernels(t, "after", "outside=2000", 1);
        for (size_t k = 0; k < 4; k++) {
            check_mean(t, spoilt[k], "kernel_time", "outside=1", KERNEL_NS);
            if (strcmp(ways[i], "range") == 0) check_missing(t, spoilt[k], INSTRUCTIONS, WM_REASON_CAPTURE);
        }
        wm_table_destroy(t);
    }
    wm_table *t = sweep_table(&b, ARGS("--metrics", INSTRUCTIONS, "--replay", "window"), WM_OK);
    check_mean(t, "before", INSTRUCTIONS, "outside=2000", 1000); /* its window is closed later */
    check_mean(t, "during/inner", INSTRUCTIONS, "outside=2000", 1000);
    check_mean(t, "after", INSTRUCTIONS, "outside=2000", 1000);
    wm_table_destroy(t);
}

/* Nothing can be evicted while a stream is captured, and warm caches are not what was asked for. */
static void test_evictions_beside_captures(void **state) {
    (void)state;
    const wm_benchmark b = bench_of("capture", launch_beside_captures, "--runs 3 --axis outside=1");
    for (size_t i = 0; i < 2; i++) streams[i] = program_stream();
    for (size_t i = 0; i < WAYS; i++) {
        wm_table *t =
            sweep_table(&b, ARGS("--metrics", METRICS, "--replay", ways[i], "--cache-control", "all"), WM_OK);
        check_missing(t, "during", "kernel_time", WM_REASON_CAPTURE);
        check_missing(t, "during", INSTRUCTIONS, WM_REASON_CAPTURE);
        check_mean(t, "during", "kernel_count", NULL, 1);
        wm_table_destroy(t);
    }
}

/* Of which device a launch was is not known, so neither is whose it was. */
static void test_launches_that_cannot_be_followed(void **state) {
    (void)state;
    fake_fail("cuCtxGetDevice", CUDA_ERROR_UNKNOWN, 1, -1);
    wm_table *t = count("auto", "none");
    check_missing(t, "region", "kernel_time", WM_REASON_NO_RECORD);
    check_missing(t, "region", "kernel_count", WM_REASON_NO_RECORD);
    check_missing(t, "region", INSTRUCTIONS, WM_REASON_NO_RECORD);
    wm_table_destroy(t);
}

/* ---- graphs ---- */

static void launch_graph(wm_state *st) {
    (void)st;
    WM_BEGIN("graph");
    program_launch("kernel", NULL);
    assert_int_equal(cuGraphLaunch(graph, NULL), CUDA_SUCCESS);
    WM_END("graph");
    WM_BEGIN("plain");
    program_launch("kernel", NULL);
    WM_END("plain");
    if (!unwaited) assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

static void test_graphs(void **state) {
    (void)state;
    static const char *const nodes[] = {"kernel", "kernel"};
    const wm_benchmark b = bench_of("graph", launch_graph, "--runs 3");
    graph = program_graph(nodes, 2, program_stream());
    wm_table *t = sweep_table(&b, ARGS("--metrics", METRICS), WM_OK);
    check_missing(t, "graph", FFMA, WM_REASON_NOT_COUNTED);
    check_missing(t, "plain", FFMA, WM_REASON_NOT_COUNTED);
    check_mean(t, "graph", INSTRUCTIONS, NULL, 3000);
    check_mean(t, "plain", INSTRUCTIONS, NULL, 1000);
    check_mean(t, "graph", "kernel_count", NULL, 3);
    check_mean(t, "graph", "kernel_time", NULL, 3.0 * KERNEL_NS);
    wm_table_destroy(t);

    /* How many kernels a graph has is not known without all their records. */
    static const struct {
        const char *call;
        int from;
    } fails[] = {
        {"cuptiActivityGetNextRecord", 1}, {"cuptiActivityGetNextRecord", 3}, {"cuCtxSynchronize", 1}};
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++) {
        fake_fail(fails[i].call, CUPTI_UNKNOWN, fails[i].from, -1);
        unwaited = !strcmp(fails[i].call, "cuCtxSynchronize");
        t = sweep_table(&b, ARGS("--metrics", "kernel_count,kernel_time"), WM_OK);
        check_missing(t, "graph", "kernel_count", WM_REASON_NO_RECORD);
        check_missing(t, "graph", "kernel_time", WM_REASON_NO_RECORD);
        check_mean(t, "plain", "kernel_count", NULL, 1);
        wm_table_destroy(t);
        fake_fail(fails[i].call, 0, 1, 0);
    }
    unwaited = false;
    assert_int_equal(cuGraphExecDestroy(graph), CUDA_SUCCESS);
}

/* ---- two contexts of one device ---- */

static void launch_in_both(wm_state *st) {
    CUcontext popped;
    (void)st;
    WM_BEGIN("first");
    program_launch("kernel", NULL);
    WM_END("first");
    assert_int_equal(cuCtxPushCurrent(second), CUDA_SUCCESS);
    WM_BEGIN("second");
    program_launch("kernel", NULL);
    WM_END("second");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
    assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

static void test_two_contexts(void **state) {
    (void)state;
    CUcontext popped;
    const wm_benchmark b = bench_of("contexts", launch_in_both, "--runs 3");
    assert_int_equal(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    wm_table *t = sweep_table(&b, ARGS("--metrics", METRICS), WM_OK);
    check_kernels(t, "first", NULL, 1);
    check_missing(t, "second", FFMA, WM_REASON_BACKEND);
    check_missing(t, "second", INSTRUCTIONS, WM_REASON_BACKEND);
    check_mean(t, "second", "kernel_time", NULL, KERNEL_NS);
    check_mean(t, "second", "kernel_count", NULL, 1);
    wm_table_destroy(t);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_records_are_off_where_counters_are_read),
        TEST(test_evictions_are_not_measured),
        TEST(test_evictions_that_fail),
        TEST(test_regions_beside_captures),
        TEST(test_evictions_beside_captures),
        TEST(test_launches_that_cannot_be_followed),
        TEST(test_graphs),
        TEST(test_two_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
