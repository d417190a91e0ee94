/* Running another program for what it prints. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/command.h"

static const int64_t long_ns = 60000000000;

static wm_status shell(const char *script, int64_t limit_ns, wmi_buf *out, int *exit_status, wm_error *err) {
    const char *const argv[] = {"sh", "-c", script, NULL};
    const wmi_command command = {.argv = argv, .limit_ns = limit_ns, .most = 1 << 20};
    return wmi_command_output(&command, out, exit_status, err);
}

static void test_what_it_prints(void **state) {
    wmi_buf out = WMI_BUF_INIT;
    int status = -1;
    (void)state;
    assert_int_equal(shell("echo one; echo two >&2; cat; exit 3", long_ns, &out, &status, NULL), WM_OK);
    assert_string_equal(out.data, "one\n");
    assert_int_equal(status, 3);
    assert_int_equal(shell("printf more; kill -9 $$", long_ns, &out, &status, NULL), WM_OK);
    assert_string_equal(out.data, "one\nmore");
    assert_int_equal(status, 128 + SIGKILL);
    wmi_buf_free(&out);
}

/* More than a pipe holds, on both at once. */
static void test_both_streams(void **state) {
    static const char script[] = "i=0; while [ $i -lt 20000 ]; do echo line$i; echo error$i >&2; i=$((i+1)); "
                                 "done; echo $LC_ALL";
    const char *const argv[] = {"sh", "-c", script, NULL};
    wmi_buf out = WMI_BUF_INIT, errors = WMI_BUF_INIT;
    const wmi_command command = {.argv = argv, .errors = &errors};
    int status = -1;
    (void)state;
    setenv("LC_ALL", "POSIX", 1);
    assert_int_equal(wmi_command_output(&command, &out, &status, NULL), WM_OK);
    unsetenv("LC_ALL");
    assert_int_equal(status, 0);
    assert_int_equal(out.len, 188892); /* 20000 times "line" and an end, 88890 digits, and "C" and an end */
    assert_string_equal(out.data + out.len - 12, "line19999\nC\n");
    assert_int_equal(errors.len, 208890);
    assert_string_equal(errors.data + errors.len - 11, "error19999\n");
    wmi_buf_free(&out);
    wmi_buf_free(&errors);
}

static void test_signals_are_as_a_program_expects(void **state) {
    wmi_buf out = WMI_BUF_INIT;
    int status = -1;
    sigset_t term, before;
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    assert_int_equal(shell("kill -TERM $$; echo blocked", long_ns, &out, &status, NULL), WM_OK);
    assert_int_equal(status, 128 + SIGTERM);
    assert_int_equal(shell("kill -PIPE $$; echo ignored", long_ns, &out, &status, NULL), WM_OK);
    assert_int_equal(status, 128 + SIGPIPE);
    assert_int_equal(out.len, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_IGN); /* its exit status cannot be had then */
    assert_int_equal(shell("echo one", long_ns, &out, &status, NULL), WM_OK);
    assert_string_equal(out.data, "one\n");
    signal(SIGCHLD, SIG_DFL);
    wmi_buf_free(&out);
}

static void test_what_cannot_be_had(void **state) {
    const char *const argv[] = {"warpmeter-no-such-program", NULL};
    const wmi_command none = {.argv = argv, .limit_ns = long_ns};
    wmi_buf out = WMI_BUF_INIT;
    wm_error err = WM_ERROR_INIT;
    int status = -1;
    (void)state;
    assert_int_equal(wmi_command_output(&none, &out, &status, &err), WM_ENOTFOUND);
    assert_string_equal(err.message, "there is no program warpmeter-no-such-program");
    assert_int_equal(shell("echo begun; exec sleep 600", 50000000, &out, &status, &err), WM_EUNSUPPORTED);
    assert_string_equal(err.message, "sh took too long");
    assert_int_equal(status, 128 + SIGKILL);
    assert_int_equal(shell("exec yes", long_ns, &out, &status, &err), WM_EUNSUPPORTED);
    assert_string_equal(err.message, "sh printed too much");
    wmi_buf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_prints),
        cmocka_unit_test(test_both_streams),
        cmocka_unit_test(test_signals_are_as_a_program_expects),
        cmocka_unit_test(test_what_cannot_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
