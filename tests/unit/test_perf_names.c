#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/perf_names.h"
#include "backend/cpu/pfm_dl.h"

/* The numbers are those of perf_event_open(2), written out. */
static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
    const char *unit;
} known[] = {
    {"cycles", 0, 0, ""},
    {"cpu-cycles", 0, 0, ""},
    {"instructions", 0, 1, ""},
    {"cache-references", 0, 2, ""},
    {"cache-misses", 0, 3, ""},
    {"branches", 0, 4, ""},
    {"branch-instructions", 0, 4, ""},
    {"branch-misses", 0, 5, ""},
    {"bus-cycles", 0, 6, ""},
    {"stalled-cycles-frontend", 0, 7, ""},
    {"stalled-cycles-backend", 0, 8, ""},
    {"ref-cycles", 0, 9, ""},
    {"cpu-clock", 1, 0, "ns"},
    {"task-clock", 1, 1, "ns"},
    {"page-faults", 1, 2, ""},
    {"faults", 1, 2, ""},
    {"context-switches", 1, 3, ""},
    {"cs", 1, 3, ""},
    {"cpu-migrations", 1, 4, ""},
    {"migrations", 1, 4, ""},
    {"minor-faults", 1, 5, ""},
    {"major-faults", 1, 6, ""},
    {"alignment-faults", 1, 7, ""},
    {"emulation-faults", 1, 8, ""},
    {"L1-dcache-loads", 3, 0x00000, ""},
    {"L1-dcache-load-misses", 3, 0x10000, ""},
    {"L1-dcache-stores", 3, 0x00100, ""},
    {"L1-dcache-store-misses", 3, 0x10100, ""},
    {"L1-dcache-prefetches", 3, 0x00200, ""},
    {"L1-dcache-prefetch-misses", 3, 0x10200, ""},
    {"L1-icache-load-misses", 3, 0x10001, ""},
    {"LLC-loads", 3, 0x00002, ""},
    {"LLC-store-misses", 3, 0x10102, ""},
    {"dTLB-load-misses", 3, 0x10003, ""},
    {"iTLB-loads", 3, 0x00004, ""},
    {"branch-load-misses", 3, 0x10005, ""},
    {"node-prefetches", 3, 0x00206, ""},
    {"r1c2", 4, 0x1c2, ""},
    {"r0", 4, 0, ""},
    {"rFfffFFFFffffFFFF", 4, UINT64_MAX, ""},
};

static void names_have_the_kernels_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        wmi_perf_event e;
        assert_int_equal(wmi_perf_parse(known[i].name, &e, NULL), WM_OK);
        assert_int_equal(e.attr.type, known[i].type);
        assert_int_equal(e.attr.config, known[i].config);
        assert_string_equal(e.unit, known[i].unit);
        assert_false(e.attr.exclude_user || e.attr.exclude_kernel || e.attr.exclude_hv || e.asks_kernel);
        assert_true(strlen(e.text) > 0);
    }
}

static void listed_names_are_names_and_differ(void **state) {
    (void)state;
    size_t n = wmi_perf_names();
    int by_type[5] = {0};
    for (size_t i = 0; i < n; i++) {
        wmi_perf_event a, b;
        assert_int_equal(wmi_perf_parse(wmi_perf_name(i), &a, NULL), WM_OK);
        by_type[a.attr.type]++;
        for (size_t j = 0; j < i; j++) {
            assert_int_equal(wmi_perf_parse(wmi_perf_name(j), &b, NULL), WM_OK);
            assert_false(a.attr.type == b.attr.type && a.attr.config == b.attr.config);
        }
    }
    assert_int_equal(by_type[PERF_TYPE_HARDWARE], 10);
    assert_int_equal(by_type[PERF_TYPE_SOFTWARE], 10);
    /* accesses and misses of: 3 operations on L1d, LL, dTLB and node; 2 on L1i; 1 on iTLB and branch */
    assert_int_equal(by_type[PERF_TYPE_HW_CACHE], 2 * (4 * 3 + 2 + 1 + 1));
}

static void modifiers_choose_user_and_kernel_code(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool no_user, no_kernel;
    } cases[] = {{"cycles:u", false, true},   {"cycles:k", true, false}, {"cycles:uk", false, false},
                 {"cycles:ku", false, false}, {"r1c2:u", false, true},   {"LLC-loads:k", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_perf_event e;
        assert_int_equal(wmi_perf_parse(cases[i].name, &e, NULL), WM_OK);
        assert_int_equal(e.attr.exclude_user, cases[i].no_user);
        assert_int_equal(e.attr.exclude_kernel, cases[i].no_kernel);
        assert_int_equal(e.asks_kernel, !cases[i].no_kernel);
        assert_true(e.attr.exclude_hv);
    }
}

static void other_texts_are_no_names(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "cycle",
        "cyclesx",
        "Cycles",
        "cycles ",
        " cycles",
        "cycles:",
        "cycles:x",
        "cycles:uu",
        "r",
        "rg",
        "r12g",
        "r12345678901234567",
        "cycles:u:k",
        "cycles::u",
        ":u",
        "r:u",
        "R1c2",
        "iTLB-stores",
        "L1-icache-stores",
        "branch-stores",
        "page",
        "perf::cs",
        "L1-",
        "cycles,",
        "time",
        "cycles\nu",
        "\xff\xfe",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        wmi_perf_event e;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_perf_parse(texts[i], &e, &err), WM_ENOTFOUND);
        assert_int_equal(err.code, WM_ENOTFOUND);
        assert_true(strlen(err.message) > 0);
    }
}

