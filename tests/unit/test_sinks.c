/* What all sinks have in common: golden files of one table that has everything, the
 * same numbers in every format, and the way to a sink. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/file.h"
#include "cells.h"
#include "made_tables.h"
#include "sink/csv.h"
#include "sink/json.h"
#include "sink/sink.h"

/* ---- a table with everything ---- */

static size_t add_matmul(wm_table *t, const char *region, const char *metric, const char *unit, int64_t n,
                         const char *key) {
    size_t row = add_result(t, "matmul", region, metric, unit, key);
    put(t, row, "n", wmi_i64(n));
    put(t, row, "type", wmi_str("f32"));
    put(t, row, "host", wmi_str("testhost"));
    put(t, row, "backend", wmi_str("cpu"));
    return row;
}

static void add_good_matmul(wm_table *t, int64_t n, const char *key) {
    const char *const regions[] = {"naive", "blocked"};
    double cubed = (double)(n * n * n);
    for (int i = 0; i < 2; i++) {
        double time = cubed / (i ? 8 : 2), spread = time * (i ? 0.005 : 0.03);
        size_t row = add_matmul(t, regions[i], "time", "ns", n, key);
        put_summary(t, row, time, spread, 20);
        put(t, row, "better", wmi_str("lower"));
        put(t, row, "timer", wmi_str("tsc"));
        put(t, row, "entries", wmi_i64(20));
        put(t, row, "threads", wmi_i64(1));
        put(t, row, "outliers", wmi_i64(i));
        put(t, row, "baseline", wmi_str("naive"));
        put(t, row, "ratio", wmi_f64(i ? 0.25 : 1));
        put(t, row, "ratio_ci95_low", wmi_f64(i ? 0.2475 : 1));
        put(t, row, "ratio_ci95_high", wmi_f64(i ? 0.2525 : 1));
        row = add_matmul(t, regions[i], "flop_rate", "FLOP/s", n, key);
        put_summary(t, row, 2 * cubed / time * 1e9, 1e7, 20);
        put(t, row, "better", wmi_str("higher"));
        put(t, row, "evaluated", wmi_str("samples"));
    }
}

static void add_bad_matmul(wm_table *t) {
    size_t row = add_matmul(t, "naive", "time", "ns", 1024, "n=1024,type=f32");
    put_summary(t, row, 536870912, 5e6, 3);
    put(t, row, "stop_reason", wmi_str("timeout"));
    row = add_matmul(t, "naive", "page-faults", "", 1024, "n=1024,type=f32");
    put(t, row, "status", wmi_str("missing"));
    put(t, row, "mean", wmi_null(WM_REASON_PERMISSION));
    put(t, row, "reason", wmi_str("perf_event_paranoid is 4"));
    row = add_matmul(t, "blocked", "time", "ns", 1024, "n=1024,type=f32");
    put_summary(t, row, 134217728, 1e6, 20);
    put(t, row, "status", wmi_str("error"));
    put(t, row, "reason", wmi_str("1 end without a begin"));
    const char *const status[] = {"failed", "skipped"};
    const char *const reasons[] = {"no memory for 3 matrices", "n is too large"};
    for (int i = 0; i < 2; i++) {
        row = add_matmul(t, "matmul", NULL, "", 4096 << i, i ? "n=8192,type=f32" : "n=4096,type=f32");
        put(t, row, "status", wmi_str(status[i]));
        put(t, row, "reason", wmi_str(reasons[i]));
        put(t, row, "mean", wmi_null(WM_REASON_NOT_RUN));
        put(t, row, "samples", wmi_i64(0));
    }
}

