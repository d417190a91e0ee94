/** Groups of perf events of one thread: open, read, scale. */
#ifndef WMI_BACKEND_CPU_PERF_EVENTS_H
#define WMI_BACKEND_CPU_PERF_EVENTS_H

#include "backend/cpu/perf_sys.h"
#include "base/error.h"

/** Events that are counted together or not at all. What a read gives is kept as
 *  words: WMI_PERF_ENABLED, WMI_PERF_RUNNING, then a count for each event. */
typedef struct wmi_perf_group {
    const wmi_perf_sys *sys;
    size_t count, cap;
    int *fds;         /* [cap] */
    uint64_t *ids;    /* [cap] the kernel's names for them */
    uint64_t *buffer; /* what read() fills */
} wmi_perf_group;
enum { WMI_PERF_ENABLED = 0, WMI_PERF_RUNNING = 1, WMI_PERF_FIRST = 2 };

/** An empty group with room for `cap` events. False when out of memory. */
bool wmi_perf_group_init(wmi_perf_group *g, const wmi_perf_sys *sys, size_t cap);
/** Closes the events and frees the rest. */
void wmi_perf_group_fini(wmi_perf_group *g);
/** Add an event of the calling thread; the first one leads the group, which stays
 *  off until it is started. Returns 0 or an errno; the group is as it was then. */
int wmi_perf_group_add(wmi_perf_group *g, const struct perf_event_attr *attr);
/** Add an event if the group then still runs; otherwise it is left as it was. May
 *  wait 10 ms for it to run. */
bool wmi_perf_group_grow(wmi_perf_group *g, const struct perf_event_attr *attr);
/** Start counting. Returns 0 or an errno. */
int wmi_perf_group_start(wmi_perf_group *g);
/** Read into words[WMI_PERF_FIRST + count]. Returns 0 or an errno. */
int wmi_perf_group_read(wmi_perf_group *g, uint64_t *words);
/** Close all events; the group is empty and can be filled again. */
void wmi_perf_group_close(wmi_perf_group *g);

/** Can the event be opened for the calling thread? Returns 0 or an errno. */
int wmi_perf_try(const wmi_perf_sys *sys, const struct perf_event_attr *attr);

/** The count of a whole stretch from that of the part in which the event was on a
 *  counter: count * enabled / running. WM_REASON_NOT_COUNTED when it never was. */
wm_reason wmi_perf_scale(uint64_t count, uint64_t enabled, uint64_t running, double *out);

#endif
