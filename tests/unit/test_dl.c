#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/dl.h"

#define OVERRIDE "WARPMETER_TEST_LIBRARY"

static const char *(*version_str)(void);
static void *not_there;

static const wmi_dl_symbol symbols[] = {
    {"jansson_version_str", (void **)(void *)&version_str, false},
    {"jansson_has_no_such_function", &not_there, true},
};

static int clear(void **state) {
    (void)state;
    version_str = NULL;
    not_there = &not_there;
    return unsetenv(OVERRIDE);
}

static wmi_dl_spec jansson_spec(const char *const *names) {
    return (wmi_dl_spec){"Jansson", OVERRIDE, names, symbols, 2, "libjansson4"};
}

/* This program is linked with the library, so that it is in the process already,
 * and a later name finds it before an earlier one is looked for in the system. */
static void the_copy_in_the_process_is_used(void **state) {
    (void)state;
    static const char *const names[] = {"libwarpmeter-no-such.so.1", "libjansson.so.4", NULL};
    const wmi_dl_spec spec = jansson_spec(names);
    void *handle = NULL;
    const char *path = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_dl_open(&spec, &handle, &path, &err) != WM_OK) fail_msg("%s", err.message);
    assert_non_null(handle);
    assert_non_null(strstr(path, "libjansson.so.4"));
    assert_true(version_str == jansson_version_str);
    assert_null(not_there);
}

static void a_library_is_opened_anew(void **state) {
    (void)state;
    static const char *const names[] = {"libmuparser.so.2", NULL};
    static void *create;
    const wmi_dl_symbol symbol = {"mupCreate", &create, false};
    const wmi_dl_spec spec = {"muParser", OVERRIDE, names, &symbol, 1, "libmuparser2v5"};
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_null(dlopen(names[0], RTLD_NOLOAD | RTLD_LAZY));
    if (wmi_dl_open(&spec, &handle, NULL, &err) != WM_OK) fail_msg("%s", err.message);
    assert_non_null(create);
}

static void what_was_tried_and_the_remedy_are_named(void **state) {
    (void)state;
    static const char *const names[] = {"libwarpmeter-a.so.1", "libwarpmeter-b.so", NULL};
    const wmi_dl_spec spec = jansson_spec(names);
    void *handle = NULL;
    const char *path = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_dl_open(&spec, &handle, &path, &err), WM_EUNSUPPORTED);
    assert_string_equal(err.message,
                        "Jansson was not found (tried libwarpmeter-a.so.1, libwarpmeter-b.so); install the "
                        "package libjansson4, or set " OVERRIDE " to its path");
    assert_null(handle);
    assert_null(path);
    assert_null(version_str);
}

static void the_environment_overrides_and_is_final(void **state) {
    (void)state;
    static const char *const names[] = {"libjansson.so.4", NULL}, *const none[] = {NULL};
    wmi_dl_spec spec = jansson_spec(names);
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    setenv(OVERRIDE, "/nowhere/libjansson.so", 1);
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, OVERRIDE));
    assert_non_null(strstr(err.message, "/nowhere/libjansson.so"));
    assert_null(version_str);

    spec = jansson_spec(none);
    setenv(OVERRIDE, "libjansson.so.4", 1);
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_OK);
    assert_non_null(version_str);

    setenv(OVERRIDE, "", 1);
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
}

static void a_missing_symbol_is_named(void **state) {
    (void)state;
    static const char *const names[] = {"libjansson.so.4", NULL};
    const wmi_dl_symbol two[] = {symbols[0], {"json_no_such_call", &not_there, false}};
    wmi_dl_spec spec = jansson_spec(names);
    spec.symbols = two;
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "json_no_such_call"));
    assert_non_null(strstr(err.message, "libjansson4"));
    assert_null(handle);
    assert_null(version_str);
    assert_ptr_equal(not_there, &not_there);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_copy_in_the_process_is_used, clear),
        cmocka_unit_test_setup(a_library_is_opened_anew, clear),
        cmocka_unit_test_setup(what_was_tried_and_the_remedy_are_named, clear),
        cmocka_unit_test_setup(the_environment_overrides_and_is_final, clear),
        cmocka_unit_test_setup(a_missing_symbol_is_named, clear),
    };
    return cmocka_run_group_tests_name("dl", tests, NULL, NULL);
}
