#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cells.h"
#include "made_tables.h"

static wm_table *results(void) { return wmi_results_create(0, NULL, NULL); }

/* A row of one metric "m" that gets better in the direction `better`. */
static size_t add(wm_table *t, const char *key, const char *better, double mean, double stddev, int64_t n) {
    size_t row = add_result(t, "bench", "region", "m", "ns", key);
    put_summary(t, row, mean, stddev, n);
    put(t, row, "better", wmi_str(better));
    return row;
}

static wm_table *compare(const wm_table *baseline, const wm_table *contender, double threshold) {
    wm_compare_opts opts = WM_COMPARE_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_table *out = NULL;
    opts.threshold = threshold;
    if (wm_table_compare(baseline, contender, &opts, &out, &err) != WM_OK) fail_msg("%s", err.message);
    return out;
}

/* One pair of rows; returns the comparison, of one row. */
static wm_table *pair(const char *better, double mean_b, double sd_b, int64_t n_b, double mean_c, double sd_c,
                      int64_t n_c, double threshold) {
    wm_table *b = results(), *c = results();
    add(b, "n=1", better, mean_b, sd_b, n_b);
    add(c, "n=1", better, mean_c, sd_c, n_c);
    wm_table *out = compare(b, c, threshold);
    assert_int_equal(wm_table_rows(out), 1);
    wm_table_destroy(b);
    wm_table_destroy(c);
    return out;
}

static void assert_verdict(const char *better, double mean_b, double mean_c, double stddev, double threshold,
                           const char *verdict) {
    wm_table *t = pair(better, mean_b, stddev, 20, mean_c, stddev, 20, threshold);
    assert_string_equal(text_cell(t, 0, "verdict"), verdict);
    assert_int_equal(cell(t, 0, "reason").type, WM_NULL);
    wm_table_destroy(t);
}

static void the_direction_decides_what_is_better(void **state) {
    (void)state;
    assert_verdict("lower", 100, 90, 1, 0.01, "better");
    assert_verdict("lower", 100, 110, 1, 0.01, "worse");
    assert_verdict("higher", 100, 90, 1, 0.01, "worse");
    assert_verdict("higher", 100, 110, 1, 0.01, "better");
    assert_verdict("", 100, 110, 1, 0.01, "changed");
    assert_verdict("", 100, 90, 1, 0.01, "changed");
}

static void the_interval_decides_against_the_threshold(void **state) {
    (void)state;
    assert_verdict("lower", 100, 100.1, 0.1, 0.01, "same");
    assert_verdict("lower", 100, 100.1, 0.1, 0.0005, "undecided");
    assert_verdict("lower", 100, 90, 40, 0.01, "undecided");
    assert_verdict("lower", 100, 99, 1, 0.01, "undecided"); /* beyond 1, but not by the threshold */
    assert_verdict("lower", 100, 99, 1, 0.002, "better");
    assert_verdict("lower", 100, 100, 0, 0, "same");
}

static void below_zero_a_larger_ratio_is_a_smaller_value(void **state) {
    (void)state;
    assert_verdict("lower", -100, -110, 1, 0.01, "better");
    assert_verdict("higher", -100, -110, 1, 0.01, "worse");
    assert_verdict("higher", -100, -90, 1, 0.01, "better");
}

static void assert_near(double x, double expected, double by) {
    if (!(fabs(x - expected) <= by)) fail_msg("%.17g is not %.17g", x, expected);
}

/* Fieller's interval of 110/100 with both standard errors 1/sqrt(20). Computed apart
 * with the plain quadratic formula and scipy's quantile of Student's t for the 37.66
 * degrees of freedom of Welch and Satterthwaite, 2.02499460559728. */
static void ratio_and_interval_are_there(void **state) {
    (void)state;
    wm_table *t = pair("lower", 100, 1, 20, 110, 1, 20, 0.01);
    assert_near(number_cell(t, 0, "ratio"), 1.1, 1e-12);
    assert_near(number_cell(t, 0, "ratio_ci95_low"), 1.093291053014323, 1e-12);
    assert_near(number_cell(t, 0, "ratio_ci95_high"), 1.1067540545451977, 1e-12);
    assert_true(number_cell(t, 0, "baseline_mean") == 100);
    assert_true(number_cell(t, 0, "contender_mean") == 110);
    assert_string_equal(text_cell(t, 0, "benchmark"), "bench");
    assert_string_equal(text_cell(t, 0, "region"), "region");
    assert_string_equal(text_cell(t, 0, "metric"), "m");
    assert_string_equal(text_cell(t, 0, "unit"), "ns");
    assert_string_equal(text_cell(t, 0, "config_key"), "n=1");
    wm_table_destroy(t);
}

