#include "sweep/collect_built_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/intern.h"
#include "sweep/sweep.h"

/* ---- what backends know ---- */

typedef struct wanted {
    const char *key;
    wm_value *out;
} wanted;

static void take_fact(void *user, const char *key, wm_value value) {
    const wanted *w = user;
    if (strcmp(key, w->key) != 0) return;
    const uint32_t text = value.type == WM_STR ? wmi_intern(value.as.str) : 0; /* theirs is for the call */
    *w->out = text ? wmi_str(wmi_intern_name(text))
                   : wmi_null(value.type == WM_NULL ? value.reason : WM_REASON_UNKNOWN);
}

static void fact(const wmi_backend_ops *ops, const char *key, wm_value *out) {
    wanted w = {key, out};
    const wmi_fact_list list = {&w, take_fact};
    if (ops->facts) ops->facts(&list);
}

/* Of the device in use: the first one's keys have no number. */
static bool device_fact(const wm_sweep *sweep, const char *what, wm_value *out) {
    *out = wmi_null(WM_REASON_NO_DEVICE);
    for (size_t b = 0; wmi_backends[b]; b++) {
        char key[48];
        const int device = wmi_backends[b]->device_in_use
                               ? wmi_backends[b]->device_in_use(sweep->options.thermal_device)
                               : -1;
        if (device > 0)
            snprintf(key, sizeof key, "gpu_%d%s", device + 1, what);
        else
            snprintf(key, sizeof key, "gpu%s", what);
        if (device >= 0) fact(wmi_backends[b], key, out);
    }
    return true;
}

static bool collect_driver(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)st;
    (void)region;
    *out = wmi_null(WM_REASON_NO_DEVICE);
    for (size_t b = 0; wmi_backends[b]; b++) fact(wmi_backends[b], "gpu_driver", out);
    return true;
}

static bool collect_gpu(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)st;
    (void)region;
    return device_fact(user, "", out);
}

static bool collect_uuid(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)st;
    (void)region;
    return device_fact(user, "_uuid", out);
}

/* ---- git ---- */

static bool is_hash(const char *text) {
    const size_t n = strspn(text, "0123456789abcdef");
    return n >= 40 && (text[n] == '\0' || strcmp(text + n, "-dirty") == 0);
}

/* The commit's whole hash, and "-dirty" where files that git knows differ from it. It takes no lock and
 * starts no daemon: other git commands may be at work. */
static bool collect_git(void *user, wm_state *st, const char *region, wm_value *out) {
    static const char *const argv[] = {
        "git",         "--no-optional-locks", "-c", "core.fsmonitor=false", "describe", "--always", "--dirty",
        "--abbrev=64", "--exclude=*",         NULL};
    static const wmi_command git = {.argv = argv, .limit_ns = 10000000000, .most = 1 << 20};
    wm_sweep *sweep = user;
    wm_error why = WM_ERROR_INIT;
    wmi_buf text = WMI_BUF_INIT;
    int exit_status = 0;
    (void)st;
    (void)region;
    const wm_status status = wmi_command_output(&git, &text, &exit_status, &why);
    if (status == WM_OK && text.len && text.data[text.len - 1] == '\n') text.data[--text.len] = '\0';
    const bool good = status == WM_OK && exit_status == 0 && text.len && is_hash(text.data);
    const uint32_t hash = good ? wmi_intern(text.data) : 0;
    wmi_buf_free(&text);
    if (hash) *out = wmi_str(wmi_intern_name(hash));
    if (!good)
        wmi_session_warn(sweep->session, "no git commit: %s",
                         status != WM_OK ? why.message
                                         : "the working directory is in no repository that has one");
    return true;
}

/* ---- the environment ---- */

static bool collect_env(void *user, wm_state *st, const char *region, wm_value *out) {
    const char *value = getenv(user);
    (void)st;
    (void)region;
    if (value) *out = wmi_str(value);
    return true;
}

/* ---- by name ---- */

static const struct {
    const char *word;
    wmi_built_in is;
} words[] = {
    {"driver", {collect_driver, "driver", NULL, false}},
    {"gpu", {collect_gpu, "gpu", NULL, true}},
    {"uuid", {collect_uuid, "uuid", NULL, true}},
    {"git", {collect_git, "git_commit", NULL, false}},
};
enum { WORDS = sizeof words / sizeof *words };

wm_status wmi_built_in_find(const char *word, wmi_built_in *out, wm_error *err) {
    const char *names[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        names[i] = words[i].word;
        if (strcmp(word, names[i]) != 0) continue;
        *out = words[i].is;
        return WM_OK;
    }
    if (strncmp(word, "env:", 4) == 0 && word[4] && !strchr(word, '=')) {
        *out = (wmi_built_in){collect_env, "env_", word + 4, false};
        return WM_OK;
    }
    char *near = wmi_nearest(word, names, WORDS);
    if (!near) return wmi_error_nomem(err);
    wmi_error_set(err, WM_EINVAL, 0,
                  "--collect takes driver, gpu, uuid, git and env:NAME, not '%.100s'%s%s%s", word,
                  *near ? "; did you mean " : "", near, *near ? "?" : "");
    free(near);
    return WM_EINVAL;
}
