#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/stats.h"

static void near_at(double got, double want, double rel, int line) {
    if (fabs(got - want) <= rel * fabs(want)) return;
    fail_msg("line %d: got %.17g, want %.17g", line, got, want);
}
#define NEAR(got, want, rel) near_at(got, want, rel, __LINE__)

enum { FEW = 128 };
static wmi_summary summary_of(const double *x, size_t n) {
    double scratch[FEW];
    wmi_summary s;
    assert_true(n <= FEW);
    memcpy(scratch, x, n * sizeof *x);
    assert_int_equal(wmi_summarise(scratch, n, NULL, &s), WM_OK);
    assert_int_equal(s.n, n);
    return s;
}
#define SUMMARY(...)                                                                                         \
    summary_of((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* NIST Statistical Reference Datasets, univariate summary statistics: the certified
 * mean and standard deviation. The inputs are decimal fractions that a double
 * cannot hold, which bounds what can be reached: at 1e7 + 0.2 a double is off by up
 * to 9.3e-10, that is 1e-8 of the standard deviation of 0.1. */
static void nist_num_acc(double base, double low, double high, double want_mean, double tolerance) {
    enum { N = 1001 };
    double x[N];
    wmi_summary s;
    x[0] = base;
    for (size_t i = 1; i < N; i++) x[i] = i % 2 ? low : high;
    assert_int_equal(wmi_summarise(x, N, NULL, &s), WM_OK);
    NEAR(s.mean, want_mean, 1e-15);
    NEAR(s.stddev, 0.1, tolerance);
}

static void nist_datasets(void **state) {
    (void)state;
    wmi_summary acc1 = SUMMARY(10000001, 10000003, 10000002);
    assert_true(acc1.mean == 10000002.0);
    assert_true(acc1.stddev == 1.0);
    nist_num_acc(1.2, 1.1, 1.3, 1.2, 1e-14);
    nist_num_acc(1000000.2, 1000000.1, 1000000.3, 1000000.2, 1e-9);
    nist_num_acc(10000000.2, 10000000.1, 10000000.3, 10000000.2, 1e-8);
}

/* Michelson's speed of light, 299 + x / 1000 in 1000 km/s; certified by NIST
 * (dataset Michelso) as 299.852400000000 and 0.0790105478190518. */
static void nist_michelson(void **state) {
    (void)state;
    static const int thousandths[100] = {
        850,  740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000,
        1000, 960, 960, 960,  940, 960, 940, 880, 800, 850, 880,  900, 840, 830, 790, 810, 880,
        880,  830, 800, 790,  760, 800, 880, 880, 880, 860, 720,  720, 620, 860, 970, 950, 880,
        910,  850, 870, 840,  840, 850, 840, 840, 840, 890, 810,  810, 820, 800, 770, 760, 740,
        750,  760, 910, 920,  890, 860, 880, 720, 840, 850, 850,  780, 890, 840, 780, 810, 760,
        810,  790, 810, 820,  850, 870, 870, 810, 740, 810, 940,  950, 800, 810, 870};
    double x[100];
    for (size_t i = 0; i < 100; i++) x[i] = 299.0 + thousandths[i] / 1000.0;
    wmi_summary s = summary_of(x, 100);
    NEAR(s.mean, 299.852400000000, 1e-15);
    NEAR(s.stddev, 0.0790105478190518, 1e-12);
    assert_true(s.min == 299.62 && s.max == 300.07);
    /* 1.98421695158642 is t(0.975, 99) as mpmath gives it */
    NEAR(s.ci95_high - s.mean, 1.98421695158642 * 0.0790105478190518 / 10.0, 1e-11);
}

static void large_offset(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16);
    assert_true(s.mean == 1e9 + 10);
    NEAR(s.stddev * s.stddev, 30.0, 1e-15);
    assert_true(s.median == 1e9 + 10);
}

/* 2.5 million times {4, 7, 13, 16} about 1e9: the squares about the mean add up to
 * 90 in every four. */
static void ten_million_with_an_offset(void **state) {
    (void)state;
    const size_t n = 10000000;
    static const double part[4] = {4, 7, 13, 16};
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = 1e9 + part[i % 4];
    wmi_summary s;
    assert_int_equal(wmi_summarise(x, n, NULL, &s), WM_OK);
    assert_true(s.mean == 1e9 + 10);
    NEAR(s.stddev, sqrt(90.0 / 4.0 * (double)n / (double)(n - 1)), 1e-14);
    assert_true(s.median == 1e9 + 10 && s.p05 == 1e9 + 4 && s.p95 == 1e9 + 16);
    assert_int_equal(s.outliers, 0);
    free(x);
}

/* A ramp in a scrambled order: sums of 0..n-1 have closed forms. */
static void ten_million_of_a_ramp(void **state) {
    (void)state;
    const size_t n = 10000000;
    double *x = malloc(n * sizeof *x), count = (double)n;
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) x[i] = 0.1 * (double)(i * 7919 % n); /* 7919 is prime to n */
    wmi_summary s;
    assert_int_equal(wmi_summarise(x, n, NULL, &s), WM_OK);
    NEAR(s.mean, 0.1 * (count - 1.0) / 2.0, 1e-15);
    NEAR(s.stddev, 0.1 * sqrt(count * (count + 1.0) / 12.0), 1e-14);
    NEAR(s.p05, 0.1 * 0.05 * (count - 1.0), 1e-14);
    NEAR(s.median, 0.1 * 0.5 * (count - 1.0), 1e-14);
    NEAR(s.p95, 0.1 * 0.95 * (count - 1.0), 1e-14);
    free(x);
}

