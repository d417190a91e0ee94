/* From a device's records and late readings to rows, with a backend that hands over what the
 * test says. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/intern.h"
#include "session/thread.h"
#include "unit/cells.h"

#include <cmocka.h>

/* ---- a backend of the test's own ---- */

static struct {
    wmi_records records;
    wmi_readings readings;
    size_t per_drain; /* records handed over at a time; 0: all */
} device;

static wm_status device_drain(void *self, wmi_drained *out, wm_error *err) {
    (void)self;
    (void)err;
    const size_t n =
        device.per_drain && device.per_drain < device.records.n ? device.per_drain : device.records.n;
    for (size_t i = 0; i < n; i++) assert_true(wmi_records_add(&out->records, &device.records.v[i]));
    for (size_t i = n; i < device.records.n; i++) device.records.v[i - n] = device.records.v[i];
    device.records.n -= n;
    out->more = device.records.n > 0;
    for (size_t i = 0; i < device.readings.n; i++)
        assert_true(wmi_readings_add(&out->readings, device.readings.v[i]));
    device.readings.n = 0;
    return WM_OK;
}
static const wmi_backend_ops ops = {.name = "device", .device = true, .drain = device_drain};

enum {
    TIME,
    UNION,
    COUNT,
    LATENCY,
    GAP,
    FIRST,
    COPY_TIME,
    COPY_BYTES,
    SUM,
    WEIGHTED,
    LARGEST,
    ONE,
    USER,
    METRICS
};
static const wmi_metric metrics[METRICS] = {
    [TIME] = {.name = "kernel_time", .unit = "ns", .of = WMI_OF_KERNEL_TIME},
    [UNION] = {.name = "kernel_union", .unit = "ns", .of = WMI_OF_KERNEL_UNION},
    [COUNT] = {.name = "kernel_count", .unit = "", .of = WMI_OF_KERNEL_COUNT},
    [LATENCY] = {.name = "launch_latency", .unit = "ns", .of = WMI_OF_LAUNCH_LATENCY},
    [GAP] = {.name = "kernel_gap", .unit = "ns", .of = WMI_OF_KERNEL_GAP},
    [FIRST] = {.name = "first_kernel_time", .unit = "ns", .of = WMI_OF_FIRST_TIME},
    [COPY_TIME] = {.name = "copy_time", .unit = "ns", .of = WMI_OF_COPY_TIME},
    [COPY_BYTES] = {.name = "copy_bytes", .unit = "B", .of = WMI_OF_COPY_BYTES},
    [SUM] = {.name = "total", .unit = "", .combine = WMI_COMBINE_SUM},
    [WEIGHTED] = {.name = "share", .unit = "%", .combine = WMI_COMBINE_WEIGHTED},
    [LARGEST] = {.name = "largest", .unit = "", .combine = WMI_COMBINE_MAX},
    [ONE] = {.name = "one", .unit = "", .combine = WMI_COMBINE_ONE},
    [USER] = {.name = "user", .unit = "", .combine = WMI_COMBINE_USER},
};

static double last_of(void *user, const char *metric, const double *values, const double *weights,
                      size_t count) {
    assert_string_equal(metric, "user");
    assert_true(weights[0] > 0);
    *(size_t *)user = count;
    return values[count - 1];
}

/* ---- a session around it ---- */

typedef struct fixture {
    wm_session *s;
    wmi_measure m;
    wmi_gauge gauges[METRICS];
    uint32_t numbers[METRICS];
    wmi_joint_pass passes[2];
    uint32_t bench, config;
    size_t user_count;
    wm_table *t;
} fixture;

