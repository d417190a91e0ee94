/** What devices did, and the records that were kept. Private to samples/. */
#ifndef WMI_SAMPLES_WORK_H
#define WMI_SAMPLES_WORK_H

#include "samples/index.h"
#include "samples/samples.h"

typedef struct wmi_work_store {
    struct wmi_work_item **works;
    size_t work_count, work_cap;
    wmi_index index; /* of works, by configuration and node */
    wmi_kept **kept; /* chunks */
    size_t kept_count, chunk_count, chunk_cap;
} wmi_work_store;

void wmi_work_store_fini(wmi_work_store *store);
/** That of the samples. */
wmi_work_store *wmi_samples_work_store(wmi_samples *s);
const wmi_work_store *wmi_samples_work_store_of(const wmi_samples *s);

#endif
