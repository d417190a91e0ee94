/** backend/cuda/: kernel times and hardware counters of NVIDIA GPUs, in this process.
 *  libcuda and libcupti are opened at run time (cuda_dl, cupti_dl, places). A launch
 *  callback says which entry each launch belongs to (launches); activity records give
 *  times (records); the range profiler gives counters (chip, counters, replay); cold
 *  evicts the device's caches. cuda.c is the seam. Includes base/, samples/ and
 *  backend/backend.h; only files of this folder include CUDA's headers.
 *
 *  CUPTI is one for the process, and so is what wraps it: the functions of launches.h
 *  and records.h act on process-wide state, attached by the first backend that opens
 *  and detached by the last that closes. At most one backend has a window open. */
#ifndef WMI_BACKEND_CUDA_CUDA_H
#define WMI_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

/* ---- metrics (metrics.c) ---- */

/** Describe a metric: one made of records (kernel_time, kernel_count …), else one
 *  of the chip (NULL: that of the first device). A chip's metric has unit, text, better and
 *  combine filled in from what the chip says of it:
 *    sums, and averages over the units of a chip, of counters      SUM
 *    .max, .min                                                    MAX, MIN
 *    rates, percentages, ratios (.per_second, .pct_of_…, .ratio)   WEIGHTED
 *  WM_ENOTFOUND: no library is asked about a name that looks like no GPU's metric, or there is
 *  no such chip. WM_EINVAL: it looks like one and is wrong; *err (NULL: nothing is looked up
 *  for it) says why, in one line: no such metric on that chip with the nearest names, a comma
 *  in it. WM_EUNSUPPORTED: no device, or no libcupti, to ask. */
wm_status wmi_cuda_describe(const char *chip, const char *name, wmi_metric *out, wm_error *err);
/** List the metrics of records that match the shell pattern (NULL: all), then those of the
 *  chip, as wmi_chip_list does. Without a device those of records are listed with the reason.
 *  WM_ENOTFOUND: no such chip; WM_EUNSUPPORTED: a chip was asked for, and there is no
 *  libcupti. */
wm_status wmi_cuda_list(const char *chip, const char *pattern, const wmi_metric_list *list, wm_error *err);
/** Those of a set that the chip (NULL: that of the first device) counts; the others are made of
 *  records. To be freed by wmi_cuda_counted_free. */
typedef struct wmi_cuda_counted {
    const char **names;  /* [count], borrowed of the set */
    uint32_t *metric_of; /* [count] their places in it, rising */
    size_t count;
} wmi_cuda_counted;
wm_status wmi_cuda_counted_of(const char *chip, const wmi_metric_set *set, wmi_cuda_counted *out,
                              wm_error *err);
void wmi_cuda_counted_free(wmi_cuda_counted *c);
/** The passes of a set on a chip that need not be here: pass 0 for records, where they are
 *  asked for, and those of counters. */
wm_status wmi_cuda_plan_on(const char *chip, const wmi_metric_set *set, wmi_plan *out, wm_error *err);

/* ---- doctor (probe.c) ---- */
void wmi_cuda_probe(wmi_probe *out);

/* ---- facts for the context of tables (facts.c) ---- */
void wmi_cuda_facts(const wmi_fact_list *list);

/* ---- what codes mean (codes.c) ---- */

/** From a CUresult (`cupti` false) or a CUptiResult: status, and a message "WHAT: text of
 *  the code (what it usually means and the remedy)". Returns the status. Known by heart:
 *  CUPTI 35 (counters not permitted: RmProfilingAdminOnly and how to allow it), 39 (another
 *  subscriber), hardware busy and who usually holds it, device not supported and by which
 *  flag, driver too old, no device, the stub library. */
wm_status wmi_cuda_error(wm_error *err, bool cupti, int code, const char *what);
/** The same as a reason for a null. */
wm_reason wmi_cuda_reason(bool cupti, int code);

#endif
