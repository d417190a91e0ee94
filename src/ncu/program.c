/* The program ncu: where it is, and what it prints. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ncu/ncu.h"

/* ---- running ---- */

static char *locale_word = (char[]){"LC_ALL=C"}; /* numbers with points, whatever the user's locale */

static char **environment_make(void) {
    size_t n = 0, used = 0;
    while (environ[n]) n++;
    char **env = malloc((n + 2) * sizeof *env);
    if (!env) return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0) env[used++] = environ[i];
    env[used++] = locale_word;
    env[used] = NULL;
    return env;
}

static int spawn(const char *const *argv, const int out[2], const int errors[2], pid_t *pid) {
    posix_spawn_file_actions_t actions;
    char **env = environment_make();
    if (!env) return ENOMEM;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
        if (code == 0) code = posix_spawn(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, env);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(env);
    return code;
}

/* What both pipes bring until both are closed. */
static void drain(int out, int errors, wmi_buf *text, wmi_buf *said) {
    struct pollfd fds[2] = {{out, POLLIN, 0}, {errors, POLLIN, 0}};
    wmi_buf *to[2] = {text, said};
    char bytes[65536];
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || !fds[i].revents) continue;
            const ssize_t n = read(fds[i].fd, bytes, sizeof bytes);
            if (n > 0)
                wmi_buf_add(to[i], bytes, (size_t)n);
            else if (n == 0 || errno != EINTR)
                fds[i].fd = -1;
        }
    }
}

static void close_pair(int fds[2]) {
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0) close(fds[i]);
}

wm_status wmi_ncu_capture(const char *const *argv, wmi_buf *out, wmi_buf *errors, int *status,
                          wm_error *err) {
    int fds[2] = {-1, -1}, said[2] = {-1, -1}, code = 0, ended = 0;
    pid_t pid = -1;
    if (pipe2(fds, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0)
        code = errno;
    else
        code = spawn(argv, fds, said, &pid);
    if (code == 0) {
        close(fds[1]);
        close(said[1]);
        fds[1] = said[1] = -1;
        drain(fds[0], said[0], out, errors);
        while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) continue;
    }
    close_pair(fds);
    close_pair(said);
    if (code != 0)
        return wmi_error_set(err, WM_EIO, code, "cannot run '%.200s': %s", argv[0], wmi_errno_text(code));
    if (out->failed || errors->failed) return wmi_error_nomem(err);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    return WM_OK;
}

wm_status wmi_ncu_version(const char *ncu, char *out, size_t size, wm_error *err) {
    static const char mark[] = "Version ";
    const char *const argv[] = {ncu, "--version", NULL};
    wmi_buf text = WMI_BUF_INIT, said = WMI_BUF_INIT;
    int code = 0;
    wm_status status = wmi_ncu_capture(argv, &text, &said, &code, err);
    const char *at = status == WM_OK && text.data ? strstr(text.data, mark) : NULL;
    if (status == WM_OK && (code != 0 || !at))
        status = wmi_error_set(err, WM_EUNSUPPORTED, code, "'%.200s --version' tells no version", ncu);
    if (status == WM_OK && at) {
        at += sizeof mark - 1;
        snprintf(out, size, "%.*s", (int)strcspn(at, " \n"), at);
    }
    wmi_buf_free(&text);
    wmi_buf_free(&said);
    return status;
}

/* ---- finding ---- */

static bool is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(char *out, size_t size) {
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        const size_t n = strcspn(at, ":");
        const int length = snprintf(out, size, "%.*s/ncu", (int)n, at);
        if (n && length > 0 && (size_t)length < size && is_program(out)) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* The newest that is installed: years and quarters are numbers in the folders' names. */
static bool find_installed(char *out, size_t size) {
    glob_t found = {0};
    const char *best = NULL;
    if (glob("/opt/nvidia/nsight-compute/*/ncu", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (is_program(found.gl_pathv[i]) && (!best || strverscmp(found.gl_pathv[i], best) > 0))
                best = found.gl_pathv[i];
    const int n = best ? snprintf(out, size, "%s", best) : 0;
    globfree(&found);
    return n > 0 && (size_t)n < size;
}

wm_status wm_ncu_find(char *path, size_t size, wm_error *err) {
    static const char usual[] = "/usr/local/cuda/bin/ncu";
    const char *given = getenv("WARPMETER_NCU");
    char found[PATH_MAX] = "";
    if (given && *given) {
        if (!is_program(given))
            return wmi_error_set(err, WM_ENOTFOUND, 0, "WARPMETER_NCU is '%.200s', which is no program",
                                 given);
        snprintf(found, sizeof found, "%s", given);
    } else if (!find_in_path(found, sizeof found)) {
        snprintf(found, sizeof found, "%s", usual);
        if (!is_program(usual) && !find_installed(found, sizeof found))
            return wmi_error_set(err, WM_ENOTFOUND, 0,
                                 "there is no ncu: install Nsight Compute, or set WARPMETER_NCU");
    }
    if (strlen(found) >= size)
        return wmi_error_set(err, WM_EINVAL, 0, "the path of ncu does not fit into %zu bytes", size);
    memcpy(path, found, strlen(found) + 1);
    return WM_OK;
}
