#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "base/text.h"
#include "formula/formula.h"

static void assert_near(double x, double expected, double tolerance) {
    if (!(fabs(x - expected) <= tolerance)) fail_msg("%.17g is not %.17g", x, expected);
}

static wmi_formula *parse(const char *text) {
    wmi_formula *f = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_formula_parse(text, &f, &err) != WM_OK) fail_msg("%s", err.message);
    return f;
}

/* The value of a formula whose inputs are all given, in order of first use. */
static double value(const char *text, const double *in) {
    wmi_formula *f = parse(text);
    double x = NAN;
    bool ok = wmi_formula_eval(f, in, &x);
    wmi_formula_destroy(f);
    if (!ok) fail_msg("no value: %s", text);
    return x;
}

static void refused(const char *text, const char *message) {
    wmi_formula *f = (wmi_formula *)&f;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_formula_parse(text, &f, &err), WM_EPARSE);
    assert_ptr_equal(f, &f);
    assert_int_equal(err.code, WM_EPARSE);
    assert_string_equal(err.message, message);
    assert_int_equal(wmi_formula_parse(text, &f, NULL), WM_EPARSE);
}

static void the_parts_are_told_apart(void **state) {
    (void)state;
    wmi_formula *f = parse("gflops = 2*n^3/time [GFLOP/s]");
    assert_string_equal(wmi_formula_name(f), "gflops");
    assert_string_equal(wmi_formula_unit(f), "GFLOP/s");
    assert_string_equal(wmi_formula_text(f), "gflops = 2*n^3/time [GFLOP/s]");
    assert_int_equal(wmi_formula_inputs(f), 2);
    assert_string_equal(wmi_formula_input(f, 0), "n");
    assert_string_equal(wmi_formula_input(f, 1), "time");
    assert_null(wmi_formula_input(f, 2));
    const double in[] = {100, 4e6};
    double x = 0;
    assert_true(wmi_formula_eval(f, in, &x));
    assert_near(x, 0.5, 0);
    wmi_formula_destroy(f);
    wmi_formula_destroy(NULL);
}

static void a_unit_may_be_left_out_or_empty(void **state) {
    (void)state;
    static const char *const texts[] = {"r=a/b", " r = a / b ", "r=a/b []", "r=a/b [ ]"};
    for (size_t i = 0; i < 4; i++) {
        wmi_formula *f = parse(texts[i]);
        assert_string_equal(wmi_formula_name(f), "r");
        assert_string_equal(wmi_formula_unit(f), "");
        wmi_formula_destroy(f);
    }
}

static void names_in_back_quotes_are_taken_whole(void **state) {
    (void)state;
    wmi_formula *f = parse("`a/b [c]`=`page-faults`/n + `page-faults` - `v0` + `_pi` + `+` + v0 [1/s]");
    static const char *const names[] = {"page-faults", "n", "v0", "_pi", "+"};
    assert_string_equal(wmi_formula_name(f), "a/b [c]");
    assert_string_equal(wmi_formula_unit(f), "1/s");
    assert_int_equal(wmi_formula_inputs(f), 5);
    for (size_t i = 0; i < 5; i++) assert_string_equal(wmi_formula_input(f, i), names[i]);
    const double in[] = {12, 4, 1, 100, 1000};
    double x = 0;
    assert_true(wmi_formula_eval(f, in, &x));
    assert_near(x, 12.0 / 4 + 12 - 1 + 100 + 1000 + 1, 0);
    wmi_formula_destroy(f);
}

static void operators_bind_as_in_mathematics(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"x=1+2*3", 7},
        {"x=(1+2)*3", 9},
        {"x=2^3^2", 512},
        {"x=-2^2", -4},
        {"x=2^-1", 0.5},
        {"x=7-2-1", 4},
        {"x=8/4/2", 1},
        {"x=3--2", 5},
        {"x=+3-+2", 1},
        {"x=1<2", 1},
        {"x=2<=1", 0},
        {"x=1!=1", 0},
        {"x=0.5&&1", 1},
        {"x=0||0.25", 1},
        {"x=0?1:2", 2},
        {"x=1?0?3:4:5", 4},
        {"x=0?1:1?2:3", 2},
        {"x=max(1,3,2)", 3},
        {"x=min ( 4 , 2 )", 2},
        {"x=sum(1,2,3)+avg(2,4)", 9},
        {"x=sqrt(16)+abs(-3)", 7},
        {"x=atan2(0,1)", 0},
        {"x=1e3+.5+2.", 1002.5},
        {"x=1E+2-1e-2", 99.99},
        {"x=max(1>2?3:4,(2))", 4},
        {"x=sign(-7)*rint(2.4)", -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_near(value(cases[i].text, NULL), cases[i].value, 1e-12);
    assert_near(value("x=_pi", NULL), M_PI, 0);
    assert_near(value("x=ln(_e)", NULL), 1, 1e-15);
}

