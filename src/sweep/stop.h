/** When has a configuration been run often enough? */
#ifndef WMI_SWEEP_STOP_H
#define WMI_SWEEP_STOP_H

#include "base/error.h"

/** The rules; a rule that is not set is 0, or -1 for runs. */
typedef struct wmi_stop_rules {
    int64_t runs; /* a fixed number; -1: until the result is good enough */
    int64_t min_runs, max_runs;
    int64_t min_time_ns; /* measured time that all runs add up to */
    int64_t timeout_ns;  /* of all that the configuration took; 0: none */
    double max_noise;    /* relative standard deviation */
    double target_ci;    /* half-width of the 95 % interval of the mean over |mean| */
} wmi_stop_rules;

/** What is known so far; the worst of the regions. NaN: not known yet. */
typedef struct wmi_stop_view {
    int64_t runs;
    double measured_ns, elapsed_ns;
    double noise, ci;
} wmi_stop_view;

/** Why to stop now (static text: "runs", "min-time", "max-noise", "target-ci",
 *  "max-runs", "timeout"), or NULL to go on. When several rules of quality are set
 *  all must hold. */
const char *wmi_stop_reason(const wmi_stop_rules *rules, const wmi_stop_view *view);

#endif
