/* Tables for people: text and Markdown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cells.h"
#include "made_tables.h"
#include "sink/sink.h"

static void assert_shown(const wm_table *t, const wmi_sink *sink, wm_write_opts opts, const char *expected) {
    wmi_buf b = WMI_BUF_INIT;
    assert_int_equal(sink->write(t, &opts, &b, NULL), WM_OK);
    assert_string_equal(b.data, expected);
    wmi_buf_free(&b);
}

static wm_write_opts options(bool unicode, int32_t width) {
    return (wm_write_opts){sizeof(wm_write_opts), false, unicode, width, false};
}

static void assert_text(const wm_table *t, const char *expected) {
    assert_shown(t, &wmi_sink_text, options(false, 0), expected);
}

/* A line of benchmark "b" with a time in nanoseconds. */
static size_t add_time(wm_table *t, const char *region, int64_t n, double ns, const char *key) {
    size_t row = add_result(t, "b", region, "time", "ns", key);
    put_summary(t, row, ns, ns / 100, 5);
    put(t, row, "n", wmi_i64(n));
    return row;
}

static wm_table *results(void) {
    const char *const params[] = {"n", "type"};
    const wm_type types[] = {WM_I64, WM_STR};
    return wmi_results_create(2, params, types);
}

static void points_stand_above_each_other(void **state) {
    (void)state;
    wm_table *t = results();
    add_time(t, "b", 1, 1, "n=1");
    add_time(t, "b", 20, 12345678, "n=20");
    add_time(t, "b", 300, 123456, "n=300");
    assert_text(t, "b\n"
                   "  n        time  +- (95 %)  samples\n"
                   "  1    1.000 ns     0.50 %        5\n"
                   " 20   12.35  ms     0.50 %        5\n"
                   "300  123.5   us     0.50 %        5\n");
    wm_table_destroy(t);
}

static void parameters_that_do_not_vary_are_in_the_title(void **state) {
    (void)state;
    wm_table *t = results();
    put(t, add_time(t, "x", 7, 10, "n=7"), "type", wmi_str("f32"));
    put(t, add_time(t, "y", 7, 20, "n=7"), "type", wmi_str("f32"));
    assert_text(t, "b (n=7, type=f32)\n"
                   "region      time  +- (95 %)  samples\n"
                   "x       10.00 ns     0.50 %        5\n"
                   "y       20.00 ns     0.50 %        5\n");
    wm_table_destroy(t);
}

/* Rows need not come in order: a sorted table has the same lines. */
static void rows_in_any_order_make_the_same_lines(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_result(t, "b", "x", "items", "", "n=1");
    put_summary(t, row, 3, 0, 1);
    put(t, row, "n", wmi_i64(1));
    add_time(t, "x", 2, 20, "n=2");
    row = add_result(t, "c", "c", "time", "ns", "n=1");
    put_summary(t, row, 5, 0, 1);
    add_time(t, "x", 1, 10, "n=1");
    assert_text(t, "b\n"
                   "n  region      time  +- (95 %)  items  samples\n"
                   "1  x       10.00 ns     0.50 %      3        5\n"
                   "2  x       20.00 ns     0.50 %               5\n"
                   "\n"
                   "c\n"
                   "    time  samples\n"
                   "5.000 ns        1\n");
    wm_table_destroy(t);
}

static void a_second_row_of_one_metric_is_a_line_of_its_own(void **state) {
    (void)state;
    wm_table *t = results();
    add_time(t, "b", 1, 10, "n=1");
    add_time(t, "b", 1, 30, "n=1");
    assert_text(t, "b (n=1)\n"
                   "    time  +- (95 %)  samples\n"
                   "10.00 ns     0.50 %        5\n"
                   "30.00 ns     0.50 %        5\n");
    wm_table_destroy(t);
}

/* As many metrics as rows would make a table of rows x rows. */
static void very_many_metrics_are_not_put_beside_each_other(void **state) {
    (void)state;
    for (int count = 64; count <= 65; count++) {
        wm_table *t = results();
        wmi_buf b = WMI_BUF_INIT;
        for (int i = 0; i < count; i++) {
            char metric[16], key[16];
            snprintf(metric, sizeof metric, "m%d", i);
            snprintf(key, sizeof key, "n=%d", i);
            put_summary(t, add_result(t, "b", "b", metric, "", key), i, 0, 1);
        }
        assert_int_equal(wmi_sink_text.write(t, NULL, &b, NULL), WM_OK);
        assert_int_equal(strncmp(b.data, count == 64 ? "b\n" : "benchmark ", count == 64 ? 2 : 10), 0);
        wmi_buf_free(&b);
        wm_table_destroy(t);
    }
}

