#include "backend/cpu/perf_reason.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

wm_reason wmi_perf_reason(int native) {
    switch (native) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case EINVAL: return WM_REASON_NO_EVENT;
    case EACCES:
    case EPERM: return WM_REASON_PERMISSION;
    case ENOSYS: return WM_REASON_NO_SYSCALL;
    default: return WM_REASON_BACKEND;
    }
}

int wmi_perf_paranoid(void) {
    char text[32];
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return INT_MIN;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    while (n > 0 && text[n - 1] == '\n') n--;
    int64_t level;
    if (n <= 0 || !wmi_i64_parse(text, (size_t)n, &level) || level < INT_MIN || level > INT_MAX)
        return INT_MIN;
    return (int)level;
}

/* Level 1 permits kernel code and level 2 user code. A refusal in spite of that comes from elsewhere: from a
 * container's seccomp filter or a security module. */
static void explain_permission(bool kernel, wmi_buf *text, wmi_buf *remedy) {
    int level = wmi_perf_paranoid();
    const char *what = kernel ? "counting kernel code is not permitted" : "perf events are not permitted";
    if (level != INT_MIN && level <= (kernel ? 1 : 2)) {
        wmi_buf_printf(text, "%s by a container or a security module; kernel.perf_event_paranoid is %d", what,
                       level);
        wmi_buf_str(remedy, "allow perf_event_open in the container's seccomp profile, or run outside it");
        return;
    }
    wmi_buf_str(text, what);
    if (level != INT_MIN) wmi_buf_printf(text, ": kernel.perf_event_paranoid is %d", level);
    wmi_buf_str(remedy, "sysctl -w kernel.perf_event_paranoid=1");
}

void wmi_perf_explain(int native, bool kernel, wmi_buf *text, wmi_buf *remedy) {
    switch (wmi_perf_reason(native)) {
    case WM_REASON_NO_EVENT:
        wmi_buf_str(text, native == EINVAL ? "the processor cannot count this event for one thread"
                                           : "this machine does not have the event");
        break;
    case WM_REASON_PERMISSION: explain_permission(kernel, text, remedy); break;
    case WM_REASON_NO_SYSCALL: wmi_buf_str(text, "the kernel has no perf_event_open"); break;
    default:
        wmi_buf_printf(text, "the event could not be opened: %s", wmi_errno_text(native));
        if (native == EMFILE) wmi_buf_str(remedy, "raise the limit of open files: ulimit -n 4096");
        break;
    }
}
