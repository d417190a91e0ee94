/* Counters in windows and ranges, at the marks of regions, on a made-up GPU. */
#include "backend/cuda/cold.h"
#include "fakes/cuda/fake_core.h"

/* ---- windows ---- */

static void test_a_window_for_each_run(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_WINDOW;
    make(sm, NULL);
    assert_int_equal(plan.pass_count, SM_PASSES);
    assert_int_equal(plan.passes[0].window, WMI_WINDOW_RUN);
    clean_pass(program_nested);
    for (int32_t run = 0; run < 2; run++) {
        for (int32_t pass = 0; pass < SM_PASSES; pass++) {
            open_pass(pass, 0, run);
            program_nested(pass);
            close_pass(pass, 0, run);
        }
        drain();
        assert_int_equal(count_of(0), 3);
        check(entries[0], "k1", 0, 101);
        check(entries[1], "k3", 0, 301);
    }
}

/* Regions among kernels that are in none, in a function. */
static int between = 50;

static void program_sparse(int32_t pass) {
    (void)pass;
    const uint64_t whole = entries[2] = enter_whole();
    for (int i = 0; i < between; i++) launch("k9");
    entries[0] = enter(0);
    launch("k1");
    leave(entries[0], 0, whole);
    for (int i = 0; i < between; i++) launch("k9");
    entries[1] = enter(0);
    launch("k2");
    launch("k3");
    leave(entries[1], 0, whole);
    leave(whole, 0, WMI_NO_ENTRY);
}

static void test_a_window_for_each_region(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey = (wmi_replay_survey){.kernels_in = 3, .kernels_out = 100, .regions = 2, .runs = 1};
    make(bytes, NULL);
    assert_int_equal(plan.passes[0].window, WMI_WINDOW_CONFIG);
    assert_true(plan.passes[0].edges);
    run_all(1, program_sparse);
    assert_int_equal(fake_windows(), 2);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k2", 0, 202);
    check(entries[1], "k3", 0, 302);
    /* Of the function as a whole nothing is known: most of its kernels were not counted. */
    check_null(entries[2] & ~WMI_ROOT_ENTRY, NULL, 0, WM_REASON_NOT_COUNTED);
    assert_int_equal(count_of(0), 4);
}

/* Of DRAM a window costs 13.5 ms, a kernel in it 0.05, and room for a range 1, once. In each of two runs
 * there are two regions with three kernels. */
static void check_choice(int outside, uint64_t windows) {
    between = outside / 2;
    opts.device.replay = WMI_REPLAY_AUTO;
    survey = (wmi_replay_survey){.kernels_in = 3, .kernels_out = outside, .regions = 2, .runs = 2};
    make(bytes, NULL);
    clean_pass(program_sparse);
    open_pass(0, 0, 0);
    program_sparse(0);
    program_sparse(0);
    close_pass(0, 0, 0);
    drain();
    between = 50;
    assert_int_equal(fake_windows(), windows);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k3", 0, 302);
}

/* In one window 13.5 + 18 * 1.05 = 32.4 ms; with one for each run 9 + 2 * (13.5 + 9 * 0.05) = 36.9; with
 * one for each region 3 + 2 * (2 * 13.5 + 3 * 0.05) = 57.3. */
static void test_auto_stacks(void **state) {
    (void)state;
    check_choice(6, 1);
    assert_int_equal(count_of(0), 2 * 9);
}

/* 13.5 + 46 * 1.05 = 61.8 ms; 23 + 2 * (13.5 + 23 * 0.05) = 52.3; 57.3 */
static void test_auto_opens_a_window_for_each_run(void **state) {
    (void)state;
    check_choice(20, 2);
    assert_int_equal(count_of(0), 2 * 23);
}

/* Over 1000 ms; over 500; 57.3. The two null ones are of the function as a whole. */
static void test_auto_opens_a_window_for_each_region(void **state) {
    (void)state;
    check_choice(500, 4);
    assert_int_equal(count_of(0), 2 * 3 + 2);
}

/* The survey spoke of three kernels in regions, so that a window has room for 32, and all windows
 * together, for 103 kernels, for 128. */
enum { MANY = 70 };
static void program_many(int32_t pass) {
    (void)pass;
    const uint64_t whole = enter_whole();
    for (int i = 0; i < 2; i++) {
        entries[i] = enter(0);
        for (int k = 0; k < (i == 0 ? MANY : 1); k++) launch(i == 0 ? "k1" : "k2");
        leave(entries[i], 0, whole);
    }
    leave(whole, 0, WMI_NO_ENTRY);
}