static fixture *start(void) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(wm_session_create(NULL, &f->s, NULL), WM_OK);
    for (uint32_t i = 0; i < METRICS; i++) {
        wmi_metric about = metrics[i];
        about.text = about.backend = about.timer = "";
        wmi_gauge *g = &f->gauges[i];
        g->about = about;
        assert_int_equal(wmi_samples_metric(f->s->samples, &about, &g->metric), WM_OK);
        g->local = f->numbers[i] = i;
        g->pass = about.of == WMI_OF_NONE;
    }
    f->passes[1] = (wmi_joint_pass){.disturbs = true, .deferred = true};
    f->m = (wmi_measure){.gauges = f->gauges,
                         .gauge_count = METRICS,
                         .source_count = 1,
                         .passes = f->passes,
                         .pass_count = 2,
                         .time = -1,
                         .time_sum = -1,
                         .has_device = true,
                         .device_clean = true,
                         .combine_with = last_of,
                         .combine_user = &f->user_count};
    f->m.sources[0] = (wmi_source){.ops = &ops, .self = f, .gauges = f->numbers, .count = METRICS};
    wmi_rows_how how = {.stable_threshold = 0.02};
    assert_int_equal(wmi_session_bench(f->s, "f", &how, &f->bench, NULL), WM_OK);
    assert_int_equal(wmi_samples_config(f->s->samples, f->bench, 0, NULL, NULL, &f->config), WM_OK);
    return f;
}

static void begin(fixture *f, int32_t pass) {
    assert_int_equal(wmi_run_claim(NULL), WM_OK);
    assert_int_equal(wmi_run_begin(f->s, &f->m, pass, NULL), WM_OK);
    wmi_thread_begin(wmi_thread_self(), WMI_ROOT_NAME);
}

static void end_how(fixture *f, int32_t pass, int32_t run, bool later) {
    wmi_thread_end(wmi_thread_self(), WMI_ROOT_NAME);
    wmi_run_end(f->s);
    const wmi_run_place place = {
        .bench = f->bench, .config = f->config, .run = run, .pass = pass, .later = later};
    assert_int_equal(wmi_run_fold(f->s, &f->m, &place, NULL, 0, NULL), WM_OK);
}

static void end(fixture *f, int32_t pass, int32_t run) { end_how(f, pass, run, false); }

static void finish(fixture *f) {
    wm_table_destroy(f->t);
    wm_session_destroy(f->s);
    wmi_readings_free(&f->m.deferred.readings);
    free(f->m.deferred.v);
    wmi_pending_drop(&f->m.pending);
    free(f->m.pending.v);
    wmi_records_free(&device.records);
    wmi_readings_free(&device.readings);
    device.per_drain = 0;
    free(f);
}

static void kernel_at(uint64_t entry, const char *name, int64_t begin_ns, int64_t end_ns, wm_reason reason,
                      unsigned flags) {
    const wmi_record r = {.entry = entry,
                          .begin_ns = begin_ns,
                          .end_ns = end_ns,
                          .launch_ns = begin_ns - 7,
                          .run = wmi_run_number(),
                          .plain = wmi_intern(name),
                          .device = wmi_intern("Fake GPU"),
                          .reason = (uint8_t)reason,
                          .flags = (uint8_t)flags};
    assert_true(wmi_records_add(&device.records, &r));
}

/* A kernel of the calling thread. */
static void kernel(const char *name, int64_t begin_ns, int64_t end_ns) {
    kernel_at(wmi_launch_entry(WMI_SCOPE_PROCESS), name, begin_ns, end_ns, WM_REASON_NONE, 0);
}

static void copy(int64_t ns, uint64_t bytes) {
    const wmi_record r = {.entry = wmi_launch_entry(WMI_SCOPE_PROCESS),
                          .run = wmi_run_number(),
                          .end_ns = ns,
                          .bytes = bytes,
                          .kind = WMI_RECORD_COPY};
    assert_true(wmi_records_add(&device.records, &r));
}

static const wm_table *table(fixture *f) {
    wm_table_destroy(f->t);
    assert_int_equal(wm_session_table(f->s, &f->t, NULL), WM_OK);
    return f->t;
}

static double value(fixture *f, const char *region, int metric) {
    const size_t row = find_row(table(f), region, metrics[metric].name, NULL);
    return row == SIZE_MAX ? -1 : number_cell(f->t, row, "mean");
}

/* Not cmocka's own, to which NaN equals everything. */
static void check_number(double have, double want) {
    if (!(fabs(have - want) <= 1e-9 * fabs(want))) fail_msg("%g, not %g", have, want);
}

