#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void a_buffer_grows_and_stays_terminated(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    for (int i = 0; i < 1000; i++) {
        wmi_buf_char(&b, (char)('a' + i % 26));
        assert_int_equal(strlen(b.data), i + 1);
    }
    wmi_buf_str(&b, "xyz");
    wmi_buf_add(&b, "12345", 2);
    wmi_buf_printf(&b, "%d|%s", -7, "t");
    assert_int_equal(b.len, 1009);
    assert_string_equal(b.data + 1000, "xyz12-7|t");
    assert_false(b.failed);
    wmi_buf_free(&b);
    assert_null(b.data);
}

static void printf_of_any_length_is_whole(void **state) {
    (void)state;
    for (int n = 0; n < 400; n++) {
        wmi_buf b = WMI_BUF_INIT;
        wmi_buf_str(&b, "ab");
        wmi_buf_printf(&b, "%*d", n, 5);
        assert_int_equal(b.len, 2 + (n ? n : 1));
        assert_int_equal(b.data[b.len - 1], '5');
        assert_int_equal(strlen(b.data), b.len);
        wmi_buf_free(&b);
    }
}

static void bytes_may_hold_nul(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
    wmi_buf_free(&b);
}

static void adding_nothing_makes_an_empty_text(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_add(&b, NULL, 0);
    assert_string_equal(b.data, "");
    wmi_buf_free(&b);
}

static void taking_empties_the_buffer(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    char *empty = wmi_buf_take(&b);
    assert_string_equal(empty, "");
    wmi_buf_str(&b, "text");
    char *text = wmi_buf_take(&b);
    assert_string_equal(text, "text");
    assert_null(b.data);
    assert_int_equal(b.len, 0);
    free(empty);
    free(text);
}

/* No memory in the world holds these sizes, so this is what running out does. */
static void running_out_keeps_what_was_there(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_str(&b, "kept");
    wmi_buf_add(&b, "x", SIZE_MAX - 2);
    assert_true(b.failed);
    wmi_buf_str(&b, "more");
    wmi_buf_printf(&b, "%d", 1);
    assert_string_equal(b.data, "kept");
    assert_int_equal(b.len, 4);
    assert_null(wmi_buf_take(&b));
    assert_null(b.data);
    assert_false(b.failed);
}

static void copies_end_where_asked(void **state) {
    (void)state;
    char *whole = wmi_strdup("region"), *part = wmi_strndup("region", 3), *none = wmi_strndup(NULL, 0);
    assert_string_equal(whole, "region");
    assert_string_equal(part, "reg");
    assert_string_equal(none, "");
    free(whole);
    free(part);
    free(none);
}

/* Every lead byte with continuation bytes at the edges of their ranges, against
 * the code point's arithmetic. */
static void utf8_is_judged_by_its_code_point(void **state) {
    (void)state;
    static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    for (unsigned lead = 0; lead < 256; lead++) {
        size_t len = lead < 0x80   ? 1
                     : lead < 0xc0 ? 0
                     : lead < 0xe0 ? 2
                     : lead < 0xf0 ? 3
                     : lead < 0xf8 ? 4
                                   : 0;
        for (size_t i = 0; i < 1000; i++) {
            unsigned char s[4] = {(unsigned char)lead, edges[i % 10], edges[i / 10 % 10], edges[i / 100]};
            uint32_t c = len > 1 ? lead & (0x7fu >> len) : lead;
            bool valid = len > 0;
            for (size_t j = 1; j < len; j++) {
                valid = valid && (s[j] & 0xc0) == 0x80;
                c = c << 6 | (s[j] & 0x3f);
            }
            valid = valid && c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
            assert_int_equal(wmi_utf8_len((const char *)s, 4), valid ? len : 0);
            for (size_t n = 0; n < len; n++) assert_int_equal(wmi_utf8_len((const char *)s, n), 0);
        }
    }
}

static void assert_replaced(const char *text, const char *expected) {
    wmi_buf b = WMI_BUF_INIT;
    wmi_buf_str(&b, "<");
    wmi_utf8_replace(&b, text);
    assert_string_equal(b.data + 1, expected);
    assert_int_equal(b.len, strlen(expected) + 1);
    wmi_buf_free(&b);
}

static void bytes_that_are_no_utf8_are_replaced(void **state) {
    (void)state;
    assert_replaced("", "");
    assert_replaced("plain \u00b5", "plain \u00b5");
    assert_replaced("\xff", "\ufffd");
    assert_replaced("a\xe2\x82z", "a\ufffd\ufffdz");
    assert_replaced("\xf0\x9f\x92\xa1\xf0\x9f\x92", "\U0001f4a1\ufffd\ufffd\ufffd");
    assert_replaced("\xc0\xaf\u00e9", "\ufffd\ufffd\u00e9");
}

static void widths_are_those_of_a_terminal(void **state) {
    (void)state;
    assert_int_equal(wmi_text_width(""), 0);
    assert_int_equal(wmi_text_width("abc"), 3);
    assert_int_equal(wmi_text_width("µs ± 2"), 6);
    assert_int_equal(wmi_text_width("e\u0301"), 1);
    assert_int_equal(wmi_text_width("日本"), 4);
    assert_int_equal(wmi_text_width("\xff\xfe"), 2);
    assert_int_equal(wmi_text_width("\xe6\x97"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_grows_and_stays_terminated),
        cmocka_unit_test(printf_of_any_length_is_whole),
        cmocka_unit_test(bytes_may_hold_nul),
        cmocka_unit_test(adding_nothing_makes_an_empty_text),
        cmocka_unit_test(taking_empties_the_buffer),
        cmocka_unit_test(running_out_keeps_what_was_there),
        cmocka_unit_test(copies_end_where_asked),
        cmocka_unit_test(utf8_is_judged_by_its_code_point),
        cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
        cmocka_unit_test(widths_are_those_of_a_terminal),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
