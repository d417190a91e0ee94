/** backend/: ways to measure. The seam is wmi_backend_ops; registry.c holds the
 *  one table of backends, and build-time conditions live only there. A backend
 *  is a folder of its own and may include base/, samples/ and machine/. */
#ifndef WMI_BACKEND_BACKEND_H
#define WMI_BACKEND_BACKEND_H

#include "base/text.h"
#include "samples/samples.h"
#include "samples/state.h"

/** A begin or an end of an entry, as backends see it. */
typedef struct wmi_mark {
    bool end;
    uint32_t name;   /* interned */
    uint32_t thread; /* index of the thread in the session */
    uint64_t entry;  /* id of the entry: thread << 32 | sequence */
    uint64_t ticks;
} wmi_mark;

/** One value that a backend read for one entry. The core maps entries to regions
 *  and combines those of a run, as the metric's wmi_combine says. metric: index into
 *  the plan's metric list, or WMI_READ_CLOCK. */
typedef struct wmi_reading {
    uint64_t entry;
    uint32_t metric;
    uint32_t kernel;  /* interned name of the kernel that it is of; 0: of the entry */
    wm_reason reason; /* set: no value */
    double value;
    double weight; /* of a kernel: how long it ran in that pass [ns]; else 0 */
} wmi_reading;
/* The clock that a kernel ran at [Hz]: read beside the metrics asked for. */
#define WMI_READ_CLOCK UINT32_MAX
typedef struct wmi_readings {
    wmi_reading *v;
    size_t n, cap;
} wmi_readings;
/** Append; false when out of memory. */
bool wmi_readings_add(wmi_readings *r, wmi_reading reading);
void wmi_readings_free(wmi_readings *r);

typedef struct wmi_records {
    wmi_record *v;
    size_t n, cap;
} wmi_records;
bool wmi_records_add(wmi_records *r, const wmi_record *record);
void wmi_records_free(wmi_records *r);

/** What a backend hands over. Of records and readings of kernels, each belongs to the
 *  innermost entry: the core adds them to those around it. */
typedef struct wmi_drained {
    wmi_readings readings;
    wmi_records records;
    bool more; /* not all at once: call again */
} wmi_drained;
void wmi_drained_free(wmi_drained *d);

typedef enum wmi_window_kind {
    WMI_WINDOW_SWEEP = 0,
    WMI_WINDOW_CONFIG,
    WMI_WINDOW_RUN,
    WMI_WINDOW_REGION
} wmi_window_kind;
/** "sweep", "configuration", "run", "region". */
const char *wmi_window_text(wmi_window_kind kind);
typedef struct wmi_window {
    wmi_window_kind kind;
    int32_t pass; /* the backend's own pass number */
    uint32_t config;
    int32_t run;
} wmi_window;

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
    bool deferred; /* readings come when its window closes, or that of the last pass of a
                      row of deferred ones; they are of entries of any of their runs */
    bool optional; /* ask `wants` in each configuration */
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

/** Facts for the context of tables. `add` copies. */
typedef struct wmi_fact_list {
    void *user;
    void (*add)(void *user, const char *key, wm_value value);
} wmi_fact_list;

/** Which regions a launch can belong to: any that is open in the process, or only those
 *  open in the launching thread. */
typedef enum wmi_scope { WMI_SCOPE_PROCESS = 0, WMI_SCOPE_THREAD } wmi_scope;
/** How counters of several passes are read; the guide says what each costs. */
typedef enum wmi_replay {
    WMI_REPLAY_AUTO = 0,
    WMI_REPLAY_STACKED, /* one window over all runs of a configuration and pass */
    WMI_REPLAY_WINDOW,  /* a window for each run or region */
    WMI_REPLAY_KERNEL,  /* the driver replays each kernel */
    WMI_REPLAY_RANGE    /* a region is one range, launch gaps included */
} wmi_replay;
/** How accelerators are measured. */
typedef struct wmi_device_opts {
    wmi_scope scope;
    wmi_replay replay;
    int64_t counter_runs;       /* counters are read in so many runs at most; 0: in all of them */
    bool cold;                  /* evict the device's caches before each kernel in a region */
    const char *const *ignored; /* [ignored_count] kernels to leave out: shell patterns on own names */
    size_t ignored_count;
    int64_t hang_ns; /* after so long without an end, kernels are said to wait for each other */
    int watched;     /* the device whose state is read, by the vendor's number; -1: the one in use */
} wmi_device_opts;

/** At which frequency a device's clocks are to be held. */
typedef enum wmi_clocks { WMI_CLOCKS_FREE = 0, WMI_CLOCKS_BASE, WMI_CLOCKS_HZ } wmi_clocks;
typedef struct wmi_clock_request {
    wmi_clocks how;
    double hz; /* for WMI_CLOCKS_HZ */
} wmi_clock_request;

