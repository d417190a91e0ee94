/** What is measured: each metric asked for, the backend that knows it, and the
 *  passes of all backends merged into one list. */
#ifndef WMI_SESSION_MEASURE_H
#define WMI_SESSION_MEASURE_H

#include "backend/backend.h"

enum { WMI_BACKENDS_MAX = 8 };

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
    bool disturbs, edges;
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

typedef struct wmi_measure {
    wmi_gauge *gauges;
    size_t gauge_count;
    wmi_source sources[WMI_BACKENDS_MAX];
    size_t source_count;
    wmi_joint_pass *passes;
    size_t pass_count;
    uint32_t rule_gauge;    /* the metric that stop rules look at */
    int32_t time, time_sum; /* gauges of the clock's metrics; -1: not asked for */
    bool window_open;
    wmi_window window; /* the one that is open; its pass is the joint pass */
} wmi_measure;

/** Resolve names, open the backends, plan. `warn` as for a backend.
 *  WM_ENOTFOUND: a name that no backend knows, with the nearest that one does. */
wm_status wmi_measure_open(wmi_samples *samples, const char *const *names, size_t count,
                           void (*warn)(void *user, const char *line), void *user, wmi_measure **out,
                           wm_error *err);
void wmi_measure_close(wmi_measure *m);
/** Open the window that a run needs, closing another that is open. */
wm_status wmi_measure_window(wmi_measure *m, int32_t pass, uint32_t config, int32_t run, wm_error *err);
wm_status wmi_measure_window_close(wmi_measure *m, wm_error *err);

#endif
