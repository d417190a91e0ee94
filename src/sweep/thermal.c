#include "sweep/thermal.h"

#include <stdio.h>
#include <time.h>

#include "sweep/sweep.h"

enum { WAIT_C = 10, CONT_C = 20, LEAST_C = 12, MOST_C = 50, STEP_C = 3 };
/* So many runs between two waits are as it should be: with fewer it waits too often, with more for too long.
 */
enum { RUNS_FEW = 5, RUNS_MANY = 50 };
static const int64_t timeout_default_ns = 180000000000, fresh_ns = 100000000;
static const int64_t poll_ns = 500000000, line_every_ns = 10000000000;

static int64_t real_now(void *user) {
    (void)user;
    return (int64_t)wmi_monotonic_ns();
}

/* A signal ends it early, so that the caller of the sweep can look at what it was. */
static void real_sleep(void *user, int64_t ns) {
    (void)user;
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&t, NULL);
}

void wmi_thermal_init(wmi_thermal *t) {
    *t = (wmi_thermal){.mode = WMI_THERMAL_OFF, .fresh_ns = fresh_ns, .now = real_now, .sleep = real_sleep};
}

static double seconds(int64_t ns) { return (double)ns * 1e-9; }

/* ---- settings ---- */

static bool can_be_read(const wmi_measure *m) {
    for (size_t b = 0; b < m->source_count; b++)
        if (m->sources[b].self && m->sources[b].ops->sensors & WMI_SENSOR_BIT(GPU_HEADROOM)) return true;
    return false;
}

static bool is_asked(const wmi_options *o) {
    return o->thermal == WMI_THERMAL_MANUAL || o->thermal_wait >= 0 || o->thermal_cont >= 0 ||
           o->thermal_timeout_ns > 0 || o->thermal_device >= 0;
}

/* Whoever asked for it is warned; else it is no news. */
static void switch_off(wm_sweep *sweep, const char *why) {
    sweep->thermal.mode = WMI_THERMAL_OFF;
    snprintf(sweep->session->thermal.mode, sizeof sweep->session->thermal.mode, "off: %s", why);
    if (is_asked(&sweep->options))
        wmi_session_warn(sweep->session, "%s: thermal control is off: %s", sweep->name, why);
    else
        wmi_session_log(sweep->session, WM_LOG_INFO, "%s: thermal control is off: %s", sweep->name, why);
}

void wmi_thermal_begin(wm_sweep *sweep) {
    static const char *const modes[] = {"auto", "manual", "off"};
    const wmi_options *o = &sweep->options;
    wmi_thermal *t = &sweep->thermal;
    const bool here = can_be_read(sweep->measure);
    const bool asked = is_asked(o);
    t->mode = (wmi_thermal_mode)o->thermal;
    if (!here && !asked) t->mode = WMI_THERMAL_OFF;
    if (!here && (!asked || o->thermal == WMI_THERMAL_OFF)) return;
    t->wait_c = o->thermal_wait >= 0 ? (double)o->thermal_wait : WAIT_C;
    t->cont_c = o->thermal_cont >= 0 ? (double)o->thermal_cont : CONT_C;
    t->least_c = t->cont_c < LEAST_C ? t->cont_c : LEAST_C;
    if (t->least_c <= t->wait_c) t->least_c = t->wait_c + 1;
    t->most_c = t->cont_c > MOST_C ? t->cont_c : MOST_C;
    t->timeout_ns = o->thermal_timeout_ns > 0 ? o->thermal_timeout_ns : timeout_default_ns;
    wmi_thermal_facts *facts = &sweep->session->thermal;
    facts->wait_c = t->wait_c;
    facts->cont_c = t->cont_c;
    facts->timeout_ns = t->timeout_ns;
    snprintf(facts->mode, sizeof facts->mode, "%s", modes[o->thermal]);
    if (!here) switch_off(sweep, "nothing that is measured tells how hot it is");
}

/* ---- waiting ---- */

static double bounded(double x, double least, double most) { return x < least ? least : x > most ? most : x; }

/* The runs between two waits say whether it waits too often or for too long. */
static void adapt(wmi_thermal *t) {
    if (t->mode != WMI_THERMAL_AUTO || !t->counting || t->runs == 0) return;
    if (t->runs < RUNS_FEW) t->cont_c = bounded(t->cont_c + STEP_C, t->least_c, t->most_c);
    if (t->runs > RUNS_MANY) t->cont_c = bounded(t->cont_c - STEP_C, t->least_c, t->most_c);
}

static wm_status too_hot(wmi_thermal *t, double left_c, int64_t waited_ns, wm_error *err) {
    t->gave_up = true;
    return wmi_error_set(err, WM_EHOT, 0,
                         "the GPU did not cool down in time: %.0f degrees are left until heat slows it down, "
                         "and %.0f were waited for, %.0f s long; raise --thermal-timeout or lower "
                         "--thermal-cont, see to its cooling, or stop what else runs on it",
                         left_c, t->cont_c, seconds(waited_ns));
}

