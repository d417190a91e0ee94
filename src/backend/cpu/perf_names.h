/** perf's own event names: generic hardware, software and cache events, and raw
 *  codes. Pure functions, any thread. */
#ifndef WMI_BACKEND_CPU_PERF_NAMES_H
#define WMI_BACKEND_CPU_PERF_NAMES_H

#include <linux/perf_event.h>

#include "samples/samples.h"

/** An event as it is asked of the kernel, and how it is shown. */
typedef struct wmi_perf_event {
    struct perf_event_attr attr; /* type, config and exclude_* only */
    bool asks_kernel;            /* kernel code was asked for in so many words */
    const char *unit;            /* static: "ns" or "" */
    const char *text;            /* static or interned */
    wmi_better better;
} wmi_perf_event;

/** Parse NAME, NAME:u, NAME:k or NAME:uk (u: user code, k: kernel code), where
 *  NAME is one of perf's, or r and a raw code of 1 to 16 hexadecimal digits. As
 *  with perf, a modifier leaves the hypervisor out.
 *  WM_ENOTFOUND: not such a name, or not such a modifier. */
wm_status wmi_perf_parse(const char *name, wmi_perf_event *out, wm_error *err);

/** Does the kernel count it without a counter of the processor's? Such events
 *  always fit in one group. */
bool wmi_perf_is_software(const struct perf_event_attr *attr);
/** Does it happen in kernel code alone? Linux counts 0 of it, without an error,
 *  when kernel code is excluded. */
bool wmi_perf_is_kernel_only(const struct perf_event_attr *attr);

/** perf's names, one for each event: for listing. */
size_t wmi_perf_names(void);
const char *wmi_perf_name(size_t i);

#endif
