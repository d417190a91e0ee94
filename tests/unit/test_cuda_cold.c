/* Evicting a GPU's caches, on a GPU that is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "backend/cuda/cold.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/launches.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

static const char before[] = "kernel_before";
enum { LONG = 60, L2 = 40 << 20 };
static const int64_t PATIENT = (int64_t)LONG * 1000000000;

static wmi_cuda_device device;
static wmi_cuda_context program;

static uint64_t entry_of_all(wmi_scope scope) {
    (void)scope;
    return 1;
}

/* A program with a context, and a launch log that would show what is not hidden. */
static int set_up(void **state) {
    (void)state;
    fake_reset();
    wm_error err = WM_ERROR_INIT;
    if (wmi_cuda_load(&err) != WM_OK) fail_msg("%s", err.message);
    assert_int_equal(wmi_launches_attach(&err), WM_OK);
    device = (wmi_cuda_device){.name = "GPU", .multiprocessors = 10, .l2_bytes = L2};
    program = (wmi_cuda_context){.id = 1, .device = &device};
    assert_int_equal(cuCtxCreate_v2(&program.handle, 0, 0), CUDA_SUCCESS);
    wmi_launches_start(WMI_LAUNCHES_TIMES, WMI_SCOPE_PROCESS, entry_of_all, NULL, NULL);
    return 0;
}

/* The program's context is current again, and nothing else is left. */
static int tear_down(void **state) {
    (void)state;
    CUcontext current = NULL;
    assert_int_equal(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, program.handle);
    assert_int_equal(fake_contexts(), 1);
    assert_int_equal(fake_memory(), 0);
    assert_int_equal(fake_modules(), 0);
    wmi_launches_stop();
    size_t logged;
    (void)wmi_launches_times(&logged);
    assert_int_equal(logged, fake_launches_of(before));
    wmi_launches_detach();
    return 0;
}

static void launch_before(void) {
    CUfunction f = fake_function(before);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
}

static wmi_cold *create(void) {
    wmi_cold *c = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_cold_create(&device, &c, &err) != WM_OK) fail_msg("%s", err.message);
    return c;
}

static wm_status evict(wmi_cold *c) { return wmi_cold_evict(c, &program, WMI_COLD_APART, PATIENT, NULL); }

/* With the second context, which is made when it is first wanted. */
static wmi_cold *create_apart(void) {
    wmi_cold *c = create();
    assert_int_equal(evict(c), WM_OK);
    assert_false(wmi_cold_in_program(c));
    return c;
}

/* ---- an eviction on a thread of its own, to see where it waits ---- */

typedef struct eviction {
    wmi_cold *c;
    pthread_t thread;
    wm_status status;
} eviction;

static void *evict_there(void *user) {
    eviction *e = user;
    e->status = wmi_cold_evict(e->c, &program, WMI_COLD_APART, PATIENT, NULL);
    return NULL;
}
static void begin(eviction *e, wmi_cold *c) {
    *e = (eviction){.c = c, .status = WM_EFAILED};
    assert_int_equal(pthread_create(&e->thread, NULL, evict_there, e), 0);
}
static wm_status end(eviction *e) {
    assert_int_equal(pthread_join(e->thread, NULL), 0);
    return e->status;
}

/* Let the kernel end that an eviction waited for in vain, and the thread that still waits. */
static void release_abandoned(void) {
    fake_wait_blocked(1);
    const uint64_t pops = fake_calls("cuCtxPopCurrent_v2");
    fake_release(before);
    while (fake_calls("cuCtxPopCurrent_v2") == pops) sched_yield();
}

/* ---- tests ---- */

/* cudaDeviceReset, say: what was loaded into the old one is gone with it. */
static void test_a_context_made_anew(void **state) {
    wmi_cold *c = create();
    assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_INSIDE, PATIENT, NULL), WM_OK);
    assert_int_equal(fake_modules(), 1);
    program.id = 2;
    for (int i = 0; i < 2; i++)
        assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_INSIDE, PATIENT, NULL), WM_OK);
    assert_int_equal(fake_modules(), 2);
    wmi_cold_destroy(c);
    assert_int_equal(fake_modules(), 1); /* which is not ours to unload any more */
    wmi_launches_stop();
    wmi_launches_detach();
    set_up(state); /* so that it is gone */
}

