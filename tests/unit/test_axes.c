#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "input/axes.h"
#include "samples/samples.h"

static wmi_axis parse(const char *text) {
    wmi_axis axis;
    wm_error err = WM_ERROR_INIT;
    if (wmi_axis_parse(text, &axis, &err) != WM_OK) fail_msg("%s", err.message);
    return axis;
}

static void whole_axis(const char *text, const char *name, size_t count, const int64_t *values) {
    wmi_axis axis = parse(text);
    assert_string_equal(axis.name, name);
    assert_int_equal(axis.type, WM_I64);
    assert_int_equal(axis.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(axis.values[i].type, WM_I64);
        assert_true(axis.values[i].as.i64 == values[i]);
    }
    wmi_axis_fini(&axis);
    assert_null(axis.values);
}
#define WHOLE(text, name, ...)                                                                               \
    whole_axis(text, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void double_axis(const char *text, size_t count, const double *values) {
    wmi_axis axis = parse(text);
    assert_int_equal(axis.type, WM_F64);
    assert_int_equal(axis.count, count);
    for (size_t i = 0; i < count; i++)
        if (axis.values[i].as.f64 != values[i])
            fail_msg("%s: %.17g is not %.17g", text, axis.values[i].as.f64, values[i]);
    wmi_axis_fini(&axis);
}
#define DOUBLE(text, ...)                                                                                    \
    double_axis(text, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void string_axis(const char *text, size_t count, const char *const *values) {
    wmi_axis axis = parse(text);
    assert_int_equal(axis.type, WM_STR);
    assert_int_equal(axis.count, count);
    for (size_t i = 0; i < count; i++) assert_string_equal(axis.values[i].as.str, values[i]);
    wmi_axis_fini(&axis);
}
#define STRING(text, ...)                                                                                    \
    string_axis(text, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void refused(const char *text, const char *message) {
    wmi_axis axis = {.name = (char *)(uintptr_t)text};
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_axis_parse(text, &axis, &err), WM_EPARSE);
    assert_ptr_equal(axis.name, text);
    wmi_buf whole = WMI_BUF_INIT;
    wmi_buf_printf(&whole, "axis '%s': %s", text, message);
    assert_string_equal(err.message, whole.data);
    wmi_buf_free(&whole);
    assert_int_equal(wmi_axis_parse(text, &axis, NULL), WM_EPARSE);
}

static void values_and_lists(void **state) {
    (void)state;
    WHOLE("n=256", "n", 256);
    WHOLE("n=[256,512]", "n", 256, 512);
    WHOLE(" block.size-x_1 = [ 1 , -2 ] ", "block.size-x_1", 1, -2);
    WHOLE("_=[+3]", "_", 3);
    WHOLE("n=[-9223372036854775808,9223372036854775807]", "n", INT64_MIN, INT64_MAX);
    DOUBLE("x=[1,2.5,-1e3]", 1, 2.5, -1000);
    DOUBLE("x=.5", 0.5);
    STRING("type=[f32,f64]", "f32", "f64");
    STRING("t=std::vector<int>", "std::vector<int>");
    STRING("t=[1,a]", "1", "a");
    STRING("t=[true,1]", "true", "1");
    STRING("t=[nan,inf,0x10]", "nan", "inf", "0x10");
    wmi_axis axis = parse("b=[true,false]");
    assert_int_equal(axis.type, WM_BOOL);
    assert_int_equal(axis.count, 2);
    assert_true(axis.values[0].as.b);
    assert_false(axis.values[1].as.b);
    wmi_axis_fini(&axis);
}

static void ranges_hold_their_end(void **state) {
    (void)state;
    WHOLE("n=[0:100:20]", "n", 0, 20, 40, 60, 80, 100);
    WHOLE("n=[0:99:20]", "n", 0, 20, 40, 60, 80);
    WHOLE("n=[1:4]", "n", 1, 2, 3, 4);
    WHOLE("n=[ 1 : 4 : 2 ]", "n", 1, 3);
    WHOLE("n=[5:-5:-5]", "n", 5, 0, -5);
    WHOLE("n=[7:7]", "n", 7);
    WHOLE("n=[7:7:-1]", "n", 7);
    WHOLE("n=[-9223372036854775808:9223372036854775807:9223372036854775807]", "n", INT64_MIN, -1,
          INT64_MAX - 1);
    WHOLE("n=[9223372036854775807:-9223372036854775808:-9223372036854775808]", "n", INT64_MAX, -1);
    wmi_axis axis = parse("n=[1:100000]");
    assert_int_equal(axis.count, 100000);
    assert_int_equal(axis.values[99999].as.i64, 100000);
    wmi_axis_fini(&axis);
}

static void ranges_of_doubles_are_stepped_in_decimal(void **state) {
    (void)state;
    DOUBLE("x=[0:1:0.1]", 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1);
    DOUBLE("x=[0:0.3:0.1]", 0, 0.1, 0.2, 0.3);
    DOUBLE("x=[0:1:0.4]", 0, 0.4, 0.8);
    DOUBLE("x=[1:0:-0.25]", 1, 0.75, 0.5, 0.25, 0);
    DOUBLE("x=[1e-3:5e-3:2e-3]", 0.001, 0.003, 0.005);
    DOUBLE("x=[0.1:1.1]", 0.1, 1.1);
    DOUBLE("x[f64]=[0:4:2]", 0, 2, 4);
    DOUBLE("x=[0:3e20:1e20]", 0, 1e20, 2e20, 3e20);
    DOUBLE("x=[1e-20:3e-20:1e-20]", 1e-20, 2e-20, 1e-20 + 2 * 1e-20);
}

static void powers_of_two(void **state) {
    (void)state;
    WHOLE("n[pow2]=[10:20:2]", "n", 1024, 4096, 16384, 65536, 262144, 1048576);
    WHOLE("n[pow2]=[0,62]", "n", 1, INT64_C(4611686018427387904));
    WHOLE("n[pow2]=3", "n", 8);
    refused("n[pow2]=63", "a power of 2 takes whole exponents from 0 to 62");
    refused("n[pow2]=[-1:3]", "a power of 2 takes whole exponents from 0 to 62");
    refused("n[pow2]=[0:1:0.5]", "a power of 2 takes whole exponents from 0 to 62");
    refused("n[pow2]=x", "'x' is not a whole number of 64 bits");
}

static void a_tag_forces_the_type(void **state) {
    (void)state;
    WHOLE("n[i64]=[1,2]", "n", 1, 2);
    DOUBLE("n[f64]=[1,2]", 1, 2);
    DOUBLE("n[f64]=99999999999999999999", 1e20);
    STRING("n[str]=[1,true]", "1", "true");
    STRING("n [str] = 1:2:3", "1:2:3");
    refused("n[i64]=[1,1.5]", "'1.5' is not a whole number of 64 bits");
    refused("n[i64]=[0:1:0.5]", "a range of [i64] takes whole numbers of 64 bits");
    refused("n[f64]=[1,x]", "'x' is not a finite number");
    refused("n[f64]=1e999", "'1e999' is not a finite number");
    refused("n[bool]=[true,1]", "'1' is neither true nor false");
    refused("n[bool]=[0:1]", "a range has no true or false");
    refused("n[u8]=1", "what may stand in brackets behind the name is pow2, i64, f64, str or bool, not 'u8'");
    refused("n[i64=1", "the '[' behind the name is never closed");
}

static void quotes_make_strings(void **state) {
    (void)state;
    STRING("t=[\"a b\",'c,]']", "a b", "c,]");
    STRING("t=[\"1\",2]", "1", "2");
    STRING("t='it says \"x\" \\n'", "it says \"x\" \\n");
    STRING("t=[\"\",'x']", "", "x");
    STRING("t=\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
           "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void what_cannot_be_read_is_refused(void **state) {
    (void)state;
    static const char *const missing = "a value is missing; an empty one is written \"\"";
    static const char *const name =
        "a name begins with a letter or '_' and goes on with those, digits, '.' and '-'";
    static const char *const escape = "in double quotes a backslash goes before \" \\ / b f n r t or u and "
                                      "four hexadecimal digits; use single "
                                      "quotes for a plain one";
    refused("", name);
    refused("1n=3", name);
    refused("=3", name);
    refused("n", "name=value is expected");
    refused("n m=3", "name=value is expected");
    refused("n=", missing);
    refused("n=[]", missing);
    refused("n=[1,,2]", missing);
    refused("n=[1,]", missing);
    refused("n=[1,2", "the list is never closed with ']'");
    refused("n=[1,2]]", "something follows the closing ']'");
    refused("n=1,2", "a list of values is written in brackets: name=[a,b]");
    refused("n=a b", "a value that holds blanks is written in quotes: 'a b'");
    refused("n=a[1]", "a value that holds '[' is written in quotes, the whole of it");
    refused("n=a\"b\"", "a value that holds '\"' is written in quotes, the whole of it");
    refused("n=\"a\"b", "something follows a closing quote");
    refused("n='a", "a quote that is never closed");
    refused("n=\"\\q\"", escape);
    refused("n=\"\\u00g0\"", escape);
    refused("n=\"\\u0000\"", escape);
    refused("n=\"\\ud800x\"", escape);
    refused("n=\"\\ud800\\u0041\"", escape);
    refused("n=1:5", "a range is written in brackets: name=[first:last:step]");
    refused("n=[1:5,7]", "a range stands alone in its brackets: name=[first:last:step]");
    refused("n=[1:5:1:1]", "a range is first:last or first:last:step");
    refused("n=[1:x]", "'x' is not a number that a range can have (quote a text that holds ':')");
    refused("n=[:5]", "'' is not a number that a range can have (quote a text that holds ':')");
    refused("n=[1:5:0]", "the step of a range must not be 0");
    refused("n=[0:1:0.0]", "the step of a range must not be 0");
    refused("n=[5:1]", "a step of 1 does not lead from 5 to 1");
    refused("n=[0:1:-0.5]", "a step of -0.5 does not lead from 0 to 1");
    refused("n=[0:100000]", "a range has at most 100000 values");
    refused("n=[0:1:1e-30]", "a range has at most 100000 values");
    refused("n=[-1e308:1e308:1]", "a range has at most 100000 values");
    refused("n=[0:9223372036854775807]", "a range has at most 100000 values");
    refused("n=9223372036854775808",
            "a whole number is too large for 64 bits; [f64] behind the name makes it a double");
    refused("n=[0:9223372036854775808:1000000000000000000]",
            "a whole number is too large for 64 bits; [f64] makes it a double");
}

static void no_value_is_there_twice(void **state) {
    (void)state;
    refused("n=[1,2,01]", "the value 1 is there twice");
    refused("n=[1,1.0]", "the value 1 is there twice");
    refused("n=[0.5,5e-1]", "the value 0.5 is there twice");
    refused("n=[a,b,'a']", "the value 'a' is there twice");
    refused("n=[true,true]", "the value true is there twice");
    refused("n=[1:1.0000000000000002:1e-17]", "the value 1 is there twice");
}

static void a_long_axis_is_shown_in_part(void **state) {
    (void)state;
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "n=[");
    for (int i = 0; i < 200; i++) wmi_buf_str(&text, "\xc3\xa9");
    wmi_axis axis;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_axis_parse(text.data, &axis, &err), WM_EPARSE);
    assert_null(strstr(err.message, "\\x"));
    assert_non_null(strstr(err.message, "\xc3\xa9...': the list is never closed with ']'"));
    wmi_buf_free(&text);
}

static void a_list_has_a_limit(void **state) {
    (void)state;
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "n=[0");
    for (int i = 1; i < 100000; i++) wmi_buf_printf(&text, ",%d", i);
    size_t n = text.len;
    wmi_buf_char(&text, ']');
    wmi_axis axis = parse(text.data);
    assert_int_equal(axis.count, 100000);
    wmi_axis_fini(&axis);
    text.len = n;
    wmi_buf_str(&text, ",100000]");
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_axis_parse(text.data, &axis, &err), WM_EPARSE);
    assert_non_null(strstr(err.message, "an axis has at most 100000 values"));
    wmi_buf_free(&text);
}

