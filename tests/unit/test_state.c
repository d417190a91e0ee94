/* The machine's state in tables, and runs that are run again because a clock was held down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cells.h"

#include <cmocka.h>

#include "base/intern.h"
#include "unit/benches.h"
#include "unit/made_sensors.h"

#define POWER    WMI_THROTTLE(POWER)
#define HOT      WMI_THROTTLE(HW_THERMAL)
#define THROTTLE WMI_SENSOR_BIT(GPU_THROTTLE)

static void check_null(wm_value v, wm_reason why) {
    assert_int_equal(v.type, WM_NULL);
    assert_int_equal(v.reason, why);
}

/* ---- sensors and bits ---- */

static void test_throttling_as_text(void **state) {
    (void)state;
    char text[WMI_THROTTLE_TEXT_MAX];
    assert_string_equal(wmi_throttle_text(0, text), "none");
    assert_string_equal(wmi_throttle_text(POWER, text), "power");
    assert_string_equal(wmi_throttle_text(POWER | HOT, text), "power,hw-thermal");
    assert_string_equal(wmi_throttle_text(~0u, text), "power,power-brake,thermal,hw-thermal,hw-slowdown");
}

static wmi_sensed sensed(double clock, double power, uint32_t bits) {
    wmi_sensed s;
    wmi_sensed_clear(&s, WM_REASON_NO_SENSOR);
    wmi_sensed_set(&s, WMI_SENSOR_GPU_CLOCK, clock);
    s.reason[WMI_SENSOR_GPU_POWER] = WM_REASON_RESOLUTION;
    if (power > 0) wmi_sensed_set(&s, WMI_SENSOR_GPU_POWER, power);
    wmi_sensed_set(&s, WMI_SENSOR_GPU_THROTTLE, bits);
    return s;
}

static void test_what_runs_add_up_to(void **state) {
    (void)state;
    wmi_state_summary sum;
    wmi_state_summary_init(&sum);
    assert_int_equal(sum.mean.reason[WMI_SENSOR_GPU_CLOCK], WM_REASON_NO_SAMPLES);
    const wmi_sensed runs[] = {sensed(10, 0, 0), sensed(20, 300, POWER), sensed(60, 100, HOT | POWER)};
    for (int i = 0; i < 3; i++) wmi_state_summary_add(&sum, &runs[i]);
    assert_int_equal(sum.runs, 3);
    assert_int_equal(sum.throttled, 2);
    assert_true(sum.mean.value[WMI_SENSOR_GPU_CLOCK] == 30);
    assert_true(sum.mean.value[WMI_SENSOR_GPU_POWER] == 200); /* of the two runs that have it */
    assert_int_equal(sum.n[WMI_SENSOR_GPU_POWER], 2);
    assert_int_equal(sum.mean.reason[WMI_SENSOR_GPU_POWER], WM_REASON_NONE);
    assert_int_equal((int)sum.mean.value[WMI_SENSOR_GPU_THROTTLE], POWER | HOT);
    assert_int_equal(sum.mean.reason[WMI_SENSOR_GPU_PSTATE], WM_REASON_NO_SENSOR);
    wmi_state_summary none; /* the reason is that of the first run */
    wmi_sensed lost = runs[0];
    wmi_state_summary_init(&none);
    wmi_state_summary_add(&none, &runs[0]);
    lost.reason[WMI_SENSOR_GPU_POWER] = WM_REASON_DEVICE_LOST;
    wmi_state_summary_add(&none, &lost);
    assert_int_equal(none.mean.reason[WMI_SENSOR_GPU_POWER], WM_REASON_RESOLUTION);
}

