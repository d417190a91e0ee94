/* Reading sensors while code runs, from a made-up backend. The thread that reads is waited for by its
 * readings: that one began means that those before it were taken in. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "session/sensing.h"

/* ---- the made-up backend ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t main;
    double value[WMI_SENSOR_COUNT];
    wm_reason reason[WMI_SENSOR_COUNT];
    int calls, own;  /* all readings; those of the thread */
    int main_calls;  /* those of the test's own */
    int fails_from;  /* from this call on all sensors fail; 0: never */
    uint32_t asked;  /* sensors that were ever asked for */
    double step;     /* added to counters with each call */
    int64_t cost_ns; /* each call takes so long */
    bool held;       /* the thread's readings wait */
    int waiting;
    int cpu;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void made_up(void *self, uint32_t which, int cpu, wmi_sensed *out) {
    assert_ptr_equal(self, &made);
    pthread_mutex_lock(&made.lock);
    if (pthread_equal(pthread_self(), made.main))
        made.main_calls++;
    else
        made.own++;
    made.calls++;
    made.asked |= which;
    made.cpu = cpu;
    made.waiting++;
    pthread_cond_broadcast(&made.changed);
    while (made.held && !pthread_equal(pthread_self(), made.main))
        pthread_cond_wait(&made.changed, &made.lock);
    made.waiting--;
    made.value[WMI_SENSOR_GPU_ENERGY] += made.step;
    made.value[WMI_SENSOR_CPU_ENERGY] += made.step;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) {
        if (!(which >> i & 1)) continue;
        out->reason[i] = (uint8_t)(made.fails_from && made.calls >= made.fails_from ? WM_REASON_DEVICE_LOST
                                                                                    : made.reason[i]);
        if (!out->reason[i]) wmi_sensed_set(out, (wmi_sensor)i, made.value[i]);
    }
    const int64_t until = (int64_t)wmi_monotonic_ns() + made.cost_ns;
    pthread_mutex_unlock(&made.lock);
    while ((int64_t)wmi_monotonic_ns() < until) {
    }
}

static void made_set(wmi_sensor which, double value) {
    pthread_mutex_lock(&made.lock);
    made.value[which] = value;
    made.reason[which] = WM_REASON_NONE;
    pthread_mutex_unlock(&made.lock);
}

static void made_fail(wmi_sensor which, wm_reason why) {
    pthread_mutex_lock(&made.lock);
    made.reason[which] = why;
    pthread_mutex_unlock(&made.lock);
}

static void made_hold(bool held) {
    pthread_mutex_lock(&made.lock);
    made.held = held;
    pthread_cond_broadcast(&made.changed);
    pthread_mutex_unlock(&made.lock);
}

/* Until the thread has taken in n more readings of each of its two paces, or of one where it has one. */
static void made_wait(int n) {
    pthread_mutex_lock(&made.lock);
    const int until = made.own + n + 1;
    while (made.own < until) pthread_cond_wait(&made.changed, &made.lock);
    pthread_mutex_unlock(&made.lock);
}

static int made_calls(void) {
    pthread_mutex_lock(&made.lock);
    const int calls = made.calls;
    pthread_mutex_unlock(&made.lock);
    return calls;
}

static wmi_backend_ops ops;
static char warnings[2048];
static int warning_count;

static void keep_warning(void *user, const char *line) {
    assert_ptr_equal(user, warnings);
    const size_t n = strlen(warnings);
    snprintf(warnings + n, sizeof warnings - n, "%s\n", line);
    warning_count++;
}

#define QUICK                                                                                                \
    (WMI_SENSOR_BIT(GPU_CLOCK) | WMI_SENSOR_BIT(GPU_POWER) | WMI_SENSOR_BIT(GPU_THROTTLE) |                  \
     WMI_SENSOR_BIT(CPU_ENERGY))

static int begin(void **state) {
    (void)state;
    pthread_mutex_lock(&made.lock);
    made.main = pthread_self();
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) {
        made.value[i] = 0;
        made.reason[i] = WM_REASON_NONE;
    }
    made.calls = made.own = made.fails_from = 0;
    made.asked = 0;
    made.step = 0;
    made.cost_ns = 0;
    made.held = false;
    pthread_mutex_unlock(&made.lock);
    ops = (wmi_backend_ops){.name = "made", .sensors = QUICK, .sense = made_up};
    warnings[0] = 0;
    warning_count = 0;
    return 0;
}

