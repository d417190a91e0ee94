/* The program's own clock_gettime stands in for the C library's, so that a test
 * can stop the clock or give it a known step. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

static enum { REAL, STANDING, STEPPING } fake;
static uint64_t fake_ns;
static bool other_clock_asked;

enum { STEP_NS = 7 };

int clock_gettime(clockid_t id, struct timespec *t) {
    if (id != CLOCK_MONOTONIC) other_clock_asked = true;
    if (fake == REAL) return (int)syscall(SYS_clock_gettime, id, t);
    if (fake == STEPPING) fake_ns += STEP_NS;
    t->tv_sec = (time_t)(fake_ns / 1000000000u);
    t->tv_nsec = (long)(fake_ns % 1000000000u);
    return 0;
}

/* The choice of the timer is made once for a process: each check that makes one
 * runs in a child. It returns 0, or the line that failed. cmocka itself has asked
 * for other clocks by then. */
static void assert_in_child(int (*check)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        other_clock_asked = false;
        _exit(check() ? 1 : 0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define EXPECT(x)                                                                                            \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "line %d: %s\n", __LINE__, #x);                                                  \
            return __LINE__;                                                                                 \
        }                                                                                                    \
    } while (0)

#if defined(__x86_64__)

static bool file_holds(const char *path, const char *word) {
    char line[8192];
    FILE *f = fopen(path, "r");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) found = strstr(line, word) != NULL;
    if (f) fclose(f);
    return found;
}

