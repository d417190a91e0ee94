/* Holding a GPU's clocks, and the file that says who does, on the made-up GPU. Every case has a process of
 * its own: what is held is given back at a process's end. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include "backend/cuda/clock_lock_file.h"
#include "backend/cuda/clocks.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/sensors.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"
#include "fakes/nvml/fake_nvml.h"
#include "unit/apart.h"

#define UUID "GPU-00010203-0405-0607-0809-0a0b0c0d0e00"
enum { UNKNOWN = 999 };
static const wmi_clock_request base = {WMI_CLOCKS_BASE, 0};
static char folder[64], file[160];
static wm_error err;

static const wmi_cuda_device *device(void) {
    const wmi_cuda_device *d;
    size_t count;
    CHECK(wmi_cuda_devices(&d, &count, NULL) == WM_OK);
    return d;
}

static wm_status lock_at(wmi_clock_request request, double *hz) {
    err = (wm_error)WM_ERROR_INIT;
    *hz = -1;
    return wmi_clocks_lock(device(), &request, hz, &err);
}

static wm_status lock(wmi_clock_request request) {
    double hz;
    return lock_at(request, &hz);
}

static void unlock(void) { CHECK(wmi_clocks_unlock(device(), NULL)); }

static wmi_clock_holder_state holder(void) {
    wmi_clock_holder h;
    wmi_clock_holder_find(UUID, &h);
    return h.state;
}

static void write_file(const char *text) {
    FILE *f = fopen(file, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* ---- locking ---- */

static void the_base_clock_is_held_and_given_back(void) {
    double hz;
    CHECK(lock_at(base, &hz) == WM_OK);
    CHECK(hz == 0); /* nobody says what it is */
    CHECK(fake_locked(0) == FAKE_CLOCK_BASE);
    CHECK(holder() == WMI_CLOCKS_OURS);
    unlock();
    CHECK(fake_locked(0) == 0 && holder() == WMI_CLOCKS_NOBODYS);
    unlock(); /* nothing is left to undo */
    CHECK(fake_locks() == 1 && fake_unlocks() == 1);
    CHECK(lock(base) == WM_OK && fake_locks() == 2);
    unlock();
}

static void a_frequency_is_held(void) {
    double hz;
    CHECK(lock_at((wmi_clock_request){WMI_CLOCKS_HZ, 1.41e9}, &hz) == WM_OK);
    CHECK(hz == 1.41e9 && fake_locked(0) == 1410);
    CHECK(lock(base) == WM_EBUSY);
    CHECK_TEXT(err.message, "this process already holds the GPU's clocks, at 1410 MHz");
    unlock();
    CHECK(fake_locked(0) == 0);
}

