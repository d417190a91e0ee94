#include "sweep/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Each configuration wants so many runs; a later pass as many as the first made. */
typedef struct need {
    int64_t runs[4];
    int64_t made[4];
} need;

static bool wants(void *user, uint32_t config, int32_t pass, int64_t run) {
    const need *n = user;
    if (pass == 0) return n->made[config] < n->runs[config];
    return run >= 0 && run < n->made[config];
}

/* The steps as text: configuration letter, pass, run. */
static void walk(wmi_cursor *c, need *n, char *out, size_t size) {
    c->wants = wants;
    c->user = n;
    size_t at = 0;
    out[0] = 0;
    while (wmi_cursor_next(c)) {
        const uint32_t config = wmi_cursor_config(c);
        const int64_t pass = c->at[WMI_DIM_PASS], run = c->at[WMI_DIM_RUN];
        if (pass == 0 && run >= 0) n->made[config]++;
        at += (size_t)snprintf(out + at, size - at, "%c%lld%s%lld ", 'a' + (int)config, (long long)pass,
                               run < 0 ? "" : "+", (long long)run);
        assert_true(at < size);
    }
}

static void check(size_t passes, size_t configs, int64_t warmup, bool turns, bool stacked, bool per_run,
                  const char *expected) {
    wmi_cursor c;
    need n = {{2, 2, 2, 2}, {0}};
    char text[1024];
    assert_int_equal(wmi_cursor_init(&c, passes, configs, warmup, turns, stacked, per_run), WM_OK);
    walk(&c, &n, text, sizeof text);
    assert_string_equal(text, expected);
    assert_false(wmi_cursor_next(&c));
    wmi_cursor_fini(&c);
}

static void test_sequential(void **state) {
    (void)state;
    check(1, 2, 0, false, false, false, "a0+0 a0+1 b0+0 b0+1 ");
    check(1, 2, 1, false, false, false, "a0-1 a0+0 a0+1 b0-1 b0+0 b0+1 ");
    check(2, 2, 1, false, false, false, "a0-1 a0+0 a0+1 a1+0 a1+1 b0-1 b0+0 b0+1 b1+0 b1+1 ");
}

static void test_late_passes_take_no_turns(void **state) {
    (void)state;
    wmi_cursor c;
    need n = {{2, 2, 2, 2}, {0}};
    char text[1024];
    assert_int_equal(wmi_cursor_init(&c, 4, 2, 1, true, false, false), WM_OK);
    wmi_cursor_late(&c, 2);
    wmi_cursor_shuffle(&c, 7);
    walk(&c, &n, text, sizeof text);
    const char *late = strstr(text, "a2+0");
    assert_non_null(late);
    assert_string_equal(late, "a2+0 a2+1 a3+0 a3+1 b2+0 b2+1 b3+0 b3+1 ");
    assert_null(strchr(late, '-')); /* warm-up runs belong to the first pass */
    assert_int_equal(late - text, (2 + 8) * 5);
    assert_false(wmi_cursor_next(&c));
    wmi_cursor_fini(&c);
}

static void test_stacked_passes_are_outermost(void **state) {
    (void)state;
    check(2, 2, 1, false, true, false, "a0-1 a0+0 a0+1 b0-1 b0+0 b0+1 a1+0 a1+1 b1+0 b1+1 ");
}

static void test_passes_of_one_run_stay_together(void **state) {
    (void)state;
    check(2, 2, 1, false, false, true, "a0-1 a0+0 a1+0 a0+1 a1+1 b0-1 b0+0 b1+0 b0+1 b1+1 ");
}

static void test_interleaved(void **state) {
    (void)state;
    check(1, 2, 1, true, false, false, "a0-1 b0-1 a0+0 b0+0 a0+1 b0+1 ");
    check(2, 2, 0, true, false, false, "a0+0 a1+0 b0+0 b1+0 a0+1 a1+1 b0+1 b1+1 ");
    check(2, 2, 1, true, true, false, "a0-1 b0-1 a0+0 b0+0 a0+1 b0+1 a1+0 b1+0 a1+1 b1+1 ");
}

static void test_unequal_runs(void **state) {
    (void)state;
    wmi_cursor c;
    char text[1024];
    need n = {{1, 3, 0, 0}, {0}};
    assert_int_equal(wmi_cursor_init(&c, 2, 3, 0, true, false, false), WM_OK);
    walk(&c, &n, text, sizeof text);
    assert_string_equal(text, "a0+0 a1+0 b0+0 b1+0 b0+1 b1+1 b0+2 b1+2 ");
    wmi_cursor_fini(&c);
    n = (need){{1, 3, 0, 0}, {0}};
    assert_int_equal(wmi_cursor_init(&c, 2, 3, 1, false, false, false), WM_OK);
    walk(&c, &n, text, sizeof text);
    assert_string_equal(text, "a0-1 a0+0 a1+0 b0-1 b0+0 b0+1 b0+2 b1+0 b1+1 b1+2 ");
    wmi_cursor_fini(&c);
}

static void test_nothing_to_do(void **state) {
    (void)state;
    check(0, 2, 0, false, false, false, "");
    check(2, 0, 0, true, false, false, "");
}

/* Random order: every round holds every configuration once, orders differ between
 * rounds, and a seed gives the same order again. */
static void test_random(void **state) {
    (void)state;
    char text[2][1024];
    for (int i = 0; i < 2; i++) {
        wmi_cursor c;
        need n = {{8, 8, 8, 8}, {0}};
        assert_int_equal(wmi_cursor_init(&c, 1, 4, 0, true, false, false), WM_OK);
        wmi_cursor_shuffle(&c, 42);
        walk(&c, &n, text[i], sizeof text[i]);
        wmi_cursor_fini(&c);
    }
    assert_string_equal(text[0], text[1]);
    int different = 0;
    for (int round = 0; round < 8; round++) {
        int seen[4] = {0};
        const char *at = text[0] + (size_t)round * 20; /* four steps of five characters */
        for (int i = 0; i < 4; i++) seen[at[5 * i] - 'a']++;
        for (int i = 0; i < 4; i++) assert_int_equal(seen[i], 1);
        for (int i = 0; i < 4; i++) different += at[5 * i] != text[0][5 * i];
    }
    assert_true(different > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequential),
        cmocka_unit_test(test_late_passes_take_no_turns),
        cmocka_unit_test(test_stacked_passes_are_outermost),
        cmocka_unit_test(test_passes_of_one_run_stay_together),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_unequal_runs),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
