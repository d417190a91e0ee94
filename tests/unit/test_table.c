#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cells.h"
#include "made_tables.h"

static void assert_column(const wm_table *t, size_t i, const char *name, wm_type type, const char *unit) {
    wm_column c = {0};
    assert_int_equal(wm_table_column(t, i, &c), WM_OK);
    assert_string_equal(c.name, name);
    assert_int_equal(c.type, type);
    assert_string_equal(c.unit, unit);
    assert_int_equal(wm_table_find(t, name), i);
}

static void columns_have_names_types_and_units(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("samples");
    size_t number = 99;
    assert_string_equal(wm_table_kind(t), "samples");
    assert_int_equal(wmi_table_add_column(t, "a", WM_I64, "B", &number), WM_OK);
    assert_int_equal(number, 0);
    assert_int_equal(wmi_table_add_column(t, "b", WM_STR, "", NULL), WM_OK);
    assert_int_equal(wmi_table_add_column(t, "c", WM_NULL, "", NULL), WM_EINVAL);
    assert_int_equal(wm_table_columns(t), 2);
    assert_column(t, 0, "a", WM_I64, "B");
    assert_column(t, 1, "b", WM_STR, "");
    assert_int_equal(wm_table_find(t, "c"), SIZE_MAX);
    wm_column c;
    assert_int_equal(wm_table_column(t, 2, &c), WM_EINVAL);
    wm_table_destroy(t);
}

static void a_taken_name_is_changed_the_same_way(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("results");
    const char *const names[] = {"mean", "mean", "mean", "mean", "param_mean", "nulls", "nulls"};
    const char *const made[] = {"mean",         "param_mean",       "param_mean_2",
                                "param_mean_3", "param_param_mean", "param_nulls",
                                "param_nulls_2"};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(wmi_table_add_column(t, names[i], WM_F64, "", NULL), WM_OK);
        assert_column(t, i, made[i], WM_F64, "");
    }
    wm_table_destroy(t);
}

static void columns_come_before_rows(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("x");
    assert_int_equal(wmi_table_add_row(t, NULL), WM_ESTATE);
    wmi_table_add_column(t, "a", WM_I64, "", NULL);
    assert_int_equal(wmi_table_add_row(t, NULL), WM_OK);
    assert_int_equal(wmi_table_add_column(t, "b", WM_I64, "", NULL), WM_ESTATE);
    assert_int_equal(wm_table_columns(t), 1);
    wm_table_destroy(t);
}

static void assert_no_value(const wm_table *t, size_t row, const char *column, wm_reason why) {
    wm_value v = cell(t, row, column);
    assert_int_equal(v.type, WM_NULL);
    assert_int_equal(v.reason, why);
}

static void cells_keep_what_was_set(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    const char *const columns[] = {"i", "f", "s", "b"};
    for (size_t i = 0; i < 4; i++) assert_no_value(t, row, columns[i], WM_REASON_NOT_APPLICABLE);
    put(t, row, "i", wmi_i64(INT64_MIN));
    put(t, row, "f", wmi_f64(-0.0));
    put(t, row, "s", wmi_str("text"));
    put(t, row, "b", wmi_bool(true));
    assert_int_equal(cell(t, row, "i").as.i64, INT64_MIN);
    assert_true(signbit(cell(t, row, "f").as.f64));
    assert_string_equal(cell(t, row, "s").as.str, "text");
    assert_true(cell(t, row, "b").as.b);
    put(t, row, "s", wmi_null(WM_REASON_PERMISSION));
    assert_no_value(t, row, "s", WM_REASON_PERMISSION);
    wm_table_destroy(t);
}

static void only_an_int64_is_widened(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    put(t, row, "f", wmi_i64(3));
    assert_int_equal(cell(t, row, "f").type, WM_F64);
    assert_true(cell(t, row, "f").as.f64 == 3.0);
    assert_int_equal(wmi_table_set(t, row, 0, wmi_f64(3)), WM_EINVAL);
    assert_int_equal(wmi_table_set(t, row, 1, wmi_bool(true)), WM_EINVAL);
    assert_int_equal(wmi_table_set(t, row, 2, wmi_i64(3)), WM_EINVAL);
    assert_int_equal(wmi_table_set(t, row, 3, wmi_str("true")), WM_EINVAL);
    assert_int_equal(wmi_table_set(t, 1, 0, wmi_i64(3)), WM_EINVAL);
    assert_int_equal(wmi_table_set(t, 0, 4, wmi_i64(3)), WM_EINVAL);
    assert_no_value(t, row, "i", WM_REASON_NOT_APPLICABLE);
    assert_true(cell(t, row, "f").as.f64 == 3.0);
    wm_table_destroy(t);
}

