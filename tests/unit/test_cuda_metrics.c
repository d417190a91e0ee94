/* The metrics of the cuda backend, with and without a device, on the fake GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "backend/cuda/chip.h"
#include "backend/cuda/cuda.h"
#include "fakes/cuda/fake_gpu.h"

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

static int fresh(void **state) {
    (void)state;
    fake_reset();
    return 0;
}

/* Devices and libraries are looked for once in a process: whoever wants others takes one of its own. */
static void in_child(void (*check)(void)) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        check();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* For children: what cmocka prints of a failure there is lost with them. */
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (condition) break;                                                                                \
        fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                      \
        _exit(1);                                                                                            \
    } while (0)

/* ---- describing ---- */

static void metrics_of_records_are_described(void **state) {
    (void)state;
    static const struct {
        const char *name, *unit;
        wmi_of_records of;
        wmi_combine combine;
    } cases[] = {
        {"kernel_time", "ns", WMI_OF_KERNEL_TIME, WMI_COMBINE_SUM},
        {"kernel_union", "ns", WMI_OF_KERNEL_UNION, WMI_COMBINE_SUM},
        {"kernel_count", "", WMI_OF_KERNEL_COUNT, WMI_COMBINE_SUM},
        {"launch_latency", "ns", WMI_OF_LAUNCH_LATENCY, WMI_COMBINE_MEAN},
        {"kernel_gap", "ns", WMI_OF_KERNEL_GAP, WMI_COMBINE_SUM},
        {"first_kernel_time", "ns", WMI_OF_FIRST_TIME, WMI_COMBINE_SUM},
        {"copy_time", "ns", WMI_OF_COPY_TIME, WMI_COMBINE_SUM},
        {"copy_bytes", "B", WMI_OF_COPY_BYTES, WMI_COMBINE_SUM},
        {"memset_time", "ns", WMI_OF_SET_TIME, WMI_COMBINE_SUM},
        {"memset_bytes", "B", WMI_OF_SET_BYTES, WMI_COMBINE_SUM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_metric here, there;
        assert_int_equal(wmi_cuda_describe(NULL, cases[i].name, &here, NULL), WM_OK);
        assert_int_equal(wmi_cuda_describe("TU104", cases[i].name, &there, NULL), WM_OK);
        assert_string_equal(here.name, cases[i].name);
        assert_ptr_equal(there.name, here.name);
        assert_string_equal(here.unit, cases[i].unit);
        assert_string_equal(here.backend, "cuda");
        const bool time = strcmp(here.unit, "ns") == 0;
        assert_string_equal(here.timer, time ? "cupti" : "");
        assert_int_equal(here.better, time ? WMI_BETTER_LOWER : WMI_BETTER_NONE);
        assert_int_equal(here.of, cases[i].of);
        assert_int_equal(here.combine, cases[i].combine);
        assert_string_not_equal(here.text, "");
    }
}

static void metrics_of_the_chip_are_described(void **state) {
    (void)state;
    wmi_metric m;
    char name[] = "sm__throughput" OF_PEAK; /* the answer outlives the question */
    assert_int_equal(wmi_cuda_describe(NULL, name, &m, NULL), WM_OK);
    memset(name, 'x', sizeof name - 1);
    assert_string_equal(m.name, "sm__throughput" OF_PEAK);
    assert_string_equal(m.unit, "%");
    assert_string_equal(m.text, "SM throughput");
    assert_int_equal(m.of, WMI_OF_NONE);
    assert_int_equal(m.combine, WMI_COMBINE_WEIGHTED);
    assert_int_equal(wmi_cuda_describe(NULL, "gpu__time_duration.sum.per_second", &m, NULL), WM_OK);
    assert_int_equal(m.of, WMI_OF_NONE);
    assert_int_equal(wmi_cuda_describe(NULL, "gpc__cycles_elapsed.avg.per_second", &m, NULL), WM_OK);
    assert_string_equal(m.unit, "Hz");
    assert_int_equal(wmi_cuda_describe("TU104", "TriageA.sm__throughput" OF_PEAK, &m, NULL), WM_OK);
}

static void wrong_names_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *chip, *name;
        wm_status status;
        const char *message;
    } cases[] = {
        {NULL, "time", WM_ENOTFOUND, "'time' is no metric of a GPU"},
        {NULL, "a,b", WM_ENOTFOUND, "'a,b' is no metric of a GPU"},
        {NULL, "", WM_ENOTFOUND, "'' is no metric of a GPU"},
        {NULL, "bogus__x.sum", WM_EINVAL, "GH100 has no metric 'bogus__x.sum'"},
        {NULL, "sm__throughputt" OF_PEAK, WM_EINVAL,
         "GH100 has no metric 'sm__throughputt.avg.pct_of_peak_sustained_elapsed'; did you mean "
         "sm__throughput, dram__throughput or "
         "lts__throughput?"},
        {NULL, "TriageA.sm__throughput" OF_PEAK, WM_EINVAL,
         "GH100 has no metric 'TriageA.sm__throughput.avg.pct_of_peak_sustained_elapsed'; it is one of "
         "TU104; did you mean "
         "TriageCompute.sm__throughput, dram__throughput or sm__throughput?"},
        {"GA100", "TriageAC.sm__throughput" OF_PEAK, WM_EINVAL,
         "GA100 has no metric 'TriageAC.sm__throughput.avg.pct_of_peak_sustained_elapsed'; it is one of "
         "GA102, AD102; did you mean "
         "dram__throughput?"},
        {NULL, "dram__bytes.sum,dram__bytes_read.sum", WM_EINVAL,
         "'dram__bytes.sum,dram__bytes_read.sum' was given as the name of one metric, but a comma separates "
         "names"},
        {NULL, "lts__t_sector_hit_rate", WM_EINVAL,
         "lts__t_sector_hit_rate needs a rollup: lts__t_sector_hit_rate.pct is usual; there are .max_rate "
         ".pct "
         ".ratio"},
        {"GH1OO", "kernel_time", WM_ENOTFOUND, NULL},
        {"GH1OO", "sm__throughput" OF_PEAK, WM_ENOTFOUND, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_metric m = {.name = "untouched"};
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_cuda_describe(cases[i].chip, cases[i].name, &m, &err), cases[i].status);
        assert_int_equal(err.code, cases[i].status);
        if (cases[i].message)
            assert_string_equal(err.message, cases[i].message);
        else
            assert_non_null(strstr(err.message, "knows no chip 'GH1OO'; did you mean GH100"));
        assert_string_equal(m.name, "untouched");
    }
}

