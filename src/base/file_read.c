#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define FILE_MAX ((uint64_t)4 << 30)

enum { CHUNK = 1 << 16 };

static wm_status read_error(wm_error *err, int errnum, const char *path) {
    if (errnum == ENOMEM) return wmi_error_nomem(err);
    if (errnum == EILSEQ)
        return wmi_error_set(err, WM_EPARSE, 0, "'%.300s' holds a NUL byte: it is no text", path);
    return wmi_error_set(err, WM_EIO, errnum, "cannot read '%.300s': %s", path,
                         errnum == EFBIG ? "it is larger than 4 GiB" : wmi_errno_text(errnum));
}

/* The size is only a hint: pipes have none, and files grow. 0, or an errno; EILSEQ for
 * a NUL byte. */
static int read_all(int fd, char **out, size_t *size) {
    struct stat st;
    if (fstat(fd, &st) != 0) return errno;
    if (S_ISDIR(st.st_mode)) return EISDIR;
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > FILE_MAX) return EFBIG;
    size_t n = 0, cap = (S_ISREG(st.st_mode) ? (size_t)st.st_size : 0) + CHUNK;
    char *bytes = malloc(cap);
    int error = bytes ? 0 : ENOMEM;
    while (!error) {
        if (cap - n < CHUNK / 2) {
            char *larger = realloc(bytes, cap * 2);
            if (!larger) {
                error = ENOMEM;
                break;
            }
            bytes = larger;
            cap *= 2;
        }
        ssize_t got = read(fd, bytes + n, cap - n - 1);
        if (got == 0) break;
        if (got > 0 && memchr(bytes + n, '\0', (size_t)got))
            error = EILSEQ;
        else if (got > 0)
            n += (size_t)got;
        else if (errno != EINTR)
            error = errno;
        if (n > FILE_MAX) error = EFBIG;
    }
    if (error) {
        free(bytes);
        return error;
    }
    bytes[n] = '\0';
    *out = bytes;
    *size = n;
    return 0;
}

wm_status wmi_file_read(const char *path, char **out, size_t *n, wm_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int error = fd < 0 ? errno : read_all(fd, out, n);
    if (fd >= 0) close(fd);
    return error ? read_error(err, error, path) : WM_OK;
}