/* ---- explicit configurations ---- */

static void free_config(wmi_axis *axes, size_t count) {
    for (size_t i = 0; i < count; i++) wmi_axis_fini(&axes[i]);
    free(axes);
}

static void a_configuration_is_typed_like_axes(void **state) {
    (void)state;
    wmi_axis *c;
    size_t n;
    assert_int_equal(
        wmi_config_parse(" n=128, type=f32,x=0.5,b=true, k[pow2]=4 ,s=\"a,b\",t[str]=7", &c, &n, NULL),
        WM_OK);
    assert_int_equal(n, 7);
    static const char *const names[] = {"n", "type", "x", "b", "k", "s", "t"};
    static const wm_type types[] = {WM_I64, WM_STR, WM_F64, WM_BOOL, WM_I64, WM_STR, WM_STR};
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(c[i].name, names[i]);
        assert_int_equal(c[i].type, types[i]);
        assert_int_equal(c[i].count, 1);
    }
    assert_int_equal(c[0].values[0].as.i64, 128);
    assert_string_equal(c[1].values[0].as.str, "f32");
    assert_true(c[2].values[0].as.f64 == 0.5);
    assert_true(c[3].values[0].as.b);
    assert_int_equal(c[4].values[0].as.i64, 16);
    assert_string_equal(c[5].values[0].as.str, "a,b");
    assert_string_equal(c[6].values[0].as.str, "7");
    free_config(c, n);
}