static void rows_are_filled_alike(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t first = 9;
    put(t, add_row(t), "s", wmi_str("before"));
    assert_int_equal(wmi_table_add_rows(t, 100, &first), WM_OK);
    assert_int_equal(first, 1);
    assert_int_equal(wm_table_rows(t), 101);
    for (size_t row = 1; row < 101; row++) assert_no_value(t, row, "i", WM_REASON_NOT_APPLICABLE);
    assert_int_equal(wmi_table_fill(t, 1, 99, 0, wmi_i64(-7)), WM_OK);
    assert_int_equal(wmi_table_fill(t, 1, 99, 1, wmi_i64(2)), WM_OK); /* widened */
    assert_int_equal(wmi_table_fill(t, 1, 99, 2, wmi_str("text")), WM_OK);
    assert_int_equal(wmi_table_fill(t, 1, 99, 3, wmi_bool(true)), WM_OK);
    for (size_t row = 1; row < 100; row++) {
        assert_int_equal(cell(t, row, "i").as.i64, -7);
        assert_true(cell(t, row, "f").as.f64 == 2.0);
        assert_string_equal(cell(t, row, "s").as.str, "text");
        assert_true(cell(t, row, "b").as.b);
    }
    assert_string_equal(cell(t, 0, "s").as.str, "before");
    assert_no_value(t, 0, "i", WM_REASON_NOT_APPLICABLE);
    assert_no_value(t, 100, "s", WM_REASON_NOT_APPLICABLE);
    assert_int_equal(wmi_table_fill(t, 3, 2, 1, wmi_null(WM_REASON_DROPPED)), WM_OK);
    assert_true(cell(t, 2, "f").as.f64 == 2.0);
    assert_no_value(t, 3, "f", WM_REASON_DROPPED);
    assert_no_value(t, 4, "f", WM_REASON_DROPPED);
    assert_true(cell(t, 5, "f").as.f64 == 2.0);
    wm_table_destroy(t);
}

static void filling_refuses_what_setting_refuses(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    wm_table *none = wmi_table_create("k");
    assert_int_equal(wmi_table_add_rows(none, 1, NULL), WM_ESTATE);
    assert_int_equal(wmi_table_add_rows(t, 0, NULL), WM_OK);
    assert_int_equal(wm_table_rows(t), 0);
    assert_int_equal(wmi_table_add_rows(t, 3, NULL), WM_OK);
    assert_int_equal(wmi_table_add_rows(t, SIZE_MAX - 2, NULL), WM_ENOMEM);
    assert_int_equal(wm_table_rows(t), 3);
    assert_int_equal(wmi_table_fill(t, 1, 3, 0, wmi_i64(1)), WM_EINVAL);
    assert_int_equal(wmi_table_fill(t, 4, 1, 0, wmi_i64(1)), WM_EINVAL);
    assert_int_equal(wmi_table_fill(t, 0, SIZE_MAX, 0, wmi_i64(1)), WM_EINVAL);
    assert_int_equal(wmi_table_fill(t, 0, 3, 4, wmi_i64(1)), WM_EINVAL);
    assert_int_equal(wmi_table_fill(t, 0, 3, 0, wmi_str("1")), WM_EINVAL);
    assert_int_equal(wmi_table_fill(t, 3, 0, 0, wmi_i64(1)), WM_OK);
    for (size_t row = 0; row < 3; row++) assert_no_value(t, row, "i", WM_REASON_NOT_APPLICABLE);
    wm_table_destroy(t);
    wm_table_destroy(none);
}

static void what_is_not_finite_is_a_null(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        wm_value v = wmi_f64(1);
        v.as.f64 = bad[i];
        put(t, row, "f", wmi_f64(1));
        put(t, row, "f", v);
        assert_no_value(t, row, "f", WM_REASON_NOT_FINITE);
        put_context(t, "k", v);
        assert_int_equal(wmi_table_context_value(t, "k").reason, WM_REASON_NOT_FINITE);
    }
    wm_value no_reason = {WM_NULL, WM_REASON_NONE, {0}};
    put(t, row, "i", no_reason);
    assert_no_value(t, row, "i", WM_REASON_UNKNOWN);
    wm_table_destroy(t);
}

