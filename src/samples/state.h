/** The machine's state in a run: what its sensors said while the run was measured. */
#ifndef WMI_SAMPLES_STATE_H
#define WMI_SAMPLES_STATE_H

#include "base/error.h"

/** How readings of a sensor become a run's value, and those of runs a row's. */
typedef enum wmi_sensor_kind {
    WMI_SENSE_LEVEL, /* mean of the readings in the run; without one, the last before its end */
    WMI_SENSE_POWER, /* mean of the readings in the run; without one, a null: nothing is known of it */
    WMI_SENSE_TOTAL, /* difference of a counter over the run; a null where it moved too seldom in it */
    WMI_SENSE_BITS   /* any of the readings in the run, or the last before its end: WMI_THROTTLE_* */
} wmi_sensor_kind;

/* The sensors, as columns of tables: X(id, name, type, unit, text). */
#define WMI_STATE_COLUMNS(X)                                                                                 \
    X(GPU_CLOCK, "gpu_clock_hz", WM_F64, "Hz",                                                               \
      "clock of a GPU's multiprocessors in the run, as its driver says")                                     \
    X(GPU_MEMORY_CLOCK, "gpu_memory_clock_hz", WM_F64, "Hz", "clock of its memory")                          \
    X(GPU_TEMPERATURE, "gpu_temperature_c", WM_F64, "degC", "its temperature")                               \
    X(GPU_HEADROOM, "gpu_headroom_c", WM_F64, "degC", "degrees left until heat slows it down")               \
    X(GPU_PSTATE, "gpu_pstate", WM_F64, "", "its performance state: 0 is the fastest, 15 the slowest")       \
    X(GPU_UTILIZATION, "gpu_utilization", WM_F64, "",                                                        \
      "share of time in which it worked, for any process, over its driver's last interval")                  \
    X(GPU_POWER, "gpu_power_w", WM_F64, "W", "power that it drew")                                           \
    X(GPU_ENERGY, "gpu_energy_j", WM_F64, "J", "energy that it took in a run")                               \
    X(GPU_THROTTLE, "gpu_throttle", WM_STR, "", "why its clock was held down, or none")                      \
    X(CPU_CLOCK, "cpu_clock_hz", WM_F64, "Hz", "clock of the measuring thread's processor in the run")       \
    X(CPU_ENERGY, "cpu_energy_j", WM_F64, "J", "energy that the processors' packages took in a run")         \
    X(CPU_THROTTLE, "cpu_throttle", WM_STR, "", "why the processor's clock was held down, or none")
typedef enum wmi_sensor {
#define WMI_SENSOR_ENUM(id, name, type, unit, text) WMI_SENSOR_##id,
    WMI_STATE_COLUMNS(WMI_SENSOR_ENUM)
#undef WMI_SENSOR_ENUM
        WMI_SENSOR_COUNT
} wmi_sensor;
#define WMI_SENSOR_BIT(id) (1u << WMI_SENSOR_##id)
const char *wmi_sensor_name(wmi_sensor sensor); /* its column */
wmi_sensor_kind wmi_sensor_kind_of(wmi_sensor sensor);
/** Does reading it take more than a few microseconds? */
bool wmi_sensor_slow(wmi_sensor sensor);

/* Why a clock is held down, as bits: X(id, slug). */
#define WMI_THROTTLES(X)                                                                                     \
    X(POWER, "power")             /* the power limit, held by software */                                    \
    X(POWER_BRAKE, "power-brake") /* the same, asked for from outside, such as by the supply */              \
    X(THERMAL, "thermal")         /* heat; held by software */                                               \
    X(HW_THERMAL, "hw-thermal")   /* heat; held by hardware */                                               \
    X(HW_SLOWDOWN, "hw-slowdown") /* held by hardware, for heat or power */
enum {
#define WMI_THROTTLE_BIT(id, slug) WMI_THROTTLE_AT_##id,
    WMI_THROTTLES(WMI_THROTTLE_BIT)
#undef WMI_THROTTLE_BIT
        WMI_THROTTLE_COUNT
};
#define WMI_THROTTLE(id) (1u << WMI_THROTTLE_AT_##id)
enum { WMI_THROTTLE_TEXT_MAX = 80 };
/** "power,hw-thermal"; "none" for 0. Returns out. */
const char *wmi_throttle_text(uint32_t bits, char out[WMI_THROTTLE_TEXT_MAX]);

/** One reading of several sensors, or what a run's readings add up to. */
typedef struct wmi_sensed {
    int64_t at_ns;                    /* CLOCK_MONOTONIC; of a run: its begin */
    double value[WMI_SENSOR_COUNT];   /* of TOTAL, in a reading: the counter; BITS: the bits */
    uint8_t reason[WMI_SENSOR_COUNT]; /* a wm_reason: no value */
} wmi_sensed;
/** No values, all for this reason. */
void wmi_sensed_clear(wmi_sensed *s, wm_reason why);
static inline void wmi_sensed_set(wmi_sensed *s, wmi_sensor which, double value) {
    s->value[which] = value;
    s->reason[which] = WM_REASON_NONE;
}
/** Was a clock held down? */
bool wmi_sensed_throttled(const wmi_sensed *s);

/** The state of one run. */
typedef struct wmi_run_state {
    uint32_t config;
    int32_t pass, run;
    wmi_sensed sensed;
} wmi_run_state;

typedef struct wmi_samples wmi_samples;
/** Keep the state of a run; each run and pass of a configuration once, with rising numbers. WM_ENOMEM. */
wm_status wmi_samples_state_add(wmi_samples *s, const wmi_run_state *state);
/** That of a run; NULL when none was kept. Valid until the next is added. *last, if not NULL: from that run
 * to this one all have it. */
const wmi_sensed *wmi_samples_state_of(const wmi_samples *s, uint32_t config, int32_t pass, int32_t run,
                                       int32_t *last);
/** Was the state of any run kept? */
bool wmi_samples_has_states(const wmi_samples *s);

/** What a row says of the runs behind it: means, and any of the bits. A sensor that had no value in
 *  any run has the reason of the first one. */
typedef struct wmi_state_summary {
    wmi_sensed mean;
    uint64_t n[WMI_SENSOR_COUNT]; /* runs with a value of it */
    uint64_t runs, throttled;     /* runs with a state; those in which a clock was held down */
} wmi_state_summary;
/** No runs yet. */
void wmi_state_summary_init(wmi_state_summary *out);
void wmi_state_summary_add(wmi_state_summary *sum, const wmi_sensed *run);

#endif
