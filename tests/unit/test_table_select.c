#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cells.h"
#include "made_tables.h"

/* Rows are told apart by their id. */
static wm_table *make(void) {
    static const struct {
        int64_t id;
        const char *name; /* NULL: null */
        double x;         /* NAN: null */
        int stable;       /* -1: null */
    } rows[] = {{0, "beta", 2.5, 1}, {1, "alpha", 10, 0}, {2, NULL, 9, -1},
                {3, "beta", NAN, 1}, {4, "", -1, 0},      {5, "alpha", 2.5, 1}};
    wm_table *t = wmi_table_create("results");
    wmi_table_add_column(t, "id", WM_I64, "", NULL);
    wmi_table_add_column(t, "name", WM_STR, "", NULL);
    wmi_table_add_column(t, "x", WM_F64, "ns", NULL);
    wmi_table_add_column(t, "stable", WM_BOOL, "", NULL);
    put_context(t, "host", wmi_str("h"));
    for (size_t i = 0; i < 6; i++) {
        size_t row = add_row(t);
        put(t, row, "id", wmi_i64(rows[i].id));
        put(t, row, "name", rows[i].name ? wmi_str(rows[i].name) : wmi_null(WM_REASON_NO_EVENT));
        put(t, row, "x", wmi_f64(rows[i].x));
        put(t, row, "stable",
            rows[i].stable < 0 ? wmi_null(WM_REASON_FEW_SAMPLES) : wmi_bool(rows[i].stable));
    }
    return t;
}

static wm_table *choose(const wm_table *t, const char *columns, const char *sort, const char *filter) {
    wm_select_opts opts = WM_SELECT_OPTS_INIT;
    wm_table *out = NULL;
    wm_error err = WM_ERROR_INIT;
    opts.columns = columns;
    opts.sort = sort;
    opts.filter = filter;
    if (wm_table_select(t, &opts, &out, &err) != WM_OK) fail_msg("%s", err.message);
    return out;
}

/* The ids of what is chosen, such as "035". */
static void assert_rows(const char *sort, const char *filter, const char *ids) {
    wm_table *t = make(), *chosen = choose(t, NULL, sort, filter);
    char found[8] = "";
    for (size_t i = 0; i < wm_table_rows(chosen); i++) found[i] = (char)('0' + cell(chosen, i, "id").as.i64);
    assert_string_equal(found, ids);
    wm_table_destroy(chosen);
    wm_table_destroy(t);
}

static void assert_refused(const char *columns, const char *sort, const char *filter, wm_status status,
                           const char *message) {
    wm_select_opts opts = WM_SELECT_OPTS_INIT;
    wm_table *t = make(), *out = t;
    wm_error err = WM_ERROR_INIT;
    opts.columns = columns;
    opts.sort = sort;
    opts.filter = filter;
    assert_int_equal(wm_table_select(t, &opts, &out, &err), status);
    assert_int_equal(err.code, status);
    assert_string_equal(err.message, message);
    assert_ptr_equal(out, t);
    wm_table_destroy(t);
}

static void without_options_it_is_a_copy(void **state) {
    (void)state;
    wm_table *t = make(), *copy = NULL;
    wmi_buf why = WMI_BUF_INIT;
    assert_int_equal(wm_table_select(t, NULL, &copy, NULL), WM_OK);
    if (!wmi_table_equal(t, copy, &why)) fail_msg("%s", why.data);
    wm_table_destroy(copy);
    wm_table_destroy(t);
}

static void columns_come_in_the_order_asked_for(void **state) {
    (void)state;
    wm_table *t = make(), *chosen = choose(t, " x ,id", "-id", "id<3");
    wm_column c = {0};
    assert_int_equal(wm_table_columns(chosen), 2);
    wm_table_column(chosen, 0, &c);
    assert_string_equal(c.name, "x");
    assert_string_equal(c.unit, "ns");
    assert_int_equal(wm_table_find(chosen, "id"), 1);
    assert_true(cell(chosen, 0, "x").as.f64 == 9.0);
    assert_string_equal(wmi_table_context_value(chosen, "host").as.str, "h");
    wm_table_destroy(chosen);
    wm_table_destroy(t);
}

/* Without its column `unit` a value would be a bare number. */
static void values_keep_the_unit_that_they_share(void **state) {
    (void)state;
    wm_table *t = wmi_results_create(0, NULL, NULL);
    const char *const units[] = {"ns", "ns", "B/s"};
    for (size_t i = 0; i < 3; i++)
        put(t, add_result(t, "b", "r", "m", units[i], ""), "samples", wmi_i64((int64_t)i));
    const struct {
        const char *columns, *filter, *unit;
    } cases[] = {
        {"mean,region", "samples<2", "ns"}, {"mean", NULL, "row"}, {"mean,unit", "samples<2", "row"}};
    for (size_t i = 0; i < 3; i++) {
        wm_table *chosen = choose(t, cases[i].columns, NULL, cases[i].filter);
        wm_column c = {0};
        wm_table_column(chosen, 0, &c);
        assert_string_equal(c.unit, cases[i].unit);
        wm_table_destroy(chosen);
    }
    wm_table_destroy(t);
}

static void sorting_is_stable_and_puts_nulls_last(void **state) {
    (void)state;
    assert_rows("x", NULL, "405213");
    assert_rows("-x", NULL, "120543");
    assert_rows("name", NULL, "415032");
    assert_rows("-name", NULL, "031542");
    assert_rows("name,-x", NULL, "415032");
    assert_rows("stable,-id", NULL, "415302");
    assert_rows("", NULL, "012345");
}

