/* Several sessions and sweeps on one made-up GPU: what one does is in nobody else's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_program.h"
#include "fakes/cuda/fake_gpu.h"
#include "unit/benches.h"

enum { CUPTI_UNKNOWN = 999, ALPHA_NS = 1000, BETA_NS = 2000 };

static int begin(void **state) {
    *state = program_begin(1);
    fake_kernel_ns("alpha", ALPHA_NS);
    fake_kernel_ns("beta", BETA_NS);
    return 0;
}

static void work(void) {
    WM_BEGIN("region");
    program_launch("alpha", NULL);
    program_launch("beta", NULL);
    WM_END("region");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

static wm_session *make(const char *metrics) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    opts.metrics = metrics;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    return s;
}

static void measure(wm_session *s) {
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    work();
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
}

/* In so many runs two kernels each were seen, for the first time in the process in so many. */
static void check(wm_session *s, int64_t runs, int64_t first_runs) {
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    check_mean(t, "region", "kernel_count", NULL, 2);
    check_mean(t, "region", "kernel_time", NULL, ALPHA_NS + BETA_NS);
    assert_int_equal(cell(t, find_row(t, "region", "kernel_count", NULL), "samples").as.i64, runs);
    assert_int_equal(cell(t, find_row(t, "region", "kernel_time", NULL), "samples").as.i64,
                     runs - first_runs);
    wm_table_destroy(t);
}

static const char *const metrics = "kernel_count,kernel_time";

static void test_sessions_take_turns(void **state) {
    (void)state;
    wm_session *a = make(metrics), *b = make(metrics);
    for (int i = 0; i < 3; i++) {
        measure(a);
        measure(b);
    }
    check(a, 3, 1);
    check(b, 3, 0);
    wm_session_destroy(a);
    measure(b);
    check(b, 4, 0);
    wm_session_destroy(b);
}

/* A session that may not start leaves the one that runs alone, and so does one that goes away. */
static void test_a_running_session_is_left_alone(void **state) {
    (void)state;
    wm_session *a = make(metrics), *b = make(metrics);
    measure(b);
    assert_int_equal(wm_session_start(a, NULL), WM_OK);
    WM_BEGIN("region");
    program_launch("alpha", NULL);
    assert_int_equal(wm_session_start(b, NULL), WM_EBUSY);
    wm_session_destroy(b);
    program_launch("beta", NULL);
    WM_END("region");
    assert_int_equal(wm_session_stop(a, NULL), WM_OK);
    check(a, 1, 0);
    wm_session_destroy(a);
}

/* Nothing is open then, so the next start opens it. */
static void test_a_start_that_failed_is_tried_again(void **state) {
    (void)state;
    wm_session *s = make(metrics);
    fake_fail("cuptiActivityEnable", CUPTI_UNKNOWN, 1, 1);
    assert_int_equal(wm_session_start(s, NULL), WM_EIO);
    measure(s);
    measure(s);
    check(s, 2, 0);
    wm_session_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_sessions_take_turns, begin),
        cmocka_unit_test_setup(test_a_running_session_is_left_alone, begin),
        cmocka_unit_test_setup(test_a_start_that_failed_is_tried_again, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
