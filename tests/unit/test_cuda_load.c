/* Opening libcuda and libcupti, the devices, what codes mean and what doctor tells: against the made-up GPU.
 * Libraries are opened once in a process, so every case has a process of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cuda/codes.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/device.h"
#include "backend/cuda/nvidia_proc.h"
#include "base/dl.h"
#include "base/intern.h"
#include "fakes/cuda/fake_gpu.h"
#include "unit/apart.h"

/* ---- a process for each case ---- */

/* Paths of the fakes: the test's environment names two of them, and the others lie beside those. */
static char libcuda[512], libcupti[512], libcupti_12[512], libnvperf[512];

static int find_fakes(void **state) {
    (void)state;
    const char *cuda = getenv("WARPMETER_LIBCUDA"), *cupti = getenv("WARPMETER_LIBCUPTI");
    if (!cuda || !cupti || !strrchr(cupti, '/')) {
        fprintf(stderr, "WARPMETER_LIBCUDA and WARPMETER_LIBCUPTI must hold the paths of the fakes\n");
        return -1;
    }
    int folder = (int)(strrchr(cupti, '/') - cupti);
    snprintf(libcuda, sizeof libcuda, "%s", cuda);
    snprintf(libcupti, sizeof libcupti, "%s", cupti);
    snprintf(libcupti_12, sizeof libcupti_12, "%.*s/libcupti.so.12", folder, cupti);
    snprintf(libnvperf, sizeof libnvperf, "%.*s/libnvperf_host.so", folder, cupti);
    unsetenv("WARPMETER_LIBCUDA");
    unsetenv("WARPMETER_LIBCUPTI");
    unsetenv("WARPMETER_CUDA");
    return 0;
}

static void use(const char *cuda, const char *cupti) {
    CHECK(setenv("WARPMETER_LIBCUDA", cuda, 1) == 0 && setenv("WARPMETER_LIBCUPTI", cupti, 1) == 0);
}

static void use_fakes(void) { use(libcuda, libcupti); }

/* ---- libcuda ---- */

static void the_driver_is_opened(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    CHECK_TEXT(wmi_cuda_path(), "");
    CHECK(wmi_cuda_driver() == 0);
    fake_driver_version(12080);
    if (wmi_cuda_load(&err) != WM_OK) give_up(__FILE__, __LINE__, err.message, "");
    CHECK_TEXT(wmi_cuda_path(), libcuda);
    CHECK(wmi_cuda_driver() == 12080);
    CHECK(wmi_cuda_load(NULL) == WM_OK);
    CHECK(fake_calls("cuInit") == 1);
}

static void *load_both(void *failures) {
    int *count = failures;
    *count = (wmi_cuda_load(NULL) != WM_OK) + (wmi_cupti_load(NULL) != WM_OK);
    return NULL;
}

static void threads_open_it_once(void) {
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int failures[THREADS];
    use_fakes();
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, load_both, &failures[i]) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0 && failures[i] == 0);
    CHECK(fake_calls("cuInit") == 1);
    CHECK(fake_calls("cuptiGetVersion") == 1);
}

/* Each of the ways in which there is no GPU, in a message of its own. */
static void the_stub_is_named(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    fake_stub(true);
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED && err.native_code == 34);
    CHECK_HAS(err.message, "CUDA_ERROR_STUB_LIBRARY");
    CHECK_HAS(err.message, "LD_LIBRARY_PATH");
    fake_stub(false); /* the first call has decided */
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED && err.native_code == 34);
}

static void a_driver_without_a_device_is_named(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    unsetenv("CUDA_VISIBLE_DEVICES");
    fake_devices(NULL, 0);
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED && err.native_code == 100);
    CHECK_HAS(err.message, "CUDA_ERROR_NO_DEVICE");
    CHECK_HAS(err.message, "nvidia-smi -L");
    CHECK(!strstr(err.message, "CUDA_VISIBLE_DEVICES"));
}

static void hidden_devices_are_named(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    fake_devices(NULL, 0);
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED && err.native_code == 100);
    CHECK_HAS(err.message, "CUDA_VISIBLE_DEVICES is ''");
}

