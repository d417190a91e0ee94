#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "cells.h"
#include "made_tables.h"
#include "sink/sink.h"

static json_t *write_gbench(const wm_table *t) {
    wmi_buf b = WMI_BUF_INIT;
    json_error_t e;
    assert_int_equal(wmi_sink_gbench.write(t, NULL, &b, NULL), WM_OK);
    json_t *root = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &e);
    if (!root) fail_msg("%s\n%s", e.text, b.data);
    wmi_buf_free(&b);
    return root;
}

/* The entry of that name; there must be exactly one. */
static json_t *entry(json_t *root, const char *name) {
    json_t *found = NULL, *e;
    size_t i;
    json_array_foreach(json_object_get(root, "benchmarks"), i, e) {
        if (strcmp(json_string_value(json_object_get(e, "name")), name) != 0) continue;
        assert_null(found);
        found = e;
    }
    if (!found) fail_msg("no entry %s", name);
    return found;
}

static void assert_text(json_t *object, const char *key, const char *value) {
    assert_true(json_is_string(json_object_get(object, key)));
    assert_string_equal(json_string_value(json_object_get(object, key)), value);
}

static void assert_number(json_t *object, const char *key, double value) {
    json_t *v = json_object_get(object, key);
    if (!json_is_number(v)) fail_msg("%s is no number", key);
    if (json_number_value(v) < value || json_number_value(v) > value)
        fail_msg("%s is %.17g, not %.17g", key, json_number_value(v), value);
}

static size_t entries(json_t *root) { return json_array_size(json_object_get(root, "benchmarks")); }

static wm_table *results(void) {
    const char *const params[] = {"n", "type"};
    const wm_type types[] = {WM_I64, WM_STR};
    return wmi_results_create(2, params, types);
}

/* n=8 of benchmark "b": wall time, a rate, and the rest as asked for. */
static wm_table *one_benchmark(const char *region, int64_t samples) {
    wm_table *t = results();
    size_t row = add_result(t, "b", region, "time", "ns", "n=8");
    put_summary(t, row, 250, 5, samples);
    put(t, row, "median", wmi_f64(249));
    put(t, row, "batch", wmi_i64(1000));
    put(t, row, "threads", wmi_i64(4));
    put(t, row, "n", wmi_i64(8));
    row = add_result(t, "b", region, "byte_rate", "B/s", "n=8");
    put_summary(t, row, 4e9, 1e8, samples);
    put(t, row, "n", wmi_i64(8));
    return t;
}

static void an_entry_and_its_aggregates(void **state) {
    (void)state;
    wm_table *t = one_benchmark("r", 20);
    json_t *root = write_gbench(t);
    assert_int_equal(entries(root), 5);
    json_t *e = entry(root, "b/r/n:8");
    assert_text(e, "run_name", "b/r/n:8");
    assert_text(e, "run_type", "iteration");
    assert_text(e, "time_unit", "ns");
    assert_number(e, "family_index", 0);
    assert_number(e, "per_family_instance_index", 0);
    assert_number(e, "repetitions", 1);
    assert_number(e, "repetition_index", 0);
    assert_number(e, "threads", 4);
    assert_number(e, "iterations", 20000);
    assert_number(e, "real_time", 250);
    assert_number(e, "cpu_time", 250);
    assert_number(e, "bytes_per_second", 4e9);
    assert_null(json_object_get(e, "byte_rate"));
    assert_null(json_object_get(e, "error_occurred"));
    const struct {
        const char *name, *unit;
        double time, rate;
    } aggregates[] = {{"mean", "time", 250, 4e9},
                      {"median", "time", 249, 4e9},
                      {"stddev", "time", 5, 1e8},
                      {"cv", "percentage", 0.02, 0.025}};
    for (size_t i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "b/r/n:8_%s", aggregates[i].name);
        e = entry(root, name);
        assert_text(e, "run_name", "b/r/n:8");
        assert_text(e, "run_type", "aggregate");
        assert_text(e, "aggregate_name", aggregates[i].name);
        assert_text(e, "aggregate_unit", aggregates[i].unit);
        assert_number(e, "repetitions", 20);
        assert_number(e, "iterations", 20);
        assert_number(e, "real_time", aggregates[i].time);
        assert_number(e, "cpu_time", aggregates[i].time);
        assert_number(e, "bytes_per_second", aggregates[i].rate);
    }
    json_decref(root);
    wm_table_destroy(t);
}

static void the_whole_function_has_no_region_in_its_name(void **state) {
    (void)state;
    wm_table *t = one_benchmark("b", 1);
    put(t, 0, "type", wmi_str("f32"));
    json_t *root = write_gbench(t);
    assert_int_equal(entries(root), 1); /* one sample has no aggregates */
    entry(root, "b/n:8/type:f32");
    json_decref(root);
    wm_table_destroy(t);
}

