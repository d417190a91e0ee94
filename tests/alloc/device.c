/* Fails each allocation of a whole sweep on a made-up GPU in turn: making it, its runs, tables. Every call
 * then says that memory ran out, or nothing was lost that it needed; a value is right or there is none; and
 * what comes after is as if nothing had happened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alloc/failing.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"
#include "unit/benches.h"

#define BYTES "dram__bytes_read.sum"
#define SM    "sm__throughput.avg.pct_of_peak_sustained_elapsed"
enum { MOST = 20000 };

/* ---- the program: two kernels in a region, and one outside ---- */

static CUcontext context;

static void program_open(void) {
    fake_reset();
    fake_kernel_ns("alpha", 1000);
    fake_kernel_ns("beta", 2000);
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
}

static void launch(const char *kernel) {
    assert_int_equal(cuLaunchKernel(fake_function(kernel), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_SUCCESS);
}

static void run(wm_state *st) {
    (void)st;
    launch("outside");
    WM_BEGIN("region");
    launch("alpha");
    launch("beta");
    WM_END("region");
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
}

/* ---- a sweep ---- */

static const struct {
    const char *metric;
    double mean;
} right[] = {{"kernel_time", 3000}, {"kernel_count", 2}, {"kernel_union", 3000}, {BYTES, 2000}, {SM, 50}};

static void check_values(const wm_table *t) {
    for (size_t row = 0; row < wm_table_rows(t); row++) {
        if (cell(t, row, "region").type != WM_STR || strcmp(text_cell(t, row, "region"), "region") != 0)
            continue;
        if (cell(t, row, "mean").type == WM_NULL) continue;
        for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
            if (!strcmp(text_cell(t, row, "metric"), right[i].metric))
                assert_true(number_cell(t, row, "mean") == right[i].mean);
    }
}

static wm_status tables_make(wm_session *s, size_t *values, wm_error *err) {
    wm_table *results = NULL, *samples = NULL, *kernels = NULL;
    wm_status status = wm_session_table(s, &results, err);
    if (status == WM_OK) status = wm_session_samples(s, &samples, err);
    if (status == WM_OK) status = wm_session_kernels(s, &kernels, err);
    if (results) check_values(results);
    *values = status == WM_OK ? wm_table_rows(samples) + wm_table_rows(kernels) : 0;
    wm_table_destroy(results);
    wm_table_destroy(samples);
    wm_table_destroy(kernels);
    return status;
}

/* `values`: samples and kernels, those that were told in time too. */
static wm_status measure(const char *options, size_t *values, wm_error *err) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    wm_sweep *sweep = NULL;
    size_t before = 0;
    const wm_benchmark b = bench_of("program", run, options);
    opts.keep_records = true;
    wm_status status = wm_session_create(&opts, &s, err);
    if (status == WM_OK) status = wm_sweep_create(s, &b, 0, NULL, &sweep, err);
    if (status == WM_OK) status = wm_sweep_run(sweep, err);
    wm_sweep_destroy(sweep);
    if (s && status != WM_OK) (void)tables_make(s, &before, NULL);
    if (status == WM_OK) status = tables_make(s, values, err);
    wm_session_destroy(s);
    return status;
}

static void fail_each(const char *options, failing_mode mode, size_t expected) {
    unsigned long n = 1;
    for (bool reached = true; reached && n < MOST; n++) {
        size_t values = 0;
        wm_error err = WM_ERROR_INIT;
        failing_arm(n, mode);
        const wm_status status = measure(options, &values, &err);
        reached = failing_disarm();
        if (status != WM_OK && (!reached || status != err.code || !err.message[0]))
            fail_msg("allocation %lu of %s: %s: %s", n, options, wm_status_name(status), err.message);
        if (!reached) assert_int_equal(values, expected);
    }
    print_message("%s: %lu allocations\n", options, n - 2);
    assert_true(n > 100 && n < MOST);
    assert_int_equal(fake_profilers(), 0);
    assert_int_equal(fake_contexts(), 1);
    assert_int_equal(fake_memory(), 0);
}

static void test_all(void **state) {
    (void)state;
    static const char *const options[] = {
        "--runs 1 --metrics kernel_time,kernel_count,kernel_union",
        "--runs 1 --metrics kernel_time,kernel_count," BYTES "," SM " --replay stacked --counter-runs 1",
        "--runs 1 --metrics " BYTES " --replay window",
        "--runs 1 --metrics " SM " --replay kernel",
        "--runs 1 --metrics " BYTES " --replay range --cache-control all",
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        size_t expected = 0;
        assert_int_equal(measure(options[i], &expected, NULL), WM_OK);
        assert_true(expected > 0);
        fail_each(options[i], FAILING_ONCE, expected);
        fail_each(options[i], FAILING_ONWARDS, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    program_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
