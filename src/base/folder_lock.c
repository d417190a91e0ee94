#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_target.h"

/* The folder is locked, not a file of its own, so that nothing is left behind. Whoever else locks folders
 * must not hold a result up for ever, so the wait has an end. */
int wmi_folder_lock(const char *path) {
    enum { TRIES = 5000 };
    const struct timespec pause = {0, 1000000};
    wmi_file_target target;
    if (wmi_file_target_find(path, &target, NULL) != WM_OK) return -1;
    int fd = target.folder ? open(target.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    wmi_file_target_release(&target);
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if ((errno == EWOULDBLOCK || errno == EINTR) && i < TRIES) {
            nanosleep(&pause, NULL);
            continue;
        }
        close(fd);
        fd = -1;
    }
    return fd;
}

void wmi_folder_unlock(int lock) {
    if (lock >= 0) close(lock);
}