static void check_untouched_libraries(void) {
    wmi_metric m;
    REQUIRE(wmi_cuda_describe(NULL, "time", &m, NULL) == WM_ENOTFOUND);
    REQUIRE(wmi_cuda_describe("GH100", "cycles", &m, NULL) == WM_ENOTFOUND);
    REQUIRE(fake_cupti_calls() == 0);
    REQUIRE(fake_calls("cuInit") == 0);
}

static void no_library_is_asked_about_other_names(void **state) {
    (void)state;
    in_child(check_untouched_libraries);
}

static void check_no_device(void) {
    wmi_metric m;
    wm_error err = WM_ERROR_INIT;
    fake_devices(NULL, 0);
    REQUIRE(wmi_cuda_describe(NULL, "kernel_time", &m, &err) == WM_EUNSUPPORTED);
    REQUIRE(strstr(err.message, "'kernel_time' is measured on a GPU: ") != NULL);
    REQUIRE(err.native_code == 100); /* CUDA_ERROR_NO_DEVICE */
    REQUIRE(wmi_cuda_describe(NULL, "bogus__x.sum", &m, &err) == WM_EUNSUPPORTED);
    REQUIRE(wmi_cuda_describe("GH100", "kernel_time", &m, &err) == WM_OK);
    REQUIRE(wmi_cuda_describe("GH100", "dram__bytes.sum", &m, &err) == WM_OK);
    REQUIRE(wmi_cuda_describe(NULL, "time", &m, &err) == WM_ENOTFOUND);
}

static void without_a_device_the_reason_is_told(void **state) {
    (void)state;
    in_child(check_no_device);
}

static void check_unknown_chip(void) {
    wmi_metric m;
    wm_error err = WM_ERROR_INIT;
    fake_device d = fake_device_default();
    d.chip = "XX999";
    fake_devices(&d, 1);
    REQUIRE(wmi_cuda_describe(NULL, "kernel_time", &m, &err) == WM_OK);
    REQUIRE(wmi_cuda_describe(NULL, "dram__bytes.sum", &m, &err) == WM_EUNSUPPORTED);
    REQUIRE(strstr(err.message, "XX999") != NULL);
}

static void a_chip_newer_than_cupti_has_times(void **state) {
    (void)state;
    in_child(check_unknown_chip);
}

