#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cuda/records.h"
#include "base/intern.h"
#include "cuda_recording.h"

/* ---- times and what a record says ---- */

static void a_record_says_all(void **state) {
    (void)state;
    CUstream stream = program_stream();
    fake_kernel_ns("_Z6kernelPf", 12345);
    fake_kernel_resources("_Z6kernelPf", 40, 1024, 0);
    start();
    program_entry = 5;
    fake_next_correlation(77);
    const int64_t begin = fake_now();
    program_launch("_Z6kernelPf", stream);
    collect();
    assert_int_equal(got.records.n, 1);
    const wmi_record *r = record(0);
    assert_int_equal(r->entry, 5);
    assert_int_equal(r->launch_ns, begin);
    assert_int_equal(r->begin_ns, begin + FAKE_LAUNCH_NS + FAKE_LATENCY_NS);
    assert_int_equal(r->end_ns - r->begin_ns, 12345);
    assert_int_equal(r->correlation, 77);
    assert_string_equal(wmi_intern_name(r->name), "_Z6kernelPf");
    assert_string_equal(wmi_intern_name(r->plain), "kernel");
    assert_string_equal(wmi_intern_name(r->device), "NVIDIA Fake H200 (0)");
    assert_int_equal(r->thread, 0);
    const uint32_t grid[] = {2, 3, 4}, block[] = {32, 2, 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r->grid[i], grid[i]);
        assert_int_equal(r->block[i], block[i]);
    }
    assert_int_equal(r->registers, 40);
    assert_int_equal(r->static_shared, 1024);
    assert_int_equal(r->dynamic_shared, 64);
    assert_int_equal(r->kind, WMI_RECORD_KERNEL);
    assert_int_equal(r->flags, WMI_RECORD_FIRST);
    assert_int_equal(r->reason, WM_REASON_NONE);
    assert_int_equal(r->bytes, 0);
}

static void streams_overlap(void **state) {
    (void)state;
    CUstream a = program_stream(), b = program_stream();
    fake_launch_cost(5000, 0);
    fake_kernel_ns("ten", 10000);
    start();
    program_entry = 1;
    program_launch("ten", a);
    program_launch("ten", b);
    collect();
    assert_int_equal(got.records.n, 2);
    const int64_t zero = record(0)->begin_ns;
    assert_int_equal(record(0)->end_ns - zero, 10000);
    assert_int_equal(record(1)->begin_ns - zero, 5000);
    assert_int_equal(record(1)->end_ns - zero, 15000);
    assert_int_not_equal(record(0)->stream, record(1)->stream);
}

/* Records come in the order of their ends: those of a long kernel after later ones. */
static void order_is_that_of_launches(void **state) {
    (void)state;
    CUstream a = program_stream(), b = program_stream();
    fake_kernel_ns("long", 10000000);
    start();
    program_entry = 1;
    for (size_t i = 0; i < 100; i++) {
        program_launch("long", a);
        program_launch("short", b);
    }
    collect();
    assert_int_equal(got.records.n, 200);
    for (size_t i = 0; i < 200; i++) {
        assert_string_equal(wmi_intern_name(record(i)->name), i % 2 ? "short" : "long");
        assert_int_equal(record(i)->reason, WM_REASON_NONE);
        if (i) assert_true(record(i - 1)->correlation < record(i)->correlation);
        if (i) assert_true(record(i - 1)->launch_ns < record(i)->launch_ns);
    }
}

static void copies_and_sets_stand_apart(void **state) {
    (void)state;
    char bytes[640] = {0};
    start();
    program_entry = 3;
    cuMemcpyHtoD_v2(4096, bytes, sizeof bytes);
    program_launch("k", NULL);
    cuMemsetD32_v2(4096, 1, 100);
    collect();
    assert_int_equal(got.records.n, 3);
    assert_int_equal(record(0)->kind, WMI_RECORD_COPY);
    assert_int_equal(record(0)->bytes, 640);
    assert_int_equal(record(0)->end_ns - record(0)->begin_ns, 110); /* as the fake lets them last */
    assert_int_equal(record(0)->name, 0);
    assert_int_equal(record(0)->flags, 0);
    assert_int_equal(record(1)->kind, WMI_RECORD_KERNEL);
    assert_int_equal(record(2)->kind, WMI_RECORD_SET);
    assert_int_equal(record(2)->bytes, 400);
    for (size_t i = 0; i < 3; i++) assert_int_equal(record(i)->reason, WM_REASON_NONE);
}

