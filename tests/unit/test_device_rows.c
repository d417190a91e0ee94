/* What a device did, as columns of results and as the table of kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "cells.h"
#include "sink/csv.h"
#include "sink/json.h"
#include "sink/sink.h"
#include "table/reduce.h"

enum { TIME, SM, DRAM, METRICS };

typedef struct fixture {
    wmi_samples *samples;
    uint32_t bench, root, region, config;
    uint32_t metric[METRICS];
    wmi_reduce_opts opts;
    wm_table *table;
} fixture;

static int setup(void **state) {
    static const char *const names[METRICS] = {"time", "sm.pct", "dram.pct"};
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    *state = f;
    f->opts = (wmi_reduce_opts){.stable_threshold = 0.02};
    const char *name = "n";
    const wm_value n = wmi_i64(5);
    f->samples = wmi_samples_create();
    if (!f->samples || wmi_samples_bench(f->samples, "bench", &f->bench) != WM_OK ||
        wmi_samples_node(f->samples, f->bench, UINT32_MAX, 0, &f->root) != WM_OK ||
        wmi_samples_node(f->samples, f->bench, f->root, wmi_intern("scale"), &f->region) != WM_OK ||
        wmi_samples_config(f->samples, f->bench, 1, &name, &n, &f->config) != WM_OK)
        return -1;
    for (size_t i = 0; i < METRICS; i++) {
        const wmi_metric m = {
            .name = names[i], .unit = i ? "%" : "ns", .text = "", .backend = "cuda", .timer = ""};
        if (wmi_samples_metric(f->samples, &m, &f->metric[i]) != WM_OK) return -1;
    }
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    wm_table_destroy(f->table);
    wmi_samples_destroy(f->samples);
    free(f);
    return 0;
}

/* A value of the region; NaN: a null. */
static void add_value(fixture *f, int metric, double value) {
    wmi_series *s;
    assert_int_equal(wmi_samples_series(f->samples, f->config, f->region, f->metric[metric], metric, &s),
                     WM_OK);
    const wm_reason why = isnan(value) ? WM_REASON_SEQUENCE : WM_REASON_NONE;
    assert_int_equal(wmi_series_add(s, (int32_t)s->n, value, why), WM_OK);
}

static wmi_work *work_of(fixture *f) {
    wmi_work *work;
    assert_int_equal(wmi_samples_work(f->samples, f->config, f->region, &work), WM_OK);
    return work;
}

static void add_names(wmi_work *work, int count) {
    for (int i = 1; i <= count; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        assert_int_equal(wmi_work_add_kernel(work, wmi_intern(name), wmi_intern("H200")), WM_OK);
    }
}

static void reduce(fixture *f) {
    wm_table_destroy(f->table);
    f->table = NULL;
    assert_int_equal(wmi_reduce(f->samples, &f->opts, &f->table, NULL), WM_OK);
}

static void assert_null_cell(const wm_table *t, size_t row, const char *column, wm_reason why) {
    const wm_value v = cell(t, row, column);
    if (v.type != WM_NULL || v.reason != why)
        fail_msg("%s is not a null for %s", column, wm_reason_slug(why));
}

static void assert_cell(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) fail_msg("%.17g is not %.17g", found, expected);
}

/* ---- results ---- */

static void a_region_without_work_has_nulls(void **state) {
    static const char *const columns[] = {"kernel",          "kernels",     "shared",
                                          "device",          "sm_clock_hz", "sm_clock_pass",
                                          "pass_time_ratio", "note",        "bound"};
    fixture *f = *state;
    wmi_work *other;
    assert_int_equal(wmi_samples_work(f->samples, f->config, f->root, &other), WM_OK);
    add_names(other, 2);
    add_value(f, TIME, 10);
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), 1);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        assert_null_cell(f->table, 0, columns[i], WM_REASON_NOT_APPLICABLE);
}

