#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

/* The words joined with '|' must read like `expected`. */
static void assert_splits(const char *text, size_t expected_count, const char *expected) {
    char **words;
    size_t count;
    assert_int_equal(wmi_words_split(text, &words, &count, NULL), WM_OK);
    wmi_buf joined = WMI_BUF_INIT;
    wmi_buf_str(&joined, "");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) wmi_buf_char(&joined, '|');
        wmi_buf_str(&joined, words[i]);
    }
    assert_int_equal(count, expected_count);
    assert_string_equal(joined.data, expected);
    assert_null(words[count]);
    wmi_buf_free(&joined);
    free(words);
}

static void assert_refused(const char *text) {
    char **words = NULL;
    size_t count = 77;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_words_split(text, &words, &count, &err), WM_EPARSE);
    assert_int_equal(err.code, WM_EPARSE);
    assert_non_null(strstr(err.message, text));
    assert_null(words);
    assert_int_equal(count, 77);
}

static void blanks_separate(void **state) {
    (void)state;
    assert_splits("", 0, "");
    assert_splits(" \t\r\n\v\f ", 0, "");
    assert_splits("a", 1, "a");
    assert_splits("  --axis\tn[pow2]=[10:20:2] --runs 20\n", 4, "--axis|n[pow2]=[10:20:2]|--runs|20");
    assert_splits("a b c d e f g h", 8, "a|b|c|d|e|f|g|h");
}

static void quotes_keep_blanks(void **state) {
    (void)state;
    assert_splits("--derive 'gflops = 2*n^3/time [GFLOP/s]'", 2, "--derive|gflops = 2*n^3/time [GFLOP/s]");
    assert_splits("\"a b\"' c 'd", 1, "a b c d");
    assert_splits("'' \"\" x", 3, "||x");
    assert_splits("'a\\n' \"it's\"", 2, "a\\n|it's");
    assert_splits("'say \"x\"'", 1, "say \"x\"");
}

static void a_backslash_takes_the_next_character(void **state) {
    (void)state;
    assert_splits("a\\ b \\\\ \\'", 3, "a b|\\|'");
    assert_splits("\"\\\"q\\\" \\\\ \\d+\"", 1, "\"q\" \\ \\d+");
}

static void nothing_is_expanded(void **state) {
    (void)state;
    assert_splits("$HOME ~ * `x` #c a;b", 6, "$HOME|~|*|`x`|#c|a;b");
    assert_splits("\xff\xfe é", 2, "\xff\xfe|é");
}

static void what_is_left_open_is_refused(void **state) {
    (void)state;
    assert_refused("--filter 'a b");
    assert_refused("--filter \"a b");
    assert_refused("x \"a\\\"");
    assert_refused("x \"a\\");
    assert_refused("ends in \\");
    assert_refused("'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate),
        cmocka_unit_test(quotes_keep_blanks),
        cmocka_unit_test(a_backslash_takes_the_next_character),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(what_is_left_open_is_refused),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