static void test_states_are_found_by_run(void **state) {
    (void)state;
    wmi_samples *samples = wmi_samples_create();
    assert_non_null(samples);
    assert_false(wmi_samples_has_states(samples));
    assert_null(wmi_samples_state_of(samples, 0, 0, 0, NULL));
    for (uint32_t config = 0; config < 5; config++)
        for (int32_t pass = 0; pass < 3; pass++)
            for (int32_t run = 0; run < 40; run++) {
                const wmi_run_state s = {config, pass, run, sensed(1000.0 * config + 100 * pass + run, 0, 0)};
                assert_int_equal(wmi_samples_state_add(samples, &s), WM_OK);
            }
    assert_true(wmi_samples_has_states(samples));
    for (uint32_t config = 0; config < 5; config++)
        for (int32_t pass = 0; pass < 3; pass++)
            for (int32_t run = 0; run < 40; run++)
                assert_true(
                    wmi_samples_state_of(samples, config, pass, run, NULL)->value[WMI_SENSOR_GPU_CLOCK] ==
                    1000.0 * config + 100 * pass + run);
    assert_null(wmi_samples_state_of(samples, 5, 0, 0, NULL));
    assert_null(wmi_samples_state_of(samples, 0, 3, 0, NULL));
    assert_null(wmi_samples_state_of(samples, 0, 0, 40, NULL));
    wmi_samples_destroy(samples);
}

/* Those between two readings are kept as one. */
static void test_runs_that_are_alike_are_found_each(void **state) {
    (void)state;
    static const int32_t runs[] = {0, 1, 2, 3, 5, 6, 7};
    static const double hz[] = {1, 1, 1, 2, 2, 2, 1};
    wmi_samples *samples = wmi_samples_create();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        wmi_run_state s = {0, 0, runs[i], sensed(hz[i], 0, 0)};
        s.sensed.at_ns = 1000 + runs[i];
        assert_int_equal(wmi_samples_state_add(samples, &s), WM_OK);
    }
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        assert_true(wmi_samples_state_of(samples, 0, 0, runs[i], NULL)->value[WMI_SENSOR_GPU_CLOCK] == hz[i]);
    assert_ptr_equal(wmi_samples_state_of(samples, 0, 0, 0, NULL),
                     wmi_samples_state_of(samples, 0, 0, 2, NULL));
    int32_t last = -1;
    assert_non_null(wmi_samples_state_of(samples, 0, 0, 1, &last));
    assert_int_equal(last, 2);
    assert_non_null(wmi_samples_state_of(samples, 0, 0, 5, &last));
    assert_int_equal(last, 6);
    assert_null(wmi_samples_state_of(samples, 0, 0, 4, &last));
    assert_int_equal(last, 4);
    assert_null(wmi_samples_state_of(samples, 0, 0, -1, NULL));
    assert_null(wmi_samples_state_of(samples, 0, 0, 8, NULL));
    wmi_samples_destroy(samples);
}

/* ---- rows ---- */

typedef struct made_up {
    wmi_samples *samples;
    uint32_t bench, config, root, metric;
} made_up;

static made_up made_up_samples(void) {
    made_up m = {.samples = wmi_samples_create()};
    const wmi_metric time = {.name = "time", .unit = "ns", .text = "", .timer = "tsc"};
    assert_non_null(m.samples);
    assert_int_equal(wmi_samples_bench(m.samples, "bench", &m.bench), WM_OK);
    assert_int_equal(wmi_samples_config(m.samples, m.bench, 0, NULL, NULL, &m.config), WM_OK);
    assert_int_equal(wmi_samples_node(m.samples, m.bench, UINT32_MAX, 0, &m.root), WM_OK);
    assert_int_equal(wmi_samples_metric(m.samples, &time, &m.metric), WM_OK);
    return m;
}

static void add_values(const made_up *m, const char *region, const int32_t *runs, size_t n) {
    uint32_t node;
    wmi_series *s;
    assert_int_equal(wmi_samples_node(m->samples, m->bench, m->root, wmi_intern(region), &node), WM_OK);
    assert_int_equal(wmi_samples_series(m->samples, m->config, node, m->metric, 0, &s), WM_OK);
    s->batch_min = s->batch_max = 1;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(wmi_series_add(s, runs[i] < 0 ? -runs[i] : runs[i], 5,
                                        runs[i] < 0 ? WM_REASON_NOT_COUNTED : WM_REASON_NONE),
                         WM_OK);
    s->entries = n;
    s->threads = 1;
}

static wm_table *reduced(const made_up *m, bool tag, bool samples) {
    const wmi_reduce_opts opts = {.stable_threshold = 0.02,
                                  .tag_throttled = tag,
                                  .clock_requested = wmi_null(WM_REASON_NOT_APPLICABLE)};
    wm_table *t = NULL;
    const wm_status status =
        samples ? wmi_samples_to_table(m->samples, &t, NULL) : wmi_reduce(m->samples, &opts, &t, NULL);
    assert_int_equal(status, WM_OK);
    return t;
}