static const char *best_timer(void) {
    bool trusted = file_holds("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    return trusted && file_holds("/proc/cpuinfo", " nonstop_tsc") ? "tsc" : "monotonic";
}
#elif defined(__aarch64__)
static const char *best_timer(void) { return "cntvct"; }
#else
static const char *best_timer(void) { return "monotonic"; }
#endif

/* Ticks turned into nanoseconds lie between two readings of the real clock. The
 * slope is known to the width of a reading (well below 100 us) over at least 3 ms. */
static int check_ticks_against_the_clock(void) {
    wmi_clock clock;
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    EXPECT(clock.ns_per_tick > 0 && clock.pair_cost_ns >= 0);
    for (int i = 0; i < 100; i++) {
        int64_t before = (int64_t)wmi_monotonic_ns();
        int64_t ns = wmi_clock_ns(&clock, wmi_ticks());
        int64_t after = (int64_t)wmi_monotonic_ns();
        int64_t slack = 100000 + (after - (int64_t)clock.ns1) / 20;
        EXPECT(ns >= before - slack && ns <= after + slack);
        if (i % 10 == 9) wmi_clock_anchor(&clock);
    }
    EXPECT(clock.ns1 > clock.ns0 && clock.tick1 > clock.tick0);
    EXPECT(!other_clock_asked);
    return 0;
}

static int check_default(void) {
    unsetenv("WARPMETER_TIMER");
    int line = check_ticks_against_the_clock();
    EXPECT(strcmp(wmi_clock_name(), best_timer()) == 0);
    return line;
}

static int check_empty_is_unset(void) {
    setenv("WARPMETER_TIMER", "", 1);
    return check_default();
}

static int check_monotonic(void) {
    setenv("WARPMETER_TIMER", "monotonic", 1);
    int line = check_ticks_against_the_clock();
    EXPECT(strcmp(wmi_clock_name(), "monotonic") == 0);
    wmi_clock clock;
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    EXPECT(clock.ns_per_tick == 1);
    EXPECT(wmi_clock_ns(&clock, 123456789) == 123456789);
    return line;
}

static int check_unknown(void) {
    setenv("WARPMETER_TIMER", "sundial", 1);
    for (int i = 0; i < 2; i++) {
        wmi_clock clock = {1, 2, 3, 4, 5, 6};
        wm_error err = WM_ERROR_INIT;
        EXPECT(wmi_clock_init(&clock, &err) == WM_EINVAL);
        EXPECT(strcmp(err.message, "WARPMETER_TIMER takes tsc or monotonic, not 'sundial'") == 0);
        EXPECT(clock.tick0 == 1 && clock.ns_per_tick == 5);
    }
    setenv("WARPMETER_TIMER", "monotonic", 1);
    return check_ticks_against_the_clock();
}

/* Once clocks depend on the choice it stays, and a wrong value is still refused. */
static int check_choice_stays(void) {
    setenv("WARPMETER_TIMER", "monotonic", 1);
    wmi_clock clock;
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    unsetenv("WARPMETER_TIMER");
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    EXPECT(strcmp(wmi_clock_name(), "monotonic") == 0);
    setenv("WARPMETER_TIMER", "TSC", 1);
    EXPECT(wmi_clock_init(&clock, NULL) == WM_EINVAL);
    return 0;
}

static int check_counter_of_another_machine(void) {
#if defined(__x86_64__)
    static const char other[] = "cntvct";
#else
    static const char other[] = "tsc";
#endif
    setenv("WARPMETER_TIMER", other, 1);
    wmi_clock clock;
    wm_error err = WM_ERROR_INIT;
    EXPECT(wmi_clock_init(&clock, &err) == WM_EUNSUPPORTED);
    EXPECT(strstr(err.message, other) != NULL);
    return 0;
}

/* Either timer: nothing hangs, every span is 0, no number is infinite; and once
 * the clock moves, so do the spans. */
static int check_standing_clock(void) {
    fake = STANDING;
    fake_ns = 5000000000u;
    wmi_clock clock;
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    uint64_t begin = wmi_ticks(), end = wmi_ticks();
    EXPECT(wmi_clock_span_ns(&clock, begin, end) == 0);
    EXPECT(clock.pair_cost_ns == 0);
    EXPECT(wmi_clock_ns(&clock, end) == 5000000000);
    fake_ns += 1000000;
    wmi_clock_anchor(&clock);
    EXPECT(clock.ns_per_tick > 0 && clock.ns_per_tick <= 1);
    EXPECT(wmi_clock_ns(&clock, clock.tick1) == 5001000000);
    return 0;
}

static int check_standing_default(void) {
    unsetenv("WARPMETER_TIMER");
    return check_standing_clock();
}

static int check_standing_monotonic(void) {
    setenv("WARPMETER_TIMER", "monotonic", 1);
    return check_standing_clock();
}

static int check_cost_of_a_pair(void) {
    setenv("WARPMETER_TIMER", "monotonic", 1);
    fake = STEPPING;
    wmi_clock clock;
    EXPECT(wmi_clock_init(&clock, NULL) == WM_OK);
    EXPECT(clock.pair_cost_ns == STEP_NS);
    return 0;
}

static void the_best_timer_is_chosen(void **state) {
    (void)state;
    assert_in_child(check_default);
    assert_in_child(check_empty_is_unset);
}

static void the_environment_overrides(void **state) {
    (void)state;
    assert_in_child(check_monotonic);
    assert_in_child(check_unknown);
    assert_in_child(check_choice_stays);
    assert_in_child(check_counter_of_another_machine);
}

static void a_clock_that_stands_still_divides_nothing_by_zero(void **state) {
    (void)state;
    assert_in_child(check_standing_default);
    assert_in_child(check_standing_monotonic);
}

static void the_cost_of_a_pair_is_what_an_empty_one_reads(void **state) {
    (void)state;
    assert_in_child(check_cost_of_a_pair);
}

static void ticks_become_nanoseconds_on_a_line(void **state) {
    (void)state;
    const wmi_clock clock = {.tick0 = 100, .ns0 = 1000, .tick1 = 300, .ns1 = 2000, .ns_per_tick = 5};
    assert_int_equal(wmi_clock_ns(&clock, 300), 2000);
    assert_int_equal(wmi_clock_ns(&clock, 310), 2050);
    assert_int_equal(wmi_clock_ns(&clock, 100), 1000);
    assert_true(wmi_clock_span_ns(&clock, 10, 30) == 100);
    assert_true(wmi_clock_span_ns(&clock, 30, 10) == 0);
    assert_true(wmi_clock_span_ns(&clock, 10, 10) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_timer_is_chosen),
        cmocka_unit_test(the_environment_overrides),
        cmocka_unit_test(a_clock_that_stands_still_divides_nothing_by_zero),
        cmocka_unit_test(the_cost_of_a_pair_is_what_an_empty_one_reads),
        cmocka_unit_test(ticks_become_nanoseconds_on_a_line),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