static void every_row_tells_what_the_device_did(void **state) {
    fixture *f = *state;
    wmi_work *work = work_of(f);
    add_names(work, 2);
    work->kernels = 40;
    work->shared = true;
    work->clock_sum = 1.5e9 * 30 + 1.8e9 * 10;
    work->clock_weight = 40;
    work->clock_pass = 3;
    work->clean_ns = 1e8;
    work->clean_runs = 10;
    work->counter_ns = 5.5e7;
    work->counter_runs = 5;
    add_value(f, TIME, 10);
    add_value(f, SM, NAN);
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), 2);
    for (size_t row = 0; row < 2; row++) {
        assert_string_equal(text_cell(f->table, row, "kernel"), "k1, k2");
        assert_string_equal(text_cell(f->table, row, "device"), "H200");
        assert_cell(number_cell(f->table, row, "kernels"), 40);
        assert_true(cell(f->table, row, "shared").type == WM_BOOL && cell(f->table, row, "shared").as.b);
        assert_cell(number_cell(f->table, row, "sm_clock_hz"), 1.575e9);
        assert_cell(number_cell(f->table, row, "sm_clock_pass"), 3);
        assert_cell(number_cell(f->table, row, "pass_time_ratio"), 1.1);
    }
    assert_string_equal(
        text_cell(f->table, 0, "note"),
        "other processes may share the device, and counters count theirs too; kernel time was "
        "10 % longer in the passes that read counters");
    assert_null_cell(f->table, 1, "note", WM_REASON_NOT_APPLICABLE); /* no good row */
}

static void a_small_difference_of_passes_is_not_noted(void **state) {
    static const struct {
        double counter_ns;
        const char *note;
    } cases[] = {{1049, ""},
                 {951, ""},
                 {1051, "kernel time was 5 % longer in the passes that read counters"},
                 {880, "kernel time was 12 % shorter in the passes that read counters"},
                 {3200, "kernel time was 220 % longer in the passes that read counters"}};
    fixture *f = *state;
    wmi_work *work = work_of(f);
    work->clean_ns = 1000;
    work->clean_runs = work->counter_runs = 1;
    add_value(f, TIME, 10);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        work->counter_ns = cases[i].counter_ns;
        reduce(f);
        assert_cell(number_cell(f->table, 0, "pass_time_ratio"), cases[i].counter_ns / 1000);
        assert_string_equal(text_cell(f->table, 0, "note"), cases[i].note);
    }
}

static void what_a_device_does_not_tell_is_null(void **state) {
    fixture *f = *state;
    wmi_work *work = work_of(f);
    work->clean_ns = 1000;
    work->clean_runs = 1;
    add_value(f, TIME, 10);
    reduce(f);
    assert_null_cell(f->table, 0, "kernel", WM_REASON_NO_KERNEL);
    assert_cell(number_cell(f->table, 0, "kernels"), 0);
    assert_null_cell(f->table, 0, "device", WM_REASON_NOT_APPLICABLE);
    assert_null_cell(f->table, 0, "sm_clock_hz", WM_REASON_NOT_APPLICABLE);
    assert_null_cell(f->table, 0, "sm_clock_pass", WM_REASON_NOT_APPLICABLE);
    assert_null_cell(f->table, 0, "pass_time_ratio", WM_REASON_NOT_APPLICABLE);
}

static void many_names_are_counted(void **state) {
    fixture *f = *state;
    wmi_work *work = work_of(f);
    add_names(work, 8);
    add_value(f, TIME, 10);
    reduce(f);
    assert_string_equal(text_cell(f->table, 0, "kernel"), "k1, k2, k3, k4, k5, k6, k7, k8");
    add_names(work, 11);
    assert_int_equal(wmi_work_add_kernel(work, wmi_intern("k1"), wmi_intern("T4")), WM_OK);
    reduce(f);
    assert_string_equal(text_cell(f->table, 0, "kernel"), "k1, k2, k3, k4, k5, k6, k7, k8 and 3 more");
    assert_string_equal(text_cell(f->table, 0, "device"), "several");
}

/* ---- what bounds a region ---- */

