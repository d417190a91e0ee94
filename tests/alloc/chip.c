/* Fails each allocation in turn while chips are asked what they count, and kernels are named. Every call
 * then says that memory ran out, and does its work when it is made again. */
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
#include "backend/cuda/kernel_names.h"
#include "base/intern.h"
#include "fakes/cuda/fake_gpu.h"

#include "failing.h"

enum { MOST = 20000 };

/* What is done once in a process takes another chip or name each time. */
typedef wm_status (*work)(unsigned long n);

static void fail_each(work body, failing_mode mode, unsigned long least) {
    bool reached = true;
    unsigned long n = 1;
    for (; reached && n < MOST; n++) {
        failing_arm(n, mode);
        const wm_status status = body(n);
        reached = failing_disarm();
        if (status != WM_OK) assert_int_equal(status, WM_ENOMEM);
        if (!reached) assert_int_equal(status, WM_OK);
    }
    assert_true(n > least && n < MOST);
}

static const char *const chip_names[] = {"GV100", "TU104", "GA100", "AD102", "GB100"};

/* Opened once for ever, so that each failure is of another allocation until it succeeds. */
static void chips_are_opened(void **state) {
    (void)state;
    wmi_chip *chip = NULL;
    for (size_t i = 0; i < sizeof chip_names / sizeof chip_names[0]; i++) {
        unsigned long n = 1;
        wm_status status = WM_ENOMEM;
        for (; status != WM_OK && n < MOST; n++) {
            failing_arm(n, i % 2 ? FAILING_ONCE : FAILING_ONWARDS);
            status = wmi_chip_find(chip_names[i], &chip, NULL);
            failing_disarm();
            if (status != WM_OK) assert_int_equal(status, WM_ENOMEM);
        }
        assert_true(n > 10 && n < MOST);
        assert_string_equal(wmi_chip_name(chip), chip_names[i]);
    }
}

static wmi_chip *chip_of(const char *name) {
    wmi_chip *chip = NULL;
    assert_int_equal(wmi_chip_find(name, &chip, NULL), WM_OK);
    return chip;
}

/* The right answer is that it is no name. */
static wm_status refuse(unsigned long n) {
    static const char *const wrong[] = {"sm__thruput.sum", "sm__throughput", "sm__throughput.av",
                                        "XX__bogus.sum"};
    wm_status worst = WM_OK;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        wmi_metric m;
        wm_error err = WM_ERROR_INIT;
        const wm_status s = wmi_chip_metric(chip_of("GB100"), wrong[i], &m, &err);
        assert_true(s == WM_ENOTFOUND || s == WM_ENOMEM);
        if (s == WM_ENOMEM) worst = s;
    }
    (void)n;
    return worst;
}

static wm_status configure(unsigned long n) {
    static const char *const rollups[] = {"sum", "avg", "max", "min"};
    char name[64];
    const char *const names[] = {name, "dram__bytes_write.sum"};
    const wmi_chip_config *config = NULL;
    /* Sets are kept, so each is new: one that failed is made in the end. */
    snprintf(name, sizeof name, "dram__bytes_read.%s", rollups[n % 4]);
    const wm_status s =
        wmi_chip_config_make(chip_of(chip_names[n / 4 % 5]), names, 1 + n / 20 % 2, &config, NULL);
    if (s == WM_OK) assert_int_equal(config->passes, 1);
    return s;
}

static wm_status list(unsigned long n) {
    (void)n;
    wm_metrics_opts opts = WM_METRICS_OPTS_INIT;
    wm_table *t = NULL;
    opts.chip = "GB100";
    opts.pattern = "*throughput*";
    const wm_status s = wm_metrics(&opts, &t, NULL);
    if (s == WM_OK) assert_true(wm_table_rows(t) > 5);
    wm_table_destroy(t);
    return s;
}

static wm_status plan(unsigned long n) {
    (void)n;
    wm_table *t = NULL;
    const wm_status s = wm_metrics_plan("kernel_time,group:quick,dram__bytes_read.sum", "GB100", &t, NULL);
    if (s == WM_OK) assert_int_equal(wm_table_rows(t), 5);
    wm_table_destroy(t);
    return s;
}

static wm_status name_kernel(unsigned long n) {
    char binary[64], plain[32];
    snprintf(binary, sizeof binary, "_Z6k%05luv", n % 100000);
    snprintf(plain, sizeof plain, "k%05lu", n % 100000);
    const wmi_kernel_name name = wmi_kernel_name_of(binary);
    if (!name.binary) return WM_ENOMEM;
    if (strcmp(wmi_intern_name(name.plain), plain) != 0 && strcmp(wmi_intern_name(name.plain), binary) != 0)
        fail_msg("%s is not of %s", wmi_intern_name(name.plain), binary);
    return WM_OK;
}

static void calls_fail_cleanly(void **state) {
    (void)state;
    setenv("WARPMETER_METRICS", WM_SOURCE_DIR "/metrics", 1);
    static const struct {
        work body;
        unsigned long least;
    } works[] = {{refuse, 10}, {configure, 3}, {list, 50}, {plan, 50}, {name_kernel, 1}};
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        fail_each(works[i].body, FAILING_ONCE, works[i].least);
        fail_each(works[i].body, FAILING_ONWARDS, works[i].least);
    }
}

int main(void) {
    fake_reset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_opened),
        cmocka_unit_test(calls_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
