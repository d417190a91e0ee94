/** sweep/: the configurations of a benchmark, the plan, steps, stop rules, and what its
 *  function is handed. May include base/, stats/, formula/, machine/, samples/, backend/,
 *  table/, input/ and session/. */
#ifndef WMI_SWEEP_SWEEP_H
#define WMI_SWEEP_SWEEP_H

#include <sched.h>

#include "input/axes.h"
#include "input/options.h"
#include "session/session.h"
#include "stats/stats.h"
#include "sweep/collect.h"
#include "sweep/cursor.h"
#include "sweep/pool.h"
#include "sweep/state.h"
#include "sweep/stop.h"
#include "sweep/thermal.h"

/** The repetitions found for one WM_REPEAT of one configuration. */
typedef struct wmi_batch {
    uint32_t region; /* interned name */
    uint32_t count;
} wmi_batch;

/** The rule metric's values of one region so far. */
typedef struct wmi_rule_node {
    uint32_t node;
    size_t seen;    /* values of its series taken in */
    uint64_t batch; /* repetitions behind each, at most */
    wmi_running values;
} wmi_rule_node;

/** One configuration while it is swept. */
typedef struct wmi_point {
    size_t count;       /* parameters */
    const char **names; /* interned */
    wm_value *values;   /* strings owned */
    uint32_t config;    /* in the samples, once settled */
    int threads;
    bool dead;         /* skipped or failed: nothing more of it */
    bool unmarked;     /* its last run marked no region */
    bool collected;    /* its collectors were called */
    bool done;         /* run often enough in the first pass */
    int64_t runs;      /* measured runs of the first pass so far */
    double elapsed_ns; /* of all runs, from when each was due: caches are evicted then */
    double spent_ns;   /* the same with all that the caller does between them */
    int64_t steps;     /* runs of all passes, warm-ups among them */
    double counted_ns; /* of those measured runs */
    wmi_batch *batches;
    size_t batch_count;
    wmi_rule_node *rule; /* what the stop rules look at, by region */
    size_t rule_count;
} wmi_point;

struct wm_sweep {
    wm_session *session;
    char *name;
    wm_fn run, setup, teardown;
    void *user;
    wmi_options options;
    wmi_measure *measure;
    wmi_stop_rules rules;
    uint32_t bench; /* in the samples */
    wmi_point *points;
    size_t point_count, point_cap;
    bool implicit; /* the single empty configuration, until another is added */
    bool settled;  /* configurations are in the samples */
    wmi_cursor cursor;
    bool cursor_made;
    wmi_collecting collecting;

    wmi_point *current; /* set up */
    void *data;         /* what its set-up left */
    wmi_pool *pool;     /* its threads; NULL for one */
    wmi_evictor *evictor;
    size_t evictor_bytes;
    cpu_set_t affinity; /* to go back to */
    bool pinned;

    wmi_sensed sensed; /* of the run at hand */
    bool again;        /* the run at hand was discarded: it is run once more */
    int32_t attempt;   /* of the run at hand, from 0 */
    int64_t discarded; /* runs that were run again */
    bool prompt;       /* the values of a run are wanted before the next */
    bool in_step;
    bool marking;                       /* in the step at hand marks are taken, be it only to be shown */
    uint64_t step_range;                /* that tools which listen are shown */
    int64_t step_due_ns, step_begin_ns; /* before and after caches were evicted and windows opened */
    struct wm_state *states;            /* [state_count] one for each thread */
    wmi_notes *notes;                   /* [state_count] theirs, for the session */
    size_t state_count;
    int64_t step_end_ns;
    int failed, skipped; /* configurations */
    int hot;             /* of those that failed: the device did not cool down in time */
    wmi_thermal thermal;
    bool repeat_seen; /* WM_REPEAT was met with cold caches */
    wm_error broken;  /* why the sweep cannot go on */
};

/** Put the benchmark's name before the message of a failure other than WM_ENOMEM: a program
 *  has several benchmarks, and the same words suit one and not another. Returns `status`. */
wm_status wmi_sweep_blame(const wm_sweep *sweep, wm_status status, wm_error *err);

/** Expand the axes into points (parameters only). */
wm_status wmi_points_make(wm_sweep *sweep, wm_error *err);
wm_status wmi_point_add(wm_sweep *sweep, size_t count, const char *const *names, const wm_value *values,
                        wm_error *err);
void wmi_point_fini(wmi_point *p);
/** Filter, put the configurations into the samples, check the formulas' names. Does
 *  nothing the second time. */
wm_status wmi_sweep_settle(wm_sweep *sweep, wm_error *err);

/** Are this machine's caches to be evicted? Not where all that is measured is a device's. */
bool wmi_sweep_evicts(const wm_sweep *sweep);
/** What the first step needs: settled configurations, caches, the loop nest. */
wm_status wmi_sweep_begin(wm_sweep *sweep, wm_error *err);
/** What the last step leaves behind: the machine as it was. Called again, does nothing. */
void wmi_sweep_end(wm_sweep *sweep);
/** Does a point need this run in this pass? For the cursor; user: the sweep. */
bool wmi_sweep_wants(void *user, uint32_t point, int32_t pass, int64_t run);
/** Tear the current configuration down. */
void wmi_sweep_leave(wm_sweep *sweep);

/** How long the runs still to come take at most, for progress: each as long as those of its
 *  configuration have taken, or `step_ns` where there was none. */
double wmi_sweep_left_ns(const wm_sweep *sweep, double step_ns);

#endif
