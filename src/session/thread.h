/** A thread that marks, and its ring. The ring has one producer, the thread, and
 *  one consumer, the session's controlling thread after the run.
 *
 *  Every run has a new epoch. A thread that marks compares its epoch with the
 *  process's and starts its ring, its stack anew when they differ,
 *  so that nothing has to be told to it: marks of an earlier run that came late are
 *  simply overwritten. The ring starts at its first slot in every run, so that a
 *  run with few marks keeps few cache lines busy. */
#ifndef WMI_SESSION_THREAD_H
#define WMI_SESSION_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "session/session.h"

enum { WMI_DEPTH_MAX = 256 };
#define WMI_ROOT_NAME   0x7fffffffu /* the whole function */
#define WMI_BATCH_NAME  0x7ffffffeu /* ticks holds the repetitions of entry seq */
#define WMI_OWN_NAME    0x7ffffffdu /* ticks holds a time that belongs to no open entry of the thread */
#define WMI_FAILED_NAME 0x7ffffffcu /* entry seq is about to be left by a failure */
#define WMI_END_BIT     0x80000000u
#define WMI_NO_SEQ      UINT32_MAX
#define WMI_OPEN_ROOT   (1ull << 63)

typedef struct wmi_ring_mark {
    uint64_t ticks;
    uint32_t name; /* interned; WMI_END_BIT for an end */
    uint32_t seq;  /* of the entry in its thread and run; WMI_NO_SEQ: an end without a begin */
} wmi_ring_mark;

typedef struct wmi_open {
    uint32_t name, seq;
} wmi_open;

/* What is shown of an open entry. */
typedef struct wmi_open_range {
    uint64_t range;
    uint32_t seq;
} wmi_open_range;

typedef struct wmi_thread {
    /* the thread's own */
    uint32_t seq, depth, too_deep;
    bool told;                /* somebody is told of every mark: backends, or a tool that listens */
    const wmi_measure *edges; /* NULL: no backend wants edges in this pass */
    int32_t pass;
    wmi_shown shown;
    wmi_open stack[WMI_DEPTH_MAX];
    uint32_t range_count; /* of open entries; nothing else than what is shown needs them */
    wmi_open_range ranges[WMI_DEPTH_MAX];
    /* read by the consumer */
    wmi_ring_mark *ring;
    uint32_t capacity;
    uint32_t index; /* in the process, from 0 */
    _Atomic uint32_t epoch, count, dropped;
    _Atomic uint32_t first; /* seq of the first entry of this run: they go on over runs */
    _Atomic bool in_edge;   /* inside a backend's edge: the run must not end */
    _Atomic uint64_t open;  /* the innermost open entry, for other threads: its seq + 1, and
                               WMI_OPEN_ROOT if it is the whole function; 0 for none */
    /* under the registry's lock */
    bool exited;
    struct wmi_thread *next;
} wmi_thread;

extern _Atomic uint32_t wmi_epoch; /* of the run at hand; 0 before the first */

/** The calling thread, ready for the run at hand; NULL when memory ran out. */
wmi_thread *wmi_thread_self(void);
void wmi_thread_begin(wmi_thread *t, uint32_t name);
void wmi_thread_end(wmi_thread *t, uint32_t name);
/** End the innermost entry of that name, which held `count` repetitions. */
void wmi_thread_end_batch(wmi_thread *t, uint32_t name, uint32_t count, uint64_t ticks);
/** Id of the innermost open entry of the calling thread; WMI_NO_ENTRY for none or
 *  the whole function. */
uint64_t wmi_thread_innermost(void);

/* What the core offers to backends: see wmi_backend_opts. */

/** The entry (WMI_ROOT_ENTRY set for a whole function) that work belongs to which the calling thread gives to
 * a device: the innermost open one of this thread, the whole function too. A thread that has none open works
 * for another: in WMI_SCOPE_PROCESS its work belongs to the only open entry of the process (those of whole
 * functions only if there is no other), else to WMI_AMBIGUOUS_ENTRY. WMI_NO_ENTRY: no run is at hand, or
 * nothing is open. */
uint64_t wmi_launch_entry(wmi_scope scope);
/** A number of the run at hand that differs from those of the 65,534 runs before it; never 0. Any thread. */
uint16_t wmi_run_number(void);
/** What the calling thread did from `begin` to `end` is not the program's: it is taken out of
 *  the time of all entries that are open in this thread. */
void wmi_thread_exclude(uint64_t begin, uint64_t end);

/** The id of a thread's entry: unique in a run, rising in a thread. */
static inline uint64_t wmi_entry_id(const wmi_thread *t, uint32_t seq) {
    return (uint64_t)t->index << 32 | seq;
}

/* For the controlling thread. The rings belong to a run, and no other can begin, from
 * wmi_threads_claim until wmi_threads_release. */

/** Let no other run begin. WM_EBUSY if one is at hand, or in a forked child. */
wm_status wmi_threads_claim(void);
/** Publish the run that was claimed: marks are taken from now on, and shown as s->shown says. */
void wmi_threads_open(const wm_session *s, const wmi_measure *m, int32_t pass);
/** Take no more marks. */
void wmi_threads_close(void);
/** Call `visit` with each thread that marked in the run at hand, under the registry's lock. */
wm_status wmi_threads_visit(wm_status (*visit)(void *user, const wmi_thread *t), void *user);
/** Did any thread mark a region in the run at hand? */
bool wmi_threads_marked(void);
/** Marks of the run at hand by threads for which there was no memory. */
uint32_t wmi_threads_lost(void);
/** The run was read, or is given up: threads that have ended are freed. */
void wmi_threads_release(void);

#endif
