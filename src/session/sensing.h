/** Reading the machine's state while code runs: a thread of the core's asks the backends for their sensors
 *  now and then, and each run is told what they said in it.
 *
 *  What is read quickly is asked for every 20 ms, what is slow (wmi_sensor_slow) every 100 ms; where readings
 *  take more than 1 % of that, less often, and where one takes more than 20 ms, not at all; with `on` they
 * are read all the same. A run that lasts half a second or longer is read at both its ends too, outside of
 * its time. */
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
    /* Said once for each sensor that stops answering; with `on` also for each that is not there. On the
     * controlling thread. */
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
/** What a sensor said less than `most_ns` ago; it is read now where that is longer ago. NaN and a reason
 *  where it said none; WM_REASON_NO_SENSOR where nothing is read through s. */
double wmi_sensing_latest(wmi_sensing *s, wmi_sensor sensor, int64_t most_ns, wm_reason *why);
/** How often quick sensors are read [ns]; 0: not at all. And the share of one processor that all reading
 *  has taken so far. */
int64_t wmi_sensing_interval_ns(wmi_sensing *s);
double wmi_sensing_cost(wmi_sensing *s);
/** Are all sensors read, for tables, rather than a few that are needed otherwise? */
bool wmi_sensing_tells(const wmi_sensing *s);

/** A reading of a counter. */
typedef struct wmi_sensing_point {
    int64_t at_ns;
    double value;
} wmi_sensing_point;
/** How far a counter that moves every step_ns went from one time to another, by readings in the order of
 *  time: between those around each end, or a little beyond the first or last one. NaN where that is not
 *  known: less than ten steps, a tenth of the time before the first or after the last, or it did not move. */
double wmi_sensing_used(const wmi_sensing_point *points, size_t count, int64_t begin_ns, int64_t end_ns,
                        int64_t step_ns);

#endif