static void cpu_time_is_the_time_of_that_metric(void **state) {
    (void)state;
    wm_table *t = one_benchmark("b", 20);
    size_t row = add_result(t, "b", "b", "cpu_time", "us", "n=8");
    put_summary(t, row, 0.125, 0.001, 20);
    json_t *root = write_gbench(t);
    assert_number(entry(root, "b/n:8"), "real_time", 250);
    assert_number(entry(root, "b/n:8"), "cpu_time", 125);
    assert_number(entry(root, "b/n:8_stddev"), "cpu_time", 1);
    assert_number(entry(root, "b/n:8_cv"), "cpu_time", 0.001 / 0.125);
    json_decref(root);
    wm_table_destroy(t);
}

static void what_has_no_time_is_an_error(void **state) {
    (void)state;
    wm_table *t = results();
    size_t row = add_result(t, "b", "b", NULL, "", "n=1");
    put(t, row, "status", wmi_str("failed"));
    put(t, row, "reason", wmi_str("out \"of\" luck"));
    row = add_result(t, "b", "b", NULL, "", "n=2");
    put(t, row, "status", wmi_str("skipped"));
    put(t, row, "n", wmi_i64(2));
    row = add_result(t, "b", "b", "pages", "", "n=3");
    put_summary(t, row, 7, 0, 3);
    put(t, row, "n", wmi_i64(3));
    row = add_result(t, "b", "b", "time", "ns", "n=4");
    put(t, row, "mean", wmi_null(WM_REASON_RESOLUTION));
    put(t, row, "n", wmi_i64(4));
    json_t *root = write_gbench(t);
    const char *const names[] = {"b", "b/n:2", "b/n:3", "b/n:4"};
    const char *const messages[] = {"failed: out \"of\" luck", "skipped", "no time was measured",
                                    "no time was measured"};
    assert_int_equal(entries(root), 4);
    for (size_t i = 0; i < 4; i++) {
        json_t *e = entry(root, names[i]);
        assert_true(json_is_true(json_object_get(e, "error_occurred")));
        assert_text(e, "error_message", messages[i]);
        assert_number(e, "iterations", 0);
        assert_true(json_is_number(json_object_get(e, "real_time")));
        assert_true(json_is_number(json_object_get(e, "cpu_time")));
        assert_number(e, "per_family_instance_index", (double)i);
    }
    assert_number(entry(root, "b/n:3"), "pages", 7);
    json_decref(root);
    wm_table_destroy(t);
}

static void families_are_regions_of_benchmarks(void **state) {
    (void)state;
    wm_table *t = results();
    const struct {
        const char *bench, *region, *key;
        int64_t n;
        double family, instance;
    } rows[] = {{"a", "x", "n=1", 1, 0, 0},
                {"a", "y", "n=1", 1, 1, 0},
                {"a", "x", "n=2", 2, 0, 1},
                {"b", "x", "n=1", 1, 2, 0},
                {"a", "y", "n=2", 2, 1, 1}};
    for (size_t i = 0; i < 5; i++) {
        size_t row = add_result(t, rows[i].bench, rows[i].region, "time", "ns", rows[i].key);
        put_summary(t, row, 1, 0, 1);
        put(t, row, "n", wmi_i64(rows[i].n));
    }
    json_t *root = write_gbench(t);
    for (size_t i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s/%s/n:%d", rows[i].bench, rows[i].region, (int)rows[i].n);
        assert_number(entry(root, name), "family_index", rows[i].family);
        assert_number(entry(root, name), "per_family_instance_index", rows[i].instance);
    }
    json_decref(root);
    wm_table_destroy(t);
}

/* Two members of one name would make write_gbench's reader refuse the file. */
static void counters_do_not_hide_members(void **state) {
    (void)state;
    wm_table *t = one_benchmark("b", 1);
    const char *const metrics[] = {"name",        "iterations", "metric_name", "bytes_per_second",
                                   "page-faults", "page-faults"};
    for (size_t i = 0; i < 6; i++)
        put_summary(t, add_result(t, "b", "b", metrics[i], "", "n=8"), (double)i + 1, 0, 1);
    json_t *root = write_gbench(t), *e = entry(root, "b/n:8");
    assert_number(e, "metric_name", 1);
    assert_number(e, "metric_iterations", 2);
    assert_number(e, "metric_bytes_per_second", 4);
    assert_number(e, "bytes_per_second", 4e9);
    assert_number(e, "page-faults", 5);
    json_decref(root);
    wm_table_destroy(t);
}