static wmi_sensing *start(wmi_sensing_when when, uint32_t wanted) {
    const wmi_sensing_source source = {&ops, &made};
    const wmi_sensing_opts opts = {when, wanted, keep_warning, warnings};
    wmi_sensing *s = NULL;
    assert_int_equal(wmi_sensing_create(&source, 1, &opts, &s, NULL), WM_OK);
    return s;
}

static int64_t now(void) { return (int64_t)wmi_monotonic_ns(); }

static void check_null(const wmi_sensed *r, wmi_sensor which, wm_reason why) {
    assert_int_equal(r->reason[which], why);
}
static void check(const wmi_sensed *r, wmi_sensor which, double value) {
    assert_int_equal(r->reason[which], WM_REASON_NONE);
    assert_true(r->value[which] == value);
}

/* With readings as dear as that the thread is not begun, so that all are the test's own. */
static wmi_sensing *start_without_thread(void) {
    made.cost_ns = 21000000;
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    assert_int_equal(wmi_sensing_interval_ns(s), 0);
    made.cost_ns = 0;
    return s;
}

/* ---- levels, power, bits ---- */

static void test_values_are_of_the_readings_in_a_run(void **state) {
    (void)state;
    wmi_sensing *s = start_without_thread();
    wmi_sensed r;
    made_set(WMI_SENSOR_GPU_CLOCK, 1000);
    made_set(WMI_SENSOR_GPU_POWER, 1000);
    made_set(WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(THERMAL));
    wmi_sensing_now(s, QUICK, &r); /* before it */
    wmi_sensing_begin(s);
    static const double values[] = {1, 2, 6};
    static const uint32_t bits[] = {WMI_THROTTLE(POWER), 0, WMI_THROTTLE(HW_THERMAL)};
    for (int i = 0; i < 3; i++) {
        made_set(WMI_SENSOR_GPU_CLOCK, values[i]);
        made_set(WMI_SENSOR_GPU_POWER, 10 * values[i]);
        made_set(WMI_SENSOR_GPU_THROTTLE, bits[i]);
        wmi_sensing_now(s, QUICK, &r);
    }
    const int64_t from = now();
    wmi_sensing_end(s, from, now(), &r);
    assert_int_equal(r.at_ns, from);
    check(&r, WMI_SENSOR_GPU_CLOCK, 3);
    check(&r, WMI_SENSOR_GPU_POWER, 30);
    check(&r, WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(POWER) | WMI_THROTTLE(HW_THERMAL));
    wmi_sensing_now(s, QUICK, &r); /* after it */
    wmi_sensing_begin(s);          /* the next one has none: what is not followed says nothing of it */
    wmi_sensing_end(s, now(), now(), &r);
    check_null(&r, WMI_SENSOR_GPU_CLOCK, WM_REASON_NOT_APPLICABLE);
    check_null(&r, WMI_SENSOR_GPU_POWER, WM_REASON_NOT_APPLICABLE);
    check_null(&r, WMI_SENSOR_GPU_THROTTLE, WM_REASON_NOT_APPLICABLE);
    wmi_sensing_destroy(s);
}

static void test_a_run_without_a_reading_has_the_last_levels_and_no_power(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_CLOCK, 7);
    made_set(WMI_SENSOR_GPU_POWER, 100);
    made_set(WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(POWER));
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    made_hold(true);
    wmi_sensing_begin(s);
    wmi_sensing_end(s, now(), now(), &r);
    check(&r, WMI_SENSOR_GPU_CLOCK, 7);
    check(&r, WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(POWER));
    check_null(&r, WMI_SENSOR_GPU_POWER, WM_REASON_RESOLUTION);
    check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_RESOLUTION);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (!(QUICK >> i & 1)) check_null(&r, (wmi_sensor)i, WM_REASON_NOT_APPLICABLE);
    made_hold(false);
    wmi_sensing_destroy(s);
    assert_int_equal(warning_count, 0);
}

static void test_the_thread_reads_in_a_run(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_POWER, 100);
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    assert_int_equal(wmi_sensing_interval_ns(s), 20000000);
    for (int run = 0; run < 3; run++) {
        wmi_sensing_begin(s);
        const int64_t from = now();
        made_wait(2); /* one of which began in it */
        wmi_sensing_end(s, from, now(), &r);
        check(&r, WMI_SENSOR_GPU_POWER, 100);
        if (run == 1) wmi_sensing_pause(s);
    }
    assert_true(wmi_sensing_cost(s) >= 0 && wmi_sensing_cost(s) < 1);
    assert_true(made.cpu >= 0);
    wmi_sensing_destroy(s);
}