/* The profiler's time is counted, and is not that of records. */
static void the_time_of_the_profiler_is_described(void **state) {
    (void)state;
    static const struct {
        const char *name;
        wmi_combine combine;
    } cases[] = {
        {"gpu__time_duration.sum", WMI_COMBINE_SUM},
        {"gpu__time_duration.avg", WMI_COMBINE_MEAN},
        {"gpu__time_duration.max", WMI_COMBINE_MAX},
        {"gpu__time_duration.min", WMI_COMBINE_MIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_metric m;
        assert_int_equal(wmi_cuda_describe("GH100", cases[i].name, &m, NULL), WM_OK);
        assert_string_equal(m.name, cases[i].name);
        assert_string_equal(m.unit, "ns");
        assert_string_equal(m.timer, "profiler");
        assert_int_equal(m.better, WMI_BETTER_LOWER);
        assert_int_equal(m.of, WMI_OF_NONE);
        assert_int_equal(m.combine, cases[i].combine);
    }
}

/* ---- listing ---- */

typedef struct listed {
    size_t count, available, records, times, timed;
    char why[sizeof((wm_error *)NULL)->message];
} listed;

static wm_status see(void *user, const wmi_metric *m, bool available, const char *why_not) {
    listed *l = user;
    l->count++;
    l->available += available;
    l->records += m->of != WMI_OF_NONE;
    l->times += strcmp(m->name, "gpu__time_duration.sum") == 0;
    l->timed += strcmp(m->timer, "profiler") == 0;
    if (!available) snprintf(l->why, sizeof l->why, "%s", why_not);
    return WM_OK;
}

static listed list(const char *chip, const char *pattern) {
    listed l = {0};
    const wmi_metric_list to = {&l, see};
    wm_error err = WM_ERROR_INIT;
    if (wmi_cuda_list(chip, pattern, &to, &err) != WM_OK) snprintf(l.why, sizeof l.why, "%s", err.message);
    return l;
}

static void what_the_device_has_is_listed(void **state) {
    (void)state;
    const listed all = list(NULL, NULL);
    assert_int_equal(all.available, all.count);
    assert_int_equal(all.records, 10);
    assert_int_equal(all.times, 1);
    assert_true(all.count > 10);
    assert_int_equal(list("GH100", NULL).count, all.count);
    assert_int_equal(list(NULL, "kernel_*").count, 4);
    assert_int_equal(list(NULL, "gpu__time_duration").timed, 1);
    const listed times = list(NULL, "gpu__time_duration.???");
    assert_int_equal(times.records, 0);
    assert_int_equal(times.timed, times.count);
    assert_int_equal(times.count, 4);
    assert_int_equal(list("TU104", "TriageA.*").count, 1);
    assert_int_equal(list(NULL, "no such").count, 0);
    const listed none = list("XX999", NULL);
    assert_int_equal(none.count, 0);
    assert_non_null(strstr(none.why, "knows no chip 'XX999'"));
}

static void check_refused(void) {
    fake_supported("wsl", 0);
    const listed all = list(NULL, NULL);
    REQUIRE(all.count > all.available);
    REQUIRE(all.why[0] != '\0');
    REQUIRE(list(NULL, "kernel_*").available == 4);
    REQUIRE(list("GH100", "dram__*").why[0] == '\0');
}

static void counters_that_are_refused_have_the_reason(void **state) {
    (void)state;
    in_child(check_refused);
}

static void check_list_without_device(void) {
    fake_devices(NULL, 0);
    const listed all = list(NULL, NULL);
    REQUIRE(all.count == 10 && all.available == 0 && all.records == 10);
    REQUIRE(all.why[0] != '\0');
    const listed chip = list("GH100", "dram__*");
    REQUIRE(chip.count > 0 && chip.available == chip.count);
}

static void without_a_device_names_are_listed_with_the_reason(void **state) {
    (void)state;
    in_child(check_list_without_device);
}

/* ---- planning for a chip ---- */

static wmi_plan plan(const char *chip, const char *const *names, size_t count) {
    wmi_plan p;
    wm_error err = WM_ERROR_INIT;
    const wmi_metric_set set = {names, count};
    if (wmi_cuda_plan_on(chip, &set, &p, &err) != WM_OK) fail_msg("%s", err.message);
    assert_int_equal(p.metric_count, count);
    return p;
}

static void sets_are_planned_for_a_chip(void **state) {
    (void)state;
    static const char *const names[] = {"sm__throughput" OF_PEAK, "kernel_time", "gpu__time_duration.max",
                                        "dram__throughput" OF_PEAK};
    wmi_plan p = plan("TU104", names, 4); /* on the fake: 8 passes */
    size_t needed = 0;
    for (size_t i = 0; i < p.pass_count; i++) {
        assert_int_equal(p.passes[i].disturbs, i > 0);
        needed += !p.passes[i].optional;
    }
    assert_int_equal(needed, 9);
    assert_int_equal(p.pass_of[1], 0);
    assert_in_range(p.pass_of[2], 1, 8);
    assert_int_equal(p.pass_of[0], 8);
    assert_in_range(p.pass_of[3], 1, 8);
    wmi_plan_free(&p);
    p = plan("TU104", &names[1], 1);
    assert_int_equal(p.pass_count, 1);
    wmi_plan_free(&p);
    p = plan("TU104", &names[3], 1);
    assert_true(p.pass_count >= 1 && p.passes[0].disturbs && !p.passes[0].optional);
    assert_int_equal(p.pass_of[0], 0);
    wmi_plan_free(&p);
    p = plan("TU104", names, 0);
    assert_int_equal(p.pass_count, 0);
    wmi_plan_free(&p);
}

static void what_cannot_be_planned_is_refused(void **state) {
    (void)state;
    wmi_plan p = {.metric_count = 99};
    wm_error err = WM_ERROR_INIT;
    static const char *const names[] = {"kernel_time", "sm__throughput"};
    const wmi_metric_set set = {names, 2};
    assert_int_equal(wmi_cuda_plan_on("GH100", &set, &p, &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "sm__throughput needs a rollup"));
    assert_int_equal(wmi_cuda_plan_on("XX999", &set, &p, &err), WM_ENOTFOUND);
    assert_int_equal(p.metric_count, 99);
}

/* ---- configurations, where CUPTI fails ---- */

static void what_cupti_refuses_leaves_no_configuration(void **state) {
    (void)state;
    static const char *const functions[] = {
        "cuptiProfilerHostInitialize", "cuptiProfilerHostConfigAddMetrics",
        "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
        "cuptiProfilerHostGetNumOfPasses"};
    static const char *const names[] = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
    wmi_chip *chip = NULL;
    const wmi_chip_config *c = NULL;
    assert_int_equal(wmi_chip_find("AD102", &chip, NULL), WM_OK);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        wm_error err = WM_ERROR_INIT;
        fake_fail(functions[i], 13, 1, -1);
        assert_int_not_equal(wmi_chip_config_make(chip, names, 2, &c, &err), WM_OK);
        assert_string_not_equal(err.message, "");
        assert_null(c);
        fake_fail(functions[i], 0, 1, 0);
    }
    wm_error err = WM_ERROR_INIT;
    fake_fail("cuptiProfilerHostConfigAddMetrics", 13, 1, 1); /* together, but not each alone */
    assert_int_equal(wmi_chip_config_make(chip, names, 2, &c, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "these 2 metrics cannot be counted together on AD102"));
    assert_int_equal(err.native_code, 13);
    fake_fail("cuptiProfilerHostConfigAddMetrics", 13, 3, 1); /* the second, after the first was tried */
    fake_fail("cuptiProfilerHostGetNumOfPasses", 999, 1, 1);
    assert_int_equal(wmi_chip_config_make(chip, names, 2, &c, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "dram__bytes_write.sum cannot be counted on AD102"));
    assert_int_equal(wmi_chip_config_make(chip, names, 2, &c, &err), WM_OK);
    assert_int_equal(c->passes, 1);
}

