/** The passes in which counters are read: how they are planned, what each window does, and
 *  whether the program launched the same kernels in each of them.
 *
 *  Stacked: one window over all runs of a configuration and pass; every kernel in it is a
 *  range, those outside regions too. Window: one for each region entered, which needs a
 *  configuration of one pass (else one for each run). Which is cheaper depends on how many
 *  kernels run outside regions, which the clean pass has counted. Sequences of launches are
 *  compared between passes: from the first difference to the end of the window values are
 *  null, or, under auto, the configuration is run once more with the driver replaying each
 *  kernel. */
#ifndef WMI_BACKEND_CUDA_REPLAY_H
#define WMI_BACKEND_CUDA_REPLAY_H

#include "backend/backend.h"
#include "backend/cuda/counters.h"
#include "backend/cuda/launches.h"

/* ---- what windows cost (replay_costs.c), pure ---- */

/** What the clean pass saw in a configuration, per run. Launches of kernels and of graphs. */
typedef struct wmi_replay_survey {
    double kernels_in, kernels_out; /* in regions, outside */
    double regions;                 /* outermost entries that launched kernels */
    double graphs;                  /* launches of graphs, which are no ranges of their own */
    double most;                    /* the most kernels in one run; 0: as many as in each */
    double runs;                    /* in each counter pass */
    const double *kernels_of;       /* [context_count] of each context, by its number in the logs;
                                       NULL: not known */
    size_t context_count;
} wmi_replay_survey;

/** What one window, and one kernel in it, cost [ms]. Measured on an H200; ratios travel. */
typedef struct wmi_replay_costs {
    double window_ms, kernel_ms;
    double room_ms; /* of each range that a window has room for, once */
} wmi_replay_costs;

/** Of counting these metrics together: of the dearest kind among them (time alone, units of the
 *  multiprocessors, units of memory), as the unit in front of "__" says. */
wmi_replay_costs wmi_replay_costs_of(const char *const *names, size_t count);
/** What all runs cost [ms] in one window for each pass; with a window of one pass for each run; and
 *  with one for each region. */
double wmi_replay_stacked_ms(const wmi_replay_survey *survey, wmi_replay_costs costs, size_t passes);
double wmi_replay_runs_ms(const wmi_replay_survey *survey, wmi_replay_costs costs);
double wmi_replay_regions_ms(const wmi_replay_survey *survey, wmi_replay_costs costs);

/* ---- comparing passes (replay_compare.c), pure ---- */

/** Number streams and threads by their first launch, from 0: a program that makes them anew in
 *  each run is the same program. False when out of memory: nothing was changed. */
bool wmi_replay_renumber(wmi_shape *shapes, size_t count);
/** Index of the first launch that differs (function, grid, block, shared memory, stream,
 *  thread, kind), or SIZE_MAX when both are the same and as long. */
size_t wmi_replay_difference(const wmi_shape *a, size_t na, const wmi_shape *b, size_t nb);

/* ---- plan and windows ---- */

typedef struct wmi_replay_plan wmi_replay_plan;

/** What a plan needs. Structures are copied; what they point to is borrowed as long as the plan
 *  lives. */
typedef struct wmi_replay_how {
    /* `device`, `launch_entry`, `warn` and `user` are used. `warn` is also called from a thread of
     * our own, while the controlling one is in the program: of kernels that wait for each other. */
    const wmi_backend_opts *opts;
    /* Before launches in counter windows, as in wmi_launch_hooks; may be NULL. `apart`: what it
     * launches itself must be no part of the range at hand. True: it launched wmi_cold_kernel in the
     * program's context, which is a range, but none of the program's. */
    bool (*before)(void *user, const wmi_cuda_context *context, const wmi_shape *shape, bool apart);
    void *user; /* of `before` */
} wmi_replay_how;

/** Plan `names` (chip metrics, in order) on the chip. Adds the counter passes to `out`, after
 *  those that are there; they are disturbing and deferred. *pass of each metric goes to
 *  out->pass_of[metric_of[i]]: the last one that it needs. Metrics that cannot be counted have
 *  reason and text there. Needs no device. *made is NULL when nothing can be counted. */
wm_status wmi_replay_plan_make(wmi_chip *chip, const char *const *names, const uint32_t *metric_of,
                               size_t count, const wmi_replay_how *how, wmi_plan *out, wmi_replay_plan **made,
                               wm_error *err);
void wmi_replay_plan_destroy(wmi_replay_plan *p);

/* The windows; `pass` counts the plan's own passes from 0. Without counters (not permitted, busy)
 * a window still is WM_OK: the readings say why they have no value. */

/** survey: of the configuration; NULL when nothing is known. */
wm_status wmi_replay_open(wmi_replay_plan *p, int32_t pass, const wmi_window *w,
                          const wmi_replay_survey *survey, wm_error *err);
wm_status wmi_replay_close(wmi_replay_plan *p, int32_t pass, const wmi_window *w, wm_error *err);
/** Any thread. */
void wmi_replay_edge(wmi_replay_plan *p, const wmi_mark *mark);
bool wmi_replay_wants(const wmi_replay_plan *p, int32_t pass, uint32_t config);
/** Readings of windows that were completed since the last call. The clock is read once, whatever
 *  the number of passes. */
wm_status wmi_replay_drain(wmi_replay_plan *p, wmi_readings *out, wm_error *err);

#endif
