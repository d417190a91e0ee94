/** What several values of one metric make: of entries, or of the kernels of a run. */
#ifndef WMI_SAMPLES_TALLY_H
#define WMI_SAMPLES_TALLY_H

#include "samples/samples.h"

/** Weights of 0 are unknown. Starts from zeros. */
typedef struct wmi_tally {
    double sum, weighted, weight, max, min;
    uint64_t n;
    wm_reason reason;
} wmi_tally;
void wmi_tally_add(wmi_tally *t, double value, double weight, wm_reason reason);
/** The value, or NaN and the reason why there is none: SUM, MEAN, MAX, MIN, WEIGHTED, or ONE. */
double wmi_tally_value(const wmi_tally *t, wmi_combine how, wm_reason *why);

/** How the values of several kernels make one, by the end of the metric's name, as ".sum" of
 *  "dram__bytes.sum": sums, and averages over the units of a chip, are added up; .max and .min are; all
 *  else (rates, shares, ratios) is weighted by time. */
wmi_combine wmi_combine_of_rollup(const char *end);

#endif
