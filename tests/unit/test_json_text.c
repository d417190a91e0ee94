#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/text.h"

static void assert_written_as(const char *bytes, const char *json) {
    wmi_buf b = WMI_BUF_INIT;
    wmi_json_string(&b, bytes);
    assert_string_equal(b.data, json);
    wmi_buf_free(&b);
}

/* Out through our writer, in through somebody else's strict reader. */
static void assert_restored(const char *bytes) {
    wmi_buf b = WMI_BUF_INIT;
    wmi_json_string(&b, bytes);
    assert_false(b.failed);
    json_error_t error;
    json_t *value = json_loads(b.data, JSON_DECODE_ANY, &error);
    if (!value) fail_msg("jansson refuses %s: %s", b.data, error.text);
    char *decoded = wmi_strdup(json_string_value(value));
    assert_non_null(decoded);
    size_t n = wmi_json_unescape(decoded);
    assert_int_equal(n, strlen(bytes));
    assert_string_equal(decoded, bytes);
    free(decoded);
    json_decref(value);
    wmi_buf_free(&b);
}

static void strings_are_written_as_the_standard_says(void **state) {
    (void)state;
    assert_written_as("", "\"\"");
    assert_written_as("plain", "\"plain\"");
    assert_written_as("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    assert_written_as("\r\n\t\x01\x1f\x7f", "\"\\r\\n\\t\\u0001\\u001f\\u007f\"");
    assert_written_as("é≤😀", "\"é≤😀\"");
    assert_written_as("\xff", "\"\\uefff\"");
    assert_written_as("\x80z", "\"\\uef80z\"");
    assert_written_as("\xee\xbe\x80", "\"\\uefee\\uefbe\\uef80\"");
}

static void every_string_of_one_or_two_bytes_is_restored(void **state) {
    (void)state;
    for (int a = 1; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            const char bytes[] = {(char)a, (char)b, '\0'};
            assert_restored(bytes);
        }
    }
}

static void tricky_strings_are_restored(void **state) {
    (void)state;
    static const char *const tricky[] = {
        "comma, quote \" backslash \\ crlf \r\n and \x01",
        "operator\"\" _kg",
        "caf\xc3\xa9 caf\xe9",
        "\xee\xbe\x80",             /* U+EF80, the first stand-in, itself */
        "\xee\xbf\xbf",             /* U+EFFF, the last one */
        "\xee\xbd\xbf\xef\x80\x80", /* their neighbours, U+EF7F and U+F000 */
        "\xee\xbe\xee\xbe\x80\x80", /* one inside a broken one */
        "\xee\xee\xbe\xbe\x80",
        "\xee\xbe",
        "\xee",
        "\xed\xa0\x80\xed\xb0\x80",         /* surrogates as UTF-8 */
        "\xc0\x80\xe0\x80\x80",             /* overlong */
        "\xf4\x90\x80\x80\xf8\x88\x80\x80", /* beyond U+10FFFF */
        "\xf0\x9f\x98\x80\xf0\x9f\x98",     /* whole, then cut */
        "\xef\xbf\xbf\xef\xb7\x90",         /* noncharacters */
        "\xe2\x80\xa8\xe2\x80\xa9",         /* line separators */
        "\\u0041\\uef80",                   /* looks escaped already */
    };
    for (size_t i = 0; i < sizeof tricky / sizeof tricky[0]; i++) assert_restored(tricky[i]);
}

/* Strings made of the bytes that matter most to the stand-ins. */
static void every_short_string_of_stand_in_bytes_is_restored(void **state) {
    (void)state;
    static const char alphabet[] = {'a', '\xee', '\xbe', '\xbf', '\x80', '\xef', '\xc3'};
    for (int code = 0; code < 7 * 7 * 7 * 7 * 7; code++) {
        char bytes[6] = "";
        for (int i = 0, rest = code; i < 5; i++, rest /= 7) bytes[i] = alphabet[rest % 7];
        assert_restored(bytes);
    }
}

static void memory_that_runs_out_is_seen(void **state) {
    (void)state;
    wmi_buf b = WMI_BUF_INIT;
    b.failed = true;
    wmi_json_string(&b, "x");
    assert_null(b.data);
    assert_true(b.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_written_as_the_standard_says),
        cmocka_unit_test(every_string_of_one_or_two_bytes_is_restored),
        cmocka_unit_test(tricky_strings_are_restored),
        cmocka_unit_test(every_short_string_of_stand_in_bytes_is_restored),
        cmocka_unit_test(memory_that_runs_out_is_seen),
    };
    return cmocka_run_group_tests_name("json_text", tests, NULL, NULL);
}
