/** The parts of replay.h's plan, private to its files: replay_plan.c plans; replay.c opens and
 *  closes the core's windows; replay_windows.c starts and stops counters; replay_edges.c does so
 *  at the marks of regions; replay_readings.c makes readings of ranges; replay_watch.c looks out
 *  for kernels that wait for each other. */
#ifndef WMI_BACKEND_CUDA_REPLAY_PARTS_H
#define WMI_BACKEND_CUDA_REPLAY_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/cuda/context_wait.h"
#include "backend/cuda/replay.h"

/** Metrics that are counted together. */
typedef struct wmi_replay_set {
    const wmi_chip_config *config; /* those asked for first, then what is read beside them */
    uint32_t *metric;              /* [asked] their numbers in the core's plan */
    size_t asked;
    size_t time, clock; /* where in the configuration; SIZE_MAX: not read */
} wmi_replay_set;

typedef enum wmi_replay_way {
    WMI_WAY_STACKED = 0, /* a window of the core's is one of the counters */
    WMI_WAY_DRIVER,      /* so it is, and the driver replays each kernel */
    WMI_WAY_REGIONS,     /* one of the counters for each outermost region; one-pass configurations */
    WMI_WAY_RANGES       /* push and pop at the marks of outermost regions */
} wmi_replay_way;

/** What becomes of a launch. */
typedef struct wmi_replay_fate {
    uint32_t range; /* in the counters of its context */
    uint8_t reason; /* a wm_reason: it has no values */
} wmi_replay_fate;

/** The counters of one context, by its number in the launch log. */
typedef struct wmi_replay_slot {
    wmi_counters *counters; /* NULL: not made yet, or they cannot be had */
    wm_reason reason;       /* why they do not count in the sequence at hand */
    bool for_ever;          /* nor will they later */
    bool used;              /* in the sequence at hand */
    size_t mapped;          /* ranges that have their launches already */
} wmi_replay_slot;

/** An outermost region in WMI_WAY_RANGES. */
typedef struct wmi_replay_range {
    uint64_t entry;
    uint32_t range;
    uint8_t reason; /* a wm_reason: it has no values, whatever the range says */
} wmi_replay_range;

/** An entry without values. */
typedef struct wmi_replay_uncovered {
    uint64_t entry;
    wm_reason reason;
} wmi_replay_uncovered;

typedef struct wmi_replay_watch wmi_replay_watch;

struct wmi_replay_plan {
    /* fixed by the plan */
    wmi_chip *chip;
    wmi_backend_opts opts;
    bool (*before)(void *user, const wmi_cuda_context *context, const wmi_shape *shape, bool apart);
    void *before_user;
    const char **names; /* [count] those that can be counted */
    uint32_t *metric_of;
    size_t count;
    wmi_replay_set all;
    wmi_replay_set *split; /* one-pass configurations that hold all metrics; NULL: there are none */
    size_t split_count;
    bool split_tried;
    size_t passes;    /* but for the fallback */
    int32_t fallback; /* its pass; -1: none */
    wmi_window_kind window;

    pthread_mutex_t lock; /* over all that follows: marks come from any thread */

    /* the sequence of passes at hand: the same key, pass after pass */
    bool at_work;
    uint32_t config;
    int32_t run; /* of windows for each run */
    int32_t next;
    _Atomic wmi_replay_way way;
    bool by_run;               /* in WMI_WAY_REGIONS: a window around each run of the function */
    bool graphs;               /* graphs are launched */
    wmi_replay_set const *set; /* NULL: nothing is left to count in this pass */
    wmi_replay_slot *slots;
    size_t slot_count;
    wmi_shape *first; /* launches of the first pass */
    size_t first_count, first_pushes;
    size_t differs;  /* the first launch that differs between passes; SIZE_MAX */
    bool mismatched; /* in some window there were not as many ranges as launches */
    bool clock_read;
    wmi_readings pending; /* of the sequence */

