/** The rows of one region in one configuration, before they are written: which
 *  metrics it has, measured and derived, and what their values say. Private to
 *  table/. */
#ifndef WMI_TABLE_REGION_H
#define WMI_TABLE_REGION_H

#include "stats/stats.h"
#include "table/derive.h"

/** Where a derived metric gets an input from: a constant, or another row. */
typedef struct wmi_input {
    size_t row; /* SIZE_MAX: constant */
    double constant;
} wmi_input;

/** One row. */
typedef struct wmi_row {
    const wmi_series *series;   /* its values; of a derived metric: the series whose runs its
                                   values follow, NULL when it is computed from means */
    const wmi_derived *derived; /* NULL: measured */
    wmi_input *inputs;          /* of a derived metric */
    double *in;                 /* their values, while one is computed */
    bool constant;              /* derived from parameters alone */
    bool has_value;
    wmi_summary summary; /* with a value; computed from means: n and mean only */
    wm_reason why;       /* without a value */
    const char *text;    /* says more than `why` does; NULL */
    uint64_t dropped, unmatched;
    size_t at; /* the value at hand is that of sample `at`; SIZE_MAX: none is */
    double value;
    wm_reason reason;
} wmi_row;

typedef struct wmi_region {
    uint32_t config, node;
    uint64_t entries;
    uint32_t threads;
    wmi_row *rows; /* measured ones, then derived ones */
    size_t count;
} wmi_region;

/** Room for the values of one series, used again and again, and what the summary of one can tell
 *  that of the next. */
typedef struct wmi_scratch {
    double *x;
    size_t cap;
    wmi_t95 t95;
} wmi_scratch;

/** Make the rows of a region from its `count` series and from those derived metrics
 *  whose inputs it has, and summarise them. WM_ENOMEM: nothing is left to free. */
wm_status wmi_region_make(const wmi_samples *samples, const wmi_series *const *series, size_t count,
                          const wmi_derived *derived, size_t derived_count, wmi_scratch *scratch,
                          wmi_region *out);
void wmi_region_fini(wmi_region *region);
/** The row of the metric of that name; NULL when there is none. */
const wmi_row *wmi_region_find(const wmi_samples *samples, const wmi_region *region, const char *name);
/** The row of that metric of another region; NULL when there is none. */
wmi_row *wmi_region_counterpart(const wmi_region *region, const wmi_row *row);
/** The ratio of the row's mean to that of `base`, a row of `base_region`. */
wmi_ratio wmi_region_ratio(const wmi_region *region, wmi_row *row, const wmi_region *base_region,
                           wmi_row *base);

#endif
