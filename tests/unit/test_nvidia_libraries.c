/* NVIDIA's own libraries, where this machine has them, and what is said where it has none. Libraries are
 * opened once in a process, so every case has a process of its own. */
#include <dlfcn.h>
#include <link.h>
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

#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/places.h"
#include "base/dl.h"

enum { PASSED, FAILED, SKIPPED };

/* libcupti opens libnvperf_host in a way (RTLD_DEEPBIND) that sanitizers refuse. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

static void in_a_process(void **state) {
    int (*const *body)(void) = *state;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) exit((*body)());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) skip();
    assert_int_equal(WEXITSTATUS(status), PASSED);
}

static int verdict(bool good, const char *what) {
    if (!good) fprintf(stderr, "failed: %s\n", what);
    return good ? PASSED : FAILED;
}

static int skipped(const char *why) {
    fprintf(stderr, "skipped: %s\n", why);
    return SKIPPED;
}

static int without_a_library_there_is_no_driver(void) {
    wm_error err = WM_ERROR_INIT;
    if (dlopen("libcuda.so.1", RTLD_LAZY) || dlopen("libcuda.so", RTLD_LAZY))
        return skipped("there is a libcuda here");
    wm_status status = wmi_cuda_load(&err);
    return verdict(status == WM_EUNSUPPORTED && err.native_code == 0 && wmi_cuda_driver() == 0 &&
                       strcmp(err.message,
                              "libcuda was not found (tried libcuda.so.1, libcuda.so); install NVIDIA's "
                              "driver, or in a container let it have the GPUs, or set WARPMETER_LIBCUDA "
                              "to its path") == 0,
                   err.message);
}

/* The first file of that name in the toolkit, or NULL; the caller frees. */
static char **toolkit(const char *name) {
    char **places = wmi_cuda_places(name);
    if (places && places[0]) return places;
    free(places);
    return NULL;
}

static int the_toolkits_stub_is_named(void) {
    wm_error err = WM_ERROR_INIT;
    char **stub = toolkit("stubs/libcuda.so");
    if (!stub) return skipped("no toolkit with a stub is installed here");
    setenv("WARPMETER_LIBCUDA", stub[0], 1);
    free(stub);
    wm_status status = wmi_cuda_load(&err);
    return verdict(status == WM_EUNSUPPORTED && err.native_code == 34 && strstr(err.message, "stub"),
                   err.message);
}

static int count_nvperf(struct dl_phdr_info *library, size_t size, void *count) {
    (void)size;
    *(int *)count += strstr(library->dlpi_name, "libnvperf_host") != NULL;
    return 0;
}

static bool same_folder(const char *a, const char *b) {
    const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
    return end_a && end_b && end_a - a == end_b - b && strncmp(a, b, (size_t)(end_a - a)) == 0;
}

static int cupti_uses_the_nvperf_beside_it(void) {
    CUpti_Profiler_Host_GetSupportedChips_Params chips;
    int count = 0;
    wm_error err = WM_ERROR_INIT;
    if (SANITIZED) return skipped("libcupti does not run under this sanitizer");
    char **places = toolkit("libcupti.so*");
    if (!places) return skipped("no libcupti is installed here");
    free(places);
    if (wmi_cupti_load(&err) != WM_OK) return skipped(err.message);
    memset(&chips, 0, sizeof chips);
    chips.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
    if (wmi_cupti.ProfilerHostGetSupportedChips(&chips) != CUPTI_SUCCESS)
        return verdict(false, "chips are listed");
    dl_iterate_phdr(count_nvperf, &count);
    void *used = dlopen("libnvperf_host.so", RTLD_NOLOAD | RTLD_LAZY);
    return verdict(count == 1, "one libnvperf_host is open") |
           verdict(used && strcmp(wmi_dl_path(used), wmi_nvperf_path()) == 0, "its path is told") |
           verdict(same_folder(wmi_cupti_path(), wmi_nvperf_path()), "it lies beside libcupti");
}

#define CASES(X)                                                                                             \
    X(without_a_library_there_is_no_driver)                                                                  \
    X(the_toolkits_stub_is_named)                                                                            \
    X(cupti_uses_the_nvperf_beside_it)

int main(void) {
#define BODY(name) static int (*const run_##name)(void) = name;
    CASES(BODY)
#undef BODY
#define CASE(name) {#name, in_a_process, NULL, NULL, (void *)(uintptr_t)&run_##name},
    const struct CMUnitTest tests[] = {CASES(CASE)};
#undef CASE
    unsetenv("WARPMETER_LIBCUDA");
    unsetenv("WARPMETER_LIBCUPTI");
    unsetenv("WARPMETER_CUDA");
    return cmocka_run_group_tests_name("nvidia_libraries", tests, NULL, NULL);
}
