#include "sweep/stop.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const wmi_stop_rules fixed = {.runs = 5};
static const wmi_stop_rules good = {
    .runs = -1, .min_runs = 3, .max_runs = 100, .timeout_ns = 1000, .max_noise = 0.05, .target_ci = 0.01};

static void test_fixed(void **state) {
    (void)state;
    const wmi_stop_view four = {4, 0, 1e18, 0, 0}, five = {5, 0, 0, NAN, NAN};
    assert_null(wmi_stop_reason(&fixed, &four));
    assert_string_equal(wmi_stop_reason(&fixed, &five), "runs");
}

static void test_a_time_limit_holds_for_a_fixed_number(void **state) {
    (void)state;
    const wmi_stop_rules rules = {.runs = 5, .timeout_ns = 10};
    const wmi_stop_view before_any_sample = {0, 0, 10, NAN, NAN};
    assert_string_equal(wmi_stop_reason(&rules, &before_any_sample), "timeout");
}

static void test_all_rules_of_quality_must_hold(void **state) {
    (void)state;
    const wmi_stop_view too_few = {2, 0, 0, 0.0, 0.0}, noisy = {10, 0, 0, 0.06, 0.001},
                        wide = {10, 0, 0, 0.01, 0.02}, both = {10, 0, 0, 0.05, 0.01};
    assert_null(wmi_stop_reason(&good, &too_few));
    assert_null(wmi_stop_reason(&good, &noisy));
    assert_null(wmi_stop_reason(&good, &wide));
    assert_string_equal(wmi_stop_reason(&good, &both), "target-ci");
}

static void test_unknown_quality_does_not_stop(void **state) {
    (void)state;
    const wmi_stop_view unknown = {10, 0, 0, NAN, NAN}, at_most = {100, 0, 0, NAN, NAN},
                        late = {10, 0, 1000, NAN, NAN};
    assert_null(wmi_stop_reason(&good, &unknown));
    assert_string_equal(wmi_stop_reason(&good, &at_most), "max-runs");
    assert_string_equal(wmi_stop_reason(&good, &late), "timeout");
}

static void test_measured_time(void **state) {
    (void)state;
    const wmi_stop_rules rules = {.runs = -1, .min_runs = 2, .max_runs = 100, .min_time_ns = 500};
    const wmi_stop_view less = {50, 499.0, 1e9, 0, 0}, enough = {50, 500.0, 1e9, 0, 0};
    assert_null(wmi_stop_reason(&rules, &less));
    assert_string_equal(wmi_stop_reason(&rules, &enough), "min-time");
}

static void test_only_bounds(void **state) {
    (void)state;
    const wmi_stop_rules rules = {.runs = -1, .min_runs = 7, .max_runs = 100};
    const wmi_stop_view six = {6, 0, 0, NAN, NAN}, seven = {7, 0, 0, NAN, NAN};
    assert_null(wmi_stop_reason(&rules, &six));
    assert_string_equal(wmi_stop_reason(&rules, &seven), "min-runs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_a_time_limit_holds_for_a_fixed_number),
        cmocka_unit_test(test_all_rules_of_quality_must_hold),
        cmocka_unit_test(test_unknown_quality_does_not_stop),
        cmocka_unit_test(test_measured_time),
        cmocka_unit_test(test_only_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
