#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"

enum { MESSAGE_MAX = sizeof((wm_error *)NULL)->message - 1 };

static const char *message_of(const char *text) {
    static wm_error err;
    wmi_error_set(&err, WM_EINVAL, 0, "%s", text);
    return err.message;
}

static void version_is_the_headers(void **state) {
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", WM_VERSION_MAJOR, WM_VERSION_MINOR, WM_VERSION_PATCH);
    assert_string_equal(wm_version(), expected);
}

static void statuses_have_names_and_texts(void **state) {
    (void)state;
    assert_string_equal(wm_status_name(WM_OK), "WM_OK");
    assert_string_equal(wm_status_name(WM_EUNSUPPORTED), "WM_EUNSUPPORTED");
    assert_string_equal(wm_status_name((wm_status)-11), "WM_EFAILED");
    assert_string_equal(wm_status_name((wm_status)1), "WM_?");
    assert_string_equal(wm_status_name((wm_status)-999), "WM_?");
    assert_string_equal(wm_status_text(WM_ENOMEM), "out of memory");
    assert_string_equal(wm_status_text((wm_status)7), "unknown status");
}

static void slugs_lead_back_to_their_reasons(void **state) {
    (void)state;
    for (int i = 0; i < WM_REASON_COUNT; i++) {
        const char *slug = wm_reason_slug((wm_reason)i);
        assert_int_equal(wmi_reason_from_slug(slug, strlen(slug)), i);
        for (int j = 0; j < i; j++) assert_string_not_equal(slug, wm_reason_slug((wm_reason)j));
    }
    assert_string_equal(wm_reason_slug(WM_REASON_FEW_SAMPLES), "few-samples");
    assert_string_equal(wm_reason_text(WM_REASON_ZERO_MEAN), "the mean is zero");
    assert_int_equal(wmi_reason_from_slug("few-samples-and-more", 11), WM_REASON_FEW_SAMPLES);
    assert_int_equal(wmi_reason_from_slug("few-sample", 10), WM_REASON_UNKNOWN);
    assert_string_equal(wm_reason_slug((wm_reason)1000), "unknown");
    assert_string_equal(wm_reason_slug((wm_reason)-1), "unknown");
}

static void a_message_is_formatted_and_null_is_fine(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_error_set(&err, WM_EIO, ENOSPC, "%s: %d of %.1f", "x", 3, 4.5), WM_EIO);
    assert_int_equal(err.code, WM_EIO);
    assert_int_equal(err.native_code, ENOSPC);
    assert_string_equal(err.message, "x: 3 of 4.5");
    assert_int_equal(wmi_error_set(NULL, WM_EBUSY, 0, "%s", "unseen"), WM_EBUSY);
    assert_int_equal(wmi_error_nomem(&err), WM_ENOMEM);
    assert_int_equal(err.native_code, 0);
}

static void a_message_may_quote_the_one_it_replaces(void **state) {
    (void)state;
    wm_error err = WM_ERROR_INIT;
    wmi_error_set(&err, WM_EPARSE, 0, "a brace is missing");
    wmi_error_set(&err, WM_EPARSE, 0, "line 3: %s", err.message);
    assert_string_equal(err.message, "line 3: a brace is missing");
}

static void control_and_invalid_bytes_are_shown(void **state) {
    (void)state;
    assert_string_equal(message_of("a\nb\r\tc"), "a\\x0ab\\x0d\\x09c");
    assert_string_equal(message_of("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
    assert_string_equal(message_of("\xc2\x9b"
                                   "31m"),
                        "\\xc2\\x9b"
                        "31m");
    assert_string_equal(message_of("caf\xe9"), "caf\\xe9");
    assert_string_equal(message_of("café ≤ 10 µs"), "café ≤ 10 µs");
    assert_string_equal(message_of("\xed\xa0\x80"), "\\xed\\xa0\\x80");
    assert_string_equal(message_of("cut \xe2\x89"), "cut \\xe2\\x89");
}

/* Texts of every length around the limit, made of characters of 1 to 4 bytes and
 * of bytes that are shown as four. */
static void a_long_message_is_cut_at_a_character(void **state) {
    (void)state;
    static const char *const units[] = {"a", "é", "≤", "😀", "\x01"};
    for (size_t u = 0; u < 5; u++) {
        size_t size = strlen(units[u]), shown = u == 4 ? 4 : size;
        for (size_t pad = 0; pad < 4; pad++) {
            for (size_t count = 100; count < 520; count++) {
                char text[2200] = "";
                memset(text, '.', pad);
                for (size_t i = 0; i < count; i++) memcpy(text + pad + i * size, units[u], size);
                const char *message = message_of(text);
                size_t full = pad + count * shown, n = strlen(message);
                if (full <= MESSAGE_MAX) {
                    assert_int_equal(n, full);
                    continue;
                }
                size_t kept = n - 3;
                assert_true(n <= MESSAGE_MAX && kept + shown > MESSAGE_MAX - 3);
                assert_int_equal((kept - pad) % shown, 0);
                assert_string_equal(message + kept, "...");
                if (u < 4) assert_memory_equal(message, text, kept);
            }
        }
    }
}

static void system_errors_have_english_texts(void **state) {
    (void)state;
    assert_string_equal(wmi_errno_text(ENOSPC), "No space left on device");
    assert_string_equal(wmi_errno_text(123456), "unknown system error");
}

static void values_carry_their_type(void **state) {
    (void)state;
    assert_int_equal(wmi_f64(2.5).type, WM_F64);
    wm_value infinite = wmi_f64(__builtin_inf()), nan = wmi_f64(__builtin_nan(""));
    assert_int_equal(infinite.type, WM_NULL);
    assert_int_equal(infinite.reason, WM_REASON_NOT_FINITE);
    assert_int_equal(nan.type, WM_NULL);
    assert_int_equal(nan.reason, WM_REASON_NOT_FINITE);
    assert_int_equal(wmi_null(WM_REASON_DROPPED).reason, WM_REASON_DROPPED);
    assert_true(wmi_i64(INT64_MIN).as.i64 == INT64_MIN);
    assert_true(wmi_bool(true).as.b);
    assert_string_equal(wmi_str("x").as.str, "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_the_headers),
        cmocka_unit_test(statuses_have_names_and_texts),
        cmocka_unit_test(slugs_lead_back_to_their_reasons),
        cmocka_unit_test(a_message_is_formatted_and_null_is_fine),
        cmocka_unit_test(a_message_may_quote_the_one_it_replaces),
        cmocka_unit_test(control_and_invalid_bytes_are_shown),
        cmocka_unit_test(a_long_message_is_cut_at_a_character),
        cmocka_unit_test(system_errors_have_english_texts),
        cmocka_unit_test(values_carry_their_type),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