static void events_are_sorted_by_who_counts_them(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool software, kernel_only;
    } cases[] = {{"cycles", false, false},     {"LLC-loads", false, false},    {"r1", false, false},
                 {"page-faults", true, false}, {"task-clock", true, false},    {"cs", true, true},
                 {"migrations", true, true},   {"cgroup-switches", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_perf_event e;
        assert_int_equal(wmi_perf_parse(cases[i].name, &e, NULL), WM_OK);
        assert_int_equal(wmi_perf_is_software(&e.attr), cases[i].software);
        assert_int_equal(wmi_perf_is_kernel_only(&e.attr), cases[i].kernel_only);
    }
}

/* ---- libpfm4 ---- */

static void a_library_that_cannot_be_opened_is_named(void **state) {
    (void)state;
    wmi_pfm_event e;
    wm_error err = WM_ERROR_INIT;
    setenv("WARPMETER_LIBPFM4", "/nowhere/libpfm.so.4", 1);
    wm_status status = wmi_pfm_encode("perf::CYCLES", &e, &err);
    unsetenv("WARPMETER_LIBPFM4");
    assert_int_equal(status, WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "libpfm4"));
}

static bool pfm_is_here(void) {
    char version[16];
    const char *path;
    wm_error err = WM_ERROR_INIT;
    if (wmi_pfm_library(version, &path, &err) == WM_OK) return true;
    print_message("libpfm4's names are not tested: %s\n", err.message);
    return false;
}

static void libpfm4_encodes_its_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
        bool no_user, no_kernel, asks_kernel;
    } cases[] = {{"perf::PERF_COUNT_HW_CPU_CYCLES", 0, 0, false, false, false},
                 {"perf::INSTRUCTIONS:u", 0, 1, false, true, false},
                 {"perf::INSTRUCTIONS:k", 0, 1, true, false, true},
                 {"perf::INSTRUCTIONS:u:k", 0, 1, false, false, true},
                 {"perf::CONTEXT-SWITCHES", 1, 3, false, false, false},
                 {"perf::L1-DCACHE-LOAD-MISSES", 3, 0x10000, false, false, false},
                 {"PERF_COUNT_SW_PAGE_FAULTS", 1, 2, false, false, false}};
    if (!pfm_is_here()) skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_pfm_event e;
        assert_int_equal(wmi_pfm_encode(cases[i].name, &e, NULL), WM_OK);
        assert_int_equal(e.type, cases[i].type);
        assert_int_equal(e.config, cases[i].config);
        assert_int_equal(e.exclude_user, cases[i].no_user);
        assert_int_equal(e.exclude_kernel, cases[i].no_kernel);
        assert_int_equal(e.asks_kernel, cases[i].asks_kernel);
        assert_true(strlen(e.text) > 0);
    }
}

static void libpfm4_refuses_what_it_does_not_know(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "::", "perf::", "perf::nope", "nosuch::CYCLES", "perf::CYCLES:nope"};
    if (!pfm_is_here()) skip();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        wmi_pfm_event e;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_pfm_encode(texts[i], &e, &err), WM_ENOTFOUND);
        assert_non_null(strstr(err.message, "libpfm4 says"));
    }
}

static wm_status count_name(void *user, const char *name) {
    int *counts = user;
    counts[0]++;
    counts[1] += strcmp(name, "perf::PAGE-FAULTS") == 0;
    counts[2] += strcmp(name, "perf::PERF_COUNT_HW_CACHE_L1D:READ") == 0; /* a unit mask */
    assert_non_null(strstr(name, "::"));
    return WM_OK;
}

static wm_status stop_at_third(void *user, const char *name) {
    (void)name;
    return ++*(int *)user == 3 ? WM_EIO : WM_OK;
}

static void libpfm4_lists_events_and_unit_masks(void **state) {
    (void)state;
    int counts[3] = {0}, seen = 0;
    if (!pfm_is_here()) skip();
    assert_int_equal(wmi_pfm_list(count_name, counts, NULL), WM_OK);
    assert_true(counts[0] > 80);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 1);
    assert_int_equal(wmi_pfm_list(stop_at_third, &seen, NULL), WM_EIO);
    assert_int_equal(seen, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_the_kernels_numbers),
        cmocka_unit_test(listed_names_are_names_and_differ),
        cmocka_unit_test(modifiers_choose_user_and_kernel_code),
        cmocka_unit_test(other_texts_are_no_names),
        cmocka_unit_test(events_are_sorted_by_who_counts_them),
        cmocka_unit_test(a_library_that_cannot_be_opened_is_named),
        cmocka_unit_test(libpfm4_encodes_its_names),
        cmocka_unit_test(libpfm4_refuses_what_it_does_not_know),
        cmocka_unit_test(libpfm4_lists_events_and_unit_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