static void assert_undecided(const wm_table *t, const char *verdict, wm_reason low, const char *reason) {
    assert_string_equal(text_cell(t, 0, "verdict"), verdict);
    assert_string_equal(text_cell(t, 0, "reason"), reason);
    assert_int_equal(cell(t, 0, "ratio_ci95_low").type, WM_NULL);
    assert_int_equal(cell(t, 0, "ratio_ci95_low").reason, low);
    assert_int_equal(cell(t, 0, "ratio_ci95_high").reason, low);
}

static void one_sample_leaves_it_undecided(void **state) {
    (void)state;
    wm_table *t = pair("lower", 100, 0, 1, 110, 1, 20, 0.01);
    assert_near(number_cell(t, 0, "ratio"), 1.1, 1e-12);
    assert_undecided(t, "undecided", WM_REASON_FEW_SAMPLES, "too few samples for this statistic");
    wm_table_destroy(t);
}

static void a_baseline_that_may_be_zero_leaves_it_undecided(void **state) {
    (void)state;
    wm_table *t = pair("lower", 1, 100, 20, 1, 100, 20, 0.01);
    assert_undecided(t, "undecided", WM_REASON_UNBOUNDED, "the baseline's interval holds zero");
    wm_table_destroy(t);
}

static void a_baseline_of_zero_has_no_ratio(void **state) {
    (void)state;
    wm_table *t = pair("lower", 0, 1, 20, 110, 1, 20, 0.01);
    assert_int_equal(cell(t, 0, "ratio").reason, WM_REASON_ZERO_BASELINE);
    assert_undecided(t, "missing", WM_REASON_ZERO_BASELINE, "the baseline is zero");
    wm_table_destroy(t);
}

