#include <limits.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/pfm_dl.h"
#include "backend/cpu/sensors.h"

static void probe_thread_time(wmi_probe *out) {
    struct timespec r;
    if (clock_getres(CLOCK_THREAD_CPUTIME_ID, &r) == 0)
        wmi_probe_add(out, "cpu", "cpu_time", WMI_STATE_OK, "", "", "the thread's clock, in steps of %lld ns",
                      (long long)r.tv_sec * 1000000000 + r.tv_nsec);
    else
        wmi_probe_add(out, "cpu", "cpu_time", WMI_STATE_ABSENT, "the kernel keeps no clock for a thread", "",
                      "%s", "");
}

/* Of perf's events of one kind: how many can be had, and why the first of the others cannot. */
typedef struct census {
    int found, asked;
    bool user_only;
    wm_reason reason;
    wmi_buf why, remedy;
} census;

static void count_event(const wmi_perf_sys *sys, wmi_perf_event *event, wmi_cpu_modes *modes, census *c) {
    wmi_buf why = WMI_BUF_INIT, remedy = WMI_BUF_INIT;
    wm_reason reason = wmi_cpu_check(sys, modes, event, &why, &remedy);
    c->asked++;
    c->found += reason == WM_REASON_NONE;
    if (reason != WM_REASON_NONE && c->reason == WM_REASON_NONE) {
        c->reason = reason;
        c->why = why;
        c->remedy = remedy;
        return;
    }
    wmi_buf_free(&why);
    wmi_buf_free(&remedy);
}

static census take_census(const wmi_perf_sys *sys, bool software) {
    census c = {0};
    wmi_cpu_modes modes = {false};
    for (size_t i = 0; i < wmi_perf_names(); i++) {
        wmi_perf_event event;
        if (wmi_perf_parse(wmi_perf_name(i), &event, NULL) != WM_OK) continue;
        if (wmi_perf_is_software(&event.attr) == software) count_event(sys, &event, &modes, &c);
    }
    c.user_only = modes.user_only;
    return c;
}

static const char *text_of(const wmi_buf *b) { return b->len > 0 ? b->data : ""; }

static void report_census(wmi_probe *out, const char *item, const census *c, const char *no_event_remedy) {
    const char *remedy = c->reason == WM_REASON_NO_EVENT ? no_event_remedy : text_of(&c->remedy);
    if (c->found == 0)
        wmi_probe_add(out, "perf", item, WMI_STATE_ABSENT, text_of(&c->why), remedy, "%s", "");
    else if (c->user_only)
        wmi_probe_add(out, "perf", item, WMI_STATE_LIMITED, "kernel code may not be counted",
                      "sysctl -w kernel.perf_event_paranoid=1", "%d of %d, user code alone", c->found,
                      c->asked);
    else
        wmi_probe_add(out, "perf", item, WMI_STATE_OK, "", "", "%d of %d", c->found, c->asked);
}

/* Every branch counter is as good as another, so as many of them as run together is the number of counters
 * that any events can have at once. Events with counters of their own, such as cycles on x86, come on top. */
static int usable_counters(const wmi_perf_sys *sys) {
    enum { MOST = 16 };
    wmi_perf_event event;
    wmi_perf_group g;
    wmi_cpu_modes modes = {false};
    wmi_buf why = WMI_BUF_INIT, remedy = WMI_BUF_INIT;
    int count = 0;
    if (wmi_perf_parse("branches", &event, NULL) == WM_OK &&
        wmi_cpu_check(sys, &modes, &event, &why, &remedy) == WM_REASON_NONE &&
        wmi_perf_group_init(&g, sys, MOST)) {
        while (count < MOST && wmi_perf_group_grow(&g, &event.attr)) count++;
        wmi_perf_group_fini(&g);
    }
    wmi_buf_free(&why);
    wmi_buf_free(&remedy);
    return count;
}

static void probe_perf(const wmi_perf_sys *sys, wmi_probe *out) {
    int level = wmi_perf_paranoid();
    if (level == INT_MIN)
        wmi_probe_add(out, "perf", "kernel.perf_event_paranoid", WMI_STATE_ABSENT, "it cannot be read", "",
                      "%s", "");
    else
        wmi_probe_add(out, "perf", "kernel.perf_event_paranoid", WMI_STATE_OK, "", "", "%d", level);
    census software = take_census(sys, true), hardware = take_census(sys, false);
    report_census(out, "software events", &software, "");
    report_census(out, "hardware events", &hardware,
                  "in a virtual machine: have the host pass its counters on (KVM: -cpu host,pmu=on)");
    if (hardware.found > 0)
        wmi_probe_add(out, "perf", "hardware counters", WMI_STATE_OK, "", "", "%d can count together",
                      usable_counters(sys));
    if (software.why.failed || software.remedy.failed || hardware.why.failed || hardware.remedy.failed)
        out->failed = true;
    wmi_buf_free(&software.why);
    wmi_buf_free(&software.remedy);
    wmi_buf_free(&hardware.why);
    wmi_buf_free(&hardware.remedy);
}

static void probe_pfm(wmi_probe *out) {
    char version[16];
    const char *path;
    wm_error why = WM_ERROR_INIT;
    if (wmi_pfm_library(version, &path, &why) == WM_OK)
        wmi_probe_add(out, "perf", "libpfm4", WMI_STATE_OK, "", "", "%s (%s)", version, path);
    else
        wmi_probe_add(out, "perf", "libpfm4", WMI_STATE_ABSENT, why.message,
                      "apt-get install libpfm4; only names beyond perf's own need it", "%s", "");
}

void wmi_cpu_probe(const wmi_perf_sys *sys, wmi_probe *out) {
    probe_thread_time(out);
    wmi_cpu_sensors_probe("", out);
    probe_perf(sys, out);
    probe_pfm(out);
}
