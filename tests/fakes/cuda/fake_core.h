/** What the core does around a backend's counter passes, for tests of them on a made-up GPU: entries
 *  and marks, windows, a few programs; and looking for readings. */
#ifndef FAKE_CORE_H
#define FAKE_CORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include <cmocka.h>

#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/replay.h"
#include "base/intern.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

static const char sm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
static const char bytes[] = "dram__bytes_read.sum";
enum { SM_PASSES = 3, SECOND = 1000000000 };

/* ---- the core's part: entries, marks, windows ---- */

static wmi_chip *chip;
static CUcontext context;
static wmi_replay_plan *replay;
static wmi_plan plan;
static wmi_backend_opts opts;
static wmi_replay_how how;
static wmi_readings got;
static wmi_replay_survey survey;

static __thread uint64_t here = WMI_NO_ENTRY; /* what a launch of this thread belongs to */
static uint64_t last_entry;
static uint32_t region_name;

static pthread_mutex_t warned_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t warned_now = PTHREAD_COND_INITIALIZER;
static int warnings;
static char last_warning[512];

static inline uint64_t launch_entry(wmi_scope scope) {
    (void)scope;
    return here;
}

static inline void warn(void *user, const char *line) {
    (void)user;
    pthread_mutex_lock(&warned_lock);
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", line);
    pthread_cond_broadcast(&warned_now);
    pthread_mutex_unlock(&warned_lock);
}

/* Kernels are "k" and a digit; a value is 100 times the digit, and more for each metric. */
static inline double value(void *user, const fake_range *range, const char *metric) {
    (void)user;
    if (strncmp(metric, "gpu__time", 9) == 0) return (double)range->ns;
    if (strncmp(metric, "gpc__", 5) == 0) return 1.5e9;
    const double number = range->kernel[0] == 'k' ? range->kernel[1] - '0' : (double)range->kernels;
    return 100 * number + (strcmp(metric, sm) == 0 ? 1 : 2);
}

static inline int begin(void **state) {
    (void)state;
    const fake_device devices[] = {fake_device_default(), fake_device_default()};
    fake_reset();
    fake_devices(devices, 2); /* a process asks for them once */
    fake_values(value, NULL);
    fake_metric_passes("sm__throughput", SM_PASSES);
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    assert_int_equal(wmi_launches_attach(NULL), WM_OK);
    assert_int_equal(wmi_chip_find("GH100", &chip, NULL), WM_OK);
    region_name = wmi_intern("region");
    here = WMI_NO_ENTRY;
    last_entry = 0;
    warnings = 0;
    opts = (wmi_backend_opts){.warn = warn, .launch_entry = launch_entry};
    opts.device = (wmi_device_opts){.replay = WMI_REPLAY_STACKED, .hang_ns = (int64_t)60 * SECOND};
    how = (wmi_replay_how){.opts = &opts};
    survey = (wmi_replay_survey){.kernels_in = 8, .kernels_out = 8, .regions = 2, .runs = 2};
    return 0;
}

static inline void clean_up(void) {
    wmi_replay_plan_destroy(replay);
    replay = NULL;
    wmi_plan_free(&plan);
    wmi_readings_free(&got);
    wmi_launches_detach();
}

static inline int end(void **state) {
    (void)state;
    clean_up();
    assert_int_equal(fake_profilers(), 0);
    return 0;
}

static inline void make(const char *a, const char *b) {
    const char *const names[] = {a, b};
    const uint32_t metric_of[] = {0, 1};
    const size_t count = b ? 2 : 1;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_plan_init(&plan, count, NULL), WM_OK);
    if (wmi_replay_plan_make(chip, names, metric_of, count, &how, &plan, &replay, &err) != WM_OK)
        fail_msg("%s", err.message);
}

static inline uint64_t mark(bool is_end, uint64_t entry, uint32_t thread) {
    const bool whole = entry & WMI_ROOT_ENTRY;
    const wmi_mark m = {.end = is_end,
                        .name = whole ? 0x7fffffff : region_name,
                        .thread = thread,
                        .entry = entry & ~WMI_ROOT_ENTRY};
    if (replay) wmi_replay_edge(replay, &m);
    return entry;
}

static inline uint64_t enter(uint32_t thread) { return here = mark(false, ++last_entry, thread); }
static inline uint64_t enter_whole(void) { return here = mark(false, ++last_entry | WMI_ROOT_ENTRY, 0); }
static inline void leave(uint64_t entry, uint32_t thread, uint64_t outer) {
    mark(true, entry, thread);
    here = outer;
}

