/** What a path to write to stands for; private to the files of base/ that
 *  write. */
#ifndef WMI_BASE_FILE_TARGET_H
#define WMI_BASE_FILE_TARGET_H

#include <sys/types.h>

#include "base/error.h"

typedef struct wmi_file_target {
    enum {
        WMI_TARGET_NEW,        /**< nothing is there yet */
        WMI_TARGET_REGULAR,    /**< a regular file */
        WMI_TARGET_STREAM,     /**< a device, a pipe: written to, never replaced */
        WMI_TARGET_DESCRIPTOR, /**< /dev/stdout and the like: an open descriptor */
    } kind;
    int fd;       /**< the descriptor */
    mode_t mode;  /**< of the regular file */
    char *path;   /**< with symbolic links followed; new and regular files only */
    char *folder; /**< the folder of that path */
} wmi_file_target;

/** Find out what `path` is and that it can be written, without changing it.
 *  On success *target is to be released. */
wm_status wmi_file_target_find(const char *path, wmi_file_target *target, wm_error *err);
void wmi_file_target_release(wmi_file_target *target);
/** An open descriptor to write to a stream or a descriptor. */
wm_status wmi_file_target_open(const char *path, const wmi_file_target *target, int *fd, wm_error *err);
/** Set "cannot write 'path': cause" and return WM_EPERM or WM_EIO. */
wm_status wmi_file_error(wm_error *err, int errnum, const char *path);

#endif
