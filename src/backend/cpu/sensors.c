#include "backend/cpu/sensors.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/sysfs.h"

enum { PACKAGES_MAX = 32, COUNTS = 2 };
static const char *const count_names[COUNTS] = {"core_throttle_count", "package_throttle_count"};
#define RAPL "/sys/class/powercap/intel-rapl:"

/* A file that stays open, or why it does not. */
typedef struct sensor_file {
    int fd; /* -1: not open */
    wm_reason reason;
} sensor_file;

/* The energy of one package, whose counter starts anew when it has come to its range. */
typedef struct package {
    sensor_file file;
    int64_t range_uj, last_uj; /* last: -1 before the first reading */
    int64_t total_uj;
} package;

struct wmi_cpu_sensors {
    const char *root;
    int cpu; /* whose files are open; -1: none */
    sensor_file clock, counts[COUNTS];
    int64_t counted[COUNTS]; /* -1: not read yet */
    bool raised;             /* a count rose on a processor that was left */
    package packages[PACKAGES_MAX];
    size_t package_count;
    bool looked; /* for packages */
};

static wm_reason reason_of(int errnum) {
    switch (errnum) {
    case EACCES:
    case EPERM: return WM_REASON_PERMISSION;
    case ENOENT:
    case ENOTDIR: return WM_REASON_NO_SENSOR;
    default: return WM_REASON_BACKEND;
    }
}

static sensor_file file_of(int fd) { return (sensor_file){fd, fd < 0 ? reason_of(errno) : WM_REASON_NONE}; }

static void file_close(sensor_file *f) {
    if (f->fd >= 0) close(f->fd);
    *f = (sensor_file){-1, WM_REASON_NO_SENSOR};
}

static wm_reason file_read(const sensor_file *f, int64_t *out) {
    if (f->fd < 0) return f->reason;
    return wmi_sys_reread(f->fd, out) ? WM_REASON_NONE : reason_of(errno);
}

/* ---- one processor: its clock and its counts ---- */

/* WM_REASON_NONE when one of the counts can be read. *rose: one has, since it was read before. */
static wm_reason counts_read(wmi_cpu_sensors *s, bool *rose) {
    wm_reason why = WM_REASON_NO_SENSOR;
    bool any = false;
    for (int i = 0; i < COUNTS; i++) {
        int64_t count = 0;
        const wm_reason reason = file_read(&s->counts[i], &count);
        if (reason != WM_REASON_NONE) {
            if (reason != WM_REASON_NO_SENSOR) why = reason;
            continue;
        }
        any = true;
        *rose |= s->counted[i] >= 0 && count > s->counted[i];
        s->counted[i] = count;
    }
    return any ? WM_REASON_NONE : why;
}

static void cpu_leave(wmi_cpu_sensors *s) {
    file_close(&s->clock);
    for (int i = 0; i < COUNTS; i++) {
        file_close(&s->counts[i]);
        s->counted[i] = -1;
    }
    s->cpu = -1;
}

/* What the thread met on the processor that it left still counts. */
static void cpu_enter(wmi_cpu_sensors *s, int cpu) {
    if (cpu == s->cpu) return;
    (void)counts_read(s, &s->raised);
    cpu_leave(s);
    s->cpu = cpu;
    if (cpu < 0) return;
    s->clock = file_of(wmi_sys_open(s->root, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu));
    for (int i = 0; i < COUNTS; i++)
        s->counts[i] = file_of(
            wmi_sys_open(s->root, "/sys/devices/system/cpu/cpu%d/thermal_throttle/%s", cpu, count_names[i]));
}

static void clock_read(const wmi_cpu_sensors *s, wmi_sensed *out) {
    int64_t khz = 0;
    const wm_reason why = file_read(&s->clock, &khz);
    out->reason[WMI_SENSOR_CPU_CLOCK] = (uint8_t)why;
    if (why == WM_REASON_NONE) wmi_sensed_set(out, WMI_SENSOR_CPU_CLOCK, (double)khz * 1e3);
}

static void throttle_read(wmi_cpu_sensors *s, wmi_sensed *out) {
    const wm_reason why = counts_read(s, &s->raised);
    out->reason[WMI_SENSOR_CPU_THROTTLE] = (uint8_t)why;
    if (why == WM_REASON_NONE)
        wmi_sensed_set(out, WMI_SENSOR_CPU_THROTTLE, s->raised ? WMI_THROTTLE(THERMAL) : 0);
    s->raised = false;
}

/* ---- all packages: energy ---- */

/* Zones of other names, such as psys, hold the packages or parts of them, and would count twice. */
static void packages_find(wmi_cpu_sensors *s) {
    s->looked = true;
    for (int zone = 0; zone < PACKAGES_MAX; zone++) {
        char name[64];
        package *p = &s->packages[s->package_count];
        if (!wmi_sys_line(s->root, name, sizeof name, RAPL "%d/name", zone) || strncmp(name, "package", 7))
            continue;
        if (!wmi_sys_i64(s->root, &p->range_uj, RAPL "%d/max_energy_range_uj", zone)) continue;
        p->file = file_of(wmi_sys_open(s->root, RAPL "%d/energy_uj", zone));
        p->last_uj = -1;
        s->package_count++;
    }
}

