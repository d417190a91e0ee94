/** What tests of activity records share: a program on the fake GPU, the records of its launches. */
#ifndef TESTS_UNIT_CUDA_RECORDING_H
#define TESTS_UNIT_CUDA_RECORDING_H

#include "backend/cuda/records.h"
#include "cuda_program.h"

/* The entry that a launch of this thread belongs to. */
static _Thread_local uint64_t program_entry = WMI_NO_ENTRY;

static inline uint64_t entry_of(wmi_scope scope) {
    (void)scope;
    return program_entry;
}

static wmi_drained got;

static inline void forget(void) {
    wmi_drained_free(&got);
    got = (wmi_drained){0};
}

static inline int attach(void **state) {
    wm_error err = WM_ERROR_INIT;
    *state = program_begin(2);
    program_entry = WMI_NO_ENTRY;
    if (wmi_launches_attach(&err) == WM_OK && wmi_records_attach(&err) == WM_OK &&
        wmi_records_enable(&err) == WM_OK)
        return 0;
    print_error("%s\n", err.message);
    return -1;
}

static inline int detach(void **state) {
    (void)state;
    forget();
    wmi_records_detach();
    wmi_launches_detach();
    return fake_buffers_out() == 0 ? 0 : -1;
}

/* Attach anew, as the environment now says. */
static inline void attach_again(void) {
    wmi_records_detach();
    assert_int_equal(wmi_records_attach(NULL), WM_OK);
    assert_int_equal(wmi_records_enable(NULL), WM_OK);
}

static inline void start(void) {
    wmi_launches_start(WMI_LAUNCHES_TIMES, WMI_SCOPE_PROCESS, entry_of, NULL, NULL);
}

static inline void collect_with(const wmi_device_opts *opts) {
    wm_error err = WM_ERROR_INIT;
    forget();
    wmi_launches_stop();
    do {
        const size_t n = got.records.n;
        assert_int_equal(wmi_records_collect(opts, &got, &err), WM_OK);
        assert_true(got.records.n - n <= 65536);
    } while (got.more);
}

static inline void collect(void) { collect_with(&(wmi_device_opts){0}); }

static inline const wmi_record *record(size_t i) {
    assert_true(i < got.records.n);
    return &got.records.v[i];
}

static inline size_t with_reason(wm_reason reason) {
    size_t n = 0;
    for (size_t i = 0; i < got.records.n; i++) n += got.records.v[i].reason == reason;
    return n;
}

static inline void launch_many(const char *kernel, size_t count) {
    for (size_t i = 0; i < count; i++) program_launch(kernel, NULL);
}

#endif