static void a_frequency_that_there_is_not_names_the_nearest(void) {
    static const struct {
        double hz;
        const char *says;
    } all[] = {{1.4112e9, "the GPU has no clock of 1411.2 MHz: the nearest are 1410 MHz and 1425 MHz"},
               {5e9, "the GPU has no clock of 5000 MHz: the nearest is 1980 MHz"},
               {1e8, "the GPU has no clock of 100 MHz: the nearest is 345 MHz"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK(lock((wmi_clock_request){WMI_CLOCKS_HZ, all[i].hz}) == WM_EINVAL);
        CHECK_TEXT(err.message, all[i].says);
    }
    CHECK(fake_locks() == 0 && holder() == WMI_CLOCKS_NOBODYS);
}

/* The driver decides where it does not list them. */
static void frequencies_that_are_not_listed(void) {
    fake_fail("nvmlDeviceGetSupportedGraphicsClocks", 3, 1, -1);
    CHECK(lock((wmi_clock_request){WMI_CLOCKS_HZ, 1.411e9}) == WM_OK && fake_locked(0) == 1411);
    unlock();
    CHECK(lock((wmi_clock_request){WMI_CLOCKS_HZ, 5e9}) == WM_EIO);
    CHECK_TEXT(err.message, "nvmlDeviceSetGpuLockedClocks: Invalid Argument (NVML's code 2)");
    CHECK(holder() == WMI_CLOCKS_NOBODYS);
}

/* Case C53. */
static void a_lock_that_does_not_bind(void) {
    double hz;
    wmi_cuda_sensors sensors = {.watched = -1};
    wmi_sensed s;
    fake_bind(0.8);
    CHECK(lock_at((wmi_clock_request){WMI_CLOCKS_HZ, 1.41e9}, &hz) == WM_OK);
    wmi_sensed_clear(&s, WM_REASON_NO_SENSOR);
    wmi_cuda_sense(&sensors, WMI_SENSOR_BIT(GPU_CLOCK), &s);
    CHECK(hz == 1.41e9 && s.value[WMI_SENSOR_GPU_CLOCK] == 1.128e9);
    unlock();
}

static void without_rights(void) {
    char why[256], remedy[256];
    fake_clocks_forbidden(true);
    CHECK(lock(base) == WM_EPERM);
    CHECK_TEXT(err.message,
               "clocks are for administrators to hold (nvmlDeviceSetGpuLockedClocks: Insufficient "
               "Permissions (NVML's code 4)); run as root or with CAP_SYS_ADMIN; try:base goes on "
               "without");
    CHECK(holder() == WMI_CLOCKS_NOBODYS && fake_locks() == 0);
    unlock();
    CHECK(fake_calls("nvmlDeviceResetGpuLockedClocks") == 0);
    if (geteuid() == 0) CHECK(wmi_clocks_may_be_held(device(), why, remedy) == WM_REASON_NONE);
    if (geteuid() == 0) CHECK(setuid(65534) == 0);
    CHECK(wmi_clocks_may_be_held(device(), why, remedy) == WM_REASON_PERMISSION);
    CHECK_HAS(remedy, "CAP_SYS_ADMIN");
}

static void a_part_of_a_gpu_is_never_locked(void) {
    fake_device part = fake_device_default();
    char why[256], remedy[256];
    part.name = "NVIDIA H200 MIG 1g.18gb";
    fake_devices(&part, 1);
    CHECK(lock(base) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "a part of a GPU (MIG)");
    CHECK(fake_calls("nvmlDeviceSetGpuLockedClocks") == 0);
    CHECK(wmi_clocks_may_be_held(device(), why, remedy) == WM_REASON_NO_DEVICE);
    CHECK_TEXT(remedy, "measure on a whole GPU");
}

static void an_old_driver_holds_none(void) {
    char path[512];
    const char *now = getenv("WARPMETER_LIBNVML");
    snprintf(path, sizeof path, "%.*s/libnvidia-ml-old.so.1", (int)(strrchr(now, '/') - now), now);
    setenv("WARPMETER_LIBNVML", path, 1);
    CHECK(lock(base) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "too old to hold clocks");
    CHECK(holder() == WMI_CLOCKS_NOBODYS);
}

static void without_the_library(void) {
    setenv("WARPMETER_LIBNVML", "/nowhere", 1);
    CHECK(lock(base) == WM_EUNSUPPORTED);
    CHECK_HAS(err.message, "libnvidia-ml could not be opened");
}

/* Every call of NVML fails in turn: nothing stays locked or claimed. */
static void every_call_fails_in_turn(void) {
    int n = 1;
    CHECK(lock(base) == WM_OK); /* opens the library */
    unlock();
    for (bool failed = true; failed; n++) {
        fake_reset();
        fake_fail("nvml", UNKNOWN, n, 1);
        failed = lock((wmi_clock_request){WMI_CLOCKS_HZ, 1.41e9}) != WM_OK;
        if (failed) CHECK(err.message[0] && fake_locked(0) == 0 && holder() == WMI_CLOCKS_NOBODYS);
        if (!failed && !wmi_clocks_unlock(device(), NULL)) {
            failed = true;
            CHECK(fake_locked(0) == 1410 && holder() == WMI_CLOCKS_OURS);
            unlock(); /* the second time it goes */
        }
        CHECK(fake_locked(0) == 0 && holder() == WMI_CLOCKS_NOBODYS);
        /* what is asked before it may fail unnoticed, for the driver checks for itself */
        failed = failed || fake_calls("nvml") >= (uint64_t)n;
    }
    CHECK(n > 6);
}

static void what_cannot_be_given_back_is_told(void) {
    CHECK(lock(base) == WM_OK);
    fake_fail("nvmlDeviceResetGpuLockedClocks", UNKNOWN, 1, 1);
    CHECK(!wmi_clocks_unlock(device(), &err));
    CHECK_TEXT(err.message, "the clocks of NVIDIA Fake H200 could not be given back: "
                            "nvmlDeviceResetGpuLockedClocks: Unknown Error (NVML's code 999); do it as root: "
                            "nvidia-smi -i " UUID " -rgc");
    CHECK(holder() == WMI_CLOCKS_OURS);
    unlock();
    CHECK(fake_locked(0) == 0);
}

/* ---- through CUPTI ---- */

static void begin_cupti(void) {
    CUcontext context;
    fake_cupti_version(130400);
    CHECK(wmi_cupti_load(NULL) == WM_OK && cuInit(0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
}

static void cupti_holds_the_base_clock(void) {
    begin_cupti();
    CHECK(lock(base) == WM_OK && fake_locked(0) == FAKE_CLOCK_BASE);
    CHECK(fake_calls("cuptiClockControlLock") == 1 && fake_calls("nvmlDeviceSetGpuLockedClocks") == 0);
    unlock();
    CHECK(fake_locked(0) == 0);
    CHECK(fake_calls("cuptiClockControlUnlock") == 1 && fake_calls("nvmlDeviceResetGpuLockedClocks") == 0);
    CHECK(lock((wmi_clock_request){WMI_CLOCKS_HZ, 1.41e9}) == WM_OK); /* which it cannot */
    CHECK(fake_locked(0) == 1410 && fake_calls("cuptiClockControlLock") == 1);
    unlock();
}

static void cupti_fails(void) {
    begin_cupti();
    fake_fail("cuptiClockControlLock", UNKNOWN, 1, -1);
    CHECK(lock(base) == WM_OK && fake_locked(0) == FAKE_CLOCK_BASE);
    CHECK(fake_calls("nvmlDeviceSetGpuLockedClocks") == 1);
    unlock();
    CHECK(fake_locked(0) == 0 && fake_calls("cuptiClockControlUnlock") == 0);
}

static void cupti_needs_a_context(void) {
    fake_cupti_version(130400);
    CHECK(wmi_cupti_load(NULL) == WM_OK && cuInit(0) == CUDA_SUCCESS);
    CHECK(lock(base) == WM_OK);
    CHECK(fake_calls("cuptiClockControlLock") == 0 && fake_locked(0) == FAKE_CLOCK_BASE);
    unlock();
}

static void older_cuptis_are_not_asked(void) {
    CUcontext context;
    CHECK(wmi_cupti_load(NULL) == WM_OK && cuInit(0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
    CHECK(lock(base) == WM_OK && fake_calls("cuptiClockControlLock") == 0);
    unlock();
}

/* ---- other processes ---- */

/* A child that holds the clocks and then does what it is told; returns once it holds them. */
static pid_t child_that(void (*then)(void)) {
    int ready[2];
    char byte = 0;
    CHECK(pipe(ready) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(lock(base) == WM_OK);
        CHECK(write(ready[1], "x", 1) == 1);
        then();
        exit(EXIT_SUCCESS);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    return child;
}

static void wait_for(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
}

static void sleep_on(void) {
    for (;;) pause();
}
static void leave(void) { exit(EXIT_SUCCESS); }
static void leave_at_once(void) { _exit(EXIT_SUCCESS); }

static void a_lock_of_a_process_that_lives(void) {
    const pid_t child = child_that(sleep_on);
    char text[160];
    CHECK(holder() == WMI_CLOCKS_ANOTHERS);
    CHECK(lock(base) == WM_EBUSY);
    snprintf(text, sizeof text, "process %ld holds the GPU's clocks, at base; wait for its end", (long)child);
    CHECK_TEXT(err.message, text);
    CHECK(fake_locks() == 0);
    CHECK(kill(child, SIGKILL) == 0);
    wait_for(child);
    CHECK(holder() == WMI_CLOCKS_LEFT_BEHIND);
    CHECK(lock((wmi_clock_request){WMI_CLOCKS_HZ, 1.41e9}) == WM_OK && holder() == WMI_CLOCKS_OURS);
    unlock();
    CHECK(holder() == WMI_CLOCKS_NOBODYS);
}

static void a_process_that_exits_gives_back(void) {
    char calls[128], line[128] = "";
    bool reset = false;
    snprintf(calls, sizeof calls, "%s/calls", folder);
    char words[160];
    snprintf(words, sizeof words, "calls=%s", calls);
    setenv("FAKE_GPU", words, 1);
    fake_reset();
    wait_for(child_that(leave));
    CHECK(holder() == WMI_CLOCKS_NOBODYS);
    FILE *f = fopen(calls, "r");
    CHECK(f);
    while (fgets(line, sizeof line, f)) reset |= strcmp(line, "nvmlDeviceResetGpuLockedClocks 1\n") == 0;
    fclose(f);
    CHECK(reset);
    unsetenv("FAKE_GPU");
    fake_reset();
    remove(calls);
}

static void a_process_that_does_not_leaves_a_file(void) {
    wait_for(child_that(leave_at_once));
    CHECK(holder() == WMI_CLOCKS_LEFT_BEHIND);
    CHECK(lock(base) == WM_OK);
    unlock();
}

/* What fork copies is not the child's. */
static void a_child_gives_nothing_back(void) {
    CHECK(lock(base) == WM_OK);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) exit(EXIT_SUCCESS);
    wait_for(child);
    CHECK(holder() == WMI_CLOCKS_OURS);
    unlock();
}

/* ---- the file ---- */

static void a_number_that_another_process_has_now(void) {
    char text[64];
    snprintf(text, sizeof text, "%ld 1 base\n", (long)getppid()); /* that one began later */
    write_file(text);
    CHECK(holder() == WMI_CLOCKS_LEFT_BEHIND);
    snprintf(text, sizeof text, "%ld 1 base\n", (long)getpid());
    write_file(text);
    CHECK(holder() == WMI_CLOCKS_LEFT_BEHIND);
    CHECK(lock(base) == WM_OK);
    unlock();
}

static void files_that_are_none_of_ours(void) {
    static const char *const texts[] = {"", "\n", "hello", "12", "12 \n", "x y z", "99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(texts[i]);
        CHECK(holder() == WMI_CLOCKS_NOBODYS);
        CHECK(lock(base) == WM_OK && holder() == WMI_CLOCKS_OURS);
        unlock();
    }
}

static void a_folder_that_cannot_be(void) {
    setenv("WARPMETER_RUN_DIR", "/proc/none/here", 1);
    CHECK(lock(base) == WM_EIO);
    CHECK_HAS(err.message, "cannot be written: /proc/none/here/" UUID ".clocks: ");
    CHECK_HAS(err.message, "set WARPMETER_RUN_DIR");
    CHECK(fake_locks() == 0);
}

/* ---- doctor ---- */

static bool has(const wmi_probe *p, const char *item) {
    bool there = false;
    for (size_t i = 0; i < p->n; i++) there |= strcmp(p->v[i].item, item) == 0;
    return there;
}

static const wmi_finding *find(const wmi_probe *p, const char *item) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].item, item) == 0) return &p->v[i];
    give_up(__FILE__, __LINE__, item, " was not found");
}

static void doctor_tells_of_sensors_and_clocks(void) {
    wmi_probe p = {0};
    fake_fail("nvmlDeviceGetTotalEnergyConsumption", 3, 1, -1);
    wmi_cuda_probe(&p);
    CHECK_HAS(find(&p, "libnvidia-ml")->value, "NVML 13.580.1, driver 580.1 (");
    CHECK_TEXT(find(&p, "sensors")->value, "0: clock_hz, memory_clock_hz, temperature_c, headroom_c, pstate, "
                                           "utilization, power_w, throttle");
    CHECK(find(&p, "sensors")->state == WMI_STATE_LIMITED);
    CHECK_TEXT(find(&p, "sensors")->reason, "energy_j: the device has no such sensor, or it cannot be read");
    CHECK_HAS(find(&p, "clocks")->value, "0");
    CHECK(!has(&p, "clock lock"));
    CHECK(fake_contexts() == 0 && fake_locks() == 0);
    wmi_probe_free(&p);
}

static void doctor_tells_of_a_lock(void) {
    wmi_probe p = {0};
    const pid_t child = child_that(sleep_on);
    char text[160];
    wmi_cuda_probe(&p);
    snprintf(text, sizeof text, "process %ld holds the clocks, at base", (long)child);
    CHECK_TEXT(find(&p, "clock lock")->reason, text);
    wmi_probe_free(&p);
    p = (wmi_probe){0};
    CHECK(kill(child, SIGKILL) == 0);
    wait_for(child);
    wmi_cuda_probe(&p);
    CHECK(find(&p, "clock lock")->state == WMI_STATE_LIMITED);
    snprintf(text, sizeof text, "process %ld, which is gone, left the clocks held at base", (long)child);
    CHECK_TEXT(find(&p, "clock lock")->reason, text);
    CHECK_HAS(find(&p, "clock lock")->remedy, "nvidia-smi -i " UUID " -rgc");
    wmi_probe_free(&p);
}

static void doctor_without_the_library(void) {
    wmi_probe p = {0};
    setenv("WARPMETER_LIBNVML", "/nowhere", 1);
    wmi_cuda_probe(&p);
    CHECK(find(&p, "libnvidia-ml")->state == WMI_STATE_ABSENT && !has(&p, "sensors"));
    CHECK(find(&p, "counters")->state == WMI_STATE_OK);
    wmi_probe_free(&p);
}

#define CASES(X)                                                                                             \
    X(the_base_clock_is_held_and_given_back)                                                                 \
    X(a_frequency_is_held)                                                                                   \
    X(a_frequency_that_there_is_not_names_the_nearest)                                                       \
    X(frequencies_that_are_not_listed)                                                                       \
    X(a_lock_that_does_not_bind)                                                                             \
    X(without_rights)                                                                                        \
    X(a_part_of_a_gpu_is_never_locked)                                                                       \
    X(an_old_driver_holds_none)                                                                              \
    X(without_the_library)                                                                                   \
    X(every_call_fails_in_turn)                                                                              \
    X(what_cannot_be_given_back_is_told)                                                                     \
    X(cupti_holds_the_base_clock)                                                                            \
    X(cupti_fails)                                                                                           \
    X(cupti_needs_a_context)                                                                                 \
    X(older_cuptis_are_not_asked)                                                                            \
    X(a_lock_of_a_process_that_lives)                                                                        \
    X(a_process_that_exits_gives_back)                                                                       \
    X(a_process_that_does_not_leaves_a_file)                                                                 \
    X(a_child_gives_nothing_back)                                                                            \
    X(a_number_that_another_process_has_now)                                                                 \
    X(files_that_are_none_of_ours)                                                                           \
    X(a_folder_that_cannot_be)                                                                               \
    X(doctor_tells_of_sensors_and_clocks)                                                                    \
    X(doctor_tells_of_a_lock)                                                                                \
    X(doctor_without_the_library)

/* One run folder for all, empty before each case: none leaves its file non-empty but those that mean to. */
static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/warpmeter_clocks_XXXXXX");
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0) return -1;
    snprintf(file, sizeof file, "%s/" UUID ".clocks", folder);
    return setenv("WARPMETER_RUN_DIR", folder, 1);
}

static int remove_folder(void **state) {
    (void)state;
    DIR *d = opendir(folder);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') (void)unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    return rmdir(folder);
}

int main(void) {
    CASES(APART_BODY)
    const struct CMUnitTest tests[] = {CASES(APART_TEST)};
    return cmocka_run_group_tests_name("cuda_clocks", tests, make_folder, remove_folder);
}
