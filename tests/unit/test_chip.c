/* What chips can count, asked of the real libcupti: it needs no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/chip.h"
#include "backend/cuda/cuda.h"
#include "formula/formula.h"
#include "input/groups.h"

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"
#define CLOCK   "gpc__cycles_elapsed.avg.per_second"
#define TIME    "gpu__time_duration.sum"

/* libcupti opens libnvperf_host in a way that AddressSanitizer and its like do not bear. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static const char *why_not(void) {
    static wm_error err = WM_ERROR_INIT;
    if (SANITIZED) return "libcupti does not run under this sanitizer";
    return wmi_chip_names(&err) ? NULL : err.message;
}

static wmi_chip *chip_of(const char *name) {
    wmi_chip *chip = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_chip_find(name, &chip, &err) != WM_OK) fail_msg("%s: %s", name, err.message);
    return chip;
}

static wmi_metric metric(const char *chip, const char *name) {
    wmi_metric m;
    wm_error err = WM_ERROR_INIT;
    if (wmi_chip_metric(chip_of(chip), name, &m, &err) != WM_OK) fail_msg("%s: %s", name, err.message);
    assert_string_equal(m.name, name);
    assert_string_equal(m.backend, "cuda");
    assert_int_equal(m.of, WMI_OF_NONE);
    return m;
}

/* ---- chips ---- */

static void chips_are_found_by_name(void **state) {
    (void)state;
    assert_string_equal(wmi_chip_name(chip_of("GH100")), "GH100");
    assert_ptr_equal(chip_of("gh100"), chip_of("GH100"));
    assert_ptr_not_equal(chip_of("TU104"), chip_of("GH100"));
    bool found = false;
    for (const char *const *name = wmi_chip_names(NULL); *name; name++) found |= strcmp(*name, "GA100") == 0;
    assert_true(found);
}

static void an_unknown_chip_has_near_ones(void **state) {
    (void)state;
    wmi_chip *chip = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_chip_find("GH10", &chip, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "knows no chip 'GH10'; did you mean GH100"));
    assert_int_equal(wmi_chip_find("hopper", &chip, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "there are "));
    assert_non_null(strstr(err.message, " TU104 "));
    assert_null(chip);
}

/* ---- metrics ---- */

static void metrics_are_described(void **state) {
    (void)state;
    static const struct {
        const char *name, *unit;
        wmi_better better;
        wmi_combine combine;
    } cases[] = {
        {TIME, "ns", WMI_BETTER_LOWER, WMI_COMBINE_SUM},
        {"gpu__time_duration.max", "ns", WMI_BETTER_LOWER, WMI_COMBINE_MAX},
        {"sm__throughput" OF_PEAK, "%", WMI_BETTER_HIGHER, WMI_COMBINE_WEIGHTED},
        {"TriageCompute.sm__throughput" OF_PEAK, "%", WMI_BETTER_HIGHER, WMI_COMBINE_WEIGHTED},
        {CLOCK, "Hz", WMI_BETTER_NONE, WMI_COMBINE_WEIGHTED},
        {"gpc__cycles_elapsed.min", "", WMI_BETTER_NONE, WMI_COMBINE_MIN},
        {"dram__bytes_read.sum", "B", WMI_BETTER_NONE, WMI_COMBINE_SUM},
        {"dram__bytes_read.avg", "B", WMI_BETTER_NONE, WMI_COMBINE_SUM},
        {"dram__bytes_read.sum.per_second", "B/s", WMI_BETTER_HIGHER, WMI_COMBINE_WEIGHTED},
        {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "%", WMI_BETTER_NONE, WMI_COMBINE_WEIGHTED},
        {"dram__bytes_read.avg.peak_sustained", "B/cycle", WMI_BETTER_NONE, WMI_COMBINE_WEIGHTED},
        {"lts__t_sectors.sum.per_second", "1/s", WMI_BETTER_HIGHER, WMI_COMBINE_WEIGHTED},
        {"lts__t_sector_hit_rate.pct", "%", WMI_BETTER_NONE, WMI_COMBINE_WEIGHTED},
        {"lts__t_sector_hit_rate.ratio", "", WMI_BETTER_NONE, WMI_COMBINE_WEIGHTED},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "", WMI_BETTER_NONE, WMI_COMBINE_SUM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const wmi_metric m = metric("GH100", cases[i].name);
        assert_string_equal(m.unit, cases[i].unit);
        assert_int_equal(m.better, cases[i].better);
        assert_int_equal(m.combine, cases[i].combine);
        assert_string_not_equal(m.text, "");
        assert_string_equal(m.timer, strcmp(m.unit, "ns") == 0 ? "cupti" : "");
    }
    assert_string_equal(metric("GH100", "dram__bytes_read.sum").text, "# of bytes read from DRAM");
}

