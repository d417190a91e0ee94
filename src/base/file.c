#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file_target.h"

enum { NAME_TRIES = 100 };

wm_status wmi_file_check(const char *path, wm_error *err) {
    wmi_file_target target;
    wm_status status = wmi_file_target_find(path, &target, err);
    if (status == WM_OK) wmi_file_target_release(&target);
    return status;
}

static uint32_t random_number(void) {
    uint32_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == (ssize_t)sizeof number) return number;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_nsec;
}

/* A new file in `folder`. Its name does not grow with the target's, which may be
 * as long as names can be. NULL with errno set. */
static char *create_temporary(const char *folder, int *fd) {
    for (int i = 0; i < NAME_TRIES; i++) {
        wmi_buf name = WMI_BUF_INIT;
        wmi_buf_printf(&name, "%s/.warpmeter-%ld-%08x.tmp", folder, (long)getpid(), random_number());
        char *path = wmi_buf_take(&name);
        if (!path) {
            errno = ENOMEM;
            return NULL;
        }
        *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0) return path;
        int error = errno;
        free(path);
        errno = error;
        if (error != EEXIST) break;
    }
    return NULL;
}

/* Some file systems have nothing to flush and say EINVAL. */
static int flush(int fd) { return fsync(fd) == 0 || errno == EINVAL ? 0 : errno; }

static int fill(int fd, const wmi_file_target *target, const char *bytes, size_t n) {
    wm_error cause = WM_ERROR_INIT;
    if (target->kind == WMI_TARGET_REGULAR && fchmod(fd, target->mode) != 0) return errno;
    if (wmi_fd_write(fd, bytes, n, &cause) != WM_OK) return cause.native_code;
    return flush(fd);
}

/* What will replace a target, complete and flushed, under a temporary name. */
static int prepare(const wmi_file_target *target, const char *bytes, size_t n, char **temporary) {
    int fd;
    *temporary = create_temporary(target->folder, &fd);
    if (!*temporary) return errno;
    int error = fill(fd, target, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    return error;
}

static void discard(char *temporary) {
    if (temporary) unlink(temporary);
    free(temporary);
}

static int replace(const wmi_file_target *target, const char *bytes, size_t n) {
    char *temporary;
    int error = prepare(target, bytes, n, &temporary);
    if (!error && rename(temporary, target->path) != 0) error = errno;
    if (!error) {
        free(temporary);
        return 0;
    }
    discard(temporary);
    return error;
}

static bool is_replaced(const wmi_file_target *target) {
    return target->kind == WMI_TARGET_NEW || target->kind == WMI_TARGET_REGULAR;
}

static wm_status write_stream(const char *path, const wmi_file_target *target, const char *bytes, size_t n,
                              wm_error *err) {
    wm_error cause = WM_ERROR_INIT;
    int fd;
    wm_status status = wmi_file_target_open(path, target, &fd, err);
    if (status != WM_OK) return status;
    int error = wmi_fd_write(fd, bytes, n, &cause) == WM_OK ? 0 : cause.native_code;
    if (close(fd) != 0 && !error) error = errno;
    return error ? wmi_file_error(err, error, path) : WM_OK;
}

wm_status wmi_file_replace(const char *path, const char *bytes, size_t n, wm_error *err) {
    wmi_file_target target;
    wm_status status = wmi_file_target_find(path, &target, err);
    if (status != WM_OK) return status;
    if (is_replaced(&target)) {
        int error = replace(&target, bytes, n);
        if (error) status = wmi_file_error(err, error, path);
    } else {
        status = write_stream(path, &target, bytes, n, err);
    }
    wmi_file_target_release(&target);
    return status;
}

wm_status wmi_file_replace_two(const wmi_file_bytes files[2], wm_error *err) {
    wmi_file_target targets[2];
    char *temporary[2] = {NULL, NULL};
    size_t found = 0;
    wm_status status = WM_OK;
    for (; found < 2 && status == WM_OK; found++) {
        status = wmi_file_target_find(files[found].path, &targets[found], err);
        if (status != WM_OK) break;
    }
    int error = 0;
    size_t at = 0;
    for (; at < 2 && status == WM_OK && !error; at++)
        error = prepare(&targets[at], files[at].bytes, files[at].n, &temporary[at]);
    for (size_t i = 0; i < 2 && status == WM_OK && !error; i++) {
        at = i + 1;
        if (rename(temporary[i], targets[i].path) != 0) {
            error = errno;
            break;
        }
        free(temporary[i]);
        temporary[i] = NULL;
    }
    if (error) status = wmi_file_error(err, error, files[at - 1].path);
    for (size_t i = 0; i < 2; i++) discard(temporary[i]);
    for (size_t i = 0; i < found; i++) wmi_file_target_release(&targets[i]);
    return status;
}

bool wmi_file_is_replaced(const char *path) {
    wmi_file_target target;
    if (wmi_file_target_find(path, &target, NULL) != WM_OK) return false;
    bool replaced = is_replaced(&target);
    wmi_file_target_release(&target);
    return replaced;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Names in one folder, which is what a rename acts on: hard links are two files here. */
bool wmi_file_same(const char *a, const char *b) {
    wmi_file_target x, y;
    if (wmi_file_target_find(a, &x, NULL) != WM_OK) return false;
    bool same = false;
    if (wmi_file_target_find(b, &y, NULL) == WM_OK) {
        struct stat folder_x, folder_y;
        same = is_replaced(&x) && is_replaced(&y) && strcmp(last_part(x.path), last_part(y.path)) == 0 &&
               stat(x.folder, &folder_x) == 0 && stat(y.folder, &folder_y) == 0 &&
               same_inode(&folder_x, &folder_y);
        wmi_file_target_release(&y);
    }
    wmi_file_target_release(&x);
    return same;
}

bool wmi_file_is_open_as(const char *path, int fd) {
    struct stat named, opened;
    return wmi_file_is_replaced(path) && stat(path, &named) == 0 && fstat(fd, &opened) == 0 &&
           same_inode(&named, &opened);
}
