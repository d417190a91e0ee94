/** fakes/nvml/: what NVIDIA's library of management says of the made-up GPU of fakes/cuda/. libnvidia-ml.so.1
 *  has its symbols; libfakegpu.so holds the state behind them and the functions of this header.
 *  libnvidia-ml-old.so.1 is one of an old driver, which lacks all functions but the oldest. The code under
 * test opens them as ever: WARPMETER_LIBNVML holds the path.
 *
 *  Devices are those of fake_devices, known to NVML by their UUIDs: that of device N is
 *  GPU-00010203-0405-0607-0809-0a0b0c0d0eNN, or MIG-… where its name has " MIG " in it. Its parent, the whole
 *  GPU, has the same with GPU-…. All values are on the clock of fake_now; what is set of device -1 is set of
 * all.
 *
 *  fake_fail and fake_calls take NVML's functions, and three names more: "nvml" stands for a call of any
 * function of NVML, "nvmlDeviceGetFieldValues.186" for the field of that number in a call that does not fail,
 * and "nvmlDeviceGetClockInfo.1" for a clock likewise. fake_reset resets all of this. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include "fakes/cuda/fake_gpu.h"

typedef enum fake_sensor {
    FAKE_SM_CLOCK,     /* MHz; 1980. While clocks are locked: the locked one, times fake_bind's share */
    FAKE_MEMORY_CLOCK, /* MHz; 3201 */
    FAKE_TEMPERATURE,  /* degrees; 40 */
    FAKE_MARGIN,       /* degrees; 47 */
    FAKE_PSTATE,       /* 0 */
    FAKE_UTILIZATION,  /* percent; 30 */
    FAKE_POWER,        /* W; 100: the field 186. nvmlDeviceGetPowerUsage is its mean over the last second */
    FAKE_REASONS,      /* NVML's bits of what holds clocks down; 0x1, idle */
    FAKE_SENSORS
} fake_sensor;
/** From now + after_ns on the sensor says this. What was set for later times before is forgotten. */
void fake_sensor_set(int device, fake_sensor sensor, int64_t after_ns, double value);
/** The counter of energy is the power's integral since FAKE_CLOCK_START, and moves this often; 100 ms. */
void fake_energy_period(int64_t ns);
/** The temperature at which a device slows down; 89. */
void fake_slowdown(unsigned degrees);
/** NVML's own order of devices, by index, is the reverse of CUDA's. */
void fake_nvml_reversed(bool reversed);
/** The process has no right to hold clocks: 4, "Insufficient Permissions". */
void fake_clocks_forbidden(bool forbidden);
/** A device whose clocks are locked runs at this share of that; 1. Locking succeeds all the same. */
void fake_bind(double share);
/** What a device's clocks are locked at [MHz]: 1305 for the base clock; 0: not locked. By NVML and by CUPTI's
 *  clock control. */
unsigned fake_locked(int device);
/** How often they were locked and given back, by NVML and by CUPTI. */
uint64_t fake_locks(void);
uint64_t fake_unlocks(void);
/** Devices can be locked from 345 to 1980 MHz in steps of 15. */
#define FAKE_CLOCK_LOWEST  345u
#define FAKE_CLOCK_HIGHEST 1980u
#define FAKE_CLOCK_STEP    15u
#define FAKE_CLOCK_BASE    1305u

/* FAKE_GPU in the environment has these words beside those of fake_gpu.h, all of every device:
 *    sm-clock=MHZ memory-clock=MHZ temperature=C margin=C pstate=N utilization=PERCENT power=W throttle=BITS
 *    energy-period=MS reversed forbidden bind=PERCENT
 *    nvmlFUNCTION=CODE[@K], nvml=CODE[@K]: as for CUDA's functions */

#endif