static void equal_strings_are_kept_once_and_never_move(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    wm_table *t = one_of_each();
    const char *first = NULL;
    for (int i = 0; i < COUNT; i++) {
        char text[32];
        size_t row = add_row(t);
        snprintf(text, sizeof text, "text %d", i % (COUNT / 2));
        put(t, row, "s", wmi_str(text));
        if (i == 0) first = cell(t, 0, "s").as.str;
    }
    assert_ptr_equal(cell(t, 0, "s").as.str, first);
    for (int i = 0; i < COUNT; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %d", i % (COUNT / 2));
        assert_string_equal(cell(t, (size_t)i, "s").as.str, text);
    }
    assert_ptr_equal(cell(t, COUNT / 2, "s").as.str, first);
    size_t row = add_row(t);
    char *large = malloc(1000001);
    memset(large, 'x', 1000000);
    large[1000000] = '\0';
    put(t, row, "s", wmi_str(large));
    assert_string_equal(cell(t, row, "s").as.str, large);
    free(large);
    assert_string_equal(first, "text 0");
    wm_table_destroy(t);
}

static void context_keeps_its_order(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    const char *key;
    wm_value v;
    put_context(t, "host", wmi_str("a"));
    put_context(t, "cpus", wmi_i64(4));
    put_context(t, "turbo", wmi_null(WM_REASON_PERMISSION));
    put_context(t, "host", wmi_str("b"));
    assert_int_equal(wm_table_context_count(t), 3);
    assert_int_equal(wm_table_context(t, 0, &key, &v), WM_OK);
    assert_string_equal(key, "host");
    assert_string_equal(v.as.str, "b");
    assert_int_equal(wmi_table_context_value(t, "cpus").as.i64, 4);
    assert_int_equal(wmi_table_context_value(t, "turbo").reason, WM_REASON_PERMISSION);
    assert_int_equal(wmi_table_context_value(t, "none").reason, WM_REASON_NOT_APPLICABLE);
    assert_int_equal(wm_table_context(t, 3, &key, &v), WM_EINVAL);
    wm_table_destroy(t);
}

static void reading_beyond_the_edges_is_refused(void **state) {
    (void)state;
    wm_table *t = one_of_each();
    wm_value v;
    add_row(t);
    assert_int_equal(wm_table_get(t, 0, 4, &v), WM_EINVAL);
    assert_int_equal(wm_table_get(t, 1, 0, &v), WM_EINVAL);
    assert_int_equal(wm_table_get(NULL, 0, 0, &v), WM_EINVAL);
    assert_int_equal(wm_table_rows(NULL), 0);
    assert_int_equal(wm_table_columns(NULL), 0);
    assert_int_equal(wm_table_find(NULL, "i"), SIZE_MAX);
    wm_table_destroy(t);
    wm_table_destroy(NULL);
}

/* ---- equality ---- */

static void assert_differs(const wm_table *a, const wm_table *b, const char *why) {
    wmi_buf text = WMI_BUF_INIT;
    assert_false(wmi_table_equal(a, b, &text));
    assert_false(wmi_table_equal(a, b, NULL));
    assert_string_equal(text.data, why);
    wmi_buf_free(&text);
}

static wm_table *small(void) {
    wm_table *t = one_of_each();
    size_t row = add_row(t);
    put_context(t, "host", wmi_str("a"));
    put(t, row, "i", wmi_i64(1));
    put(t, row, "f", wmi_f64(0.5));
    return t;
}

static void equality_names_the_first_difference(void **state) {
    (void)state;
    wm_table *a = small(), *b = small(), *kind = wmi_table_create("doctor"),
             *columns = wmi_table_create("results");
    assert_true(wmi_table_equal(a, b, NULL));
    assert_differs(a, kind, "kind: results and doctor");
    assert_differs(a, columns, "columns: 4 and 0");
    put(b, 0, "f", wmi_f64(-0.5));
    assert_differs(a, b, "row 0, column 'f': double 0.5 and double -0.5");
    put(b, 0, "f", wmi_f64(0.5));
    put(b, 0, "s", wmi_null(WM_REASON_UNKNOWN));
    assert_differs(a, b, "row 0, column 's': null (not-applicable) and null (unknown)");
    put(a, 0, "s", wmi_str("1"));
    assert_differs(a, b, "row 0, column 's': \"1\" and null (unknown)");
    put_context(b, "host", wmi_i64(1));
    assert_differs(a, b, "context 'host' and 'host': \"a\" and int64 1");
    add_row(b);
    assert_differs(a, b, "rows: 1 and 2");
    wm_table_destroy(a);
    wm_table_destroy(b);
    wm_table_destroy(kind);
    wm_table_destroy(columns);
}

