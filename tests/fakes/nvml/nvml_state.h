/** What libfakegpu.so offers to the fake libnvidia-ml, beside fake_state.h. */
#ifndef FAKE_NVML_STATE_H
#define FAKE_NVML_STATE_H

#include "fake_nvml.h"
#include "fake_state.h"

typedef struct fakei_nvml {
    int64_t energy_period;
    unsigned slowdown;
    bool reversed, forbidden;
    double share;
} fakei_nvml;
extern fakei_nvml fakei_nvml_state; /* changed under the lock */

double fakei_sensor_locked(int device, fake_sensor which);
double fakei_power_average_locked(int device); /* W */
double fakei_energy_locked(int device);        /* J */

#endif
