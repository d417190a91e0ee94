/* The command that runs a program under ncu. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ncu/ncu.h"

/* ---- the caller's own options ---- */

static bool gives(const wm_ncu_opts *o, const char *name, const char *other) {
    for (size_t i = 0; i < o->extra_count; i++) {
        const size_t n = strcspn(o->extra[i], "=");
        if (strlen(name) == n && strncmp(o->extra[i], name, n) == 0) return true;
        if (other && strcmp(o->extra[i], other) == 0) return true;
    }
    return false;
}

/* ---- words ---- */

typedef struct words {
    wmi_list list;
    wm_status status;
} words;

static void add(words *w, const char *word) {
    if (w->status == WM_OK) w->status = wmi_list_add(&w->list, word, strlen(word));
}

static void add_pair(words *w, const char *name, const char *value) {
    add(w, name);
    add(w, value);
}

static void add_text(words *w, wmi_buf *text) {
    if (text->failed) w->status = WM_ENOMEM;
    add(w, text->data ? text->data : "");
    wmi_buf_free(text);
}

/* Only kernels in a region. ncu looks for the expression anywhere in a domain's name, and that of the steps
 * has the regions' in it. Only letters, digits and a few signs mean themselves. */
static void add_filter(words *w, const char *domain) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    wmi_buf text = WMI_BUF_INIT;
    wmi_buf_str(&text, "regex:^");
    for (const char *p = domain; *p; p++) {
        if (!strchr(plain, *p)) wmi_buf_char(&text, '\\');
        wmi_buf_char(&text, *p);
    }
    wmi_buf_str(&text, "$@.+");
    add(w, "--nvtx-include");
    add_text(w, &text);
}

/* ncu adds the suffix, and puts things in the place of a '%' and a letter. */
static void add_report(words *w, const char *report) {
    static const char suffix[] = ".ncu-rep";
    size_t n = strlen(report);
    const size_t m = sizeof suffix - 1;
    wmi_buf text = WMI_BUF_INIT;
    if (n > m && strcmp(report + n - m, suffix) == 0) n -= m;
    for (size_t i = 0; i < n; i++) {
        if (report[i] == '%') wmi_buf_char(&text, '%');
        wmi_buf_char(&text, report[i]);
    }
    add(w, "-f");
    add(w, "-o");
    add_text(w, &text);
}

static wm_status add_metrics(words *w, const char *list, wm_error *err) {
    wmi_list metrics = {0};
    wmi_buf text = WMI_BUF_INIT;
    wm_status status = wmi_ncu_metrics(list, &metrics, err);
    if (status == WM_OK && metrics.n == 0 && wmi_ncu_metric_add(&metrics, WMI_NCU_TIME) != WM_OK)
        status = wmi_error_nomem(err);
    for (size_t i = 0; status == WM_OK && i < metrics.n; i++)
        wmi_buf_printf(&text, "%s%s", i ? "," : "", metrics.v[i]);
    if (status == WM_OK) {
        add(w, "--metrics");
        add_text(w, &text);
    }
    wmi_list_free(&metrics);
    return status;
}

static wm_status words_make(const wm_ncu_opts *o, const char *ncu, int argc, const char *const *argv,
                            words *w, wm_error *err) {
    const char *domain = o->nvtx_domain ? o->nvtx_domain : "warpmeter";
    add(w, ncu);
    if (!gives(o, "--nvtx", NULL)) add(w, "--nvtx");
    if (*domain && !gives(o, "--nvtx-include", NULL) && !gives(o, "--nvtx-exclude", NULL))
        add_filter(w, domain);
    if (o->metrics && !gives(o, "--metrics", NULL)) {
        const wm_status status = add_metrics(w, o->metrics, err);
        if (status != WM_OK) return status;
    }
    if (!gives(o, "--cache-control", NULL)) add_pair(w, "--cache-control", o->cold ? "all" : "none");
    if (!gives(o, "--clock-control", NULL)) add_pair(w, "--clock-control", o->clocks ? o->clocks : "none");
    if (o->replay && !gives(o, "--replay-mode", NULL)) add_pair(w, "--replay-mode", o->replay);
    if (o->report && !gives(o, "--export", "-o")) add_report(w, o->report);
    if (o->log && !gives(o, "--log-file", NULL)) add_pair(w, "--log-file", o->log);
    for (size_t i = 0; i < o->extra_count; i++) add(w, o->extra[i]);
    for (int i = 0; i < argc; i++) add(w, argv[i]);
    return w->status == WM_OK ? WM_OK : wmi_error_nomem(err);
}

wm_status wm_ncu_command(const wm_ncu_opts *opts, int argc, const char *const *argv, char ***out,
                         wm_error *err) {
    wm_ncu_opts o = WM_NCU_OPTS_INIT;
    char found[PATH_MAX];
    if (argc < 1 || !argv || !out)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_ncu_command needs a program and a place for the command");
    if (opts && (opts->struct_size < sizeof opts->struct_size || opts->struct_size > 4096))
        return wmi_error_set(err, WM_EINVAL, 0, "wm_ncu_opts: start from WM_NCU_OPTS_INIT");
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    wm_status status = o.ncu ? WM_OK : wm_ncu_find(found, sizeof found, err);
    words w = {{0}, WM_OK};
    if (status == WM_OK) status = words_make(&o, o.ncu ? o.ncu : found, argc, argv, &w, err);
    char **command = status == WM_OK ? realloc(w.list.v, (w.list.n + 1) * sizeof(char *)) : NULL;
    if (!command) {
        wmi_list_free(&w.list);
        return status == WM_OK ? wmi_error_nomem(err) : status;
    }
    command[w.list.n] = NULL;
    *out = command;
    return WM_OK;
}

void wm_ncu_command_free(char **command) {
    for (char **word = command; word && *word; word++) free(*word);
    free(command);
}
