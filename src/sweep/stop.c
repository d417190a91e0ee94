#include "sweep/stop.h"

const char *wmi_stop_reason(const wmi_stop_rules *rules, const wmi_stop_view *view) {
    if (rules->runs >= 0 && view->runs >= rules->runs) return "runs";
    if (rules->timeout_ns > 0 && view->elapsed_ns >= (double)rules->timeout_ns) return "timeout";
    if (rules->runs >= 0) return NULL;
    if (view->runs >= rules->max_runs) return "max-runs";
    if (view->runs < rules->min_runs) return NULL;
    const char *reason = "min-runs";
    if (rules->min_time_ns > 0) {
        if (view->measured_ns < (double)rules->min_time_ns) return NULL;
        reason = "min-time";
    }
    if (rules->max_noise > 0) {
        if (!(view->noise <= rules->max_noise)) return NULL;
        reason = "max-noise";
    }
    if (rules->target_ci > 0) {
        if (!(view->ci <= rules->target_ci)) return NULL;
        reason = "target-ci";
    }
    return reason;
}
