#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "stats/stats.h"

static void near_at(double got, double want, double rel, int line) {
    if (fabs(got - want) <= rel * fabs(want)) return;
    fail_msg("line %d: got %.17g, want %.17g", line, got, want);
}
#define NEAR(got, want, rel) near_at(got, want, rel, __LINE__)
#define COUNT(array)         (sizeof(array) / sizeof *(array))

/* ---- Student's t ---- */

/* References: mpmath at 40 digits (120 for df below 0.5), the root of the regularised incomplete beta
 * function in log t; p is the double nearest to what is written. */
static void t_quantile_against_references(void **state) {
    (void)state;
    static const struct {
        double p, df, t;
    } ref[] = {
        {0.975, 1, 12.706204736174693},        {0.975, 2, 4.3026527297494618},
        {0.975, 9, 2.262157162798205},         {0.975, 29, 2.0452296421327039},
        {0.975, 99, 1.9842169515864171},       {0.975, 999, 1.9623414611334496},
        {0.975, 4839, 1.9604543450733968},     {0.975, 4845, 1.9604537376666269},
        {0.975, 1e4, 1.9602012398906259},      {0.975, 1e6, 1.9599663568141067},
        {0.025, 1000, -1.9623390808264085},    {0.975, 0.5, 164.55767348048824},
        {0.975, 3.7, 2.8675207071911885},      {0.95, 5, 2.0150483733330235},
        {0.6, 0.5, 0.39797542678479059},       {0.25, 0.5, -1.5537739740300373},
        {0.75, 12.5, 0.69462221399279013},     {0.999, 4, 7.1731822197823068},
        {1e-6, 0.5, -102849115631.63401},      {1.0 - 1e-6, 1, 318309.88617359026},
        {1e-6, 3, -103.29946778041934},        {1e-6, 30, -5.8711171204188827},
        {1e-6, 1e6, -4.7534523482796808},      {0.5000001, 7, 2.5974602742784955e-7},
        {1e-6, 0.3, -3.0071858087909744e18},   {0.975, 0.1, 1682362288745.0105},
        {0.975, INFINITY, 1.9599639845400539}, {1e-6, INFINITY, -4.753424308822899},
    };
    for (size_t i = 0; i < COUNT(ref); i++) NEAR(wmi_t_quantile(ref[i].p, ref[i].df), ref[i].t, 1e-13);
}

/* Closed forms: df 1, tan(pi (p - 1/2)); df 2, (2p - 1) / sqrt(2p (1 - p)). */
static void t_quantile_against_closed_forms(void **state) {
    (void)state;
    for (double p = 0.5 + 1.0 / 1024.0; p < 1.0; p += 1.0 / 1024.0) {
        NEAR(wmi_t_quantile(p, 1.0), tan(3.14159265358979323846 * (p - 0.5)), 1e-12);
        NEAR(wmi_t_quantile(p, 2.0), (2.0 * p - 1.0) / sqrt(2.0 * p * (1.0 - p)), 1e-13);
    }
}

static void t_quantile_is_odd_and_falls_with_df(void **state) {
    (void)state;
    double last = INFINITY;
    for (double df = 0.5; df < 2e6; df *= 1.07) {
        double t = wmi_t_quantile(0.9, df);
        assert_true(t < last);
        assert_true(wmi_t_quantile(0.25, df) == -wmi_t_quantile(0.75, df));
        assert_true(wmi_t_quantile(0.5, df) == 0.0);
        last = t;
    }
    NEAR(last, 1.2815515655446004, 1e-6); /* the normal quantile */
}

static void t_quantile_out_of_range(void **state) {
    (void)state;
    assert_true(isnan(wmi_t_quantile(0.0, 5)));
    assert_true(isnan(wmi_t_quantile(1.0, 5)));
    assert_true(isnan(wmi_t_quantile(-0.1, 5)));
    assert_true(isnan(wmi_t_quantile(NAN, 5)));
    assert_true(isnan(wmi_t_quantile(0.975, 0)));
    assert_true(isnan(wmi_t_quantile(0.975, -1)));
    assert_true(isnan(wmi_t_quantile(0.975, NAN)));
    assert_true(isinf(wmi_t_quantile(1.0 - 1e-12, 0.01)));
}