static void a_wrong_configuration_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"n=1,n=2", "configuration 'n=1,n=2': the name n is there twice"},
        {"n=[1,2]", "configuration 'n=[1,2]': a configuration has one value for each name"},
        {"n=1:2", "configuration 'n=1:2': a configuration has one value for each name, not a range"},
        {"n=1]", "configuration 'n=1]': a value that holds ']' is written in quotes, the whole of it"},
        {"\"\"=1", "configuration '\"\"=1': a name is empty"},
        {"'n'=1", "configuration ''n'=1': a name begins with a letter or '_' and goes on with those, digits, "
                  "'.' and '-'"},
        {"n=", "configuration 'n=': a value is missing; an empty one is written \"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_axis *c = NULL;
        size_t n = 7;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_config_parse(cases[i].text, &c, &n, &err), WM_EPARSE);
        assert_string_equal(err.message, cases[i].message);
        assert_null(c);
        assert_int_equal(n, 7);
    }
}

/* What config_key shows can be given to --config again. */
static void a_key_is_read_back(void **state) {
    (void)state;
    static const char *const names[] = {"nan", "a/b:c+d", "a \"b\"=,", "b", "s", "t", "u", "v"};
    wm_value values[] = {wmi_i64(-5),
                         wmi_f64(0.1),
                         wmi_f64(3),
                         wmi_bool(false),
                         wmi_str("f32"),
                         wmi_str("12"),
                         wmi_str("a,\"b\"]=\\ \x01\r\n\xc3\xa9"),
                         wmi_str("\xff\xee\xbe\x80 ")};
    size_t count = sizeof names / sizeof names[0];
    char *key = wmi_config_key(count, names, values);
    assert_non_null(key);
    wmi_axis *c;
    size_t n;
    wm_error err = WM_ERROR_INIT;
    if (wmi_config_parse(key, &c, &n, &err) != WM_OK) fail_msg("%s", err.message);
    assert_int_equal(n, count);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(c[i].name, names[i]);
        assert_int_equal(c[i].type, values[i].type);
        if (c[i].type == WM_STR) assert_string_equal(c[i].values[0].as.str, values[i].as.str);
        if (c[i].type == WM_I64) assert_int_equal(c[i].values[0].as.i64, values[i].as.i64);
        if (c[i].type == WM_F64) assert_true(c[i].values[0].as.f64 == values[i].as.f64);
        if (c[i].type == WM_BOOL) assert_int_equal(c[i].values[0].as.b, values[i].as.b);
    }
    free_config(c, n);
    free(key);
}