static void test_rows_tell_of_their_own_runs(void **state) {
    (void)state;
    const made_up m = made_up_samples();
    const uint32_t bits[] = {0, POWER, POWER, 0, HOT, 0};
    for (int32_t run = 0; run < 6; run++) {
        const wmi_run_state s = {m.config, 0, run, sensed(10 * run, 0, bits[run])};
        assert_int_equal(wmi_samples_state_add(m.samples, &s), WM_OK);
    }
    add_values(&m, "all", (const int32_t[]){0, 1, 2, 3, 4, 5}, 6);
    add_values(&m, "first", (const int32_t[]){0, 1, 2}, 3); /* as many values as the next, of other runs */
    add_values(&m, "last", (const int32_t[]){3, 4, 5}, 3);
    add_values(&m, "some", (const int32_t[]){0, -1, 3}, 3); /* one has no value */
    add_values(&m, "none", (const int32_t[]){-1, -2}, 2);
    wm_table *t = reduced(&m, true, false);
    static const struct {
        const char *region;
        double clock;
        const char *throttle, *note;
        int throttled;
    } rows[] = {
        {"all", 25, "power,hw-thermal",
         "3 of 6 samples were taken while a clock was held down (power,hw-thermal)", 3},
        {"first", 10, "power", "2 of 3 samples were taken while a clock was held down (power)", 2},
        {"last", 40, "hw-thermal", "1 of 3 samples were taken while a clock was held down (hw-thermal)", 1},
        {"some", 15, "none", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t row = find_row(t, rows[i].region, "time", NULL);
        assert_true(number_cell(t, row, "gpu_clock_hz") == rows[i].clock);
        assert_string_equal(text_cell(t, row, "gpu_throttle"), rows[i].throttle);
        assert_string_equal(text_cell(t, row, "note"), rows[i].note);
        assert_true(number_cell(t, row, "throttled") == rows[i].throttled);
        check_null(cell(t, row, "gpu_power_w"), WM_REASON_RESOLUTION);
        check_null(cell(t, row, "cpu_clock_hz"), WM_REASON_NO_SENSOR);
    }
    const size_t none = find_row(t, "none", "time", NULL);
    assert_int_equal(cell(t, none, "gpu_clock_hz").type, WM_NULL);
    wm_table_destroy(t);
    t = reduced(&m, false, false); /* --throttled keep: counted, but no note */
    const size_t all = find_row(t, "all", "time", NULL);
    assert_string_equal(text_cell(t, all, "note"), "");
    assert_true(number_cell(t, all, "throttled") == 3);
    wm_table_destroy(t);
    t = reduced(&m, true, true);
    assert_int_equal(wm_table_rows(t), 6 + 3 + 3 + 3 + 2);
    for (size_t i = 0; i < wm_table_rows(t); i++) {
        const int run = (int)number_cell(t, i, "run");
        assert_true(number_cell(t, i, "gpu_clock_hz") == 10 * run);
        assert_string_equal(text_cell(t, i, "gpu_throttle"), bits[run] == 0       ? "none"
                                                             : bits[run] == POWER ? "power"
                                                                                  : "hw-thermal");
        check_null(cell(t, i, "gpu_power_w"), WM_REASON_RESOLUTION);
    }
    wm_table_destroy(t);
    wmi_samples_destroy(m.samples);
}

/* Runs of which the same is known, in any order, some of several values, and one of which nothing is. */
static void test_samples_have_the_state_of_their_runs(void **state) {
    (void)state;
    static const int32_t runs[] = {0, 0, 1, 2, 2, 3, 4, 2, 1, 3, 0, 5, 5};
    static const double hz[] = {7, 7, 7, 9, 0, 9}; /* by run */
    const made_up m = made_up_samples();
    for (int32_t run = 0; run < 6; run++) {
        const wmi_run_state s = {m.config, 0, run, sensed(hz[run], 0, run < 3 ? HOT : 0)};
        if (run != 4) assert_int_equal(wmi_samples_state_add(m.samples, &s), WM_OK);
    }
    add_values(&m, "all", runs, sizeof runs / sizeof *runs);
    wm_table *t = reduced(&m, true, true);
    assert_int_equal(wm_table_rows(t), sizeof runs / sizeof *runs);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        assert_true(number_cell(t, i, "run") == runs[i]);
        if (runs[i] == 4) {
            assert_int_equal(cell(t, i, "gpu_clock_hz").type, WM_NULL);
            continue;
        }
        assert_true(number_cell(t, i, "gpu_clock_hz") == hz[runs[i]]);
        assert_string_equal(text_cell(t, i, "gpu_throttle"), runs[i] < 3 ? "hw-thermal" : "none");
    }
    wm_table_destroy(t);
    wmi_samples_destroy(m.samples);
}

