#include "machine/facts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "machine/sysfs.h"

enum { CPUINFO_MAX = 16384 }; /* the first processors of /proc/cpuinfo */

static void read_names(wmi_machine *m) {
    struct utsname u;
    if (uname(&u) != 0) return;
    snprintf(m->host, sizeof m->host, "%s", u.nodename);
    snprintf(m->kernel, sizeof m->kernel, "%s %.100s %.100s", u.sysname, u.release, u.machine);
}

/* os-release(5): assignments as in a shell, with quotes where a value has blanks. */
static void read_os(wmi_machine *m, const char *root) {
    char text[4096], name[sizeof m->os];
    if (!wmi_sys_text(root, text, sizeof text, "/etc/os-release") &&
        !wmi_sys_text(root, text, sizeof text, "/usr/lib/os-release"))
        return;
    if (!wmi_sys_field(text, "PRETTY_NAME", '=', name, sizeof name)) return;
    size_t n = strlen(name);
    bool quoted = n >= 2 && (name[0] == '"' || name[0] == '\'') && name[n - 1] == name[0];
    snprintf(m->os, sizeof m->os, "%.*s", quoted ? (int)n - 2 : (int)n, quoted ? name + 1 : name);
}

/* ---- the processor ---- */

/* 64-bit Arm's cpuinfo has numbers only. These are the parts of servers and of boards that people measure on;
 * from Arm's technical reference manuals, register MIDR_EL1. */
static const struct {
    const char *implementer, *part, *name;
} arm_parts[] = {
    {"0x41", "0xd03", "Arm Cortex-A53"},  {"0x41", "0xd05", "Arm Cortex-A55"},
    {"0x41", "0xd07", "Arm Cortex-A57"},  {"0x41", "0xd08", "Arm Cortex-A72"},
    {"0x41", "0xd0b", "Arm Cortex-A76"},  {"0x41", "0xd0c", "Arm Neoverse N1"},
    {"0x41", "0xd40", "Arm Neoverse V1"}, {"0x41", "0xd49", "Arm Neoverse N2"},
    {"0x41", "0xd4f", "Arm Neoverse V2"}, {"0x46", "0x001", "Fujitsu A64FX"},
    {"0xc0", "0xac3", "Ampere Ampere-1"},
};

static void read_arm_model(wmi_machine *m, const char *cpuinfo) {
    char implementer[16], part[16];
    if (!wmi_sys_field(cpuinfo, "CPU implementer", ':', implementer, sizeof implementer) ||
        !wmi_sys_field(cpuinfo, "CPU part", ':', part, sizeof part))
        return;
    snprintf(m->cpu, sizeof m->cpu, "Arm implementer %s part %s", implementer, part);
    for (size_t i = 0; i < sizeof arm_parts / sizeof arm_parts[0]; i++)
        if (strcmp(arm_parts[i].implementer, implementer) == 0 && strcmp(arm_parts[i].part, part) == 0)
            snprintf(m->cpu, sizeof m->cpu, "%s", arm_parts[i].name);
}

/* x86 and others; POWER; RISC-V */
static void read_model(wmi_machine *m, const char *cpuinfo) {
    static const char *const keys[] = {"model name", "cpu", "uarch"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (wmi_sys_field(cpuinfo, keys[i], ':', m->cpu, sizeof m->cpu)) return;
    read_arm_model(m, cpuinfo);
}

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (strncmp(words, word, n) == 0 && (words[n] == ' ' || words[n] == '\0')) return true;
    return false;
}

static bool is_virtual(const char *root, const char *cpuinfo) {
    char text[4096];
    if (wmi_sys_field(cpuinfo, "flags", ':', text, sizeof text) && has_word(text, "hypervisor")) return true;
    return wmi_sys_line(root, text, sizeof text, "/sys/hypervisor/type") ||
           wmi_sys_line(root, text, sizeof text, "/proc/device-tree/hypervisor/compatible") ||
           (wmi_sys_line(root, text, sizeof text, "/sys/class/dmi/id/sys_vendor") &&
            strcmp(text, "QEMU") == 0);
}

/* ---- frequency ---- */

