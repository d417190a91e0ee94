#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t next_random(uint64_t *seed) { /* xorshift64, Marsaglia 2003 */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void assert_text(double x, const char *expected) {
    char text[WMI_NUMBER_MAX];
    assert_int_equal(wmi_number_text(x, text), strlen(expected));
    assert_string_equal(text, expected);
}

/* The text names the same double, bit for bit, and the C library finds no text
 * with fewer digits that does. */
static void assert_shortest(double x) {
    char text[WMI_NUMBER_MAX], shorter[40];
    size_t n = wmi_number_text(x, text);
    assert_true(n < WMI_NUMBER_MAX && text[n] == '\0');
    double back;
    assert_true(wmi_number_parse(text, n, &back));
    if (bits_of(back) != bits_of(x)) fail_msg("%a was written as %s", x, text);
    int digits = 0, zeros = 0;
    for (const char *c = text; *c && *c != 'e'; c++) {
        if (*c < '0' || *c > '9' || (*c == '0' && digits == 0)) continue;
        digits++;
        zeros = *c == '0' ? zeros + 1 : 0;
    }
    if (digits - zeros < 2) return;
    snprintf(shorter, sizeof shorter, "%.*e", digits - zeros - 2, x);
    if (strtod(shorter, NULL) == x) fail_msg("%s is shorter than %s", shorter, text);
}

static void known_numbers_have_known_texts(void **state) {
    (void)state;
    assert_text(0.0, "0");
    assert_text(-0.0, "-0");
    assert_text(3, "3");
    assert_text(-120, "-120");
    assert_text(0.1, "0.1");
    assert_text(0.1 + 0.2, "0.30000000000000004");
    assert_text(1.0 / 3, "0.3333333333333333");
    assert_text(123456.789, "123456.789");
    assert_text(0.0001, "0.0001");
    assert_text(0.00001, "1e-05");
    assert_text(1.5e-7, "1.5e-07");
    assert_text(9007199254740991, "9007199254740991");
    assert_text(9007199254740992, "9007199254740992");
    assert_text(12345678901234568, "12345678901234568");
    assert_text(9.9e16, "9.9e+16");
    assert_text(1e17, "1e+17");
    assert_text(1e22, "1e+22");
    assert_text(1e23, "1e+23");
    assert_text(1e300, "1e+300");
    assert_text(DBL_MAX, "1.7976931348623157e+308");
    assert_text(-DBL_MAX, "-1.7976931348623157e+308");
    assert_text(DBL_MIN, "2.2250738585072014e-308");
    assert_text(0x0.fffffffffffffp-1022, "2.225073858507201e-308");
    assert_text(0x1p-1074, "5e-324");
    assert_text(0x2p-1074, "1e-323");
    assert_text(0x1p-44, "5.684341886080802e-14"); /* %.16g gives a text that reads back wrong */
    assert_text(0x1p554, "5.896816288783659e+166");
    assert_text(9.5e-3, "0.0095");
}

static void every_power_of_two_is_shortest(void **state) {
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        double x = ldexp(1, e);
        assert_shortest(x);
        assert_shortest(-x);
        assert_shortest(nextafter(x, 0));
        assert_shortest(nextafter(x, INFINITY));
    }
}

static void every_power_of_ten_is_itself(void **state) {
    (void)state;
    for (int e = -323; e <= 308; e++) {
        char text[16], out[WMI_NUMBER_MAX];
        snprintf(text, sizeof text, "1e%+03d", e);
        double x = strtod(text, NULL);
        assert_shortest(nextafter(x, INFINITY));
        wmi_number_text(x, out);
        if (e >= 17 || e < -4) assert_string_equal(out, text);
    }
}

static void random_bits_are_shortest(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        double x = double_of(next_random(&seed));
        if (isfinite(x)) assert_shortest(x);
    }
}

static void random_measurements_are_shortest(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 40000; i++) {
        uint64_t r = next_random(&seed);
        assert_shortest((double)(r >> (r & 63)));
        assert_shortest((double)(r >> 20) / 1000);
        assert_shortest((double)(r >> 34) * 0.3852);
        assert_shortest(double_of(r & UINT64_C(0x800fffffffffffff)));
    }
}

