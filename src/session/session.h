/** session/: the session; threads and the rings their marks go into; entries and
 *  what a run's entries add up to; what is measured, by which backend, in which
 *  pass. May include base/, stats/, machine/, samples/, backend/ and table/ (for the
 *  tables that a session gives). */
#ifndef WMI_SESSION_SESSION_H
#define WMI_SESSION_SESSION_H

#include "backend/backend.h"
#include "base/clock.h"
#include "machine/machine.h"
#include "session/measure.h"
#include "session/nvtx.h"
#include "table/reduce.h"

/** Thermal control, for the context: the settings of the last sweep that had it, and all time waited. */
typedef struct wmi_thermal_facts {
    char mode[160]; /* "auto", "manual", "off", "off: why"; "" where nothing has the sensor */
    double wait_c, cont_c;
    int64_t timeout_ns, waited_ns;
} wmi_thermal_facts;

/** How the rows of one benchmark are made; owned by the session, because tables
 *  are made after sweeps are gone. */
typedef struct wmi_rows_how {
    wmi_formula **formulas;
    size_t formula_count;
    wm_derivation *derivations; /* texts owned */
    size_t derivation_count;
    wmi_derive *derive; /* formulas, then derivations */
    wmi_label *labels;  /* texts owned */
    size_t label_count;
    char *baseline;
    double stable_threshold;
    bool tag_throttled;       /* rows say which samples were taken while a clock was held down */
    wm_value clock_requested; /* number, or a null with its reason */
    char *clock_note;         /* why clocks were not held, though that was asked for; NULL */
} wmi_rows_how;
void wmi_rows_how_fini(wmi_rows_how *how);

/** Where the values of a run belong. */
typedef struct wmi_run_place {
    uint32_t bench, config;
    int32_t run, pass, attempt;
    bool warmup, failed;
    bool later;     /* nobody looks at its values before the next run: they may come later */
    bool throttled; /* in every attempt: its values are null */
} wmi_run_place;

/** What the function itself said about a run: amounts of work, values, manual
 *  times. Kept in the order made; applied when the run is folded. */
typedef enum wmi_note_kind {
    WMI_NOTE_FLOPS = 0,
    WMI_NOTE_BYTES,
    WMI_NOTE_ITEMS,
    WMI_NOTE_TIME,
    WMI_NOTE_VALUE
} wmi_note_kind;
/* Whether it was said inside WM_REPEAT: while the count was looked for, or in the batch
 * that is measured. */
typedef enum wmi_note_when { WMI_NOTE_ONCE = 0, WMI_NOTE_TRIED, WMI_NOTE_REPEATED } wmi_note_when;
typedef struct wmi_note {
    wmi_note_kind kind;
    wmi_note_when when;
    uint32_t region;       /* interned path or name; 0: the whole function */
    uint32_t metric, unit; /* interned; WMI_NOTE_VALUE */
    uint64_t entry;        /* WMI_NOTE_VALUE: the innermost open entry; WMI_NO_ENTRY for none */
    double value;
} wmi_note;
typedef struct wmi_notes {
    wmi_note *v;
    size_t n, cap;
} wmi_notes;
bool wmi_notes_add(wmi_notes *notes, wmi_note note); /* false: out of memory */

/** One entry of a region in the run at hand. */
typedef struct wmi_entry {
    uint64_t begin, end; /* ticks */
    uint64_t id;         /* wmi_entry_id */
    uint64_t batch;      /* repetitions that it stands for */
    uint64_t own;        /* ticks in it that are not the program's */
    uint32_t node;
    uint32_t parent;       /* index of the entry around it in its thread; UINT32_MAX */
    bool closed, repeated; /* repeated: in WM_REPEAT */
    bool outlived;         /* the entry around it ended first */
} wmi_entry;

typedef struct wmi_fold wmi_fold;

/** What tools that listen are shown of a run. */
typedef struct wmi_shown {
    const wmi_nvtx *nvtx; /* NULL: nothing */
    const char *whole;    /* the whole function, as a region of this name; NULL: not */
} wmi_shown;

struct wm_session {
    char *name;
    wm_log_fn log;
    void *log_user;
    size_t ring_marks;
    bool by_entry;
    bool keep_records;
    bool keep_first; /* of start/stop */
    wmi_clock clock;
    wmi_machine machine;
    wmi_samples *samples;
    wmi_rows_how *how; /* [benches of samples] */
    size_t how_count;
    char **warnings; /* each once, in order */
    size_t warning_count;
    bool machine_warned;
    int64_t seed;              /* of the last random order; -1: none */
    size_t sweeps;             /* alive */
    wmi_measure *waiting;      /* has runs whose records are still to be read; NULL */
    int64_t state_interval_ns; /* how often the machine's state was read; 0: not */
    double state_cost;         /* share of a processor that it took */
    wmi_thermal_facts thermal;
    uint32_t measured_by; /* a bit for each backend, by its number, that was opened */

