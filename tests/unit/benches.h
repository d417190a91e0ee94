/* Running benchmarks, for tests of what comes of them. After <cmocka.h>. */
#ifndef TEST_BENCHES_H
#define TEST_BENCHES_H

#include "unit/cells.h"

static inline wm_session *make_session(void) {
    wm_session *s = NULL;
    assert_int_equal(wm_session_create(NULL, &s, NULL), WM_OK);
    return s;
}

static inline wm_sweep *make_sweep(wm_session *s, const wm_benchmark *b, const char *const *argv) {
    wm_sweep *sweep = NULL;
    wm_error err = WM_ERROR_INIT;
    int argc = 0;
    while (argv && argv[argc]) argc++;
    if (wm_sweep_create(s, b, argc, argv, &sweep, &err) != WM_OK) fail_msg("%s", err.message);
    return sweep;
}

/* Run a benchmark with these options; the table. */
static inline wm_table *sweep_table(const wm_benchmark *b, const char *const *argv, wm_status expected) {
    wm_session *s = make_session();
    wm_sweep *sweep = make_sweep(s, b, argv);
    wm_table *t = NULL;
    assert_int_equal(wm_sweep_run(sweep, NULL), expected);
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    wm_session_destroy(s);
    return t;
}

static inline wm_benchmark bench_of(const char *name, wm_fn run, const char *options) {
    wm_benchmark b = WM_BENCHMARK_INIT;
    b.name = name;
    b.run = run;
    b.options = options;
    return b;
}

/* Is that the value of the row, which is in order? */
static inline void check_mean(const wm_table *t, const char *region, const char *metric, const char *key,
                              double want) {
    const size_t row = find_row(t, region, metric, key);
    if (row == SIZE_MAX) fail_msg("no row for %s of %s", metric, region);
    assert_string_equal(text_cell(t, row, "status"), "ok");
    const double mean = number_cell(t, row, "mean");
    if (!(fabs(mean - want) <= 1e-9 * fabs(want)))
        fail_msg("%s of %s: %g, not %g", metric, region, mean, want);
}

#define ARGS(...)                                                                                            \
    (const char *const[]) { __VA_ARGS__, NULL }

#endif
