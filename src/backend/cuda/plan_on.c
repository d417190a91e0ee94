/* The passes of a set on a chip that need not be here. */
#include <stdlib.h>

#include "backend/cuda/chip.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/replay.h"

/* Those of the set that the chip counts; the others are made of records, in one pass. */
typedef struct counted {
    const char **names;
    uint32_t *metric_of; /* their places in the set */
    size_t count;
} counted;

static wm_status place(const char *chip, const wmi_metric_set *set, wmi_plan *plan, counted *c,
                       wm_error *err) {
    int32_t clean = -1;
    for (uint32_t i = 0; i < set->count; i++) {
        wmi_metric about;
        wm_status s = wmi_cuda_describe(chip, set->names[i], &about, err);
        if (s == WM_OK && about.of == WMI_OF_NONE) {
            c->names[c->count] = set->names[i];
            c->metric_of[c->count++] = i;
        } else if (s == WM_OK) {
            const wmi_pass pass = {.window = WMI_WINDOW_CONFIG};
            if (clean < 0) s = wmi_plan_add_pass(plan, pass, &clean, err);
            plan->pass_of[i] = clean;
        }
        if (s != WM_OK) return s;
    }
    return WM_OK;
}

static wm_status plan_counters(wmi_chip *chip, const wmi_metric_set *set, const counted *c, wmi_plan *plan,
                               wm_error *err) {
    const wmi_backend_opts opts = {.set = set};
    const wmi_replay_how how = {.opts = &opts};
    wmi_replay_plan *made = NULL;
    if (c->count == 0) return WM_OK;
    const wm_status s = wmi_replay_plan_make(chip, c->names, c->metric_of, c->count, &how, plan, &made, err);
    wmi_replay_plan_destroy(made);
    return s;
}

static wm_status fill(wmi_chip *chip, const wmi_metric_set *set, wmi_plan *plan, wm_error *err) {
    counted c = {malloc((set->count + 1) * sizeof *c.names), malloc((set->count + 1) * sizeof *c.metric_of),
                 0};
    wm_status s = c.names && c.metric_of ? WM_OK : wmi_error_nomem(err);
    if (s == WM_OK) s = place(wmi_chip_name(chip), set, plan, &c, err);
    if (s == WM_OK) s = plan_counters(chip, set, &c, plan, err);
    free(c.names);
    free(c.metric_of);
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
