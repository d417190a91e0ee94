#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"

wm_status wmi_plan_init(wmi_plan *plan, size_t metrics, wm_error *err) {
    memset(plan, 0, sizeof *plan);
    size_t n = metrics ? metrics : 1; /* so that NULL always means that memory ran out */
    plan->pass_of = calloc(n, sizeof *plan->pass_of);
    plan->reason = calloc(n, sizeof *plan->reason);
    plan->why = calloc(n, sizeof *plan->why);
    if (!plan->pass_of || !plan->reason || !plan->why) {
        wmi_plan_free(plan);
        return wmi_error_nomem(err);
    }
    plan->metric_count = metrics;
    return WM_OK;
}

wm_status wmi_plan_add_pass(wmi_plan *plan, wmi_pass pass, int32_t *index, wm_error *err) {
    wmi_pass *passes = realloc(plan->passes, (plan->pass_count + 1) * sizeof *passes);
    if (!passes) return wmi_error_nomem(err);
    plan->passes = passes;
    passes[plan->pass_count] = pass;
    *index = (int32_t)plan->pass_count++;
    return WM_OK;
}

void wmi_plan_free(wmi_plan *plan) {
    for (size_t i = 0; plan->why && i < plan->metric_count; i++) free(plan->why[i]);
    free(plan->why);
    free(plan->reason);
    free(plan->pass_of);
    free(plan->passes);
    memset(plan, 0, sizeof *plan);
}

const char *wmi_window_text(wmi_window_kind kind) {
    static const char *const names[] = {"sweep", "configuration", "run", "region"};
    return names[kind];
}