    /* the pass at hand */
    wmi_shape *shapes;
    size_t shape_count, shape_cap;
    wmi_replay_fate *fates; /* [shape_count] */
    wmi_replay_range *ranges;
    size_t range_count, range_cap, pushes;
    wmi_replay_uncovered *uncovered;
    size_t uncovered_count, uncovered_cap;

    /* the window at hand */
    bool window_open, counting;
    bool short_of_memory; /* something was not noted */
    wmi_launch_hooks hooks;
    bool *readers; /* for each launch, whether wmi_cold_kernel ran before it */
    size_t reader_count, reader_cap;
    bool reader_met;

    /* marks */
    uint32_t *depth; /* [thread] regions that are open in it */
    size_t depth_count;
    size_t threads_in; /* threads in an outermost region */
    bool left_open;    /* what the last one left could not be closed, because a stream was captured */
    bool passed_over;  /* the regions at hand are not counted, for the same reason */
    bool whole_counts; /* the whole function is a region too */

    /* results, and what was learnt */
    wmi_readings ready;
    uint32_t *due; /* configurations that need the fallback */
    size_t due_count, due_cap;
    size_t most; /* kernels in a window, where nothing was learnt before */
    bool hung;   /* kernels waited for each other: counters are off for good */
    bool warned_of_graphs;
    _Atomic bool warned_of_waiting;
    wmi_replay_watch *watch; /* NULL while no window is open */
    wmi_context_wait *wait;  /* NULL: not needed so far */
};

/* replay_plan.c */

/** Find one-pass configurations, at most `passes`; once. p->split stays NULL when there are none. */
wm_status wmi_replay_split(wmi_replay_plan *p, wm_error *err);

/* replay_windows.c */

/** Make room for one more; the new array, or NULL when out of memory. */
void *wmi_replay_room(void *v, size_t n, size_t *cap, size_t size);
/** Ready the counters of all contexts for p->set. WM_ENOMEM alone. */
wm_status wmi_replay_slots_begin(wmi_replay_plan *p, const wmi_replay_survey *survey, wm_error *err);
/** Give up what the slots were at. */
void wmi_replay_slots_end(wmi_replay_plan *p);
/** Open and close a window of the counters and of the launch log, whose launches are added to
 *  those of the pass. WM_ENOMEM alone. */
void wmi_replay_window_start(wmi_replay_plan *p);
wm_status wmi_replay_window_stop(wmi_replay_plan *p, wm_error *err);
/** Find the ranges of launches `from` and after, those of the window that was closed last. */
wm_status wmi_replay_map(wmi_replay_plan *p, size_t from, wm_error *err);
/** Does it count now? */
bool wmi_replay_counts(const wmi_replay_slot *slot);
/** Wait for all contexts that are counted; false when they did not come to rest: the counters are
 *  off then. */
bool wmi_replay_rested(wmi_replay_plan *p);
/** Tell of a failure; keep its reason in the slot. */
void wmi_replay_slot_failed(wmi_replay_plan *p, wmi_replay_slot *slot, wm_status status, const wm_error *why);

/* replay_edges.c */

/** Close what a region has left open. WM_ENOMEM. */
wm_status wmi_replay_leave_all(wmi_replay_plan *p, wm_error *err);

/* replay_readings.c */

/** Add readings of the pass at hand to the pending ones. WM_ENOMEM. */
wm_status wmi_replay_read(wmi_replay_plan *p, wm_error *err);

/* replay_watch.c */

/** Look, from a thread of its own, whether a launch takes longer than hang_ns. NULL when the thread
 *  cannot be made: nobody looks then. */
wmi_replay_watch *wmi_replay_watch_start(const wmi_backend_opts *opts, _Atomic bool *warned);
/** NULL is fine. */
void wmi_replay_watch_stop(wmi_replay_watch *w);
/** Warn of kernels that wait for each other, unless that was done. kernel: the binary name of the
 *  one that does not end; "" when not known. */
void wmi_replay_warn_of_waiting(const wmi_backend_opts *opts, _Atomic bool *warned, const char *kernel);

#endif
