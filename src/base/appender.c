#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_target.h"

struct wmi_appender {
    int fd;
    bool regular;  /* has a length that can be cut back */
    bool broken;   /* half a line could not be cut off: nothing may follow it */
    uint64_t size; /* up to the end of the last whole line */
    char path[];
};

/* Emptied only after it is locked: somebody else may be writing it. */
static wm_status open_regular(const char *path, int *out, wm_error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) return wmi_file_error(err, errno, path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, 0) != 0) {
        int error = errno;
        close(fd);
        if (error == EWOULDBLOCK)
            return wmi_error_set(err, WM_EBUSY, error, "'%s' is being written by another process", path);
        return wmi_file_error(err, error, path);
    }
    *out = fd;
    return WM_OK;
}

static wm_status open_target(const char *path, int *fd, bool *regular, wm_error *err) {
    wmi_file_target target;
    wm_status status = wmi_file_target_find(path, &target, err);
    if (status != WM_OK) return status;
    *regular = target.kind == WMI_TARGET_NEW || target.kind == WMI_TARGET_REGULAR;
    status = *regular ? open_regular(path, fd, err) : wmi_file_target_open(path, &target, fd, err);
    wmi_file_target_release(&target);
    return status;
}

wm_status wmi_appender_open(const char *path, wmi_appender **out, wm_error *err) {
    size_t size = strlen(path) + 1;
    wmi_appender *a = malloc(sizeof *a + size);
    if (!a) return wmi_error_nomem(err);
    memcpy(a->path, path, size);
    a->size = 0;
    a->broken = false;
    wm_status status = open_target(path, &a->fd, &a->regular, err);
    if (status != WM_OK) {
        free(a);
        return status;
    }
    *out = a;
    return WM_OK;
}

/* Keep the whole lines of what a failed write got into the file, and cut the rest
 * off. False where that cannot be done. */
static bool cut_back(wmi_appender *a, const char *bytes) {
    struct stat st;
    if (!a->regular || fstat(a->fd, &st) != 0) return false;
    size_t kept = (uint64_t)st.st_size > a->size ? (size_t)((uint64_t)st.st_size - a->size) : 0;
    while (kept > 0 && bytes[kept - 1] != '\n') kept--;
    a->size += kept;
    return ftruncate(a->fd, (off_t)a->size) == 0;
}

wm_status wmi_appender_add(wmi_appender *a, const char *bytes, size_t n, wm_error *err) {
    wm_error cause = WM_ERROR_INIT;
    if (n == 0) return WM_OK;
    if (bytes[n - 1] != '\n')
        return wmi_error_set(err, WM_EINVAL, 0, "text for '%s' does not end with a whole line", a->path);
    if (a->broken) return wmi_error_set(err, WM_EIO, EIO, "'%s' ends in half a line", a->path);
    if (wmi_fd_write(a->fd, bytes, n, &cause) != WM_OK) {
        a->broken = !cut_back(a, bytes);
        return wmi_file_error(err, cause.native_code, a->path);
    }
    a->size += n;
    return WM_OK;
}

wm_status wmi_appender_close(wmi_appender *a, wm_error *err) {
    if (!a) return WM_OK;
    int error = 0;
    if (a->regular && fsync(a->fd) != 0 && errno != EINVAL) error = errno;
    if (close(a->fd) != 0 && !error) error = errno;
    wm_status status = error ? wmi_file_error(err, error, a->path) : WM_OK;
    free(a);
    return status;
}