static void add_copy(wm_table *t) {
    const char *const modes[] = {"plain", "a|b \\ <c>"};
    for (int i = 0; i < 2; i++) {
        char key[32];
        snprintf(key, sizeof key, "share=%s", i ? "0.75" : "0.5");
        size_t row = add_result(t, "copy", "copy", "time", "us", key);
        put_summary(t, row, i ? 1500.25 : 0.0125, 0, 1);
        put(t, row, "share", wmi_f64(i ? 0.75 : 0.5));
        put(t, row, "mode", wmi_str(modes[i]));
        row = add_result(t, "copy", "copy", "byte_rate", "B/s", key);
        put_summary(t, row, 1.25e10, 0, 1);
        put(t, row, "share", wmi_f64(i ? 0.75 : 0.5));
        put(t, row, "mode", wmi_str(modes[i]));
    }
}

static void add_softmax(wm_table *t) {
    const char *const metrics[] = {"time", "dram.pct"};
    for (int i = 0; i < 2; i++) {
        size_t row = add_result(t, "softmax", "rows", metrics[i], i ? "%" : "ns", "n=8192");
        put_summary(t, row, i ? 62.5 : 21000, i ? 0.5 : 100, 10);
        put(t, row, "n", wmi_i64(8192));
        put(t, row, "backend", wmi_str("cuda"));
        put(t, row, "kernel", wmi_str("softmax_rows, reduce"));
        put(t, row, "kernels", wmi_i64(20));
        put(t, row, "shared", wmi_bool(false));
        put(t, row, "sm_clock_hz", wmi_f64(1.965e9));
        put(t, row, "sm_clock_pass", wmi_i64(1));
        put(t, row, "pass_time_ratio", wmi_f64(1.125));
        put(t, row, "note", wmi_str("kernel time was 12 % longer in the passes that read counters"));
        put(t, row, "bound", wmi_str("memory-bound: 62.5 % of peak, compute 44.0 %"));
        put(t, row, "device", wmi_str("NVIDIA H200"));
    }
}

static void add_odd(wm_table *t) {
    size_t row =
        add_result(t, "operator\"\" _kg, \x1b[31m\xff\r\n\u00e9", "a/b", "odd\x01metric", "x/\x1b", "");
    put_summary(t, row, -1234.5, 20, 2);
    add_row(t);
}

static wm_table *everything(void) {
    const char *const params[] = {"n", "type", "share", "mode"};
    const wm_type types[] = {WM_I64, WM_STR, WM_F64, WM_STR};
    wm_table *t = wmi_results_create(4, params, types);
    put_context(t, "date", wmi_str("2024-01-02T03:04:05+0100"));
    put_context(t, "host", wmi_str("testhost"));
    put_context(t, "cpus_online", wmi_i64(8));
    put_context(t, "caches", wmi_str("L1 Data 32 KiB x 4; L2 Unified 1024 KiB x 4"));
    put_context(t, "governor", wmi_str("powersave"));
    put_context(t, "turbo", wmi_null(WM_REASON_UNKNOWN));
    put_context(t, "virtual_machine", wmi_bool(false));
    put_context(t, "load1", wmi_f64(0.5));
    put_context(t, "timer_cost_ns", wmi_f64(20));
    put_context(t, "command", wmi_str("./bench --runs 20"));
    put_context(t, "warning", wmi_str("the governor is powersave: cpupower frequency-set -g performance"));
    put_context(t, "warning_2", wmi_str("odd \x1b[31m <b>\u00e9|"));
    add_good_matmul(t, 128, "n=128,type=f32");
    add_good_matmul(t, 512, "n=512,type=f32");
    add_bad_matmul(t);
    add_copy(t);
    add_softmax(t);
    add_odd(t);
    return t;
}

/* ---- golden files ---- */

static void golden_path(const char *name, char out[512]) {
    snprintf(out, 512, "%s/tests/golden/sink/%s", WM_SOURCE_DIR, name);
}

/* Compare with the golden file; GOLDEN_UPDATE=1 in the environment writes it anew. */
static void assert_golden(const char *name, const char *text, size_t n) {
    char path[512];
    char *golden = NULL;
    size_t golden_n = 0;
    wm_error err = WM_ERROR_INIT;
    golden_path(name, path);
    if (getenv("GOLDEN_UPDATE") && wmi_file_replace(path, text, n, &err) != WM_OK)
        fail_msg("%s", err.message);
    if (wmi_file_read(path, &golden, &golden_n, &err) != WM_OK) fail_msg("%s", err.message);
    if (golden_n != n || memcmp(golden, text, n) != 0) fail_msg("%s is not:\n%s", name, text);
    free(golden);
}

