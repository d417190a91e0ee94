#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cuda/activity_buffers.h"
#include "backend/cuda/activity_store.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/records.h"
#include "base/intern.h"
#include "cuda_recording.h"

/* ---- buffers ---- */

static void a_buffer_of_another(void **state) {
    (void)state;
    start();
    program_entry = 1;
    launch_many("k", 10);
    fake_foreign_buffer(65536);
    collect();
    assert_int_equal(with_reason(WM_REASON_NONE), 10);
    assert_true(fake_foreign_untouched());
    assert_int_equal(wmi_records_foreign(), 1);
    assert_int_equal(wmi_records_foreign(), 0);
}

static void small_buffers(void **state) {
    (void)state;
    setenv("WARPMETER_CUDA_BUFFER", "65536", 1);
    attach_again();
    assert_string_equal(wmi_records_warning(), "");
    start();
    program_entry = 1;
    launch_many("k", 5000);
    collect();
    assert_int_equal(with_reason(WM_REASON_NONE), 5000);
    assert_int_equal(fake_buffers_out(), 0);
    unsetenv("WARPMETER_CUDA_BUFFER");
}

static void wrong_settings_are_said(void **state) {
    (void)state;
    static const struct {
        const char *set, *used;
    } sizes[] = {{"3000000000", "1073741824"}, {"1", "65536"}, {"-5", "65536"}, {"big", "1048576"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char used[64];
        (void)snprintf(used, sizeof used, "'%s': %s is used", sizes[i].set, sizes[i].used);
        setenv("WARPMETER_CUDA_BUFFER", sizes[i].set, 1);
        attach_again();
        assert_non_null(strstr(wmi_records_warning(), "WARPMETER_CUDA_BUFFER"));
        assert_non_null(strstr(wmi_records_warning(), used));
    }
    setenv("WARPMETER_KERNEL_RECORDS", "0", 1);
    attach_again();
    assert_non_null(strstr(wmi_records_warning(), "'big': 1048576 is used; WARPMETER_KERNEL_RECORDS"));
    unsetenv("WARPMETER_CUDA_BUFFER");
    unsetenv("WARPMETER_KERNEL_RECORDS");
    attach_again();
    assert_string_equal(wmi_records_warning(), "");
}

/* Sanitizers end the process when memory cannot be had. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* From here on no buffer of a gigabyte can be had, but small ones can. */
static struct rlimit limit_memory(void) {
    struct rlimit before, now;
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    now = before;
    now.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (256u << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
    return before;
}

static void no_memory_for_buffers(void **state) {
    (void)state;
    if (SANITIZED) {
        print_message("skipped: a sanitizer ends the process when memory cannot be had\n");
        skip();
    }
    setenv("WARPMETER_CUDA_BUFFER", "1073741824", 1);
    attach_again();
    const struct rlimit before = limit_memory();
    start();
    program_entry = 1;
    launch_many("k", 20);
    collect();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(with_reason(WM_REASON_NO_RECORD), 20);
    assert_int_equal(wmi_records_dropped(), 20);
    unsetenv("WARPMETER_CUDA_BUFFER");
}

/* A CUPTI that must not be refused gets buffers of a reserve. */
static void no_memory_for_buffers_of_an_old_one(void **state) {
    (void)state;
    if (SANITIZED) {
        print_message("skipped: a sanitizer ends the process when memory cannot be had\n");
        skip();
    }
    assert_int_equal(wmi_activity_buffers_open((size_t)1 << 30, false, NULL), WM_OK);
    const struct rlimit before = limit_memory();
    start();
    program_entry = 1;
    launch_many("k", 1000); /* more than one of them holds */
    collect();
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(with_reason(WM_REASON_NONE), 1000);
    assert_int_equal(wmi_records_dropped(), 0);
    assert_int_equal(fake_buffers_out(), 0);
}

static void flush_on_another_thread(void **state) {
    (void)state;
    fake_flush_on_thread(true);
    program_entry = 1;
    for (size_t run = 0; run < 20; run++) {
        start();
        launch_many("k", 100);
        collect();
        assert_int_equal(with_reason(WM_REASON_NONE), 100);
    }
}

/* Another thread flushes all the time. */
static void *flush_always(void *stop) {
    while (!atomic_load((atomic_bool *)stop)) (void)wmi_cupti.ActivityFlushAll(0);
    return NULL;
}

static void others_flush_too(void **state) {
    (void)state;
    pthread_t thread;
    atomic_bool stop = false;
    assert_int_equal(pthread_create(&thread, NULL, flush_always, &stop), 0);
    program_entry = 1;
    for (size_t run = 0; run < 50; run++) {
        start();
        launch_many("k", 20);
        collect();
        assert_int_equal(with_reason(WM_REASON_NONE), 20);
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- over time ---- */

static void windows_with_launches_between(void **state) {
    (void)state;
    program_entry = 1;
    for (size_t i = 0; i < 10; i++) {
        launch_many("between", 13);
        start();
        launch_many("in it", 50);
        collect();
        assert_int_equal(got.records.n, 50);
        assert_int_equal(with_reason(WM_REASON_NONE), 50);
        for (size_t k = 0; k < 50; k++) assert_string_equal(wmi_intern_name(record(k)->name), "in it");
        launch_many("between", 7);
    }
}

static void discard(void) {
    wmi_records_disable();
    assert_int_equal(wmi_records_enable(NULL), WM_OK);
}

static void what_is_discarded_does_not_come(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraphExec graph = program_graph((const char *[]){"a", "b"}, 2, stream);
    program_entry = 1;
    launch_many("before", 100);
    cuGraphLaunch(graph, stream); /* its records belong to no launch that is logged */
    discard();
    assert_int_equal(wmi_activity_store_count(), 0);
    start();
    program_launch("k", stream);
    cuGraphLaunch(graph, stream);
    collect();
    assert_int_equal(got.records.n, 3);
    assert_int_equal(with_reason(WM_REASON_NONE), 3);
    cuGraphExecDestroy(graph);
}

static void launches_before_attaching(void **state) {
    (void)state;
    wmi_records_detach();
    wmi_launches_detach();
    launch_many("before", 10);
    assert_int_equal(wmi_launches_attach(NULL), WM_OK);
    assert_int_equal(wmi_records_attach(NULL), WM_OK);
    assert_int_equal(wmi_records_enable(NULL), WM_OK);
    start();
    program_entry = 1;
    const int64_t begin = fake_now();
    launch_many("after", 10);
    collect();
    assert_int_equal(with_reason(WM_REASON_NONE), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_string_equal(wmi_intern_name(record(i)->name), "after");
        assert_int_equal(record(i)->launch_ns, begin + (int64_t)i * FAKE_LAUNCH_NS);
        assert_true(record(i)->begin_ns > record(i)->launch_ns);
    }
}

static void many_records_come_in_parts(void **state) {
    (void)state;
    enum { MANY = 150000 };
    size_t n = 0, calls = 0;
    uint64_t last = 0;
    start();
    program_entry = 1;
    launch_many("k", MANY);
    wmi_launches_stop();
    do {
        forget();
        assert_int_equal(wmi_records_collect(&(wmi_device_opts){0}, &got, NULL), WM_OK);
        assert_int_equal(with_reason(WM_REASON_NONE), got.records.n);
        for (size_t i = 0; i < got.records.n; i++) {
            assert_true(record(i)->correlation > last);
            last = record(i)->correlation;
        }
        n += got.records.n;
        calls++;
    } while (got.more);
    assert_int_equal(n, MANY);
    assert_int_equal(calls, 3);
}

/* Given up in the midst of it. */
static void a_collection_can_be_discarded(void **state) {
    (void)state;
    program_entry = 1;
    start();
    launch_many("k", 70000);
    wmi_launches_stop();
    assert_int_equal(wmi_records_collect(&(wmi_device_opts){0}, &got, NULL), WM_OK);
    assert_true(got.more);
    discard();
    start();
    launch_many("other", 5);
    collect();
    assert_int_equal(got.records.n, 5);
    assert_string_equal(wmi_intern_name(record(0)->name), "other");
}

static void contexts_that_are_gone(void **state) {
    CUcontext second;
    (void)state;
    start();
    program_entry = 1;
    assert_int_equal(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    program_launch("k", NULL);
    assert_int_equal(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    program_launch("k", NULL);
    const uint64_t pushed = fake_calls("cuCtxPushCurrent_v2");
    collect();
    assert_int_equal(fake_calls("cuCtxPushCurrent_v2"), pushed + 1);
    assert_int_equal(with_reason(WM_REASON_NONE), 2);
}

/* Waiting for a context would spoil what is captured in it. */
static void a_capture_is_not_spoilt(void **state) {
    (void)state;
    CUstream stream = program_stream();
    CUgraph graph = NULL;
    start();
    program_entry = 1;
    assert_int_equal(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    program_launch("captured", stream);
    program_launch("not", NULL);
    fake_advance(100000);
    collect();
    assert_int_equal(got.records.n, 1);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    cuGraphDestroy(graph);
}

/* ---- attaching ---- */

static void enabling_fails_whole(void **state) {
    wm_error err = WM_ERROR_INIT;
    (void)state;
    wmi_records_detach();
    assert_int_equal(wmi_records_attach(NULL), WM_OK);
    fake_fail("cuptiActivityEnable", 35, 3, 1); /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */
    const uint64_t disabled = fake_calls("cuptiActivityDisable");
    assert_int_equal(wmi_records_enable(&err), WM_EPERM);
    assert_int_equal(err.native_code, 35);
    assert_int_equal(fake_calls("cuptiActivityDisable"), disabled + 2);
    assert_int_equal(wmi_records_enable(&err), WM_OK);
    const uint64_t enabled = fake_calls("cuptiActivityEnable");
    assert_int_equal(wmi_records_enable(&err), WM_OK); /* once is enough */
    assert_int_equal(fake_calls("cuptiActivityEnable"), enabled);
}

static void attaching_is_counted(void **state) {
    (void)state;
    const uint64_t registered = fake_calls("cuptiActivityRegisterCallbacks");
    assert_int_equal(wmi_records_attach(NULL), WM_OK);
    assert_int_equal(fake_calls("cuptiActivityRegisterCallbacks"), registered);
    wmi_records_detach();
    start();
    program_entry = 1;
    program_launch("k", NULL);
    collect();
    assert_int_equal(with_reason(WM_REASON_NONE), 1);
    wm_error err = WM_ERROR_INIT;
    wmi_records_detach();
    fake_fail("cuptiActivityRegisterCallbacks", 1, 1, 1);
    assert_int_not_equal(wmi_records_attach(&err), WM_OK);
    assert_non_null(strstr(err.message, "cuptiActivityRegisterCallbacks"));
    assert_int_equal(wmi_records_attach(NULL), WM_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, attach, detach)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_buffer_of_another),
        TEST(small_buffers),
        TEST(wrong_settings_are_said),
        TEST(no_memory_for_buffers),
        TEST(no_memory_for_buffers_of_an_old_one),
        TEST(flush_on_another_thread),
        TEST(others_flush_too),
        TEST(windows_with_launches_between),
        TEST(what_is_discarded_does_not_come),
        TEST(launches_before_attaching),
        TEST(many_records_come_in_parts),
        TEST(a_collection_can_be_discarded),
        TEST(contexts_that_are_gone),
        TEST(a_capture_is_not_spoilt),
        TEST(enabling_fails_whole),
        TEST(attaching_is_counted),
    };
    return cmocka_run_group_tests_name("cuda_activity", tests, NULL, NULL);
}