static void equality_tells_zeros_and_units_apart(void **state) {
    (void)state;
    wm_table *a = wmi_table_create("x"), *b = wmi_table_create("x"), *c = wmi_table_create("x");
    wmi_table_add_column(a, "f", WM_F64, "ns", NULL);
    wmi_table_add_column(b, "f", WM_F64, "ns", NULL);
    wmi_table_add_column(c, "f", WM_F64, "us", NULL);
    assert_differs(a, c, "column 0: 'f' (type 2, unit 'ns') and 'f' (type 2, unit 'us')");
    put(a, add_row(a), "f", wmi_f64(0.0));
    put(b, add_row(b), "f", wmi_f64(-0.0));
    assert_differs(a, b, "row 0, column 'f': double 0 and double -0");
    wm_table_destroy(a);
    wm_table_destroy(b);
    wm_table_destroy(c);
}

/* ---- schemas ---- */

static void schemas_make_their_tables(void **state) {
    (void)state;
    const char *const params[] = {"n", "mean"};
    const wm_type types[] = {WM_I64, WM_STR};
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        wm_table *t = wmi_schema_table(s, 2, params, types);
        assert_ptr_equal(wmi_schema_of(s->kind), s);
        assert_string_equal(wm_table_kind(t), s->kind);
        assert_int_equal(wm_table_columns(t), s->count + 2);
        assert_true(wmi_schema_complete(t));
        for (size_t i = 0; i < s->count; i++)
            assert_column(t, i, s->columns[i].name, s->columns[i].type, s->columns[i].unit);
        assert_column(t, s->count, "n", WM_I64, "");
        wm_table_destroy(t);
    }
    assert_null(wmi_schema_of("nothing"));
}

static void results_begin_with_their_schema(void **state) {
    (void)state;
    const char *const params[] = {"n", "mean"};
    const wm_type types[] = {WM_I64, WM_STR};
    wm_table *results = wmi_results_create(2, params, types),
             *samples = wmi_samples_table_create(0, NULL, NULL);
    assert_int_equal(wm_table_find(results, "mean"), WMI_COL_MEAN);
    assert_int_equal(wm_table_find(results, "config_key"), WMI_COL_CONFIG_KEY);
    assert_column(results, WMI_COL_COUNT + 1, "param_mean", WM_STR, "");
    assert_int_equal(wm_table_columns(samples), WMI_SCOL_COUNT);
    assert_int_equal(wm_table_find(samples, "value"), WMI_SCOL_VALUE);
    wm_table_destroy(results);
    wm_table_destroy(samples);
}

static void a_table_with_a_column_of_another_type_is_not_complete(void **state) {
    (void)state;
    const wmi_schema *s = wmi_schema_of("comparison");
    wm_table *t = wmi_table_create("comparison");
    for (size_t i = 0; i < s->count; i++) {
        assert_false(wmi_schema_complete(t));
        wmi_table_add_column(t, s->columns[i].name, i == 5 ? WM_STR : s->columns[i].type, "", NULL);
    }
    assert_false(wmi_schema_complete(t));
    wm_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_names_types_and_units),
        cmocka_unit_test(a_taken_name_is_changed_the_same_way),
        cmocka_unit_test(columns_come_before_rows),
        cmocka_unit_test(cells_keep_what_was_set),
        cmocka_unit_test(only_an_int64_is_widened),
        cmocka_unit_test(rows_are_filled_alike),
        cmocka_unit_test(filling_refuses_what_setting_refuses),
        cmocka_unit_test(what_is_not_finite_is_a_null),
        cmocka_unit_test(equal_strings_are_kept_once_and_never_move),
        cmocka_unit_test(context_keeps_its_order),
        cmocka_unit_test(reading_beyond_the_edges_is_refused),
        cmocka_unit_test(equality_names_the_first_difference),
        cmocka_unit_test(equality_tells_zeros_and_units_apart),
        cmocka_unit_test(schemas_make_their_tables),
        cmocka_unit_test(results_begin_with_their_schema),
        cmocka_unit_test(a_table_with_a_column_of_another_type_is_not_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
