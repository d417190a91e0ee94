/** Waiting until a GPU has cooled. Before each step the degrees that are left until heat slows it down are
 *  looked at. With `wait_c` or fewer the sweep waits until there are `cont_c`. */
#ifndef WMI_SWEEP_THERMAL_H
#define WMI_SWEEP_THERMAL_H

#include "base/error.h"

typedef enum wmi_thermal_mode { WMI_THERMAL_AUTO = 0, WMI_THERMAL_MANUAL, WMI_THERMAL_OFF } wmi_thermal_mode;

typedef struct wmi_thermal {
    wmi_thermal_mode mode; /* off also when the degrees cannot be read */
    double wait_c, cont_c;
    double least_c, most_c; /* what `auto` keeps cont_c between */
    int64_t timeout_ns;
    int64_t fresh_ns; /* a reading before a step may be this old */
    bool counting;    /* `runs` are those since it was cool */
    int64_t runs;
    bool gave_up;      /* it did not cool in time: there is no more waiting until it has */
    int64_t waited_ns; /* in all */
    /* The clock, and sleeping, which may end early; for tests. */
    int64_t (*now)(void *user);
    void (*sleep)(void *user, int64_t ns);
    void *time_user;
    wm_wait_fn on_wait; /* NULL */
    void *on_wait_user;
} wmi_thermal;

/** What a sweep starts from: the real clock, no settings. */
void wmi_thermal_init(wmi_thermal *t);
/** Take the sweep's options in, and say them in the context. Off where nothing that is measured has the
 *  sensor. After the sensors are read. */
void wmi_thermal_begin(wm_sweep *sweep);
/** Before a step: wait if need be. WM_EHOT (*err: why, for the configuration); WM_EINTERRUPTED. */
wm_status wmi_thermal_guard(wm_sweep *sweep, wm_error *err);

#endif