static void other_failures_of_the_driver_are_told(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    fake_fail("cuInit", 803, 1, -1);
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED && err.native_code == 803);
    CHECK_HAS(err.message, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    CHECK_HAS(err.message, "load the driver anew");
}

static void a_symbol_that_lacks_is_named(void) {
    wm_error err = WM_ERROR_INIT;
    use("libc.so.6", "libc.so.6");
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "lacks cuInit");
    CHECK(wmi_cupti_load(&err) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "lacks cuptiGetVersion");
}

/* ---- libcupti ---- */

static void cupti_is_opened_with_what_lies_beside_it(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    CHECK(wmi_cupti_version() == 0);
    CHECK_TEXT(wmi_cupti_version_text(), "");
    if (wmi_cupti_load(&err) != WM_OK) give_up(__FILE__, __LINE__, err.message, "");
    CHECK_TEXT(wmi_cupti_path(), libcupti);
    CHECK_TEXT(wmi_nvperf_path(), libnvperf);
    CHECK(wmi_cupti_version() == 130001);
    CHECK_TEXT(wmi_cupti_version_text(), "13.0.1");
    CHECK(fake_calls("cuInit") == 0);
    void *by_bare_name = dlopen("libnvperf_host.so", RTLD_NOW); /* as libcupti does */
    CHECK(by_bare_name);
    CHECK_TEXT(wmi_dl_path(by_bare_name), libnvperf);
}

static void cupti_12_6_will_do(void) {
    use(libcuda, libcupti_12);
    CHECK(wmi_cupti_load(NULL) == WM_OK);
    CHECK(wmi_cupti_version() == 24);
    CHECK_TEXT(wmi_cupti_version_text(), "12.6");
}

static void an_older_cupti_is_refused(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    fake_cupti_version(23);
    CHECK(wmi_cupti_load(&err) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "is of CUDA 12.5, and 12.6 or newer is needed");
    CHECK_HAS(err.message, libcupti);
    CHECK_TEXT(wmi_cupti_path(), "");
    CHECK_TEXT(wmi_cupti_version_text(), "");
}

static void a_cupti_that_does_not_start_is_refused(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    fake_fail("cuptiGetVersion", 999, 1, -1);
    CHECK(wmi_cupti_load(&err) == WM_EUNSUPPORTED && err.native_code == 999);
    CHECK_HAS(err.message, "does not start");
}

static void the_cupti_in_the_process_is_used(void) {
    CHECK(dlopen(libcupti_12, RTLD_NOW | RTLD_LOCAL));
    CHECK(wmi_cupti_load(NULL) == WM_OK);
    CHECK_TEXT(wmi_cupti_path(), libcupti_12);
}

static void make_folder(char folder[64]) {
    snprintf(folder, 64, "/tmp/warpmeter-load-XXXXXX");
    CHECK(mkdtemp(folder));
}

static void copy_file(const char *from, const char *to) {
    char block[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) CHECK(fwrite(block, 1, n, out) == n);
    CHECK(fclose(in) == 0 && fclose(out) == 0);
}

static const wmi_finding *find(const wmi_probe *p, const char *item) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].item, item) == 0) return &p->v[i];
    give_up(__FILE__, __LINE__, item, " was not found");
}

/* libcupti would get that one, whatever lies beside it. */
static void an_nvperf_of_another_folder_is_told(void) {
    char folder[64], path[128];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/libnvperf_host.so", folder);
    copy_file(libnvperf, path);
    CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL));
    use_fakes();
    wmi_probe probe = {0};
    wmi_cuda_probe(&probe);
    CHECK_TEXT(wmi_nvperf_path(), path);
    CHECK(find(&probe, "libnvperf_host")->state == WMI_STATE_LIMITED);
    CHECK_TEXT(find(&probe, "libnvperf_host")->value, path);
    wmi_probe_free(&probe);
    CHECK(remove(path) == 0 && remove(folder) == 0);
}

static void versions_have_texts(void) {
    static const struct {
        uint32_t number;
        const char *text;
    } versions[] = {{1, "4.0"},          {18, "11.8"},     {24, "12.6"},       {28, "12.9.1"},
                    {29, "number 29"},   {130000, "13.0"}, {130001, "13.0.1"}, {130500, "13.5"},
                    {141203, "14.12.3"}, {0, "number 0"}};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char text[16];
        wmi_cupti_version_name(versions[i].number, text);
        if (strcmp(text, versions[i].text) != 0)
            give_up(__FILE__, __LINE__, versions[i].text, " was expected");
    }
}

