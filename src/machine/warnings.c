#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "machine/machine.h"

/* Turbo is left out on purpose: it is on nearly everywhere, so that a warning would say nothing. */

/* "userspace" holds the frequency that somebody chose. */
static bool governor_warning(const wmi_machine *m, wmi_machine_warning *w) {
    if (!m->governor[0] || strcmp(m->governor, "performance") == 0 || strcmp(m->governor, "userspace") == 0)
        return false;
    snprintf(w->what, sizeof w->what, "the frequency governor is %s, so the clock of the processor varies",
             m->governor);
    snprintf(w->remedy, sizeof w->remedy, "cpupower frequency-set -g performance");
    return true;
}

/* One processor's worth may be this program's own, from a run before. Of the others, half may be busy. */
static bool load_warning(const wmi_machine *m, wmi_machine_warning *w) {
    if (m->cpus_online < 1 || m->load1 <= 1 + 0.5 * (m->cpus_online - 1)) return false;
    snprintf(w->what, sizeof w->what, "the load is %.1f on %d processors, so other programs are running",
             m->load1, m->cpus_online);
    snprintf(w->remedy, sizeof w->remedy, "stop them or wait until they end");
    return true;
}

static bool quota_warning(const wmi_machine *m, wmi_machine_warning *w) {
    if (m->cpu_quota <= 0 || m->cpu_quota >= m->cpus_allowed) return false;
    snprintf(w->what, sizeof w->what,
             "a control group grants the time of %.4g of %d processors and halts the process beyond it",
             m->cpu_quota, m->cpus_allowed);
    if (m->cpu_quota >= 1)
        snprintf(w->remedy, sizeof w->remedy, "use at most %d threads, or lift the limit (cpu.max)",
                 (int)m->cpu_quota);
    else
        snprintf(w->remedy, sizeof w->remedy, "lift the limit (cpu.max; docker run --cpus)");
    return true;
}

int wmi_machine_warnings(const wmi_machine *m, wmi_machine_warning *out, int max) {
    static bool (*const checks[])(const wmi_machine *, wmi_machine_warning *) = {governor_warning,
                                                                                 load_warning, quota_warning};
    int n = 0;
    locale_t previous = wmi_c_locale_enter();
    for (size_t i = 0; i < sizeof checks / sizeof checks[0] && n < max; i++)
        if (checks[i](m, &out[n])) n++;
    wmi_c_locale_leave(previous);
    return n;
}
