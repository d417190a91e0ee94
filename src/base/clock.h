/** The host's clock. Ticks come from the cycle counter where it is invariant
 *  (x86-64: CPUID's invariant TSC bit and the kernel trusting it as its clock
 *  source; aarch64: the generic timer), else from CLOCK_MONOTONIC. The
 *  environment variable WARPMETER_TIMER=tsc|cntvct|monotonic overrides. CLOCK_REALTIME
 *  is never used for an interval. */
#ifndef WMI_BASE_CLOCK_H
#define WMI_BASE_CLOCK_H

#include <time.h>

#include "base/error.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/** True: ticks are the cycle counter's. Set once, by the first wmi_clock_init. */
extern bool wmi_clock_counter;

static inline uint64_t wmi_monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t wmi_ticks(void) {
#if defined(__x86_64__)
    if (WM_LIKELY(__atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED))) return __rdtsc();
#elif defined(__aarch64__)
    if (WM_LIKELY(__atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED))) {
        uint64_t t;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
        return t;
    }
#endif
    return wmi_monotonic_ns();
}

/** Ticks against nanoseconds: a line through two pairs, lengthened whenever it
 *  is re-anchored, so that the slope gets better the longer a session lasts. */
typedef struct wmi_clock {
    uint64_t tick0, ns0; /* first pair */
    uint64_t tick1, ns1; /* last pair: conversions start here */
    double ns_per_tick;  /* 0 while the monotonic clock stood still: every span is 0 */
    double pair_cost_ns; /* median of what an empty begin/end pair reads */
} wmi_clock;

/** Calibrate (about 3 ms), after choosing the timer with the first call that the
 *  process makes. Any thread.
 *  WM_EINVAL for an unknown WARPMETER_TIMER; WM_EUNSUPPORTED for tsc where there
 *  is none of constant rate. */
wm_status wmi_clock_init(wmi_clock *clock, wm_error *err);
/** Take a new pair; call when draining. */
void wmi_clock_anchor(wmi_clock *clock);
/** Ticks as CLOCK_MONOTONIC nanoseconds, and a difference of ticks as ns. */
int64_t wmi_clock_ns(const wmi_clock *clock, uint64_t ticks);
static inline double wmi_clock_span_ns(const wmi_clock *clock, uint64_t begin, uint64_t end) {
    return end > begin ? (double)(end - begin) * clock->ns_per_tick : 0.0;
}
/** "tsc", "cntvct" or "monotonic". Static. */
const char *wmi_clock_name(void);

#endif
