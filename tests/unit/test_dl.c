#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* What the check was asked about, and what it says. */
static size_t checked;
static char checked_path[512];
static wm_status verdict;

static wm_status check(void *handle, const char *path, wm_error *err) {
    assert_non_null(handle);
    checked++;
    snprintf(checked_path, sizeof checked_path, "%s", path);
    return verdict == WM_OK ? WM_OK : wmi_error_set(err, verdict, 7, "not to be used: %s", path);
}

static int clear(void **state) {
    (void)state;
    checked = 0;
    checked_path[0] = '\0';
    verdict = WM_OK;
    version_str = NULL;
    not_there = &not_there;
    return unsetenv(OVERRIDE);
}

static wmi_dl_spec jansson_spec(const char *const *names) {
    return (wmi_dl_spec){.what = "Jansson",
                         .env = OVERRIDE,
                         .names = names,
                         .symbols = symbols,
                         .symbol_count = 2,
                         .package = "libjansson4"};
}

/* The path of a library that is in the process. */
static char *path_of(const char *name) {
    void *handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    if (!handle) fail_msg("%s", dlerror());
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s", wmi_dl_path(handle));
    dlclose(handle);
    assert_string_not_equal(path, "");
    return path;
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
    char *places[] = {path_of("libc.so.6"), NULL}; /* is passed over: it lacks the symbol */
    const wmi_dl_spec spec = {.what = "muParser",
                              .env = OVERRIDE,
                              .names = names,
                              .symbols = &symbol,
                              .symbol_count = 1,
                              .package = "libmuparser2v5",
                              .places = places};
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

static const char *const nowhere[] = {"libwarpmeter-a.so.1", NULL};

static void the_first_fit_place_is_used(void **state) {
    (void)state;
    char *places[] = {WM_SOURCE_DIR "/README.md", path_of("libc.so.6"), path_of("libjansson.so.4"), NULL};
    wmi_dl_spec spec = jansson_spec(nowhere);
    spec.places = places;
    void *handle = NULL;
    const char *path = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_dl_open(&spec, &handle, &path, &err) != WM_OK) fail_msg("%s", err.message);
    assert_string_equal(path, places[2]);
    assert_true(version_str == jansson_version_str);
}

static void the_copy_in_the_process_comes_before_the_places(void **state) {
    (void)state;
    static const char *const names[] = {"libjansson.so.4", NULL};
    char *places[] = {path_of("libc.so.6"), NULL};
    wmi_dl_spec spec = jansson_spec(names);
    spec.places = places;
    spec.check = check;
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_OK);
    assert_int_equal(checked, 1);
    assert_string_equal(checked_path, path_of("libjansson.so.4"));
}

static void the_environment_comes_before_the_copy_in_the_process(void **state) {
    (void)state;
    static const char *const names[] = {"libjansson.so.4", NULL};
    wmi_dl_spec spec = jansson_spec(names);
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    setenv(OVERRIDE, "libc.so.6", 1);
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "jansson_version_str"));
    assert_null(handle);
}

/* Of a library that lacks a symbol and is too old as well, the latter is told. */
static void what_the_first_place_lacks_is_told(void **state) {
    (void)state;
    char *unreadable[] = {WM_SOURCE_DIR "/README.md", path_of("libc.so.6"), NULL};
    char *old[] = {path_of("libc.so.6"), path_of("libjansson.so.4"), NULL};
    wmi_dl_spec spec = jansson_spec(nowhere);
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    spec.places = unreadable;
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "Jansson could not be opened: "));
    assert_non_null(strstr(err.message, unreadable[0]));

    spec.places = old;
    spec.check = check;
    verdict = WM_EPERM;
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EPERM);
    assert_int_equal(checked, 2);
    assert_int_equal(err.native_code, 7);
    assert_non_null(strstr(err.message, "not to be used: "));
    assert_non_null(strstr(err.message, old[0]));
    assert_null(version_str);
    assert_null(handle);
}

static void a_remedy_replaces_the_package(void **state) {
    (void)state;
    wmi_dl_spec spec = jansson_spec(nowhere);
    spec.remedy = "plant a tree";
    void *handle = NULL;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_dl_open(&spec, &handle, NULL, &err), WM_EUNSUPPORTED);
    assert_string_equal(err.message,
                        "Jansson was not found (tried libwarpmeter-a.so.1); plant a tree, or set " OVERRIDE
                        " to its path");
}

static int opened;
static wm_status opens;

static wm_status open_counted(wm_error *err) {
    opened++;
    return opens == WM_OK ? WM_OK : wmi_error_set(err, opens, opened, "attempt %d", opened);
}

static void once_is_once(void **state) {
    static wmi_dl_once fine = WMI_DL_ONCE_INIT, refused = WMI_DL_ONCE_INIT;
    wm_error err = WM_ERROR_INIT;
    (void)state;
    opened = 0;
    opens = WM_ENOMEM;
    assert_int_equal(wmi_dl_open_once(&fine, open_counted, &err), WM_ENOMEM);
    opens = WM_OK;
    for (int i = 0; i < 2; i++) assert_int_equal(wmi_dl_open_once(&fine, open_counted, &err), WM_OK);
    assert_int_equal(opened, 2); /* want of memory decides nothing */
    opens = WM_EPERM;
    assert_int_equal(wmi_dl_open_once(&refused, open_counted, NULL), WM_EPERM);
    opens = WM_OK;
    assert_int_equal(wmi_dl_open_once(&refused, open_counted, &err), WM_EPERM);
    assert_int_equal(opened, 3);
    assert_int_equal(err.native_code, 3);
    assert_string_equal(err.message, "attempt 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_copy_in_the_process_is_used, clear),
        cmocka_unit_test_setup(a_library_is_opened_anew, clear),
        cmocka_unit_test_setup(what_was_tried_and_the_remedy_are_named, clear),
        cmocka_unit_test_setup(the_environment_overrides_and_is_final, clear),
        cmocka_unit_test_setup(a_missing_symbol_is_named, clear),
        cmocka_unit_test_setup(the_first_fit_place_is_used, clear),
        cmocka_unit_test_setup(the_copy_in_the_process_comes_before_the_places, clear),
        cmocka_unit_test_setup(the_environment_comes_before_the_copy_in_the_process, clear),
        cmocka_unit_test_setup(what_the_first_place_lacks_is_told, clear),
        cmocka_unit_test_setup(a_remedy_replaces_the_package, clear),
        cmocka_unit_test_setup(once_is_once, clear),
    };
    return cmocka_run_group_tests_name("dl", tests, NULL, NULL);
}