/* ---- ratio of means ---- */

static wmi_moments moments_of(const double *x, size_t n) {
    double scratch[16];
    wmi_summary s;
    assert_true(n <= 16);
    memcpy(scratch, x, n * sizeof *x);
    assert_int_equal(wmi_summarise(scratch, n, NULL, &s), WM_OK);
    return (wmi_moments){s.mean, s.stddev, n};
}

static void check_ratio(wmi_ratio r, double ratio, double low, double high) {
    assert_int_equal(r.reason, WM_REASON_NONE);
    assert_int_equal(r.ci_reason, WM_REASON_NONE);
    NEAR(r.ratio, ratio, 1e-14);
    NEAR(r.low, low, 1e-12);
    NEAR(r.high, high, 1e-12);
}

static const double fast[] = {10.1, 9.8, 10.4, 10.0, 9.9};
static const double slow[] = {20.3, 19.7, 20.1, 20.6, 19.9, 20.2, 19.8};
static const double paired_slow[] = {20.3, 19.5, 20.9, 20.1, 19.7};

/* References: the two roots of (mx - r my)^2 = t^2 (vx/nx - 2 r cov/n + r^2 vy/ny),
 * found by mpmath's polyroots at 40 digits with t from the incomplete beta function. */
static void fieller_independent(void **state) {
    (void)state;
    wmi_moments x = moments_of(fast, 5), y = moments_of(slow, 7);
    check_ratio(wmi_ratio_of_means(x, y, 0, false), 0.49985775248933144, 0.48580149384860292,
                0.51411308344735467);
    const double few[] = {3.0, 5.0}, pair[] = {2.0, 2.1};
    check_ratio(wmi_ratio_of_means(moments_of(few, 2), moments_of(pair, 2), 0, false), 1.9512195121951219,
                -4.103476595048574, 8.3822141325405097);
}

static void fieller_signs(void **state) {
    (void)state;
    wmi_moments x = moments_of(fast, 5), y = moments_of(slow, 7), minus_x = x, minus_y = y;
    minus_x.mean = -x.mean;
    minus_y.mean = -y.mean;
    check_ratio(wmi_ratio_of_means(minus_x, y, 0, false), -0.49985775248933144, -0.51411308344735467,
                -0.48580149384860292);
    check_ratio(wmi_ratio_of_means(x, minus_y, 0, false), -0.49985775248933144, -0.51411308344735467,
                -0.48580149384860292);
    check_ratio(wmi_ratio_of_means(minus_x, minus_y, 0, false), 0.49985775248933144, 0.48580149384860292,
                0.51411308344735467);
}

static double covariance_of(const double *x, const double *y, size_t n) {
    wmi_comoment m = {0};
    for (size_t i = 0; i < n; i++) wmi_comoment_add(&m, x[i], y[i]);
    return wmi_comoment_covariance(&m);
}

static void fieller_paired(void **state) {
    (void)state;
    wmi_moments x = moments_of(fast, 5), y = moments_of(paired_slow, 5);
    double covariance = covariance_of(fast, paired_slow, 5);
    NEAR(covariance, 0.125, 1e-13);
    check_ratio(wmi_ratio_of_means(x, y, covariance, true), 0.49950248756218907, 0.49622465716875762,
                0.50297019959295838);
    check_ratio(wmi_ratio_of_means(x, y, 0, false), 0.49950248756218907, 0.48145039991716444,
                0.51835223625393033);
    y.mean = -y.mean;
    check_ratio(wmi_ratio_of_means(x, y, -covariance, true), -0.49950248756218907, -0.50297019959295838,
                -0.49622465716875762);
    y.mean = -y.mean; /* a series against itself, scaled: the ratio is certain */
    check_ratio(wmi_ratio_of_means(y, y, y.stddev * y.stddev, true), 1.0, 1.0, 1.0);
}

