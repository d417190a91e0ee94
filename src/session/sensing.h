/** Reading the machine's state while code runs: a thread of the core's asks the backends for their sensors
 *  now and then, and each run is told what they said in it.
 *
 *  What is read quickly is asked for every 20 ms, what is slow (wmi_sensor_slow) every 100 ms; where readings
 *  take more than 1 % of that, less often. A run that lasts half a second or longer is read at both its ends
 *  too, outside of its time. */
#ifndef WMI_SESSION_SENSING_H
#define WMI_SESSION_SENSING_H

#include "backend/backend.h"

typedef enum wmi_sensing_when { WMI_SENSING_AUTO = 0, WMI_SENSING_ON, WMI_SENSING_OFF } wmi_sensing_when;

/** What a backend's sensors are read through. */
typedef struct wmi_sensing_source {
    const wmi_backend_ops *ops;
    void *self;
} wmi_sensing_source;

typedef struct wmi_sensing_opts {
    wmi_sensing_when when;
    uint32_t wanted; /* sensors that are needed whatever `when` says; auto and on add all others */
    /* Said once for each sensor that stops answering; with `on` also for each that is not there, and those
     * that a device says it lacks. Any thread. */
    void (*warn)(void *user, const char *line);
    void *user;
} wmi_sensing_opts;

typedef struct wmi_sensing wmi_sensing;

/** Begin to read. *out is NULL, and WM_OK returned, where there is nothing to read. The sources must stay
 *  open until wmi_sensing_destroy. WM_ENOMEM. */
wm_status wmi_sensing_create(const wmi_sensing_source *sources, size_t count, const wmi_sensing_opts *opts,
                             wmi_sensing **out, wm_error *err);
/** Ends the thread. NULL is fine. */
void wmi_sensing_destroy(wmi_sensing *s);
/** A run begins: call before its clock starts, and end it before the next. The thread sleeps between
 *  wmi_sensing_pause and the next begin. All three and those below on the controlling thread; NULL is fine.
 */
void wmi_sensing_begin(wmi_sensing *s);
/** It ended. What its sensors said; those that are not read are null, "not applicable". */
void wmi_sensing_end(wmi_sensing *s, int64_t begin_ns, int64_t end_ns, wmi_sensed *out);
void wmi_sensing_pause(wmi_sensing *s);
/** Read these now, whatever the thread does: for throttling after a run, and while waiting for a GPU to
 *  cool. */
void wmi_sensing_now(wmi_sensing *s, uint32_t which, wmi_sensed *out);
/** The last reading of a sensor: its value, or NaN and its reason. */
double wmi_sensing_latest(const wmi_sensing *s, wmi_sensor sensor, wm_reason *why);
/** How often quick sensors are read [ns]; 0: not at all. And the share of one processor that all reading
 *  has taken so far. */
int64_t wmi_sensing_interval_ns(const wmi_sensing *s);
double wmi_sensing_cost(const wmi_sensing *s);
/** Are all sensors read, for tables, rather than a few that are needed otherwise? */
bool wmi_sensing_tells(const wmi_sensing *s);

#endif
