#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <float.h>

#include "cells.h"
#include "made_tables.h"
#include "sink/csv.h"
#include "sink/sink.h"

typedef struct files {
    char *csv, *companion;
} files;

static files write_files(const wm_table *t) {
    wmi_buf csv = WMI_BUF_INIT, companion = WMI_BUF_INIT;
    assert_int_equal(wmi_sink_csv.write(t, NULL, &csv, NULL), WM_OK);
    assert_int_equal(wmi_sink_csv.companion(t, &companion, NULL), WM_OK);
    return (files){wmi_buf_take(&csv), wmi_buf_take(&companion)};
}

static void free_files(files f) {
    free(f.csv);
    free(f.companion);
}

static wm_table *read_with(const char *csv, const char *companion) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    size_t n = companion ? strlen(companion) : 0;
    if (wmi_csv_parse("f.csv", csv, strlen(csv), companion, n, &t, &err) != WM_OK)
        fail_msg("%s\n%s", err.message, csv);
    return t;
}

static void assert_same(const wm_table *a, const wm_table *b) {
    wmi_buf why = WMI_BUF_INIT;
    if (!wmi_table_equal(a, b, &why)) fail_msg("%s", why.data);
}

static void assert_survives(const wm_table *t) {
    files f = write_files(t);
    wm_table *back = read_with(f.csv, f.companion);
    assert_same(t, back);
    wm_table_destroy(back);
    free_files(f);
}

static void assert_refused(const char *csv, const char *companion, wm_status status, const char *message) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(
        wmi_csv_parse("f.csv", csv, strlen(csv), companion, companion ? strlen(companion) : 0, &t, &err),
        status);
    assert_int_equal(err.code, status);
    assert_string_equal(err.message, message);
    assert_null(t);
}

static void values_survive(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    const double doubles[] = {0, -0.0, 1, 0.1, 1e22, 123456789012345680.0, DBL_MIN, -DBL_MAX, 5e-324};
    const int64_t ints[] = {0, INT64_MAX, INT64_MIN, INT64_C(9007199254740993)};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        size_t row = add_row(t);
        put(t, row, "f", wmi_f64(doubles[i]));
        put(t, row, "i", wmi_i64(ints[i % 4]));
        put(t, row, "b", wmi_bool(i % 2));
        put_context(t, "double", wmi_f64(doubles[i]));
        assert_survives(t);
    }
    for (int why = WM_REASON_NONE + 1; why < WM_REASON_COUNT; why++) {
        size_t row = add_row(t);
        put(t, row, "f", wmi_null((wm_reason)why));
        put(t, row, "s", wmi_null((wm_reason)why));
    }
    put_context(t, "turbo", wmi_null(WM_REASON_PERMISSION));
    assert_survives(t);
    wm_table_destroy(t);
}

static void any_bytes_survive_as_names_and_texts(void **state) {
    (void)state;
    wm_table *t = table_of_hard_names();
    assert_survives(t);
    wm_table_destroy(t);
}

static void tables_without_rows_or_columns_survive(void **state) {
    (void)state;
    wm_table *empty = wmi_table_create("doctor"), *t = one_of_each();
    assert_survives(empty);
    assert_survives(t);
    add_row(t);
    assert_survives(t);
    wm_table_destroy(empty);
    wm_table_destroy(t);
}

static void the_file_is_as_described(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    put(t, row, "i", wmi_i64(3));
    put(t, row, "f", wmi_f64(0.5));
    put(t, row, "s", wmi_str(""));
    row = add_row(t);
    put(t, row, "s", wmi_str("a \"b\", c"));
    put(t, row, "f", wmi_null(WM_REASON_FEW_SAMPLES));
    put(t, row, "i", wmi_null(WM_REASON_NO_EVENT));
    put(t, row, "b", wmi_bool(true));
    row = add_row(t);
    put(t, row, "s", wmi_str("12"));
    put_context(t, "host", wmi_str("h"));
    files f = write_files(t);
    assert_string_equal(f.csv, "i,f,s,b,nulls\n"
                               "3,0.5,\"\",,\n"
                               ",,\"a \"\"b\"\", c\",true,i=no-event f=few-samples\n"
                               ",,\"12\",,\n");
    assert_string_equal(f.companion, "{\n"
                                     "\"schema\": \"warpmeter/context\",\n"
                                     "\"version\": 1,\n"
                                     "\"kind\": \"results\",\n"
                                     "\"context\": [\n"
                                     "  {\"key\": \"host\", \"type\": \"string\", \"value\": \"h\"}\n"
                                     "],\n"
                                     "\"columns\": [\n"
                                     "  {\"name\": \"i\", \"type\": \"int64\", \"unit\": \"B\"},\n"
                                     "  {\"name\": \"f\", \"type\": \"double\", \"unit\": \"row\"},\n"
                                     "  {\"name\": \"s\", \"type\": \"string\", \"unit\": \"\"},\n"
                                     "  {\"name\": \"b\", \"type\": \"bool\", \"unit\": \"\"}\n"
                                     "]\n"
                                     "}\n");
    free_files(f);
    wm_table_destroy(t);
}

