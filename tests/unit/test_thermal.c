/* Waiting until a GPU has cooled, with a made-up sensor and a clock that goes only while the sweep sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

#include "unit/benches.h"
#include "unit/made_sensors.h"

static int64_t clock_ns, slept;
static double heat_c;    /* that a run takes */
static double cooling_c; /* that a second gives back */
static int runs, waits;
static char lines[8192];
static int torn_down;

static int64_t made_now(void *user) {
    assert_ptr_equal(user, &clock_ns);
    return clock_ns;
}

static void made_sleep(void *user, int64_t ns) {
    assert_ptr_equal(user, &clock_ns);
    assert_true(ns > 0 && ns <= 500000000);
    clock_ns += ns;
    slept += ns;
    made_add(WMI_SENSOR_GPU_HEADROOM, cooling_c * (double)ns * 1e-9);
}

static void keep_line(void *user, wm_log_level level, const char *line) {
    (void)user;
    const size_t n = strlen(lines);
    if (level > WM_LOG_INFO || n >= sizeof lines) return;
    snprintf(lines + n, sizeof lines - n, "%s%s\n", level == WM_LOG_INFO ? "" : "warning: ", line);
}

static int count_of(const char *text) {
    int n = 0;
    for (const char *at = lines; (at = strstr(at, text)) != NULL; at++) n++;
    return n;
}

static void heat(wm_state *st) {
    (void)st;
    runs++;
    made_add(WMI_SENSOR_GPU_HEADROOM, -heat_c);
}

static void tear_down(wm_state *st) {
    (void)st;
    torn_down++;
}

typedef struct fixture {
    wm_session *session;
    wm_sweep *sweep;
    wm_table *table;
} fixture;

static int begin(void **state) {
    clock_ns = 1000000000;
    slept = 0;
    heat_c = cooling_c = 0;
    runs = waits = torn_down = 0;
    lines[0] = 0;
    return made_reset(state);
}

static fixture start(const char *const *argv, uint32_t sensors) {
    fixture f = {0};
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.log = keep_line;
    wm_benchmark b = bench_of("hot", heat, "--axis n=[1,2,3] --runs 4 --warmup 0");
    b.teardown = tear_down;
    assert_int_equal(wm_session_create(&opts, &f.session, NULL), WM_OK);
    f.sweep = make_sweep(f.session, &b, argv);
    made_use(f.sweep, sensors);
    f.sweep->thermal.now = made_now;
    f.sweep->thermal.sleep = made_sleep;
    f.sweep->thermal.time_user = &clock_ns;
    f.sweep->thermal.fresh_ns = 0; /* each step sees what the one before it did */
    return f;
}

#define HEADROOM WMI_SENSOR_BIT(GPU_HEADROOM)

static void run(fixture *f, wm_status expected) {
    wm_error err = WM_ERROR_INIT;
    const wm_status status = wm_sweep_run(f->sweep, &err);
    if (status != expected) fail_msg("%d, not %d: %s", status, expected, err.message);
    assert_int_equal(wm_session_table(f->session, &f->table, NULL), WM_OK);
}

static void finish(fixture *f) {
    wm_table_destroy(f->table);
    wm_sweep_destroy(f->sweep);
    wm_session_destroy(f->session);
}

static wm_value fact(const wm_table *t, const char *wanted) {
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        assert_int_equal(wm_table_context(t, i, &key, &v), WM_OK);
        if (!strcmp(key, wanted)) return v;
    }
    return wmi_null(WM_REASON_UNKNOWN);
}

/* ---- when it waits ---- */

static void test_a_cool_device_is_not_waited_for(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 11);
    fixture f = start(NULL, HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(runs, 12);
    assert_int_equal(slept, 0);
    assert_string_equal(fact(f.table, "thermal").as.str, "auto");
    assert_true(fact(f.table, "thermal_wait_c").as.f64 == 10);
    assert_true(fact(f.table, "thermal_cont_c").as.f64 == 20);
    assert_int_equal(fact(f.table, "thermal_timeout_ns").as.i64, 180000000000);
    assert_int_equal(fact(f.table, "thermal_waited_ns").as.i64, 0);
    finish(&f);
}

static void test_a_hot_one_is_waited_for(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 30);
    heat_c = 5;
    cooling_c = 2;
    /* 30 25 20 15 | 10: five seconds to 20; 20 15 | 10 and so on: every second run */
    fixture f = start(ARGS("--thermal", "manual", "--axis", "n=1", "--runs", "8", "--warmup", "2"), HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(runs, 10);
    assert_int_equal(slept, 3 * 5000000000); /* before the 5th, 7th and 9th */
    assert_int_equal(fact(f.table, "thermal_waited_ns").as.i64, slept);
    assert_string_equal(fact(f.table, "thermal").as.str, "manual");
    assert_true(f.sweep->thermal.cont_c == 20);
    finish(&f);
}