/* ---- the switch ---- */

static void switched_off_nothing_is_called(void) {
    wm_error err = WM_ERROR_INIT;
    wmi_probe probe = {0};
    const wmi_cuda_device *devices;
    size_t count;
    use_fakes();
    setenv("WARPMETER_CUDA", "off", 1);
    CHECK(wmi_cuda_load(&err) == WM_EUNSUPPORTED);
    CHECK_TEXT(err.message, "CUDA is switched off: WARPMETER_CUDA is off");
    CHECK(wmi_cupti_load(&err) == WM_EUNSUPPORTED);
    CHECK_TEXT(err.message, "CUDA is switched off: WARPMETER_CUDA is off");
    CHECK(wmi_cuda_devices(&devices, &count, &err) == WM_EUNSUPPORTED);
    wmi_cuda_probe(&probe);
    CHECK(probe.n == 1 && probe.v[0].state == WMI_STATE_ABSENT);
    CHECK_TEXT(probe.v[0].remedy, "unset WARPMETER_CUDA");
    CHECK(fake_cupti_calls() == 0 && fake_calls("cuInit") == 0 && fake_calls("cuDriverGetVersion") == 0);
    CHECK(!dlopen(libcupti, RTLD_NOLOAD | RTLD_LAZY));
    CHECK(!dlopen(libcuda, RTLD_NOLOAD | RTLD_LAZY));
    wmi_probe_free(&probe);
}

static void the_switch_takes_two_words(void) {
    wm_error err = WM_ERROR_INIT;
    use_fakes();
    setenv("WARPMETER_CUDA", "no", 1);
    CHECK(wmi_cuda_load(&err) == WM_EINVAL);
    CHECK_TEXT(err.message, "WARPMETER_CUDA takes on or off, not 'no'");
    setenv("WARPMETER_CUDA", "on", 1);
    CHECK(wmi_cuda_load(&err) == WM_OK);
}

/* ---- devices ---- */