static void test_second_context(void **state) {
    (void)state;
    wmi_cold *c = create_apart();
    assert_int_equal(fake_contexts(), 2);
    assert_int_equal(fake_memory(), 2 * L2);
    const uint64_t prepared = fake_launches_of(wmi_cold_kernel);
    for (int i = 0; i < 3; i++) assert_int_equal(evict(c), WM_OK);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), prepared + 3);
    assert_int_equal(fake_contexts(), 2);
    assert_int_equal(fake_memory(), 2 * L2);
    wmi_cold_destroy(c);
}

static void test_inside(void **state) {
    (void)state;
    wmi_cold *c = create();
    assert_int_equal(fake_memory(), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_INSIDE, PATIENT, NULL), WM_OK);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 3);
    assert_int_equal(fake_contexts(), 1);
    assert_int_equal(fake_memory(), 2 * L2);
    assert_int_equal(evict(c), WM_OK); /* both in turn */
    assert_int_equal(fake_contexts(), 2);
    assert_int_equal(fake_memory(), 4 * L2);
    wmi_cold_destroy(c);
}

static void test_waits_before_and_after(void **state) {
    (void)state;
    wmi_cold *c = create_apart();
    const uint64_t prepared = fake_launches_of(wmi_cold_kernel);
    eviction e;

    fake_hold(before);
    launch_before();
    begin(&e, c);
    fake_wait_blocked(1);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), prepared);
    fake_hold(wmi_cold_kernel);
    fake_release(before);
    while (fake_launches_of(wmi_cold_kernel) == prepared) sched_yield();
    fake_wait_blocked(1);
    assert_int_equal(e.status, WM_EFAILED); /* not returned */
    fake_release(wmi_cold_kernel);
    assert_int_equal(end(&e), WM_OK);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), prepared + 1);
    wmi_cold_destroy(c);
}

static void test_capture(void **state) {
    (void)state;
    wmi_cold *c = create_apart();
    CUstream stream;
    CUgraph graph;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    const uint64_t launched = fake_launches(), waits = fake_calls("cuCtxSynchronize");
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_APART, PATIENT, &err), WM_ESTATE);
    assert_int_equal(err.code, WM_ESTATE);
    assert_int_equal(fake_launches(), launched);
    assert_int_equal(fake_calls("cuCtxSynchronize"), waits);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(evict(c), WM_OK);
    wmi_cold_destroy(c);
    assert_int_equal(cuStreamDestroy(stream), CUDA_SUCCESS);
}

/* A capture that the callbacks did not see. */
static void test_capture_that_the_driver_tells_of(void **state) {
    (void)state;
    wmi_cold *c = create();
    const uint64_t launched = fake_launches();
    fake_fail("cuCtxSynchronize", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 1, 1);
    assert_int_equal(evict(c), WM_ESTATE);
    assert_int_equal(fake_launches(), launched);
    assert_int_equal(evict(c), WM_OK);
    wmi_cold_destroy(c);
}

static void in_the_programs_context(void) {
    wmi_cold *c = create();
    assert_true(wmi_cold_in_program(c));
    assert_int_equal(fake_contexts(), 1);
    assert_int_equal(fake_launches(), 0); /* each would be a range of the program's */
    assert_int_equal(evict(c), WM_OK);
    assert_int_equal(evict(c), WM_OK);
    assert_int_equal(fake_launches_of(wmi_cold_kernel), 2);
    assert_int_equal(fake_modules(), 1);
    assert_int_equal(fake_memory(), 2 * L2);
    wmi_cold_destroy(c);
}

static void test_second_context_refused(void **state) {
    (void)state;
    fake_fail("cuCtxCreate_v2", CUDA_ERROR_DEVICE_UNAVAILABLE, 1, -1);
    in_the_programs_context();
}

