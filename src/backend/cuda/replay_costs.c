#include <string.h>

#include "backend/cuda/replay.h"

/* Milliseconds on an H200 (driver 580, CUPTI 13.0). Windows on counters of memory are dear; those of
 * the multiprocessors cost more for each kernel. */
static const wmi_replay_costs time_costs = {7.7, 0.05, 1.0};
static const wmi_replay_costs sm_costs = {4.5, 0.95, 1.0};
static const wmi_replay_costs memory_costs = {13.5, 0.05, 1.0};

/* The unit may have a prefix of its own: "LTS.TriageCompute.lts__…". */
static bool unit_is(const char *name, const char *const *units) {
    const char *end = strstr(name, "__");
    const size_t n = end ? (size_t)(end - name) : strlen(name);
    for (; *units; units++) {
        const size_t m = strlen(*units);
        if (n >= m && !strncmp(name + n - m, *units, m) && (n == m || name[n - m - 1] == '.')) return true;
    }
    return false;
}

wmi_replay_costs wmi_replay_costs_of(const char *const *names, size_t count) {
    static const char *const memory[] = {"dram", "fbpa", "lts", "ltc", NULL};
    static const char *const time[] = {"gpu", "gpc", NULL};
    wmi_replay_costs c = {0};
    for (size_t i = 0; i < count; i++) {
        const wmi_replay_costs *of = unit_is(names[i], memory) ? &memory_costs
                                     : unit_is(names[i], time) ? &time_costs
                                                               : &sm_costs;
        if (of->window_ms > c.window_ms) c.window_ms = of->window_ms;
        if (of->kernel_ms > c.kernel_ms) c.kernel_ms = of->kernel_ms;
        if (of->room_ms > c.room_ms) c.room_ms = of->room_ms;
    }
    return c;
}

static double kernels_of_run(const wmi_replay_survey *s) { return s->kernels_in + s->kernels_out; }

double wmi_replay_stacked_ms(const wmi_replay_survey *s, wmi_replay_costs costs, size_t passes) {
    const double kernels = s->runs * kernels_of_run(s);
    return kernels * costs.room_ms + (double)passes * (costs.window_ms + kernels * costs.kernel_ms);
}

double wmi_replay_runs_ms(const wmi_replay_survey *s, wmi_replay_costs costs) {
    const double kernels = kernels_of_run(s);
    return kernels * costs.room_ms + s->runs * (costs.window_ms + kernels * costs.kernel_ms);
}

/* A region may hold all kernels that are in regions: that is what a window has room for. */
double wmi_replay_regions_ms(const wmi_replay_survey *s, wmi_replay_costs costs) {
    return s->kernels_in * costs.room_ms +
           s->runs * (s->regions * costs.window_ms + s->kernels_in * costs.kernel_ms);
}