static void the_larger_share_names_the_bound(void **state) {
    static const struct {
        double sm, dram;
        const char *bound;
    } cases[] = {{90.24, 13.06, "compute-bound: 90.2 % of peak, memory 13.1 %"},
                 {6.6, 85.3, "memory-bound: 85.3 % of peak, compute 6.6 %"},
                 {70, 70, "compute-bound: 70.0 % of peak, memory 70.0 %"},
                 {60, 10, "compute-bound: 60.0 % of peak, memory 10.0 %"},
                 {59.99, 8.1, "latency-bound: compute 60.0 %, memory 8.1 % (neither near its peak)"},
                 {12, 8.14, "latency-bound: compute 12.0 %, memory 8.1 % (neither near its peak)"}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    static const wmi_label label = {"sm.pct", "dram.pct", 60};
    fixture *f = *state;
    f->opts.labels = &label;
    f->opts.label_count = 1;
    for (size_t i = 0; i < CASES; i++) {
        char name[8];
        snprintf(name, sizeof name, "r%zu", i);
        assert_int_equal(wmi_samples_node(f->samples, f->bench, f->root, wmi_intern(name), &f->region),
                         WM_OK);
        add_value(f, TIME, 10);
        for (int k = -1; k <= 1; k++) { /* the means count */
            add_value(f, SM, cases[i].sm + k);
            add_value(f, DRAM, cases[i].dram + k);
        }
    }
    reduce(f);
    assert_int_equal(wm_table_rows(f->table), CASES * METRICS);
    for (size_t row = 0; row < CASES * METRICS; row++)
        assert_string_equal(text_cell(f->table, row, "bound"), cases[row / METRICS].bound);
}

static void a_bound_needs_both_values(void **state) {
    static const wmi_label labels[] = {{"sm.other", "dram.pct", 60}, {"sm.pct", "dram.pct", 60}};
    fixture *f = *state;
    f->opts.labels = labels;
    f->opts.label_count = 2;
    add_value(f, TIME, 10);
    add_value(f, SM, 80);
    reduce(f); /* not measured */
    assert_null_cell(f->table, 0, "bound", WM_REASON_NOT_APPLICABLE);
    add_value(f, DRAM, NAN);
    reduce(f); /* measured without a value */
    assert_null_cell(f->table, 0, "bound", WM_REASON_SEQUENCE);
    add_value(f, DRAM, 20);
    reduce(f); /* the second label */
    assert_string_equal(text_cell(f->table, 0, "bound"), "compute-bound: 80.0 % of peak, memory 20.0 %");
}

/* ---- kernels ---- */

static void keep(fixture *f, uint32_t node, int32_t run, wmi_record r) {
    assert_int_equal(wmi_samples_keep(f->samples, f->config, node, run, &r), WM_OK);
}

/* Nanoseconds of the day's clock, which a double cannot hold. */
static const int64_t now = INT64_C(1764532800123456789);

static void fill_records(fixture *f) {
    const uint32_t device = wmi_intern("H200"), set = wmi_intern("memset");
    keep(f, f->region, 1,
         (wmi_record){.correlation = 9,
                      .launch_ns = now + 1000,
                      .begin_ns = now + 4501,
                      .end_ns = now + 6000,
                      .kind = WMI_RECORD_SET,
                      .plain = set,
                      .bytes = 4096,
                      .device = device});
    keep(f, f->region, 0,
         (wmi_record){.correlation = 7,
                      .launch_ns = now + 3,
                      .begin_ns = now + 2004,
                      .end_ns = now + 3005,
                      .name = wmi_intern("_Z5scalePf"),
                      .full = wmi_intern("scale(float*)"),
                      .plain = wmi_intern("scale"),
                      .device = device,
                      .stream = 13,
                      .thread = 2,
                      .grid = {10, 20, 30},
                      .block = {128, 2, 1},
                      .registers = 32,
                      .static_shared = 1024,
                      .dynamic_shared = 2048,
                      .flags = WMI_RECORD_FIRST | WMI_RECORD_IGNORED});
    keep(f, f->region, 0,
         (wmi_record){.correlation = 5,
                      .launch_ns = now,
                      .plain = wmi_intern("lost"),
                      .flags = WMI_RECORD_GRAPH,
                      .reason = WM_REASON_NO_RECORD});
    keep(f, f->root, 0,
         (wmi_record){.correlation = 6,
                      .launch_ns = now + 2,
                      .begin_ns = now + 3,
                      .end_ns = now + 5,
                      .kind = WMI_RECORD_COPY});
    keep(f, f->root, 0,
         (wmi_record){.correlation = 8,
                      .launch_ns = now + 4,
                      .begin_ns = now + 10,
                      .end_ns = now + 30,
                      .entry = WMI_AMBIGUOUS_ENTRY,
                      .reason = WM_REASON_AMBIGUOUS});
    keep(f, UINT32_MAX, 0,
         (wmi_record){.correlation = 10, .launch_ns = now + 6, .begin_ns = now + 11, .end_ns = now + 31});
}

static void make_kernels(fixture *f) {
    assert_int_equal(wmi_kernels_to_table(f->samples, &f->table, NULL), WM_OK);
}

/* Runs one after the other, in each the order of launches, counted for each region. */
static void records_are_ordered_by_launch(void **state) {
    static const struct {
        const char *region;
        double run, ordinal;
    } rows[] = {{"scale", 0, 0}, {"", 0, 0}, {"scale", 0, 1}, {"", 0, 0}, {"", 0, 1}, {"scale", 1, 0}};
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    assert_string_equal(wm_table_kind(f->table), "kernels");
    assert_int_equal(wm_table_rows(f->table), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(text_cell(f->table, i, "benchmark"), "bench");
        assert_string_equal(text_cell(f->table, i, "region"), rows[i].region);
        assert_cell(number_cell(f->table, i, "run"), rows[i].run);
        assert_cell(number_cell(f->table, i, "ordinal"), rows[i].ordinal);
        assert_string_equal(text_cell(f->table, i, "config_key"), "n=5");
        assert_cell(number_cell(f->table, i, "n"), 5);
    }
}

static void a_kernel_has_all_its_cells(void **state) {
    static const struct {
        const char *column;
        double value;
    } numbers[] = {{"stream", 13},
                   {"thread", 2},
                   {"launch_ns", 3},
                   {"begin_ns", 2004},
                   {"duration_ns", 1001},
                   {"launch_latency_ns", 2001},
                   {"grid_x", 10},
                   {"grid_y", 20},
                   {"grid_z", 30},
                   {"block_x", 128},
                   {"block_y", 2},
                   {"block_z", 1},
                   {"registers", 32},
                   {"static_shared_bytes", 1024},
                   {"dynamic_shared_bytes", 2048},
                   {"first", 1},
                   {"graph", 0},
                   {"ignored", 1}};
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    const size_t row = 2;
    assert_string_equal(text_cell(f->table, row, "kind"), "kernel");
    assert_string_equal(text_cell(f->table, row, "kernel"), "scale");
    assert_string_equal(text_cell(f->table, row, "kernel_full"), "scale(float*)");
    assert_string_equal(text_cell(f->table, row, "kernel_binary"), "_Z5scalePf");
    assert_string_equal(text_cell(f->table, row, "device"), "H200");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const wm_value v = cell(f->table, row, numbers[i].column);
        if (v.type == WM_BOOL)
            assert_int_equal(v.as.b, (int)numbers[i].value);
        else
            assert_cell(number_cell(f->table, row, numbers[i].column), numbers[i].value);
    }
    assert_null_cell(f->table, row, "bytes", WM_REASON_NOT_APPLICABLE);
    assert_null_cell(f->table, row, "reason", WM_REASON_NOT_APPLICABLE);
}

