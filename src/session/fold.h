/** What the marks of one run add up to. Private to session/: decode.c makes entries and
 *  sums of marks, fold.c makes values of them, readings.c of what backends read, deferred.c of
 *  what they read over many runs, work.c of what devices did, pending.c of what they did in many runs,
 * recorded.c of what the program recorded. All on the controlling thread, after the run, so that marking
 *  stays cheap. */
#ifndef WMI_SESSION_FOLD_H
#define WMI_SESSION_FOLD_H

#include "samples/tally.h"
#include "session/thread.h"

/* What the entries of one node add up to in the run at hand. */
struct wmi_fold {
    bool touched;
    bool failed; /* an entry was abandoned */
    uint32_t entries, threads;
    uint64_t last_thread, batch;
    double sum_ns, union_ns;
    double amount[3]; /* by wmi_note_kind */
    bool has_amount[3], has_manual, repeated;
    double manual_ns, manual_longest_ns, manual_thread_ns; /* of all threads, the longest, that at hand */
    size_t manual_thread;
    uint64_t dropped, unmatched;
};

typedef struct wmi_folding {
    wm_session *s;
    wmi_measure *m;
    const wmi_run_place *place;
    uint32_t root;
    uint16_t run;                  /* wmi_run_number; records of other runs are not its */
    bool by_entry;                 /* a sample for each entry, not for each run */
    uint32_t stack[WMI_DEPTH_MAX]; /* open entries of the thread at hand */
    uint32_t depth;
    uint32_t thread_first;                    /* its first entry */
    uint64_t dropped;                         /* marks lost, of all threads */
    uint32_t child_parent, child_name, child; /* last look-up */
} wmi_folding;

/** The fold of a node, made part of this run. NULL when out of memory. */
wmi_fold *wmi_fold_at(wm_session *s, uint32_t node);
/** Read the rings of all threads: entries in the order of their ids, and the sums of each
 *  node. WM_ENOMEM. */
wm_status wmi_decode(wmi_folding *d);
/** Set union_ns: the time in which at least one thread was inside. WM_ENOMEM. */
wm_status wmi_fold_union(wm_session *s, uint32_t node, wmi_fold *f);

/** Add one value, or a null when `why` is set, to a series of the run at hand. *out (may
 *  be NULL): the series. */
wm_status wmi_fold_value(wmi_folding *d, uint32_t node, uint32_t metric, int32_t pass, double value,
                         wm_reason why, wmi_series **out);
/** Count the entries behind a value, and what was lost. */
void wmi_fold_count(wmi_series *series, const wmi_fold *f);

typedef struct wmi_works wmi_works; /* what devices did in the run at hand (work.c) */

/** The entry of that id in the run at hand, or NULL. */
const wmi_entry *wmi_fold_entry(const wmi_folding *d, uint64_t id);
/** Values that the program recorded, of all its threads. */
wm_status wmi_fold_recorded(wmi_folding *d, const wmi_notes *notes, size_t notes_count);
/** Take what the backends have read; add it up to values when `keep` is set. */
wm_status wmi_fold_readings(wmi_folding *d, bool keep, wm_error *err);

/** Take what one backend has: records go to `works` (NULL: nowhere), readings of a deferred pass
 *  to the session's, others become values when `keep` is set. */
wm_status wmi_drain(wmi_folding *d, const wmi_source *source, bool deferred, bool keep, wmi_works *works,
                    wm_error *err);
/** Remember the entries of a run of a deferred pass. WM_ENOMEM. */
wm_status wmi_deferred_entries(wmi_folding *d);
/** Can what devices did in this run be read together with that of later ones? */
bool wmi_pending_can(const wmi_folding *d);
/** Keep the run as it is folded until then; reads all of them when they become many. WM_ENOMEM. */
wm_status wmi_pending_add(wmi_folding *d, wm_error *err);
/** "several kernels ran: a, b" for a series; NULL when out of memory. Interned. */
const char *wmi_several_kernels(const wmi_samples *samples, uint32_t config, uint32_t node);

/** Take in records, as they are drained. WM_ENOMEM. */
wm_status wmi_works_add(wmi_folding *d, wmi_works *works, const wmi_records *records);
/** Make values of them for all regions of the run. WM_ENOMEM. */
wm_status wmi_works_fold(wmi_folding *d, wmi_works *works);
wmi_works *wmi_works_create(void); /* NULL when out of memory */
void wmi_works_destroy(wmi_works *works);

#endif
