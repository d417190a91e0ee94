/** The system calls that perf events take, as a table, so that tests can put a
 *  kernel of their own in its place. */
#ifndef WMI_BACKEND_CPU_PERF_SYS_H
#define WMI_BACKEND_CPU_PERF_SYS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/types.h>

/** Each returns what the system call does: -1 with errno set on failure. */
typedef struct wmi_perf_sys {
    int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int leader, unsigned long flags);
    int (*control)(int fd, unsigned long request, void *argument); /* ioctl */
    ssize_t (*read)(int fd, void *buffer, size_t n);
    int (*close)(int fd);
} wmi_perf_sys;

/** The running kernel. */
extern const wmi_perf_sys wmi_perf_kernel;

#endif