/* The mean, 2^52 + 2/3, falls between two doubles: what it is off by must not count
 * as spread. */
static void a_mean_that_is_no_double(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(0x1p52, 0x1p52 + 1, 0x1p52 + 1);
    assert_true(s.mean == 0x1p52 + 1);
    NEAR(s.stddev, 0.5773502691896258, 1e-15);
}

static void one_sample(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(3.7);
    assert_true(s.mean == 3.7 && s.min == 3.7 && s.max == 3.7);
    assert_true(s.median == 3.7 && s.p05 == 3.7 && s.p95 == 3.7);
    assert_true(isnan(s.stddev) && isnan(s.ci95_low) && isnan(s.ci95_high) && isnan(s.rel_stddev));
    assert_int_equal(s.outliers, 0);
}

static void relative_spread_is_of_the_magnitude(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(-10, -30);
    assert_true(s.mean == -20.0);
    NEAR(s.stddev, 14.142135623730951, 1e-15);
    NEAR(s.rel_stddev, 0.7071067811865476, 1e-15);
    s = SUMMARY(-1, 1);
    assert_true(s.mean == 0.0);
    assert_true(isnan(s.rel_stddev));
    NEAR(s.stddev, 1.4142135623730951, 1e-15);
}

/* Expected values: numpy.percentile(x, [5, 50, 95]), numpy 2. */
static void percentiles_as_numpy(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    assert_true(s.p05 == 1.45 && s.median == 5.5 && s.p95 == 9.549999999999999);
    s = SUMMARY(1, 2);
    assert_true(s.p05 == 1.05 && s.median == 1.5 && s.p95 == 1.95);
    s = SUMMARY(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5);
    assert_true(s.p05 == 1.0 && s.median == 4.0 && s.p95 == 7.5);
    s = SUMMARY(10, 10.1, 10.2, 10.1, 10, 9.9, 10.05, 3.0);
    assert_true(SUMMARY(0.9, 0.5, 1.1, 1.9).p95 == 1.7799999999999996);
    assert_true(s.p05 == 5.415000000000001 && s.median == 10.025 && s.p95 == 10.165);
}

static void percentiles_stay_within_the_extremes(void **state) {
    (void)state;
    double x[50];
    for (size_t n = 1; n <= 50; n++) {
        for (size_t i = 0; i < n; i++) x[i] = 0.1 + 1e-16 * (double)(i * i % 7);
        wmi_summary s = summary_of(x, n);
        assert_true(s.min <= s.p05 && s.p05 <= s.median && s.median <= s.p95 && s.p95 <= s.max);
        assert_true(s.min <= s.mean && s.mean <= s.max);
    }
}

static void outliers_by_tukey(void **state) {
    (void)state;
    assert_int_equal(SUMMARY(1, 1, 1, 1, 5).outliers, 1); /* quartiles 1 and 1: no width */
    assert_int_equal(SUMMARY(1, 1, 1, 1, 1, 1).outliers, 0);
    assert_int_equal(SUMMARY(10, 10.1, 10.2, 10.1, 10, 9.9, 10.05, 3.0).outliers, 1);
    assert_int_equal(SUMMARY(-90, 10, 11, 12, 13, 14, 15, 16, 120).outliers, 2);
    /* quartiles 2 and 4, fences -1 and 7: a value on a fence is inside */
    assert_int_equal(SUMMARY(2, 2, 3, 4, 4, -1, 7, 3, 3).outliers, 0);
    assert_int_equal(SUMMARY(2, 2, 3, 4, 4, -1.001, 7.001, 3, 3).outliers, 2);
}

