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

/** What the clean pass saw in a configuration, per run. */
typedef struct wmi_replay_survey {
    double kernels_in, kernels_out; /* in regions, outside */
    double regions;                 /* outermost entries that launched kernels */
    double runs;
} wmi_replay_survey;

/** What one window, and one kernel in it, cost [ms]: by whether SM counters are read or
 *  those of memory alone. Measured on an H200; ratios travel. */
typedef struct wmi_replay_costs {
    double window_ms, kernel_ms;
} wmi_replay_costs;

/** Is a window for each region cheaper than one over all runs? Pure. */
bool wmi_replay_windows_cheaper(const wmi_replay_survey *survey, const wmi_replay_costs *costs,
                                size_t passes);
/** Index of the first launch that differs (function, grid, block, shared memory, stream,
 *  thread, kind), or SIZE_MAX when both are the same and as long. Pure. */
size_t wmi_replay_difference(const wmi_shape *a, size_t na, const wmi_shape *b, size_t nb);

typedef struct wmi_replay_plan wmi_replay_plan;

/** Plan `names` (chip metrics, in order) on the chip. Adds the counter passes to `out`, after
 *  those that are there; they are disturbing and deferred. *pass of each metric goes to
 *  out->pass_of[metric_of[i]]. Metrics that cannot be counted have reason and text there. */
wm_status wmi_replay_plan_make(wmi_chip *chip, const char *const *names, const uint32_t *metric_of,
                               size_t count, const wmi_device_opts *opts, wmi_plan *out,
                               wmi_replay_plan **made, wm_error *err);
void wmi_replay_plan_destroy(wmi_replay_plan *p);

/* The windows; `pass` counts the plan's own passes from 0. */
wm_status wmi_replay_open(wmi_replay_plan *p, int32_t pass, const wmi_window *w,
                          const wmi_replay_survey *survey, wm_error *err);
wm_status wmi_replay_close(wmi_replay_plan *p, int32_t pass, const wmi_window *w, wm_error *err);
void wmi_replay_edge(wmi_replay_plan *p, const wmi_mark *mark);
bool wmi_replay_wants(const wmi_replay_plan *p, int32_t pass, uint32_t config);
/** Readings of windows that were completed since the last call. */
wm_status wmi_replay_drain(wmi_replay_plan *p, wmi_readings *out, wm_error *err);

#endif