    wmi_measure *stretch; /* start/stop: what is measured; NULL until the first start */
    char *stretch_metrics;
    wmi_sensing_when stretch_state;
    int64_t stretch_begin_ns;
    bool stretch_marks; /* its last run marked a region */
    uint64_t stretch_range;
    int64_t profile_runs; /* another profiler measures, and wants so many; 0: none does */
    char *nvtx_domain;
    const wmi_nvtx *nvtx; /* NULL: nobody listens */
    bool nvtx_asked;
    wmi_shown shown; /* of the run that begins next */
    uint32_t stretch_bench, stretch_config;
    int32_t stretch_runs;
    bool running; /* between start and stop */

    wmi_entry *entries; /* of the run at hand; kept to be used again */
    size_t entry_count, entry_cap;
    wmi_fold *folds; /* by node */
    size_t fold_cap;
    uint32_t *touched; /* nodes with a fold */
    size_t touched_count, touched_cap;
    wmi_drained drained;
};

/** Keep a warning (each text once) for the context, and log it. */
void wmi_session_warn(wm_session *s, const char *fmt, ...) WM_PRINTF(2, 3);
void wmi_session_log(const wm_session *s, wm_log_level level, const char *fmt, ...) WM_PRINTF(3, 4);

/** Warn of what in the machine's state and in the program's build spoils measurements;
 *  once, before the first run. */
void wmi_session_warn_machine(wm_session *s);

/** Keep the state of a run, where it is read. WM_ENOMEM. */
wm_status wmi_session_state(wm_session *s, const wmi_measure *m, const wmi_run_place *place,
                            const wmi_sensed *sensed);
/** Keep what reading it has cost so far, for the context. */
void wmi_session_state_cost(wm_session *s, const wmi_measure *m);
/** Keep in mind what `m` measures with, for the context. */
void wmi_session_measured_by(wm_session *s, const wmi_measure *m);

/** The variable WARPMETER_PROFILE: another profiler measures, and the program is to run each configuration
 *  so many times for it. *runs: 0 where it is not set. WM_EINVAL: it is not understood. */
wm_status wmi_profile_asked(int64_t *runs, wm_error *err);
/** Who is shown ranges; NULL: nobody. Looks once. */
const wmi_nvtx *wmi_session_nvtx(wm_session *s);
/** The range of a step: "@CONFIG/RUN BENCHMARK KEY". WMI_NVTX_NONE without memory. */
uint64_t wmi_session_step_range(const wm_session *s, size_t config, int64_t run, const char *bench,
                                const char *key);

/** Add a benchmark; *how is taken over, also on failure. */
wm_status wmi_session_bench(wm_session *s, const char *name, wmi_rows_how *how, uint32_t *out, wm_error *err);

/** Claim the process for a run, before its window is opened. WM_EBUSY while another session has
 *  it. The claim ends with wmi_run_fold or wmi_run_drop. */
wm_status wmi_run_claim(wm_error *err);
/** Take marks from now on, as the run that was claimed. `measure` and `pass` say which backends
 *  see the marks. WM_ENOMEM: the claim is over. */
wm_status wmi_run_begin(wm_session *s, wmi_measure *measure, int32_t pass, wm_error *err);
/** Stop taking marks. The run stays at hand until wmi_run_fold or wmi_run_drop. */
void wmi_run_end(wm_session *s);
/** Give up what was marked, also in the middle of a run. */
void wmi_run_drop(void);
/** After wmi_run_end: decode the rings, and add what the run adds up to to the
 *  samples (a warm-up run adds nothing). The run is over then, also on failure.
 *  WM_ENOMEM: the run's values are lost, all earlier ones are kept. */
wm_status wmi_run_fold(wm_session *s, wmi_measure *measure, const wmi_run_place *place,
                       const wmi_notes *notes, size_t notes_count, wm_error *err);
/** Was the region entered in the run that was folded last? Of those in `touched`. */
bool wmi_run_entered(const wm_session *s, uint32_t node);
/** After the last run of a configuration and the close of its window: add what was read in
 *  deferred passes to the samples. The same holds. */
wm_status wmi_deferred_fold(wm_session *s, wmi_measure *measure, uint32_t config, wm_error *err);
/** Forget it instead. */
void wmi_deferred_drop(wmi_measure *measure);
/** Read what devices did in runs that were folded without it, and make values of it: before a window
 *  is closed, and before a table is made. In a run, does nothing. WM_ENOMEM: those values are lost. */
wm_status wmi_pending_fold(wm_session *s, wmi_measure *measure, wm_error *err);

/** Did the program say that it was built without optimisation? */
bool wmi_build_unoptimised(void);
/** Facts of the machine, the build and the measurement into a table's context. */
wm_status wmi_session_context(const wm_session *s, wm_table *t);

#endif
