#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "machine/facts.h"
#include "machine/sysfs.h"

enum { CPUS_MAX = 1 << 16 };

static void allowed_list(char *out, size_t cap) {
    char status[8192];
    wmi_sys_text("", status, sizeof status, "/proc/thread-self/status");
    if (!wmi_sys_field(status, "Cpus_allowed_list", ':', out, cap))
        snprintf(out, cap, "those of its control group");
}

static int set_affinity(int cpu) {
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    if (!set) return ENOMEM;
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    int native = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
    CPU_FREE(set);
    return native;
}

wm_status wmi_pin(int cpu, wm_error *err) {
    int native = cpu >= 0 && cpu < CPUS_MAX ? set_affinity(cpu) : EINVAL;
    if (native == 0) return WM_OK;
    if (native == ENOMEM) return wmi_error_nomem(err);
    if (native != EINVAL)
        return wmi_error_set(err, WM_EPERM, native, "the system does not permit to pin to processor %d", cpu);
    char allowed[WMI_CPULIST_MAX];
    allowed_list(allowed, sizeof allowed);
    return wmi_error_set(err, WM_EINVAL, 0, "there is no processor %d for this process; it may use %s", cpu,
                         allowed);
}
