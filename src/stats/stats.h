/** stats/: pure functions on arrays of doubles. No state, no input or output,
 *  any thread. Includes base/ only. */
#ifndef WMI_STATS_STATS_H
#define WMI_STATS_STATS_H

#include "base/error.h"

/** What a sample of n values says. A field that has no value holds NaN: stddev and
 *  the interval for n < 2 (WM_REASON_FEW_SAMPLES), rel_stddev also for a mean of 0
 *  (WM_REASON_ZERO_MEAN). A spread too large for a double is infinite. */
typedef struct wmi_summary {
    size_t n;
    double mean, stddev; /* stddev: n - 1 in the denominator; NaN for n < 2 */
    double min, max;
    double median, p05, p95;    /* Hyndman and Fan's type 7: linear, as numpy; in [min, max] */
    double ci95_low, ci95_high; /* of the mean, Student's t; NaN for n < 2 */
    double rel_stddev;          /* stddev / |mean|, a ratio; NaN for n < 2 or mean 0 */
    size_t outliers;            /* beyond Tukey's fences, 1.5 interquartile ranges; not dropped */
} wmi_summary;

/** Student's t for 95 % intervals, of the size of sample that was asked for last: samples that are
 *  summarised one after the other often are of one size. Begins as zeros. */
typedef struct wmi_t95 {
    size_t n;
    double t;
} wmi_t95;

/** Summarise x[0..n). x is reordered in place (it is scratch). `last`: may be NULL.
 *  Returns WM_OK; WM_EINVAL if n < 1 or a value is not finite (*out untouched).
 *  Cost: O(n) on all but contrived inputs, O(n log n) on those; no allocation. */
wm_status wmi_summarise(double *x, size_t n, wmi_t95 *last, wmi_summary *out);

/** Reorder x[0..n) so that for each of the `count` ranks (ascending, below n, may
 *  repeat) x[rank] is what sorting would put there, with nothing larger before
 *  it and nothing smaller after it. No NaN. Cost as wmi_summarise. */
void wmi_select(double *x, size_t n, const size_t *rank, size_t count);

/** Running mean and variance (Welford 1962), for stop rules. */
typedef struct wmi_running {
    uint64_t n;
    double mean, m2;
} wmi_running;
void wmi_running_add(wmi_running *r, double x);
double wmi_running_stddev(const wmi_running *r); /* NaN for n < 2 */
/** Half-width of the 95 % interval of the mean over |mean|; NaN where undefined. */
double wmi_running_rel_ci95(const wmi_running *r);

/** Running covariance of pairs (Welford's recurrence for products). */
typedef struct wmi_comoment {
    uint64_t n;
    double mean_x, mean_y, sum; /* sum: of products of deviations */
} wmi_comoment;
void wmi_comoment_add(wmi_comoment *m, double x, double y);
double wmi_comoment_covariance(const wmi_comoment *m); /* n - 1 in the denominator; NaN for n < 2 */

/** Student's t quantile: P(T <= t) = p for `df` degrees of freedom (above 0, need
 *  not be whole, may be infinite), 0 < p < 1. Relative error below 1e-10. NaN for
 *  arguments out of range; infinite where t is beyond 1e150. */
double wmi_t_quantile(double p, double df);

/** One side of a ratio. */
typedef struct wmi_moments {
    double mean, stddev;
    size_t n;
} wmi_moments;
typedef struct wmi_ratio {
    double ratio, low, high; /* NaN where undefined */
    wm_reason reason;        /* why ratio is undefined: ZERO_BASELINE, NO_SAMPLES, NOT_FINITE */
    wm_reason ci_reason;     /* why the interval is: any of these, FEW_SAMPLES, UNBOUNDED */
} wmi_ratio;
/** Ratio of two means, num/den, with its 95 % interval by Fieller's theorem
 *  (1954). Independent samples: `covariance` 0, degrees of freedom by Welch and
 *  Satterthwaite. Paired samples of equal n: their sample covariance, paired true,
 *  df n - 1. Both sides with zero spread give an interval of no width. */
wmi_ratio wmi_ratio_of_means(wmi_moments num, wmi_moments den, double covariance, bool paired);

/** Geometric mean; NaN for n < 1 or any value <= 0. {2, 8} gives 4. */
double wmi_geomean(const double *x, size_t n);

typedef struct wmi_interval {
    int64_t begin, end;
} wmi_interval;
/** Length of the union of the intervals (end >= begin, all within 2^63 of each
 *  other), which are sorted in place. {[0,10],[5,15]} gives 15. */
int64_t wmi_union_length(wmi_interval *v, size_t n);

#endif