static void every_sink_writes_its_golden_file(void **state) {
    (void)state;
    const wm_write_opts plain = WM_WRITE_OPTS_INIT, unicode = {sizeof plain, false, true, 0, false},
                        color = {sizeof plain, true, true, 100, false};
    const struct {
        const char *name;
        const wmi_sink *sink;
        const wm_write_opts *opts;
    } files[] = {
        {"results.txt", &wmi_sink_text, &plain},       {"results.unicode.txt", &wmi_sink_text, &unicode},
        {"results.color.txt", &wmi_sink_text, &color}, {"results.csv", &wmi_sink_csv, NULL},
        {"results.json", &wmi_sink_json, NULL},        {"results.gbench.json", &wmi_sink_gbench, NULL},
        {"results.md", &wmi_sink_markdown, NULL}};
    wm_table *t = everything();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        wmi_buf b = WMI_BUF_INIT;
        assert_int_equal(files[i].sink->write(t, files[i].opts, &b, NULL), WM_OK);
        assert_golden(files[i].name, b.data, b.len);
        wmi_buf_free(&b);
    }
    wmi_buf b = WMI_BUF_INIT;
    assert_int_equal(wmi_sink_csv.companion(t, &b, NULL), WM_OK);
    assert_golden("results.csv.context.json", b.data, b.len);
    wmi_buf_free(&b);
    wm_table_destroy(t);
}

static void golden_files_read_back_to_an_equal_table(void **state) {
    (void)state;
    const char *const names[] = {"results.json", "results.csv"};
    wm_table *t = everything();
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        wm_table *back = NULL;
        wm_error err = WM_ERROR_INIT;
        wmi_buf why = WMI_BUF_INIT;
        golden_path(names[i], path);
        if (wm_table_read(path, NULL, &back, &err) != WM_OK) fail_msg("%s", err.message);
        if (!wmi_table_equal(t, back, &why)) fail_msg("%s: %s", names[i], why.data);
        wm_table_destroy(back);
    }
    wm_table_destroy(t);
}

/* What is shown to people holds no byte that a terminal acts on. */
static void texts_for_people_hold_no_control_bytes(void **state) {
    (void)state;
    const wm_write_opts unicode = {sizeof unicode, false, true, 0, false}, plain = WM_WRITE_OPTS_INIT;
    const wmi_sink *const sinks[] = {&wmi_sink_text, &wmi_sink_markdown, &wmi_sink_text};
    wm_table *t = everything();
    for (size_t i = 0; i < 3; i++) {
        wmi_buf b = WMI_BUF_INIT;
        assert_int_equal(sinks[i]->write(t, i < 2 ? &unicode : &plain, &b, NULL), WM_OK);
        for (size_t k = 0; k < b.len; k++) {
            unsigned char c = (unsigned char)b.data[k];
            if ((c < 0x20 && c != '\n') || c == 0x7f || (i == 2 && c >= 0x80))
                fail_msg("byte %02x at %zu", c, k);
            if (c >= 0x80) {
                size_t len = wmi_utf8_len(b.data + k, b.len - k);
                assert_true(len > 0);
                k += len - 1;
            }
        }
        assert_non_null(strstr(b.data, i == 1 ? "\\\\x1b" : "\\x1b"));
        wmi_buf_free(&b);
    }
    wm_table_destroy(t);
}

static void every_sink_takes_empty_and_null_tables(void **state) {
    (void)state;
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        wm_table *t = wmi_schema_table(s, 0, NULL, NULL);
        for (int rows = 0; rows < 3; rows++) {
            for (const wmi_sink *const *k = wmi_sinks; *k; k++) {
                wmi_buf b = WMI_BUF_INIT;
                wm_status status = (*k)->write(t, NULL, &b, NULL);
                bool refuses = *k == &wmi_sink_gbench && strcmp(s->kind, "results") != 0;
                assert_int_equal(status, refuses ? WM_EINVAL : WM_OK);
                assert_true(refuses || b.len > 0);
                wmi_buf_free(&b);
            }
            add_row(t);
        }
        wm_table_destroy(t);
    }
}

