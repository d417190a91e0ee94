#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <float.h>
#include <jansson.h>

#include "cells.h"
#include "made_tables.h"
#include "sink/json.h"
#include "sink/sink.h"

static char *write_json(const wm_table *t) {
    wmi_buf b = WMI_BUF_INIT;
    assert_int_equal(wmi_sink_json.write(t, NULL, &b, NULL), WM_OK);
    return wmi_buf_take(&b);
}

static wm_table *read_json(const char *text) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_json_parse("f.json", WMI_JSON_TABLE, text, strlen(text), &t, &err) != WM_OK)
        fail_msg("%s\n%s", err.message, text);
    return t;
}

static void assert_survives(const wm_table *t) {
    wmi_buf why = WMI_BUF_INIT;
    char *text = write_json(t);
    wm_table *back = read_json(text);
    if (!wmi_table_equal(t, back, &why)) fail_msg("%s", why.data);
    wm_table_destroy(back);
    free(text);
}

static void assert_refused(const char *text, wm_status status, const char *message) {
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_json_parse("f.json", WMI_JSON_TABLE, text, strlen(text), &t, &err), status);
    assert_int_equal(err.code, status);
    assert_string_equal(err.message, message);
    assert_null(t);
}

static void values_survive(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    const double doubles[] = {0,       -0.0,    1,        -3,     0.1,    1e22, 1e17, 123456789012345680.0,
                              DBL_MIN, DBL_MAX, -DBL_MAX, 5e-324, 1.0 / 3};
    const int64_t ints[] = {0, INT64_MAX, INT64_MIN, INT64_C(9007199254740993), -1};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        size_t row = add_row(t);
        put(t, row, "f", wmi_f64(doubles[i]));
        put(t, row, "i", wmi_i64(ints[i % 5]));
        put(t, row, "b", wmi_bool(i % 2));
        put_context(t, "double", wmi_f64(doubles[i]));
        put_context(t, "int", wmi_i64(ints[i % 5]));
        assert_survives(t);
    }
    put_context(t, "bool", wmi_bool(false));
    put_context(t, "null", wmi_null(WM_REASON_PERMISSION));
    assert_survives(t);
    wm_table_destroy(t);
}