static void a_result_that_is_not_finite_is_none(void **state) {
    (void)state;
    static const double zero[] = {0, 0}, big[] = {1e300, 1e300}, bad[] = {NAN, 1}, endless[] = {1, INFINITY};
    static const struct {
        const char *text;
        const double *in;
    } cases[] = {{"x=1/a", zero},    {"x=a/b", zero},    {"x=a*b", big},       {"x=sqrt(a-1)", zero},
                 {"x=log(a)", zero}, {"x=a>b?1:2", bad}, {"x=a+0*b", endless}, {"x=1e308*10", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_formula *f = parse(cases[i].text);
        double x = 42;
        assert_false(wmi_formula_eval(f, cases[i].in, &x));
        assert_near(x, 42, 0);
        wmi_formula_destroy(f);
    }
}

static void a_formula_can_be_evaluated_again(void **state) {
    (void)state;
    wmi_formula *f = parse("x=a/b"), *g = parse("x=b-a");
    double x = 0;
    for (int i = 1; i < 50; i++) {
        const double in[] = {i, i % 7};
        bool ok = wmi_formula_eval(f, in, &x);
        assert_int_equal(ok, i % 7 != 0);
        if (ok) assert_near(x, in[0] / in[1], 0);
        assert_true(wmi_formula_eval(g, in, &x));
        assert_near(x, in[0] - in[1], 0);
    }
    wmi_formula_destroy(f);
    wmi_formula_destroy(g);
}

static void what_cannot_be_read_is_refused_with_its_place(void **state) {
    (void)state;
    static const char *const whole = "name = expression [unit] is expected, name a word or in back quotes";
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x=", "formula 'x=', character 3: a value is missing"},
        {"x=[s]", "formula 'x=[s]', character 3: a value is missing"},
        {"x=a b", "formula 'x=a b', character 5: an operator is expected, not 'b'"},
        {"x=2n", "formula 'x=2n', character 4: an operator is expected, not 'n'"},
        {"x=a+*b", "formula 'x=a+*b', character 5: a value is expected, not '*'"},
        {"x=a+", "formula 'x=a+', character 5: a value is missing"},
        {"x=(a", "formula 'x=(a', character 3: a '(' that is never closed"},
        {"x=a)", "formula 'x=a)', character 4: a ')' without its '('"},
        {"x=a,b", "formula 'x=a,b', character 4: a comma outside a function's arguments"},
        {"x=max((a,b))", "formula 'x=max((a,b))', character 9: a comma outside a function's arguments"},
        {"x=y=1", "formula 'x=y=1', character 4: assignment is not possible here (== compares)"},
        {"x=(y=1)", "formula 'x=(y=1)', character 5: assignment is not possible here (== compares)"},
        {"x=\"s\"", "formula 'x=\"s\"', character 3: a value is expected, not '\"'"},
        {"x='s'", "formula 'x='s'', character 3: a value is expected, not '''"},
        {"x=a[0]+1", "formula 'x=a[0]+1', character 4: a unit in brackets belongs behind the whole formula"},
        {"x=a]", "formula 'x=a]', character 4: a ']' without its '['"},
        {"x=a [m\ts]", "formula 'x=a [m\\x09s]', character 7: a character that no unit has"},
        {"x=a?b", "formula 'x=a?b', character 4: a '?' without its ':'"},
        {"x=a:b", "formula 'x=a:b', character 4: a ':' without its '?'"},
        {"x=max(a?1,2)", "formula 'x=max(a?1,2)', character 8: a '?' without its ':'"},
        {"x=--a", "formula 'x=--a', character 4: two signs in a row (write -(-x))"},
        {"x=max()", "formula 'x=max()', character 7: a value is expected, not ')'"},
        {"x=sqrt(1,2)", "formula 'x=sqrt(1,2)', character 3: sqrt takes 1 argument, not 2"},
        {"x=atan2(1)", "formula 'x=atan2(1)', character 3: atan2 takes 2 arguments, not 1"},
        {"x=sqr(a)", "formula 'x=sqr(a)', character 3: there is no function 'sqr'; the nearest is sqrt"},
        {"x=f(a)", "formula 'x=f(a)', character 3: there is no function 'f'"},
        {"x=1e999", "formula 'x=1e999', character 3: '1e999' is not a number that a double can hold"},
        {"x=1.2.3", "formula 'x=1.2.3', character 3: '1.2.3' is not a number that a double can hold"},
        {"x=`a`+`b", "formula 'x=`a`+`b', character 7: a back quote without its partner"},
        {"x=``", "formula 'x=``', character 3: an empty name in back quotes"},
        {"``=1", "formula '``=1', character 1: an empty name in back quotes"},
        {"`\xc3\xa9`=`\xc3\xa9` !",
         "formula '`\xc3\xa9`=`\xc3\xa9` !', character 9: an operator is expected, not '!'"},
        {"x=a.b",
         "formula 'x=a.b', character 4: a name that is not a plain word is written in back quotes: '.'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) refused(cases[i].text, cases[i].message);
    static const char *const nameless[] = {"", "   ", "=1", "a/b", "x", "x==1", "1=2", "a b=1"};
    for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++) {
        wmi_formula *f;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_formula_parse(nameless[i], &f, &err), WM_EPARSE);
        assert_non_null(strstr(err.message, whole));
    }
}

