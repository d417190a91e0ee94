#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"

enum { THREADS = 8, NAMES = 5000 };

static void ids_count_from_one(void **state) {
    (void)state;
    char name[] = "alpha";
    uint32_t first = wmi_intern(name);
    assert_int_equal(first, 1);
    name[0] = 'A'; /* the name was copied */
    assert_int_equal(wmi_intern("beta"), 2);
    assert_int_equal(wmi_intern(""), 3);
    assert_int_equal(wmi_intern("a/b \"c\"\n\xff"), 4);
    assert_int_equal(wmi_intern("alpha"), 1);
    assert_int_equal(wmi_intern(""), 3);
    assert_string_equal(wmi_intern_name(1), "alpha");
    assert_string_equal(wmi_intern_name(2), "beta");
    assert_string_equal(wmi_intern_name(3), "");
    assert_string_equal(wmi_intern_name(4), "a/b \"c\"\n\xff");
}

static void other_numbers_have_no_name(void **state) {
    (void)state;
    assert_string_equal(wmi_intern_name(0), "");
    assert_string_equal(wmi_intern_name(100000), "");
    assert_string_equal(wmi_intern_name(UINT32_MAX), "");
}

static void name_of(int i, char out[32]) { snprintf(out, 32, "step/%d", i * 7919 % NAMES); }

static void *intern_all(void *arg) {
    uint32_t *ids = arg;
    char name[32];
    for (int i = 0; i < NAMES; i++) {
        name_of(i, name);
        ids[i] = wmi_intern(name);
        if (strcmp(wmi_intern_name(ids[i]), name) != 0) ids[i] = 0;
    }
    return NULL;
}

static void threads_agree_and_no_id_is_left_out(void **state) {
    (void)state;
    static uint32_t ids[THREADS][NAMES];
    static bool seen[NAMES];
    pthread_t threads[THREADS];
    uint32_t before = wmi_intern("before the threads");
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, intern_all, ids[t]), 0);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int i = 0; i < NAMES; i++) {
        uint32_t index = ids[0][i] - before - 1;
        assert_in_range(index, 0, NAMES - 1);
        assert_false(seen[index]);
        seen[index] = true;
        for (int t = 1; t < THREADS; t++) assert_int_equal(ids[t][i], ids[0][i]);
    }
    assert_int_equal(wmi_intern("after the threads"), before + NAMES + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_count_from_one),
        cmocka_unit_test(other_numbers_have_no_name),
        cmocka_unit_test(threads_agree_and_no_id_is_left_out),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