static void wrong_names_are_refused_with_the_right_ones(void **state) {
    (void)state;
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"sm__thruput" OF_PEAK,
         "GH100 has no metric 'sm__thruput.avg.pct_of_peak_sustained_elapsed'; did you mean sm__throughput?"},
        {"bogus__x.sum", "GH100 has no metric 'bogus__x.sum'"},
        {"kernel_time", "GH100 has no metric 'kernel_time'"},
        {"", "GH100 has no metric ''"},
        {"sm__throughput", "sm__throughput needs a rollup: sm__throughput" OF_PEAK
                           " is usual; there are .avg .max .min .sum, with .pct_of_peak_sustained_active "
                           ".pct_of_peak_sustained_elapsed behind"},
        {"lts__t_sector_hit_rate",
         "lts__t_sector_hit_rate needs a rollup: lts__t_sector_hit_rate.pct is usual; "
         "there are .max_rate .pct .ratio"},
        {"sm__throughput.sum", "sm__throughput has no '.sum'; there are .avg .max .min .sum, with "
                               ".pct_of_peak_sustained_active .pct_of_peak_sustained_elapsed behind"},
        {"sm__throughput.avg.pct_of_peak_sustaned_elapsed",
         "sm__throughput has no '.avg.pct_of_peak_sustaned_elapsed'; did you mean " OF_PEAK ", "
         ".max.pct_of_peak_sustained_elapsed or .min.pct_of_peak_sustained_elapsed?"},
        {"dram__bytes.sum,sm__throughput" OF_PEAK,
         "'dram__bytes.sum,sm__throughput" OF_PEAK
         "' was given as the name of one metric, but a comma separates names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_metric m = {.name = "untouched"};
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_chip_metric(chip_of("GH100"), cases[i].name, &m, &err), WM_ENOTFOUND);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(m.name, "untouched");
        assert_int_equal(wmi_chip_metric(chip_of("GH100"), cases[i].name, &m, NULL), WM_ENOTFOUND);
    }
}

static void metrics_of_other_chips_are_told(void **state) {
    (void)state;
    wmi_metric m;
    wm_error err = WM_ERROR_INIT;
    const char *name = "TriageCompute.sm__throughput" OF_PEAK;
    assert_int_equal(wmi_chip_metric(chip_of("TU104"), name, &m, &err), WM_ENOTFOUND);
    assert_non_null(strstr(
        err.message, "TU104 has no metric 'TriageCompute.sm__throughput.avg.pct_of_peak_sustained_elapsed'; "
                     "it is one of GH100"));
}

/* ---- listing ---- */

typedef struct listed {
    size_t count;
    char first[128], last[128];
} listed;

static wm_status count_metric(void *user, const wmi_metric *m, bool available, const char *why) {
    listed *l = user;
    assert_true(available);
    assert_string_equal(why, "");
    if (!l->count++) snprintf(l->first, sizeof l->first, "%s", m->name);
    snprintf(l->last, sizeof l->last, "%s", m->name);
    return l->count > 100000 ? WM_ENOMEM : WM_OK;
}

