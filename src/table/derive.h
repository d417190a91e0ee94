/** Derived metrics: what they read, and computing one value. Private to table/. */
#ifndef WMI_TABLE_DERIVE_H
#define WMI_TABLE_DERIVE_H

#include "table/reduce.h"

/** A derived metric made ready. */
typedef struct wmi_derived {
    const wmi_derive *how;
    const char *name, *unit; /* borrowed */
    const char **inputs;     /* names, borrowed from the formula or from `text` */
    size_t input_count;
    char *text; /* the list of a C function's inputs, cut into names; owned */
} wmi_derived;

/** Make `count` ready; the caller frees with wmi_derived_close. NULL when out of
 *  memory. */
wmi_derived *wmi_derived_open(const wmi_derive *derive, size_t count);
void wmi_derived_close(wmi_derived *derived, size_t count);
/** Compute from in[], in the order of inputs; false: no value, *out untouched. */
bool wmi_derived_compute(const wmi_derived *derived, const double *in, double *out);

#endif