static void test_without_states_there_is_nothing_to_tell(void **state) {
    (void)state;
    const made_up m = made_up_samples();
    add_values(&m, "all", (const int32_t[]){0, 1}, 2);
    for (int samples = 0; samples < 2; samples++) {
        wm_table *t = reduced(&m, true, samples == 1);
        for (int i = 0; i < WMI_SENSOR_COUNT; i++)
            check_null(cell(t, 0, wmi_sensor_name((wmi_sensor)i)), WM_REASON_NOT_APPLICABLE);
        wm_table_destroy(t);
    }
    wmi_samples_destroy(m.samples);
}

/* ---- whole sweeps ---- */

static void log_nothing(wm_state *st) { (void)st; }

static const uint32_t *script; /* [script_count] bits, call by call; 0 after */
static size_t script_count, calls;
static bool fails;

static int begin(void **state) {
    script = NULL;
    script_count = calls = 0;
    fails = false;
    return made_reset(state);
}

static void scripted(wm_state *st) {
    made.cost_ns = 0; /* the thread was not begun */
    made_set(WMI_SENSOR_GPU_THROTTLE, calls < script_count ? script[calls] : 0);
    wm_set_time_ns(st, NULL, 100.0 + (double)calls);
    if (fails) wm_fail(st, "broke");
    calls++;
}

/* With readings too dear for the thread, the only ones are those at the ends of runs. */
static wm_sweep *scripted_sweep(wm_session *s, const char *const *argv, const uint32_t *bits, size_t n) {
    const wm_benchmark b =
        bench_of("scripted", scripted, "--runs 3 --warmup 0 --throttled discard --thermal off");
    wm_sweep *sweep = make_sweep(s, &b, argv);
    made_use(sweep, THROTTLE);
    made.cost_ns = 21000000;
    script = bits;
    script_count = n;
    calls = 0;
    return sweep;
}
#define BITS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

static wm_table *scripted_table(const char *const *argv, const uint32_t *bits, size_t n, bool samples) {
    wm_session *s = make_session();
    wm_table *t = NULL;
    wm_sweep *sweep = scripted_sweep(s, argv, bits, n);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    assert_int_equal(samples ? wm_session_samples(s, &t, NULL) : wm_session_table(s, &t, NULL), WM_OK);
    wm_session_destroy(s);
    return t;
}

static void check_samples(const wm_table *t, const double *values, size_t n) {
    assert_int_equal(wm_table_rows(t), n);
    for (size_t i = 0; i < n; i++) {
        if (values[i] > 0)
            assert_true(number_cell(t, i, "value") == values[i]);
        else
            check_null(cell(t, i, "value"), WM_REASON_THROTTLED);
    }
}

static void test_a_throttled_run_is_run_again(void **state) {
    (void)state;
    wm_table *t = scripted_table(NULL, BITS(0, POWER, 0, 0), true);
    assert_int_equal(calls, 4);
    check_samples(t, (const double[]){100, 102, 103}, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(number_cell(t, (size_t)i, "run") == i);
        assert_string_equal(text_cell(t, (size_t)i, "gpu_throttle"), "none"); /* of the attempt that counts */
    }
    wm_table_destroy(t);
    t = scripted_table(NULL, BITS(POWER, HOT, 0, 0, POWER, 0), false);
    assert_int_equal(calls, 6);
    assert_true(number_cell(t, 0, "samples") == 3);
    assert_true(fabs(number_cell(t, 0, "mean") - (102 + 103 + 105) / 3.0) < 1e-9);
    assert_true(number_cell(t, 0, "throttled") == 0);
    assert_string_equal(text_cell(t, 0, "note"), "");
    wm_table_destroy(t);
}

