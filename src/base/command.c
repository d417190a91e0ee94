#include "base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { OUTPUT_MAX = 1 << 20, NS_PER_MS = 1000000 };

/* The program of a caller may block or ignore signals that the command counts on. */
static int attributes_set(posix_spawnattr_t *attr) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_setsigmask(attr, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attr, &all);
    if (code == 0) code = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return code;
}

static int spawn(const char *const *argv, int output, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attr);
    if (code == 0) {
        code = attributes_set(&attr);
        if (code == 0)
            code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (code == 0)
            code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (code == 0) code = posix_spawnp(pid, argv[0], &actions, &attr, (char *const *)argv, environ);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Until it closes its output. */
static wm_status read_all(const char *name, int fd, int64_t limit_ns, wmi_buf *out, wm_error *err) {
    const uint64_t end = wmi_monotonic_ns() + (uint64_t)limit_ns;
    const size_t before = out->len;
    for (;;) {
        char bytes[4096];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const uint64_t now = wmi_monotonic_ns();
        const int left_ms = now >= end ? 0 : (int)((end - now + NS_PER_MS - 1) / NS_PER_MS);
        const int ready = poll(&p, 1, left_ms);
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s took too long", name);
        const ssize_t n = ready < 0 ? -1 : read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return wmi_error_set(err, WM_EIO, errno, "%s: %s", name, wmi_errno_text(errno));
        if (n == 0) return out->failed ? wmi_error_nomem(err) : WM_OK;
        wmi_buf_add(out, bytes, (size_t)n);
        if (out->len - before > OUTPUT_MAX)
            return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s printed too much", name);
    }
}

/* Its exit status. It is not to be had in a program that ignores SIGCHLD; what was printed tells then. */
static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

wm_status wmi_command_output(const char *const *argv, int64_t limit_ns, wmi_buf *out, int *exit_status,
                             wm_error *err) {
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return wmi_error_set(err, WM_EIO, errno, "no pipe for %s: %s", argv[0], wmi_errno_text(errno));
    const int code = spawn(argv, ends[1], &pid);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        if (code == ENOENT) return wmi_error_set(err, WM_ENOTFOUND, code, "there is no program %s", argv[0]);
        return wmi_error_set(err, WM_EIO, code, "%s cannot be run: %s", argv[0], wmi_errno_text(code));
    }
    const wm_status status = read_all(argv[0], ends[0], limit_ns, out, err);
    close(ends[0]);
    if (status != WM_OK) kill(pid, SIGKILL);
    *exit_status = wait_for(pid);
    return status;
}