/* ---- no factor between formats ---- */

/* The nth field of the line, which holds no quotes. */
static double csv_number(const char *line, size_t field) {
    for (; field > 0; field--) line += strcspn(line, ",") + 1;
    double x = NAN;
    if (!wmi_number_parse(line, strcspn(line, ",\n"), &x)) fail_msg("no number: %s", line);
    return x;
}

static void assert_number(double x, double expected, const char *where) {
    if (x < expected || x > expected || isnan(x)) fail_msg("%s: %.17g is not %.17g", where, x, expected);
}

/* Every number of the schema has a value of its own. */
static wm_table *numbered(const wmi_schema *s) {
    wm_table *t = wmi_schema_table(s, 0, NULL, NULL);
    size_t row = add_row(t);
    for (size_t i = 0; i < s->count; i++) {
        if (s->columns[i].type == WM_F64) wmi_table_set(t, row, i, wmi_f64(1000.0 * (double)i + 0.5));
        if (s->columns[i].type == WM_I64) wmi_table_set(t, row, i, wmi_i64(1000 * (int64_t)i));
    }
    return t;
}

static void csv_and_json_hold_the_value_of_the_table(void **state) {
    (void)state;
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        wm_table *t = numbered(s);
        wmi_buf csv = WMI_BUF_INIT, json = WMI_BUF_INIT;
        assert_int_equal(wmi_sink_csv.write(t, NULL, &csv, NULL), WM_OK);
        assert_int_equal(wmi_sink_json.write(t, NULL, &json, NULL), WM_OK);
        json_t *root = json_loadb(json.data, json.len, 0, NULL);
        const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
        const char *line = strchr(csv.data, '\n') + 1;
        for (size_t i = 0; i < s->count; i++) {
            const char *name = s->columns[i].name;
            double value = number_cell(t, 0, name);
            if (isnan(value)) continue;
            assert_number(value, 1000.0 * (double)i + (s->columns[i].type == WM_F64 ? 0.5 : 0), name);
            assert_number(csv_number(line, i), value, name);
            assert_number(json_number_value(json_object_get(row, name)), value, name);
        }
        json_decref(root);
        wmi_buf_free(&csv);
        wmi_buf_free(&json);
        wm_table_destroy(t);
    }
}

/* gbench-json has nanoseconds for times and the table's own unit for counters. */
static void gbench_json_holds_the_value_of_the_table(void **state) {
    (void)state;
    wm_table *t = numbered(wmi_schema_of("results"));
    const struct {
        const char *suffix, *column;
    } fields[] = {
        {"", "mean"}, {"_mean", "mean"}, {"_median", "median"}, {"_stddev", "stddev"}, {"_cv", "rel_stddev"}};
    const char *const metrics[] = {"time", "flop_rate"}, *const units[] = {"ns", "FLOP/s"};
    add_row(t);
    for (size_t row = 0; row < 2; row++) {
        for (size_t i = 0; row && i < WMI_COL_COUNT; i++) wmi_table_set(t, 1, i, wmi_table_cell(t, 0, i));
        put(t, row, "benchmark", wmi_str("b"));
        put(t, row, "metric", wmi_str(metrics[row]));
        put(t, row, "unit", wmi_str(units[row]));
    }
    wmi_buf b = WMI_BUF_INIT;
    assert_int_equal(wmi_sink_gbench.write(t, NULL, &b, NULL), WM_OK);
    json_t *root = json_loadb(b.data, b.len, 0, NULL), *list = json_object_get(root, "benchmarks");
    assert_int_equal(json_array_size(list), 5);
    for (size_t i = 0; i < 5; i++) {
        const json_t *e = json_array_get(list, i);
        double value = number_cell(t, 0, fields[i].column);
        assert_string_equal(json_string_value(json_object_get(e, "name")) + 1, fields[i].suffix);
        assert_number(json_number_value(json_object_get(e, "real_time")), value, fields[i].column);
        assert_number(json_number_value(json_object_get(e, "cpu_time")), value, fields[i].column);
        assert_number(json_number_value(json_object_get(e, "flop_rate")), value, fields[i].column);
    }
    json_decref(root);
    wmi_buf_free(&b);
    wm_table_destroy(t);
}