static void devices_are_described(void) {
    const wmi_cuda_device *d, *again;
    size_t count = 0;
    wm_error err = WM_ERROR_INIT;
    fake_device three[] = {fake_device_default(), fake_device_default(), fake_device_default()};
    three[1].name = "NVIDIA Other";
    three[1].chip = "TU104";
    three[1].major = 7;
    three[1].minor = 5;
    three[1].multiprocessors = 40;
    three[1].l2_bytes = 4 << 20;
    three[1].memory_bytes = INT64_C(15) << 30;
    three[1].compute_mode = 3;
    three[1].concurrent_managed = false;
    use_fakes();
    fake_devices(three, 3);
    if (wmi_cuda_devices(&d, &count, &err) != WM_OK) give_up(__FILE__, __LINE__, err.message, "");
    CHECK(count == 3);
    CHECK_TEXT(d[1].name, "NVIDIA Other");
    CHECK_TEXT(d[1].chip, "TU104");
    CHECK_TEXT(d[1].uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e01");
    CHECK(d[1].ordinal == 1 && d[1].major == 7 && d[1].minor == 5 && d[1].multiprocessors == 40);
    CHECK(d[1].l2_bytes == 4194304 && d[1].memory_bytes == INT64_C(16106127360));
    CHECK(d[1].compute_mode == 3 && !d[1].concurrent_managed && d[0].concurrent_managed);
    CHECK_TEXT(wmi_intern_name(d[0].label), "NVIDIA Fake H200 (0)");
    CHECK_TEXT(wmi_intern_name(d[1].label), "NVIDIA Other");
    CHECK_TEXT(wmi_intern_name(d[2].label), "NVIDIA Fake H200 (2)");
    CHECK(wmi_cuda_devices(&again, &count, NULL) == WM_OK && again == d);
    CHECK(fake_contexts() == 0);
}

static void without_cupti_chips_have_no_name(void) {
    const wmi_cuda_device *d;
    size_t count;
    char why[256], remedy[256];
    use(libcuda, "/nowhere/libcupti.so");
    CHECK(wmi_cuda_devices(&d, &count, NULL) == WM_OK && count == 1);
    CHECK_TEXT(d->name, "NVIDIA Fake H200");
    CHECK_TEXT(d->chip, "");
    CHECK(wmi_cuda_profiling(d, why, remedy) == WM_REASON_BACKEND);
    CHECK_HAS(why, "/nowhere/libcupti.so");
}

static const wmi_cuda_device *the_device(void) {
    const wmi_cuda_device *d;
    size_t count;
    wm_error err = WM_ERROR_INIT;
    if (wmi_cuda_devices(&d, &count, &err) != WM_OK) give_up(__FILE__, __LINE__, err.message, "");
    CHECK(count == 1);
    return d;
}

/* That flag alone at that level. */
static wm_reason refusal(const char *flag, int level, char why[256], char remedy[256]) {
    fake_reset();
    fake_supported(flag, level);
    return wmi_cuda_profiling(the_device(), why, remedy);
}

static void the_flag_that_forbids_counters_is_named(void) {
    enum { UNSUPPORTED = 1, DISABLED = 2 };
    static const struct {
        const char *flag, *says;
    } flags[] = {{"wsl", "(WSL)"}, {"vGpu", "(vGPU)"}, {"confidentialCompute", "in confidence"},
                 {"cmp", "(CMP)"}, {"sli", "(SLI)"},   {"architecture", "older"}};
    char why[256] = "", remedy[256] = "";
    use_fakes();
    CHECK(wmi_cuda_profiling(the_device(), why, remedy) == WM_REASON_NONE);
    CHECK(wmi_cuda_profiling(the_device(), NULL, NULL) == WM_REASON_NONE);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        CHECK(refusal(flags[i].flag, UNSUPPORTED, why, remedy) == WM_REASON_NO_DEVICE);
        if (!strstr(why, flags[i].flag) || !strstr(why, flags[i].says)) give_up(__FILE__, __LINE__, why, "");
        CHECK(remedy[0]);
    }
    CHECK(refusal("vGpu", DISABLED, why, remedy) == WM_REASON_PERMISSION);
    CHECK_HAS(remedy, "enable_profiling=1");
    CHECK(refusal("isSupported", UNSUPPORTED, why, remedy) == WM_REASON_NO_DEVICE);
    CHECK_HAS(why, "none of its flags");
}

static void a_part_of_a_gpu_is_named(void) {
    char why[256], remedy[256];
    fake_device part = fake_device_default();
    part.name = "NVIDIA H200 MIG 1g.18gb";
    use_fakes();
    fake_devices(&part, 1);
    fake_supported("isSupported", 1);
    CHECK(wmi_cuda_profiling(the_device(), why, remedy) == WM_REASON_NO_DEVICE);
    CHECK_HAS(why, "(MIG)");
    CHECK_HAS(remedy, "whole GPU");
}

static void a_failure_to_ask_is_told(void) {
    char why[256], remedy[256];
    use_fakes();
    fake_fail("cuptiProfilerDeviceSupported", 26, 1, -1);
    CHECK(wmi_cuda_profiling(the_device(), why, remedy) == WM_REASON_DEVICE_BUSY);
    CHECK_HAS(why, "DCGM");
    fake_fail("cuptiProfilerDeviceSupported", 7, 1, -1);
    CHECK(wmi_cuda_profiling(the_device(), why, remedy) == WM_REASON_BACKEND);
    CHECK_HAS(why, "cuptiProfilerDeviceSupported: ");
}

static void a_multiprocess_service_is_seen(void) {
    char folder[64], pipe[128];
    make_folder(folder);
    snprintf(pipe, sizeof pipe, "%s/control", folder);
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
    CHECK(!wmi_cuda_mps());
    CHECK(mkdir(pipe, 0700) == 0);
    CHECK(!wmi_cuda_mps());
    CHECK(remove(pipe) == 0 && mkfifo(pipe, 0600) == 0);
    CHECK(wmi_cuda_mps());
    CHECK(remove(pipe) == 0 && remove(folder) == 0);
}

/* ---- /proc ---- */

static void put(const char *root, const char *path, const char *text) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *f = fopen(whole, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void make_below(const char *root, const char *folder) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, folder);
    CHECK(mkdir(whole, 0700) == 0);
}