static void any_bytes_make_valid_json(void **state) {
    (void)state;
    wm_table *t = results();
    for (size_t i = 0; i < HARD_NAMES; i++) {
        size_t row = add_result(t, hard_names[i], "r", "time", "ns", "k");
        put_summary(t, row, 1, 0, 1);
        put(t, row, "type", wmi_str(hard_names[i]));
        row = add_result(t, hard_names[i], "r", hard_names[i], "", "k");
        put_summary(t, row, 1, 0, 1);
        put_context(t, hard_names[i], wmi_str(hard_names[i]));
    }
    json_t *root = write_gbench(t);
    assert_int_equal(entries(root), HARD_NAMES);
    assert_number(entry(root, "operator\"\" _kg/r/type:operator\"\" _kg"), "operator\"\" _kg", 1);
    json_decref(root);
    wm_table_destroy(t);
}

static void the_context_is_what_readers_look_for(void **state) {
    (void)state;
    wm_table *t = results();
    put_context(t, "date", wmi_str("2024-01-02T03:04:05+0100"));
    put_context(t, "host", wmi_str("h"));
    put_context(t, "cpus_online", wmi_i64(8));
    put_context(t, "max_hz", wmi_f64(2.5996e9));
    put_context(t, "governor", wmi_str("powersave"));
    put_context(t, "load1", wmi_f64(0.25));
    put_context(t, "caches", wmi_str("L1 Data 32 KiB x 4; L3 Unified 32768 KiB x 1"));
    put_context(t, "command", wmi_str("'./my bench' --runs 3"));
    put_context(t, "library_build_type", wmi_str("RelWithDebInfo"));
    put_context(t, "turbo", wmi_null(WM_REASON_UNKNOWN));
    put_context(t, "seed", wmi_i64(7));
    json_t *root = write_gbench(t), *c = json_object_get(root, "context");
    assert_int_equal(entries(root), 0);
    assert_text(c, "date", "2024-01-02T03:04:05+0100");
    assert_text(c, "host_name", "h");
    assert_text(c, "executable", "./my bench");
    assert_number(c, "num_cpus", 8);
    assert_number(c, "mhz_per_cpu", 2600);
    assert_true(json_is_true(json_object_get(c, "cpu_scaling_enabled")));
    assert_text(c, "library_build_type", "release");
    assert_number(c, "json_schema_version", 1);
    assert_number(c, "seed", 7);
    assert_null(json_object_get(c, "turbo"));
    assert_true(json_number_value(json_array_get(json_object_get(c, "load_avg"), 0)) == 0.25);
    json_t *caches = json_object_get(c, "caches"), *l3 = json_array_get(caches, 1);
    assert_int_equal(json_array_size(caches), 2);
    assert_text(json_array_get(caches, 0), "type", "Data");
    assert_number(json_array_get(caches, 0), "num_sharing", 2);
    assert_number(l3, "level", 3);
    assert_number(l3, "size", 33554432);
    assert_number(l3, "num_sharing", 8);
    json_decref(root);
    wm_table_destroy(t);
}

static void a_context_of_another_shape_is_left_out(void **state) {
    (void)state;
    wm_table *t = results();
    put_context(t, "caches", wmi_str("L1 Data 32 KiB x 4; something else"));
    put_context(t, "cpus_online", wmi_str("eight"));
    put_context(t, "command", wmi_str("an 'open quote"));
    json_t *root = write_gbench(t), *c = json_object_get(root, "context");
    assert_int_equal(json_array_size(json_object_get(c, "caches")), 0);
    assert_int_equal(json_array_size(json_object_get(c, "load_avg")), 0);
    assert_null(json_object_get(c, "num_cpus"));
    assert_null(json_object_get(c, "executable"));
    json_decref(root);
    wm_table_destroy(t);
}

static void only_results_can_be_written(void **state) {
    (void)state;
    wm_table *samples = wmi_samples_table_create(0, NULL, NULL), *t = results(), *few = NULL;
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wmi_buf b = WMI_BUF_INIT;
    select.columns = "benchmark,mean";
    assert_int_equal(wm_table_select(t, &select, &few, NULL), WM_OK);
    assert_int_equal(wmi_sink_gbench.write(samples, NULL, &b, &err), WM_EINVAL);
    assert_string_equal(err.message, "gbench-json holds results only, not a table of samples");
    assert_int_equal(wmi_sink_gbench.write(few, NULL, &b, &err), WM_EINVAL);
    assert_string_equal(err.message, "gbench-json needs the column 'region', which the table lacks");
    wmi_buf_free(&b);
    wm_table_destroy(samples);
    wm_table_destroy(t);
    wm_table_destroy(few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_and_its_aggregates),
        cmocka_unit_test(the_whole_function_has_no_region_in_its_name),
        cmocka_unit_test(cpu_time_is_the_time_of_that_metric),
        cmocka_unit_test(what_has_no_time_is_an_error),
        cmocka_unit_test(families_are_regions_of_benchmarks),
        cmocka_unit_test(counters_do_not_hide_members),
        cmocka_unit_test(any_bytes_make_valid_json),
        cmocka_unit_test(the_context_is_what_readers_look_for),
        cmocka_unit_test(a_context_of_another_shape_is_left_out),
        cmocka_unit_test(only_results_can_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