/* ---- the way to a sink ---- */

static void sinks_are_found_by_name_and_suffix(void **state) {
    (void)state;
    const struct {
        const char *path, *name;
    } cases[] = {{"a.txt", "text"},
                 {"a.csv", "csv"},
                 {"dir.json/a.md", "markdown"},
                 {"a.json", "json"},
                 {"a.gbench.json", "gbench-json"},
                 {"a.b.csv", "csv"},
                 {"x.csv.json", "json"}};
    const wmi_sink *sink = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(wmi_sink_by_path(cases[i].path, &sink, NULL), WM_OK);
        assert_string_equal(sink->name, cases[i].name);
        assert_int_equal(wmi_sink_by_name(cases[i].name, &sink, NULL), WM_OK);
        assert_string_equal(sink->name, cases[i].name);
    }
}

static void unknown_formats_are_refused_by_name(void **state) {
    (void)state;
    const wmi_sink *sink = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_sink_by_name("xml", &sink, &err), WM_EINVAL);
    assert_string_equal(err.message, "the format takes text, csv, json, gbench-json or markdown, not 'xml'");
    const char *const paths[] = {"a", "a.xml", ".json", "json", "a.csv/b", ""};
    for (size_t i = 0; i < 6; i++) {
        char message[256];
        snprintf(message, sizeof message,
                 "the suffix of '%s' gives no format: it takes .txt, .csv, .json, .gbench.json or .md",
                 paths[i]);
        assert_int_equal(wmi_sink_by_path(paths[i], &sink, &err), WM_EINVAL);
        assert_string_equal(err.message, message);
    }
    assert_null(sink);
}

/* ---- files ---- */

typedef struct folder {
    char path[64];
} folder;

static int make_folder(void **state) {
    folder *f = malloc(sizeof *f);
    strcpy(f->path, "/tmp/warpmeter-sinks-XXXXXX");
    *state = f;
    return mkdtemp(f->path) ? 0 : -1;
}

static const char *in_folder(const folder *f, const char *name, char out[128]) {
    snprintf(out, 128, "%s/%s", f->path, name);
    return out;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"t.csv", "t.csv.context.json", "t.json",
                                        "t.md",  "t.gbench.json",      "t.dat"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_folder(*state, names[i], path));
        rmdir(path);
    }
    int status = rmdir(((folder *)*state)->path);
    free(*state);
    return status;
}

static void a_file_is_written_and_read_back(void **state) {
    const char *const names[] = {"t.csv", "t.json", "t.dat"};
    wm_table *t = everything();
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        wm_table *back = NULL;
        const char *format = i == 2 ? "json" : NULL;
        wm_error err = WM_ERROR_INIT;
        if (wm_table_write(t, in_folder(*state, names[i], path), format, NULL, &err) != WM_OK)
            fail_msg("%s", err.message);
        if (wm_table_read(path, format, &back, &err) != WM_OK) fail_msg("%s", err.message);
        assert_true(wmi_table_equal(t, back, NULL));
        wm_table_destroy(back);
    }
    wm_table_destroy(t);
}

