/** The states of all runs. Private to samples/. */
#ifndef WMI_SAMPLES_STATE_STORE_H
#define WMI_SAMPLES_STATE_STORE_H

#include "samples/index.h"
#include "samples/state.h"

typedef struct wmi_state_store {
    wmi_run_state *v;
    size_t n, cap;
    wmi_index index; /* by configuration, pass and run */
} wmi_state_store;

void wmi_state_store_fini(wmi_state_store *store);
/** That of the samples. */
wmi_state_store *wmi_samples_state_store(wmi_samples *s);
const wmi_state_store *wmi_samples_state_store_of(const wmi_samples *s);

#endif