static void test_after_three_attempts_there_is_no_value(void **state) {
    (void)state;
    wm_table *t = scripted_table(NULL, BITS(0, POWER, POWER, POWER, POWER, 0), true);
    assert_int_equal(calls, 6);
    check_samples(t, (const double[]){100, 0, 105}, 3);
    assert_string_equal(text_cell(t, 1, "reason"), "throttled");
    assert_string_equal(text_cell(t, 1, "gpu_throttle"), "power");
    wm_table_destroy(t);
    t = scripted_table(NULL, BITS(POWER, POWER, POWER, POWER, POWER, POWER, POWER, POWER, POWER), false);
    assert_int_equal(calls, 9);
    assert_string_equal(text_cell(t, 0, "status"), "missing");
    check_null(cell(t, 0, "mean"), WM_REASON_THROTTLED);
    wm_table_destroy(t);
}

static void test_steps_say_which_attempt_it_is(void **state) {
    (void)state;
    wm_session *s = make_session();
    wm_sweep *sweep = scripted_sweep(s, ARGS("--warmup", "1"), BITS(HOT, POWER, POWER, 0, 0, HOT, 0));
    static const int expected[][2] = {{-1, 0}, {0, 0}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {2, 1}};
    wm_step step = WM_STEP_INIT;
    size_t n = 0;
    for (; wm_sweep_next(sweep, &step, NULL); n++) {
        assert_true(n < 7);
        assert_int_equal(step.run, expected[n][0]); /* a warm-up run may be throttled */
        assert_int_equal(step.attempt, expected[n][1]);
        wm_step_call(&step);
        assert_int_equal(wm_sweep_done(sweep, &step, WM_OK, NULL, NULL), WM_OK);
    }
    assert_int_equal(n, 7);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void test_discarding_goes_with_every_order(void **state) {
    (void)state;
    static const char *const orders[] = {"sequential", "interleaved", "random"};
    for (int i = 0; i < 3; i++) {
        wm_table *t = scripted_table(ARGS("--axis", "n=[1,2,3]", "--order", orders[i]),
                                     BITS(POWER, 0, POWER, POWER, 0, 0, 0, HOT, 0), false);
        assert_int_equal(calls, 9 + 4);
        assert_int_equal(wm_table_rows(t), 3);
        for (size_t row = 0; row < 3; row++) {
            assert_true(number_cell(t, row, "samples") == 3);
            assert_string_equal(text_cell(t, row, "status"), "ok");
        }
        wm_table_destroy(t);
    }
}

static void test_stop_rules_see_runs_that_count(void **state) {
    (void)state;
    /* Four runs at least; six calls, since two are discarded. */
    wm_table *t = scripted_table(ARGS("--min-runs", "4", "--max-runs", "8", "--max-noise", "50%"),
                                 BITS(0, POWER, 0, POWER, 0, 0), false);
    assert_int_equal(calls, 6);
    assert_true(number_cell(t, 0, "samples") == 4);
    assert_string_equal(text_cell(t, 0, "stop_reason"), "max-noise");
    wm_table_destroy(t);
}

/* Only runs in which times are taken are run again. */
static void test_counters_are_read_all_the_same(void **state) {
    (void)state;
    wm_session *s = make_session();
    wm_sweep *sweep = scripted_sweep(s, ARGS("--metrics", "time,cpu_time"), BITS(0, 0, 0, HOT, HOT, HOT));
    wm_table *t = NULL;
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    assert_int_equal(calls, 6);
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    for (size_t i = 0; i < wm_table_rows(t); i++) assert_true(number_cell(t, i, "samples") == 3);
    assert_string_equal(text_cell(t, find_row(t, "scripted", "time", NULL), "note"), "");
    assert_string_equal(text_cell(t, find_row(t, "scripted", "cpu_time", NULL), "note"),
                        "3 of 3 samples were taken while a clock was held down (hw-thermal)");
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void test_a_failure_is_not_run_again(void **state) {
    (void)state;
    wm_session *s = make_session();
    wm_sweep *sweep = scripted_sweep(s, NULL, BITS(POWER, POWER, POWER));
    fails = true;
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_EFAILED);
    assert_int_equal(calls, 1);
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static bool warns(const wm_table *t, const char *text) {
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!strncmp(key, "warning", 7) && v.type == WM_STR && strstr(v.as.str, text)) return true;
    }
    return false;
}

