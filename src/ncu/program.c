/* The program ncu: where it is, and of which version. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command.h"
#include "ncu/ncu.h"

wm_status wmi_ncu_version(const char *ncu, char *out, size_t size, wm_error *err) {
    static const char mark[] = "Version ";
    const char *const argv[] = {ncu, "--version", NULL};
    const wmi_command command = {.argv = argv, .limit_ns = 30000000000, .most = 1 << 20};
    wmi_buf text = WMI_BUF_INIT;
    int code = 0;
    wm_status status = wmi_command_output(&command, &text, &code, err);
    const char *at = status == WM_OK && text.data ? strstr(text.data, mark) : NULL;
    if (status == WM_OK && (code != 0 || !at))
        status = wmi_error_set(err, WM_EUNSUPPORTED, code, "'%.200s --version' tells no version", ncu);
    if (status == WM_OK && at) {
        at += sizeof mark - 1;
        snprintf(out, size, "%.*s", (int)strcspn(at, " \n"), at);
    }
    wmi_buf_free(&text);
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
                                 "there is no ncu: install Nsight Compute, or set WARPMETER_NCU to its path");
    }
    if (strlen(found) >= size)
        return wmi_error_set(err, WM_EINVAL, 0, "the path of ncu does not fit into %zu bytes", size);
    memcpy(path, found, strlen(found) + 1);
    return WM_OK;
}
