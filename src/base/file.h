/** Writing files so that nothing is half written or silently lost. */
#ifndef WMI_BASE_FILE_H
#define WMI_BASE_FILE_H

#include "base/text.h"

/** Check that `path` can be written, before anything is measured, without
 *  changing it: the folder exists and is writable, the path is no folder, and an
 *  existing file is writable. The message names the path and the cause.
 *  WM_EIO or WM_EPERM. */
wm_status wmi_file_check(const char *path, wm_error *err);
/** Replace `path` by the bytes, in full or not at all: a temporary file beside
 *  it with a name of its own, written, flushed to the disk, renamed. Keeps an
 *  existing file's mode. On failure the old file is untouched and the temporary
 *  one gone. A symbolic link is followed. Devices, pipes and open descriptors
 *  (/dev/stdout, /dev/fd/N) are written to instead, at their position. */
wm_status wmi_file_replace(const char *path, const char *bytes, size_t n, wm_error *err);
typedef struct wmi_file_bytes {
    const char *path, *bytes;
    size_t n;
} wmi_file_bytes;
/** Replace two files that belong together, both of them regular or new: the first is renamed, then the
 *  second, when both are complete on the disk. On failure before that neither is touched. */
wm_status wmi_file_replace_two(const wmi_file_bytes files[2], wm_error *err);
/** Write all bytes to an open descriptor; short writes, EINTR and EAGAIN are
 *  handled, and a closed pipe is an error, not a signal. */
wm_status wmi_fd_write(int fd, const char *bytes, size_t n, wm_error *err);
/** Is `path` a file that wmi_file_replace would replace or make, and no device, pipe
 *  or open descriptor? */
bool wmi_file_is_replaced(const char *path);
/** Do both paths name one such file, under whatever names, there yet or not? */
bool wmi_file_same(const char *a, const char *b);
/** Is `path` such a file, and the one that the descriptor writes to? */
bool wmi_file_is_open_as(const char *path, int fd);
/** While several files that belong together are replaced: keep others who ask for the same
 *  lock out of the folder of `path`. Best effort: -1 where a folder cannot be locked, or
 *  somebody holds the lock for more than some seconds; unlock takes that too. */
int wmi_folder_lock(const char *path);
void wmi_folder_unlock(int lock);
/** The whole text file, NUL-terminated; the caller frees *out. At most 4 GiB, and no
 *  NUL byte: a device such as /dev/zero is refused at its first. */
wm_status wmi_file_read(const char *path, char **out, size_t *n, wm_error *err);

/** A file that grows line by line and is never half a line: raw samples. Held
 *  under an exclusive lock, so that two processes do not mix; emptied on open. */
typedef struct wmi_appender wmi_appender;
/** WM_EBUSY when somebody else holds the lock; the file is untouched then. */
wm_status wmi_appender_open(const char *path, wmi_appender **out, wm_error *err);
/** One write per call; the bytes must end with a whole line (else WM_EINVAL).
 *  After a failure the file is cut back to its last whole line, and further
 *  lines may be tried. */
wm_status wmi_appender_add(wmi_appender *a, const char *bytes, size_t n, wm_error *err);
/** Flushes to the disk and frees. NULL is fine. */
wm_status wmi_appender_close(wmi_appender *a, wm_error *err);

#endif
