/** The values of all collectors. Private to samples/. */
#ifndef WMI_SAMPLES_COLLECTED_STORE_H
#define WMI_SAMPLES_COLLECTED_STORE_H

#include "samples/collected.h"
#include "samples/index.h"

typedef struct wmi_collected_store {
    wmi_collector *collectors; /* few: looked through */
    size_t collector_count, collector_cap;
    wmi_collected *v; /* texts owned */
    size_t n, cap;
    wmi_index index; /* by place */
} wmi_collected_store;

void wmi_collected_store_fini(wmi_collected_store *store);
/** That of the samples. */
wmi_collected_store *wmi_samples_collected_store(wmi_samples *s);
const wmi_collected_store *wmi_samples_collected_store_of(const wmi_samples *s);

#endif