static void nulls_say_why(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_time(t, "b", 1, 10, "n=1");
    put(t, row, "baseline", wmi_str("zero"));
    put(t, row, "ratio", wmi_null(WM_REASON_ZERO_BASELINE));
    row = add_time(t, "b", 2, 10, "n=2");
    put(t, row, "mean", wmi_null(WM_REASON_RESOLUTION));
    put(t, row, "status", wmi_str("missing"));
    row = add_time(t, "b", 3, 10, "n=3");
    put(t, row, "ci95_low", wmi_null(WM_REASON_FEW_SAMPLES));
    put(t, row, "status", wmi_str("failed"));
    assert_text(
        t,
        "b (ratio to zero)\n"
        "n          time      +- (95 %)            ratio  samples  note\n"
        "1      10.00 ns         0.50 %  (zero-baseline)        5\n"
        "2  (resolution)                               -        5  time missing: shorter than the clock can "
        "resolve\n"
        "3      10.00 ns  (few-samples)                -        5  failed\n");
    wm_table_destroy(t);
}

static void what_all_rows_of_a_line_say_is_said_once(void **state) {
    (void)state;
    wm_table *t = results();
    const char *const metrics[] = {"time", "items", "pages"};
    for (size_t i = 0; i < 3; i++) {
        size_t row = add_result(t, "b", "b", metrics[i], "", "");
        put_summary(t, row, 1, 0, 1);
        put(t, row, "status", wmi_str("error"));
        put(t, row, "reason", wmi_str("1 begin without an end"));
    }
    assert_text(t, "b\n"
                   "time  items  pages  samples  note\n"
                   "   1      1      1        1  error: 1 begin without an end\n");
    wm_table_destroy(t);
}

static void only_the_note_gives_way_on_a_narrow_terminal(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_time(t, "b", 1, 10, "n=1");
    put(t, row, "status", wmi_str("error"));
    put(t, row, "reason", wmi_str("h\u00e9l\u4e16\u754c and more"));
    const char *head = "b (n=1)\n    time  \u00b1 (95 %)  samples  note\n10.00 ns    0.50 %        5  ";
    const struct {
        int32_t width;
        const char *note;
    } cases[] = {{0, "error: h\u00e9l\u4e16\u754c and more"},
                 {52, "error: h\u00e9l\u4e16\u754c and more"},
                 {51, "error: h\u00e9l\u4e16\u754c and mo\u2026"},
                 {42, "error: h\u00e9l\u4e16\u2026"},
                 {41, "error: h\u00e9l\u2026"},
                 {10, "error: \u2026"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "%s%s\n", head, cases[i].note);
        assert_shown(t, &wmi_sink_text, options(true, cases[i].width), expected);
    }
    wm_table_destroy(t);
}

