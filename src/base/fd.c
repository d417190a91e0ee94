#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

/* Writing to a pipe that nobody reads, or past the limit on file sizes, raises a
 * signal that ends the process unless somebody took care of it. The library
 * reports EPIPE and EFBIG instead: both signals are blocked in this thread while
 * it writes, and one that its own write raised is taken off the queue. */
typedef struct signal_guard {
    sigset_t guarded, previous, pending;
} signal_guard;

static void guard_signals(signal_guard *g) {
    sigemptyset(&g->guarded);
    sigaddset(&g->guarded, SIGPIPE);
    sigaddset(&g->guarded, SIGXFSZ);
    sigpending(&g->pending);
    pthread_sigmask(SIG_BLOCK, &g->guarded, &g->previous);
}

static void unguard_signals(signal_guard *g, int error) {
    int raised = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (raised && !sigismember(&g->pending, raised)) {
        const struct timespec now = {0, 0};
        sigset_t own;
        sigemptyset(&own);
        sigaddset(&own, raised);
        while (sigtimedwait(&own, NULL, &now) < 0 && errno == EINTR) continue;
    }
    pthread_sigmask(SIG_SETMASK, &g->previous, NULL);
}

/* The errno of the failure, or 0. */
static int write_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        } else if (written == 0) {
            return EIO;
        } else if (errno == EAGAIN) {
            struct pollfd ready = {fd, POLLOUT, 0};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

wm_status wmi_fd_write(int fd, const char *bytes, size_t n, wm_error *err) {
    signal_guard guard;
    guard_signals(&guard);
    int error = write_all(fd, bytes, n);
    unguard_signals(&guard, error);
    if (error) return wmi_error_set(err, WM_EIO, error, "writing failed: %s", wmi_errno_text(error));
    return WM_OK;
}
