/* A benchmark program that is to run under ncu: only it knows which metrics and which caches its benchmarks
 * ask for. `warpmeter ncu` starts it with WARPMETER_NCU_EXEC; it plans, and ncu takes its place and starts it
 * again. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"

static const char variable[] = "WARPMETER_NCU_EXEC";

/* What the variable holds, as words: these, then options of ncu's. */
enum { REPORT, LOG, RUNS, METRICS, EXTRA };

bool wmi_under_ncu_asked(void) {
    const char *text = getenv(variable);
    return text && *text;
}

/* Metrics of devices, by the sweeps' plans. */
static wm_status metrics_collect(wm_sweep *const *sweeps, size_t count, wmi_buf *out, bool *cold) {
    for (size_t i = 0; i < count; i++) {
        const wmi_measure *m = sweeps[i]->measure;
        *cold |= sweeps[i]->options.cache_clear == 1;
        for (size_t g = 0; g < m->gauge_count; g++)
            if (m->sources[m->gauges[g].backend].ops->device)
                wmi_buf_printf(out, "%s%s", out->len ? "," : "", m->gauges[g].about.name);
    }
    return out->failed ? WM_ENOMEM : WM_OK;
}

static wm_status command_make(char **words, size_t count, wm_sweep *const *sweeps, size_t sweep_count,
                              int argc, char **argv, char ***out, wm_error *err) {
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    wmi_buf metrics = WMI_BUF_INIT;
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    wm_status status = n > 0 ? metrics_collect(sweeps, sweep_count, &metrics, &opts.cold)
                             : wmi_error_set(err, WM_EIO, errno, "the program cannot find itself: %s",
                                             wmi_errno_text(errno));
    const char **program = calloc((size_t)argc + 2, sizeof *program);
    if (status == WM_ENOMEM || !program) status = wmi_error_nomem(err);
    if (status == WM_OK) {
        self[n] = '\0';
        program[0] = self;
        for (int i = 1; i < argc; i++) program[i] = argv[i];
        opts.report = words[REPORT];
        opts.log = words[LOG];
        opts.metrics = *words[METRICS] ? words[METRICS] : metrics.data ? metrics.data : "";
        opts.nvtx_domain = sweep_count ? sweeps[0]->session->nvtx_domain : NULL;
        opts.extra = (const char *const *)(words + EXTRA);
        opts.extra_count = count - EXTRA;
        status = wm_ncu_command(&opts, argc > 0 ? argc : 1, program, out, err);
    }
    free(program);
    wmi_buf_free(&metrics);
    return status;
}

wm_status wmi_under_ncu(wm_sweep *const *sweeps, size_t count, int argc, char **argv, wm_error *err) {
    char **words = NULL, **command = NULL, profile[64];
    size_t n = 0;
    wm_status status = wmi_words_split(getenv(variable), &words, &n, err);
    if (status == WM_OK && n < EXTRA) status = wmi_error_set(err, WM_EINVAL, 0, "%s is cut", variable);
    if (status == WM_OK) status = command_make(words, n, sweeps, count, argc, argv, &command, err);
    if (status == WM_OK) {
        snprintf(profile, sizeof profile, "ncu:%.20s", words[RUNS]);
        setenv("WARPMETER_PROFILE", profile, 1);
        unsetenv(variable);
        signal(SIGPIPE, SIG_DFL); /* what is ignored would stay so in ncu, and in the program */
        signal(SIGXFSZ, SIG_DFL);
        execv(command[0], command);
        status =
            wmi_error_set(err, WM_EIO, errno, "cannot run '%.200s': %s", command[0], wmi_errno_text(errno));
    }
    wm_ncu_command_free(command);
    free(words);
    return status;
}
