/** backend/cpu/: wall time, thread time and perf events. The clock itself is
 *  read by the core: here are its description and the pass that stays clean for
 *  it. Thread time and perf events are read at the edges of entries, in passes
 *  of their own. Includes base/, samples/ and backend/backend.h. */
#ifndef WMI_BACKEND_CPU_CPU_H
#define WMI_BACKEND_CPU_CPU_H

#include <pthread.h>

#include "backend/backend.h"
#include "backend/cpu/perf_events.h"
#include "backend/cpu/perf_names.h"
#include "backend/cpu/perf_reason.h"

/* ---- metrics (metrics.c) ---- */

typedef enum wmi_cpu_kind {
    WMI_CPU_CLOCK = 0,   /* time, time_sum: the core takes them */
    WMI_CPU_THREAD_TIME, /* cpu_time */
    WMI_CPU_EVENT        /* a perf event */
} wmi_cpu_kind;

/** What a name stands for. `event` (may be NULL) is set for WMI_CPU_EVENT. perf's
 *  names come first, then libpfm4's.
 *  WM_ENOTFOUND, saying where it was looked for. */
wm_status wmi_cpu_lookup(const char *name, wmi_cpu_kind *kind, wmi_metric *metric, wmi_perf_event *event,
                         wm_error *err);
/** List names that match the pattern; availability is what `sys` answers. A
 *  pattern without wildcards is looked up as a name. */
wm_status wmi_cpu_list(const wmi_perf_sys *sys, const char *pattern, const wmi_metric_list *list,
                       wm_error *err);
/** Findings for doctor (probe.c). */
void wmi_cpu_probe(const wmi_perf_sys *sys, wmi_probe *out);

/* ---- passes (plan.c) ---- */

/** One pass: what is read at each edge. Hardware events come first and are one
 *  group; software events are another, which never waits for a counter. */
typedef struct wmi_cpu_pass {
    wmi_cpu_kind kind;
    struct perf_event_attr *attrs; /* [count] of WMI_CPU_EVENT */
    uint32_t *metrics;             /* [count] index into the set */
    size_t count, hardware;
} wmi_cpu_pass;

/** How many words a reading of the pass takes. */
size_t wmi_cpu_pass_words(const wmi_cpu_pass *pass);

typedef struct wmi_cpu_passes {
    wmi_cpu_pass *v;
    size_t n;
} wmi_cpu_passes;
void wmi_cpu_passes_free(wmi_cpu_passes *passes);

/** Whether kernel code had to be left out, since the system does not permit to
 *  count it. Holds for all events, so that ratios are of like with like. */
typedef struct wmi_cpu_modes {
    bool user_only;
} wmi_cpu_modes;

/** Distribute the set; both `passes` and `plan` are filled, pass by pass. Events
 *  are tried on the calling thread. */
wm_status wmi_cpu_plan(const wmi_perf_sys *sys, const wmi_metric_set *set, wmi_cpu_modes *modes,
                       wmi_cpu_passes *passes, wmi_plan *plan, wm_error *err);

/** Can the event be had? It is opened alone. Where kernel code is not permitted,
 *  and was not asked for, it is left out of *event and modes->user_only is set.
 *  Otherwise the reason, with a line of text in `why` and what to do in `remedy`. */
wm_reason wmi_cpu_check(const wmi_perf_sys *sys, wmi_cpu_modes *modes, wmi_perf_event *event, wmi_buf *why,
                        wmi_buf *remedy);

/* ---- threads (threads.c) ---- */

/** The counters of every thread that marked, and what they read. */
typedef struct wmi_cpu_threads wmi_cpu_threads;
wmi_cpu_threads *wmi_cpu_threads_create(const wmi_perf_sys *sys); /* NULL when out of memory */
void wmi_cpu_threads_destroy(wmi_cpu_threads *t);
/** From now on edges read `pass`, which is borrowed until the window closes. */
void wmi_cpu_threads_open(wmi_cpu_threads *t, const wmi_cpu_pass *pass);
/** Close all counters. What was read stays until it is drained. */
void wmi_cpu_threads_close(wmi_cpu_threads *t);
/** Read at a begin or an end, on the thread that marks. */
void wmi_cpu_threads_edge(wmi_cpu_threads *t, const wmi_mark *mark);
/** Hand over; entries that are still open are forgotten, and counters of threads
 *  that have ended are closed. WM_ENOMEM also when an edge ran out of memory. */
wm_status wmi_cpu_threads_drain(wmi_cpu_threads *t, wmi_readings *out, wm_error *err);

/* ---- the backend over any kernel, for tests ---- */

wm_status wmi_cpu_open(const wmi_perf_sys *sys, const wmi_backend_opts *opts, void **self, wm_error *err);

#endif