static void equal_values_have_no_spread(void **state) {
    (void)state;
    double x[100];
    for (size_t i = 0; i < 100; i++) x[i] = 0.1; /* three of them do not add up to 0.3 */
    for (size_t n = 2; n <= 100; n++) {
        wmi_summary s = summary_of(x, n);
        assert_true(s.mean == 0.1 && s.stddev == 0.0 && s.rel_stddev == 0.0);
        assert_true(s.ci95_low == 0.1 && s.ci95_high == 0.1);
    }
    wmi_summary s = SUMMARY(0, 0, 0);
    assert_true(s.mean == 0.0 && s.stddev == 0.0 && isnan(s.rel_stddev));
}

static void any_magnitude(void **state) {
    (void)state;
    wmi_summary s = SUMMARY(1e308, 1.1e308, 1.2e308); /* the plain sum overflows */
    NEAR(s.mean, 1.1e308, 1e-15);
    NEAR(s.stddev, 1e307, 1e-14);
    s = SUMMARY(-1e308, 1e308, -1e308, 1e308, -1e308, 1e308, -1e308, 1e308, 1e308, 1e308, 1e308);
    NEAR(s.mean, 1e308 * 3.0 / 11.0, 1e-15);
    assert_true(s.p05 == -1e308 && s.p95 == 1e308);
    s = SUMMARY(1e-200, 3e-200); /* the squares vanish */
    NEAR(s.mean, 2e-200, 1e-15);
    NEAR(s.stddev, 1.4142135623730951e-200, 1e-15);
    s = SUMMARY(4.0 * DBL_TRUE_MIN, 8.0 * DBL_TRUE_MIN);
    assert_true(s.mean == 6.0 * DBL_TRUE_MIN && s.stddev == 3.0 * DBL_TRUE_MIN);
    s = SUMMARY(DBL_MAX, -DBL_MAX, -DBL_MAX);
    NEAR(s.mean, -DBL_MAX / 3.0, 1e-15);
}

static void refuses_what_is_not_finite(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double x[40];
    wmi_summary s, untouched;
    memset(&s, 0x55, sizeof s);
    untouched = s;
    assert_int_equal(wmi_summarise(x, 0, NULL, &s), WM_EINVAL);
    for (size_t kind = 0; kind < 3; kind++) {
        for (size_t n = 1; n <= 40; n++) {
            for (size_t at = 0; at < n; at++) {
                for (size_t i = 0; i < n; i++) x[i] = 1.0 + (double)i;
                x[at] = bad[kind];
                assert_int_equal(wmi_summarise(x, n, NULL, &s), WM_EINVAL);
            }
        }
    }
    const double both[] = {1.0, INFINITY, -INFINITY, 1.0}, huge[] = {DBL_MAX, DBL_MAX, NAN};
    memcpy(x, both, sizeof both);
    assert_int_equal(wmi_summarise(x, 4, NULL, &s), WM_EINVAL);
    memcpy(x, huge, sizeof huge);
    assert_int_equal(wmi_summarise(x, 3, NULL, &s), WM_EINVAL);
    assert_memory_equal(&s, &untouched, sizeof s);
}

/* Every length up to several vector widths: the tails of the loops. */
static void every_length(void **state) {
    (void)state;
    double x[100];
    for (size_t n = 2; n <= 100; n++) {
        for (size_t i = 0; i < n; i++) x[i] = (double)(i * 37 % n); /* all of 0..n-1 unless 37 divides n */
        if (n % 37 == 0) continue;
        wmi_summary s = summary_of(x, n);
        double count = (double)n;
        assert_true(s.min == 0.0 && s.max == count - 1.0);
        assert_true(s.mean == (count - 1.0) / 2.0 && s.median == s.mean);
        NEAR(s.stddev, sqrt(count * (count + 1.0) / 12.0), 1e-15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_datasets),
        cmocka_unit_test(nist_michelson),
        cmocka_unit_test(large_offset),
        cmocka_unit_test(ten_million_with_an_offset),
        cmocka_unit_test(ten_million_of_a_ramp),
        cmocka_unit_test(a_mean_that_is_no_double),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(relative_spread_is_of_the_magnitude),
        cmocka_unit_test(percentiles_as_numpy),
        cmocka_unit_test(percentiles_stay_within_the_extremes),
        cmocka_unit_test(outliers_by_tukey),
        cmocka_unit_test(equal_values_have_no_spread),
        cmocka_unit_test(any_magnitude),
        cmocka_unit_test(refuses_what_is_not_finite),
        cmocka_unit_test(every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