static void check_null(fixture *f, const char *region, int metric, wm_reason why) {
    const size_t row = find_row(table(f), region, metrics[metric].name, NULL);
    assert_true(row != SIZE_MAX);
    const wm_value v = cell(f->t, row, "mean");
    assert_int_equal(v.type, WM_NULL);
    assert_int_equal(v.reason, why);
}

/* ---- records ---- */

static void test_times_of_a_region_and_those_in_it(void **state) {
    (void)state;
    fixture *f = start();
    device.per_drain = 2; /* handed over piece by piece */
    begin(f, 0);
    wm_begin("outer");
    kernel("a", 100, 110);
    wm_begin("inner");
    kernel("b", 105, 115); /* overlaps a */
    kernel("b", 130, 140);
    wm_end("inner");
    copy(3, 4096);
    wm_end("outer");
    wm_begin("empty");
    wm_end("empty");
    end(f, 0, 0);
    check_number(value(f, "outer", TIME), 30);
    check_number(value(f, "outer", UNION), 25);
    check_number(value(f, "outer", COUNT), 3);
    check_number(value(f, "outer", LATENCY), 7);
    check_number(value(f, "outer", GAP), 15);
    check_number(value(f, "outer", COPY_TIME), 3);
    check_number(value(f, "outer", COPY_BYTES), 4096);
    check_number(value(f, "outer/inner", TIME), 20);
    check_number(value(f, "outer/inner", UNION), 20);
    check_number(value(f, "outer/inner", COPY_BYTES), 0);
    check_number(value(f, "empty", COUNT), 0);
    check_null(f, "empty", TIME, WM_REASON_NO_KERNEL);
    check_null(f, "outer", FIRST, WM_REASON_NOT_APPLICABLE);
    const size_t row = find_row(f->t, "outer", "kernel_time", NULL);
    assert_string_equal(text_cell(f->t, row, "kernel"), "a, b");
    check_number(number_cell(f->t, row, "kernels"), 3);
    assert_string_equal(text_cell(f->t, row, "device"), "Fake GPU");
    finish(f);
}

static void test_runs_differ(void **state) {
    (void)state;
    fixture *f = start();
    for (int run = 0; run < 3; run++) {
        begin(f, 0);
        wm_begin("r");
        for (int i = 0; i < run; i++) kernel("k", 10 * i, 10 * i + 4);
        wm_end("r");
        end(f, 0, run);
    }
    check_number(value(f, "r", COUNT), 1);
    const size_t row = find_row(table(f), "r", "kernel_time", NULL);
    check_number(number_cell(f->t, row, "mean"), 6); /* of 4 and 8: the run without has none */
    check_number(number_cell(f->t, row, "samples"), 2);
    finish(f);
}

static void test_what_is_no_steady_state(void **state) {
    (void)state;
    fixture *f = start();
    begin(f, 0);
    wm_begin("r");
    const uint64_t entry = wmi_launch_entry(WMI_SCOPE_PROCESS);
    kernel_at(entry, "k", 0, 1000, WM_REASON_NONE, WMI_RECORD_FIRST);
    kernel_at(entry, "k", 2000, 2010, WM_REASON_NONE, 0);
    kernel_at(entry, "ignored", 3000, 3010, WM_REASON_NONE, WMI_RECORD_IGNORED);
    wm_end("r");
    wm_begin("lost");
    kernel_at(wmi_launch_entry(WMI_SCOPE_PROCESS), "k", 0, 0, WM_REASON_NO_RECORD, 0);
    wm_end("lost");
    end(f, 0, 0);
    check_null(f, "r", TIME, WM_REASON_FIRST_LAUNCH);
    check_number(value(f, "r", FIRST), 1000);
    check_number(value(f, "r", COUNT), 2);
    check_null(f, "lost", TIME, WM_REASON_NO_RECORD);
    check_number(value(f, "lost", COUNT), 1);
    finish(f);
}