static void test_a_long_run_is_read_at_both_its_ends(void **state) {
    (void)state;
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    made_hold(true);
    wmi_sensing_begin(s); /* the first: it may be long */
    made_hold(false);
    made_wait(1);
    wmi_sensing_pause(s);
    const struct {
        int64_t length_ns;
        int at_end, at_next_begin;
    } runs[] = {{1000, 0, 0}, {500000000, 1, 1}, {499999999, 0, 0}};
    for (int i = 0; i < 3; i++) {
        const int64_t to = now();
        made.main_calls = 0;
        wmi_sensing_end(s, to - runs[i].length_ns, to, &r);
        assert_int_equal(made.main_calls, runs[i].at_end);
        wmi_sensing_begin(s);
        assert_int_equal(made.main_calls, runs[i].at_end + runs[i].at_next_begin);
    }
    wmi_sensing_destroy(s);
}

/* ---- counters ---- */

static void check_used(double used, double expected) {
    if (expected != expected)
        assert_true(used != used);
    else
        assert_true(fabs(used - expected) < 1e-9);
}

static void test_how_far_a_counter_went(void **state) {
    (void)state;
    /* 2 a second until 10, then 4: at 9 it is 18, at 11 24 */
    const wmi_sensing_point p[] = {{1, 2}, {9, 18}, {11, 22}, {12, 26}, {20, 58}};
    check_used(wmi_sensing_used(p, 5, 1, 20, 1), 56);
    check_used(wmi_sensing_used(p, 5, 5, 16, 1), 42 - 10);
    check_used(wmi_sensing_used(p, 5, 10, 20, 1), 58 - 20);
    check_used(wmi_sensing_used(p, 5, 12, 22, 1), NAN); /* the last one is a fifth of it before the end */
    check_used(wmi_sensing_used(p, 5, 0, 20, 1), 58 - 0);
    check_used(wmi_sensing_used(p, 5, 1, 21, 1), 62 - 2); /* beyond both, a little */
    check_used(wmi_sensing_used(p, 5, 5, 16, 2), NAN);    /* less than ten steps */
    check_used(wmi_sensing_used(p, 1, 1, 20, 1), NAN);
    check_used(wmi_sensing_used(p + 1, 4, 1, 20, 1), NAN); /* its begin is not known */
    const wmi_sensing_point still[] = {{0, 5}, {10, 5}, {20, 5}}, back[] = {{0, 5}, {20, 4}};
    check_used(wmi_sensing_used(still, 3, 0, 20, 1), NAN);
    check_used(wmi_sensing_used(back, 2, 0, 20, 1), NAN);
}

/* A run of a quarter of a second, and more. */
static wmi_sensed long_enough(wmi_sensing *s) {
    wmi_sensed r;
    wmi_sensing_begin(s);
    const int64_t from = now();
    do made_wait(1);
    while (now() - from < 250000000);
    wmi_sensing_end(s, from, now(), &r);
    return r;
}

static void test_energy_of_a_run(void **state) {
    (void)state;
    made.step = 2;
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    const double before = 2.0 * made_calls();
    wmi_sensed r = long_enough(s);
    assert_int_equal(r.reason[WMI_SENSOR_CPU_ENERGY], WM_REASON_NONE);
    assert_true(r.value[WMI_SENSOR_CPU_ENERGY] > 0);
    assert_true(r.value[WMI_SENSOR_CPU_ENERGY] <= 2.0 * (made_calls() + 1) - before);
    pthread_mutex_lock(&made.lock);
    made.step = 0;
    pthread_mutex_unlock(&made.lock);
    made_wait(1);
    r = long_enough(s); /* a counter that stands still is not known to be 0 */
    check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_RESOLUTION);
    wmi_sensing_destroy(s);
}

/* ---- what fails ---- */