/* ---- which entry ---- */

typedef struct worker {
    pthread_t thread;
    CUcontext context;
    uint64_t entry;
    const char *kernel;
} worker;

static void *work(void *user) {
    const worker *w = user;
    cuCtxPushCurrent_v2(w->context);
    CUstream stream = program_stream();
    program_entry = w->entry;
    for (size_t i = 0; i < 200; i++) {
        program_launch(w->kernel, i % 2 ? stream : NULL);
        fake_advance(10000);
    }
    cuCtxPopCurrent_v2(&(CUcontext){NULL});
    return NULL;
}

static void entries_of_threads(void **state) {
    worker w[4];
    const char *kernels[] = {"of0", "of1", "of2", "of3"};
    size_t of[4] = {0};
    start();
    for (size_t i = 0; i < 4; i++) {
        w[i] = (worker){.context = *state, .entry = i, .kernel = kernels[i]};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    collect();
    assert_int_equal(got.records.n, 800);
    for (size_t i = 0; i < 800; i++) {
        assert_true(record(i)->entry < 4);
        assert_string_equal(wmi_intern_name(record(i)->name), kernels[record(i)->entry]);
        assert_int_equal(record(i)->reason, WM_REASON_NONE);
        of[record(i)->entry]++;
    }
    for (size_t i = 0; i < 4; i++) assert_int_equal(of[i], 200);
}

static void launches_without_entry_are_left_out(void **state) {
    (void)state;
    const uint64_t entries[] = {WMI_NO_ENTRY, WMI_AMBIGUOUS_ENTRY, 4 | WMI_ROOT_ENTRY};
    start();
    for (size_t i = 0; i < 3; i++) {
        program_entry = entries[i];
        program_launch("k", NULL);
    }
    collect();
    assert_int_equal(got.records.n, 2);
    assert_true(record(0)->entry == entries[1]);
    assert_true(record(1)->entry == entries[2]);
}

/* ---- graphs ---- */

static void a_graph_belongs_to_its_launch(void **state) {
    (void)state;
    CUstream stream = program_stream();
    start();
    program_entry = 1;
    CUgraphExec graph = program_graph((const char *[]){"a", "b", "c"}, 3, stream);
    program_entry = 2;
    assert_int_equal(cuGraphLaunch(graph, stream), CUDA_SUCCESS);
    program_launch("alone", stream);
    collect();
    assert_int_equal(got.records.n, 4);
    const char *names[] = {"a", "b", "c", "alone"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(record(i)->entry, 2);
        assert_string_equal(wmi_intern_name(record(i)->name), names[i]);
        assert_int_equal(record(i)->flags & WMI_RECORD_GRAPH, i < 3 ? WMI_RECORD_GRAPH : 0);
        assert_int_equal(record(i)->reason, WM_REASON_NONE);
    }
    assert_int_equal(record(0)->correlation, record(2)->correlation);
    cuGraphExecDestroy(graph);
}

static void replays_take_no_memory(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    size_t used = 0;
    program_entry = 2;
    for (size_t run = 0; run < 100; run++) {
        start();
        for (size_t i = 0; i < 100; i++) cuGraphLaunch(graph, stream);
        collect();
        assert_int_equal(got.records.n, 200);
        assert_int_equal(with_reason(WM_REASON_NONE), 200);
        forget();
        const struct mallinfo2 m = mallinfo2();
        if (run == 10)
            used = m.uordblks + m.hblkhd;
        else if (run > 10)
            assert_true(m.uordblks + m.hblkhd <= used + 65536);
    }
    cuGraphExecDestroy(graph);
}

/* What cannot be told apart has no time, and no other launch gets it. */
static void wrong_correlations_of_graphs(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    program_entry = 2;
    for (int wrong = 1; wrong >= 0; wrong--) {
        start();
        fake_graph_correlation_wrong(wrong);
        cuGraphLaunch(graph, stream);
        program_launch("alone", stream);
        cuGraphLaunch(graph, stream);
        collect();
        assert_int_equal(got.records.n, wrong ? 3 : 5);
        assert_int_equal(with_reason(WM_REASON_NO_RECORD), wrong ? 2 : 0);
        assert_int_equal(with_reason(WM_REASON_NONE), wrong ? 1 : 5);
        const wmi_record *alone = record(wrong ? 1 : 2);
        assert_string_equal(wmi_intern_name(alone->name), "alone");
        assert_int_equal(alone->reason, WM_REASON_NONE);
    }
    cuGraphExecDestroy(graph);
}

/* Records of a graph that take the number of a kernel's launch: the fake adds a million. */
static void correlations_of_kernels(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    start();
    program_entry = 2;
    fake_graph_correlation_wrong(true);
    fake_next_correlation(100);
    cuGraphLaunch(graph, stream);
    fake_next_correlation(1000100);
    program_launch("alone", stream);
    collect();
    assert_int_equal(got.records.n, 2);
    assert_int_equal(record(0)->reason, WM_REASON_NO_RECORD);
    assert_int_equal(record(1)->reason, WM_REASON_NONE);
    assert_string_equal(wmi_intern_name(record(1)->name), "alone");
    cuGraphExecDestroy(graph);
}

/* Records of a graph that take the number of another graph's launch. */
static void swapped_correlations_of_graphs(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    start();
    program_entry = 2;
    fake_next_correlation(5);
    cuGraphLaunch(graph, stream);
    cuStreamSynchronize(stream); /* its records are written, with the number 5 */
    fake_graph_correlation_wrong(true);
    fake_next_correlation(UINT32_MAX - 999994); /* and a million is 5 again */
    cuGraphLaunch(graph, stream);
    collect();
    assert_int_equal(got.records.n, 2);
    assert_int_equal(with_reason(WM_REASON_NO_RECORD), 2);
    cuGraphExecDestroy(graph);
}

/* ---- records that are wrong, or missing ---- */

static void impossible_times(void **state) {
    (void)state;
    static const struct {
        uint64_t begin, end;
    } wrong[] = {
        {0, 0}, {5, 3}, {UINT64_C(1) << 63, UINT64_C(1) << 63}, {5, 9}, {FAKE_CLOCK_START, UINT64_MAX}};
    enum { WRONG = sizeof wrong / sizeof *wrong };
    program_entry = 1;
    for (size_t i = 0; i < WRONG; i++) {
        start();
        launch_many("k", 3);
        fake_record_times(wrong[i].begin, wrong[i].end, 1);
        collect();
        assert_int_equal(got.records.n, 3);
        assert_int_equal(with_reason(WM_REASON_INVALID_RECORD), 1);
        assert_int_equal(record(0)->reason, WM_REASON_INVALID_RECORD);
        assert_string_equal(wmi_intern_name(record(0)->name), "k");
        assert_int_equal(record(0)->begin_ns, 0);
        assert_int_equal(record(0)->end_ns, 0);
        assert_int_equal(record(2)->end_ns - record(2)->begin_ns, FAKE_KERNEL_NS);
    }
}

static void dropped_records(void **state) {
    (void)state;
    start();
    program_entry = 1;
    launch_many("k", 50);
    fake_drop_records(7);
    collect();
    assert_int_equal(got.records.n, 50);
    assert_int_equal(with_reason(WM_REASON_NO_RECORD), 7);
    assert_int_equal(with_reason(WM_REASON_NONE), 43);
    assert_int_equal(wmi_records_dropped(), 7);
    assert_int_equal(wmi_records_dropped(), 0);
}

/* One that is not whole has no time at all. */
static void dropped_records_of_graphs(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    start();
    program_entry = 1;
    cuGraphLaunch(graph, stream);
    program_launch("k", stream);
    fake_drop_records(1);
    collect();
    assert_int_equal(got.records.n, 2);
    assert_int_equal(record(0)->reason, WM_REASON_NO_RECORD);
    assert_int_equal(record(0)->flags & WMI_RECORD_GRAPH, WMI_RECORD_GRAPH);
    assert_int_equal(record(1)->reason, WM_REASON_NONE);
    cuGraphExecDestroy(graph);
}

static void no_record_at_all(void **state) {
    (void)state;
    char bytes[16] = {0};
    start();
    program_entry = 9;
    fake_no_records(true);
    program_launch("k", NULL);
    cuMemcpyHtoD_v2(4096, bytes, sizeof bytes);
    cuMemsetD32_v2(4096, 1, 4);
    collect();
    assert_int_equal(got.records.n, 3);
    const uint8_t kinds[] = {WMI_RECORD_KERNEL, WMI_RECORD_COPY, WMI_RECORD_SET};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(record(i)->reason, WM_REASON_NO_RECORD);
        assert_int_equal(record(i)->entry, 9);
        assert_int_equal(record(i)->kind, kinds[i]);
        assert_string_equal(wmi_intern_name(record(i)->device), "NVIDIA Fake H200 (0)");
        assert_true(record(i)->launch_ns >= FAKE_CLOCK_START);
    }
}

