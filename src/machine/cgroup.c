#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "machine/facts.h"
#include "machine/sysfs.h"

/* How the two versions of control groups name the same things. */
typedef struct memory_files {
    const char *mount, *limit, *usage, *inactive, *active;
} memory_files;
static const memory_files memory_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                       "memory.usage_in_bytes", "total_inactive_file", "total_active_file"};
static const memory_files memory_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file",
                                       "active_file"};

static int64_t field_i64(const char *text, const char *key) {
    char value[32];
    int64_t x;
    bool known =
        wmi_sys_field(text, key, ' ', value, sizeof value) && wmi_i64_parse(value, strlen(value), &x);
    return known && x > 0 && x < INT64_MAX / 2 ? x : 0;
}

/* Pages of files count as used, but the kernel gives them up when memory is asked for. */
static void limit_memory(wmi_cgroup *out, const char *root, const memory_files *f, const char *group) {
    char stat[8192];
    int64_t limit, usage;
    if (!wmi_sys_i64(root, &limit, "%s%s/%s", f->mount, group, f->limit)) return; /* "max" is none either */
    if (limit < 0) return;
    if (!wmi_sys_i64(root, &usage, "%s%s/%s", f->mount, group, f->usage) || usage < 0) usage = 0;
    wmi_sys_text(root, stat, sizeof stat, "%s%s/memory.stat", f->mount, group);
    int64_t files = field_i64(stat, f->inactive) + field_i64(stat, f->active);
    int64_t held = files < usage ? usage - files : 0;
    int64_t left = held < limit ? limit - held : 0;
    if (left < out->memory_free_bytes) out->memory_free_bytes = left;
}

static void limit_cpu(wmi_cgroup *out, int64_t quota, int64_t period) {
    if (quota <= 0 || period <= 0) return;
    double cpus = (double)quota / (double)period;
    if (out->cpu_quota <= 0 || cpus < out->cpu_quota) out->cpu_quota = cpus;
}

static void limit_cpu_v1(wmi_cgroup *out, const char *root, const char *group) {
    int64_t quota, period;
    if (wmi_sys_i64(root, &quota, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group) &&
        wmi_sys_i64(root, &period, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group))
        limit_cpu(out, quota, period);
}

/* "200000 100000" or "max 100000" */
static void limit_cpu_v2(wmi_cgroup *out, const char *root, const char *group) {
    char line[64];
    int64_t quota, period;
    if (!wmi_sys_line(root, line, sizeof line, "/sys/fs/cgroup%s/cpu.max", group)) return;
    size_t n = strcspn(line, " ");
    if (line[n] == ' ' && wmi_i64_parse(line, n, &quota) &&
        wmi_i64_parse(line + n + 1, strlen(line + n + 1), &period))
        limit_cpu(out, quota, period);
}

static bool lists_controller(const char *list, const char *name) {
    size_t n = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, name, n) == 0 && (list[n] == ',' || list[n] == '\0')) return true;
    return false;
}

/* Limits hold for all groups within: look at the group, then at each around it. A container often sees its
 * own group at the mount point, under a path that it does not have; that is the last place looked at. */
static void read_groups(wmi_cgroup *out, const char *root, const char *controllers, char *group) {
    bool v2 = controllers[0] == '\0';
    for (;;) {
        size_t n = strlen(group);
        while (n > 0 && group[n - 1] == '/') group[--n] = '\0';
        if (v2) {
            limit_memory(out, root, &memory_v2, group);
            limit_cpu_v2(out, root, group);
        }
        if (lists_controller(controllers, "memory")) limit_memory(out, root, &memory_v1, group);
        if (lists_controller(controllers, "cpu")) limit_cpu_v1(out, root, group);
        char *slash = strrchr(group, '/');
        if (!slash) return;
        *slash = '\0';
    }
}

void wmi_cgroup_read(wmi_cgroup *out, const char *root) {
    char text[8192];
    *out = (wmi_cgroup){INT64_MAX, 0};
    wmi_sys_text(root, text, sizeof text, "/proc/self/cgroup");
    for (char *line = text, *next; *line; line = next) { /* 4:memory:/path */
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        line[n] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        read_groups(out, root, controllers + 1, group);
    }
}
