/** backend/: ways to measure. The seam is wmi_backend_ops; registry.c holds the
 *  one table of backends, and build-time conditions live only there. A backend
 *  is a folder of its own and may include base/, samples/ and machine/. */
#ifndef WMI_BACKEND_BACKEND_H
#define WMI_BACKEND_BACKEND_H

#include "base/text.h"
#include "samples/samples.h"

/** A begin or an end of an entry, as backends see it. */
typedef struct wmi_mark {
    bool end;
    uint32_t name;   /* interned */
    uint32_t thread; /* index of the thread in the session */
    uint64_t entry;  /* id of the entry: thread << 32 | sequence */
    uint64_t ticks;
} wmi_mark;

/** One value that a backend read for one entry. The core maps entries to regions
 *  and combines those of a run. metric: index into the plan's metric list. */
typedef struct wmi_reading {
    uint64_t entry;
    uint32_t metric;
    wm_reason reason; /* set: no value */
    double value;
} wmi_reading;
typedef struct wmi_readings {
    wmi_reading *v;
    size_t n, cap;
} wmi_readings;
/** Append; false when out of memory. */
bool wmi_readings_add(wmi_readings *r, wmi_reading reading);
void wmi_readings_free(wmi_readings *r);

typedef enum wmi_window_kind {
    WMI_WINDOW_SWEEP = 0,
    WMI_WINDOW_CONFIG,
    WMI_WINDOW_RUN,
    WMI_WINDOW_REGION
} wmi_window_kind;
typedef struct wmi_window {
    wmi_window_kind kind;
    int32_t pass; /* the backend's own pass number */
    uint32_t config;
    int32_t run;
} wmi_window;

/** What the warm-up saw, for a plan. */
typedef struct wmi_survey {
    uint64_t entries_per_run;
    double run_ns;
    uint32_t threads;
} wmi_survey;

/** What a session asks of a backend: those of its metrics that were named. */
typedef struct wmi_metric_set {
    const char *const *names;
    size_t count;
} wmi_metric_set;

/** One pass of a backend's plan. */
typedef struct wmi_pass {
    wmi_window_kind window;
    bool disturbs; /* time taken during it is not the program's own */
    bool edges;    /* `edge` must be called at every mark */
    bool poll;
} wmi_pass;
typedef struct wmi_plan {
    wmi_pass *passes; /* pass 0 of the CPU backend is the clean one: the clock alone */
    size_t pass_count;
    int32_t *pass_of;  /* [count of the set] the pass that reads metric i; -1: cannot be had */
    wm_reason *reason; /* [count] why not, for -1 */
    char **why;        /* [count] one line of text, or NULL */
    size_t metric_count;
} wmi_plan;
/** Allocate the arrays of a plan for `metrics`; all zeros. */
wm_status wmi_plan_init(wmi_plan *plan, size_t metrics, wm_error *err);
wm_status wmi_plan_add_pass(wmi_plan *plan, wmi_pass pass, int32_t *index, wm_error *err);
void wmi_plan_free(wmi_plan *plan);

/** One line about what is here: for doctor. */
typedef enum wmi_state { WMI_STATE_OK = 0, WMI_STATE_LIMITED, WMI_STATE_ABSENT } wmi_state;
typedef struct wmi_finding {
    const char *component; /* static: "cpu", "perf", "formulas" */
    const char *item;      /* static */
    wmi_state state;
    char value[256];
    char reason[256];
    char remedy[256];
} wmi_finding;
typedef struct wmi_probe {
    wmi_finding *v;
    size_t n, cap;
    bool failed; /* memory ran out */
} wmi_probe;
/** Append a finding; texts are printf-formatted "value", then reason and remedy
 *  as they are ("" for none). */
void wmi_probe_add(wmi_probe *p, const char *component, const char *item, wmi_state state, const char *reason,
                   const char *remedy, const char *value_fmt, ...) WM_PRINTF(7, 8);
void wmi_probe_free(wmi_probe *p);

/** A listing of metrics. `add` copies. */
typedef struct wmi_metric_list {
    void *user;
    wm_status (*add)(void *user, const wmi_metric *m, bool available, const char *why_not);
} wmi_metric_list;

typedef struct wmi_backend_opts {
    const wmi_metric_set *set;
    void (*warn)(void *user, const char *line); /* on the controlling thread; may be NULL */
    void *user;
} wmi_backend_opts;

/** A backend. All calls are made on the controlling thread but for `mark` and
 *  `edge`, which are made on the thread that marks. */
typedef struct wmi_backend_ops {
    const char *name;
    /** What is here, what not, why. May load libraries; makes no device context. */
    void (*probe)(wmi_probe *out);
    /** Describe the metric `name`: WM_OK (known, whether or not it can be counted
     *  here), WM_ENOTFOUND (not one of this backend's). *out borrows static or
     *  interned text. */
    wm_status (*describe)(const char *name, wmi_metric *out, wm_error *err);
    /** List metrics whose names match the shell pattern (NULL: all). */
    wm_status (*list)(const char *pattern, const wmi_metric_list *list, wm_error *err);
    wm_status (*open)(const wmi_backend_opts *opts, void **self, wm_error *err);
    /** Distribute the set over passes. `survey` NULL: before anything ran. */
    wm_status (*plan)(void *self, const wmi_metric_set *set, const wmi_survey *survey, wmi_plan *out,
                      wm_error *err);
    wm_status (*open_window)(void *self, const wmi_window *w, wm_error *err);
    wm_status (*close_window)(void *self, const wmi_window *w, wm_error *err);
    /** Passes without `edges`: no allocation, lock, system call or log. May be NULL. */
    void (*mark)(void *self, const wmi_mark *mark);
    /** Passes with `edges`: may block, may fail (then that entry has no value, with
     *  a reason). Called before the clock at a begin and after it at an end. May be
     *  NULL. */
    void (*edge)(void *self, const wmi_mark *mark);
    wm_status (*poll)(void *self, wmi_readings *out, wm_error *err); /* may be NULL */
    /** Hand over what was read since the last drain; no mark is made meanwhile. */
    wm_status (*drain)(void *self, wmi_readings *out, wm_error *err);
    /** Legal after any failure; NULL is fine. */
    void (*close)(void *self);
} wmi_backend_ops;

/** The backends of this build, in order; NULL ends. */
extern const wmi_backend_ops *const wmi_backends[];
extern const wmi_backend_ops wmi_cpu_backend;

#endif