static void copies_and_sets_have_bytes_and_no_grid(void **state) {
    static const char *const of_kernels[] = {"grid_x",
                                             "grid_y",
                                             "grid_z",
                                             "block_x",
                                             "block_y",
                                             "block_z",
                                             "static_shared_bytes",
                                             "dynamic_shared_bytes",
                                             "registers"};
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    assert_string_equal(text_cell(f->table, 5, "kind"), "set");
    assert_cell(number_cell(f->table, 5, "bytes"), 4096);
    assert_cell(number_cell(f->table, 5, "duration_ns"), 1499);
    assert_string_equal(text_cell(f->table, 5, "kernel"), "memset");
    assert_string_equal(text_cell(f->table, 1, "kind"), "copy");
    assert_cell(number_cell(f->table, 1, "bytes"), 0);
    for (size_t i = 0; i < sizeof of_kernels / sizeof of_kernels[0]; i++) {
        assert_null_cell(f->table, 1, of_kernels[i], WM_REASON_NOT_APPLICABLE);
        assert_null_cell(f->table, 5, of_kernels[i], WM_REASON_NOT_APPLICABLE);
    }
}

static void what_is_not_known_of_a_record_is_null(void **state) {
    static const char *const recorded[] = {
        "begin_ns", "duration_ns", "launch_latency_ns",   "stream",       "grid_x",
        "block_z",  "registers",   "static_shared_bytes", "kernel_binary"};
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        assert_null_cell(f->table, 0, recorded[i], WM_REASON_NO_RECORD);
    assert_string_equal(text_cell(f->table, 0, "kernel"), "lost");
    assert_cell(number_cell(f->table, 0, "launch_ns"), 0);
    assert_string_equal(text_cell(f->table, 0, "reason"), "no-record");
    assert_true(cell(f->table, 0, "graph").as.b);
    assert_null_cell(f->table, 3, "region", WM_REASON_AMBIGUOUS);
    assert_string_equal(text_cell(f->table, 3, "reason"), "ambiguous");
    assert_cell(number_cell(f->table, 3, "duration_ns"), 20);
    assert_null_cell(f->table, 4, "region", WM_REASON_NOT_APPLICABLE);
    assert_null_cell(f->table, 4, "reason", WM_REASON_NOT_APPLICABLE);
}

