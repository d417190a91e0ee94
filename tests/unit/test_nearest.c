#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static const char *const names[] = {"time",          "cpu_time",  "cycles",    "instructions", "cache-misses",
                                    "branch-misses", "flop_rate", "byte_rate", "item_rate",    "time"};

static void assert_near(const char *name, const char *expected) {
    char *text = wmi_nearest(name, names, sizeof names / sizeof names[0]);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void one_slip_finds_the_name(void **state) {
    (void)state;
    assert_near("tme", "time");
    assert_near("tiime", "time");
    assert_near("tine", "time");
    assert_near("tiem", "time");
    assert_near("TIME", "time");
    assert_near("cache_misses", "cache-misses");
    assert_near("instuctions", "instructions");
}

/* Distances from byte_rte: 3, 2, 2, 1, 1. */
static void the_nearest_comes_first_and_three_are_enough(void **state) {
    (void)state;
    static const char *const rates[] = {"kite_rate", "bite_rate", "bytes_rate", "byte_rate", "bite_rte"};
    char *text = wmi_nearest("byte_rte", rates, 4);
    assert_string_equal(text, "byte_rate, bite_rate or bytes_rate");
    free(text);
    text = wmi_nearest("byte_rte", rates, 5);
    assert_string_equal(text, "byte_rate, bite_rte or bite_rate");
    free(text);
    text = wmi_nearest("byte_rte", rates, 2);
    assert_string_equal(text, "bite_rate or kite_rate");
    free(text);
}

static void what_is_far_is_not_offered(void **state) {
    (void)state;
    assert_near("bogus__x.sum", "");
    assert_near("zz", "");
    assert_near("", "");
    char *text = wmi_nearest("time", NULL, 0);
    assert_string_equal(text, "");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slip_finds_the_name),
        cmocka_unit_test(the_nearest_comes_first_and_three_are_enough),
        cmocka_unit_test(what_is_far_is_not_offered),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
