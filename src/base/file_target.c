#include "base/file_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { LINKS_MAX = 40 }; /* as many as the kernel follows */

wm_status wmi_file_error(wm_error *err, int errnum, const char *path) {
    bool permission = errnum == EACCES || errnum == EPERM || errnum == EROFS;
    if (errnum == ENOMEM) return wmi_error_nomem(err);
    return wmi_error_set(err, permission ? WM_EPERM : WM_EIO, errnum, "cannot write '%.300s': %s", path,
                         wmi_errno_text(errnum)); /* a longer path would crowd out the cause */
}

/* The descriptor that a name such as /dev/stdout stands for, or -1. Opening such
 * a name anew would start at the beginning of the file behind it, and renaming
 * over it would cut the descriptor off. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        int64_t fd;
        if (strncmp(path, folders[i], n) == 0 && wmi_i64_parse(path + n, strlen(path + n), &fd) && fd >= 0 &&
            fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return wmi_strdup(".");
    return slash == path ? wmi_strdup("/") : wmi_strndup(path, (size_t)(slash - path));
}

/* The path that the link at `path` names; NULL with errno set. */
static char *read_link(const char *path) {
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof text);
    if (n < 0) return NULL;
    char *folder = text[0] == '/' ? NULL : folder_of(path);
    if (text[0] != '/' && !folder) return NULL;
    wmi_buf joined = WMI_BUF_INIT;
    if (folder) wmi_buf_printf(&joined, "%s/", folder);
    wmi_buf_add(&joined, text, (size_t)n);
    free(folder);
    char *target = wmi_buf_take(&joined);
    if (!target) errno = ENOMEM;
    return target;
}

/* The path with links in its last part followed, also to a file that does not
 * exist yet, which realpath does not do. NULL with errno set. */
static char *follow_links(const char *path) {
    char *at = wmi_strdup(path);
    for (int i = 0; at && i < LINKS_MAX; i++) {
        struct stat st;
        if (lstat(at, &st) != 0 || !S_ISLNK(st.st_mode)) return at;
        char *next = read_link(at);
        free(at);
        at = next;
    }
    int error = at ? ELOOP : ENOMEM;
    free(at);
    errno = error;
    return NULL;
}

/* The same for a link that leads to such a name. */
static int descriptor_behind(const char *path) {
    char *at = wmi_strdup(path);
    int fd = -1;
    for (int i = 0; at && fd < 0 && i < LINKS_MAX; i++) {
        fd = descriptor_of(at);
        char *next = fd < 0 ? read_link(at) : NULL;
        free(at);
        at = next;
    }
    free(at);
    return fd;
}

static int may_write(const char *path, int mode) {
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : errno;
}

/* Both a new file and a replacement need a folder that takes new names. */
static int locate(const char *path, wmi_file_target *t) {
    t->path = follow_links(path);
    if (!t->path) return errno;
    t->folder = folder_of(t->path);
    if (!t->folder) return ENOMEM;
    size_t n = strlen(t->path);
    if (n == 0 || t->path[n - 1] == '/') return n ? EISDIR : ENOENT;
    return may_write(t->folder, W_OK | X_OK);
}

static int examine(const char *path, wmi_file_target *t) {
    struct stat st;
    t->fd = descriptor_behind(path);
    if (t->fd >= 0) {
        t->kind = WMI_TARGET_DESCRIPTOR;
        int flags = fcntl(t->fd, F_GETFL);
        return flags < 0 ? errno : (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
    }
    if (stat(path, &st) != 0) {
        t->kind = WMI_TARGET_NEW;
        return errno == ENOENT ? locate(path, t) : errno;
    }
    if (S_ISDIR(st.st_mode)) return EISDIR;
    int error = may_write(path, W_OK);
    if (error) return error;
    t->kind = S_ISREG(st.st_mode) ? WMI_TARGET_REGULAR : WMI_TARGET_STREAM;
    t->mode = st.st_mode & 07777;
    return t->kind == WMI_TARGET_REGULAR ? locate(path, t) : 0;
}

wm_status wmi_file_target_find(const char *path, wmi_file_target *target, wm_error *err) {
    wmi_file_target t = {WMI_TARGET_NEW, -1, 0, NULL, NULL};
    int error = examine(path, &t);
    if (error) {
        wmi_file_target_release(&t);
        return wmi_file_error(err, error, path);
    }
    *target = t;
    return WM_OK;
}

void wmi_file_target_release(wmi_file_target *target) {
    free(target->path);
    free(target->folder);
    target->path = target->folder = NULL;
}

wm_status wmi_file_target_open(const char *path, const wmi_file_target *target, int *fd, wm_error *err) {
    int opened = target->kind == WMI_TARGET_DESCRIPTOR ? fcntl(target->fd, F_DUPFD_CLOEXEC, 0)
                                                       : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (opened < 0) return wmi_file_error(err, errno, path);
    *fd = opened;
    return WM_OK;
}