static void assert_reads(const char *text, double expected) {
    double x = 42;
    assert_true(wmi_number_parse(text, strlen(text), &x));
    assert_true(bits_of(x) == bits_of(expected));
}

static void assert_no_number(const char *text) {
    double x = 42;
    assert_false(wmi_number_parse(text, strlen(text), &x));
    assert_true(x == 42);
}

static void decimals_are_read(void **state) {
    (void)state;
    assert_reads("0", 0.0);
    assert_reads("-0", -0.0);
    assert_reads("+12", 12);
    assert_reads("1.", 1);
    assert_reads(".5", 0.5);
    assert_reads("1e3", 1000);
    assert_reads("-2.5E-3", -0.0025);
    assert_reads("5e-324", 0x1p-1074);
    assert_reads("1.7976931348623157e+308", DBL_MAX);
    assert_reads("0000000000000000000000000000000000000000000000000000001", 1);
    double x;
    assert_true(wmi_number_parse("12345", 3, &x));
    assert_true(x == 123);
}

static void what_is_no_decimal_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",  " 1", "1 ",  "nan",   "inf", "-inf",    "NAN(1)", "infinity", "0x1", "1e", "1e+", ".",
        "+", "-",  "--1", "1.2.3", "1,5", "1e99999", "-1e309", "1_000",    "1f",  "e5", ".e5", "1e5.0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_no_number(wrong[i]);
    double x;
    assert_false(wmi_number_parse("1\0002", 3, &x));
    char longest[513];
    memset(longest, '0', sizeof longest);
    assert_true(wmi_number_parse(longest, 511, &x));
    assert_false(wmi_number_parse(longest, 512, &x));
}

static void assert_i64(const char *text, int64_t expected) {
    int64_t x = 42;
    assert_true(wmi_i64_parse(text, strlen(text), &x));
    assert_true(x == expected);
}

static void integers_are_read_to_their_limits(void **state) {
    (void)state;
    assert_i64("0", 0);
    assert_i64("-0", 0);
    assert_i64("+7", 7);
    assert_i64("007", 7);
    assert_i64("9223372036854775807", INT64_MAX);
    assert_i64("-9223372036854775808", INT64_MIN);
    static const char *const wrong[] = {"",
                                        "-",
                                        "+",
                                        "1.0",
                                        "1e3",
                                        " 1",
                                        "1 ",
                                        "0x10",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999",
                                        "--1",
                                        "1a"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int64_t x = 42;
        assert_false(wmi_i64_parse(wrong[i], strlen(wrong[i]), &x));
        assert_true(x == 42);
    }
}

static void assert_duration(const char *text, int64_t expected) {
    int64_t ns = -1;
    assert_true(wmi_duration_parse(text, strlen(text), &ns));
    assert_true(ns == expected);
}

static void durations_have_units(void **state) {
    (void)state;
    assert_duration("250ms", 250000000);
    assert_duration("1.5s", 1500000000);
    assert_duration("10us", 10000);
    assert_duration("10µs", 10000);
    assert_duration("10\u03bcs", 10000);
    assert_duration("800ns", 800);
    assert_duration("2min", 120000000000);
    assert_duration("1h", 3600000000000);
    assert_duration("3", 3000000000);
    assert_duration("0.1", 100000000);
    assert_duration("1e-3s", 1000000);
    assert_duration("0", 0);
    assert_duration("0.4ns", 0);
    assert_duration("4611686018427387904ns", INT64_C(1) << 62);
    static const char *const wrong[] = {"",     "s",  "ms",     "-1s",   "1 s",  "1m",
                                        "1sec", "1S", "nan",    "1s1s",  "1e",   "infs",
                                        "1.s.", "s1", "5e18ns", "1e300", "0x1s", "1..5s"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int64_t ns = 42;
        assert_false(wmi_duration_parse(wrong[i], strlen(wrong[i]), &ns));
        assert_true(ns == 42);
    }
}

static void assert_si(double x, const char *unit, const char *expected) {
    wmi_buf b = WMI_BUF_INIT;
    wmi_si_text(x, unit, true, &b);
    assert_string_equal(b.data, expected);
    wmi_buf_free(&b);
}