static void test_room_in_a_window(void **state) {
    (void)state;
    size_t dropped = 0;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey = (wmi_replay_survey){.kernels_in = 3, .kernels_out = 100, .regions = 2, .runs = 1};
    make(bytes, NULL);
    run_all(1, program_many);
    for (uint32_t i = 0; i < MANY; i++) {
        const wmi_reading *r = find(entries[0], "k1", 0, i);
        assert_true(r->reason ? r->reason == WM_REASON_RANGES_DROPPED : r->value == 102);
        dropped += r->reason != WM_REASON_NONE;
    }
    assert_int_equal(dropped, MANY - 32);
    check(entries[1], "k2", 0, 202); /* the next window has room */
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "38 of 70"));
}

/* All kernels are in regions: a window around each run does. */
static void program_inside(int32_t pass) {
    (void)pass;
    const uint64_t whole = enter_whole();
    entries[0] = enter(0);
    launch("k1");
    leave(entries[0], 0, whole);
    entries[1] = enter(0);
    launch("k2");
    leave(entries[1], 0, whole);
    leave(whole, 0, WMI_NO_ENTRY);
}

static void test_window_around_the_function(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey = (wmi_replay_survey){.kernels_in = 2, .kernels_out = 0, .regions = 2, .runs = 1};
    make(bytes, NULL);
    run_all(1, program_inside);
    assert_int_equal(fake_windows(), 1);
    assert_int_equal(count_of(0), 2);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k2", 0, 202);
}

/* One window, with all of both. */
static void test_overlapping_regions(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey.kernels_out = 100;
    make(bytes, NULL);
    run_all(1, program_overlap);
    assert_int_equal(fake_windows(), 2);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k2", 0, 202);
    check(entries[1], "k3", 0, 302);
    check(entries[2], "k4", 0, 402);
}

/* A region that its function leaves open ends with it. */
static void program_left_open(int32_t pass) {
    (void)pass;
    const uint64_t whole = enter_whole();
    entries[0] = enter(0);
    launch("k1");
    leave(whole, 0, WMI_NO_ENTRY);
    launch("k9");
    entries[1] = enter(0);
    launch("k2");
}

static void test_left_open(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey.kernels_out = 100;
    make(bytes, NULL);
    run_all(1, program_left_open);
    assert_int_equal(fake_windows(), 2);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k2", 0, 202);
}

/* ---- the driver replays; ranges ---- */

static void test_driver(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_KERNEL;
    make(sm, bytes);
    assert_int_equal(plan.pass_count, 1);
    run_all(1, program_nested);
    check(entries[0], "k1", 0, 101);
    check(entries[1], "k3", 1, 302);
    assert_int_equal(fake_windows(), 1);
}

static void test_ranges(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_RANGE;
    make(sm, bytes);
    assert_int_equal(plan.pass_count, SM_PASSES);
    run_all(SM_PASSES, program_nested);
    assert_int_equal(count_of(0), 1); /* of the outermost region alone */
    check(entries[0], NULL, 0, 301);  /* three kernels */
    check(entries[0], NULL, 1, 302);
}

static void test_overlapping_ranges(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_RANGE;
    make(bytes, NULL);
    run_all(1, program_overlap);
    check_null(entries[0], NULL, 0, WM_REASON_AMBIGUOUS);
    check_null(entries[1], NULL, 0, WM_REASON_AMBIGUOUS);
    check(entries[2], NULL, 0, 102);
}

static void test_ranges_that_differ(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_RANGE;
    make(sm, NULL);
    run_all(SM_PASSES, program_differs);
    check_null(entries[0], NULL, 0, WM_REASON_SEQUENCE);
}

/* ---- graphs, and the kernel that evicts caches ---- */

static CUgraphExec graph;

