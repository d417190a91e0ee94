#include "stats/stats.h"

#include <float.h>
#include <math.h>

/* Quantiles of Student's t. Both the chance inside, P(|T| <= t), and the chance
 * outside are found directly where they are small, so that neither a far tail nor
 * a t near 0 loses digits. The smaller one is inverted by Newton's method on its
 * logarithm as a function of log t. That curve is concave and straight at its end
 * (both chances are powers of t there), so one step from anywhere leads to the far
 * side of the root, and from there the method converges without overshooting. */

static const double pi = 3.14159265358979323846;

typedef struct chance {
    double inside, outside; /* P(|T| <= t), P(|T| > t) */
    double density;         /* t f(t), f the density of |T|: d inside / d log t */
} chance;

/* Gamma(a + 1/2) / Gamma(a): recurrence up to a >= 12, then the asymptotic series
 * of its logarithm, from Stirling's (DLMF 5.11.1 and 5.11.8). lgamma is no choice: its
 * differences lose digits for a large a, and it writes a global. */
static double gamma_half_ratio(double a) {
    double factor = 1.0;
    for (; a < 12.0; a += 1.0) factor *= a / (a + 0.5);
    double r = 1.0 / (a * a);
    double series =
        (-1.0 / 8.0 + r * (1.0 / 192.0 + r * (-1.0 / 640.0 + r * (17.0 / 14336.0 + r * (-31.0 / 18432.0))))) /
        a;
    return factor * sqrt(a) * exp(series);
}

/* The continued fraction of the incomplete beta function I_x(a, b) (DLMF 8.17.22)
 * by the modified Lentz method (Thompson and Barnett, J. Comput. Phys. 64, 1986).
 * Quick for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int i = 1; i <= 100000; i++) {
        double m = i, step = 1.0;
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        const double term[2] = {even, odd};
        for (int k = 0; k < 2; k++) {
            d = 1.0 + term[k] * d;
            c = 1.0 + term[k] / c;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            h *= step;
        }
        if (fabs(step - 1.0) < DBL_EPSILON) break;
    }
    return h;
}

/* P(|T| > t) = I_x(df/2, 1/2) with x = df / (df + t^2) (DLMF 8.17.5 ff.). `gamma` is
 * gamma_half_ratio(df / 2). */
static chance student_chance(double t, double df, double gamma) {
    double a = 0.5 * df, w = t * t / df;
    double x = 1.0 / (1.0 + w), y = w / (1.0 + w);
    /* x^a sqrt(y) / B(a, 1/2) */
    double front = exp(-a * log1p(w)) * sqrt(y) * gamma / sqrt(pi);
    chance p = {.density = 2.0 * front};
    if (x < (a + 1.0) / (a + 2.5)) {
        p.outside = front / a * beta_fraction(a, 0.5, x);
        p.inside = 1.0 - p.outside;
    } else {
        p.inside = front / 0.5 * beta_fraction(0.5, a, y);
        p.outside = 1.0 - p.inside;
    }
    return p;
}

static chance normal_chance(double z) {
    double u = z / sqrt(2.0);
    return (chance){erf(u), erfc(u), z * sqrt(2.0 / pi) * exp(-0.5 * z * z)};
}

/* One Newton step for log t. The step is relative in t. */
static double newton_step(chance at, double inside, double outside) {
    return outside < inside ? log(at.outside / outside) * at.outside / at.density
                            : log(inside / at.inside) * at.inside / at.density;
}

enum { NEWTON_MAX = 60 };
/* Convergence is quadratic: a step this small leaves its square. */
static const double newton_done = 1e-8;
static const double t_max = 1e150; /* whose square is still a double */

static double normal_quantile(double inside, double outside) {
    double z = inside * sqrt(pi / 2.0);
    if (outside < 0.5) { /* Abramowitz and Stegun 26.2.23, error below 4.5e-4 */
        double s = sqrt(-2.0 * log(0.5 * outside));
        z = s - (2.515517 + s * (0.802853 + s * 0.010328)) /
                    (1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308)));
    }
    for (int i = 0; i < NEWTON_MAX; i++) {
        double step = newton_step(normal_chance(z), inside, outside);
        z *= exp(step);
        if (fabs(step) < newton_done) break;
    }
    return z;
}

/* t from the normal quantile in powers of 1 / df (Abramowitz and Stegun 26.7.5). */
static double student_expansion(double z, double df) {
    double s = z * z;
    double g1 = (s + 1.0) / 4.0;
    double g2 = ((5.0 * s + 16.0) * s + 3.0) / 96.0;
    double g3 = (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0;
    double g4 = ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) / 92160.0;
    return z * (1.0 + (g1 + (g2 + (g3 + g4 / df) / df) / df) / df);
}

double wmi_t_quantile(double p, double df) {
    if (!(p > 0.0 && p < 1.0 && df > 0.0)) return NAN;
    if (p == 0.5) return 0.0;
    double sign = p < 0.5 ? -1.0 : 1.0;
    double outside = p < 0.5 ? 2.0 * p : 2.0 * (1.0 - p), inside = 1.0 - outside;
    double z = normal_quantile(inside, outside);
    double t = student_expansion(z, df);
    if (df > 1000.0 * (1.0 + z * z)) return sign * t; /* the next term is below rounding */
    t = fmax(t, z); /* for a small df the expansion can be far off, even below 0; t is beyond z always */
    double gamma = gamma_half_ratio(0.5 * df);
    for (int i = 0; i < NEWTON_MAX; i++) {
        if (!(t < t_max)) return sign * INFINITY;
        double step = newton_step(student_chance(t, df, gamma), inside, outside);
        t *= exp(step);
        if (fabs(step) < newton_done) break;
    }
    return sign * t;
}