/* What is being waited for, until when. */
typedef struct wait {
    int64_t begin_ns, round_ns, line_ns; /* when waiting, this round of it, and the next line began */
    double left_c;
} wait;

static void say(wm_sweep *sweep, wait *w, int64_t now) {
    if (now < w->line_ns) return;
    w->line_ns = now + line_every_ns;
    wmi_session_log(sweep->session, WM_LOG_INFO,
                    "%s: waiting for the GPU to cool: %.0f of %.0f degrees left, for %.0f s", sweep->name,
                    w->left_c, sweep->thermal.cont_c, seconds(now - w->begin_ns));
}

static bool goes_on(const wmi_thermal *t, const wait *w, int64_t now) {
    const wm_wait told = {.struct_size = sizeof told,
                          .left_c = w->left_c,
                          .wanted_c = t->cont_c,
                          .waited_ns = now - w->begin_ns,
                          .timeout_ns = t->timeout_ns - (now - w->round_ns)};
    return !t->on_wait || t->on_wait(t->on_wait_user, &told);
}

/* The time is up: `auto` is content with less and waits once more, unless it has come down to the least.
 * False: give up. */
static bool again(wmi_thermal *t, wait *w, int64_t now) {
    if (t->mode != WMI_THERMAL_AUTO || t->cont_c <= t->least_c) return false;
    t->cont_c = bounded(t->cont_c - STEP_C, t->least_c, t->most_c);
    w->round_ns = now;
    return w->left_c >= t->cont_c || t->cont_c > t->least_c;
}

static wm_status wait_loop(wm_sweep *sweep, wait *w, wm_error *err) {
    wmi_thermal *t = &sweep->thermal;
    while (w->left_c < t->cont_c) {
        wmi_sensed r;
        const int64_t now = t->now(t->time_user);
        if (now - w->round_ns >= t->timeout_ns) {
            if (!again(t, w, now)) return too_hot(t, w->left_c, now - w->begin_ns, err);
            continue;
        }
        say(sweep, w, now);
        if (!goes_on(t, w, now))
            return wmi_error_set(err, WM_EINTERRUPTED, 0, "interrupted while waiting for the GPU to cool");
        const int64_t due = t->timeout_ns - (now - w->round_ns);
        t->sleep(t->time_user, due < poll_ns ? due : poll_ns);
        wmi_sensing_now(sweep->measure->sensing, WMI_SENSOR_BIT(GPU_HEADROOM), &r);
        w->left_c = r.value[WMI_SENSOR_GPU_HEADROOM];
        if (r.reason[WMI_SENSOR_GPU_HEADROOM]) {
            switch_off(sweep, wm_reason_text((wm_reason)r.reason[WMI_SENSOR_GPU_HEADROOM]));
            return WM_OK;
        }
    }
    return WM_OK;
}

static wm_status cool(wm_sweep *sweep, double left_c, wm_error *err) {
    wmi_thermal *t = &sweep->thermal;
    const int64_t begin = t->now(t->time_user);
    wait w = {begin, begin, begin, left_c};
    const wm_status status = wait_loop(sweep, &w, err);
    const int64_t waited = t->now(t->time_user) - begin;
    t->waited_ns += waited;
    sweep->session->thermal.waited_ns += waited;
    t->counting = status == WM_OK;
    t->runs = 0;
    if (status == WM_OK && t->mode != WMI_THERMAL_OFF)
        wmi_session_log(sweep->session, WM_LOG_INFO,
                        "%s: the GPU has cooled: %.0f degrees left, after %.0f s", sweep->name, w.left_c,
                        seconds(waited));
    return status;
}

wm_status wmi_thermal_guard(wm_sweep *sweep, wm_error *err) {
    wmi_thermal *t = &sweep->thermal;
    wm_reason why;
    if (t->mode == WMI_THERMAL_OFF) return WM_OK;
    const double left_c =
        wmi_sensing_latest(sweep->measure->sensing, WMI_SENSOR_GPU_HEADROOM, t->fresh_ns, &why);
    if (why) {
        switch_off(sweep, wm_reason_text(why));
        return WM_OK;
    }
    if (t->counting) t->runs++;
    if (left_c <= t->wait_c) {
        if (t->gave_up)
            return wmi_error_set(
                err, WM_EHOT, 0,
                "the GPU is still too hot: %.0f degrees are left until heat slows it down, and "
                "it did not cool to %.0f within the --thermal-timeout before",
                left_c, t->cont_c);
        adapt(t);
        return cool(sweep, left_c, err);
    }
    if (left_c < t->cont_c) return WM_OK;
    t->gave_up = false;
    t->counting = true;
    return WM_OK;
}
