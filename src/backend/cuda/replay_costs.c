#include <string.h>

#include "backend/cuda/replay.h"

/* Milliseconds on an H200 (driver 580, CUPTI 13.0). Windows on counters of memory are dear; those of
 * the multiprocessors cost more for each kernel. */
static const wmi_replay_costs time_costs = {0.22, 0.01};
static const wmi_replay_costs sm_costs = {3.2, 0.87};
static const wmi_replay_costs memory_costs = {13.0, 0.22};

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
    wmi_replay_costs c = time_costs;
    for (size_t i = 0; i < count; i++) {
        const wmi_replay_costs *of = unit_is(names[i], memory) ? &memory_costs
                                     : unit_is(names[i], time) ? &time_costs
                                                               : &sm_costs;
        if (of->window_ms > c.window_ms) c.window_ms = of->window_ms;
        if (of->kernel_ms > c.kernel_ms) c.kernel_ms = of->kernel_ms;
    }
    return c;
}

double wmi_replay_stacked_ms(const wmi_replay_survey *survey, wmi_replay_costs costs, size_t passes) {
    const double kernels = survey->kernels_in + survey->kernels_out;
    return (double)passes * (costs.window_ms + survey->runs * kernels * costs.kernel_ms);
}

/* Where no kernel, or every kernel, is in a region, one window around a run does as well. */
double wmi_replay_windows_ms(const wmi_replay_survey *survey, wmi_replay_costs costs) {
    const bool whole = survey->kernels_in <= 0 || survey->kernels_out <= 0;
    const double windows = whole ? 1.0 : survey->regions;
    const double kernels = whole ? survey->kernels_in + survey->kernels_out : survey->kernels_in;
    return survey->runs * (windows * costs.window_ms + kernels * costs.kernel_ms);
}