static wm_status distinct(const char *a, const char *b, wm_error *err) {
    char *texts[] = {"n=0,m=0", (char *)(uintptr_t)a, "n=9", (char *)(uintptr_t)b};
    return wmi_configs_distinct(texts, 4, err);
}

static void equal_configurations_are_found(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_configs_distinct(NULL, 0, NULL), WM_OK);
    assert_int_equal(distinct("n=1,m=2", "n=2,m=1", NULL), WM_OK);
    assert_int_equal(distinct("n=1", "n=1.0", NULL), WM_OK);
    assert_int_equal(distinct("n=1", "n='1'", NULL), WM_OK);
    assert_int_equal(distinct("n=1", "n=1,m=1", NULL), WM_OK);
    assert_int_equal(distinct("n=1,m=a", "m='a', n=01", &err), WM_EINVAL);
    assert_non_null(strstr(err.message, "is there twice"));
    assert_non_null(strstr(err.message, "m="));
}

/* ---- crossing and zipping ---- */

static void expands_to(const wmi_axis *axes, size_t n, const char *zip, size_t count,
                       const size_t *expected) {
    size_t *index = NULL, got = 0;
    wm_error err = WM_ERROR_INIT;
    if (wmi_axes_expand(axes, n, zip, &index, &got, &err) != WM_OK) fail_msg("%s", err.message);
    assert_int_equal(got, count);
    assert_non_null(index);
    for (size_t i = 0; i < n * count; i++) assert_int_equal(index[i], expected[i]);
    free(index);
}

