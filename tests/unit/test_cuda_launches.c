#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/launch_forms.h"
#include "backend/cuda/launches.h"
#include "base/intern.h"
#include "cuda_launching.h"

/* ---- the table of calls ---- */

static void knows_ids(void **state) {
    (void)state;
    static const struct {
        uint32_t id;
        wmi_form_kind kind;
    } known[] = {
        {115, WMI_FORM_KERNEL},        {116, WMI_FORM_KERNEL},        {117, WMI_FORM_KERNEL},
        {307, WMI_FORM_KERNEL},        {442, WMI_FORM_KERNEL},        {477, WMI_FORM_KERNEL},
        {478, WMI_FORM_KERNEL},        {480, WMI_FORM_KERNEL},        {652, WMI_FORM_KERNEL},
        {653, WMI_FORM_KERNEL},        {514, WMI_FORM_GRAPH},         {515, WMI_FORM_GRAPH},
        {43, WMI_FORM_COPY},           {276, WMI_FORM_COPY},          {305, WMI_FORM_COPY},
        {397, WMI_FORM_COPY},          {427, WMI_FORM_COPY},          {776, WMI_FORM_COPY},
        {799, WMI_FORM_COPY},          {840, WMI_FORM_COPY},          {71, WMI_FORM_SET},
        {216, WMI_FORM_SET},           {254, WMI_FORM_SET},           {416, WMI_FORM_SET},
        {433, WMI_FORM_SET},           {495, WMI_FORM_BEGIN_CAPTURE}, {496, WMI_FORM_BEGIN_CAPTURE},
        {539, WMI_FORM_BEGIN_CAPTURE}, {720, WMI_FORM_BEGIN_CAPTURE}, {721, WMI_FORM_BEGIN_CAPTURE},
        {497, WMI_FORM_END_CAPTURE},   {498, WMI_FORM_END_CAPTURE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const wmi_launch_form *form = wmi_launch_form_of(known[i].id);
        assert_non_null(form);
        assert_int_equal(form->kind, known[i].kind);
    }
    /* cuInit, cuCtxSynchronize, cuLaunchHostFunc, cuStreamIsCapturing, none */
    const uint32_t others[] = {0, 1, 17, 527, 499, WMI_LAUNCH_FORMS, UINT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_null(wmi_launch_form_of(others[i]));
}

/* ---- every way to launch ---- */

typedef struct way {
    CUfunction kernel;
    CUstream stream;
    CUgraphExec graph;
} way;

/* The oldest ones are deprecated, and programs still may use them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void by_launch(const way *w) { cuLaunch(w->kernel); }
static void by_grid(const way *w) { cuLaunchGrid(w->kernel, 5, 6); }
static void by_grid_async(const way *w) { cuLaunchGridAsync(w->kernel, 5, 6, w->stream); }
static void by_multi_device(const way *w) {
    CUDA_LAUNCH_PARAMS list[] = {{w->kernel, 2, 3, 4, 32, 2, 1, 64, w->stream, NULL}};
    cuLaunchCooperativeKernelMultiDevice(list, 1, 0);
}
#pragma GCC diagnostic pop
static void by_kernel(const way *w) {
    cuLaunchKernel(w->kernel, 2, 3, 4, 32, 2, 1, 64, w->stream, NULL, NULL);
}
static void by_kernel_ptsz(const way *w) {
    cuLaunchKernel_ptsz(w->kernel, 2, 3, 4, 32, 2, 1, 64, NULL, NULL, NULL);
}
static void by_cooperative(const way *w) {
    cuLaunchCooperativeKernel(w->kernel, 2, 3, 4, 32, 2, 1, 64, w->stream, NULL);
}
static void by_cooperative_ptsz(const way *w) {
    cuLaunchCooperativeKernel_ptsz(w->kernel, 2, 3, 4, 32, 2, 1, 64, w->stream, NULL);
}
static CUlaunchConfig config_of(CUstream stream) {
    return (CUlaunchConfig){.gridDimX = 2,
                            .gridDimY = 3,
                            .gridDimZ = 4,
                            .blockDimX = 32,
                            .blockDimY = 2,
                            .blockDimZ = 1,
                            .sharedMemBytes = 64,
                            .hStream = stream};
}
static void by_config(const way *w) {
    const CUlaunchConfig config = config_of(w->stream);
    cuLaunchKernelEx(&config, w->kernel, NULL, NULL);
}
static void by_config_ptsz(const way *w) {
    const CUlaunchConfig config = config_of(NULL);
    cuLaunchKernelEx_ptsz(&config, w->kernel, NULL, NULL);
}
static void by_graph(const way *w) { cuGraphLaunch(w->graph, w->stream); }
static void by_graph_ptsz(const way *w) { cuGraphLaunch_ptsz(w->graph, NULL); }
static void by_copy(const way *w) {
    char bytes[16] = {0};
    (void)w;
    cuMemcpyHtoD_v2(4096, bytes, sizeof bytes);
}
static void by_copy_async(const way *w) { cuMemcpyHtoDAsync_v2(4096, w, 16, w->stream); }
static void by_copy_ptsz(const way *w) { cuMemcpyHtoDAsync_v2_ptsz(4096, w, 16, NULL); }
static void by_copy_on_device(const way *w) {
    (void)w;
    cuMemcpyDtoD_v2(4096, 8192, 16);
}
static void by_set(const way *w) {
    (void)w;
    cuMemsetD32_v2(4096, 1, 16);
}
static void by_set_async(const way *w) { cuMemsetD8Async(4096, 1, 16, w->stream); }
static void by_set_ptsz(const way *w) {
    (void)w;
    cuMemsetD8Async_ptsz(4096, 1, 16, NULL);
}

static const struct {
    void (*launch)(const way *w);
    uint8_t kind;
    char shape;  /* d: all of it, g: the grid, n: nothing */
    char stream; /* s: the stream, p: that of the thread, 0 */
} ways[] = {
    {by_launch, WMI_LAUNCH_KERNEL, 'n', '0'},
    {by_grid, WMI_LAUNCH_KERNEL, 'g', '0'},
    {by_grid_async, WMI_LAUNCH_KERNEL, 'g', 's'},
    {by_kernel, WMI_LAUNCH_KERNEL, 'd', 's'},
    {by_kernel_ptsz, WMI_LAUNCH_KERNEL, 'd', 'p'},
    {by_cooperative, WMI_LAUNCH_KERNEL, 'd', 's'},
    {by_cooperative_ptsz, WMI_LAUNCH_KERNEL, 'd', 's'},
    {by_config, WMI_LAUNCH_KERNEL, 'd', 's'},
    {by_config_ptsz, WMI_LAUNCH_KERNEL, 'd', 'p'},
    {by_multi_device, WMI_LAUNCH_KERNEL, 'd', 's'},
    {by_graph, WMI_LAUNCH_GRAPH, 'n', 's'},
    {by_graph_ptsz, WMI_LAUNCH_GRAPH, 'n', 'p'},
    {by_copy, WMI_LAUNCH_COPY, 'n', '0'},
    {by_copy_async, WMI_LAUNCH_COPY, 'n', 's'},
    {by_copy_ptsz, WMI_LAUNCH_COPY, 'n', 'p'},
    {by_copy_on_device, WMI_LAUNCH_COPY, 'n', '0'},
    {by_set, WMI_LAUNCH_SET, 'n', '0'},
    {by_set_async, WMI_LAUNCH_SET, 'n', 's'},
    {by_set_ptsz, WMI_LAUNCH_SET, 'n', 'p'},
};
enum { WAYS = sizeof ways / sizeof *ways };

static way make_way(void) {
    way w = {fake_function("k"), program_stream(), NULL};
    w.graph = program_graph((const char *[]){"a", "b"}, 2, w.stream);
    return w;
}

static void every_way_is_timed(void **state) {
    (void)state;
    const way w = make_way();
    int64_t begin[WAYS];
    start(WMI_LAUNCHES_TIMES);
    for (size_t i = 0; i < WAYS; i++) {
        program_entry = 100 + i;
        begin[i] = fake_now();
        fake_next_correlation((uint32_t)(1000 + i));
        ways[i].launch(&w);
        fake_advance(10);
    }
    wmi_launches_stop();
    size_t n;
    const wmi_launch *log = wmi_launches_times(&n);
    assert_int_equal(n, WAYS);
    for (size_t i = 0; i < WAYS; i++) {
        assert_int_equal(log[i].kind, ways[i].kind);
        assert_int_equal(log[i].entry, 100 + i);
        assert_int_equal(log[i].correlation, 1000 + i);
        assert_int_equal(log[i].call_ns, begin[i]);
        assert_int_equal(log[i].thread, log[0].thread);
        assert_int_equal(log[i].context, 0);
    }
    assert_int_equal(shapes(), 0);
    assert_int_equal(wmi_launches_lost(), 0);
    assert_int_equal(atomic_load(&asked_scope), WMI_SCOPE_PROCESS);
    cuGraphExecDestroy(w.graph);
}

static void check_shape(const wmi_shape *s, size_t which, CUstream stream) {
    const uint64_t streams[] = {(uint64_t)(uintptr_t)stream, (uint64_t)(uintptr_t)CU_STREAM_PER_THREAD, 0};
    const uint32_t all[] = {2, 3, 4, 32, 2, 1, 64}, grid[] = {5, 6, 1, 0, 0, 0, 0}, none[7] = {0};
    const uint32_t *want = ways[which].shape == 'd' ? all : ways[which].shape == 'g' ? grid : none;
    assert_int_equal(s->kind, ways[which].kind);
    assert_int_equal(s->stream, streams[ways[which].stream == 's' ? 0 : ways[which].stream == 'p' ? 1 : 2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s->grid[i], want[i]);
        assert_int_equal(s->block[i], want[3 + i]);
    }
    assert_int_equal(s->shared, want[6]);
    assert_string_equal(wmi_intern_name(s->name), ways[which].kind == WMI_LAUNCH_KERNEL ? "k" : "");
}

/* Copies and sets are not compared between passes. */
static void shapes_of_every_way(void **state) {
    (void)state;
    const way w = make_way();
    start(WMI_LAUNCHES_SHAPES);
    for (size_t i = 0; i < WAYS; i++) {
        program_entry = i;
        ways[i].launch(&w);
    }
    wmi_launches_stop();
    size_t n, kernels = 0;
    const wmi_shape *log = wmi_launches_shapes(&n);
    while (ways[kernels].kind == WMI_LAUNCH_KERNEL || ways[kernels].kind == WMI_LAUNCH_GRAPH) kernels++;
    assert_int_equal(n, kernels);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(log[i].entry, i);
        check_shape(&log[i], i, w.stream);
    }
    assert_int_equal(times(), 0);
    cuGraphExecDestroy(w.graph);
}