static void line_ends_and_a_byte_order_mark_do_not_matter(void **state) {
    (void)state;
    wm_table *lf = read_with("metric,mean,n,nulls\na,1,2,\n\"b\",3,4,\"\"\n", NULL);
    const char *const same[] = {"metric,mean,n,nulls\r\na,1,2,\r\n\"b\",3,4,\"\"\r\n",
                                "\xef\xbb\xbfmetric,mean,n,nulls\na,1,2,\n\nb,3,4,\n\n",
                                "\"metric\",\"mean\",n,\"nulls\"\n\r\na,1,2,\nb,3,4,",
                                "nulls,metric,mean,n\n,a,1,2\n,\"b\",3,4"};
    for (size_t i = 0; i < 4; i++) {
        wm_table *t = read_with(same[i], NULL);
        assert_same(lf, t);
        wm_table_destroy(t);
    }
    wm_table_destroy(lf);
}

static void assert_type(const wm_table *t, const char *column, wm_type type) {
    wm_column c = {0};
    assert_int_equal(wm_table_column(t, wm_table_find(t, column), &c), WM_OK);
    assert_int_equal(c.type, type);
}

static void without_its_companion_types_are_inferred(void **state) {
    (void)state;
    wm_table *t = read_with("benchmark,mean,samples,stable,int,mixed,text,quoted,flag,none,nulls\n"
                            "x,1,20,true,-3,4,a,\"1\",true,,\n"
                            "y,2.5,,,9,0.5,7,\"2\",false,,\n",
                            NULL);
    assert_string_equal(wm_table_kind(t), "results");
    assert_type(t, "mean", WM_F64);
    assert_type(t, "samples", WM_I64);
    assert_type(t, "stable", WM_BOOL);
    assert_type(t, "int", WM_I64);
    assert_type(t, "mixed", WM_F64);
    assert_type(t, "text", WM_STR);
    assert_type(t, "quoted", WM_STR);
    assert_type(t, "flag", WM_BOOL);
    assert_type(t, "none", WM_STR);
    assert_string_equal(text_cell(t, 1, "text"), "7");
    assert_true(cell(t, 0, "mixed").as.f64 == 4.0);
    wm_column c = {0};
    wm_table_column(t, wm_table_find(t, "mean"), &c);
    assert_string_equal(c.unit, "row");
    wm_table_destroy(t);
}

static void every_kind_is_known_by_its_columns(void **state) {
    (void)state;
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        wm_table *t = wmi_schema_table(s, 0, NULL, NULL);
        files f = write_files(t);
        wm_table *back = read_with(f.csv, NULL);
        assert_same(t, back);
        wm_table_destroy(back);
        wm_table_destroy(t);
        free_files(f);
    }
}

static void a_file_without_the_column_of_reasons_has_unknown_ones(void **state) {
    (void)state;
    wm_table *t = read_with("metric,mean\nm,\n,1\n", NULL);
    assert_int_equal(cell(t, 0, "mean").reason, WM_REASON_UNKNOWN);
    assert_int_equal(cell(t, 1, "metric").reason, WM_REASON_UNKNOWN);
    wm_table_destroy(t);
}

static void reasons_that_name_nothing_are_stepped_over(void **state) {
    (void)state;
    wm_table *t =
        read_with("metric,mean,nulls\nm,,mean=new-reason metric=backend other=backend x = mean\n", NULL);
    assert_int_equal(cell(t, 0, "mean").reason, WM_REASON_UNKNOWN);
    assert_string_equal(text_cell(t, 0, "metric"), "m");
    wm_table_destroy(t);
}

/* ---- samples that grow ---- */

