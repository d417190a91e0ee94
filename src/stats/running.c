#include "stats/stats.h"

#include <math.h>

/* Welford, "Note on a method for calculating corrected sums of squares and
 * products", Technometrics 4, 1962. */
void wmi_running_add(wmi_running *r, double x) {
    r->n++;
    double d = x - r->mean;
    r->mean += d / (double)r->n;
    r->m2 += d * (x - r->mean);
}

double wmi_running_stddev(const wmi_running *r) { return r->n < 2 ? NAN : sqrt(r->m2 / (double)(r->n - 1)); }

double wmi_running_rel_ci95(const wmi_running *r) {
    if (r->n < 2 || r->mean == 0.0) return NAN;
    double df = (double)(r->n - 1);
    return wmi_t_quantile(0.975, df) * wmi_running_stddev(r) / sqrt((double)r->n) / fabs(r->mean);
}

void wmi_comoment_add(wmi_comoment *m, double x, double y) {
    m->n++;
    double dx = x - m->mean_x;
    m->mean_x += dx / (double)m->n;
    m->mean_y += (y - m->mean_y) / (double)m->n;
    m->sum += dx * (y - m->mean_y);
}

double wmi_comoment_covariance(const wmi_comoment *m) { return m->n < 2 ? NAN : m->sum / (double)(m->n - 1); }
