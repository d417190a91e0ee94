#include "backend/cpu/perf_sys.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int leader, unsigned long flags) {
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, flags);
}

static int kernel_control(int fd, unsigned long request, void *argument) {
    return ioctl(fd, request, argument);
}

const wmi_perf_sys wmi_perf_kernel = {kernel_open, kernel_control, read, close};