typedef struct wmi_backend_opts {
    const wmi_metric_set *set;
    /* Any thread: a backend that sees the program hang says so while it does. May be NULL. */
    void (*warn)(void *user, const char *line);
    void *user;
    wmi_device_opts device;
    /* What the core offers; all may be called from inside a vendor's callback. */
    uint64_t (*launch_entry)(wmi_scope scope); /* entry of a launch made now by this thread */
    uint16_t (*launch_run)(void);              /* tells the run at hand from those around it */
    void (*exclude)(uint64_t begin_ticks, uint64_t end_ticks); /* this time of this thread is not the
                                                                  program's; wmi_ticks */
} wmi_backend_opts;

/** A backend. All calls are made on the controlling thread but for `edge`, which
 *  is made on the thread that marks. */
typedef struct wmi_backend_ops {
    const char *name;
    bool device; /* measures an accelerator: what this machine's own caches hold is nothing to it */
    /** What is here, what not, why. May load libraries; makes no device context. */
    void (*probe)(wmi_probe *out);
    /** Describe the metric `name`: WM_OK (known, whether or not it can be counted
     *  here), WM_ENOTFOUND (not one of this backend's), anything else: it can be of no
     *  other backend, and *err says what is wrong with it. *out borrows static or
     *  interned text. `chip` NULL: of this machine; else of that accelerator, which
     *  need not be here; one that is not this backend's has none of its metrics. */
    wm_status (*describe)(const char *chip, const char *name, wmi_metric *out, wm_error *err);
    /** List metrics whose names match the shell pattern (NULL: all). WM_ENOTFOUND: this
     *  backend has no such chip (*err gives the nearest). */
    wm_status (*list)(const char *chip, const char *pattern, const wmi_metric_list *list, wm_error *err);
    /** Distribute the set over passes as `plan` would, on a chip that need not be here.
     *  WM_ENOTFOUND: no such chip. May be NULL: no chip is this backend's. */
    wm_status (*plan_on)(const char *chip, const wmi_metric_set *set, wmi_plan *out, wm_error *err);
    wm_status (*open)(const wmi_backend_opts *opts, void **self, wm_error *err);
    /** Distribute the set over passes. */
    wm_status (*plan)(void *self, const wmi_metric_set *set, wmi_plan *out, wm_error *err);
    /** Is this optional pass needed in this configuration, after all earlier ones? */
    bool (*wants)(void *self, int32_t pass, uint32_t config); /* may be NULL */
    wm_status (*open_window)(void *self, const wmi_window *w, wm_error *err);
    wm_status (*close_window)(void *self, const wmi_window *w, wm_error *err);
    /** Passes with `edges`: may block, may fail (then that entry has no value, with
     *  a reason). Called before the clock at a begin and after it at an end. May be
     *  NULL. */
    void (*edge)(void *self, const wmi_mark *mark);
    /** Hand over what was read since the last drain, also in windows that were closed since; no mark is
     *  made meanwhile. Called after each run, but for those of which a device's records alone are wanted:
     *  after some of them; and after the window of a deferred pass was closed. */
    wm_status (*drain)(void *self, wmi_drained *out, wm_error *err);
    /** Bits (1 << wmi_sensor) of the sensors that `sense` may have something to say of. */
    uint32_t sensors;
    /** Read those of the sensors in `which`: into *out a value, or a reason, for each, and nothing of the
     *  others. cpu: the processor on which the measuring thread was last seen; -1 unknown. A sensor that is
     *  not there says so each time, without trying again for long. Any one thread at a time, also while the
     *  program runs and windows are open or change. NULL: no sensors. */
    void (*sense)(void *self, uint32_t which, int cpu, wmi_sensed *out);
    /** Hold the clocks of the device in use, or the watched one, until unlock_clocks or close. *held_hz: the
     *  frequency that was asked for; 0: a base clock that the device does not tell. WM_EPERM (*err has the
     *  remedy), WM_EINVAL (a frequency that the device does not have: names the nearest), WM_EBUSY (held by
     *  somebody else, named), WM_EUNSUPPORTED. May be NULL: it has none. */
    wm_status (*lock_clocks)(void *self, const wmi_clock_request *request, double *held_hz, wm_error *err);
    /** Undo exactly that; does nothing when there is none. */
    void (*unlock_clocks)(void *self);
    /** Legal after any failure; NULL is fine. */
    void (*close)(void *self);
    /** What its devices and their drivers are. May load libraries; makes no device context. May be NULL. */
    void (*facts)(const wmi_fact_list *list);
    /** Which of them, from 0, the program uses, as far as is known now; `watched`: as in wmi_device_opts. -1:
     *  there is none. NULL: it has no devices. */
    int (*device_in_use)(int watched);
} wmi_backend_ops;

/** The backends of this build, in order; NULL ends. */
extern const wmi_backend_ops *const wmi_backends[];
/** Ask all of them what is here; those that were left out of the build say so too. */
void wmi_backends_probe(wmi_probe *out);
/** For the message that no backend knows a metric: what a build that leaves some out lacks; else "". */
const char *wmi_backends_left_out(void);
extern const wmi_backend_ops wmi_cpu_backend;
extern const wmi_backend_ops wmi_cuda_backend; /* only with CUDA's headers */

#endif
