/** What tests of the launch log share: a program on the fake GPU, the log of its launches. */
#ifndef TESTS_UNIT_CUDA_LAUNCHING_H
#define TESTS_UNIT_CUDA_LAUNCHING_H

#include <stdatomic.h>

#include "backend/cuda/launches.h"
#include "cuda_program.h"

/* The entry that a launch of this thread belongs to. */
static _Thread_local uint64_t program_entry = WMI_NO_ENTRY;
static _Atomic(int) asked_scope;

static inline uint64_t entry_of(wmi_scope scope) {
    atomic_store(&asked_scope, (int)scope);
    return program_entry;
}

static inline void start(wmi_launch_mode mode) {
    wmi_launches_start(mode, WMI_SCOPE_PROCESS, entry_of, NULL, NULL);
}

static inline int attach(void **state) {
    wm_error err = WM_ERROR_INIT;
    *state = program_begin(2);
    program_entry = WMI_NO_ENTRY;
    if (wmi_launches_attach(&err) == WM_OK) return 0;
    print_error("%s\n", err.message);
    return -1;
}

static inline int detach(void **state) {
    (void)state;
    wmi_launches_detach();
    assert_int_equal(fake_callbacks_active(), 0);
    return 0;
}

static inline size_t times(void) {
    size_t n;
    (void)wmi_launches_times(&n);
    return n;
}

static inline size_t shapes(void) {
    size_t n;
    (void)wmi_launches_shapes(&n);
    return n;
}

#endif
