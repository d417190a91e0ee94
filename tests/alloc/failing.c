#include "alloc/failing.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_ulong countdown; /* allocations until the one that fails; 0: not armed */
static atomic_bool onwards, failed;

void failing_arm(unsigned long n, failing_mode mode) {
    atomic_store(&failed, false);
    atomic_store(&onwards, mode == FAILING_ONWARDS);
    atomic_store(&countdown, n);
}

bool failing_disarm(void) {
    atomic_store(&countdown, 0);
    return atomic_load(&failed);
}

static bool fails(void) {
    unsigned long left = atomic_load(&countdown);
    if (left == 0) return false;
    while (left > 1)
        if (atomic_compare_exchange_weak(&countdown, &left, left - 1)) return false;
    if (atomic_exchange(&failed, true) && !atomic_load(&onwards)) return false;
    errno = ENOMEM;
    return true;
}

/* The linker sends each call of X to __wrap_X, and __real_X to the C library's. */
#define WRAP(type, name, params, args)                                                                       \
    type __real_##name params;                                                                               \
    type __wrap_##name params;                                                                               \
    type __wrap_##name params { return fails() ? NULL : __real_##name args; }

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *p, size_t size), (p, size))
WRAP(void *, reallocarray, (void *p, size_t count, size_t size), (p, count, size))
WRAP(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    return fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}
