/* The passes of a set on a chip that need not be here. */
#include <stdlib.h>

#include "backend/cuda/chip.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/replay.h"

wm_status wmi_cuda_counted_of(const char *chip, const wmi_metric_set *set, wmi_cuda_counted *out,
                              wm_error *err) {
    wm_status s = WM_OK;
    *out = (wmi_cuda_counted){malloc((set->count + 1) * sizeof *out->names),
                              malloc((set->count + 1) * sizeof *out->metric_of), 0};
    if (!out->names || !out->metric_of) s = wmi_error_nomem(err);
    for (uint32_t i = 0; i < set->count && s == WM_OK; i++) {
        wmi_metric about;
        s = wmi_cuda_describe(chip, set->names[i], &about, err);
        if (s != WM_OK || about.of != WMI_OF_NONE) continue;
        out->names[out->count] = set->names[i];
        out->metric_of[out->count++] = i;
    }
    if (s != WM_OK) wmi_cuda_counted_free(out);
    return s;
}

void wmi_cuda_counted_free(wmi_cuda_counted *c) {
    free(c->names);
    free(c->metric_of);
    *c = (wmi_cuda_counted){0};
}

/* The others are made of records, in one pass. */
static wm_status plan_records(const wmi_metric_set *set, const wmi_cuda_counted *c, wmi_plan *plan,
                              wm_error *err) {
    int32_t clean;
    if (c->count == set->count) return WM_OK;
    const wm_status s = wmi_plan_add_pass(plan, (wmi_pass){.window = WMI_WINDOW_CONFIG}, &clean, err);
    for (size_t i = 0, k = 0; i < set->count && s == WM_OK; i++) {
        if (k < c->count && c->metric_of[k] == i)
            k++;
        else
            plan->pass_of[i] = clean;
    }
    return s;
}

static wm_status plan_counters(wmi_chip *chip, const wmi_metric_set *set, const wmi_cuda_counted *c,
                               wmi_plan *plan, wm_error *err) {
    const wmi_backend_opts opts = {.set = set};
    const wmi_replay_how how = {.opts = &opts};
    wmi_replay_plan *made = NULL;
    if (c->count == 0) return WM_OK;
    const wm_status s = wmi_replay_plan_make(chip, c->names, c->metric_of, c->count, &how, plan, &made, err);
    wmi_replay_plan_destroy(made);
    return s;
}

static wm_status fill(wmi_chip *chip, const wmi_metric_set *set, wmi_plan *plan, wm_error *err) {
    wmi_cuda_counted c;
    wm_status s = wmi_cuda_counted_of(wmi_chip_name(chip), set, &c, err);
    if (s != WM_OK) return s;
    s = plan_records(set, &c, plan, err);
    if (s == WM_OK) s = plan_counters(chip, set, &c, plan, err);
    wmi_cuda_counted_free(&c);
    return s;
}

wm_status wmi_cuda_plan_on(const char *chip, const wmi_metric_set *set, wmi_plan *out, wm_error *err) {
    wmi_chip *asked = NULL;
    wmi_plan plan = {0};
    wm_status s = wmi_chip_find(chip, &asked, err);
    if (s == WM_OK) s = wmi_plan_init(&plan, set->count, err);
    if (s == WM_OK) s = fill(asked, set, &plan, err);
    if (s == WM_OK)
        *out = plan;
    else
        wmi_plan_free(&plan);
    return s;
}