static char *repeated(const char *before, const char *left, const char *middle, const char *right, int n) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, before);
    for (int i = 0; i < n; i++) wmi_buf_str(&text, left);
    wmi_buf_str(&text, middle);
    for (int i = 0; i < n; i++) wmi_buf_str(&text, right);
    return wmi_buf_take(&text);
}

static void depth_and_length_have_limits(void **state) {
    (void)state;
    static const struct {
        const char *left, *middle, *right;
        int n;
        wm_status status;
    } cases[] = {
        {"(", "1", ")", 200, WM_OK},          {"(", "1", ")", 201, WM_EPARSE},
        {"1?2:", "3", "", 200, WM_OK},        {"1?2:", "3", "", 201, WM_EPARSE},
        {"-(", "1", ")", 200, WM_OK},         {"max(", "1", ",2)", 200, WM_OK},
        {"max(", "1", ",2)", 201, WM_EPARSE}, {"1+", "1", "", 2046, WM_OK},
        {"1+", "1", "", 2047, WM_EPARSE},     {"1^", "1", "", 2046, WM_OK},
        {"", "1", "-1", 2046, WM_OK},         {"((", "", "", 100, WM_EPARSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = repeated("x=", cases[i].left, cases[i].middle, cases[i].right, cases[i].n);
        wmi_formula *f = NULL;
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_formula_parse(text, &f, &err), cases[i].status);
        if (cases[i].status) assert_true(strlen(err.message) < 250);
        wmi_formula_destroy(f);
        free(text);
    }
}

static void many_names_are_kept_apart(void **state) {
    (void)state;
    enum { COUNT = 600 };
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "x=0");
    for (int i = 0; i < COUNT; i++) wmi_buf_printf(&text, "-n%d", i);
    wmi_formula *f = parse(text.data);
    double in[COUNT], x = 0;
    for (int i = 0; i < COUNT; i++) in[i] = i;
    assert_int_equal(wmi_formula_inputs(f), COUNT);
    assert_string_equal(wmi_formula_input(f, 599), "n599");
    assert_true(wmi_formula_eval(f, in, &x));
    assert_near(x, -COUNT * (COUNT - 1) / 2.0, 0);
    wmi_formula_destroy(f);
    wmi_buf_free(&text);
}

/* muParser's decimal separator belongs to the whole process. */
static void somebody_elses_decimal_comma_changes_nothing(void **state) {
    (void)state;
    const char *version = NULL, *path = NULL;
    assert_int_equal(wmi_formula_library(&version, &path, NULL), WM_OK);
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    void *(*create)(int) = (void *(*)(int))(uintptr_t)dlsym(library, "mupCreate");
    void (*set)(void *, char) = (void (*)(void *, char))(uintptr_t)dlsym(library, "mupSetDecSep");
    void (*reset)(void *) = (void (*)(void *))(uintptr_t)dlsym(library, "mupResetLocale");
    void (*release)(void *) = (void (*)(void *))(uintptr_t)dlsym(library, "mupRelease");
    assert_true(create && set && reset && release);
    void *other = create(0);
    set(other, ',');
    double x = value("x=max(1.5,0.25)*2.0", NULL);
    reset(other);
    release(other);
    dlclose(library);
    assert_near(x, 3, 0);
}

static void the_library_says_what_it_is(void **state) {
    (void)state;
    const char *version = NULL, *path = NULL;
    assert_int_equal(wmi_formula_library(&version, &path, NULL), WM_OK);
    assert_int_equal(version[0], '2');
    assert_null(strchr(version, ' '));
    assert_non_null(strstr(path, "libmuparser"));
    assert_int_equal(wmi_formula_library(NULL, NULL, NULL), WM_OK);
}

static void *parse_often(void *arg) {
    for (int i = 0; i < 50; i++) {
        wmi_formula *f = NULL;
        const double in[] = {i, 2};
        double x = 0;
        if (wmi_formula_parse("x=a/b+0.5", &f, NULL) == WM_OK && wmi_formula_eval(f, in, &x) &&
            x == i / 2.0 + 0.5)
            ++*(int *)arg;
        wmi_formula_destroy(f);
    }
    return NULL;
}

static void threads_have_formulas_of_their_own(void **state) {
    (void)state;
    pthread_t threads[4];
    int good[4] = {0};
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, parse_often, &good[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) assert_int_equal(good[i], 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_formulas_of_their_own),
        cmocka_unit_test(the_parts_are_told_apart),
        cmocka_unit_test(a_unit_may_be_left_out_or_empty),
        cmocka_unit_test(names_in_back_quotes_are_taken_whole),
        cmocka_unit_test(operators_bind_as_in_mathematics),
        cmocka_unit_test(a_result_that_is_not_finite_is_none),
        cmocka_unit_test(a_formula_can_be_evaluated_again),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_its_place),
        cmocka_unit_test(depth_and_length_have_limits),
        cmocka_unit_test(many_names_are_kept_apart),
        cmocka_unit_test(somebody_elses_decimal_comma_changes_nothing),
        cmocka_unit_test(the_library_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