static void fieller_with_a_large_offset(void **state) {
    (void)state;
    const double x[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}, y[] = {1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 3};
    wmi_ratio r = wmi_ratio_of_means(moments_of(x, 4), moments_of(y, 4), 0, false);
    NEAR(r.ratio, 1.0000000075, 1e-15);
    NEAR(r.high - 1.0, 1.59697484e-8, 1e-7);
    NEAR(r.low - 1.0, -9.697484e-10, 1e-6);
}

static void fieller_unbounded(void **state) {
    (void)state;
    const double x[] = {1.0, 2.0, 3.0}, y[] = {0.5, -1.0, 2.0, 1.5}; /* g = 6.5 */
    wmi_ratio r = wmi_ratio_of_means(moments_of(x, 3), moments_of(y, 4), 0, false);
    NEAR(r.ratio, 2.6666666666666667, 1e-15);
    assert_int_equal(r.reason, WM_REASON_NONE);
    assert_int_equal(r.ci_reason, WM_REASON_UNBOUNDED);
    assert_true(isnan(r.low) && isnan(r.high));
}

static void fieller_without_spread(void **state) {
    (void)state;
    const wmi_moments five = {5, 0, 3}, four = {4, 0, 3}, nought = {0, 0, 3};
    const double x[] = {1.0, 2.0, 3.0}, y[] = {4.0, 4.5, 3.5, 4.1};
    check_ratio(wmi_ratio_of_means(five, four, 0, false), 1.25, 1.25, 1.25);
    check_ratio(wmi_ratio_of_means(moments_of(x, 3), four, 0, false), 0.5, -0.12103442793758277,
                1.1210344279375828);
    check_ratio(wmi_ratio_of_means(five, moments_of(y, 4), 0, false), 1.2422360248447205, 1.0684975065057388,
                1.4834453887495454);
    check_ratio(wmi_ratio_of_means(nought, moments_of(y, 4), 0, false), 0, 0, 0);
}

static void ratio_that_is_not_there(void **state) {
    (void)state;
    const wmi_moments some = {5, 1, 10}, zero = {0, 1, 10}, none = {NAN, NAN, 0}, one = {4, NAN, 1};
    const wmi_moments huge = {1e300, 1, 3}, tiny = {1e-300, 1, 3};
    wmi_ratio r = wmi_ratio_of_means(some, zero, 0, false);
    assert_int_equal(r.reason, WM_REASON_ZERO_BASELINE);
    assert_int_equal(r.ci_reason, WM_REASON_ZERO_BASELINE);
    assert_true(isnan(r.ratio) && isnan(r.low) && isnan(r.high));
    assert_int_equal(wmi_ratio_of_means(none, some, 0, false).reason, WM_REASON_NO_SAMPLES);
    assert_int_equal(wmi_ratio_of_means(some, none, 0, false).reason, WM_REASON_NO_SAMPLES);
    assert_int_equal(wmi_ratio_of_means(huge, tiny, 0, false).reason, WM_REASON_NOT_FINITE);
    r = wmi_ratio_of_means(some, one, 0, false);
    assert_true(r.ratio == 1.25);
    assert_int_equal(r.ci_reason, WM_REASON_FEW_SAMPLES);
    assert_int_equal(wmi_ratio_of_means(one, some, 0, false).ci_reason, WM_REASON_FEW_SAMPLES);
    r = wmi_ratio_of_means(zero, some, 0, false);
    assert_true(r.ratio == 0.0 && r.low < 0.0 && r.high > 0.0);
}

/* ---- the rest ---- */

static void covariance(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4}, y[] = {2, 4, 6, 8}, z[] = {1e9 + 4, 1e9 + 3, 1e9 + 2, 1e9 + 1};
    NEAR(covariance_of(x, y, 4), 10.0 / 3.0, 1e-15);
    NEAR(covariance_of(x, z, 4), -5.0 / 3.0, 1e-15);
    assert_true(isnan(covariance_of(x, y, 1)));
}