static void test_sensors_that_fail_are_null_from_there(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_CLOCK, 5);
    ops.sensors = WMI_SENSOR_BIT(GPU_CLOCK) | WMI_SENSOR_BIT(GPU_POWER);
    made_fail(WMI_SENSOR_GPU_POWER, WM_REASON_NO_SENSOR);
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    wmi_sensing_begin(s);
    made_wait(1);
    wmi_sensing_end(s, now(), now(), &r);
    check(&r, WMI_SENSOR_GPU_CLOCK, 5);
    check_null(&r, WMI_SENSOR_GPU_POWER, WM_REASON_NO_SENSOR);
    assert_int_equal(warning_count, 0); /* what never was there is no news */
    pthread_mutex_lock(&made.lock);
    made.fails_from = made.calls + 1;
    pthread_mutex_unlock(&made.lock);
    made_wait(1);
    for (int run = 0; run < 3; run++) {
        wmi_sensing_begin(s);
        made_wait(1);
        wmi_sensing_end(s, now(), now(), &r);
        check_null(&r, WMI_SENSOR_GPU_CLOCK, WM_REASON_DEVICE_LOST);
    }
    assert_string_equal(warnings, "gpu_clock_hz is not read any more: the device does not answer any more\n");
    wmi_sensing_destroy(s);
}

static void test_on_says_what_is_missing(void **state) {
    (void)state;
    made_fail(WMI_SENSOR_GPU_POWER, WM_REASON_NO_SENSOR);
    wmi_sensing *s = start(WMI_SENSING_ON, 0);
    wmi_sensed r;
    for (int run = 0; run < 2; run++) {
        wmi_sensing_begin(s);
        wmi_sensing_end(s, now(), now(), &r);
    }
    assert_string_equal(warnings, "gpu_power_w cannot be read: 'warpmeter doctor' says why\n");
    wmi_sensing_destroy(s);
}

static void test_a_backend_without_any_is_not_asked_again(void **state) {
    (void)state;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) made_fail((wmi_sensor)i, WM_REASON_NO_SENSOR);
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    const int calls = made_calls();
    assert_int_equal(wmi_sensing_interval_ns(s), 0);
    wmi_sensing_begin(s);
    wmi_sensing_end(s, now() - 600000000, now(), &r);
    assert_int_equal(made_calls(), calls);
    check_null(&r, WMI_SENSOR_GPU_CLOCK, WM_REASON_NO_SENSOR);
    check_null(&r, WMI_SENSOR_GPU_POWER, WM_REASON_NO_SENSOR);
    wmi_sensing_destroy(s);
}

/* ---- when ---- */

static void test_dear_readings_come_less_often(void **state) {
    (void)state;
    made.cost_ns = 5000000;
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    const int64_t every = wmi_sensing_interval_ns(s);
    assert_true(every == 0 || every >= 500000000); /* 0: the machine was busy meanwhile */
    wmi_sensing_destroy(s);
    s = start(WMI_SENSING_ON, 0);
    assert_int_equal(wmi_sensing_interval_ns(s), 20000000);
    wmi_sensing_destroy(s);
}

static void test_off_reads_what_is_wanted_and_no_more(void **state) {
    (void)state;
    wmi_sensed r;
    made_set(WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(POWER));
    assert_null(start(WMI_SENSING_OFF, 0));
    assert_null(start(WMI_SENSING_OFF, WMI_SENSOR_BIT(GPU_HEADROOM))); /* which is not there */
    assert_int_equal(made_calls(), 0);
    wmi_sensing *s = start(WMI_SENSING_OFF, WMI_SENSOR_BIT(GPU_THROTTLE));
    assert_false(wmi_sensing_tells(s));
    wmi_sensing_begin(s);
    made_wait(1);
    wmi_sensing_now(s, QUICK, &r);
    wmi_sensing_end(s, now(), now(), &r);
    check(&r, WMI_SENSOR_GPU_THROTTLE, WMI_THROTTLE(POWER));
    check_null(&r, WMI_SENSOR_GPU_CLOCK, WM_REASON_NOT_APPLICABLE);
    wmi_sensing_destroy(s);
    assert_int_equal(made.asked, WMI_SENSOR_BIT(GPU_THROTTLE));
    s = start(WMI_SENSING_AUTO, 0);
    assert_true(wmi_sensing_tells(s));
    wmi_sensing_destroy(s);
}