static void make_graph(void) {
    CUstream stream;
    CUgraph captured;
    assert_int_equal(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_int_equal(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    cuLaunchKernel(fake_function("k1"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    cuLaunchKernel(fake_function("k2"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    assert_int_equal(cuStreamEndCapture(stream, &captured), CUDA_SUCCESS);
    assert_int_equal(cuGraphInstantiateWithFlags(&graph, captured, 0), CUDA_SUCCESS);
}

static int end_with_graph(void **state) {
    assert_int_equal(cuGraphExecDestroy(graph), CUDA_SUCCESS);
    return end(state);
}

static void program_graph(int32_t pass) {
    (void)pass;
    entries[0] = enter(0);
    launch("k1");
    assert_int_equal(cuGraphLaunch(graph, NULL), CUDA_SUCCESS);
    launch("k3");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

/* It makes the whole window unreadable, but not the next one. */
static void test_graph_among_kernels(void **state) {
    (void)state;
    make_graph();
    make(bytes, NULL);
    run_all(1, program_graph);
    check_null(entries[0], "k1", 0, WM_REASON_BACKEND);
    check_null(entries[0], "graph", 0, WM_REASON_BACKEND);
    check_null(entries[0], "k3", 0, WM_REASON_BACKEND);
    assert_int_equal(count_of(0), 3);
    assert_int_equal(warnings, 1);
    run_pass(0, 1, program_nested);
    drain();
    check(entries[0], "k1", 0, 102);
}

/* Where it is known before that graphs are launched, the remedy is told. */
static void test_graph_in_kernel_replay(void **state) {
    (void)state;
    make_graph();
    opts.device.replay = WMI_REPLAY_KERNEL;
    survey.graphs = 1;
    make(bytes, NULL);
    run_all(1, program_graph);
    check_null(entries[0], "k1", 0, WM_REASON_BACKEND);
    check_null(entries[0], "graph", 0, WM_REASON_BACKEND);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "--replay auto and range"));
}

static const char ffma[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

/* Of a graph's machine instructions nothing is known; of the range's only those of the other kernels. */
static void test_graph_in_a_range(void **state) {
    (void)state;
    make_graph();
    opts.device.replay = WMI_REPLAY_RANGE;
    survey.graphs = 1;
    make(ffma, bytes);
    run_all(1, program_graph);
    check_null(entries[0], NULL, 0, WM_REASON_NOT_COUNTED);
    check(entries[0], NULL, 1, 402); /* four kernels */
}

static void test_instructions_in_a_range(void **state) {
    (void)state;
    opts.device.replay = WMI_REPLAY_RANGE;
    make(ffma, bytes);
    run_all(1, program_nested);
    check(entries[0], NULL, 0, 302);
    check(entries[0], NULL, 1, 302);
}

/* Under auto a region with a graph in it is one range. */
static void test_auto_with_a_graph(void **state) {
    (void)state;
    make_graph();
    opts.device.replay = WMI_REPLAY_AUTO;
    survey.graphs = 1;
    make(bytes, NULL);
    run_all(1, program_graph);
    assert_int_equal(count_of(0), 1);
    check(entries[0], NULL, 0, 402); /* four kernels */
}

static CUcontext second;

/* Before kernels in regions. */
static bool evict(void *user, const wmi_cuda_context *c, const wmi_shape *shape, bool apart) {
    CUcontext popped;
    (void)user;
    assert_ptr_equal(c->handle, context);
    if (shape->entry == WMI_NO_ENTRY) return false;
    wmi_launches_hide();
    if (apart) assert_int_equal(cuCtxPushCurrent(second), CUDA_SUCCESS);
    launch(wmi_cold_kernel);
    if (apart) assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    wmi_launches_show();
    return !apart;
}

static void test_evicting_kernel(void **state) {
    (void)state;
    how.before = evict;
    make(sm, NULL);
    run_all(SM_PASSES, program_nested);
    check(entries[0], "k1", 0, 101);
    check(entries[0], "k2", 0, 201);
    check(entries[1], "k3", 0, 301);
    assert_int_equal(count_of(0), 3);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 3 * SM_PASSES);
}

static void test_evicting_kernel_in_windows(void **state) {
    (void)state;
    how.before = evict;
    opts.device.replay = WMI_REPLAY_WINDOW;
    survey.kernels_out = 100;
    make(bytes, NULL);
    run_all(1, program_overlap);
    check(entries[0], "k1", 0, 102);
    check(entries[1], "k3", 0, 302);
    check(entries[2], "k4", 0, 402);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 4);
}

/* In a range it would be a kernel of the program's. */
static void test_evicting_kernel_in_ranges(void **state) {
    (void)state;
    CUcontext popped;
    assert_int_equal(cuCtxCreate_v2(&second, 0, 0), CUDA_SUCCESS);
    assert_int_equal(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    how.before = evict;
    opts.device.replay = WMI_REPLAY_RANGE;
    make(bytes, NULL);
    run_all(1, program_nested);
    check(entries[0], NULL, 0, 302); /* three kernels */
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_window_for_each_run),
        TEST(test_a_window_for_each_region),
        TEST(test_auto_stacks),
        TEST(test_auto_opens_a_window_for_each_run),
        TEST(test_auto_opens_a_window_for_each_region),
        TEST(test_room_in_a_window),
        TEST(test_window_around_the_function),
        TEST(test_overlapping_regions),
        TEST(test_left_open),
        TEST(test_driver),
        TEST(test_ranges),
        TEST(test_overlapping_ranges),
        TEST(test_ranges_that_differ),
        cmocka_unit_test_setup_teardown(test_graph_among_kernels, begin, end_with_graph),
        cmocka_unit_test_setup_teardown(test_graph_in_kernel_replay, begin, end_with_graph),
        cmocka_unit_test_setup_teardown(test_graph_in_a_range, begin, end_with_graph),
        TEST(test_instructions_in_a_range),
        cmocka_unit_test_setup_teardown(test_auto_with_a_graph, begin, end_with_graph),
        TEST(test_evicting_kernel),
        TEST(test_evicting_kernel_in_windows),
        TEST(test_evicting_kernel_in_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