static void geometric_mean(void **state) {
    (void)state;
    const double two[] = {2, 8}, zero[] = {2, 0, 8}, minus[] = {2, -8}, odd[] = {NAN}, inf[] = {1, INFINITY};
    const double wide[] = {1e300, 1e300, 1e-300, 1e-300, 1e300}, tiny[] = {0x1p-1074, 0x1p-1072};
    assert_true(wmi_geomean(two, 2) == 4.0);
    assert_true(isnan(wmi_geomean(zero, 3)));
    assert_true(isnan(wmi_geomean(minus, 2)));
    assert_true(isnan(wmi_geomean(odd, 1)));
    assert_true(isnan(wmi_geomean(inf, 2)));
    assert_true(isnan(wmi_geomean(two, 0)));
    NEAR(wmi_geomean(wide, 5), 1e60, 1e-14);
    assert_true(wmi_geomean(tiny, 2) == 0x1p-1073);
    double series[1000]; /* (1000!)^(1/1000) = 369.491663471959903684, mpmath */
    for (size_t i = 0; i < 1000; i++) series[i] = (double)(i + 1);
    NEAR(wmi_geomean(series, 1000), 369.49166347195990, 1e-13);
}

static void union_of_intervals(void **state) {
    (void)state;
    wmi_interval overlap[] = {{5, 15}, {0, 10}}, apart[] = {{20, 30}, {0, 10}},
                 inside[] = {{0, 100}, {10, 20}, {90, 110}};
    wmi_interval empty[] = {{7, 7}, {7, 7}}, touch[] = {{10, 20}, {0, 10}}, same[] = {{1, 4}, {1, 4}, {1, 2}};
    wmi_interval minus[] = {{-5, 5}, {-10, -1}};
    assert_int_equal(wmi_union_length(overlap, 2), 15);
    assert_int_equal(wmi_union_length(apart, 2), 20);
    assert_int_equal(wmi_union_length(inside, 3), 110);
    assert_int_equal(wmi_union_length(empty, 2), 0);
    assert_int_equal(wmi_union_length(touch, 2), 20);
    assert_int_equal(wmi_union_length(same, 3), 3);
    assert_int_equal(wmi_union_length(minus, 2), 15);
    assert_int_equal(wmi_union_length(NULL, 0), 0);
}

static void running(void **state) {
    (void)state;
    wmi_running r = {0};
    assert_true(isnan(wmi_running_stddev(&r)) && isnan(wmi_running_rel_ci95(&r)));
    wmi_running_add(&r, 1e9 + 4);
    assert_true(r.mean == 1e9 + 4 && isnan(wmi_running_stddev(&r)) && isnan(wmi_running_rel_ci95(&r)));
    wmi_running_add(&r, 1e9 + 7);
    wmi_running_add(&r, 1e9 + 13);
    wmi_running_add(&r, 1e9 + 16);
    assert_int_equal(r.n, 4);
    assert_true(r.mean == 1e9 + 10);
    NEAR(wmi_running_stddev(&r), sqrt(30.0), 1e-15);
    /* t(0.975, 3) = 3.18244630528371 */
    NEAR(wmi_running_rel_ci95(&r), 3.18244630528371 * sqrt(30.0) / 2.0 / (1e9 + 10), 1e-14);
    wmi_running zero = {0};
    wmi_running_add(&zero, -1);
    wmi_running_add(&zero, 1);
    assert_true(isnan(wmi_running_rel_ci95(&zero)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t_quantile_against_references),
        cmocka_unit_test(t_quantile_against_closed_forms),
        cmocka_unit_test(t_quantile_is_odd_and_falls_with_df),
        cmocka_unit_test(t_quantile_out_of_range),
        cmocka_unit_test(fieller_independent),
        cmocka_unit_test(fieller_signs),
        cmocka_unit_test(fieller_paired),
        cmocka_unit_test(fieller_with_a_large_offset),
        cmocka_unit_test(fieller_unbounded),
        cmocka_unit_test(fieller_without_spread),
        cmocka_unit_test(ratio_that_is_not_there),
        cmocka_unit_test(covariance),
        cmocka_unit_test(geometric_mean),
        cmocka_unit_test(union_of_intervals),
        cmocka_unit_test(running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