/* ---- what is not logged ---- */

static void only_what_succeeds_is_logged(void **state) {
    (void)state;
    start(WMI_LAUNCHES_TIMES);
    program_launch("before", NULL);
    fake_fail("cuLaunchKernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1, 1);
    assert_int_equal(cuLaunchKernel(fake_function("bad"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(cuLaunchKernel(fake_function("bad"), 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    wmi_launches_stop();
    assert_int_equal(times(), 1);
    assert_int_equal(wmi_launches_lost(), 0);

    start(WMI_LAUNCHES_SHAPES); /* a launch that fails gives its turn back */
    fake_fail("cuLaunchKernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1, 1);
    (void)cuLaunchKernel(fake_function("bad"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    program_launch("after", NULL);
    wmi_launches_stop();
    assert_int_equal(shapes(), 1);
    size_t n;
    assert_string_equal(wmi_intern_name(wmi_launches_shapes(&n)->name), "after");
}

static void nothing_is_logged_outside(void **state) {
    (void)state;
    program_launch("k", NULL);
    start(WMI_LAUNCHES_TIMES);
    program_launch("k", NULL);
    program_launch("k", NULL);
    wmi_launches_stop();
    program_launch("k", NULL);
    assert_int_equal(times(), 2);
    start(WMI_LAUNCHES_TIMES); /* forgets */
    wmi_launches_stop();
    assert_int_equal(times(), 0);
    start(WMI_LAUNCHES_TIMES);
    program_launch("k", NULL);
    wmi_launches_stop();
    wmi_launches_clear();
    assert_int_equal(times(), 0);
}

static void hidden_calls_are_not_seen(void **state) {
    (void)state;
    for (int mode = WMI_LAUNCHES_TIMES; mode <= WMI_LAUNCHES_SHAPES; mode++) {
        start((wmi_launch_mode)mode);
        wmi_launches_hide();
        program_launch("k", NULL);
        wmi_launches_hide();
        wmi_launches_show();
        program_launch("k", NULL);
        wmi_launches_show();
        program_launch("seen", NULL);
        wmi_launches_stop();
        assert_int_equal(mode == WMI_LAUNCHES_TIMES ? times() : shapes(), 1);
    }
}

/* ---- capture ---- */

static void captured_launches_are_not_logged(void **state) {
    (void)state;
    CUstream captured = program_stream(), other = program_stream();
    CUgraph graph;
    for (int mode = WMI_LAUNCHES_TIMES; mode <= WMI_LAUNCHES_SHAPES; mode++) {
        start((wmi_launch_mode)mode);
        assert_false(wmi_launches_capturing());
        assert_int_equal(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
        assert_true(wmi_launches_capturing());
        program_launch("captured", captured);
        program_launch("not", other);
        assert_int_equal(cuStreamEndCapture(captured, &graph), CUDA_SUCCESS);
        assert_false(wmi_launches_capturing());
        program_launch("after", captured);
        cuGraphDestroy(graph);
        wmi_launches_stop();
        assert_int_equal(mode == WMI_LAUNCHES_TIMES ? times() : shapes(), 2);
    }
}

static void captures_are_counted_without_a_window(void **state) {
    (void)state;
    CUstream a = program_stream(), b = program_stream();
    CUgraph graph;
    assert_int_equal(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_int_equal(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(cuStreamBeginCapture_v2(b, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
    assert_int_equal(cuStreamEndCapture(a, &(CUgraph){NULL}), CUDA_ERROR_ILLEGAL_STATE);
    assert_true(wmi_launches_capturing());
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); /* spoils b */
    assert_true(wmi_launches_capturing());
    assert_int_equal(cuStreamEndCapture(b, &(CUgraph){NULL}), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_false(wmi_launches_capturing());
    cuGraphDestroy(graph);
}

/* ---- contexts ---- */

static void contexts_are_met(void **state) {
    CUcontext first = *state, second;
    start(WMI_LAUNCHES_TIMES);
    program_launch("k", NULL);
    assert_int_equal(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    program_launch("k", NULL);
    assert_int_equal(cuCtxPopCurrent_v2(&(CUcontext){NULL}), CUDA_SUCCESS);
    program_launch("k", NULL);
    wmi_launches_stop();
    size_t n;
    const wmi_launch *log = wmi_launches_times(&n);
    assert_int_equal(n, 3);
    assert_int_equal(log[0].context, 0);
    assert_int_equal(log[1].context, 1);
    assert_int_equal(log[2].context, 0);
    assert_int_equal(wmi_launches_contexts(), 2);
    assert_ptr_equal(wmi_launches_context(0).handle, first);
    assert_ptr_equal(wmi_launches_context(1).handle, second);
    assert_int_equal(wmi_launches_context(0).device->ordinal, 0);
    assert_int_equal(wmi_launches_context(1).device->ordinal, 1);
    assert_int_not_equal(wmi_launches_context(0).id, wmi_launches_context(1).id);

    assert_int_equal(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    assert_ptr_equal(wmi_launches_context(0).handle, first);
    assert_null(wmi_launches_context(1).handle);
}

/* They are waited for, and counters are opened on them. */
static void contexts_are_met_outside_windows(void **state) {
    program_launch("k", NULL);
    assert_int_equal(wmi_launches_contexts(), 1);
    assert_ptr_equal(wmi_launches_context(0).handle, *state);
}

/* More than the first block holds. */
static void many_contexts_are_met(void **state) {
    CUcontext c[40];
    start(WMI_LAUNCHES_TIMES);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(cuCtxCreate_v2(&c[i], 0, 0), CUDA_SUCCESS);
        program_launch("k", NULL);
        assert_int_equal(cuCtxPopCurrent_v2(&(CUcontext){NULL}), CUDA_SUCCESS);
    }
    wmi_launches_stop();
    (void)state;
    assert_int_equal(wmi_launches_contexts(), 40);
    for (size_t i = 0; i < 40; i++) assert_ptr_equal(wmi_launches_context(i).handle, c[i]);
}

/* ---- hooks ---- */

static struct {
    size_t calls;
    uint64_t entry, launched;
    bool launch_within;
    char name[32];
    CUcontext context;
    uint32_t grid_x;
} hooked;

static void before(void *user, const wmi_cuda_context *context, const wmi_shape *shape) {
    assert_ptr_equal(user, &hooked);
    hooked.calls++;
    hooked.entry = shape->entry;
    hooked.launched = fake_launches();
    hooked.grid_x = shape->grid[0];
    hooked.context = context->handle;
    strncpy(hooked.name, wmi_intern_name(shape->name), sizeof hooked.name - 1);
    if (!hooked.launch_within) return;
    wmi_launches_hide();
    program_launch("hidden", NULL);
    wmi_launches_show();
    program_launch("nested", NULL); /* within a launch: no launch of its own */
}

static void start_hooked(wmi_launch_mode mode) {
    memset(&hooked, 0, sizeof hooked);
    wmi_launches_start(mode, WMI_SCOPE_THREAD, entry_of, NULL, &(wmi_launch_hooks){before, &hooked});
}

static void hook_comes_before_the_launch(void **state) {
    for (int mode = WMI_LAUNCHES_TIMES; mode <= WMI_LAUNCHES_SHAPES; mode++) {
        const uint64_t launched = fake_launches();
        start_hooked((wmi_launch_mode)mode);
        program_entry = 7;
        program_launch("k", NULL);
        assert_int_equal(hooked.calls, 1);
        assert_int_equal(hooked.launched, launched);
        assert_int_equal(hooked.entry, 7);
        assert_string_equal(hooked.name, "k");
        assert_int_equal(hooked.grid_x, 2);
        assert_ptr_equal(hooked.context, *state);
        assert_int_equal(atomic_load(&asked_scope), WMI_SCOPE_THREAD);
        const uint64_t outside[] = {WMI_NO_ENTRY, WMI_AMBIGUOUS_ENTRY, 7 | WMI_ROOT_ENTRY};
        for (size_t i = 0; i < 3; i++) {
            program_entry = outside[i];
            program_launch("k", NULL);
            assert_int_equal(hooked.calls, 2 + i);
            assert_int_equal(hooked.entry, outside[i]);
        }
        wmi_launches_stop();
        program_launch("k", NULL);
        assert_int_equal(hooked.calls, 4);
    }
}

static void hook_is_for_kernels_outside_capture(void **state) {
    (void)state;
    CUstream stream = program_stream();
    start_hooked(WMI_LAUNCHES_TIMES);
    CUgraphExec graph = program_graph((const char *[]){"a"}, 1, stream);
    cuMemsetD32_v2(4096, 1, 16);
    wmi_launches_hide();
    program_launch("k", NULL);
    wmi_launches_show();
    assert_int_equal(hooked.calls, 0);
    cuGraphLaunch(graph, stream);
    assert_int_equal(hooked.calls, 1);
    wmi_launches_stop();
    assert_int_equal(times(), 2);
    cuGraphExecDestroy(graph);
}

/* The time of the hook is not the launch's. */
static void hook_may_launch(void **state) {
    (void)state;
    for (int mode = WMI_LAUNCHES_TIMES; mode <= WMI_LAUNCHES_SHAPES; mode++) {
        start_hooked((wmi_launch_mode)mode);
        hooked.launch_within = true;
        const int64_t begin = fake_now();
        program_launch("k", NULL);
        wmi_launches_stop();
        assert_int_equal(hooked.calls, 1);
        assert_int_equal(mode == WMI_LAUNCHES_TIMES ? times() : shapes(), 1);
        size_t n;
        if (mode == WMI_LAUNCHES_TIMES)
            assert_true(wmi_launches_times(&n)->call_ns >= begin + 2 * FAKE_LAUNCH_NS);
    }
}

/* ---- the subscription ---- */

static void attaching_is_counted(void **state) {
    (void)state;
    assert_int_equal(wmi_launches_attach(NULL), WM_OK);
    assert_int_equal(fake_calls("cuptiSubscribe"), 1);
    wmi_launches_detach();
    start(WMI_LAUNCHES_TIMES);
    program_launch("k", NULL);
    wmi_launches_stop();
    assert_int_equal(times(), 1);
    wmi_launches_detach();
    const uint64_t seen = fake_callbacks();
    program_launch("k", NULL);
    assert_int_equal(fake_callbacks(), seen);
    assert_int_equal(times(), 0);
    assert_int_equal(wmi_launches_contexts(), 0);
    assert_int_equal(wmi_launches_attach(NULL), WM_OK);
}

static void another_subscriber_is_named(void **state) {
    wm_error err = WM_ERROR_INIT;
    (void)state;
    wmi_launches_detach();
    fake_other_subscriber(true);
    assert_int_equal(wmi_launches_attach(&err), WM_EBUSY);
    assert_int_equal(err.code, WM_EBUSY);
    assert_int_equal(err.native_code, 39);
    assert_non_null(strstr(err.message, "cuptiSubscribe"));
    assert_true(strlen(err.message) > 60); /* what it means and what to do */
    fake_other_subscriber(false);
    assert_int_equal(wmi_launches_attach(&err), WM_OK);
}

static void refused_callbacks_are_an_error(void **state) {
    wm_error err = WM_ERROR_INIT;
    (void)state;
    wmi_launches_detach();
    fake_fail("cuptiEnableCallback", 1, 20, 1); /* CUPTI_ERROR_INVALID_PARAMETER */
    assert_int_not_equal(wmi_launches_attach(&err), WM_OK);
    assert_int_equal(err.native_code, 1);
    assert_non_null(strstr(err.message, "cuptiEnableCallback"));
    assert_int_equal(fake_calls("cuptiUnsubscribe"), 2);
    assert_int_equal(wmi_launches_attach(&err), WM_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, attach, detach)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_ids),
        TEST(every_way_is_timed),
        TEST(shapes_of_every_way),
        TEST(only_what_succeeds_is_logged),
        TEST(nothing_is_logged_outside),
        TEST(hidden_calls_are_not_seen),
        TEST(captured_launches_are_not_logged),
        TEST(captures_are_counted_without_a_window),
        TEST(contexts_are_met),
        TEST(contexts_are_met_outside_windows),
        TEST(many_contexts_are_met),
        TEST(hook_comes_before_the_launch),
        TEST(hook_is_for_kernels_outside_capture),
        TEST(hook_may_launch),
        TEST(attaching_is_counted),
        TEST(another_subscriber_is_named),
        TEST(refused_callbacks_are_an_error),
    };
    return cmocka_run_group_tests_name("cuda_launches", tests, NULL, NULL);
}