static void numbers_compare_as_numbers(void **state) {
    (void)state;
    assert_rows(NULL, "x>2.5", "12");
    assert_rows(NULL, "x>=2.5", "0125");
    assert_rows(NULL, "x<9", "045");
    assert_rows(NULL, "x<=9", "0245");
    assert_rows(NULL, "x=2.50", "05");
    assert_rows(NULL, "id>3.5", "45");
    assert_rows(NULL, "id>=3", "345");
    assert_rows(NULL, "id = 3", "3");
}

static void texts_compare_and_match(void **state) {
    (void)state;
    assert_rows(NULL, "name=beta", "03");
    assert_rows(NULL, "name<b", "145");
    assert_rows(NULL, "name~^(alpha|beta)$", "0135");
    assert_rows(NULL, "name~e", "03");
    assert_rows(NULL, "name~^.{4\\,5}$", "0135");
    assert_rows(NULL, "stable=true", "035");
    assert_rows(NULL, "stable!=true", "124");
}

static void a_null_only_fulfils_unequal(void **state) {
    (void)state;
    assert_rows(NULL, "x!=2.5", "1234");
    assert_rows(NULL, "name!=beta", "1245");
    assert_rows(NULL, "name=", "24");
    assert_rows(NULL, "name!=", "0135");
    assert_rows(NULL, "x=", "3");
    assert_rows(NULL, "x!=", "01245");
}

static void all_conditions_must_hold(void **state) {
    (void)state;
    assert_rows("-id", "name=alpha,x<10", "5");
    assert_rows(NULL, "id<0", "");
    assert_rows(NULL, "", "012345");
}

static void a_comma_may_be_part_of_a_value(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("results");
    wmi_table_add_column(t, "config_key", WM_STR, "", NULL);
    put(t, add_row(t), "config_key", wmi_str("n=1,type=f32"));
    put(t, add_row(t), "config_key", wmi_str("n=2,type=f32"));
    wm_table *chosen = choose(t, NULL, NULL, "config_key=n=2\\,type=f32");
    assert_int_equal(wm_table_rows(chosen), 1);
    assert_string_equal(text_cell(chosen, 0, "config_key"), "n=2,type=f32");
    wm_table_destroy(chosen);
    wm_table_destroy(t);
}

static void whole_numbers_beyond_a_double_stay_apart(void **state) {
    (void)state;
    wm_table *t = wmi_table_create("results");
    wmi_table_add_column(t, "i", WM_I64, "", NULL);
    for (int64_t k = 3; k >= 0; k--) put(t, add_row(t), "i", wmi_i64(INT64_C(9007199254740992) + k));
    wm_table *chosen = choose(t, NULL, "i", "i>9007199254740992");
    assert_int_equal(wm_table_rows(chosen), 3);
    assert_int_equal(cell(chosen, 0, "i").as.i64, INT64_C(9007199254740993));
    wm_table_destroy(chosen);
    wm_table_destroy(t);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    assert_refused("nam", NULL, NULL, WM_ENOTFOUND, "there is no column 'nam'; near it: name");
    assert_refused(NULL, "-stabel", NULL, WM_ENOTFOUND, "there is no column 'stabel'; near it: stable");
    assert_refused(NULL, NULL, "zzzzzz=3", WM_ENOTFOUND,
                   "there is no column 'zzzzzz'; there are: id, name, x, stable");
    assert_refused("x,id,x", NULL, NULL, WM_EINVAL, "column 'x' is chosen twice");
    assert_refused("", NULL, NULL, WM_EINVAL,
                   "the list of columns is empty: it takes names joined by commas");
    assert_refused("x,", NULL, NULL, WM_ENOTFOUND, "there is no column ''; there are: id, name, x, stable");
    assert_refused(
        NULL, NULL, "x", WM_EINVAL,
        "filter 'x' is no condition: it takes name=value, !=, <, <=, >, >= or name~regex, and a comma "
        "inside a value is written \\,");
    assert_refused(NULL, NULL, "x=fast", WM_EINVAL,
                   "filter 'x=fast': 'fast' is not a number, which the column holds");
    assert_refused(NULL, NULL, "stable=1", WM_EINVAL,
                   "filter 'stable=1': '1' is not true or false, which the column holds");
    assert_refused(NULL, NULL, "stable<true", WM_EINVAL,
                   "filter 'stable<true': a column of true and false takes = and !=");
    assert_refused(NULL, NULL, "x~1", WM_EINVAL, "filter 'x~1': ~ takes a column of text");
    assert_refused(NULL, NULL, "id=1,name~(", WM_EINVAL,
                   "filter 'name~(': '(' is no extended regular expression: Unmatched ( or \\(");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_it_is_a_copy),
        cmocka_unit_test(columns_come_in_the_order_asked_for),
        cmocka_unit_test(values_keep_the_unit_that_they_share),
        cmocka_unit_test(sorting_is_stable_and_puts_nulls_last),
        cmocka_unit_test(numbers_compare_as_numbers),
        cmocka_unit_test(texts_compare_and_match),
        cmocka_unit_test(a_null_only_fulfils_unequal),
        cmocka_unit_test(all_conditions_must_hold),
        cmocka_unit_test(a_comma_may_be_part_of_a_value),
        cmocka_unit_test(whole_numbers_beyond_a_double_stay_apart),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