static void test_exclusive_mode(void **state) {
    (void)state;
    device.compute_mode = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
    const uint64_t made = fake_calls("cuCtxCreate_v2");
    in_the_programs_context();
    assert_int_equal(fake_calls("cuCtxCreate_v2"), made);
}

static void test_kernels_that_never_end(void **state) {
    (void)state;
    wmi_cold *c = create_apart();
    const uint64_t launched = fake_launches_of(wmi_cold_kernel);
    fake_hold(before);
    launch_before();
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_APART, 1000000, &err), WM_EFAILED);
    assert_non_null(strstr(err.message, "did not end within 1 ms"));
    assert_int_equal(evict(c), WM_EFAILED); /* at once, though it would be patient */
    assert_int_equal(fake_launches_of(wmi_cold_kernel), launched);
    release_abandoned();
    assert_int_equal(evict(c), WM_EFAILED);
    wmi_cold_destroy(c);
}

static void test_destroyed_while_waiting(void **state) {
    (void)state;
    wmi_cold *c = create_apart();
    fake_hold(before);
    launch_before();
    assert_int_equal(wmi_cold_evict(c, &program, WMI_COLD_APART, 0, NULL), WM_EFAILED);
    wmi_cold_destroy(c); /* while a thread of its own is in the driver */
    release_abandoned();
}

static void test_failed_kernels(void **state) {
    (void)state;
    wmi_cold *c = create();
    const uint64_t launched = fake_launches();
    wm_error err = WM_ERROR_INIT;
    fake_fail("cuCtxSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS, 1, 1);
    assert_int_not_equal(wmi_cold_evict(c, &program, WMI_COLD_APART, PATIENT, &err), WM_OK);
    assert_int_equal(err.native_code, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(fake_launches(), launched);
    wmi_cold_destroy(c);
}

/* Whatever fails in the first eviction, nothing is left, or the next one is fine. */
static void test_first_eviction_fails(void **state) {
    (void)state;
    static const struct {
        const char *function;
        int code;
        wm_status status; /* WM_OK: any failure */
    } failures[] = {
        {"cuMemAlloc_v2", CUDA_ERROR_OUT_OF_MEMORY, WM_ENOMEM},
        {"cuMemAlloc_v2", CUDA_ERROR_ECC_UNCORRECTABLE, WM_OK},
        {"cuModuleLoadData", CUDA_ERROR_INVALID_PTX, WM_OK},
        {"cuModuleGetFunction", CUDA_ERROR_NOT_FOUND, WM_OK},
        {"cuMemsetD32_v2", CUDA_ERROR_LAUNCH_FAILED, WM_OK},
        {"cuLaunchKernel", CUDA_ERROR_LAUNCH_FAILED, WM_OK},
        {"cuCtxSynchronize", CUDA_ERROR_LAUNCH_FAILED, WM_OK},
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        wm_error err = WM_ERROR_INIT;
        wmi_cold *c = create();
        fake_fail(failures[i].function, failures[i].code, 1, 1);
        const wm_status status = wmi_cold_evict(c, &program, WMI_COLD_APART, PATIENT, &err);
        if (failures[i].status == WM_OK)
            assert_int_not_equal(status, WM_OK);
        else
            assert_int_equal(status, failures[i].status);
        assert_int_equal(err.native_code, failures[i].code);
        assert_int_equal(fake_memory(), 0);
        assert_int_equal(fake_modules(), 0);
        if (i % 2 == 0) assert_int_equal(evict(c), WM_OK);
        wmi_cold_destroy(c);
        assert_int_equal(fake_contexts(), 1);
        assert_int_equal(fake_memory(), 0);
        assert_int_equal(fake_modules(), 0);
    }
}

static void test_unknown_size(void **state) {
    (void)state;
    device.l2_bytes = 0;
    wmi_cold *c = NULL;
    assert_int_equal(wmi_cold_create(&device, &c, NULL), WM_EUNSUPPORTED);
    assert_null(c);
    wmi_cold_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_second_context, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_context_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_before_and_after, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_capture, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_capture_that_the_driver_tells_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_context_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exclusive_mode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kernels_that_never_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_destroyed_while_waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failed_kernels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_eviction_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_size, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
