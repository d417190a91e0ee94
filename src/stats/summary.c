#include "stats/stats.h"

#include <math.h>

/* Sums run in LANES independent lanes, which the compiler turns into vector
 * registers without being allowed to reorder additions, and restart every BLOCK
 * values, so that rounding grows with BLOCK / LANES + n / BLOCK and not with n. */
enum { LANES = 8, BLOCK = 4096 };

typedef struct extent {
    double min, max, sum;
} extent;

static double lanes_total(const double lane[LANES]) {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* A NaN is caught through the sum, which it always reaches. */
static extent block_extent(const double *x, size_t n) {
    double sum[LANES] = {0}, min[LANES], max[LANES];
    for (size_t k = 0; k < LANES; k++) min[k] = max[k] = x[0];
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            double v = x[i + k];
            sum[k] += v;
            min[k] = v < min[k] ? v : min[k];
            max[k] = v > max[k] ? v : max[k];
        }
    }
    for (size_t k = 0; i < n; i++, k++) {
        sum[k] += x[i];
        min[k] = fmin(min[k], x[i]);
        max[k] = fmax(max[k], x[i]);
    }
    extent e = {min[0], max[0], lanes_total(sum)};
    for (size_t k = 1; k < LANES; k++) {
        e.min = fmin(e.min, min[k]);
        e.max = fmax(e.max, max[k]);
    }
    return e;
}

static extent find_extent(const double *x, size_t n) {
    extent all = {x[0], x[0], 0.0};
    for (size_t at = 0; at < n; at += BLOCK) {
        extent e = block_extent(x + at, n - at < BLOCK ? n - at : BLOCK);
        all.min = fmin(all.min, e.min);
        all.max = fmax(all.max, e.max);
        all.sum += e.sum;
    }
    return all;
}

/* First and second moments of scale * x about `origin`. */
static void block_moments(const double *x, size_t n, double scale, double origin, double *s1, double *s2) {
    double a[LANES] = {0}, b[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            double d = x[i + k] * scale - origin;
            a[k] += d;
            b[k] += d * d;
        }
    }
    for (size_t k = 0; i < n; i++, k++) {
        double d = x[i] * scale - origin;
        a[k] += d;
        b[k] += d * d;
    }
    *s1 += lanes_total(a);
    *s2 += lanes_total(b);
}

static void find_moments(const double *x, size_t n, double scale, double origin, double *s1, double *s2) {
    *s1 = *s2 = 0.0;
    for (size_t at = 0; at < n; at += BLOCK)
        block_moments(x + at, n - at < BLOCK ? n - at : BLOCK, scale, origin, s1, s2);
}

/* Power of two that brings the largest magnitude near 1, so that no square
 * overflows or vanishes. Multiplying by it is exact where it matters. It is never
 * subnormal itself, which a program built with -ffast-math would take for 0. */
static double unit_scale(extent e) {
    int exponent = ilogb(fmax(fabs(e.min), fabs(e.max)));
    if (exponent > 1000) exponent = 1000;
    if (exponent < -1000) exponent = -1000;
    return ldexp(1.0, -exponent);
}

/* Mean and variance by the corrected two-pass algorithm (Chan, Golub and LeVeque,
 * "Algorithms for computing the sample variance", Am. Stat. 37, 1983, eq. 1.7):
 * the residual of the first mean corrects the variance, and the mean too. Returns
 * false when a value is not finite. */
static bool mean_and_stddev(const double *x, size_t n, wmi_summary *out) {
    extent e = find_extent(x, n);
    if (!isfinite(e.min) || !isfinite(e.max)) return false;
    out->min = e.min;
    out->max = e.max;
    double scale = e.min == e.max && e.min == 0.0 ? 1.0 : unit_scale(e);
    double s1, s2, count = (double)n, origin = e.sum / count * scale;
    if (!isfinite(e.sum)) { /* a NaN, or finite values whose plain sum overflows */
        find_moments(x, n, scale, 0.0, &s1, &s2);
        if (isnan(s1)) return false;
        origin = s1 / count;
    }
    if (e.min == e.max) { /* rounding must not make a spread */
        out->mean = e.min;
        out->stddev = n < 2 ? NAN : 0.0;
        return true;
    }
    find_moments(x, n, scale, origin, &s1, &s2);
    out->mean = fmin(fmax((origin + s1 / count) / scale, e.min), e.max);
    out->stddev = sqrt(fmax(s2 - s1 * s1 / count, 0.0) / (count - 1.0)) / scale;
    return true;
}

/* ---- percentiles and fences ---- */

enum { P05, Q1, MEDIAN, Q3, P95, QUANTILES };
static const double quantile_at[QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

/* Between two order statistics, from the nearer end as numpy does, so that the
 * result is monotone in t and reaches both ends exactly. */
static double between(double a, double b, double t) {
    double gap = b - a;
    if (isinf(gap)) return a * (1.0 - t) + b * t;
    return t < 0.5 ? a + gap * t : b - gap * (1.0 - t);
}

/* Hyndman and Fan, "Sample quantiles in statistical packages", Am. Stat. 50, 1996,
 * type 7: position (n - 1) p, linear between neighbours. */
static void find_quantiles(double *x, size_t n, double out[QUANTILES]) {
    size_t rank[2 * QUANTILES];
    double part[QUANTILES];
    for (size_t i = 0; i < QUANTILES; i++) {
        double at = (double)(n - 1) * quantile_at[i];
        size_t low = (size_t)at;
        part[i] = at - (double)low;
        rank[2 * i] = low;
        rank[2 * i + 1] = low + 1 < n ? low + 1 : low;
    }
    size_t sorted[2 * QUANTILES];
    for (size_t i = 0; i < 2 * QUANTILES; i++) { /* neighbours of near quantiles can cross in a small n */
        size_t k = i;
        for (; k > 0 && sorted[k - 1] > rank[i]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = rank[i];
    }
    wmi_select(x, n, sorted, 2 * QUANTILES);
    for (size_t i = 0; i < QUANTILES; i++) out[i] = between(x[rank[2 * i]], x[rank[2 * i + 1]], part[i]);
}

/* Tukey, "Exploratory Data Analysis", 1977: fences 1.5 interquartile ranges
 * beyond the quartiles, which are type 7 here. */
static size_t count_outliers(const double *x, size_t n, double q1, double q3) {
    double reach = 1.5 * (q3 - q1), low = q1 - reach, high = q3 + reach;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += (size_t)((x[i] < low) | (x[i] > high));
    return count;
}

static double t95(size_t n, wmi_t95 *last) {
    if (last->n != n) *last = (wmi_t95){n, wmi_t_quantile(0.975, (double)(n - 1))};
    return last->t;
}

wm_status wmi_summarise(double *x, size_t n, wmi_t95 *last, wmi_summary *out) {
    wmi_t95 none = {0};
    wmi_summary s = {.n = n, .ci95_low = NAN, .ci95_high = NAN, .rel_stddev = NAN};
    if (n < 1 || !mean_and_stddev(x, n, &s)) return WM_EINVAL;
    double q[QUANTILES];
    find_quantiles(x, n, q);
    s.p05 = q[P05];
    s.median = q[MEDIAN];
    s.p95 = q[P95];
    s.outliers = count_outliers(x, n, q[Q1], q[Q3]);
    if (n >= 2) {
        double half = t95(n, last ? last : &none) * s.stddev / sqrt((double)n);
        s.ci95_low = s.mean - half;
        s.ci95_high = s.mean + half;
        if (s.mean != 0.0) s.rel_stddev = s.stddev / fabs(s.mean);
    }
    *out = s;
    return WM_OK;
}
