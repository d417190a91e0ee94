/* Where group files lie. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "input/groups.h"

#define SUFFIX ".metrics"
enum { GROUP_FILE_MAX = 1 << 20 };

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- folders, in the order they are searched ---- */

static wm_status add_environment(wmi_list *folders, wm_error *err) {
    const char *at = getenv("WARPMETER_METRICS");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        if (n > 0) {
            if (wmi_list_add(folders, at, n)) return wmi_error_nomem(err);
            if (!is_folder(folders->v[folders->n - 1]))
                return wmi_error_set(err, WM_EINVAL, 0,
                                     "WARPMETER_METRICS takes folders separated by ':', and '%.200s' is none",
                                     folders->v[folders->n - 1]);
        }
        at += n + (at[n] == ':');
    }
    return WM_OK;
}

wm_status wmi_group_folders_check(wm_error *err) {
    wmi_list folders = {0};
    wm_status s = add_environment(&folders, err);
    wmi_list_free(&folders);
    return s;
}

/* PREFIX/lib/libwarpmeter.so, or PREFIX/lib/TRIPLET/libwarpmeter.so as Debian has it;
 * a program that the library is part of, in PREFIX/bin, is served by the first too. And a Python package
 * has the folder beside the module that holds the library. */
static wm_status add_beside_library(wmi_list *folders, bool *added, wm_error *err) {
    static const char *const up[] = {"/../share/warpmeter/metrics", "/../../share/warpmeter/metrics",
                                     "/metrics"};
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)&wmi_group_names, &info) || !info.dli_fname) return WM_OK;
    const char *slash = strrchr(info.dli_fname, '/');
    for (size_t i = 0; slash && i < sizeof up / sizeof up[0] && !*added; i++) {
        wmi_buf path = WMI_BUF_INIT;
        wmi_buf_add(&path, info.dli_fname, (size_t)(slash - info.dli_fname));
        wmi_buf_str(&path, up[i]);
        *added = !path.failed && is_folder(path.data);
        bool failed = path.failed || (*added && wmi_list_add(folders, path.data, path.len));
        wmi_buf_free(&path);
        if (failed) return wmi_error_nomem(err);
    }
    return WM_OK;
}

static wm_status add_installed(wmi_list *folders, wm_error *err) {
    static const char path[] = WM_INSTALL_METRICS_DIR;
    if (!is_folder(path)) return WM_OK;
    return wmi_list_add(folders, path, sizeof path - 1) ? wmi_error_nomem(err) : WM_OK;
}

static wm_status find_folders(wmi_list *folders, wm_error *err) {
    bool beside = false;
    wm_status s = add_environment(folders, err);
    if (s == WM_OK) s = add_beside_library(folders, &beside, err);
    if (s == WM_OK && !beside) s = add_installed(folders, err);
    return s;
}

/* ---- names ---- */

static bool is_name(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '-' && c != '_') return false;
    }
    return n > 0;
}

static wm_status list_folder(const char *folder, wmi_list *names, wm_error *err) {
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOMEM) return wmi_error_nomem(err);
    if (!dir)
        return wmi_error_set(err, errno == EACCES ? WM_EPERM : WM_EIO, errno,
                             "the folder of metric groups '%.200s' cannot be read: %s", folder,
                             wmi_errno_text(errno));
    wm_status s = WM_OK;
    for (struct dirent *e; s == WM_OK && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name), suffix = sizeof SUFFIX - 1;
        if (n <= suffix || strcmp(e->d_name + n - suffix, SUFFIX) != 0 || !is_name(e->d_name, n - suffix))
            continue;
        if (wmi_list_add(names, e->d_name, n - suffix)) s = wmi_error_nomem(err);
    }
    closedir(dir);
    return s;
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void sort_unique(wmi_list *names) {
    if (names->n < 2) return;
    qsort(names->v, names->n, sizeof *names->v, compare);
    size_t kept = 1;
    for (size_t i = 1; i < names->n; i++) {
        if (strcmp(names->v[i], names->v[kept - 1]) == 0)
            free(names->v[i]);
        else
            names->v[kept++] = names->v[i];
    }
    names->n = kept;
}

static wm_status list_names(const wmi_list *folders, wmi_list *out, wm_error *err) {
    wmi_list names = {0};
    wm_status s = WM_OK;
    for (size_t i = 0; i < folders->n && s == WM_OK; i++) s = list_folder(folders->v[i], &names, err);
    if (s) {
        wmi_list_free(&names);
        return s;
    }
    sort_unique(&names);
    *out = names;
    return WM_OK;
}

wm_status wmi_group_names(wmi_list *out, wm_error *err) {
    wmi_list folders = {0};
    wm_status s = find_folders(&folders, err);
    if (s == WM_OK) s = list_names(&folders, out, err);
    wmi_list_free(&folders);
    return s;
}

/* ---- loading ---- */

static wm_status fail_not_found(const wmi_list *folders, const char *name, wm_error *err) {
    wmi_list names = {0};
    wm_status s = list_names(folders, &names, err);
    if (s) return s;
    wmi_buf known = WMI_BUF_INIT;
    for (size_t i = 0; i < names.n; i++) wmi_buf_printf(&known, "%s%s", i ? ", " : "", names.v[i]);
    if (known.failed)
        s = wmi_error_nomem(err);
    else if (names.n > 0)
        s = wmi_error_set(err, WM_ENOTFOUND, 0, "there is no group of metrics '%.60s'; there are %s", name,
                          known.data);
    else
        s = wmi_error_set(
            err, WM_ENOTFOUND, 0,
            "there is no group of metrics '%.60s', nor any other; WARPMETER_METRICS names their folder",
            name);
    wmi_buf_free(&known);
    wmi_list_free(&names);
    return s;
}

static wm_status load_file(const char *name, const char *path, const struct stat *st, wmi_group *out,
                           wm_error *err) {
    if (!S_ISREG(st->st_mode) || st->st_size > GROUP_FILE_MAX)
        return wmi_error_set(err, WM_EPARSE, 0, "%.300s is no text file of at most %d bytes", path,
                             GROUP_FILE_MAX);
    char *text = NULL;
    size_t n = 0;
    wm_status s = wmi_file_read(path, &text, &n, err);
    if (s) return s;
    s = wmi_group_parse(name, path, text, n, out, err);
    free(text);
    return s;
}

static wm_status load_from(const wmi_list *folders, const char *name, wmi_group *out, wm_error *err) {
    for (size_t i = 0; i < folders->n && is_name(name, strlen(name)); i++) {
        wmi_buf path = WMI_BUF_INIT;
        wmi_buf_printf(&path, "%s/%s" SUFFIX, folders->v[i], name);
        if (path.failed) {
            wmi_buf_free(&path);
            return wmi_error_nomem(err);
        }
        struct stat st;
        bool found = stat(path.data, &st) == 0;
        wm_status s = found ? load_file(name, path.data, &st, out, err) : WM_OK;
        wmi_buf_free(&path);
        if (found) return s;
    }
    return fail_not_found(folders, name, err);
}

wm_status wmi_group_load(const char *name, wmi_group *out, wm_error *err) {
    wmi_list folders = {0};
    wm_status s = find_folders(&folders, err);
    if (s == WM_OK) s = load_from(&folders, name, out, err);
    wmi_list_free(&folders);
    return s;
}