static void drop_below(const char *root, const char *path) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    CHECK(remove(whole) == 0);
}

static void the_driver_tells_its_version_and_who_may_count(void) {
    static const char *const folders[] = {"/proc", "/proc/self", "/proc/driver", "/proc/driver/nvidia"};
    char root[64], version[32];
    make_folder(root);
    for (size_t i = 0; i < 4; i++) make_below(root, folders[i]);
    CHECK(!wmi_nvidia_version(root, version, sizeof version));
    CHECK_TEXT(version, "");
    CHECK(wmi_nvidia_counter_rights(root) == WMI_RIGHTS_UNKNOWN);

    put(root, "/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@host)\n"
        "GCC version:  gcc version 12.2.0\n");
    CHECK(wmi_nvidia_version(root, version, sizeof version));
    CHECK_TEXT(version, "580.159.04");

    put(root, "/proc/self/status", "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
    put(root, "/proc/driver/nvidia/params", "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: 0\n");
    CHECK(wmi_nvidia_counter_rights(root) == WMI_RIGHTS_ALL);
    put(root, "/proc/driver/nvidia/params", "ModifyDeviceFiles: 0\nRmProfilingAdminOnly: 1\n");
    CHECK(wmi_nvidia_counter_rights(root) == WMI_RIGHTS_NONE);
    put(root, "/proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n"); /* 1 << 21 */
    CHECK(wmi_nvidia_counter_rights(root) == WMI_RIGHTS_ADMIN);
    put(root, "/proc/self/status", "Name:\tx\nCapEff:\tffffffffffdfffff\n"); /* all but that */
    CHECK(wmi_nvidia_counter_rights(root) == WMI_RIGHTS_NONE);

    drop_below(root, "/proc/driver/nvidia/version");
    drop_below(root, "/proc/driver/nvidia/params");
    drop_below(root, "/proc/self/status");
    for (size_t i = 4; i-- > 0;) drop_below(root, folders[i]);
    CHECK(remove(root) == 0);
}

/* ---- codes ---- */

static void codes_are_explained(void) {
    static const struct {
        bool cupti;
        int code;
        wm_status status;
        wm_reason reason;
        const char *parts[3];
    } known[] = {
        {true,
         35,
         WM_EPERM,
         WM_REASON_PERMISSION,
         {"RmProfilingAdminOnly", "NVreg_RestrictProfilingToAdminUsers=0",
          "kernel times need no permission"}},
        {true, 39, WM_EBUSY, WM_REASON_BACKEND, {"CUPTI takes one", "nsys", "Kineto"}},
        {true, 26, WM_EBUSY, WM_REASON_DEVICE_BUSY, {"DCGM", "dcgmi profpause", "nsys"}},
        {true, 40, WM_EPERM, WM_REASON_PERMISSION, {"vGPU", "hypervisor", "enable_profiling=1"}},
        {true, 43, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, {"MIG", "MIG", "whole GPU"}},
        {true, 8, WM_ENOMEM, WM_REASON_BACKEND, {"CUPTI_ERROR_OUT_OF_MEMORY", "memory", "device"}},
        {false, 2, WM_ENOMEM, WM_REASON_BACKEND, {"CUDA_ERROR_OUT_OF_MEMORY", "device", "memory"}},
        {false, 36, WM_EUNSUPPORTED, WM_REASON_BACKEND, {"too old", "newer driver", "CUDA_ERROR"}},
        {false, 46, WM_EBUSY, WM_REASON_DEVICE_BUSY, {"compute mode", "another process", "nvidia-smi"}},
        {false,
         700,
         WM_EFAILED,
         WM_REASON_BACKEND,
         {"compute-sanitizer", "kernel", "CUDA_ERROR_ILLEGAL_ADDRESS"}},
        {false, 805, WM_EUNSUPPORTED, WM_REASON_NO_DEVICE, {"MPS", "nvidia-cuda-mps-control", "answer"}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        wm_error err = WM_ERROR_INIT;
        CHECK(wmi_cuda_error(&err, known[i].cupti, known[i].code, "a call") == known[i].status);
        CHECK(err.code == known[i].status && err.native_code == known[i].code);
        CHECK(strncmp(err.message, "a call: CU", 10) == 0);
        CHECK(wmi_cuda_reason(known[i].cupti, known[i].code) == known[i].reason);
        for (size_t k = 0; k < 3; k++)
            if (!strstr(err.message, known[i].parts[k]))
                give_up(__FILE__, __LINE__, err.message, " lacks a part");
    }
}

/* 255 bytes: what a finding of doctor holds. */
static void explanations_fit(void) {
    for (int code = 0; code < 1000; code++)
        for (int cupti = 0; cupti < 2; cupti++) {
            wm_error err = WM_ERROR_INIT;
            const wmi_cuda_code *known = wmi_cuda_code_find(cupti, code);
            if (!known) continue;
            wmi_cuda_error(&err, cupti, code, "an action of twenty to thirty bytes");
            CHECK(err.message[strlen(err.message) - 1] == ')');
            CHECK(strlen(known->name) + 2 + strlen(known->why) < 256 && strlen(known->remedy) < 256);
        }
}

static void other_codes_have_the_vendors_name(void) {
    wm_error err = WM_ERROR_INIT;
    CHECK(wmi_cuda_error(&err, true, 7, "a call") == WM_EIO);
    CHECK_TEXT(err.message, "a call: error 7 of CUPTI");
    CHECK(wmi_cuda_error(&err, false, 400, "a call") == WM_EIO);
    CHECK_TEXT(err.message, "a call: error 400 of the driver");
    use_fakes();
    CHECK(wmi_cuda_load(NULL) == WM_OK && wmi_cupti_load(NULL) == WM_OK);
    CHECK(wmi_cuda_error(&err, true, 1, "a call") == WM_EIO);
    CHECK_TEXT(err.message, "a call: CUPTI_ERROR_INVALID_PARAMETER (1)");
    CHECK(wmi_cuda_error(&err, false, 400, "a call") == WM_EIO);
    CHECK_TEXT(err.message, "a call: CUDA_ERROR_INVALID_HANDLE (400)");
    CHECK(wmi_cuda_error(&err, false, 123456, "a call") == WM_EIO);
    CHECK_TEXT(err.message, "a call: error 123456 of the driver");
    CHECK(wmi_cuda_reason(false, 123456) == WM_REASON_BACKEND);
}

/* ---- doctor ---- */

static void doctor_tells_of_all(void) {
    wmi_probe probe = {0};
    fake_device two[] = {fake_device_default(), fake_device_default()};
    two[1].name = "NVIDIA Other";
    setenv("CUDA_MPS_PIPE_DIRECTORY", "/nowhere", 1);
    use_fakes();
    fake_devices(two, 2);
    wmi_cuda_probe(&probe);
    CHECK(!probe.failed);
    CHECK_HAS(find(&probe, "libcuda")->value, "CUDA 13.0");
    CHECK_HAS(find(&probe, "libcuda")->value, libcuda);
    CHECK_HAS(find(&probe, "libcupti")->value, "13.0.1 (");
    CHECK_HAS(find(&probe, "libcupti")->value, libcupti);
    CHECK_TEXT(find(&probe, "libnvperf_host")->value, libnvperf);
    CHECK(find(&probe, "libnvperf_host")->state == WMI_STATE_OK);
    CHECK_TEXT(find(&probe, "device")->value, "0: NVIDIA Fake H200, GH100, compute capability 9.0, 132 "
                                              "multiprocessors, L2 60 MiB, memory 144384 MiB");
    CHECK_TEXT(find(&probe, "counters")->value, "0: can be had");
    CHECK(find(&probe, "sharing")->state == WMI_STATE_OK);
    size_t devices = 0;
    for (size_t i = 0; i < probe.n; i++) {
        CHECK_TEXT(probe.v[i].component, "cuda");
        CHECK((probe.v[i].state == WMI_STATE_OK) == (probe.v[i].reason[0] == '\0'));
        devices += strcmp(probe.v[i].item, "device") == 0;
    }
    CHECK(devices == 2);
    CHECK(fake_contexts() == 0 && fake_calls("cuCtxCreate_v2") == 0);
    wmi_probe_free(&probe);
}

static void doctor_tells_what_is_wrong(void) {
    wmi_probe probe = {0};
    use_fakes();
    fake_driver_version(12040);
    fake_supported("wsl", 1);
    wmi_cuda_probe(&probe);
    CHECK(find(&probe, "libcupti")->state == WMI_STATE_LIMITED);
    CHECK_HAS(find(&probe, "libcupti")->reason, "newer than the driver");
    CHECK(find(&probe, "counters")->state == WMI_STATE_ABSENT);
    CHECK_HAS(find(&probe, "counters")->reason, "WSL");
    CHECK_HAS(find(&probe, "counters")->remedy, "Linux itself");
    wmi_probe_free(&probe);
}

static void doctor_parts_reason_and_remedy_of_messages(void) {
    wmi_probe probe = {0};
    use_fakes();
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    fake_devices(NULL, 0);
    fake_cupti_version(23);
    wmi_cuda_probe(&probe);
    CHECK_TEXT(find(&probe, "libcuda")->reason,
               "cuInit: CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES is '7' and leaves no device");
    CHECK_TEXT(find(&probe, "libcuda")->remedy, "unset it, or name one that nvidia-smi -L lists");
    CHECK_HAS(find(&probe, "libcupti")->reason, "12.6 or newer is needed");
    CHECK(strncmp(find(&probe, "libcupti")->remedy, "install ", 8) == 0);
    CHECK(probe.n == 2);
    wmi_probe_free(&probe);
}

static void doctor_parts_reason_and_remedy(void) {
    wmi_probe probe = {0};
    use_fakes();
    fake_stub(true);
    wmi_cuda_probe(&probe);
    CHECK(find(&probe, "libcuda")->state == WMI_STATE_ABSENT);
    CHECK_TEXT(find(&probe, "libcuda")->reason,
               "CUDA_ERROR_STUB_LIBRARY: this libcuda is the stub of a toolkit, made "
               "for linking and not for running");
    CHECK_HAS(find(&probe, "libcuda")->remedy, "LD_LIBRARY_PATH");
    CHECK(find(&probe, "libcupti")->state == WMI_STATE_OK);
    CHECK(fake_calls("cuptiProfilerInitialize") == 0);
    wmi_probe_free(&probe);
}

#define CASES(X)                                                                                             \
    X(the_driver_is_opened)                                                                                  \
    X(threads_open_it_once)                                                                                  \
    X(the_stub_is_named)                                                                                     \
    X(a_driver_without_a_device_is_named)                                                                    \
    X(hidden_devices_are_named)                                                                              \
    X(other_failures_of_the_driver_are_told)                                                                 \
    X(a_symbol_that_lacks_is_named)                                                                          \
    X(cupti_is_opened_with_what_lies_beside_it)                                                              \
    X(cupti_12_6_will_do)                                                                                    \
    X(an_older_cupti_is_refused)                                                                             \
    X(a_cupti_that_does_not_start_is_refused)                                                                \
    X(the_cupti_in_the_process_is_used)                                                                      \
    X(an_nvperf_of_another_folder_is_told)                                                                   \
    X(versions_have_texts)                                                                                   \
    X(switched_off_nothing_is_called)                                                                        \
    X(the_switch_takes_two_words)                                                                            \
    X(devices_are_described)                                                                                 \
    X(without_cupti_chips_have_no_name)                                                                      \
    X(the_flag_that_forbids_counters_is_named)                                                               \
    X(a_part_of_a_gpu_is_named)                                                                              \
    X(a_failure_to_ask_is_told)                                                                              \
    X(a_multiprocess_service_is_seen)                                                                        \
    X(the_driver_tells_its_version_and_who_may_count)                                                        \
    X(codes_are_explained)                                                                                   \
    X(explanations_fit)                                                                                      \
    X(other_codes_have_the_vendors_name)                                                                     \
    X(doctor_tells_of_all)                                                                                   \
    X(doctor_tells_what_is_wrong)                                                                            \
    X(doctor_parts_reason_and_remedy_of_messages)                                                            \
    X(doctor_parts_reason_and_remedy)

int main(void) {
    CASES(APART_BODY)
    const struct CMUnitTest tests[] = {CASES(APART_TEST)};
    return cmocka_run_group_tests_name("cuda_load", tests, find_fakes, NULL);
}