static void test_nothing_to_read_is_fine(void **state) {
    (void)state;
    wmi_sensed r;
    wm_reason why = WM_REASON_NONE;
    wmi_sensing_begin(NULL);
    wmi_sensing_end(NULL, 5, 7, &r);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) check_null(&r, (wmi_sensor)i, WM_REASON_NOT_APPLICABLE);
    wmi_sensing_pause(NULL);
    wmi_sensing_now(NULL, ~0u, &r);
    check_null(&r, WMI_SENSOR_GPU_CLOCK, WM_REASON_NO_SENSOR);
    assert_true(isnan(wmi_sensing_latest(NULL, WMI_SENSOR_GPU_CLOCK, 0, &why)));
    assert_int_equal(why, WM_REASON_NO_SENSOR);
    assert_int_equal(wmi_sensing_interval_ns(NULL), 0);
    assert_true(wmi_sensing_cost(NULL) == 0);
    assert_false(wmi_sensing_tells(NULL));
    wmi_sensing_destroy(NULL);
}

static void test_the_latest_is_read_anew_when_it_is_old(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_CLOCK, 1);
    wmi_sensing *s = start_without_thread();
    wm_reason why;
    const int calls = made_calls();
    made_set(WMI_SENSOR_GPU_CLOCK, 2);
    assert_true(wmi_sensing_latest(s, WMI_SENSOR_GPU_CLOCK, INT64_MAX, &why) == 1);
    assert_int_equal(made_calls(), calls);
    assert_true(wmi_sensing_latest(s, WMI_SENSOR_GPU_CLOCK, 0, &why) == 2);
    assert_int_equal(made_calls(), calls + 1);
    made_fail(WMI_SENSOR_GPU_CLOCK, WM_REASON_BACKEND);
    assert_true(isnan(wmi_sensing_latest(s, WMI_SENSOR_GPU_CLOCK, 0, &why)));
    assert_int_equal(why, WM_REASON_BACKEND);
    assert_true(isnan(wmi_sensing_latest(s, WMI_SENSOR_GPU_PSTATE, 0, &why)));
    assert_int_equal(why, WM_REASON_NO_SENSOR);
    wmi_sensing_destroy(s);
}

static void *let_go(void *user) {
    (void)user;
    made_hold(false);
    return NULL;
}

static void test_it_may_end_at_any_time(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        pthread_t helper;
        made_hold(true);
        wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
        wmi_sensing_begin(s);
        pthread_mutex_lock(&made.lock); /* until the thread is in the middle of a reading */
        while (made.waiting == 0) pthread_cond_wait(&made.changed, &made.lock);
        pthread_mutex_unlock(&made.lock);
        if (i == 1) wmi_sensing_pause(s);
        assert_int_equal(pthread_create(&helper, NULL, let_go, NULL), 0);
        wmi_sensing_destroy(s);
        pthread_join(helper, NULL);
        s = start(WMI_SENSING_AUTO, 0); /* never begun */
        wmi_sensing_destroy(s);
    }
}

/* Slow sensors and quick ones are read apart; each in its own time. */
static void test_slow_sensors_are_read_too(void **state) {
    (void)state;
    ops.sensors = WMI_SENSOR_BIT(GPU_CLOCK) | WMI_SENSOR_BIT(GPU_HEADROOM);
    made_set(WMI_SENSOR_GPU_CLOCK, 3);
    made_set(WMI_SENSOR_GPU_HEADROOM, 48);
    wmi_sensing *s = start(WMI_SENSING_AUTO, 0);
    wmi_sensed r;
    wmi_sensing_begin(s);
    made_wait(3);
    wmi_sensing_end(s, now(), now(), &r);
    check(&r, WMI_SENSOR_GPU_CLOCK, 3);
    check(&r, WMI_SENSOR_GPU_HEADROOM, 48);
    wmi_sensing_destroy(s);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(test_values_are_of_the_readings_in_a_run),
        TEST(test_a_run_without_a_reading_has_the_last_levels_and_no_power),
        TEST(test_the_thread_reads_in_a_run),
        TEST(test_a_long_run_is_read_at_both_its_ends),
        TEST(test_how_far_a_counter_went),
        TEST(test_energy_of_a_run),
        TEST(test_sensors_that_fail_are_null_from_there),
        TEST(test_on_says_what_is_missing),
        TEST(test_a_backend_without_any_is_not_asked_again),
        TEST(test_dear_readings_come_less_often),
        TEST(test_off_reads_what_is_wanted_and_no_more),
        TEST(test_nothing_to_read_is_fine),
        TEST(test_the_latest_is_read_anew_when_it_is_old),
        TEST(test_it_may_end_at_any_time),
        TEST(test_slow_sensors_are_read_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
