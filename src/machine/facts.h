/** The parts that wmi_machine_read is made of; private to machine/. */
#ifndef WMI_MACHINE_FACTS_H
#define WMI_MACHINE_FACTS_H

#include "machine/machine.h"

/** Longest list of processors that is read; what is beyond it is not seen. */
enum { WMI_CPULIST_MAX = 4096 };

/** Fill m->caches from the lists of online and of allowed processors. */
void wmi_caches_read(wmi_machine *m, const char *root, const char *online, const char *allowed);

/** What the control groups of the process, and those around them, leave it. */
typedef struct wmi_cgroup {
    int64_t memory_free_bytes; /* INT64_MAX: no limit */
    double cpu_quota;          /* 0: no limit */
} wmi_cgroup;
void wmi_cgroup_read(wmi_cgroup *out, const char *root);

#endif