static wm_reason package_read(package *p) {
    int64_t now_uj = 0;
    const wm_reason why = file_read(&p->file, &now_uj);
    if (why != WM_REASON_NONE) return why;
    if (p->last_uj >= 0) p->total_uj += now_uj - p->last_uj + (now_uj < p->last_uj ? p->range_uj : 0);
    p->last_uj = now_uj;
    return WM_REASON_NONE;
}

/* All packages or nothing: a sum over some of them would be too small. */
static void energy_read(wmi_cpu_sensors *s, wmi_sensed *out) {
    int64_t total_uj = 0;
    if (!s->looked) packages_find(s);
    wm_reason why = s->package_count ? WM_REASON_NONE : WM_REASON_NO_SENSOR;
    for (size_t i = 0; i < s->package_count; i++) {
        const wm_reason reason = package_read(&s->packages[i]);
        if (why == WM_REASON_NONE) why = reason;
        total_uj += s->packages[i].total_uj;
    }
    out->reason[WMI_SENSOR_CPU_ENERGY] = (uint8_t)why;
    if (why == WM_REASON_NONE) wmi_sensed_set(out, WMI_SENSOR_CPU_ENERGY, (double)total_uj * 1e-6);
}

/* ---- all of them ---- */

wmi_cpu_sensors *wmi_cpu_sensors_create(const char *root) {
    wmi_cpu_sensors *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->root = root;
    s->clock.fd = -1;
    for (int i = 0; i < COUNTS; i++) s->counts[i].fd = -1;
    cpu_leave(s);
    return s;
}

void wmi_cpu_sensors_destroy(wmi_cpu_sensors *s) {
    if (!s) return;
    cpu_leave(s);
    for (size_t i = 0; i < s->package_count; i++) file_close(&s->packages[i].file);
    free(s);
}

void wmi_cpu_sensors_read(wmi_cpu_sensors *s, uint32_t which, int cpu, wmi_sensed *out) {
    cpu_enter(s, cpu);
    if (which & WMI_SENSOR_BIT(CPU_CLOCK)) clock_read(s, out);
    if (which & WMI_SENSOR_BIT(CPU_ENERGY)) energy_read(s, out);
    if (which & WMI_SENSOR_BIT(CPU_THROTTLE)) throttle_read(s, out);
}

/* ---- doctor ---- */

static void probe_clock(const wmi_sensed *r, wmi_probe *out) {
    const double hz = r->value[WMI_SENSOR_CPU_CLOCK];
    if (r->reason[WMI_SENSOR_CPU_CLOCK])
        wmi_probe_add(out, "cpu", "cpu_clock_hz", WMI_STATE_ABSENT,
                      "the kernel has no frequency of this processor (cpufreq)",
                      "in a virtual machine: measure on the host; else load a driver, such as acpi-cpufreq",
                      "%s", "");
    else
        wmi_probe_add(out, "cpu", "cpu_clock_hz", WMI_STATE_OK, "", "", "%.0f MHz now", hz * 1e-6);
}

static void probe_energy(const wmi_cpu_sensors *s, const wmi_sensed *r, wmi_probe *out) {
    const wm_reason why = (wm_reason)r->reason[WMI_SENSOR_CPU_ENERGY];
    if (why == WM_REASON_NONE)
        wmi_probe_add(out, "cpu", "cpu_energy_j", WMI_STATE_OK, "", "", "of %zu package%s", s->package_count,
                      s->package_count == 1 ? "" : "s");
    else if (why == WM_REASON_PERMISSION)
        wmi_probe_add(out, "cpu", "cpu_energy_j", WMI_STATE_ABSENT, RAPL "*/energy_uj is for root alone",
                      "run as root, or chmod a+r " RAPL "*/energy_uj", "%s", "");
    else
        wmi_probe_add(out, "cpu", "cpu_energy_j", WMI_STATE_ABSENT,
                      "the kernel has no energy of the packages (powercap)",
                      "in a virtual machine: measure on the host; else modprobe intel_rapl_msr", "%s", "");
}

static void probe_throttle(const wmi_sensed *r, wmi_probe *out) {
    if (r->reason[WMI_SENSOR_CPU_THROTTLE])
        wmi_probe_add(out, "cpu", "cpu_throttle", WMI_STATE_ABSENT,
                      "the kernel does not count how often heat slows this processor down",
                      "in a virtual machine: measure on the host", "%s", "");
    else
        wmi_probe_add(out, "cpu", "cpu_throttle", WMI_STATE_OK, "", "", "the counts of core and package");
}

void wmi_cpu_sensors_probe(const char *root, wmi_probe *out) {
    wmi_sensed r;
    wmi_cpu_sensors *s = wmi_cpu_sensors_create(root);
    if (!s) {
        out->failed = true;
        return;
    }
    wmi_sensed_clear(&r, WM_REASON_NO_SENSOR);
    wmi_cpu_sensors_read(s, WMI_CPU_SENSORS, sched_getcpu(), &r);
    probe_clock(&r, out);
    probe_energy(s, &r, out);
    probe_throttle(&r, out);
    wmi_cpu_sensors_destroy(s);
}