/* Nothing says how much a graph did of which no record came, nor a launch that was not followed. */
static void test_what_is_not_known(void **state) {
    (void)state;
    fixture *f = start();
    begin(f, 0);
    wm_begin("graph");
    kernel("k", 0, 10);
    copy(3, 4096);
    kernel_at(wmi_launch_entry(WMI_SCOPE_PROCESS), "", 0, 0, WM_REASON_NO_RECORD, WMI_RECORD_GRAPH);
    wm_end("graph");
    wm_begin("r");
    kernel("k", 20, 30);
    copy(3, 4096);
    wm_end("r");
    end(f, 0, 0);
    for (int i = TIME; i <= COPY_BYTES; i++) check_null(f, "graph", i, WM_REASON_NO_RECORD);
    check_number(value(f, "r", COUNT), 1);
    check_number(value(f, "r", COPY_BYTES), 4096);

    begin(f, 0);
    wm_begin("other");
    kernel("k", 40, 50);
    kernel_at(WMI_AMBIGUOUS_ENTRY, "", 0, 0, WM_REASON_NO_RECORD, 0);
    wm_end("other");
    end(f, 0, 1);
    for (int i = TIME; i <= COPY_BYTES; i++) check_null(f, "other", i, WM_REASON_NO_RECORD);
    finish(f);
}

static void test_copies_that_may_be_anybodys(void **state) {
    (void)state;
    const wmi_record r = {.entry = WMI_AMBIGUOUS_ENTRY, .end_ns = 5, .bytes = 64, .kind = WMI_RECORD_COPY};
    fixture *f = start();
    begin(f, 0);
    wm_begin("r");
    kernel("k", 0, 10);
    copy(3, 4096);
    assert_true(wmi_records_add(&device.records, &r));
    wm_end("r");
    end(f, 0, 0);
    check_null(f, "r", COPY_TIME, WM_REASON_AMBIGUOUS);
    check_null(f, "r", COPY_BYTES, WM_REASON_AMBIGUOUS);
    check_number(value(f, "r", COUNT), 1);
    check_number(value(f, "r", TIME), 10);
    finish(f);
}

/* ---- whose launch is it ---- */

typedef struct worker {
    wmi_scope scope;
    bool in_region;
    uint64_t entry;
    pthread_barrier_t *ready, *go;
} worker;

static void *work(void *arg) {
    worker *w = arg;
    if (w->in_region) wm_begin("worker");
    if (w->ready) {
        pthread_barrier_wait(w->ready);
        pthread_barrier_wait(w->go);
    }
    w->entry = wmi_launch_entry(w->scope);
    if (w->in_region) wm_end("worker");
    return NULL;
}

static uint64_t entry_from_thread(wmi_scope scope, bool in_region) {
    worker w = {scope, in_region, 0, NULL, NULL};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return w.entry;
}

static void test_launches_from_threads(void **state) {
    (void)state;
    fixture *f = start();
    assert_true(wmi_launch_entry(WMI_SCOPE_PROCESS) == WMI_NO_ENTRY);
    begin(f, 0);
    const uint64_t root = wmi_launch_entry(WMI_SCOPE_PROCESS);
    assert_false(wmi_entry_in_region(root));
    assert_true(entry_from_thread(WMI_SCOPE_PROCESS, false) == root);
    assert_true(entry_from_thread(WMI_SCOPE_THREAD, false) == WMI_NO_ENTRY);
    wm_begin("r");
    const uint64_t region = wmi_launch_entry(WMI_SCOPE_THREAD);
    assert_true(wmi_entry_in_region(region));
    assert_true(entry_from_thread(WMI_SCOPE_PROCESS, false) == region);
    assert_true(entry_from_thread(WMI_SCOPE_THREAD, false) == WMI_NO_ENTRY);
    assert_true(entry_from_thread(WMI_SCOPE_THREAD, true) != region);

    pthread_barrier_t ready, go;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&go, NULL, 2);
    worker w = {WMI_SCOPE_PROCESS, true, 0, &ready, &go};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
    pthread_barrier_wait(&ready); /* now two threads have a region open */
    const uint64_t third = entry_from_thread(WMI_SCOPE_PROCESS, false);
    assert_true(third == WMI_AMBIGUOUS_ENTRY);
    kernel_at(third, "k", 0, 10, WM_REASON_NONE, 0);
    kernel("k", 20, 30);
    pthread_barrier_wait(&go);
    assert_int_equal(pthread_join(thread, NULL), 0);
    wm_end("r");
    end(f, 0, 0);
    check_null(f, "r", TIME, WM_REASON_AMBIGUOUS);
    check_null(f, "worker", TIME, WM_REASON_AMBIGUOUS);
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&go);
    finish(f);
}