static void every_reason_survives(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    for (int why = WM_REASON_NONE + 1; why < WM_REASON_COUNT; why++) {
        size_t row = add_row(t);
        put(t, row, "f", wmi_null((wm_reason)why));
        put(t, row, "s", wmi_null((wm_reason)why));
        put(t, row, "i", wmi_i64(why));
        put_context(t, wm_reason_slug((wm_reason)why), wmi_null((wm_reason)why));
    }
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

/* The file by the eyes of another reader. */
static void the_file_is_as_described(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    put(t, row, "i", wmi_i64(3));
    put(t, row, "f", wmi_null(WM_REASON_FEW_SAMPLES));
    put_context(t, "host", wmi_str("h"));
    char *text = write_json(t);
    assert_string_equal(
        text, "{\n"
              "\"schema\": \"warpmeter/table\",\n"
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
              "],\n"
              "\"rows\": [\n"
              "  {\"i\": 3, \"f\": null, \"s\": null, \"b\": null, \"nulls\": {\"f\": \"few-samples\"}}\n"
              "]\n"
              "}\n");
    free(text);
    wm_table_destroy(t);
}

static void members_may_come_in_any_order_and_unknown_ones_are_skipped(void **state) {
    (void)state;
    wm_table *t =
        read_json("{ \"rows\" : [ {\"b\":true,\"more\":[{}],\"f\":1} , {\"nulls\":{\"x\":\"few-samples\"}},"
                  "{\"f\":null,\"nulls\":{\"f\":\"a-new-reason\"}}],"
                  "\"columns\":[{\"name\":\"f\",\"type\":\"double\",\"width\":3},"
                  "{\"type\":\"bool\",\"name\":\"b\",\"unit\":\"u\"}],"
                  "\"later\":{\"rows\":[1,\"]\",2]},\"kind\":\"results\",\"version\":1,"
                  "\"context\":[],\"schema\":\"warpmeter/table\"} \n");
    assert_int_equal(wm_table_rows(t), 3);
    assert_true(cell(t, 0, "f").as.f64 == 1.0);
    assert_true(cell(t, 0, "b").as.b);
    assert_int_equal(cell(t, 1, "f").reason, WM_REASON_NOT_APPLICABLE);
    assert_int_equal(cell(t, 2, "f").reason, WM_REASON_UNKNOWN);
    wm_table_destroy(t);
}

#define HEAD "{\"schema\":\"warpmeter/table\",\"version\":1,\"kind\":\"results\",\"context\":[],"
#define COLS "\"columns\":[{\"name\":\"i\",\"type\":\"int64\"}],"

static void what_is_no_table_is_refused(void **state) {
    (void)state;
    assert_refused("", WM_EPARSE, "f.json: line 1: this is no JSON object");
    assert_refused("[]", WM_EPARSE, "f.json: line 1: this is no JSON object");
    assert_refused("{}", WM_EPARSE,
                   "f.json is no file of warpmeter: its member \"schema\" is not \"warpmeter/table\"");
    assert_refused("{\"context\":{},\"benchmarks\":[]}", WM_EPARSE,
                   "f.json is no file of warpmeter: its member \"schema\" is not \"warpmeter/table\"");
    assert_refused("{\"schema\":\"warpmeter/context\"}", WM_EPARSE,
                   "f.json goes with a CSV file: read that file instead");
    assert_refused("{\"schema\":\"warpmeter/table\",\"version\":2}", WM_EUNSUPPORTED,
                   "f.json is of version 2 of the format; this library reads up to version 1");
    assert_refused("{\"schema\":\"warpmeter/table\",\"version\":\"1\"}", WM_EPARSE,
                   "f.json: the member \"version\" takes a whole number from 1");
    assert_refused("{\"schema\":\"warpmeter/table\",\"version\":1}", WM_EPARSE,
                   "f.json: the member \"kind\" does not say what the table is");
    assert_refused("{\"schema\":\"warpmeter/table\",\"version\":1,\"kind\":\"x\"}", WM_EPARSE,
                   "f.json: the member \"context\" is no array");
    assert_refused(HEAD COLS "\"more\":1}", WM_EPARSE, "f.json: there is no member \"rows\"");
}

static void broken_text_is_placed(void **state) {
    (void)state;
    assert_refused("{\n\"a\" 1}", WM_EPARSE, "f.json: line 2: ':' is wanted");
    assert_refused("{\n\"a\":1\n\"b\":2}", WM_EPARSE, "f.json: line 3: ',' or '}' is wanted");
    assert_refused("{\"a\":1}\nx", WM_EPARSE, "f.json: line 2: something follows the end of the object");
    assert_refused("{\"a\":1,\"a\":1}", WM_EPARSE, "f.json: line 1: a member that was there before");
    assert_refused("{\"rows\":[],\"rows\":[]}", WM_EPARSE, "f.json: line 1: a member that was there before");
    assert_refused(HEAD COLS "\"rows\":[{}\n{}]}", WM_EPARSE, "f.json: line 2: ',' or ']' is wanted");
    assert_refused(HEAD COLS "\"rows\":[\n3]}", WM_EPARSE, "f.json: line 2: a row is no object");
    assert_refused(HEAD COLS "\"rows\":3}", WM_EPARSE, "f.json: line 1: the member \"rows\" is no array");
    assert_refused(HEAD COLS "\"rows\":[{}", WM_EPARSE, "f.json: line 1: ',' or '}' is wanted");
    assert_refused(HEAD "\"columns\":[],\"rows\":[{}]}", WM_EPARSE,
                   "f.json: line 1: there are rows, but no columns");
}

static void values_of_another_type_are_refused(void **state) {
    (void)state;
    const char *const values[] = {"3.5", "3.0", "\"3\"", "true", "[]"};
    for (size_t i = 0; i < 5; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s\"rows\":[\n{\"i\":%s}]}", HEAD, COLS, values[i]);
        assert_refused(text, WM_EPARSE, "f.json: line 2: column 'i' takes an int64 or null");
    }
    assert_refused(HEAD "\"columns\":[{\"name\":\"d\",\"type\":\"double\"}],\"rows\":[{\"d\":\"nan\"}]}",
                   WM_EPARSE, "f.json: line 1: column 'd' takes a double or null");
}

