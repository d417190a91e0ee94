/** What a benchmark's function is handed. */
#ifndef WMI_SWEEP_STATE_H
#define WMI_SWEEP_STATE_H

#include "session/session.h"

struct wmi_point;

typedef enum wmi_outcome { WMI_OUTCOME_OK = 0, WMI_OUTCOME_SKIP, WMI_OUTCOME_FAIL } wmi_outcome;

/** What WM_REPEAT is doing in this thread. */
typedef enum wmi_repeating {
    WMI_REPEAT_NONE = 0,
    WMI_REPEAT_CALIBRATE,
    WMI_REPEAT_MEASURE,
    WMI_REPEAT_INNER, /* in the body of another: once in each of its repetitions */
    WMI_REPEAT_PLAIN
} wmi_repeating;

struct wm_state {
    wm_sweep *sweep;
    struct wmi_point *point;
    int thread, threads;
    wmi_outcome outcome;
    char why[256];
    wmi_notes notes;
    wmi_repeating repeating;
    uint64_t repeat_count;
    uint32_t ring_count, ring_dropped; /* of the ring before calibration */
};

/** Ready for the next call of the function. */
void wmi_state_reset(struct wm_state *st, wm_sweep *sweep, struct wmi_point *point, int thread, int threads);
void wmi_state_fini(struct wm_state *st);

/** Is the name one of a metric that is measured or computed, whose values those of the caller's own
 *  would mix with? */
bool wmi_sweep_is_taken(const wm_sweep *sweep, const char *metric);
/** The unit that an earlier run gave with the metric (an interned text); NULL: none did. */
const char *wmi_sweep_unit_before(const wm_sweep *sweep, const char *metric);

#endif
