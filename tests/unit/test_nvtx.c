/* What a tool that listens to NVTX is shown: tests/fakes/nvtx writes down its calls. */
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/nvtx.h"
#include "warpmeter.h"

#include <cmocka.h>

static char log_path[] = "/tmp/warpmeter-nvtx-XXXXXX";
static long log_from; /* what is before was looked at */

/* The calls since the last look: "+NAME" for a start, "-NUMBER" for an end, where the number counts starts
 * since then from 1; of the domain `only`. */
static void expect_calls(const char *only, const char *expected) {
    char line[512], got[2048] = "", domain[256], text[256];
    unsigned long long id, ids[64];
    size_t n = 0;
    FILE *from = fopen(log_path, "re");
    assert_non_null(from);
    fseek(from, log_from, SEEK_SET);
    while (fgets(line, sizeof line, from)) {
        const size_t at = strlen(got);
        if (sscanf(line, "start %llu %255s %255[^\n]", &id, domain, text) == 3 && !strcmp(domain, only)) {
            assert_true(n < 64);
            ids[n++] = id;
            snprintf(got + at, sizeof got - at, "+%s ", text);
        } else if (sscanf(line, "end %llu %255s", &id, domain) == 2 && !strcmp(domain, only)) {
            size_t i = 0;
            while (i < n && ids[i] != id) i++;
            snprintf(got + at, sizeof got - at, "-%zu ", i + 1);
        }
    }
    log_from = ftell(from);
    fclose(from);
    assert_string_equal(got, expected);
}

static void skip_without_nvtx(void) {
    if (wmi_nvtx_built()) return;
    print_message("skipped: this build has no NVTX\n");
    skip();
}

static wm_session *make(const char *domain) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    opts.name = "stretch";
    opts.nvtx_domain = domain;
    opts.state = "off";
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    return s;
}

/* ---- sweeps ---- */

static void run(const char *domain, wm_fn fn, const char *options, const char *profile) {
    wm_benchmark b = WM_BENCHMARK_INIT;
    wm_sweep *sweep = NULL;
    wm_error err = WM_ERROR_INIT;
    b.name = "bench";
    b.run = fn;
    b.options = options;
    if (profile) setenv("WARPMETER_PROFILE", profile, 1);
    wm_session *s = make(domain);
    if (wm_sweep_create(s, &b, 0, NULL, &sweep, &err) != WM_OK || wm_sweep_run(sweep, &err) != WM_OK)
        fail_msg("%s", err.message);
    unsetenv("WARPMETER_PROFILE");
    wm_sweep_destroy(sweep);
    wm_session_destroy(s);
}

static void nests(wm_state *st) {
    (void)st;
    WM_BEGIN("a");
    WM_BEGIN("b");
    WM_END("b");
    WM_END("a");
}

static void test_measured_runs_are_shown_and_warm_ups_are_not(void **state) {
    (void)state;
    skip_without_nvtx();
    run("one", nests, "--axis n=[1,2] --runs 2 --warmup 3", NULL);
    expect_calls("one", "+a +b -2 -1 +a +b -4 -3 +a +b -6 -5 +a +b -8 -7 ");
    run("two", nests, "--axis n=[5,6] --runs 1", NULL);
    expect_calls("two.steps", "+@0/0 bench n=5 -1 +@1/0 bench n=6 -2 ");
}

static void test_under_another_profiler_runs_are_shown_and_nothing_is_measured(void **state) {
    (void)state;
    skip_without_nvtx();
    run("three", nests, "--runs 7 --metrics no_such_metric", "ncu:2");
    expect_calls("three", "+a +b -2 -1 +a +b -4 -3 ");
    run("three", nests, "--runs 7", "ncu");
    expect_calls("three.steps", "+@0/0 bench  -1 ");
}

static void crosses(wm_state *st) {
    (void)st;
    WM_BEGIN("a");
    WM_BEGIN("b");
    WM_BEGIN("c");
    WM_END("a");
    WM_END("c");
    WM_END("b");
}

static void test_ranges_cross_as_regions_do(void **state) {
    (void)state;
    skip_without_nvtx();
    run("four", crosses, "--runs 1", "ncu");
    expect_calls("four", "+a +b +c -1 -3 -2 ");
}