static void the_limit(void **state) {
    (void)state;
    setenv("WARPMETER_KERNEL_RECORDS", "30", 1);
    attach_again();
    program_entry = 1;
    for (size_t run = 0; run < 2; run++) { /* it is one for each run */
        start();
        launch_many("k", 50);
        collect();
        assert_int_equal(with_reason(WM_REASON_NONE), 30);
        assert_int_equal(with_reason(WM_REASON_NO_RECORD), 20);
        assert_int_equal(wmi_records_dropped(), 20);
    }
    unsetenv("WARPMETER_KERNEL_RECORDS");
}

static void a_failed_flush(void **state) {
    wm_error err = WM_ERROR_INIT;
    (void)state;
    start();
    program_entry = 1;
    launch_many("k", 3);
    wmi_launches_stop();
    fake_fail("cuptiActivityFlushAll", 999, 1, 1);
    assert_int_not_equal(wmi_records_collect(&(wmi_device_opts){0}, &got, &err), WM_OK);
    assert_int_equal(err.native_code, 999);
    assert_non_null(strstr(err.message, "cuptiActivityFlushAll"));
    assert_int_equal(got.records.n, 0);
}

/* ---- first launches, ignored kernels ---- */

static void first_launches(void **state) {
    CUcontext second;
    (void)state;
    start();
    program_entry = WMI_NO_ENTRY;
    program_launch("seen outside", NULL);
    program_entry = 1;
    program_launch("seen outside", NULL);
    program_launch("new", NULL);
    program_launch("new", NULL);
    assert_int_equal(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    program_launch("new", NULL); /* on another device */
    program_launch("new", NULL);
    collect();
    const uint8_t first[] = {0, 1, 0, 1, 0};
    assert_int_equal(got.records.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(record(i)->flags, first[i] ? WMI_RECORD_FIRST : 0);
        assert_string_equal(wmi_intern_name(record(i)->device),
                            i < 3 ? "NVIDIA Fake H200 (0)" : "NVIDIA Fake H200 (1)");
    }
    start();
    program_launch("new", NULL);
    collect();
    assert_int_equal(record(0)->flags, 0);
    assert_int_equal(cuCtxDestroy_v2(second), CUDA_SUCCESS);
}

static void ignored_kernels(void **state) {
    (void)state;
    const char *patterns[] = {"fill*", "exact"};
    const char *kernels[] = {"fill_zero", "exact", "exactly", "_Z9fill_onesPf", "other"};
    const bool ignored[] = {true, true, false, true, false};
    start();
    program_entry = 1;
    for (size_t i = 0; i < 5; i++) program_launch(kernels[i], NULL);
    collect_with(&(wmi_device_opts){.ignored = patterns, .ignored_count = 2});
    assert_int_equal(got.records.n, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(record(i)->flags & WMI_RECORD_IGNORED, ignored[i] ? WMI_RECORD_IGNORED : 0);
}

static void a_shared_device(void **state) {
    (void)state;
    char folder[] = "/tmp/warpmeter-mps-XXXXXX", pipe[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(pipe, sizeof pipe, "%s/control", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
    program_entry = 1;
    for (int shared = 1; shared >= 0; shared--) {
        start();
        program_launch("k", NULL);
        collect();
        assert_int_equal(record(0)->flags & WMI_RECORD_SHARED, shared ? WMI_RECORD_SHARED : 0);
        if (shared) (void)unlink(pipe);
    }
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    assert_int_equal(rmdir(folder), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, attach, detach)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_record_says_all),
        TEST(streams_overlap),
        TEST(order_is_that_of_launches),
        TEST(copies_and_sets_stand_apart),
        TEST(entries_of_threads),
        TEST(launches_without_entry_are_left_out),
        TEST(a_graph_belongs_to_its_launch),
        TEST(replays_take_no_memory),
        TEST(wrong_correlations_of_graphs),
        TEST(correlations_of_kernels),
        TEST(swapped_correlations_of_graphs),
        TEST(impossible_times),
        TEST(dropped_records),
        TEST(dropped_records_of_graphs),
        TEST(no_record_at_all),
        TEST(the_limit),
        TEST(a_failed_flush),
        TEST(first_launches),
        TEST(ignored_kernels),
        TEST(a_shared_device),
    };
    return cmocka_run_group_tests_name("cuda_records", tests, NULL, NULL);
}