static void what_is_not_read_is_refused(void **state) {
    char path[128];
    wm_table *t = everything(), *back = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wm_table_write(t, in_folder(*state, "t.md", path), NULL, NULL, NULL), WM_OK);
    assert_int_equal(wm_table_read(path, NULL, &back, &err), WM_EUNSUPPORTED);
    assert_string_equal(err.message, "markdown is only written; csv and json are read as well");
    assert_int_equal(wm_table_read(in_folder(*state, "none.json", path), NULL, &back, &err), WM_EIO);
    assert_int_equal(err.native_code, ENOENT);
    assert_int_equal(wm_table_read("a.xml", NULL, &back, NULL), WM_EINVAL);
    assert_int_equal(wm_table_read(NULL, NULL, &back, NULL), WM_EINVAL);
    assert_null(back);
    wm_table_destroy(t);
}

/* A companion that cannot be written is found before the table is touched. */
static void a_blocked_companion_leaves_the_old_file(void **state) {
    char path[128], companion[128];
    wm_table *t = everything();
    wm_error err = WM_ERROR_INIT;
    char *text = NULL;
    size_t n;
    in_folder(*state, "t.csv", path);
    assert_int_equal(wmi_sink_check(path, NULL, &err), WM_OK);
    assert_int_equal(wmi_file_replace(path, "old", 3, NULL), WM_OK);
    assert_int_equal(mkdir(in_folder(*state, "t.csv.context.json", companion), 0777), 0);
    assert_int_equal(wmi_sink_check(path, NULL, &err), WM_EIO);
    assert_non_null(strstr(err.message, "t.csv.context.json"));
    assert_int_equal(wm_table_write(t, path, NULL, NULL, &err), WM_EIO);
    assert_non_null(strstr(err.message, "t.csv.context.json"));
    assert_int_equal(wmi_file_read(path, &text, &n, NULL), WM_OK);
    assert_string_equal(text, "old");
    free(text);
    wm_table_destroy(t);
}

static void a_check_refuses_what_a_write_would(void **state) {
    char path[128];
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_sink_check(in_folder(*state, "t.xml", path), NULL, &err), WM_EINVAL);
    assert_int_equal(wmi_sink_check(in_folder(*state, "none/t.json", path), NULL, &err), WM_EIO);
    assert_int_equal(wmi_sink_check(in_folder(*state, "t.dat", path), "json", &err), WM_OK);
    assert_int_equal(wmi_sink_check("/dev/null", "csv", &err), WM_OK);
}

static void a_table_is_printed_to_a_stream(void **state) {
    char path[128], text[64] = "";
    wm_table *t = wmi_table_create("results");
    wm_error err = WM_ERROR_INIT;
    wmi_table_add_column(t, "mean", WM_F64, "ns", NULL);
    put(t, add_row(t), "mean", wmi_f64(1500));
    FILE *f = fopen(in_folder(*state, "t.dat", path), "w+");
    assert_int_equal(wm_table_print(t, f, NULL, NULL, &err), WM_OK);
    assert_int_equal(wm_table_print(t, f, "csv", NULL, &err), WM_OK);
    assert_int_equal(wm_table_print(t, f, "xml", NULL, &err), WM_EINVAL);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    assert_string_equal(text, "    mean\n1.500 us\nmean,nulls\n1500,\n");
    fclose(f);
    f = fopen("/dev/full", "w");
    assert_int_equal(wm_table_print(t, f, "csv", NULL, &err), WM_EIO);
    assert_int_equal(err.native_code, ENOSPC);
    fclose(f);
    wm_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sink_writes_its_golden_file),
        cmocka_unit_test(golden_files_read_back_to_an_equal_table),
        cmocka_unit_test(texts_for_people_hold_no_control_bytes),
        cmocka_unit_test(every_sink_takes_empty_and_null_tables),
        cmocka_unit_test(csv_and_json_hold_the_value_of_the_table),
        cmocka_unit_test(gbench_json_holds_the_value_of_the_table),
        cmocka_unit_test(sinks_are_found_by_name_and_suffix),
        cmocka_unit_test(unknown_formats_are_refused_by_name),
        cmocka_unit_test_setup_teardown(a_file_is_written_and_read_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_read_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_blocked_companion_leaves_the_old_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_check_refuses_what_a_write_would, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_table_is_printed_to_a_stream, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
