#include "stats/stats.h"

#include <float.h>
#include <math.h>

/* Degrees of freedom of mean(x) - r mean(y) with independent x and y: Satterthwaite,
 * "An approximate distribution of estimates of variance components", Biometrics 2,
 * 1946, and Welch, Biometrika 34, 1947, at the estimated r. v: variances of both
 * terms. */
static double welch_df(double vx, double nx, double vy, double ny) {
    double top = fmax(vx, vy);
    if (top == 0.0) return ny - 1.0; /* x is constant and r is 0: y alone decides */
    vx /= top;                       /* so that no square overflows or vanishes */
    vy /= top;
    return (vx + vy) * (vx + vy) / (vx * vx / (nx - 1.0) + vy * vy / (ny - 1.0));
}

/* Fieller, "Some problems in interval estimation", J. R. Stat. Soc. B 16, 1954: all r
 * for which mean(x) - r mean(y) is within t standard errors of 0. Everything is
 * divided by mean(y), so that the sign and the size of it drop out, and the
 * discriminant is written without the difference of the two large squares that the
 * plain quadratic formula would take. */
static void fieller(wmi_ratio *out, double vxx, double vxy, double vyy, double t) {
    double r = out->ratio, tt = t * t, g = tt * vyy;
    if (!(g < 1.0)) {
        out->ci_reason = WM_REASON_UNBOUNDED;
        return;
    }
    double terms = vxx + r * r * vyy;
    double spread = terms - 2.0 * r * vxy - tt * (vxx * vyy - vxy * vxy);
    if (spread < 4.0 * DBL_EPSILON * terms) spread = 0.0; /* no more than rounding is left */
    double centre = r - tt * vxy, half = t * sqrt(spread);
    double low = (centre - half) / (1.0 - g), high = (centre + half) / (1.0 - g);
    if (!isfinite(low) || !isfinite(high)) {
        out->ci_reason = WM_REASON_NOT_FINITE;
        return;
    }
    out->low = low;
    out->high = high;
}

static wmi_ratio no_ratio(wm_reason why) { return (wmi_ratio){NAN, NAN, NAN, why, why}; }

wmi_ratio wmi_ratio_of_means(wmi_moments num, wmi_moments den, double covariance, bool paired) {
    if (num.n < 1 || den.n < 1) return no_ratio(WM_REASON_NO_SAMPLES);
    if (den.mean == 0.0) return no_ratio(WM_REASON_ZERO_BASELINE);
    wmi_ratio out = {num.mean / den.mean, NAN, NAN, WM_REASON_NONE, WM_REASON_NONE};
    if (!isfinite(out.ratio)) return no_ratio(WM_REASON_NOT_FINITE);
    if (num.n < 2 || den.n < 2) {
        out.ci_reason = WM_REASON_FEW_SAMPLES;
        return out;
    }
    if (num.stddev == 0.0 && den.stddev == 0.0) {
        out.low = out.high = out.ratio;
        return out;
    }
    double nx = (double)num.n, ny = (double)den.n;
    double sx = num.stddev / den.mean, sy = den.stddev / den.mean;
    double vxx = sx * sx / nx, vyy = sy * sy / ny;
    double vxy = paired ? covariance / den.mean / den.mean / nx : 0.0;
    double df = paired ? nx - 1.0 : welch_df(vxx, nx, out.ratio * out.ratio * vyy, ny);
    fieller(&out, vxx, vxy, vyy, wmi_t_quantile(0.975, df));
    return out;
}

/* The product is kept as mantissa and exponent: no logarithm is added up, so a long
 * series loses no digits, and {2, 8} gives 4 exactly. */
double wmi_geomean(const double *x, size_t n) {
    if (n < 1) return NAN;
    double mantissa = 1.0;
    int64_t exponent = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0.0) || isinf(x[i])) return NAN;
        int e1, e2;
        mantissa = frexp(mantissa * frexp(x[i], &e1), &e2);
        exponent += e1 + e2;
    }
    int64_t whole = exponent / (int64_t)n, rest = exponent % (int64_t)n;
    return ldexp(exp2((log2(mantissa) + (double)rest) / (double)n), (int)whole);
}