/* The governor of the first allowed processor whose frequency is not held at its highest, if there is one. */
static void read_governor(wmi_machine *m, const char *root, const char *allowed) {
    int first, last;
    char governor[sizeof m->governor];
    while (wmi_cpulist_next(&allowed, &first, &last)) {
        for (int cpu = first; cpu <= last; cpu++) {
            if (!wmi_sys_line(root, governor, sizeof governor,
                              "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
                continue;
            snprintf(m->governor, sizeof m->governor, "%s", governor);
            if (strcmp(governor, "performance") != 0) return;
        }
    }
}

static void read_max_hz(wmi_machine *m, const char *root, const char *allowed) {
    int first, last;
    int64_t khz;
    while (wmi_cpulist_next(&allowed, &first, &last))
        for (int cpu = first; cpu <= last; cpu++)
            if (wmi_sys_i64(root, &khz, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu) &&
                (double)khz * 1e3 > m->max_hz)
                m->max_hz = (double)khz * 1e3;
}

static int read_turbo(const char *root) {
    int64_t x;
    if (wmi_sys_i64(root, &x, "/sys/devices/system/cpu/intel_pstate/no_turbo")) return x == 0;
    if (wmi_sys_i64(root, &x, "/sys/devices/system/cpu/cpufreq/boost")) return x != 0;
    return -1;
}

static int read_smt(const char *root) {
    int64_t x;
    return wmi_sys_i64(root, &x, "/sys/devices/system/cpu/smt/active") ? x != 0 : -1;
}

/* ---- load and memory ---- */

static double read_load(const char *root) {
    char line[128];
    double x;
    if (!wmi_sys_line(root, line, sizeof line, "/proc/loadavg")) return -1;
    return wmi_number_parse(line, strcspn(line, " "), &x) ? x : -1;
}

static int64_t meminfo_bytes(const char *meminfo, const char *key) {
    char text[64];
    int64_t kib;
    if (!wmi_sys_field(meminfo, key, ':', text, sizeof text)) return -1;
    return wmi_i64_parse(text, strcspn(text, " "), &kib) && kib < INT64_MAX / 1024 ? kib * 1024 : -1;
}

static void read_memory(wmi_machine *m, const char *root, int64_t group_limit) {
    char meminfo[4096];
    wmi_sys_text(root, meminfo, sizeof meminfo, "/proc/meminfo");
    int64_t total = meminfo_bytes(meminfo, "MemTotal");
    int64_t available = meminfo_bytes(meminfo, "MemAvailable");
    m->memory_bytes = total > 0 ? total : 0;
    m->memory_free_bytes = available;
    if (group_limit < INT64_MAX && (available < 0 || group_limit < available))
        m->memory_free_bytes = group_limit;
}

void wmi_machine_read(wmi_machine *out, const char *root) {
    char cpuinfo[CPUINFO_MAX], online[WMI_CPULIST_MAX], allowed[WMI_CPULIST_MAX], status[8192];
    wmi_cgroup group;
    memset(out, 0, sizeof *out);
    wmi_sys_text(root, cpuinfo, sizeof cpuinfo, "/proc/cpuinfo");
    wmi_sys_line(root, online, sizeof online, "/sys/devices/system/cpu/online");
    wmi_sys_text(root, status, sizeof status, "/proc/self/status");
    if (!wmi_sys_field(status, "Cpus_allowed_list", ':', allowed, sizeof allowed))
        snprintf(allowed, sizeof allowed, "%s", online);
    wmi_cgroup_read(&group, root);
    out->cpus_online = wmi_cpulist_count(online);
    out->cpus_allowed = wmi_cpulist_count(allowed);
    out->cpu_quota = group.cpu_quota;
    out->virtual_machine = is_virtual(root, cpuinfo);
    out->turbo = read_turbo(root);
    out->smt = read_smt(root);
    out->load1 = read_load(root);
    read_names(out);
    read_os(out, root);
    read_model(out, cpuinfo);
    read_governor(out, root, allowed);
    read_max_hz(out, root, allowed);
    read_memory(out, root, group.memory_free_bytes);
    wmi_caches_read(out, root, online, allowed);
}
