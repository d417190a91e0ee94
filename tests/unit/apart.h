/* For tests of what a process does once, such as opening a library: a process for each case. */
#ifndef TESTS_UNIT_APART_H
#define TESTS_UNIT_APART_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fakes/cuda/fake_gpu.h"

/* cmocka's own cannot fail in a child. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) give_up(__FILE__, __LINE__, #condition, "");                                       \
    } while (0)
#define CHECK_TEXT(text, expected) check_text(__FILE__, __LINE__, text, expected)
#define CHECK_HAS(text, part)      check_has(__FILE__, __LINE__, text, part)

static inline _Noreturn void give_up(const char *file, int line, const char *what, const char *more) {
    fprintf(stderr, "%s:%d: %s%s\n", file, line, what, more);
    exit(EXIT_FAILURE);
}

static inline void check_text(const char *file, int line, const char *text, const char *expected) {
    if (strcmp(text, expected) == 0) return;
    fprintf(stderr, "'%s' was expected\n", expected);
    give_up(file, line, text, "");
}

static inline void check_has(const char *file, int line, const char *text, const char *part) {
    if (strstr(text, part)) return;
    fprintf(stderr, "'%s' was expected in it\n", part);
    give_up(file, line, text, "");
}

static inline void in_a_process(void **state) {
    void (*const *body)(void) = *state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fake_reset();
        (*body)();
        exit(EXIT_SUCCESS);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
}

/* The functions of a list X(function): main's tests, each run apart. */
#define APART_BODY(name) static void (*const run_##name)(void) = name;
#define APART_TEST(name) {#name, in_a_process, NULL, NULL, (void *)(uintptr_t)&run_##name},

#endif
