/* Preloaded into a program: clocks that misbehave. FAKE_CLOCK=stopped: CLOCK_MONOTONIC never
 * advances. FAKE_CLOCK=back: CLOCK_REALTIME steps back by an hour at every read. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    static long reads;
    const char *fake = getenv("FAKE_CLOCK");
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int status = real(id, t);
    if (fake && !strcmp(fake, "stopped") && id == CLOCK_MONOTONIC) *t = (struct timespec){1000, 0};
    if (fake && !strcmp(fake, "back") && id == CLOCK_REALTIME)
        t->tv_sec -= 3600 * __atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
    return status;
}
