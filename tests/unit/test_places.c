/* Where NVIDIA's libraries are looked for, on file systems of the test's own. */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cuda/places.h"

static char root[64];
static const char *variables[8][2];

static const char *variable(const char *name) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables && variables[i][0]; i++)
        if (strcmp(variables[i][0], name) == 0) return variables[i][1];
    return NULL;
}

static void set(const char *name, const char *value) {
    size_t i = 0;
    while (variables[i][0]) i++;
    assert_true(i < sizeof variables / sizeof *variables);
    variables[i][0] = name;
    variables[i][1] = value;
}

/* The path below root, with the folders above it made. */
static const char *below(const char *path) {
    static char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(whole, 0755);
    }
    return whole;
}

static void put(const char *path, const char *text, size_t n) {
    int fd = open(below(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), n);
    close(fd);
}

static void put_library(const char *path) { put(path, "", 0); }
static void put_text(const char *path, const char *text) { put(path, text, strlen(text)); }
static void put_link(const char *path, const char *target) {
    assert_int_equal(symlink(target, below(path)), 0);
}

static int begin(void **state) {
    (void)state;
    memset(variables, 0, sizeof variables);
    snprintf(root, sizeof root, "/tmp/warpmeter-places-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int forget(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int end(void **state) {
    (void)state;
    return nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
}

/* The places are these, in this order; NULL ends. */
static void expect_of(const char *name, const char *const *expected) {
    const wmi_places_system system = {root, variable};
    char **places = wmi_cuda_places_on(&system, name);
    assert_non_null(places);
    size_t i = 0;
    for (; expected[i] && places[i]; i++) {
        assert_memory_equal(places[i], root, strlen(root));
        assert_string_equal(places[i] + strlen(root), expected[i]);
    }
    if (places[i]) fail_msg("%s was found as well", places[i]);
    if (expected[i]) fail_msg("%s was not found", expected[i]);
    free(places);
}
#define EXPECT_OF(name, ...) expect_of(name, (const char *const[]){__VA_ARGS__})
#define EXPECT(...)          EXPECT_OF("libcupti.so*", __VA_ARGS__)

static void an_empty_system_has_none(void **state) {
    (void)state;
    EXPECT(NULL);
    set("PATH", "/usr/bin:/bin");
    set("HOME", "/home");
    set("CUDA_HOME", "/nowhere");
    put_library("/usr/lib/libcupti.so.13"); /* the loader finds that one by itself */
    EXPECT(NULL);
}

static void the_toolkit_is_searched(void **state) {
    (void)state;
    put_library("/usr/local/cuda/lib64/libcupti.so.13");
    put_library("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12");
    put_library("/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.11");
    put_library("/usr/local/cuda/lib64/libcupti_static.a");
    EXPECT("/usr/local/cuda/lib64/libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
           "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so.11", NULL);
}

static void variables_come_before_the_usual_folder(void **state) {
    (void)state;
    put_library("/usr/local/cuda/lib64/libcupti.so.13");
    put_library("/opt/path/lib/libcupti.so.12");
    put_library("/opt/home/lib64/libcupti.so.12");
    set("CUDA_PATH", "/opt/path");
    set("CUDA_HOME", "/opt/home");
    EXPECT("/opt/home/lib64/libcupti.so.12", "/opt/path/lib/libcupti.so.12",
           "/usr/local/cuda/lib64/libcupti.so.13", NULL);
}

static void other_versions_come_last_the_newest_first(void **state) {
    (void)state;
    put_library("/usr/local/cuda-12.6/lib64/libcupti.so.12");
    put_library("/usr/local/cuda-12.10/lib64/libcupti.so.12");
    put_library("/usr/local/cuda-9.2/lib64/libcupti.so.9.2");
    put_library("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcupti.so.13");
    put_link("/usr/local/cuda", "cuda-12.6");
    EXPECT("/usr/local/cuda/lib64/libcupti.so.12", "/usr/local/cuda-12.10/lib64/libcupti.so.12",
           "/usr/local/cuda-9.2/lib64/libcupti.so.9.2",
           "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcupti.so.13", NULL);
}

static void a_file_of_several_names_is_one(void **state) {
    (void)state;
    put_library("/usr/local/cuda/lib/libcupti.so.2025.3.1");
    put_link("/usr/local/cuda/lib/libcupti.so.13", "libcupti.so.2025.3.1");
    put_link("/usr/local/cuda/lib/libcupti.so", "libcupti.so.13");
    put_link("/usr/local/cuda/lib64", "lib");
    EXPECT("/usr/local/cuda/lib64/libcupti.so.2025.3.1", NULL);
    EXPECT_OF("libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13", NULL);
}

static void only_files_count(void **state) {
    (void)state;
    put_library("/usr/local/cuda/lib64/libcupti.so.13/a folder");
    put_link("/usr/local/cuda/lib64/libcupti.so.12", "nowhere");
    EXPECT(NULL);
}

static void packages_come_before_the_toolkit(void **state) {
    (void)state;
    put_library("/usr/local/cuda/lib64/libcupti.so.13");
    put_library("/venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
    put_library("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/venv/lib/python3.11/site-packages/nvidia/other/lib/libcupti.so.13");
    set("VIRTUAL_ENV", "/venv");
    EXPECT("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
           "/venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
           "/usr/local/cuda/lib64/libcupti.so.13", NULL);
}

static void conda_has_packages_and_a_toolkit(void **state) {
    (void)state;
    put_library("/conda/lib/libcupti.so.12");
    put_library("/conda/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
    set("CONDA_PREFIX", "/conda");
    EXPECT("/conda/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13", "/conda/lib/libcupti.so.12",
           NULL);
}

static void the_packages_of_this_process_come_first(void **state) {
    (void)state;
    put_library("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/opt/app/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/opt/base/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/libcupti.so.13");
    set("VIRTUAL_ENV", "/venv");
    put_text(
        "/proc/self/maps",
        "7f0000000000-7f0000001000 r-xp 00000000 fe:01 11   /opt/app/lib/python3.11/site-packages/a/_a.so\n"
        "7f0000001000-7f0000002000 r--p 00001000 fe:01 11   /opt/app/lib/python3.11/site-packages/a/_a.so\n"
        "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n"
        "7f0000003000-7f0000004000 r-xp 00000000 fe:01 12   /opt/base/bin/python3.11\n"
        "7f0000004000-7f0000005000 r-xp 00000000 fe:01 13   /usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0\n"
        "7ffe00000000-7ffe00001000 rw-p 00000000 00:00 0    [stack]\n");
    EXPECT("/opt/app/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
           "/opt/base/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
           "/usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/libcupti.so.13",
           "/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", NULL);
}

static void a_virtual_environment_is_known_by_the_program(void **state) {
    (void)state;
    static const char command[] = "/venv/bin/python\0run.py";
    put_library("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put("/proc/self/cmdline", command, sizeof command);
    EXPECT("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", NULL);
    put_text("/proc/self/cmdline", "/venv/bin/pylon");
    EXPECT(NULL);
}

static void the_python_on_the_path_is_resolved(void **state) {
    (void)state;
    put_library("/opt/python/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/opt/python/bin/python3.12");
    put_library("/usr/local/bin/other");
    put_link("/usr/local/bin/python3", "../../../opt/python/bin/python3.12");
    put_library("/usr/bin/python3");
    put_library("/usr/lib/python3/dist-packages/nvidia/cu12/lib/libcupti.so.12");
    set("PATH", "/nowhere::/usr/local/bin:/usr/bin");
    EXPECT("/opt/python/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13", NULL);
}

static void a_python_that_is_no_python_is_passed_over(void **state) {
    (void)state;
    put_text("/shims/python3", "#!/bin/sh\n");
    put_library("/usr/bin/python3");
    put_library("/usr/lib/python3/dist-packages/nvidia/cu12/lib/libcupti.so.12");
    set("PATH", "/shims:/usr/bin");
    EXPECT("/usr/lib/python3/dist-packages/nvidia/cu12/lib/libcupti.so.12", NULL);
}

static void packages_of_the_user_are_found(void **state) {
    (void)state;
    put_library("/me/.local/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    put_library("/base/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
    set("HOME", "/me");
    EXPECT("/me/.local/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", NULL);
    set("PYTHONUSERBASE", "/base");
    EXPECT("/base/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", NULL);
}

static void folders_may_have_any_name(void **state) {
    (void)state;
    put_library("/a [b]*?\\/lib64/libcupti.so.13");
    put_library("/a b/lib64/libcupti.so.13");
    set("CUDA_HOME", "/a [b]*?\\");
    EXPECT("/a [b]*?\\/lib64/libcupti.so.13", NULL);
}

static void this_system_can_be_searched(void **state) {
    (void)state;
    char **places = wmi_cuda_places("libcupti.so*");
    assert_non_null(places);
    for (size_t i = 0; places[i]; i++) assert_int_equal(access(places[i], F_OK), 0);
    free(places);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_empty_system_has_none),
        TEST(the_toolkit_is_searched),
        TEST(variables_come_before_the_usual_folder),
        TEST(other_versions_come_last_the_newest_first),
        TEST(a_file_of_several_names_is_one),
        TEST(only_files_count),
        TEST(packages_come_before_the_toolkit),
        TEST(conda_has_packages_and_a_toolkit),
        TEST(the_packages_of_this_process_come_first),
        TEST(a_virtual_environment_is_known_by_the_program),
        TEST(the_python_on_the_path_is_resolved),
        TEST(a_python_that_is_no_python_is_passed_over),
        TEST(packages_of_the_user_are_found),
        TEST(folders_may_have_any_name),
        TEST(this_system_can_be_searched),
    };
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
