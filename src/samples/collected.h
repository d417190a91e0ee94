/** What collectors said: facts beside the values that were measured. */
#ifndef WMI_SAMPLES_COLLECTED_H
#define WMI_SAMPLES_COLLECTED_H

#include "samples/samples.h"

/** A collector of a benchmark. */
typedef struct wmi_collector {
    uint32_t bench;
    wm_collect_scope scope;
    const char *name;   /* interned */
    uint32_t counts[5]; /* values kept, by wm_type */
} wmi_collector;

/** One value, of the place that its collector's scope gives a meaning to. */
typedef struct wmi_collected {
    uint32_t collector;
    uint32_t config, node; /* UINT32_MAX where they have none */
    int32_t run;           /* likewise -1 */
    wm_value value;
} wmi_collected;

/** The collector of that name (found or added). An earlier one keeps its scope. WM_ENOMEM. */
wm_status wmi_samples_collector(wmi_samples *s, uint32_t bench, const char *name, wm_collect_scope scope,
                                uint32_t *out);
size_t wmi_samples_collectors(const wmi_samples *s);
const wmi_collector *wmi_samples_collector_at(const wmi_samples *s, uint32_t collector);
/** The number of the benchmark's collector of that name; UINT32_MAX: it has none. */
uint32_t wmi_samples_find_collector(const wmi_samples *s, uint32_t bench, const char *name);

/** Keep a value, in place of an earlier one of the same place. Its text is copied. What of the place has no
 *  meaning in the collector's scope is ignored; a double that is not finite becomes a null. WM_ENOMEM. */
wm_status wmi_samples_collect(wmi_samples *s, const wmi_collected *given);
/** The value of a place, borrowed; NULL: there is none. */
const wm_value *wmi_samples_collected_of(const wmi_samples *s, uint32_t collector, uint32_t config,
                                         uint32_t node, int32_t run);

#endif