static void test_discarding_where_nothing_can_be_told(void **state) {
    (void)state;
    made.reason[WMI_SENSOR_GPU_THROTTLE] = WM_REASON_NO_SENSOR;
    wm_session *s = make_session();
    wm_table *t = NULL;
    const wm_benchmark b = bench_of("scripted", log_nothing, "--runs 2 --throttled discard");
    wm_sweep *sweep = make_sweep(s, &b, NULL);
    made_use(sweep, THROTTLE);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_true(warns(t, "nothing here tells whether a clock is held down"));
    wm_table_destroy(t);
    wm_session_destroy(s);
}

/* A sensor that never changes, read by the thread. */
static wm_table *steady_table(const char *const *argv) {
    wm_session *s = make_session();
    wm_table *t = NULL;
    const wm_benchmark b = bench_of("steady", log_nothing, "--runs 4 --warmup 0");
    wm_sweep *sweep = make_sweep(s, &b, argv);
    made_use(sweep, THROTTLE | WMI_SENSOR_BIT(GPU_CLOCK));
    made_set(WMI_SENSOR_GPU_THROTTLE, POWER);
    made_set(WMI_SENSOR_GPU_CLOCK, 1.5e9);
    assert_int_equal(wm_sweep_run(sweep, NULL), WM_OK);
    wm_sweep_destroy(sweep);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    wm_session_destroy(s);
    return t;
}

static bool has_fact(const wm_table *t, const char *wanted) {
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!strcmp(key, wanted)) return true;
    }
    return false;
}

static void test_tag_keep_and_off(void **state) {
    (void)state;
    wm_table *t = steady_table(NULL);
    assert_true(number_cell(t, 0, "gpu_clock_hz") == 1.5e9);
    assert_string_equal(text_cell(t, 0, "gpu_throttle"), "power");
    assert_string_equal(text_cell(t, 0, "note"),
                        "4 of 4 samples were taken while a clock was held down (power)");
    assert_true(number_cell(t, 0, "throttled") == 4);
    assert_true(has_fact(t, "state_interval_ns"));
    wm_table_destroy(t);
    t = steady_table(ARGS("--throttled", "keep"));
    assert_string_equal(text_cell(t, 0, "note"), "");
    assert_true(number_cell(t, 0, "throttled") == 4);
    wm_table_destroy(t);
    t = steady_table(ARGS("--state", "off"));
    check_null(cell(t, 0, "gpu_clock_hz"), WM_REASON_NOT_APPLICABLE);
    check_null(cell(t, 0, "throttled"), WM_REASON_NOT_APPLICABLE);
    assert_false(has_fact(t, "state_interval_ns"));
    wm_table_destroy(t);
    t = scripted_table(ARGS("--state", "off"), BITS(POWER, 0), false); /* discards without saying more */
    assert_int_equal(calls, 4);
    check_null(cell(t, 0, "gpu_throttle"), WM_REASON_NOT_APPLICABLE);
    wm_table_destroy(t);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup(f, begin)
    const struct CMUnitTest tests[] = {
        TEST(test_throttling_as_text),
        TEST(test_what_runs_add_up_to),
        TEST(test_states_are_found_by_run),
        TEST(test_runs_that_are_alike_are_found_each),
        TEST(test_rows_tell_of_their_own_runs),
        TEST(test_samples_have_the_state_of_their_runs),
        TEST(test_without_states_there_is_nothing_to_tell),
        TEST(test_a_throttled_run_is_run_again),
        TEST(test_after_three_attempts_there_is_no_value),
        TEST(test_steps_say_which_attempt_it_is),
        TEST(test_discarding_goes_with_every_order),
        TEST(test_stop_rules_see_runs_that_count),
        TEST(test_counters_are_read_all_the_same),
        TEST(test_a_failure_is_not_run_again),
        TEST(test_discarding_where_nothing_can_be_told),
        TEST(test_tag_keep_and_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