static void scaled_texts_have_four_digits(void **state) {
    (void)state;
    assert_si(1.234e9, "FLOP/s", "1.234 GFLOP/s");
    assert_si(1.5e6, "ns", "1.500 ms");
    assert_si(999.94, "ns", "999.9 ns");
    assert_si(999.96, "ns", "1.000 µs");
    assert_si(12.345, "ns", "12.35 ns");
    assert_si(0.5, "ns", "500.0 ps");
    assert_si(2e9, "ns", "2.000 s");
    assert_si(999.96e9, "ns", "1000 s");
    assert_si(7.25e12, "ns", "7250 s");
    assert_si(-1.5e6, "ns", "-1.500 ms");
    assert_si(0, "ns", "0 ns");
    assert_si(-0.0, "ns", "0 ns");
    assert_si(0.25, "s", "250.0 ms");
    assert_si(65536, "B", "65.54 kB");
    assert_si(25.6e9, "B/s", "25.60 GB/s");
    assert_si(1, "item/s", "1.000 item/s");
    assert_si(3.2e9, "Hz", "3.200 GHz");
    assert_si(1.5e25, "FLOP", "15.00 YFLOP");
    assert_si(1.5e27, "FLOP", "1.500e+27 FLOP");
    assert_si(1.5e-30, "J", "1.500e-30 J");
    assert_si(2e-24, "J", "2.000 yJ");
}

static void other_units_stay_as_they_are(void **state) {
    (void)state;
    assert_si(70.7107, "%", "70.71 %");
    assert_si(1.0434, "", "1.043");
    assert_si(12, "", "12");
    assert_si(104857600, "", "104857600");
    assert_si(1234567.8, "1/s", "1234568 1/s");
    assert_si(999.96, "%", "1000 %");
    assert_si(12.5, "GFLOP/s", "12.50 GFLOP/s");
    assert_si(1e15, "", "1.000e+15");
    assert_si(0.00001234, "", "1.234e-05");
}

static void micro_has_an_ascii_form(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    wmi_si_text(2500, "ns", false, &b);
    assert_string_equal(b.data, "2.500 us");
    wmi_buf_free(&b);
}

/* A locale with a decimal comma, made for the occasion: few machines have one. */
static bool enter_comma_locale(char *folder) {
    char command[256];
    if (!mkdtemp(folder)) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    return made && setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void the_locale_changes_nothing(void **state) {
    (void)state;
    char folder[] = "/tmp/test_number.XXXXXX", command[64];
    bool entered = enter_comma_locale(folder);
    wm_error err = WM_ERROR_INIT;
    wmi_buf b = WMI_BUF_INIT;
    double x = 0;
    wmi_error_set(&err, WM_EINVAL, 0, "%.1f", 2.5);
    wmi_buf_printf(&b, "%.1f|", 2.5);
    wmi_si_text(1500, "ns", false, &b);
    bool read = wmi_number_parse("2.5", 3, &x), comma = wmi_number_parse("2,5", 3, &x);
    bool restored = !entered || strcmp(localeconv()->decimal_point, ",") == 0;
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_true(restored);
    assert_string_equal(err.message, "2.5");
    assert_string_equal(b.data, "2.5|1.500 us");
    assert_true(read && x == 2.5 && !comma);
    wmi_buf_free(&b);
    if (!entered) {
        print_message("no locale with a decimal comma can be made here\n");
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers_have_known_texts),
        cmocka_unit_test(every_power_of_two_is_shortest),
        cmocka_unit_test(every_power_of_ten_is_itself),
        cmocka_unit_test(random_bits_are_shortest),
        cmocka_unit_test(random_measurements_are_shortest),
        cmocka_unit_test(decimals_are_read),
        cmocka_unit_test(what_is_no_decimal_is_refused),
        cmocka_unit_test(integers_are_read_to_their_limits),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(scaled_texts_have_four_digits),
        cmocka_unit_test(other_units_stay_as_they_are),
        cmocka_unit_test(micro_has_an_ascii_form),
        cmocka_unit_test(the_locale_changes_nothing),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