static void broken_times_do_no_harm(void **state) {
    fixture *f = *state;
    keep(f, f->region, 0, (wmi_record){.launch_ns = INT64_MIN, .begin_ns = INT64_MAX, .end_ns = INT64_MIN});
    keep(f, f->region, 0, (wmi_record){.launch_ns = INT64_MAX, .begin_ns = INT64_MIN, .end_ns = INT64_MAX});
    make_kernels(f);
    assert_int_equal(wm_table_rows(f->table), 2);
}

static void no_records_make_an_empty_table(void **state) {
    fixture *f = *state;
    make_kernels(f);
    assert_int_equal(wm_table_rows(f->table), 0);
    assert_int_equal(wm_table_columns(f->table), WMI_KCOL_COUNT + 1);
}

static void assert_equal_tables(const wm_table *a, const wm_table *b) {
    wmi_buf why = WMI_BUF_INIT;
    if (!wmi_table_equal(a, b, &why)) fail_msg("%s", why.data);
    wmi_buf_free(&why);
}

static void kernels_are_read_back(void **state) {
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    wmi_buf text = WMI_BUF_INIT, beside = WMI_BUF_INIT;
    wm_table *back = NULL;
    assert_int_equal(wmi_sink_json.write(f->table, NULL, &text, NULL), WM_OK);
    assert_int_equal(wmi_sink_json.read("k.json", text.data, text.len, &back, NULL), WM_OK);
    assert_equal_tables(f->table, back);
    wm_table_destroy(back);
    text.len = 0;
    assert_int_equal(wmi_sink_csv.write(f->table, NULL, &text, NULL), WM_OK);
    assert_int_equal(wmi_sink_csv.companion(f->table, &beside, NULL), WM_OK);
    assert_int_equal(wmi_csv_parse("k.csv", text.data, text.len, beside.data, beside.len, &back, NULL),
                     WM_OK);
    assert_equal_tables(f->table, back);
    wm_table_destroy(back);
    /* Without what lies beside it the header tells the kind. */
    assert_int_equal(wmi_csv_parse("k.csv", text.data, text.len, NULL, 0, &back, NULL), WM_OK);
    assert_equal_tables(f->table, back);
    wm_table_destroy(back);
    wmi_buf_free(&text);
    wmi_buf_free(&beside);
}

static void kernels_are_shown(void **state) {
    fixture *f = *state;
    fill_records(f);
    make_kernels(f);
    wmi_buf text = WMI_BUF_INIT;
    assert_int_equal(wmi_sink_text.write(f->table, NULL, &text, NULL), WM_OK);
    assert_non_null(strstr(text.data, "scale(float*)"));
    assert_non_null(strstr(text.data, "1.001 us"));
    assert_non_null(strstr(text.data, "(no-record)"));
    wmi_buf_free(&text);
    assert_int_equal(wmi_sink_markdown.write(f->table, NULL, &text, NULL), WM_OK);
    assert_non_null(strstr(text.data, "| ambiguous |"));
    wmi_buf_free(&text);
    assert_int_equal(wmi_sink_gbench.write(f->table, NULL, &text, NULL), WM_EINVAL);
    wmi_buf_free(&text);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        EACH(a_region_without_work_has_nulls),
        EACH(every_row_tells_what_the_device_did),
        EACH(a_small_difference_of_passes_is_not_noted),
        EACH(what_a_device_does_not_tell_is_null),
        EACH(many_names_are_counted),
        EACH(the_larger_share_names_the_bound),
        EACH(a_bound_needs_both_values),
        EACH(records_are_ordered_by_launch),
        EACH(a_kernel_has_all_its_cells),
        EACH(copies_and_sets_have_bytes_and_no_grid),
        EACH(what_is_not_known_of_a_record_is_null),
        EACH(broken_times_do_no_harm),
        EACH(no_records_make_an_empty_table),
        EACH(kernels_are_read_back),
        EACH(kernels_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