static wm_table *samples_table(void) {
    const char *const params[] = {"n", "alpha", "mode"};
    const wm_type types[] = {WM_I64, WM_F64, WM_STR};
    wm_table *t = wmi_samples_table_create(3, params, types);
    for (int i = 0; i < 4; i++) {
        size_t row = add_row(t);
        put(t, row, "benchmark", wmi_str("b"));
        put(t, row, "region", wmi_str("b"));
        put(t, row, "metric", wmi_str("time"));
        put(t, row, "unit", wmi_str("ns"));
        put(t, row, "run", wmi_i64(i));
        put(t, row, "pass", wmi_i64(0));
        put(t, row, "value", i == 2 ? wmi_null(WM_REASON_DROPPED) : wmi_f64(i * 1.5));
        if (i == 2) put(t, row, "reason", wmi_str("dropped"));
        put(t, row, "config_key", wmi_str("a=1"));
        put(t, row, "n", wmi_i64(1));
        put(t, row, "alpha", wmi_f64(0.5));
        put(t, row, "mode", wmi_str("1"));
    }
    return t;
}

static char *grown_file(const wm_table *t) {
    wmi_buf b = WMI_BUF_INIT;
    assert_int_equal(wmi_csv_header(t, &b), WM_OK);
    assert_int_equal(wmi_csv_rows(t, 2, &b), WM_OK);
    assert_int_equal(wmi_csv_rows(t, 4, &b), WM_OK);
    return wmi_buf_take(&b);
}

static void a_file_that_grew_is_read_without_a_companion(void **state) {
    (void)state;
    wm_table *t = samples_table();
    char *text = grown_file(t);
    wm_table *back = read_with(text, NULL);
    assert_string_equal(wm_table_kind(back), "samples");
    assert_int_equal(wm_table_rows(back), 2);
    assert_int_equal(wm_table_context_count(back), 0);
    assert_int_equal(cell(back, 0, "value").reason, WM_REASON_DROPPED);
    assert_true(cell(back, 1, "value").as.f64 == 4.5);
    assert_type(back, "n", WM_I64);
    assert_type(back, "alpha", WM_F64);
    assert_type(back, "mode", WM_STR);
    wm_table_destroy(back);
    wm_table_destroy(t);
    free(text);
}

static size_t count(const char *s, size_t n, char c) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += s[i] == c;
    return found;
}

/* Cut the file at every byte, as a killed writer may: whole lines are read, half a
 * line is left out aloud, and nothing else happens. A line with all its commas is
 * whole. */
static void half_a_last_line_is_left_out_aloud(void **state) {
    (void)state;
    wm_table *t = samples_table();
    char *text = grown_file(t);
    size_t header = strcspn(text, "\n") + 1, commas = count(text, header, ',');
    for (size_t len = header; len <= strlen(text); len++) {
        wm_table *back = NULL;
        wm_error err = WM_ERROR_INIT;
        if (wmi_csv_parse("f.csv", text, len, NULL, 0, &back, &err) != WM_OK)
            fail_msg("%zu: %s", len, err.message);
        size_t begin = len;
        while (text[begin - 1] != '\n') begin--;
        bool piece = begin < len, whole = piece && count(text + begin, len - begin, ',') == commas;
        assert_int_equal(wm_table_rows(back), count(text + header, len - header, '\n') + whole);
        assert_int_equal(wm_table_context_count(back), piece && !whole);
        if (piece && !whole)
            assert_string_equal(wmi_table_context_value(back, "warning_cut").as.str,
                                "the last line of the file was cut short and is left out");
        wm_table_destroy(back);
    }
    wm_table_destroy(t);
    free(text);
}

/* ---- the companion ---- */

static void a_companion_of_other_columns_is_left_out_aloud(void **state) {
    (void)state;
    wm_table *t = one_of_each(), *samples = samples_table();
    files f = write_files(t);
    char *text = grown_file(samples);
    wm_table *back = read_with(text, f.companion);
    assert_string_equal(wm_table_kind(back), "samples");
    assert_string_equal(wmi_table_context_value(back, "warning_context").as.str,
                        "the file of the context tells of other columns and was left out");
    wm_table_destroy(back);
    wm_table_destroy(t);
    wm_table_destroy(samples);
    free_files(f);
    free(text);
}

static void a_broken_companion_is_named(void **state) {
    (void)state;
    assert_refused("metric\nx\n", "{", WM_EPARSE,
                   "f.csv.context.json: line 1: unexpected token near end of file");
    assert_refused("metric\nx\n", "{\"schema\":\"warpmeter/context\",\"version\":2}", WM_EUNSUPPORTED,
                   "f.csv.context.json is of version 2 of the format; this library reads up to version 1");
}

/* ---- faults ---- */

