/** Hardware counters of one context, through CUPTI's range profiler: windows in which every
 *  kernel is a range, and the values of those ranges. Any thread, one call at a time; the
 *  context is made current for each, and they are hidden from the launch log.
 *
 *  The rules that this file keeps: SetConfig before every Start; a configuration of several
 *  passes is run as the same window, pass after pass in a row; ranges of a one-pass
 *  configuration append over windows; ranges past the image's size are dropped and counted;
 *  a sequence of passes that is given up needs Disable and Enable. */
#ifndef WMI_BACKEND_CUDA_COUNTERS_H
#define WMI_BACKEND_CUDA_COUNTERS_H

#include "backend/cuda/chip.h"
#include "backend/cuda/device.h"

typedef enum wmi_counter_mode {
    WMI_COUNTERS_KERNELS = 0, /* each kernel is a range; the program is run once for each pass */
    WMI_COUNTERS_REPLAY,      /* each kernel is a range; the driver replays it for each pass */
    WMI_COUNTERS_RANGES       /* push and pop make ranges; the program is run once for each pass */
} wmi_counter_mode;

typedef struct wmi_counters wmi_counters;

/** Enable the profiler on a context, once: those who ask for the same context share it, and use it one
 *  after the other. WM_EPERM, WM_EBUSY, WM_EUNSUPPORTED, with the remedy. */
wm_status wmi_counters_create(const wmi_cuda_context *context, wmi_counters **out, wm_error *err);
void wmi_counters_destroy(wmi_counters *c);
/** Instead of destroying, when the device does not come to rest and every further call would
 *  block: makes none, and keeps the memory for ever. */
void wmi_counters_abandon(wmi_counters *c);
wmi_chip *wmi_counters_chip(const wmi_counters *c);

/** Begin a set of windows for a configuration, with room for so many ranges in each window, and in
 *  all. Room in a window is dear: the first Start takes about 1 ms for each range of it. */
wm_status wmi_counters_begin(wmi_counters *c, const wmi_chip_config *config, wmi_counter_mode mode,
                             size_t in_window, size_t in_all, wm_error *err);
/** Open and close a window: Start and Stop. After the close of the last pass of a
 *  configuration (every close, when it has one pass) its ranges are decoded. */
wm_status wmi_counters_start(wmi_counters *c, wm_error *err);
wm_status wmi_counters_stop(wmi_counters *c, wm_error *err);
/** Make a range; mode RANGES alone. */
wm_status wmi_counters_push(wmi_counters *c, const char *name, wm_error *err);
wm_status wmi_counters_pop(wmi_counters *c, wm_error *err);
/** Have all passes been run? */
bool wmi_counters_complete(const wmi_counters *c);
/** Ranges decoded so far, and how many were dropped for want of room. */
size_t wmi_counters_ranges(const wmi_counters *c, size_t *dropped);
/** Values of a range, in the order of the configuration's names; NaN where there is none. */
wm_status wmi_counters_values(wmi_counters *c, size_t range, double *values, wm_error *err);
/** Give up the set of windows at hand, complete or not. */
void wmi_counters_end(wmi_counters *c);

#endif
