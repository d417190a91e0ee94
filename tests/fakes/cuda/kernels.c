/* What is known of kernels, by name. They stay for ever: records point to their names. */
#include <string.h>

#include "fake_state.h"

static CUfunction kernels;

static void forget(CUfunction k) {
    k->ns = FAKE_KERNEL_NS;
    k->registers = 32;
    k->static_shared = k->local = 0;
    k->held = false;
    k->launches = 0;
}

CUfunction fakei_kernel_locked(const char *name) {
    CUfunction k = kernels;
    while (k && strcmp(k->name, name) != 0) k = k->next;
    if (k) return k;
    k = fakei_calloc(1, sizeof *k);
    forget(k);
    k->name = fakei_intern(name);
    k->next = kernels;
    kernels = k;
    return k;
}

void fakei_kernels_reset_locked(void) {
    for (CUfunction k = kernels; k; k = k->next) forget(k);
}

void *fake_function(const char *name) {
    fakei_lock();
    CUfunction k = fakei_kernel_locked(name);
    fakei_unlock();
    return k;
}

void fake_kernel_ns(const char *name, int64_t ns) {
    fakei_lock();
    fakei_kernel_locked(name)->ns = ns;
    fakei_unlock();
}

void fake_kernel_resources(const char *name, int registers, int static_shared, int local_per_thread) {
    fakei_lock();
    CUfunction k = fakei_kernel_locked(name);
    k->registers = registers;
    k->static_shared = static_shared;
    k->local = local_per_thread;
    fakei_unlock();
}

void fake_hold(const char *name) {
    fakei_lock();
    fakei_kernel_locked(name)->held = true;
    fakei_unlock();
}

uint64_t fake_launches_of(const char *name) {
    fakei_lock();
    uint64_t launches = fakei_kernel_locked(name)->launches;
    fakei_unlock();
    return launches;
}

uint64_t fake_launches(void) {
    uint64_t launches = 0;
    fakei_lock();
    for (CUfunction k = kernels; k; k = k->next) launches += k->launches;
    fakei_unlock();
    return launches;
}