static inline void launch_wide(const char *kernel, unsigned grid) {
    assert_int_equal(cuLaunchKernel(fake_function(kernel), grid, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_SUCCESS);
}
static inline void launch(const char *kernel) { launch_wide(kernel, 1); }

static inline wmi_window window_of(uint32_t config, int32_t run) {
    const wmi_window_kind kind = plan.passes[0].window;
    return (wmi_window){.kind = kind, .config = config, .run = kind == WMI_WINDOW_RUN ? run : 0};
}

static inline void open_pass(int32_t pass, uint32_t config, int32_t run) {
    wm_error err = WM_ERROR_INIT;
    const wmi_window w = window_of(config, run);
    if (wmi_replay_open(replay, pass, &w, &survey, &err) != WM_OK) fail_msg("%s", err.message);
}

static inline void close_pass(int32_t pass, uint32_t config, int32_t run) {
    wm_error err = WM_ERROR_INIT;
    const wmi_window w = window_of(config, run);
    if (wmi_replay_close(replay, pass, &w, &err) != WM_OK) fail_msg("%s", err.message);
}

/* The launching thread must be known to have a context. */
static inline void clean_pass(void (*program)(int32_t pass)) {
    wmi_launches_start(WMI_LAUNCHES_TIMES, WMI_SCOPE_PROCESS, launch_entry, NULL, NULL);
    program(-1);
    wmi_launches_stop();
    last_entry = 1000;
}

static inline void run_pass(int32_t pass, uint32_t config, void (*program)(int32_t pass)) {
    open_pass(pass, config, 0);
    program(pass);
    close_pass(pass, config, 0);
}

static inline void drain(void) {
    got.n = 0;
    assert_int_equal(wmi_replay_drain(replay, &got, NULL), WM_OK);
}

static inline void run_all(int32_t passes, void (*program)(int32_t pass)) {
    clean_pass(program);
    for (int32_t pass = 0; pass < passes; pass++) run_pass(pass, 0, program);
    drain();
}

/* ---- readings ---- */

static inline const wmi_reading *find(uint64_t entry, const char *kernel, uint32_t metric, size_t nth) {
    const uint32_t id = kernel ? wmi_intern(kernel) : 0;
    for (size_t i = 0; i < got.n; i++) {
        const wmi_reading *r = &got.v[i];
        if (r->entry == entry && r->kernel == id && r->metric == metric && nth-- == 0) return r;
    }
    fail_msg("no reading of %s", kernel ? kernel : "the entry");
    return NULL;
}

static inline void check(uint64_t entry, const char *kernel, uint32_t metric, double expected) {
    const wmi_reading *r = find(entry, kernel, metric, 0);
    assert_int_equal(r->reason, WM_REASON_NONE);
    if (r->value != expected) fail_msg("%s: %g, not %g", kernel ? kernel : "the entry", r->value, expected);
}

static inline void check_null(uint64_t entry, const char *kernel, uint32_t metric, wm_reason reason) {
    const wmi_reading *r = find(entry, kernel, metric, 0);
    assert_int_equal(r->reason, reason);
    assert_true(r->value == 0);
}

static inline size_t count_of(uint32_t metric) {
    size_t n = 0;
    for (size_t i = 0; i < got.n; i++) n += got.v[i].metric == metric;
    return n;
}

/* ---- programs ---- */

static uint64_t entries[16];

/* One kernel outside, two in a region, one in a region within it. */
static inline void program_nested(int32_t pass) {
    (void)pass;
    launch("k9");
    entries[0] = enter(0);
    launch("k1");
    launch("k2");
    entries[1] = enter(0);
    launch("k3");
    leave(entries[1], 0, entries[0]);
    leave(entries[0], 0, WMI_NO_ENTRY);
    launch("k8");
}

/* The second of three passes launches k2 with another grid. */
static inline void program_differs(int32_t pass) {
    entries[0] = enter(0);
    launch("k1");
    launch_wide("k2", pass == 1 ? 2 : 1);
    launch("k3");
    leave(entries[0], 0, WMI_NO_ENTRY);
}

/* Regions of two threads that lie over each other and one of a third. */
static inline void program_overlap(int32_t pass) {
    (void)pass;
    launch("k9");
    entries[0] = enter(0);
    launch("k1");
    entries[1] = enter(1);
    launch("k2");
    leave(entries[0], 0, entries[1]);
    launch("k3");
    leave(entries[1], 1, WMI_NO_ENTRY);
    launch("k9");
    entries[2] = enter(9);
    launch("k4");
    leave(entries[2], 9, WMI_NO_ENTRY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