/* Names are kept whole; what explains them is cut, the longest first. */
static void prose_gives_way_on_a_narrow_terminal(void **state) {
    (void)state;
    wm_table *t = wmi_schema_table(wmi_schema_of("metrics"), 0, NULL, NULL);
    assert_non_null(t);
    assert_int_equal(wmi_table_add_row(t, NULL), WM_OK);
    put(t, 0, "metric", wmi_str("a_long_name.of_a_metric"));
    put(t, 0, "available", wmi_bool(false));
    put(t, 0, "reason", wmi_str("there is no device of any kind here"));
    put(t, 0, "text", wmi_str("time of the kernels"));
    const struct {
        int32_t width;
        const char *shown;
    } cases[] = {
        {0, "metric                   available  reason                               text\n"
            "a_long_name.of_a_metric  false      there is no device of any kind here  time of the kernels\n"},
        {92,
         "metric                   available  reason                               text\n"
         "a_long_name.of_a_metric  false      there is no device of any kind here  time of the kernels\n"},
        {80, "metric                   available  reason                   text\n"
             "a_long_name.of_a_metric  false      there is no device o...  time of the kernels\n"},
        {60, "metric                   available  reason       text\n"
             "a_long_name.of_a_metric  false      there is...  time of ...\n"},
        {10, "metric                   available  reason    text\n"
             "a_long_name.of_a_metric  false      there...  time ...\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_shown(t, &wmi_sink_text, options(false, cases[i].width), cases[i].shown);
    wm_table_destroy(t);
}

static void put_device(wm_table *t, size_t row, const char *kernel, const char *bound, const char *note) {
    put(t, row, "kernel", wmi_str(kernel));
    put(t, row, "bound", wmi_str(bound));
    if (note) put(t, row, "note", wmi_str(note));
}

/* The kernel beside the samples; what is said of the region once, at the end of its line. */
static void kernels_bounds_and_notes_are_shown(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_time(t, "x", 1, 10, "n=1");
    put(t, row, "stop_reason", wmi_str("timeout"));
    put_device(t, row, "scale", "memory-bound", "a second look");
    row = add_result(t, "b", "x", "sm", "%", "n=1");
    put(t, row, "mean", wmi_null(WM_REASON_SEQUENCE));
    put(t, row, "status", wmi_str("missing"));
    put(t, row, "reason", wmi_str("differs"));
    put_device(t, row, "scale", "memory-bound", NULL);
    row = add_time(t, "y", 1, 20, "n=1");
    put(t, row, "kernel", wmi_null(WM_REASON_NO_KERNEL));
    row = add_time(t, "z", 1, 20, "n=1");
    put_device(t, row, "a_kernel_of_twenty_ch, another_kernel_of_its_own, k3", "latency-bound", NULL);
    add_time(t, "host", 1, 30, "n=1");
    assert_text(
        t,
        "b (n=1)\n"
        "region      time  +- (95 %)          sm  samples  kernel                                            "
        "note\n"
        "x       10.00 ns     0.50 %  (sequence)        5  scale                                             "
        "stopped by timeout; sm missing: differs; memory-bound; a second look\n"
        "y       20.00 ns     0.50 %                    5  (no-kernel)\n"
        "z       20.00 ns     0.50 %                    5  a_kernel_of_twenty_ch, another_kernel_of_its_...  "
        "latency-bound\n"
        "host    30.00 ns     0.50 %                    5\n");
    wm_table_destroy(t);
}

static void add_missing(wm_table *t, const char *metric, wm_reason mean, const char *reason) {
    const size_t row = add_result(t, "b", "x", metric, "ns", "n=1");
    put(t, row, "mean", wmi_null(mean));
    put(t, row, "samples", wmi_i64(0));
    put(t, row, "status", wmi_str("missing"));
    if (reason) put(t, row, "reason", wmi_str(reason));
}

/* The cells say what is missing; why, the note says once. What has no meaning needs no words. The
 * first metric that has a value speaks for the line. */
static void a_reason_of_several_metrics_is_said_once(void **state) {
    (void)state;
    wm_table *t = results();
    add_missing(t, "a", WM_REASON_NO_KERNEL, "no kernel was launched there");
    add_missing(t, "b", WM_REASON_BACKEND, "broken");
    add_missing(t, "c", WM_REASON_NO_KERNEL, NULL);
    add_missing(t, "d", WM_REASON_NOT_APPLICABLE, "has no meaning for this row");
    add_missing(t, "e", WM_REASON_NO_KERNEL, "no kernel was launched there");
    const size_t row = add_result(t, "b", "x", "f", "", "n=1");
    put(t, row, "mean", wmi_f64(2));
    put(t, row, "samples", wmi_i64(7));
    assert_text(t, "b\n"
                   "region            a          b            c  d            e  f  samples  note\n"
                   "x       (no-kernel)  (backend)  (no-kernel)  -  (no-kernel)  2        7  "
                   "a and 2 more missing: no kernel was launched there; b missing: broken\n");
    wm_table_destroy(t);
}

/* Version 0.1 had neither notes nor bounds. */
static void results_of_earlier_versions_are_results(void **state) {
    (void)state;
    static const char *const later[] = {"sm_clock_pass", "pass_time_ratio", "note", "bound"};
    const wmi_schema *schema = wmi_schema_of("results");
    wm_table *t = wmi_table_create("results");
    for (size_t i = 0; i < schema->count; i++) {
        bool known = true;
        for (size_t k = 0; k < 4; k++) known = known && strcmp(schema->columns[i].name, later[k]) != 0;
        if (known)
            wmi_table_add_column(t, schema->columns[i].name, schema->columns[i].type, schema->columns[i].unit,
                                 NULL);
    }
    wmi_table_add_column(t, "n", WM_I64, "", NULL);
    assert_true(wmi_schema_complete(t));
    add_time(t, "b", 1, 10, "n=1");
    assert_text(t, "b (n=1)\n"
                   "    time  +- (95 %)  samples\n"
                   "10.00 ns     0.50 %        5\n");
    wm_table_destroy(t);
}

static void styles_only_when_asked_for(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_time(t, "b", 1, 10, "n=1");
    put(t, row, "status", wmi_str("failed"));
    wm_write_opts color = options(false, 0);
    color.color = true;
    assert_shown(
        t, &wmi_sink_text, color,
        "\033[1mb (n=1)\033[0m\n"
        "    \033[1mtime\033[0m  \033[1m+- (95 %)\033[0m  \033[1msamples\033[0m  \033[1mnote\033[0m\n"
        "10.00 ns     0.50 %        5  \033[31mfailed\033[0m\n");
    assert_text(t, "b (n=1)\n"
                   "    time  +- (95 %)  samples  note\n"
                   "10.00 ns     0.50 %        5  failed\n");
    wm_table_destroy(t);
}

static void chosen_columns_are_a_plain_table(void **state) {
    (void)state;
    wm_table *t = results(), *chosen = NULL;
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    add_time(t, "x", 1048576, 12345678, "n=1048576");
    put(t, add_time(t, "y", 2, 1, "n=2"), "reason", wmi_str("late"));
    put_context(t, "warning", wmi_str("hot"));
    select.columns = "region,n,unit,mean,rel_stddev,stable,ratio,reason";
    assert_int_equal(wm_table_select(t, &select, &chosen, NULL), WM_OK);
    assert_text(chosen, "region        n  unit       mean  rel_stddev  stable  ratio  reason\n"
                        "x       1048576  ns    12.35  ms     0.01000  true        -\n"
                        "y             2  ns     1.000 ns     0.01000  true        -  late\n"
                        "\n"
                        "warning: hot\n");
    wm_table_destroy(chosen);
    wm_table_destroy(t);
}

static void samples_hide_what_holds_nothing(void **state) {
    (void)state;
    const char *const params[] = {"alpha"};
    const wm_type types[] = {WM_F64};
    wm_table *t = wmi_samples_table_create(1, params, types);
    for (int i = 0; i < 2; i++) {
        size_t row = add_row(t);
        put(t, row, "metric", wmi_str("time"));
        put(t, row, "unit", wmi_str("ns"));
        put(t, row, "run", wmi_i64(i));
        put(t, row, "value", i ? wmi_null(WM_REASON_DROPPED) : wmi_f64(1500));
        put(t, row, "alpha", wmi_f64(0.123456789));
    }
    assert_text(t, "metric  run      value        alpha\n"
                   "time      0   1.500 us  0.123456789\n"
                   "time      1  (dropped)  0.123456789\n");
    wm_table_destroy(t);
}

static void a_plan_shows_its_context(void **state) {
    (void)state;
    wm_table *t = wmi_schema_table(wmi_schema_of("plan"), 0, NULL, NULL);
    size_t row = add_row(t);
    put(t, row, "metric", wmi_str("time"));
    put(t, row, "pass", wmi_i64(0));
    put_context(t, "configurations", wmi_i64(4));
    put_context(t, "timeout_s", wmi_null(WM_REASON_NOT_APPLICABLE));
    put_context(t, "order", wmi_str("sequential"));
    assert_text(t, "configurations  4\n"
                   "order           sequential\n"
                   "\n"
                   "metric  pass\n"
                   "time       0\n");
    assert_shown(t, &wmi_sink_markdown, options(false, 0),
                 "|  |  |\n"
                 "| :--- | :--- |\n"
                 "| configurations | 4 |\n"
                 "| order | sequential |\n"
                 "\n"
                 "| metric | pass |\n"
                 "| :--- | ---: |\n"
                 "| time | 0 |\n");
    wm_table_destroy(t);
}

static wm_table *findings(void) {
    const char *const texts[][6] = {
        {"timer", "source", "ok", "tsc", NULL, NULL},
        {"machine", "virtual", "limited", "yes", "other guests of the host can disturb a measurement",
         "take more runs, and compare within one run"},
        {"machine", "turbo", "absent", NULL, "the system does not tell", NULL},
    };
    wm_table *t = wmi_schema_table(wmi_schema_of("doctor"), 0, NULL, NULL);
    for (size_t i = 0; i < 3; i++) {
        size_t row = add_row(t);
        for (size_t k = 0; k < 6; k++)
            if (texts[i][k]) wmi_table_set(t, row, k, wmi_str(texts[i][k]));
    }
    return t;
}

static void findings_are_grouped_and_wrapped(void **state) {
    (void)state;
    wm_table *t = findings();
    assert_text(t, "timer\n"
                   "  ok       source   tsc\n"
                   "\n"
                   "machine\n"
                   "  limited  virtual  yes\n"
                   "                    other guests of the host can disturb a measurement\n"
                   "                    remedy: take more runs, and compare within one run\n"
                   "  absent   turbo    the system does not tell\n");
    assert_shown(t, &wmi_sink_text, options(false, 50),
                 "timer\n"
                 "  ok       source   tsc\n"
                 "\n"
                 "machine\n"
                 "  limited  virtual  yes\n"
                 "                    other guests of the host can\n"
                 "                    disturb a measurement\n"
                 "                    remedy: take more runs, and\n"
                 "                    compare within one run\n"
                 "  absent   turbo    the system does not tell\n");
    wm_table_destroy(t);
}

static void markdown_escapes_what_it_would_act_on(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("x");
    const char *const texts[] = {"a|b",         "back\\slash",         "<b>&amp;",
                                 "line\nbreak", "*x* _y_ a_b `c` ~d~", "[l](u)",
                                 "# h",         "\x01\xff\u00e9"};
    const char *const shown[] = {"a\\|b",
                                 "back\\\\slash",
                                 "&lt;b&gt;&amp;amp;",
                                 "line\\\\x0abreak",
                                 "\\*x\\* \\_y\\_ a_b \\`c\\` \\~d\\~",
                                 "\\[l\\](u)",
                                 "\\# h",
                                 "\\\\x01\\\\xff\u00e9"};
    wmi_table_add_column(t, "a|b", WM_STR, "", NULL);
    add_row(t);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char expected[256];
        put(t, 0, "a|b", wmi_str(texts[i]));
        snprintf(expected, sizeof expected, "| a\\|b |\n| :--- |\n| %s |\n", shown[i]);
        assert_shown(t, &wmi_sink_markdown, options(false, 0), expected);
    }
    wm_table_destroy(t);
}

static void no_rows_are_said(void **state) {
    (void)state;
    wm_table *t = results();
    put_context(t, "warning", wmi_str("nothing ran"));
    assert_text(t, "no rows\n\nwarning: nothing ran\n");
    assert_shown(t, &wmi_sink_markdown, options(false, 0), "no rows\n\n> **Warning:** nothing ran\n");
    wm_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_stand_above_each_other),
        cmocka_unit_test(parameters_that_do_not_vary_are_in_the_title),
        cmocka_unit_test(rows_in_any_order_make_the_same_lines),
        cmocka_unit_test(a_second_row_of_one_metric_is_a_line_of_its_own),
        cmocka_unit_test(very_many_metrics_are_not_put_beside_each_other),
        cmocka_unit_test(nulls_say_why),
        cmocka_unit_test(what_all_rows_of_a_line_say_is_said_once),
        cmocka_unit_test(only_the_note_gives_way_on_a_narrow_terminal),
        cmocka_unit_test(prose_gives_way_on_a_narrow_terminal),
        cmocka_unit_test(kernels_bounds_and_notes_are_shown),
        cmocka_unit_test(a_reason_of_several_metrics_is_said_once),
        cmocka_unit_test(results_of_earlier_versions_are_results),
        cmocka_unit_test(styles_only_when_asked_for),
        cmocka_unit_test(chosen_columns_are_a_plain_table),
        cmocka_unit_test(samples_hide_what_holds_nothing),
        cmocka_unit_test(a_plan_shows_its_context),
        cmocka_unit_test(findings_are_grouped_and_wrapped),
        cmocka_unit_test(markdown_escapes_what_it_would_act_on),
        cmocka_unit_test(no_rows_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