static void what_has_no_mean_is_missing(void **state) {
    (void)state;
    wm_table *b = results(), *c = results();
    size_t row = add(b, "n=1", "lower", 1, 1, 2);
    put(b, row, "mean", wmi_null(WM_REASON_NO_EVENT));
    add(c, "n=1", "lower", 1, 0.1, 2);
    add(b, "n=2", "lower", 1, 0.1, 2);
    row = add_result(c, "bench", "region", "m", "ns", "n=2");
    put(c, row, "mean", wmi_null(WM_REASON_NOT_RUN));
    put(c, row, "status", wmi_str("failed"));
    put(c, row, "reason", wmi_str("out of luck"));
    wm_table *t = compare(b, c, 0.01);
    assert_string_equal(text_cell(t, 0, "verdict"), "missing");
    assert_string_equal(text_cell(t, 0, "reason"), "baseline: this machine does not have the event");
    assert_int_equal(cell(t, 0, "ratio").reason, WM_REASON_NO_BASELINE);
    assert_true(number_cell(t, 0, "contender_mean") == 1);
    assert_string_equal(text_cell(t, 1, "verdict"), "missing");
    assert_string_equal(text_cell(t, 1, "reason"), "contender: failed: out of luck");
    assert_int_equal(cell(t, 1, "ratio").reason, WM_REASON_NOT_RUN);
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

static void other_units_are_not_compared(void **state) {
    (void)state;
    wm_table *b = results(), *c = results();
    add(b, "n=1", "lower", 1, 0.1, 20);
    size_t row = add(c, "n=1", "lower", 1, 0.1, 20);
    put(c, row, "unit", wmi_str("s"));
    wm_table *t = compare(b, c, 0.01);
    assert_string_equal(text_cell(t, 0, "verdict"), "missing");
    assert_string_equal(text_cell(t, 0, "reason"), "the units differ: 'ns' and 's'");
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

static void rows_of_one_side_are_kept(void **state) {
    (void)state;
    wm_table *b = results(), *c = results();
    add(b, "n=1", "lower", 1, 0.1, 20);
    add(b, "n=2", "lower", 2, 0.1, 20);
    add(c, "n=3", "lower", 3, 0.1, 20);
    add(c, "n=2", "lower", 2, 0.1, 20);
    size_t row = add_result(c, "bench", "bench", NULL, "", "n=1");
    put(c, row, "status", wmi_str("skipped"));
    put(c, row, "reason", wmi_str("too small"));
    wm_table *t = compare(b, c, 0.01);
    assert_int_equal(wm_table_rows(t), 4);
    const char *const verdicts[] = {"only-baseline", "undecided", "only-contender", "only-contender"};
    const char *const keys[] = {"n=1", "n=2", "n=3", "n=1"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(text_cell(t, i, "verdict"), verdicts[i]);
        assert_string_equal(text_cell(t, i, "config_key"), keys[i]);
    }
    assert_true(number_cell(t, 0, "baseline_mean") == 1);
    assert_int_equal(cell(t, 0, "contender_mean").type, WM_NULL);
    assert_true(number_cell(t, 2, "contender_mean") == 3);
    assert_string_equal(text_cell(t, 3, "reason"), "skipped: too small");
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

static void duplicates_meet_in_order(void **state) {
    (void)state;
    wm_table *b = results(), *c = results();
    for (int i = 1; i <= 3; i++) add(b, "n=1", "lower", i, 0.001, 20);
    for (int i = 1; i <= 2; i++) add(c, "n=1", "lower", i * 10, 0.001, 20);
    wm_table *t = compare(b, c, 0.01);
    assert_int_equal(wm_table_rows(t), 3);
    assert_true(number_cell(t, 0, "baseline_mean") == 1 && number_cell(t, 0, "contender_mean") == 10);
    assert_true(number_cell(t, 1, "baseline_mean") == 2 && number_cell(t, 1, "contender_mean") == 20);
    assert_string_equal(text_cell(t, 2, "verdict"), "only-baseline");
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

/* Every row meets its own, also where the order of the rows is the reverse. */
static void many_rows_meet(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    wm_table *b = results(), *c = results();
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "n=%d", i);
        add(b, key, "lower", i + 1, 0.001, 20);
        snprintf(key, sizeof key, "n=%d", COUNT - 1 - i);
        add(c, key, "lower", 2 * (COUNT - i), 0.001, 20);
    }
    wm_table *t = compare(b, c, 0.01);
    assert_int_equal(wm_table_rows(t), COUNT);
    for (size_t i = 0; i < COUNT; i++) assert_near(number_cell(t, i, "ratio"), 2, 1e-12);
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

static void the_context_of_both_is_kept(void **state) {
    (void)state;
    wm_table *b = results(), *c = results();
    add(b, "n=1", "lower", 1, 0.1, 20);
    add(c, "n=1", "lower", 1, 0.1, 20);
    put_context(b, "host", wmi_str("one"));
    put_context(c, "host", wmi_str("two"));
    put_context(c, "warning", wmi_str("hot"));
    wm_table *t = compare(b, c, 0.05);
    assert_string_equal(wmi_table_context_value(t, "baseline.host").as.str, "one");
    assert_string_equal(wmi_table_context_value(t, "contender.host").as.str, "two");
    assert_string_equal(wmi_table_context_value(t, "warning.contender").as.str, "hot");
    assert_true(wmi_table_context_value(t, "threshold").as.f64 == 0.05);
    assert_string_equal(wm_table_kind(t), "comparison");
    assert_true(wmi_schema_complete(t));
    wm_table_destroy(t);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

static void assert_refused(const wm_table *b, const wm_table *c, double threshold, wm_status status,
                           const char *message) {
    wm_compare_opts opts = WM_COMPARE_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_table *out = NULL;
    opts.threshold = threshold;
    assert_int_equal(wm_table_compare(b, c, &opts, &out, &err), status);
    assert_int_equal(err.code, status);
    assert_string_equal(err.message, message);
    assert_null(out);
}

static void what_cannot_be_compared_is_refused(void **state) {
    (void)state;
    wm_table *b = results(), *c = results(), *samples = wmi_samples_table_create(0, NULL, NULL), *few = NULL;
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    add(b, "n=1", "lower", 1, 0.1, 20);
    add(c, "n=2", "lower", 1, 0.1, 20);
    select.columns = "benchmark,config_key,region,metric,unit,mean";
    assert_int_equal(wm_table_select(c, &select, &few, NULL), WM_OK);
    assert_refused(
        b, c, 0.01, WM_ENOTFOUND,
        "the tables have no row in common: no benchmark, configuration, region and metric is in both");
    assert_refused(b, samples, 0.01, WM_EINVAL,
                   "the contender is a table of samples; compare takes tables of results");
    assert_refused(samples, c, 0.01, WM_EINVAL,
                   "the baseline is a table of samples; compare takes tables of results");
    assert_refused(b, few, 0.01, WM_EINVAL, "the contender lacks the column 'stddev', which compare needs");
    assert_refused(b, b, -0.01, WM_EINVAL, "the threshold takes a number from 0 to below 1");
    assert_refused(b, b, 1, WM_EINVAL, "the threshold takes a number from 0 to below 1");
    assert_refused(b, b, NAN, WM_EINVAL, "the threshold takes a number from 0 to below 1");
    wm_table_destroy(few);
    wm_table_destroy(samples);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_direction_decides_what_is_better),
        cmocka_unit_test(the_interval_decides_against_the_threshold),
        cmocka_unit_test(below_zero_a_larger_ratio_is_a_smaller_value),
        cmocka_unit_test(ratio_and_interval_are_there),
        cmocka_unit_test(one_sample_leaves_it_undecided),
        cmocka_unit_test(a_baseline_that_may_be_zero_leaves_it_undecided),
        cmocka_unit_test(a_baseline_of_zero_has_no_ratio),
        cmocka_unit_test(what_has_no_mean_is_missing),
        cmocka_unit_test(other_units_are_not_compared),
        cmocka_unit_test(rows_of_one_side_are_kept),
        cmocka_unit_test(duplicates_meet_in_order),
        cmocka_unit_test(many_rows_meet),
        cmocka_unit_test(the_context_of_both_is_kept),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