static void test_own_time_is_taken_out(void **state) {
    (void)state;
    wm_session *s = NULL;
    wm_table *t = NULL;
    assert_int_equal(wm_session_create(NULL, &s, NULL), WM_OK);
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    const uint64_t first = wmi_ticks();
    wm_begin("outer");
    wm_begin("r");
    uint64_t last = wmi_ticks();
    const uint64_t mine = last;
    while (last - mine < 20000000) last = wmi_ticks();
    wmi_thread_exclude(mine, last);
    wm_end("r");
    wm_end("outer");
    const uint64_t all = wmi_ticks() - first;
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    /* whatever the machine does meanwhile: both are at most what was not excluded */
    const double most = wmi_clock_span_ns(&s->clock, 0, all - (last - mine)) * 1.01;
    assert_true(number_cell(t, find_row(t, "outer/r", "time", NULL), "mean") <= most);
    assert_true(number_cell(t, find_row(t, "outer", "time", NULL), "mean") <= most);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

/* ---- readings that come late ---- */

static void read_kernel(uint64_t entry, int metric, double x, double weight, wm_reason why) {
    const wmi_reading r = {.entry = entry,
                           .metric = (uint32_t)metric,
                           .kernel = wmi_intern("k"),
                           .value = x,
                           .weight = weight,
                           .reason = why};
    assert_true(wmi_readings_add(&device.readings, r));
}

static void read_all(uint64_t entry, double x, double weight) {
    for (int metric = SUM; metric < METRICS; metric++) read_kernel(entry, metric, x, weight, WM_REASON_NONE);
    const wmi_reading clock = {.entry = entry,
                               .metric = WMI_READ_CLOCK,
                               .kernel = wmi_intern("k"),
                               .value = 1e9 + x,
                               .weight = weight};
    assert_true(wmi_readings_add(&device.readings, clock));
}

static void test_counters_of_many_runs(void **state) {
    (void)state;
    fixture *f = start();
    uint64_t inner[2], outer[2];
    begin(f, 0);
    wm_begin("outer");
    kernel("a", 0, 10);
    wm_begin("inner");
    kernel("b", 10, 40);
    wm_end("inner");
    wm_end("outer");
    wm_begin("empty");
    wm_end("empty");
    end(f, 0, 0);
    for (int run = 0; run < 2; run++) {
        begin(f, 1);
        wm_begin("outer");
        outer[run] = wmi_launch_entry(WMI_SCOPE_PROCESS);
        wm_begin("inner");
        inner[run] = wmi_launch_entry(WMI_SCOPE_PROCESS);
        wm_end("inner");
        wm_end("outer");
        wm_begin("empty");
        wm_end("empty");
        end(f, 1, run);
    }
    check_number(value(f, "outer", SUM), -1); /* nothing before the window closes */
    for (int run = 0; run < 2; run++) {
        read_all(outer[run], 10, 10);
        read_all(inner[run], 20 + run, 30);
    }
    assert_int_equal(wmi_deferred_fold(f->s, &f->m, f->config, NULL), WM_OK);
    check_number(value(f, "outer/inner", SUM), 20.5);
    check_number(value(f, "outer", SUM), 30.5);
    check_number(value(f, "outer", WEIGHTED), (10 * 10 + 20.5 * 30) / 40);
    check_number(value(f, "outer", LARGEST), 20.5);
    check_number(value(f, "outer/inner", ONE), 20.5);
    check_null(f, "outer", ONE, WM_REASON_SEVERAL_KERNELS);
    const size_t one = find_row(f->t, "outer", "one", NULL);
    assert_non_null(strstr(text_cell(f->t, one, "reason"), "a, b"));
    check_number(value(f, "outer", USER), 20.5);
    assert_int_equal(f->user_count, 1); /* that of inner came last */
    check_null(f, "empty", SUM, WM_REASON_NO_KERNEL);
    const size_t row = find_row(f->t, "outer/inner", "total", NULL);
    check_number(number_cell(f->t, row, "samples"), 2);
    assert_true(fabs(number_cell(f->t, row, "sm_clock_hz") - (1e9 + 20.5)) < 1e-3);
    check_number(number_cell(f->t, row, "pass_time_ratio"), 1);
    const size_t whole = find_row(f->t, "outer", "total", NULL);
    check_number(number_cell(f->t, whole, "pass_time_ratio"), 1);
    finish(f);
}

static void test_counters_that_did_not_come(void **state) {
    (void)state;
    fixture *f = start();
    begin(f, 0);
    wm_begin("r");
    kernel("a", 0, 10);
    wm_end("r");
    wm_begin("s");
    kernel("a", 0, 10);
    wm_end("s");
    end(f, 0, 0);
    begin(f, 1);
    wm_begin("r");
    const uint64_t entry = wmi_launch_entry(WMI_SCOPE_PROCESS);
    wm_end("r");
    wm_begin("s");
    wm_end("s");
    end(f, 1, 0);
    read_all(entry, 1, 10);
    for (int metric = SUM; metric < METRICS; metric++) read_kernel(entry, metric, 0, 0, WM_REASON_SEQUENCE);
    assert_int_equal(wmi_deferred_fold(f->s, &f->m, f->config, NULL), WM_OK);
    check_null(f, "r", SUM, WM_REASON_SEQUENCE);
    check_null(f, "s", SUM, WM_REASON_NOT_COUNTED);
    const size_t row = find_row(table(f), "r", "total", NULL);
    assert_true(fabs(number_cell(f->t, row, "sm_clock_hz") - (1e9 + 1)) < 1e-3);
    assert_int_equal(cell(f->t, row, "pass_time_ratio").type, WM_NULL); /* of one kernel there is no time */
    finish(f);
}

/* ---- records that are read after many runs ---- */

/* Run `run` lasts 10 ns more than the one before. */
static void run_later(fixture *f, int run) {
    begin(f, 0);
    wm_begin("outer");
    wm_begin("inner");
    kernel("k", 1000 * run, 1000 * run + 10 * (run + 1));
    wm_end("inner");
    wm_end("outer");
    end_how(f, 0, run, true);
}

static void test_many_runs_are_read_at_once(void **state) {
    (void)state;
    enum { RUNS = 600 }; /* more than are kept waiting */
    fixture *f = start();
    device.per_drain = 7;
    for (int run = 0; run < RUNS; run++) run_later(f, run);
    assert_true(device.records.n > 0); /* some were not read yet */
    check_number(value(f, "outer/inner", TIME), 10 * (RUNS + 1) / 2.0);
    check_number(value(f, "outer", TIME), 10 * (RUNS + 1) / 2.0);
    const size_t row = find_row(f->t, "outer/inner", "kernel_time", NULL);
    check_number(number_cell(f->t, row, "samples"), RUNS);
    check_number(number_cell(f->t, row, "min"), 10);
    check_number(number_cell(f->t, row, "max"), 10 * RUNS);
    check_number(number_cell(f->t, row, "kernels"), RUNS);
    check_number(number_cell(f->t, row, "entries"), RUNS);
    assert_int_equal(device.records.n, 0);
    finish(f);
}

/* What is not known of one run is known of those around it; and of a run that nobody knows, all doubt. */
static void test_doubt_in_one_of_many_runs(void **state) {
    (void)state;
    fixture *f = start();
    run_later(f, 0);
    begin(f, 0);
    wm_begin("outer");
    wm_begin("inner");
    kernel("k", 1000, 1020);
    kernel_at(WMI_AMBIGUOUS_ENTRY, "k", 1100, 1200, WM_REASON_NONE, 0);
    wm_end("inner");
    wm_end("outer");
    end_how(f, 0, 1, true);
    run_later(f, 2);
    const size_t row = find_row(table(f), "outer/inner", "kernel_time", NULL);
    check_number(number_cell(f->t, row, "samples"), 2);
    check_number(number_cell(f->t, row, "mean"), 20); /* of 10 and 30 */

    run_later(f, 3);
    run_later(f, 4);
    const wmi_record lost = {.entry = WMI_AMBIGUOUS_ENTRY, .reason = WM_REASON_NO_RECORD};
    assert_true(wmi_records_add(&device.records, &lost));
    check_number(number_cell(table(f), find_row(f->t, "outer/inner", "kernel_time", NULL), "samples"), 2);
    finish(f);
}

/* Records of a run that was given up belong to no other. */
static void test_records_of_a_run_that_was_dropped(void **state) {
    (void)state;
    fixture *f = start();
    begin(f, 0);
    wm_begin("outer");
    kernel_at(WMI_AMBIGUOUS_ENTRY, "k", 0, 10, WM_REASON_NONE, 0);
    wmi_run_drop();
    begin(f, 0);
    wm_begin("outer");
    kernel("k", 100, 107);
    wm_end("outer");
    end(f, 0, 0);
    check_number(value(f, "outer", TIME), 7);
    finish(f);
}

/* ---- failures ---- */

static void test_an_abandoned_region(void **state) {
    (void)state;
    fixture *f = start();
    for (int run = 0; run < 3; run++) {
        begin(f, 0);
        wm_begin("outer");
        wm_begin("inner");
        kernel("k", 1000 * run, 1000 * run + 10);
        if (run == 1)
            wm_abandon_id(wm_region_id("inner"));
        else
            wm_end("inner");
        wm_end("outer");
        end_how(f, 0, run, run > 0);
    }
    const size_t row = find_row(table(f), "outer/inner", "kernel_time", NULL);
    check_number(number_cell(f->t, row, "samples"), 2);
    check_number(number_cell(f->t, find_row(f->t, "outer", "kernel_time", NULL), "samples"), 3);
    begin(f, 1);
    wm_begin("r");
    const uint64_t entry = wmi_launch_entry(WMI_SCOPE_PROCESS);
    wm_abandon_id(wm_region_id("r"));
    end(f, 1, 0);
    read_all(entry, 1, 10);
    assert_int_equal(wmi_deferred_fold(f->s, &f->m, f->config, NULL), WM_OK);
    check_null(f, "r", SUM, WM_REASON_FAILED);
    finish(f);
}

static void test_counters_without_a_pass_for_times(void **state) {
    (void)state;
    fixture *f = start();
    f->m.device_clean = false;
    begin(f, 1);
    wm_begin("outer");
    wm_begin("inner");
    const uint64_t entry = wmi_launch_entry(WMI_SCOPE_PROCESS);
    wm_end("inner");
    wm_end("outer");
    wm_begin("empty");
    wm_end("empty");
    end(f, 1, 0);
    read_all(entry, 4, 10);
    assert_int_equal(wmi_deferred_fold(f->s, &f->m, f->config, NULL), WM_OK);
    check_number(value(f, "outer", SUM), 4);
    check_null(f, "empty", SUM, WM_REASON_NO_KERNEL);
    const size_t row = find_row(table(f), "outer/inner", "total", NULL);
    check_number(number_cell(f->t, row, "kernels"), 1);
    finish(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_of_a_region_and_those_in_it),
        cmocka_unit_test(test_runs_differ),
        cmocka_unit_test(test_what_is_no_steady_state),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_copies_that_may_be_anybodys),
        cmocka_unit_test(test_launches_from_threads),
        cmocka_unit_test(test_own_time_is_taken_out),
        cmocka_unit_test(test_counters_of_many_runs),
        cmocka_unit_test(test_counters_that_did_not_come),
        cmocka_unit_test(test_many_runs_are_read_at_once),
        cmocka_unit_test(test_doubt_in_one_of_many_runs),
        cmocka_unit_test(test_records_of_a_run_that_was_dropped),
        cmocka_unit_test(test_an_abandoned_region),
        cmocka_unit_test(test_counters_without_a_pass_for_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