static void check_failing_chip(void) {
    static const char *const functions[] = {"cuptiProfilerHostGetSupportedChips",
                                            "cuptiProfilerHostInitialize", "cuptiProfilerHostGetBaseMetrics",
                                            "cuptiProfilerHostGetSubMetrics"};
    wmi_chip *chip = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        wm_error err = WM_ERROR_INIT;
        fake_fail(functions[i], 999, 1, -1);
        REQUIRE(wmi_chip_find("GB100", &chip, &err) != WM_OK);
        REQUIRE(err.native_code == 999 && chip == NULL);
        fake_fail(functions[i], 0, 1, 0);
    }
    fake_fail("cuptiProfilerHostGetSubMetrics", 999, 3, 1);
    REQUIRE(wmi_chip_find("GB100", &chip, NULL) != WM_OK);
    REQUIRE(wmi_chip_find("GB100", &chip, NULL) == WM_OK);
}

static void a_chip_that_cannot_be_opened_is_tried_again(void **state) {
    (void)state;
    in_child(check_failing_chip);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, fresh)
    const struct CMUnitTest tests[] = {
        /* Children come first: what a process has found stays found. */
        TEST(no_library_is_asked_about_other_names),
        TEST(without_a_device_the_reason_is_told),
        TEST(a_chip_newer_than_cupti_has_times),
        TEST(without_a_device_names_are_listed_with_the_reason),
        TEST(counters_that_are_refused_have_the_reason),
        TEST(a_chip_that_cannot_be_opened_is_tried_again),
        TEST(metrics_of_records_are_described),
        TEST(metrics_of_the_chip_are_described),
        TEST(the_time_of_the_profiler_is_described),
        TEST(wrong_names_are_refused),
        TEST(what_the_device_has_is_listed),
        TEST(sets_are_planned_for_a_chip),
        TEST(what_cannot_be_planned_is_refused),
        TEST(what_cupti_refuses_leaves_no_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
