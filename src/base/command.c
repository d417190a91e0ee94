#include "base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { NS_PER_MS = 1000000, OUT = 0, ERRORS = 1, STREAMS = 2 };

static char locale_word[] = "LC_ALL=C";

/* Numbers and messages are to be read, whatever the user's locale. The words stay the process's own. */
static char **environment_make(void) {
    size_t n = 0, used = 0;
    while (environ[n]) n++;
    char **env = malloc((n + 2) * sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0) env[used++] = environ[i];
    if (!env) return NULL;
    env[used++] = locale_word;
    env[used] = NULL;
    return env;
}

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

static int files_set(posix_spawn_file_actions_t *actions, const int to[STREAMS]) {
    int code = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, to[OUT], STDOUT_FILENO);
    if (code == 0 && to[ERRORS] >= 0)
        code = posix_spawn_file_actions_adddup2(actions, to[ERRORS], STDERR_FILENO);
    else if (code == 0)
        code = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return code;
}

static int spawn(const char *const *argv, const int to[STREAMS], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char **env = environment_make();
    int code = env ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (code == 0) {
        code = posix_spawnattr_init(&attr);
        if (code == 0) {
            code = attributes_set(&attr);
            if (code == 0) code = files_set(&actions, to);
            if (code == 0) code = posix_spawnp(pid, argv[0], &actions, &attr, (char *const *)argv, env);
            posix_spawnattr_destroy(&attr);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(env);
    return code;
}

/* Take what there is to read; a stream that is at its end gets fd -1. Returns an error's number. */
static int read_some(struct pollfd *from, wmi_buf *to) {
    char bytes[65536];
    const ssize_t n = read(from->fd, bytes, sizeof bytes);
    if (n < 0) return errno == EINTR ? 0 : errno;
    if (n == 0) from->fd = -1;
    wmi_buf_add(to, bytes, (size_t)n);
    return 0;
}

/* Until it closes its output. */
static wm_status read_all(const wmi_command *c, const int from[STREAMS], wmi_buf *out, wm_error *err) {
    const uint64_t end = wmi_monotonic_ns() + (uint64_t)c->limit_ns;
    const size_t before = out->len;
    struct pollfd fds[STREAMS] = {{.fd = from[OUT], .events = POLLIN},
                                  {.fd = from[ERRORS], .events = POLLIN}};
    wmi_buf *const to[STREAMS] = {out, c->errors};
    while (fds[OUT].fd >= 0 || fds[ERRORS].fd >= 0) {
        const uint64_t now = wmi_monotonic_ns();
        const int left_ms = now >= end ? 0 : (int)((end - now + NS_PER_MS - 1) / NS_PER_MS);
        const int ready = poll(fds, STREAMS, c->limit_ns ? left_ms : -1);
        int code = ready < 0 && errno != EINTR ? errno : 0;
        if (ready == 0) return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s took too long", c->argv[0]);
        for (int i = 0; i < STREAMS && ready > 0 && code == 0; i++)
            if (fds[i].fd >= 0 && fds[i].revents) code = read_some(&fds[i], to[i]);
        if (code != 0) return wmi_error_set(err, WM_EIO, code, "%s: %s", c->argv[0], wmi_errno_text(code));
        if (c->most && out->len - before > c->most)
            return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s printed too much", c->argv[0]);
    }
    return out->failed || (c->errors && c->errors->failed) ? wmi_error_nomem(err) : WM_OK;
}

/* Its exit status. It is not to be had in a program that ignores SIGCHLD; what was printed tells then. */
static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static wm_status refuse(const char *name, int code, wm_error *err) {
    if (code == ENOENT) return wmi_error_set(err, WM_ENOTFOUND, code, "there is no program %.200s", name);
    return wmi_error_set(err, WM_EIO, code, "%.200s cannot be run: %s", name, wmi_errno_text(code));
}

static void close_all(int fds[STREAMS]) {
    for (int i = 0; i < STREAMS; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* A program that is not there may be told of by the call, or, as POSIX allows, by a child that ends so. */
enum { EXIT_NOT_RUN = 127 };

static size_t printed(const wmi_command *command, const wmi_buf *out) {
    return out->len + (command->errors ? command->errors->len : 0);
}

wm_status wmi_command_output(const wmi_command *command, wmi_buf *out, int *exit_status, wm_error *err) {
    const size_t before = printed(command, out);
    int from[STREAMS] = {-1, -1}, to[STREAMS] = {-1, -1}, code = 0;
    pid_t pid;
    for (int i = 0; i < STREAMS && code == 0; i++) {
        int ends[2] = {-1, -1};
        if ((i == OUT || command->errors) && pipe2(ends, O_CLOEXEC) != 0) code = errno;
        from[i] = ends[0];
        to[i] = ends[1];
    }
    if (code == 0) code = spawn(command->argv, to, &pid);
    close_all(to);
    const wm_status status =
        code == 0 ? read_all(command, from, out, err) : refuse(command->argv[0], code, err);
    close_all(from);
    if (code != 0) return status;
    if (status != WM_OK) kill(pid, SIGKILL);
    *exit_status = wait_for(pid);
    if (status == WM_OK && *exit_status == EXIT_NOT_RUN && printed(command, out) == before)
        return refuse(command->argv[0], ENOENT, err);
    return status;
}
