#include "backend/cuda/clock_lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine/sysfs.h"

enum { PATH_BYTES = 512 };
static const char roots_folder[] = "/run/warpmeter";
/* A pipe that stands in the file's place is not waited for. */
#define PLAINLY (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

/* ---- processes ---- */

/* When it began, in the kernel's ticks since the boot: tells a process from another one that got its number
 * later. 0: there is none. The name in the second field may hold anything, so fields are counted from its
 * end. */
static unsigned long long start_of(long long pid) {
    char text[1024], *at;
    if (!wmi_sys_text("", text, sizeof text, "/proc/%lld/stat", pid)) return 0;
    at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

/* ---- the folder ---- */

static bool run_folder(char out[PATH_BYTES]) {
    const char *chosen = getenv("WARPMETER_RUN_DIR"), *user = getenv("XDG_RUNTIME_DIR");
    int n;
    if (chosen && *chosen)
        n = snprintf(out, PATH_BYTES, "%s", chosen);
    else if (geteuid() == 0)
        n = snprintf(out, PATH_BYTES, "%s", roots_folder);
    else if (user && *user)
        n = snprintf(out, PATH_BYTES, "%s/warpmeter", user);
    else
        n = snprintf(out, PATH_BYTES, "/tmp/warpmeter-%ld", (long)geteuid());
    return n < PATH_BYTES;
}

/* Others can write into /tmp: a folder that was made there for us is not used. */
static bool make_folder(const char *folder) {
    struct stat st;
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) return false;
    if (lstat(folder, &st) != 0) return false;
    if (S_ISDIR(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0)) return true;
    errno = EPERM;
    return false;
}

static bool path_of(const char *folder, const char *uuid, char out[PATH_BYTES]) {
    return snprintf(out, PATH_BYTES, "%s/%s.clocks", folder, uuid) < PATH_BYTES;
}

/* ---- the file: "PID START WHAT" ---- */

static wmi_clock_holder_state state_of(long long pid, unsigned long long start) {
    if (pid == getpid()) return start == start_of(pid) ? WMI_CLOCKS_OURS : WMI_CLOCKS_LEFT_BEHIND;
    return start && start == start_of(pid) ? WMI_CLOCKS_ANOTHERS : WMI_CLOCKS_LEFT_BEHIND;
}

/* Something else than what we write is nobody's. */
static void read_holder(int fd, wmi_clock_holder *out) {
    char text[128], *after_pid, *after_start;
    *out = (wmi_clock_holder){.state = WMI_CLOCKS_NOBODYS};
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0) return;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const long long pid = strtoll(text, &after_pid, 10);
    const unsigned long long start = strtoull(after_pid, &after_start, 10);
    if (pid <= 0 || *after_pid != ' ' || after_start == after_pid || *after_start != ' ') return;
    out->pid = pid;
    snprintf(out->what, sizeof out->what, "%.39s", after_start + 1);
    out->state = state_of(pid, start);
}

static void find_in(const char *folder, const char *uuid, wmi_clock_holder *out) {
    char path[PATH_BYTES];
    *out = (wmi_clock_holder){.state = WMI_CLOCKS_NOBODYS};
    const int fd = path_of(folder, uuid, path) ? open(path, O_RDONLY | PLAINLY) : -1;
    if (fd < 0) return;
    read_holder(fd, out);
    close(fd);
}

/* We hold it for a moment only. Whoever may read the file can hold it for ever: that is not waited for. */
static bool lock_file(int fd) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int left = 100; flock(fd, LOCK_EX | LOCK_NB) != 0; left--) {
        if (errno != EWOULDBLOCK || left == 0) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Open and lock it against those that do the same; -1 and errno. */
static int open_own(const char *uuid, bool make, char path[PATH_BYTES]) {
    char folder[PATH_BYTES];
    if (!run_folder(folder) || !path_of(folder, uuid, path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (make && !make_folder(folder)) return -1;
    const int fd = open(path, O_RDWR | PLAINLY | (make ? O_CREAT : 0), 0644);
    if (fd < 0) return -1;
    if (lock_file(fd)) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

void wmi_clock_holder_find(const char *uuid, wmi_clock_holder *out) {
    char folder[PATH_BYTES];
    const char *chosen = getenv("WARPMETER_RUN_DIR");
    *out = (wmi_clock_holder){.state = WMI_CLOCKS_NOBODYS};
    if (run_folder(folder)) find_in(folder, uuid, out);
    if (out->state == WMI_CLOCKS_NOBODYS && !(chosen && *chosen)) find_in(roots_folder, uuid, out);
}

static wm_status refuse(const wmi_clock_holder *h, wm_error *err) {
    if (h->state == WMI_CLOCKS_OURS)
        return wmi_error_set(err, WM_EBUSY, 0, "this process already holds the GPU's clocks, at %s", h->what);
    return wmi_error_set(err, WM_EBUSY, 0, "process %lld holds the GPU's clocks, at %s; wait for its end",
                         h->pid, h->what);
}

static bool write_own(int fd, const char *what) {
    char text[128];
    const int n = snprintf(text, sizeof text, "%ld %llu %s\n", (long)getpid(), start_of(getpid()), what);
    return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n;
}

wm_status wmi_clock_holder_claim(const char *uuid, const char *what, wm_error *err) {
    wmi_clock_holder h;
    char path[PATH_BYTES] = "";
    wmi_clock_holder_find(uuid, &h); /* also that of root */
    if (h.state == WMI_CLOCKS_OURS || h.state == WMI_CLOCKS_ANOTHERS) return refuse(&h, err);
    const int fd = open_own(uuid, true, path);
    wm_status status = WM_OK;
    if (fd >= 0) {
        read_holder(fd, &h);
        if (h.state == WMI_CLOCKS_OURS || h.state == WMI_CLOCKS_ANOTHERS)
            status = refuse(&h, err);
        else if (!write_own(fd, what))
            status = WM_EIO;
    }
    if (fd < 0 || status == WM_EIO)
        status = wmi_error_set(err, WM_EIO, errno,
                               "the file that says who holds the GPU's clocks cannot be written: %s: %s; set "
                               "WARPMETER_RUN_DIR to a folder that can be",
                               path, wmi_errno_text(errno));
    if (fd >= 0) close(fd);
    return status;
}

void wmi_clock_holder_release(const char *uuid) {
    wmi_clock_holder h;
    char path[PATH_BYTES];
    const int fd = open_own(uuid, false, path);
    if (fd < 0) return;
    read_holder(fd, &h);
    if (h.state == WMI_CLOCKS_OURS && ftruncate(fd, 0) != 0) (void)unlink(path);
    close(fd);
}