static void marks_nothing(wm_state *st) { (void)st; }

static void test_a_function_without_regions_is_one(void **state) {
    (void)state;
    skip_without_nvtx();
    run("five", marks_nothing, "--runs 1 --warmup 1", NULL);
    expect_calls("five", "+bench -1 ");
    run("five", marks_nothing, "--axis n=[1,2]", "ncu");
    expect_calls("five", "+bench -1 +bench -2 ");
}

static void repeats(wm_state *st) {
    WM_REPEAT(st, "often") {}
}

static void test_repetitions_are_one_region(void **state) {
    (void)state;
    skip_without_nvtx();
    run("six", repeats, "", "ncu");
    expect_calls("six", "+often -1 ");
}

static void *mark_apart(void *unused) {
    WM_BEGIN("apart");
    WM_END("apart");
    WM_BEGIN("open for ever");
    return unused;
}

static void in_threads(wm_state *st) {
    pthread_t thread;
    (void)st;
    WM_BEGIN("here");
    if (pthread_create(&thread, NULL, mark_apart, NULL) == 0) pthread_join(thread, NULL);
    WM_END("here");
    WM_END("never begun");
}

/* A range that the program left open ends with its thread. */
static void test_threads(void **state) {
    (void)state;
    skip_without_nvtx();
    run("seven", in_threads, "", "ncu");
    expect_calls("seven", "+here +apart -2 +open for ever -3 -1 ");
}

static void leaves_open(wm_state *st) {
    (void)st;
    WM_BEGIN("open");
    WM_BEGIN("left");
    wm_abandon_id(wm_region_id("left"));
}

static void test_what_is_left_open_ends_with_the_run(void **state) {
    (void)state;
    skip_without_nvtx();
    run("eight", leaves_open, "", "ncu:2");
    expect_calls("eight", "+open +left -2 -1 +open +left -4 -3 ");
}

/* ---- start and stop ---- */

static void test_stretches(void **state) {
    (void)state;
    skip_without_nvtx();
    wm_session *s = make("nine");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wm_session_start(s, NULL), WM_OK);
        nests(NULL);
        assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    }
    wm_session_destroy(s);
    expect_calls("nine", "+stretch +a +b -3 -2 -1 +a +b -5 -4 ");
    setenv("WARPMETER_PROFILE", "ncu", 1);
    s = make("ten");
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    unsetenv("WARPMETER_PROFILE");
    wm_table *t = NULL;
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    assert_int_equal(wm_table_rows(t), 0);
    wm_table_destroy(t);
    wm_session_destroy(s);
    expect_calls("ten.steps", "+@0/0 stretch  -1 ");
}

static void test_a_variable_that_is_not_understood(void **state) {
    static const char *const texts[] = {"nsys", "ncu:", "ncu:0", "ncu:x", "ncux"};
    wm_session *s = make(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        setenv("WARPMETER_PROFILE", texts[i], 1);
        assert_int_equal(wm_session_start(s, NULL), WM_EINVAL);
    }
    unsetenv("WARPMETER_PROFILE");
    wm_session_destroy(s);
}

/* In a process of its own, since NVTX looks for a tool once. */
static void test_nobody_listens(void **state) {
    (void)state;
    const pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        unsetenv("NVTX_INJECTION64_PATH");
        _exit(wmi_nvtx_of("any") == NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_listens), /* first */
        cmocka_unit_test(test_measured_runs_are_shown_and_warm_ups_are_not),
        cmocka_unit_test(test_under_another_profiler_runs_are_shown_and_nothing_is_measured),
        cmocka_unit_test(test_ranges_cross_as_regions_do),
        cmocka_unit_test(test_a_function_without_regions_is_one),
        cmocka_unit_test(test_repetitions_are_one_region),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_what_is_left_open_ends_with_the_run),
        cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_a_variable_that_is_not_understood),
    };
    char self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const int fd = mkstemp(log_path);
    if (n < 0 || fd < 0) return 1;
    self[n] = '\0';
    snprintf(path, sizeof path, "%s/../fakes/fakenvtx.so", dirname(self));
    setenv("NVTX_INJECTION64_PATH", path, 1);
    setenv("FAKE_NVTX_LOG", log_path, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(fd);
    unlink(log_path);
    return failed;
}
