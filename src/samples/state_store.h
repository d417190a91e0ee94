/** The states of all runs. Private to samples/. */
#ifndef WMI_SAMPLES_STATE_STORE_H
#define WMI_SAMPLES_STATE_STORE_H

#include "samples/index.h"
#include "samples/state.h"

/* Runs that followed each other and of which the same is known: between two readings lie many short ones, and
 * so they take no memory each. */
typedef struct wmi_state_runs {
    int32_t first, last;
    wmi_sensed sensed;
} wmi_state_runs;

/* Those of one configuration and pass, in the order of runs. */
typedef struct wmi_state_group {
    uint32_t config;
    int32_t pass;
    wmi_state_runs *v;
    size_t n, cap;
} wmi_state_group;

typedef struct wmi_state_store {
    wmi_state_group *groups;
    size_t n, cap;
    wmi_index index; /* of groups, by configuration and pass */
} wmi_state_store;

void wmi_state_store_fini(wmi_state_store *store);
/** That of the samples. */
wmi_state_store *wmi_samples_state_store(wmi_samples *s);
const wmi_state_store *wmi_samples_state_store_of(const wmi_samples *s);

#endif
