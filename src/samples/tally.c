#include "samples/tally.h"

#include <math.h>
#include <string.h>

void wmi_tally_add(wmi_tally *t, double value, double weight, wm_reason reason) {
    if (reason != WM_REASON_NONE) t->reason = reason;
    if (t->n == 0 || value > t->max) t->max = value;
    if (t->n == 0 || value < t->min) t->min = value;
    t->sum += value;
    t->weighted += value * weight;
    t->weight += weight;
    t->n++;
}

double wmi_tally_value(const wmi_tally *t, wmi_combine how, wm_reason *why) {
    *why = t->reason;
    if (*why == WM_REASON_NONE && t->n == 0) *why = WM_REASON_NO_KERNEL;
    if (*why == WM_REASON_NONE && how == WMI_COMBINE_ONE && t->n > 1) *why = WM_REASON_SEVERAL_KERNELS;
    if (*why != WM_REASON_NONE) return NAN;
    switch (how) {
    case WMI_COMBINE_MEAN: return t->sum / (double)t->n;
    case WMI_COMBINE_MAX: return t->max;
    case WMI_COMBINE_MIN: return t->min;
    case WMI_COMBINE_WEIGHTED: return t->weight > 0 ? t->weighted / t->weight : t->sum / (double)t->n;
    default: return t->sum;
    }
}

wmi_combine wmi_combine_of_rollup(const char *end) {
    if (strcmp(end, ".sum") == 0 || strcmp(end, ".avg") == 0) return WMI_COMBINE_SUM;
    if (strcmp(end, ".max") == 0) return WMI_COMBINE_MAX;
    if (strcmp(end, ".min") == 0) return WMI_COMBINE_MIN;
    return WMI_COMBINE_WEIGHTED;
}
