#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool wmi_clock_counter;

enum { PAIR_TRIES = 16, COST_READINGS = 501, CALIBRATION_NS = 3000000, CALIBRATION_SLEEPS = 8 };

#if defined(__x86_64__)

static const char counter_name[] = "tsc";

/* Invariant means: the same rate in every power state, so that ticks are time
 * (leaf 0x80000007, EDX bit 8; Intel SDM 18.17.1, AMD APM 13.2.4). A process may
 * have forbidden itself the instruction. */
static bool counter_exists(void) {
    unsigned a, b, c, d = 0;
    int mode = PR_TSC_ENABLE;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8))) return false;
    return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

/* The kernel watches the counters of all cores against each other and drops them
 * as its clock source when they disagree. Where it does not say, they are not
 * trusted. */
static bool counter_trusted(void) {
    char text[16] = {0};
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && strcmp(text, "tsc\n") == 0;
}

#elif defined(__aarch64__)

static const char counter_name[] = "cntvct";
/* The architecture gives every core the same counter at a constant rate. */
static bool counter_exists(void) { return true; }
static bool counter_trusted(void) { return true; }

#else

static const char counter_name[] = "monotonic";
static bool counter_exists(void) { return false; }
static bool counter_trusted(void) { return false; }

#endif

const char *wmi_clock_name(void) {
    return __atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED) ? counter_name : "monotonic";
}

static wm_status choose_timer(bool *counter, wm_error *err) {
    const char *wish = getenv("WARPMETER_TIMER");
    if (!wish || !*wish) {
        *counter = counter_exists() && counter_trusted();
    } else if (strcmp(wish, "monotonic") == 0) {
        *counter = false;
    } else if (strcmp(wish, "tsc") == 0 || strcmp(wish, "cntvct") == 0) {
        *counter = strcmp(wish, counter_name) == 0 && counter_exists();
        if (!*counter)
            return wmi_error_set(
                err, WM_EUNSUPPORTED, 0,
                "WARPMETER_TIMER is %s, but this machine has no such counter of constant rate", wish);
    } else {
        return wmi_error_set(err, WM_EINVAL, 0, "WARPMETER_TIMER takes tsc or monotonic, not '%s'", wish);
    }
    return WM_OK;
}

/* The variable is read by every call, so that a wrong value is never passed over
 * in silence, but only the first good one decides: clocks already calibrated
 * depend on it. */
static wm_status choose_timer_once(wm_error *err) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool chosen;
    pthread_mutex_lock(&lock);
    bool counter;
    wm_status status = choose_timer(&counter, err);
    if (status == WM_OK && !chosen) {
        __atomic_store_n(&wmi_clock_counter, counter, __ATOMIC_RELAXED);
        chosen = true;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* A reading of the monotonic clock between two of the counter belongs to their
 * middle, give or take half their distance. Of several the tightest is kept: an
 * interrupt in between spoils only its own. */
static void take_pair(uint64_t *tick, uint64_t *ns) {
    if (!__atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED)) {
        *tick = *ns = wmi_monotonic_ns();
        return;
    }
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        uint64_t before = wmi_ticks();
        uint64_t now = wmi_monotonic_ns();
        uint64_t width = wmi_ticks() - before;
        if (width >= tightest) continue;
        tightest = width;
        *tick = before + width / 2;
        *ns = now;
    }
}

static double slope(const wmi_clock *c) {
    if (!__atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED)) return 1;
    if (c->tick1 <= c->tick0 || c->ns1 <= c->ns0) return 0;
    return (double)(c->ns1 - c->ns0) / (double)(c->tick1 - c->tick0);
}

void wmi_clock_anchor(wmi_clock *clock) {
    take_pair(&clock->tick1, &clock->ns1);
    clock->ns_per_tick = slope(clock);
}

static int compare_ticks(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double median_pair_ticks(void) {
    uint64_t cost[COST_READINGS];
    for (int i = 0; i < COST_READINGS; i++) {
        uint64_t begin = wmi_ticks();
        uint64_t end = wmi_ticks();
        cost[i] = end > begin ? end - begin : 0;
    }
    qsort(cost, COST_READINGS, sizeof cost[0], compare_ticks);
    uint64_t median = cost[COST_READINGS / 2];
    return (double)median;
}

/* Sleeping, rather than watching the clock, also ends when the clock stands
 * still; the number of sleeps is bounded because signals may cut them short. */
static void calibrate(wmi_clock *c) {
    const struct timespec span = {0, CALIBRATION_NS};
    take_pair(&c->tick0, &c->ns0);
    for (int i = 0; i < CALIBRATION_SLEEPS; i++) {
        nanosleep(&span, NULL);
        wmi_clock_anchor(c);
        if (c->ns1 - c->ns0 >= CALIBRATION_NS) break;
    }
}

wm_status wmi_clock_init(wmi_clock *clock, wm_error *err) {
    wm_status status = choose_timer_once(err);
    if (status != WM_OK) return status;
    wmi_clock c = {0};
    if (__atomic_load_n(&wmi_clock_counter, __ATOMIC_RELAXED))
        calibrate(&c);
    else
        take_pair(&c.tick0, &c.ns0);
    wmi_clock_anchor(&c);
    c.pair_cost_ns = median_pair_ticks() * c.ns_per_tick;
    *clock = c;
    return WM_OK;
}

int64_t wmi_clock_ns(const wmi_clock *clock, uint64_t ticks) {
    double past = (double)(int64_t)(ticks - clock->tick1) * clock->ns_per_tick;
    return (int64_t)clock->ns1 + (int64_t)past;
}