static listed list(const char *chip, const char *pattern) {
    listed l = {0};
    const wmi_metric_list to = {&l, count_metric};
    wm_error err = WM_ERROR_INIT;
    if (wmi_chip_list(chip_of(chip), pattern, &to, &err) != WM_OK) fail_msg("%s", err.message);
    return l;
}

static void bases_are_listed_with_their_usual_rollup(void **state) {
    (void)state;
    listed l = list("GH100", NULL);
    assert_in_range(l.count, 3000, 10000);
    assert_int_equal(list("GH100", "*").count, l.count);
    l = list("GH100", "dram__throughput");
    assert_int_equal(l.count, 1);
    assert_string_equal(l.first, "dram__throughput" OF_PEAK);
    l = list("TU104", "dram__bytes_[rw]*");
    assert_string_equal(l.first, "dram__bytes_read.sum");
    assert_string_equal(l.last, "dram__bytes_write.sum");
    assert_int_equal(list("GH100", "no such").count, 0);
}

static void whole_names_are_listed_where_a_rollup_is_asked_for(void **state) {
    (void)state;
    listed l = list("GH100", "dram__throughput.*");
    assert_int_equal(l.count, 8);
    assert_string_equal(l.last, "dram__throughput.sum.pct_of_peak_sustained_elapsed");
    l = list("GH100", CLOCK);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.first, CLOCK);
    l = list("GH100", "gpu__time_duration.???");
    assert_int_equal(l.count, 4);
}

static void a_listing_ends_where_it_is_told_to(void **state) {
    (void)state;
    listed l = {.count = 99998};
    const wmi_metric_list to = {&l, count_metric};
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_chip_list(chip_of("GH100"), NULL, &to, &err), WM_ENOMEM);
    assert_int_equal(l.count, 100001);
}

/* ---- passes ---- */