static void columns_are_checked(void **state) {
    (void)state;
    assert_refused(HEAD
                   "\"columns\":[{\"name\":\"i\",\"type\":\"int64\"},{\"name\":\"i\",\"type\":\"bool\"}]}",
                   WM_EPARSE, "f.json: column 2: its name was there before");
    assert_refused(HEAD "\"columns\":[{\"name\":\"nulls\",\"type\":\"int64\"}]}", WM_EPARSE,
                   "f.json: column 1: the name \"nulls\" is kept for the reasons of nulls");
    assert_refused(HEAD "\"columns\":[{\"type\":\"int64\"}]}", WM_EPARSE,
                   "f.json: column 1: its \"name\" is no string");
    assert_refused(HEAD "\"columns\":[{\"name\":\"i\",\"type\":\"int32\"}]}", WM_EPARSE,
                   "f.json: column 1: its \"type\" is none of int64, double, string and bool");
    assert_refused("{\"schema\":\"warpmeter/table\",\"version\":1,\"kind\":\"x\",\"context\":[{\"key\":\"k\","
                   "\"type\":\"int64\",\"value\":\"x\"}]}",
                   WM_EPARSE, "f.json: context entry 1: its \"value\" is not of its \"type\"");
}

static void jansson_names_what_it_refuses(void **state) {
    (void)state;
    const char *const texts[] = {
        HEAD COLS "\"rows\":[{\"i\":1,\"i\":2}]}", HEAD COLS "\"rows\":[{\"i\":nan}]}",
        HEAD COLS "\"rows\":[{\"i\":\"\xff\"}]}", HEAD COLS "\"rows\":[{\"i\":99999999999999999999}]}",
        HEAD COLS "\"rows\":[{\"i\":\"\\u0000\"}]}"};
    for (size_t i = 0; i < 5; i++) {
        wm_error err = WM_ERROR_INIT;
        wm_table *t = NULL;
        assert_int_equal(wmi_json_parse("f.json", WMI_JSON_TABLE, texts[i], strlen(texts[i]), &t, &err),
                         WM_EPARSE);
        assert_int_equal(strncmp(err.message, "f.json: line 1: ", 16), 0);
        assert_true(strlen(err.message) > 20);
    }
}

/* As other programs write it: 1e23 without an exponent, and a mark in front of the text. */
static void doubles_may_look_whole(void **state) {
    (void)state;
    wm_table *t = read_json("\xef\xbb\xbf" HEAD "\"columns\":[{\"name\":\"i\",\"type\":\"int64\"},"
                            "{\"name\":\"f\",\"type\":\"double\"}],"
                            "\"rows\":[{\"i\":9007199254740991,\"f\":100000000000000000000000},"
                            "{\"i\":9223372036854775807,\"f\":9007199254740993}]}");
    assert_int_equal(wmi_table_cell(t, 0, 0).as.i64, 9007199254740991);
    assert_true(wmi_table_cell(t, 0, 1).as.f64 == 1e23);
    assert_int_equal(wmi_table_cell(t, 1, 0).as.i64, INT64_MAX);
    assert_true(wmi_table_cell(t, 1, 1).as.f64 == 9007199254740992.0);
    wm_table_destroy(t);
    /* Rather than a number that is wrong by one, none. */
    assert_refused(HEAD "\"columns\":[{\"name\":\"i\",\"type\":\"int64\"},"
                        "{\"name\":\"f\",\"type\":\"double\"}],"
                        "\"rows\":[{\"i\":9007199254740993,\"f\":100000000000000000000000}]}",
                   WM_EPARSE, "f.json: line 1: column 'i' takes an int64 or null");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive),
        cmocka_unit_test(every_reason_survives),
        cmocka_unit_test(any_bytes_survive_as_names_and_texts),
        cmocka_unit_test(tables_without_rows_or_columns_survive),
        cmocka_unit_test(the_file_is_as_described),
        cmocka_unit_test(members_may_come_in_any_order_and_unknown_ones_are_skipped),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(broken_text_is_placed),
        cmocka_unit_test(values_of_another_type_are_refused),
        cmocka_unit_test(columns_are_checked),
        cmocka_unit_test(jansson_names_what_it_refuses),
        cmocka_unit_test(doubles_may_look_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