static void test_the_settings_are_those_given(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 5);
    cooling_c = 1;
    fixture f = start(ARGS("--thermal", "manual", "--thermal-wait", "5", "--thermal-cont", "8",
                           "--thermal-timeout", "3500ms"),
                      HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(slept, 3000000000);
    assert_true(fact(f.table, "thermal_wait_c").as.f64 == 5);
    assert_true(fact(f.table, "thermal_cont_c").as.f64 == 8);
    assert_int_equal(fact(f.table, "thermal_timeout_ns").as.i64, 3500000000);
    finish(&f);
}

static void test_waiting_is_said(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 3);
    cooling_c = 0.5; /* 34 s to 20 */
    fixture f = start(NULL, HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(count_of("waiting for the GPU to cool"), 4); /* 0, 10, 20, 30 s */
    assert_non_null(strstr(lines, "hot: waiting for the GPU to cool: 3 of 20 degrees left, for 0 s\n"));
    assert_non_null(strstr(lines, "hot: waiting for the GPU to cool: 8 of 20 degrees left, for 10 s\n"));
    assert_non_null(strstr(lines, "hot: the GPU has cooled: 20 degrees left, after 34 s\n"));
    finish(&f);
}

/* ---- what auto learns ---- */

/* From `cool` degrees on a run takes `heat`; where does the first wait go to? */
static double cont_after(double cool, double degrees, const char *count) {
    made_set(WMI_SENSOR_GPU_HEADROOM, cool);
    heat_c = degrees;
    cooling_c = 100;
    fixture f = start(ARGS("--axis", "n=1", "--runs", count), HEADROOM);
    run(&f, WM_OK);
    const double cont = f.sweep->thermal.cont_c;
    finish(&f);
    return cont;
}

static void test_auto_waits_longer_after_few_runs(void **state) {
    (void)state;
    assert_true(cont_after(30, 5, "5") == 23);   /* 30 25 20 15 | 10: four */
    assert_true(cont_after(30, 4, "6") == 20);   /* 30 26 22 18 14 | 10: five */
    assert_true(cont_after(60, 1, "51") == 20);  /* fifty */
    assert_true(cont_after(61, 1, "52") == 17);  /* fifty-one */
    assert_true(cont_after(15, 5, "2") == 20);   /* it never was cool: nothing is known */
    assert_true(cont_after(30, 20, "40") == 50); /* one run each, and no more than that */
}

static void test_auto_waits_shorter_after_many_runs(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 20);
    heat_c = 0.03125;
    cooling_c = 1;
    fixture f = start(ARGS("--axis", "n=1", "--runs", "2000"), HEADROOM);
    run(&f, WM_OK);
    assert_true(f.sweep->thermal.cont_c == 12);
    finish(&f);
    f = start(ARGS("--axis", "n=1", "--runs", "2000", "--thermal-wait", "14"), HEADROOM);
    run(&f, WM_OK);
    assert_true(f.sweep->thermal.cont_c == 15); /* above where it begins to wait */
    finish(&f);
}

/* ---- when it does not cool ---- */

static void check_hot_rows(const wm_table *t, size_t first) {
    for (size_t i = first; i < wm_table_rows(t); i++) {
        assert_string_equal(text_cell(t, i, "status"), "failed");
        assert_int_equal(cell(t, i, "mean").type, WM_NULL);
    }
}

static void test_manual_fails_when_the_time_is_up(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 8);
    fixture f = start(ARGS("--thermal", "manual", "--thermal-timeout", "60s"), HEADROOM);
    run(&f, WM_EHOT);
    assert_int_equal(runs, 0);
    assert_int_equal(slept, 60000000000); /* and no more for those after the first */
    check_hot_rows(f.table, 0);
    assert_int_equal(wm_table_rows(f.table), 3);
    const char *why = text_cell(f.table, 0, "reason");
    assert_non_null(strstr(why, "the GPU did not cool down in time: 8 degrees are left"));
    assert_non_null(strstr(why, "and 20 were waited for, 60 s long"));
    assert_non_null(strstr(why, "--thermal-timeout"));
    assert_non_null(strstr(why, "--thermal-cont"));
    assert_non_null(strstr(text_cell(f.table, 1, "reason"), "the GPU is still too hot: 8 degrees are left"));
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_sweep_outcome(f.sweep, &err), WM_EHOT);
    assert_string_equal(err.message,
                        "3 of 3 configurations of hot failed, 3 of them because the device did not "
                        "cool down in time");
    finish(&f);
}

static void test_others_are_measured_once_it_has_cooled(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 40);
    /* The first configuration waits for 60 s, with a reading every half second; the second finds it hot. */
    made.low_until =
        3 + 1 + 120 + 1; /* three when the sweep begins, before each configuration, and in the wait */
    fixture f = start(ARGS("--thermal", "manual", "--thermal-timeout", "60s"), HEADROOM);
    run(&f, WM_EHOT);
    assert_int_equal(runs, 4);
    assert_string_equal(text_cell(f.table, 0, "status"), "failed");
    assert_string_equal(text_cell(f.table, 1, "status"), "failed");
    assert_string_equal(text_cell(f.table, 2, "status"), "ok");
    assert_int_equal(torn_down, 1); /* the others were not set up */
    finish(&f);
}

