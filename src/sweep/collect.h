/** Calling collectors at their times, and keeping what they say. */
#ifndef WMI_SWEEP_COLLECT_H
#define WMI_SWEEP_COLLECT_H

#include "samples/collected.h"

struct wmi_point;

/** One collector of a sweep: the benchmark's own, or one of --collect. */
typedef struct wmi_own_collector {
    uint32_t number;                                                              /* in the samples */
    bool (*collect)(void *user, wm_state *st, const char *region, wm_value *out); /* NULL: from outside */
    void *user;
    char *variable; /* owned: `user` of env:NAME; NULL */
    bool again;     /* once more after the first measured run */
} wmi_own_collector;

typedef struct wmi_collecting {
    wmi_own_collector *v;
    size_t n, cap;
} wmi_collecting;

/** Copies of a benchmark's collectors, with their names; *out is NULL for none. WM_EINVAL: not made from
 *  WM_COLLECTOR_INIT, without a name, or with a scope that there is not; WM_ENOMEM. */
wm_status wmi_collectors_copy(const wm_collector *given, size_t count, wm_collector **out, wm_error *err);
void wmi_collectors_free(wm_collector *collectors, size_t count);

/** Declare a benchmark's collectors, and those of --collect. WM_EINVAL: a name that is not to be taken, or a
 *  word of --collect that is none; else as above. */
wm_status wmi_collecting_make(wm_sweep *sweep, const wm_collector *given, size_t count, wm_error *err);
/** Is a collector called as a parameter? WM_EINVAL names it. */
wm_status wmi_collecting_check(const wm_sweep *sweep, wm_error *err);
void wmi_collecting_fini(wmi_collecting *c);
/** Is one of them to be called for regions? Those of a run must be known after it then. */
bool wmi_collects_regions(const wm_sweep *sweep);

/** Call those that are due: before the first run of the sweep, before a run, after a measured one.
 *  WM_ENOMEM. */
wm_status wmi_collect_once(wm_sweep *sweep);
wm_status wmi_collect_before(wm_sweep *sweep, struct wmi_point *p);
wm_status wmi_collect_after(wm_sweep *sweep, struct wmi_point *p);

#endif