static void axes_are_crossed_or_zipped(void **state) {
    (void)state;
    const wmi_axis axes[] = {{"a", WM_I64, 2, NULL}, {"b", WM_I64, 3, NULL}, {"c", WM_I64, 2, NULL}};
    expands_to(axes, 0, NULL, 1, NULL);
    expands_to(axes, 1, NULL, 2, (const size_t[]){0, 1});
    expands_to(axes, 2, NULL, 6, (const size_t[]){0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2});
    expands_to(axes, 3, "a,c", 6, (const size_t[]){0, 0, 0, 0, 1, 0, 0, 2, 0, 1, 0, 1, 1, 1, 1, 1, 2, 1});
    expands_to(axes, 3, " c , a ", 6, (const size_t[]){0, 0, 0, 0, 1, 0, 0, 2, 0, 1, 0, 1, 1, 1, 1, 1, 2, 1});
    const wmi_axis equal[] = {{"a", WM_I64, 3, NULL}, {"b", WM_I64, 3, NULL}};
    expands_to(equal, 2, "*", 3, (const size_t[]){0, 0, 1, 1, 2, 2});
}

static void what_cannot_be_expanded_is_refused(void **state) {
    (void)state;
    const wmi_axis axes[] = {{"size", WM_I64, 2, NULL}, {"type", WM_I64, 3, NULL}, {"size", WM_I64, 2, NULL}};
    const wmi_axis large[] = {
        {"a", WM_I64, 100000, NULL}, {"b", WM_I64, 101, NULL}, {"c", WM_I64, 100000, NULL}};
    const struct {
        const wmi_axis *axes;
        size_t n;
        const char *zip, *message;
    } cases[] = {
        {axes, 2, "size,type", "--zip takes axes of equal length: size has 2 values and type has 3"},
        {axes, 2, "*", "--zip takes axes of equal length: size has 2 values and type has 3"},
        {axes, 2, "size,tpye", "--zip names 'tpye', which is no axis here; the nearest is type"},
        {axes, 2, "size,", "--zip names '', which is no axis here"},
        {axes, 2, "size,size", "--zip names the axis 'size' twice"},
        {axes, 3, NULL, "the axis 'size' is there twice"},
        {large, 2, NULL, "the axes span more than 10000000 configurations"},
        {large, 3, "a,c", "the axes span more than 10000000 configurations"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t *index = NULL, count = 7;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_axes_expand(cases[i].axes, cases[i].n, cases[i].zip, &index, &count, &err),
                         WM_EINVAL);
        assert_string_equal(err.message, cases[i].message);
        assert_null(index);
        assert_int_equal(count, 7);
    }
}

static void ten_million_configurations_are_possible(void **state) {
    (void)state;
    const wmi_axis axes[] = {{"a", WM_I64, 100000, NULL}, {"b", WM_I64, 100, NULL}};
    size_t *index = NULL, count = 0;
    assert_int_equal(wmi_axes_expand(axes, 2, NULL, &index, &count, NULL), WM_OK);
    assert_int_equal(count, 10000000);
    assert_int_equal(index[2 * 9999999], 99999);
    assert_int_equal(index[2 * 9999999 + 1], 99);
    free(index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_lists),
        cmocka_unit_test(ranges_hold_their_end),
        cmocka_unit_test(ranges_of_doubles_are_stepped_in_decimal),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(a_tag_forces_the_type),
        cmocka_unit_test(quotes_make_strings),
        cmocka_unit_test(what_cannot_be_read_is_refused),
        cmocka_unit_test(no_value_is_there_twice),
        cmocka_unit_test(a_long_axis_is_shown_in_part),
        cmocka_unit_test(a_list_has_a_limit),
        cmocka_unit_test(a_configuration_is_typed_like_axes),
        cmocka_unit_test(a_wrong_configuration_is_refused),
        cmocka_unit_test(a_key_is_read_back),
        cmocka_unit_test(equal_configurations_are_found),
        cmocka_unit_test(axes_are_crossed_or_zipped),
        cmocka_unit_test(what_cannot_be_expanded_is_refused),
        cmocka_unit_test(ten_million_configurations_are_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
