/** What is measured: each metric asked for, the backend that knows it, and the
 *  passes of all backends merged into one list. */
#ifndef WMI_SESSION_MEASURE_H
#define WMI_SESSION_MEASURE_H

#include "backend/backend.h"
#include "session/sensing.h"

enum { WMI_BACKENDS_MAX = 8 };

/** Combine the values of several kernels, see wm_benchmark. */
typedef double (*wmi_combine_fn)(void *user, const char *metric, const double *values,
                                 const double *weights_ns, size_t count);

/** One metric that was asked for. */
typedef struct wmi_gauge {
    wmi_metric about;
    uint32_t metric; /* in the samples */
    uint32_t backend;
    uint32_t local; /* its number in the backend's own set */
    int32_t pass;   /* -1: cannot be had */
    wm_reason reason;
    const char *why; /* interned; NULL */
} wmi_gauge;

/** A pass over the program: at most one pass of each backend. Passes that leave
 *  the time alone come first and are shared; one that disturbs it stands alone. */
typedef struct wmi_joint_pass {
    bool disturbs, edges, deferred, optional;
    bool host; /* something of this machine's own is read in it */
    wmi_window_kind window;
    int32_t local[WMI_BACKENDS_MAX]; /* the backend's pass; -1: not in this one */
} wmi_joint_pass;

typedef struct wmi_source {
    const wmi_backend_ops *ops;
    void *self;
    const char **names; /* interned */
    uint32_t *gauges;   /* [count] number of the gauge */
    size_t count;
} wmi_source;

/** Entries of runs whose readings come later, and those that came. */
typedef struct wmi_late_entry {
    uint64_t id, batch;
    uint32_t node, parent; /* parent: index among these; UINT32_MAX */
    int32_t run;
    bool outlived; /* the entry around it ended first */
    bool failed;   /* its region was abandoned in this run */
} wmi_late_entry;
typedef struct wmi_deferred {
    wmi_late_entry *v;
    size_t n, cap;
    wmi_readings readings;
} wmi_deferred;

/** Runs whose records are still to be read (pending.c). */
typedef struct wmi_pending {
    struct wmi_pending_run *v;
    size_t n, cap;
    size_t entries; /* of all of them */
} wmi_pending;

typedef struct wmi_measure {
    wmi_gauge *gauges;
    size_t gauge_count;
    wmi_source sources[WMI_BACKENDS_MAX];
    size_t source_count;
    wmi_joint_pass *passes;
    size_t pass_count;
    uint32_t rule_gauge;    /* the metric that stop rules look at */
    int32_t time, time_sum; /* gauges of the clock's metrics; -1: not asked for */
    bool has_device;        /* some source is an accelerator's */
    bool device_clean;      /* what its kernels are is known from a pass of their times */
    bool keep_first;        /* first launches of kernels count */
    wmi_combine_fn combine_with;
    void *combine_user;
    wmi_window window;     /* the one that was opened last; its pass is the joint pass */
    wm_error failed;       /* of closing one before its time */
    wmi_deferred deferred; /* of the configuration at hand */
    wmi_pending pending;   /* the same */
    wmi_sensing *sensing;  /* NULL: the machine's state is not read */
    bool clocks_held;
} wmi_measure;

/** How it is measured. Borrowed for the call, but for `user`, `combine_with` and its user. */
typedef struct wmi_measure_opts {
    void (*warn)(void *user, const char *line); /* as for a backend */
    void *user;
    wmi_device_opts device;
    bool keep_first; /* first launches of kernels count */
    /* How several kernels of a region are to be combined for a metric; false: as usual. May be NULL. */
    bool (*combine_find)(const void *how, const char *metric, wmi_combine usual, wmi_combine *out);
    const void *combine_how;
    wmi_combine_fn combine_with; /* the program's own way; NULL */
    void *combine_user;
} wmi_measure_opts;

/** Resolve names, open the backends, plan.
 *  WM_ENOTFOUND: a name that no backend knows, with the nearest that one does; a backend's
 *  failure to open. */
wm_status wmi_measure_open(wmi_samples *samples, const char *const *names, size_t count,
                           const wmi_measure_opts *opts, wmi_measure **out, wm_error *err);
/** Forget pending runs. */
void wmi_pending_drop(wmi_pending *pending);
/** Does a backend know the metric? WM_OK, or what stands in its way. `chip` (const char *):
 *  for backends; NULL for this machine. */
wm_status wmi_measure_knows(void *chip, const char *name);
void wmi_measure_close(wmi_measure *m);
/** Begin to read the sensors of all open backends; wmi_measure_close ends it. WM_ENOMEM. */
wm_status wmi_measure_watch(wmi_measure *m, const wmi_sensing_opts *opts, wm_error *err);
/** Have the backends that can hold their devices' clocks do so, until they are released or closed.
 *  WM_EUNSUPPORTED: there is none; else what the backend says. */
wm_status wmi_measure_lock_clocks(wmi_measure *m, const wmi_clock_request *request, double *held_hz,
                                  wm_error *err);
void wmi_measure_unlock_clocks(wmi_measure *m);
/** Is this pass needed in this configuration, after all earlier ones? Closes the window of an
 *  earlier pass, since only then it is known; a failure of that is told by the next window. */
bool wmi_measure_wants(wmi_measure *m, int32_t pass, uint32_t config);
/** The first deferred pass, or pass_count. All later ones are deferred too. */
size_t wmi_measure_late(const wmi_measure *m);
/** Open the window that a run needs, closing another that is open, be it another measure's: the
 *  process must have been claimed. */
wm_status wmi_measure_window(wmi_measure *m, int32_t pass, uint32_t config, int32_t run, wm_error *err);
wm_status wmi_measure_window_close(wmi_measure *m, wm_error *err);

#endif