static void test_auto_is_content_with_less(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 10);
    cooling_c = 0.0078125; /* 11.4 after 180 s, 12.8 after 360 */
    fixture f = start(ARGS("--axis", "n=1"), HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(slept, 512000000000); /* 14, the third, at 512 s */
    assert_true(f.sweep->thermal.cont_c == 14);
    finish(&f);

    begin(NULL);
    made_set(WMI_SENSOR_GPU_HEADROOM, 5);
    f = start(ARGS("--axis", "n=1"), HEADROOM);
    run(&f, WM_EHOT); /* 20, 17, 14, and 12 is the least */
    assert_int_equal(slept, 540000000000);
    assert_non_null(strstr(text_cell(f.table, 0, "reason"), "and 12 were waited for, 540 s long"));
    finish(&f);
}

/* ---- when it cannot be read ---- */

static void test_a_lost_device_switches_it_off(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 8);
    cooling_c = 1;
    made.fails_from = 5; /* while it waits */
    fixture f = start(ARGS("--state", "off"), HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(runs, 12);
    assert_string_equal(fact(f.table, "thermal").as.str, "off: the device does not answer any more");
    assert_int_equal(count_of("\nhot: thermal control is off: the device does not answer any more"), 1);
    for (size_t i = 0; i < wm_table_rows(f.table); i++)
        assert_string_equal(text_cell(f.table, i, "status"), "ok");
    finish(&f);

    begin(NULL);
    made.reason[WMI_SENSOR_GPU_HEADROOM] = WM_REASON_NO_SENSOR; /* from the start */
    f = start(NULL, HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(slept, 0);
    assert_string_equal(fact(f.table, "thermal").as.str,
                        "off: the device has no such sensor, or it cannot be read");
    finish(&f);
}

static void test_where_nothing_is_a_gpu(void **state) {
    (void)state;
    fixture f = start(NULL, 0);
    run(&f, WM_OK);
    assert_int_equal(fact(f.table, "thermal").type, WM_NULL);
    assert_int_equal(count_of("thermal"), 0);
    finish(&f);
    f = start(ARGS("--thermal", "manual"), 0); /* it was asked for */
    run(&f, WM_OK);
    assert_int_equal(
        count_of("warning: hot: thermal control is off: nothing that is measured tells how hot it is"), 1);
    assert_string_equal(fact(f.table, "thermal").as.str, "off: nothing that is measured tells how hot it is");
    finish(&f);
}

static void test_off_looks_at_nothing(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 1);
    fixture f = start(ARGS("--thermal", "off", "--state", "off"), HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(runs, 12);
    assert_int_equal(made.calls, 0);
    assert_string_equal(fact(f.table, "thermal").as.str, "off");
    finish(&f);
    f = start(ARGS("--profile"), HEADROOM);
    run(&f, WM_OK);
    assert_int_equal(made.calls, 0);
    finish(&f);
}

/* ---- while it waits ---- */

static bool third_time(void *user, const wm_wait *wait) {
    assert_ptr_equal(user, &waits);
    assert_int_equal(wait->struct_size, sizeof *wait);
    assert_true(wait->left_c == 8 + 0.5 * waits);
    assert_true(wait->wanted_c == 20);
    assert_int_equal(wait->waited_ns, 500000000 * waits);
    assert_int_equal(wait->timeout_ns, 180000000000 - wait->waited_ns);
    return ++waits < 3;
}

static void test_it_can_be_interrupted(void **state) {
    (void)state;
    made_set(WMI_SENSOR_GPU_HEADROOM, 8);
    cooling_c = 1;
    fixture f = start(NULL, HEADROOM);
    wm_step step = WM_STEP_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_sweep_on_wait(f.sweep, third_time, &waits);
    assert_false(wm_sweep_next(f.sweep, &step, &err));
    assert_int_equal(err.code, WM_EINTERRUPTED);
    assert_int_equal(waits, 3);
    assert_int_equal(slept, 1000000000);
    assert_false(wm_sweep_next(f.sweep, &step, &err)); /* for good */
    assert_int_equal(err.code, WM_EINTERRUPTED);
    assert_int_equal(waits, 3);
    assert_int_equal(wm_session_table(f.session, &f.table, NULL), WM_OK);
    assert_int_equal(fact(f.table, "thermal_waited_ns").as.i64, slept);
    finish(&f);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(test_a_cool_device_is_not_waited_for),
        TEST(test_a_hot_one_is_waited_for),
        TEST(test_the_settings_are_those_given),
        TEST(test_waiting_is_said),
        TEST(test_auto_waits_longer_after_few_runs),
        TEST(test_auto_waits_shorter_after_many_runs),
        TEST(test_manual_fails_when_the_time_is_up),
        TEST(test_others_are_measured_once_it_has_cooled),
        TEST(test_auto_is_content_with_less),
        TEST(test_a_lost_device_switches_it_off),
        TEST(test_where_nothing_is_a_gpu),
        TEST(test_off_looks_at_nothing),
        TEST(test_it_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
