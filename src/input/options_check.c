/* What options contradict. */
#include <string.h>

#include "input/axes.h"
#include "input/option_table.h"

static const char *name_of(size_t id) { return wmi_option_table[id].name; }

static wm_status fail_pair(wm_error *err, size_t a, size_t b, const char *why) {
    return wmi_error_set(err, WM_EINVAL, 0, "--%s and --%s: %s", name_of(a), name_of(b), why);
}

static wm_status check_runs(const wmi_options *o, wm_error *err) {
    const struct {
        bool given;
        size_t id;
    } rules[] = {{o->min_time_ns > 0, WMI_OPT_MIN_TIME},
                 {o->max_noise > 0, WMI_OPT_MAX_NOISE},
                 {o->target_ci > 0, WMI_OPT_TARGET_CI},
                 {o->min_runs > 0, WMI_OPT_MIN_RUNS},
                 {o->max_runs > 0, WMI_OPT_MAX_RUNS}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (o->runs >= 0 && rules[i].given)
            return fail_pair(err, WMI_OPT_RUNS, rules[i].id,
                             "the number of runs is either fixed or found while running; give one of them");
    if (o->min_runs > 0 && o->max_runs > 0 && o->min_runs > o->max_runs)
        return wmi_error_set(err, WM_EINVAL, 0, "--min-runs %lld is above --max-runs %lld",
                             (long long)o->min_runs, (long long)o->max_runs);
    return WM_OK;
}

static wm_status check_zip(const wmi_options *o, wm_error *err) {
    if (!o->zip) return WM_OK;
    bool all = strcmp(o->zip, "*") == 0;
    size_t zipped = all ? o->axes.n + (o->thread_count > 0) : 1;
    for (const char *c = o->zip; *c && !all; c++) zipped += *c == ',';
    if (zipped >= 2) return WM_OK;
    return wmi_error_set(err, WM_EINVAL, 0,
                         "--zip '%.100s' takes two axes at least: names separated by commas, or *", o->zip);
}

static wm_status check_seed(const wmi_options *o, wm_error *err) {
    if (!o->seed_given || o->order == WMI_ORDER_RANDOM) return WM_OK;
    return wmi_error_set(err, WM_EINVAL, 0, "--seed has no meaning without --order random");
}

/* Options that put something else in the place of measuring: one at a time, and no
 * results to write. */
static wm_status check_modes(const wmi_options *o, wm_error *err) {
    const struct {
        bool given;
        size_t id;
    } modes[] = {{o->list, WMI_OPT_LIST},
                 {o->help_axes, WMI_OPT_HELP_AXES},
                 {o->list_metrics, WMI_OPT_LIST_METRICS},
                 {o->dry_run, WMI_OPT_DRY_RUN},
                 {o->profile, WMI_OPT_PROFILE}};
    size_t mode = WMI_OPT_COUNT;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (!modes[i].given) continue;
        if (mode != WMI_OPT_COUNT) return fail_pair(err, mode, modes[i].id, "give one of them");
        mode = modes[i].id;
    }
    if (mode == WMI_OPT_COUNT) return WM_OK;
    if (o->samples_path)
        return fail_pair(err, mode, WMI_OPT_SAMPLES, "nothing is measured, so there are no samples");
    if (o->kernels_path)
        return fail_pair(err, mode, WMI_OPT_KERNELS, "nothing is measured, so there are no kernels");
    if (mode == WMI_OPT_PROFILE && o->out.n)
        return fail_pair(err, mode, WMI_OPT_OUT, "nothing is measured, so there is no table");
    if (mode == WMI_OPT_PROFILE && o->format)
        return fail_pair(err, mode, WMI_OPT_FORMAT, "nothing is measured, so there is no table");
    return WM_OK;
}

enum { THERMAL_WAIT = 10, THERMAL_CONT = 20 };

static wm_status check_thermal(const wmi_options *o, wm_error *err) {
    const int64_t wait = o->thermal_wait >= 0 ? o->thermal_wait : THERMAL_WAIT;
    const int64_t cont = o->thermal_cont >= 0 ? o->thermal_cont : THERMAL_CONT;
    if (cont > wait) return WM_OK;
    return wmi_error_set(
        err, WM_EINVAL, 0,
        "--thermal-cont %lld must be above --thermal-wait %lld: it goes on when so many degrees "
        "are left again",
        (long long)cont, (long long)wait);
}

static bool same_path(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static wm_status fail_path(wm_error *err, size_t a, size_t b, const char *path) {
    return wmi_error_set(err, WM_EINVAL, 0, "--%s and --%s name the same file, '%.200s'", name_of(a),
                         name_of(b), path);
}

static wm_status check_paths(const wmi_options *o, wm_error *err) {
    for (size_t i = 0; i < o->out.n; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(o->out.v[i], o->out.v[j]) == 0)
                return wmi_error_set(err, WM_EINVAL, 0, "--out '%.200s' is there twice", o->out.v[i]);
        if (same_path(o->out.v[i], o->samples_path))
            return fail_path(err, WMI_OPT_OUT, WMI_OPT_SAMPLES, o->samples_path);
        if (same_path(o->out.v[i], o->kernels_path))
            return fail_path(err, WMI_OPT_OUT, WMI_OPT_KERNELS, o->kernels_path);
    }
    if (same_path(o->samples_path, o->kernels_path))
        return fail_path(err, WMI_OPT_SAMPLES, WMI_OPT_KERNELS, o->kernels_path);
    return WM_OK;
}

wm_status wmi_options_check(const wmi_options *o, wm_error *err) {
    if (o->help || o->version) return WM_OK;
    wm_status s = check_runs(o, err);
    if (s == WM_OK) s = check_zip(o, err);
    if (s == WM_OK) s = check_seed(o, err);
    if (s == WM_OK) s = check_thermal(o, err);
    if (s == WM_OK) s = check_modes(o, err);
    if (s == WM_OK) s = check_paths(o, err);
    if (s == WM_OK) s = wmi_configs_distinct(o->configs.v, o->configs.n, err);
    return s;
}
