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

/** Describe a metric: one made of records (kernel_time, gpu__time_duration.sum …), else one
 *  of the chip (NULL: that of the first device). A chip's metric has unit, text, better and
 *  combine filled in from what the chip says of it:
 *    sums, and averages over the units of a chip, of counters      SUM
 *    .max, .min                                                    MAX, MIN
 *    rates, percentages, ratios (.per_second, .pct_of_…, .ratio)   WEIGHTED
 *  WM_ENOTFOUND: says why the name is not one (no such metric on that chip with the nearest
 *  names; a comma in it; no device here to ask), in one line. */
wm_status wmi_cuda_describe(const char *chip, const char *name, wmi_metric *out, wm_error *err);
/** List those that match the shell pattern (NULL: the metrics of records, and of the chip
 *  each base metric with its usual rollup; a pattern: every name that it matches). */
wm_status wmi_cuda_list(const char *chip, const char *pattern, const wmi_metric_list *list, wm_error *err);

/* ---- doctor (probe.c) ---- */
void wmi_cuda_probe(wmi_probe *out);

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
