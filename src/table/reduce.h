/** From samples to the results table. */
#ifndef WMI_TABLE_REDUCE_H
#define WMI_TABLE_REDUCE_H

#include "formula/formula.h"
#include "samples/samples.h"
#include "table/table.h"

/** One derived metric: a formula or a C function, with the names it reads. */
typedef struct wmi_derive {
    wmi_formula *formula;            /* borrowed; NULL for a C function */
    const wm_derivation *derivation; /* borrowed; NULL for a formula */
    void *user;                      /* for its compute */
} wmi_derive;

/** By which metrics, shares of their peaks in percent, to say what bounds a region. */
typedef struct wmi_label {
    const char *compute, *memory;
    double latency_below; /* both below it: neither bounds */
} wmi_label;

/** How the rows of one benchmark are made. Borrowed for the call. */
typedef struct wmi_reduce_opts {
    const wmi_derive *derive;
    size_t derive_count;
    const char *baseline;    /* region to normalise against; NULL */
    double stable_threshold; /* rel_stddev below it is stable: 0.02 */
    const char *host;        /* NULL: unknown */
    const wmi_label *labels; /* the first whose metrics have values makes `bound` */
    size_t label_count;
    bool tag_throttled;       /* a row's note says which samples were taken while a clock was held down */
    wm_value clock_requested; /* a number, or a null with its reason */
    const char *clock_note;   /* for the rows' notes; NULL */
} wmi_reduce_opts;

/** Check derived metrics before anything runs: each name that they read must be one
 *  of the metrics or numeric parameters in `known`, or an earlier derived metric, and
 *  their own names must be new.
 *  WM_ENOTFOUND names what is unknown, with the nearest known ones; WM_EINVAL;
 *  WM_ENOMEM. */
wm_status wmi_derive_check(const wmi_derive *derive, size_t count, const char *const *known,
                           size_t known_count, wm_error *err);

/** Make the results table. opts[i] belongs to benchmark i.
 *
 *  Rows: by benchmark, configuration, region (in order of first entry), metric
 *  (measured ones as they were asked for or first met, derived ones last). A configuration
 *  without any sample has one row with its reason. A function that marked regions
 *  has no rows for itself unless the program gave values for it (rates, records, a
 *  manual time), marks were lost in it, or it is the baseline.
 *
 *  Derived metrics: computed for each sample when everything they read was measured by
 *  the same runs of the same pass, else from the means, and then without a spread. A
 *  null among the inputs makes a null. A region that lacks an input has no row.
 *
 *  Baseline: in each configuration the region of that path, else the whole function of
 *  that name, else the only region whose path ends in it. Values of
 *  the same runs, none of them null, are taken as pairs.
 *
 *  Memory: 8 bytes a sample of the largest series, beside the table. WM_ENOMEM. */
wm_status wmi_reduce(const wmi_samples *samples, const wmi_reduce_opts *opts, wm_table **out, wm_error *err);
/** The raw samples as a table (kind "samples"), series by series. WM_ENOMEM. */
wm_status wmi_samples_to_table(const wmi_samples *samples, wm_table **out, wm_error *err);
/** The records that were kept as a table (kind "kernels"), run by run, in the order of their
 *  launches. WM_ENOMEM. */
wm_status wmi_kernels_to_table(const wmi_samples *samples, wm_table **out, wm_error *err);

#endif