static void sets_take_as_many_passes_as_were_counted(void **state) {
    (void)state;
    static const struct {
        const char *names[6];
        size_t passes;
    } cases[] = {
        {{TIME}, 1},
        {{"dram__throughput" OF_PEAK}, 1},
        {{"sm__throughput" OF_PEAK}, 8},
        {{TIME, CLOCK, "sm__throughput" OF_PEAK, "dram__throughput" OF_PEAK}, 8},
        {{CLOCK, "sm__throughput" OF_PEAK, "dram__throughput" OF_PEAK, "lts__throughput" OF_PEAK}, 8},
        {{TIME, CLOCK, "dram__throughput" OF_PEAK, "TriageCompute.sm__throughput" OF_PEAK}, 2},
        {{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"}, 1},
        {{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", TIME, CLOCK}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = 0;
        while (n < 6 && cases[i].names[n]) n++;
        const wmi_chip_config *c = NULL, *again = NULL;
        wm_error err = WM_ERROR_INIT;
        if (wmi_chip_config_make(chip_of("GH100"), cases[i].names, n, &c, &err) != WM_OK)
            fail_msg("%s: %s", cases[i].names[0], err.message);
        assert_int_equal(c->passes, cases[i].passes);
        assert_int_equal(c->count, n);
        for (size_t k = 0; k < n; k++) assert_string_equal(c->names[k], cases[i].names[k]);
        assert_non_null(c->image);
        assert_true(c->image_size > 0);
        assert_int_equal(wmi_chip_config_make(chip_of("GH100"), cases[i].names, n, &again, NULL), WM_OK);
        assert_ptr_equal(again, c);
    }
}

static void what_cannot_be_counted_is_named(void **state) {
    (void)state;
    const wmi_chip_config *c = NULL;
    wm_error err = WM_ERROR_INIT;
    /* 12.6 takes this one, which 13.0 refuses. */
    const char *const refused[] = {TIME, "CTC.TriageCompute.ctc__throughput" OF_PEAK};
    if (wmi_chip_config_make(chip_of("GH100"), &refused[1], 1, &c, NULL) == WM_OK) skip();
    assert_int_equal(wmi_chip_config_make(chip_of("GH100"), refused, 2, &c, &err), WM_EUNSUPPORTED);
    assert_non_null(
        strstr(err.message, "CTC.TriageCompute.ctc__throughput" OF_PEAK " cannot be counted on GH100"));
    assert_int_equal(err.native_code, 27); /* CUPTI_ERROR_NOT_SUPPORTED */
    const char *const wrong[] = {TIME, "sm__throughput"};
    assert_int_equal(wmi_chip_config_make(chip_of("GH100"), wrong, 2, &c, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "sm__throughput needs a rollup"));
    assert_null(c);
}

static void an_image_that_is_none_has_no_values(void **state) {
    (void)state;
    const wmi_chip_config *c = NULL;
    const char *const names[] = {TIME};
    const uint8_t image[64] = {0};
    double value = 1.0;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_chip_config_make(chip_of("GH100"), names, 1, &c, &err), WM_OK);
    assert_int_not_equal(wmi_chip_evaluate(chip_of("GH100"), c, image, sizeof image, 0, &value, &err), WM_OK);
    assert_true(value != value);
    assert_string_not_equal(err.message, "");
}

/* ---- the groups of the project, on the chips there are ---- */

static wm_status is_metric(void *chip, const char *name) {
    wmi_metric m;
    return wmi_cuda_describe(chip, name, &m, NULL);
}

static bool is_read(const wmi_group *g, const char *name) {
    for (size_t i = 0; i < g->metrics.n; i++)
        if (strcmp(g->metrics.v[i], name) == 0) return true;
    return false;
}

/* Formulas read metrics of the group and formulas before them. */
static void check_formulas(const wmi_group *g, const char *chip) {
    wmi_formula *f[32];
    assert_in_range(g->derive.n, 0, 32);
    for (size_t i = 0; i < g->derive.n; i++) {
        assert_int_equal(wmi_formula_parse(g->derive.v[i], &f[i], NULL), WM_OK);
        for (size_t k = 0; k < wmi_formula_inputs(f[i]); k++) {
            const char *input = wmi_formula_input(f[i], k);
            bool found = is_read(g, input);
            for (size_t j = 0; j < i && !found; j++) found = strcmp(wmi_formula_name(f[j]), input) == 0;
            if (!found) fail_msg("%s on %s: '%s' reads %s", g->name, chip, g->derive.v[i], input);
        }
    }
    for (size_t i = 0; i < g->derive.n; i++) wmi_formula_destroy(f[i]);
}

static wmi_group group_on(const char *name, const char *chip) {
    wmi_group g;
    wm_error err = WM_ERROR_INIT;
    char user[16];
    snprintf(user, sizeof user, "%s", chip);
    if (wmi_group_load(name, &g, &err) != WM_OK || wmi_group_choose(&g, is_metric, user, &err) != WM_OK)
        fail_msg("%s: %s", name, err.message);
    return g;
}

static size_t counter_passes(const wmi_group *g, const char *chip) {
    wmi_plan plan;
    wm_error err = WM_ERROR_INIT;
    const wmi_metric_set set = {(const char *const *)g->metrics.v, g->metrics.n};
    if (wmi_cuda_plan_on(chip, &set, &plan, &err) != WM_OK)
        fail_msg("%s on %s: %s", g->name, chip, err.message);
    size_t passes = 0;
    for (size_t i = 0; i < plan.pass_count; i++)
        passes += plan.passes[i].disturbs && !plan.passes[i].optional;
    for (size_t i = 0; i < plan.metric_count; i++) assert_true(plan.pass_of[i] >= 0);
    wmi_plan_free(&plan);
    return passes;
}

static void groups_hold_on_every_kind_of_chip(void **state) {
    (void)state;
    static const char *const names[] = {"quick", "speed-of-light", "roofline"};
    static const char *const on[] = {"GV100", "TU104", "TU116", "GA100", "GA102", "GA10B",
                                     "GH100", "AD102", "GB100", "GB110", "GB202", "GB20B"};
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    for (size_t c = 0; c < sizeof on / sizeof on[0]; c++) {
        wmi_chip *chip;
        if (wmi_chip_find(on[c], &chip, NULL) != WM_OK) continue; /* newer than this CUPTI */
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            wmi_group g = group_on(names[i], on[c]);
            for (size_t k = 0; k < g.metrics.n; k++)
                if (is_metric((char *)(uintptr_t)on[c], g.metrics.v[k]) != WM_OK)
                    fail_msg("%s: %s has no %s", names[i], on[c], g.metrics.v[k]);
            check_formulas(&g, on[c]);
            assert_int_equal(g.bound_count, 1);
            assert_true(is_read(&g, g.bounds[0].compute) && is_read(&g, g.bounds[0].memory));
            assert_in_range(counter_passes(&g, on[c]), 1, 20);
            wmi_group_fini(&g);
        }
    }
}

static void groups_take_as_many_passes_as_they_say(void **state) {
    (void)state;
    static const struct {
        const char *name, *chip;
        size_t passes;
    } cases[] = {{"quick", "GH100", 2}, {"speed-of-light", "GH100", 8}, {"roofline", "GH100", 13}};
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_group g = group_on(cases[i].name, cases[i].chip);
        assert_int_equal(counter_passes(&g, cases[i].chip), cases[i].passes);
        wmi_group_fini(&g);
    }
}

static void flops_are_weighted_and_added_up(void **state) {
    (void)state;
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    static const struct {
        const char *input;
        double value;
    } values[] = {
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 10},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 1},
        {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 10},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1},
        {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 10},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 100},
    };
    static const struct {
        const char *name;
        double value;
    } results[] = {{"fp32_flops", 211}, {"fp64_flops", 211}, {"fp16_flops", 422}};
    wmi_group g = group_on("roofline", "GH100");
    size_t checked = 0;
    for (size_t i = 0; i < g.derive.n; i++) {
        wmi_formula *f;
        double in[16] = {0}, out = 0;
        assert_int_equal(wmi_formula_parse(g.derive.v[i], &f, NULL), WM_OK);
        for (size_t r = 0; r < sizeof results / sizeof results[0]; r++) {
            if (strcmp(wmi_formula_name(f), results[r].name) != 0) continue;
            for (size_t k = 0; k < wmi_formula_inputs(f); k++)
                for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
                    if (strcmp(wmi_formula_input(f, k), values[v].input) == 0) in[k] = values[v].value;
            assert_true(wmi_formula_eval(f, in, &out));
            assert_true(out == results[r].value);
            checked++;
        }
        wmi_formula_destroy(f);
    }
    assert_int_equal(checked, 3);
    wmi_group_fini(&g);
}

int main(void) {
    const char *why = why_not();
    if (why) {
        printf("skipped: %s\n", why);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_found_by_name),
        cmocka_unit_test(an_unknown_chip_has_near_ones),
        cmocka_unit_test(metrics_are_described),
        cmocka_unit_test(wrong_names_are_refused_with_the_right_ones),
        cmocka_unit_test(metrics_of_other_chips_are_told),
        cmocka_unit_test(bases_are_listed_with_their_usual_rollup),
        cmocka_unit_test(whole_names_are_listed_where_a_rollup_is_asked_for),
        cmocka_unit_test(a_listing_ends_where_it_is_told_to),
        cmocka_unit_test(sets_take_as_many_passes_as_were_counted),
        cmocka_unit_test(what_cannot_be_counted_is_named),
        cmocka_unit_test(an_image_that_is_none_has_no_values),
        cmocka_unit_test(groups_hold_on_every_kind_of_chip),
        cmocka_unit_test(groups_take_as_many_passes_as_they_say),
        cmocka_unit_test(flops_are_weighted_and_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