static void faults_are_placed(void **state) {
    (void)state;
    assert_refused("", NULL, WM_EPARSE, "f.csv is empty");
    assert_refused("\n\n", NULL, WM_EPARSE, "f.csv is empty");
    assert_refused(
        "a,b\n1,2\n", NULL, WM_EPARSE,
        "f.csv has no column of a table of warpmeter, and no f.csv.context.json says what it holds");
    assert_refused("metric,mean\nx,1\ny\n", NULL, WM_EPARSE,
                   "f.csv: line 3: 1 fields, where the header has 2");
    assert_refused("metric,mean\nx,1,2\n", NULL, WM_EPARSE,
                   "f.csv: line 2: 3 fields, where the header has 2");
    assert_refused("metric,mean\nx,fast\n", NULL, WM_EPARSE,
                   "f.csv: line 2: column 'mean' takes numbers, not 'fast'");
    assert_refused("metric,mean\nx,nan\n", NULL, WM_EPARSE,
                   "f.csv: line 2: column 'mean' takes numbers, not 'nan'");
    assert_refused("metric,mean\nx,\"\"\n", NULL, WM_EPARSE,
                   "f.csv: line 2: column 'mean' takes numbers, not ''");
    assert_refused("metric,samples\n\"a\nb\",1\nx,1.5\n", NULL, WM_EPARSE,
                   "f.csv: line 4: column 'samples' takes whole numbers, not '1.5'");
    assert_refused("metric,stable\nx,yes\n", NULL, WM_EPARSE,
                   "f.csv: line 2: column 'stable' takes true or false, not 'yes'");
    assert_refused("metric,mean\n\"x\"y,1\n", NULL, WM_EPARSE,
                   "f.csv: line 2: something follows a closing quote");
    assert_refused("metric,mean\n\"x,1\ny,1\n", NULL, WM_EPARSE, "f.csv: line 2: a quote is not closed");
    assert_refused("metric,\"mean", NULL, WM_EPARSE, "f.csv: line 1: a quote is not closed");
    assert_refused("metric,metric\n", NULL, WM_EPARSE, "f.csv: two columns are called 'metric'");
    assert_refused("nulls,metric,nulls\n", NULL, WM_EPARSE, "f.csv: two columns are called 'nulls'");
    wm_error err = WM_ERROR_INIT;
    wm_table *t = NULL;
    assert_int_equal(wmi_csv_parse("f.csv", "metric\na\0b\n", 11, NULL, 0, &t, &err), WM_EPARSE);
    assert_string_equal(err.message, "f.csv holds a NUL byte: it is no text");
}

static void quotes_inside_a_plain_field_are_plain(void **state) {
    (void)state;
    wm_table *t = read_with("metric,mean\na\"b\"\"c,1\na\rb,2\n", NULL);
    assert_string_equal(text_cell(t, 0, "metric"), "a\"b\"\"c");
    assert_string_equal(text_cell(t, 1, "metric"), "a\rb");
    wm_table_destroy(t);
}

static void too_many_columns_are_refused(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    char *text = malloc(COUNT * 8), *end = text;
    for (int i = 0; i < COUNT; i++) end += sprintf(end, "c%d,", i);
    wm_error err = WM_ERROR_INIT;
    wm_table *t = NULL;
    assert_int_equal(wmi_csv_parse("f.csv", text, strlen(text), NULL, 0, &t, &err), WM_EPARSE);
    assert_string_equal(err.message, "f.csv: line 1: there are too many fields");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive),
        cmocka_unit_test(any_bytes_survive_as_names_and_texts),
        cmocka_unit_test(tables_without_rows_or_columns_survive),
        cmocka_unit_test(the_file_is_as_described),
        cmocka_unit_test(line_ends_and_a_byte_order_mark_do_not_matter),
        cmocka_unit_test(without_its_companion_types_are_inferred),
        cmocka_unit_test(every_kind_is_known_by_its_columns),
        cmocka_unit_test(a_file_without_the_column_of_reasons_has_unknown_ones),
        cmocka_unit_test(reasons_that_name_nothing_are_stepped_over),
        cmocka_unit_test(a_file_that_grew_is_read_without_a_companion),
        cmocka_unit_test(half_a_last_line_is_left_out_aloud),
        cmocka_unit_test(a_companion_of_other_columns_is_left_out_aloud),
        cmocka_unit_test(a_broken_companion_is_named),
        cmocka_unit_test(faults_are_placed),
        cmocka_unit_test(quotes_inside_a_plain_field_are_plain),
        cmocka_unit_test(too_many_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
