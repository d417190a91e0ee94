/* wm_main: the command line of a benchmark program. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/groups.h"
#include "program/program.h"
#include "sink/sink.h"

typedef struct program {
    const char *name;
    wmi_options options; /* of the command line alone */
    wm_session *session;
    wm_sweep **sweeps;
    size_t sweep_count;
    wmi_sample_file *samples;
    wmi_progress progress;
    wm_write_opts out_opts;
    bool tool_prints;    /* `warpmeter ncu --compare` asked for the results, and prints them */
    const char *running; /* the benchmark whose functions may be called at the moment; NULL */
    pid_t pid;           /* a child of the program has nothing to report */
} program;

/* ---- messages ---- */

static int complain(const program *p, int status, const wm_error *err) {
    fprintf(stderr, "%s: %s\n", p->name, err->message);
    return status;
}

static void on_log(void *user, wm_log_level level, const char *line) {
    program *p = user;
    const int shown = p->options.verbosity < 0    ? WM_LOG_ERROR
                      : p->options.verbosity == 0 ? WM_LOG_WARNING
                      : p->options.verbosity == 1 ? WM_LOG_INFO
                                                  : WM_LOG_DEBUG;
    if ((int)level > shown) return;
    wmi_progress_clear(&p->progress);
    fprintf(stderr, "%s: %s%s\n", p->name, level == WM_LOG_WARNING ? "warning: " : "", line);
}

/* Everything to stdout passes here, so that a full disk or a closed pipe is seen. */
static int print_text(const program *p, wmi_buf *text) {
    int status = WMI_EXIT_OK;
    if (text->failed) {
        fprintf(stderr, "%s: out of memory\n", p->name);
        status = WMI_EXIT_OUTPUT;
    } else if ((text->len && fwrite(text->data, 1, text->len, stdout) != text->len) || fflush(stdout) != 0) {
        fprintf(stderr, "%s: cannot write to standard output: %s\n", p->name, strerror(errno));
        status = WMI_EXIT_OUTPUT;
    }
    wmi_buf_free(text);
    return status;
}

static int print_table(const program *p, const wm_table *t, const char *format) {
    wm_error err = WM_ERROR_INIT;
    if (wm_table_print(t, stdout, format ? format : "text", &p->out_opts, &err) == WM_OK) return WMI_EXIT_OK;
    /* a format that does not hold such a table */
    return complain(p, err.code == WM_EINVAL ? WMI_EXIT_USAGE : WMI_EXIT_OUTPUT, &err);
}

/* ---- what measures nothing ---- */

static wm_status names_check(const wmi_options *o, wm_error *err) {
    for (size_t i = 0; i < o->benchmarks.n; i++) {
        if (wmi_benchmark_find(o->benchmarks.v[i])) continue;
        const size_t n = wmi_benchmark_count();
        const char **names = malloc((n + 1) * sizeof *names);
        if (!names) return wmi_error_nomem(err);
        for (size_t k = 0; k < n; k++) names[k] = wmi_benchmark_at(k)->name;
        char *near = wmi_nearest(o->benchmarks.v[i], names, n);
        wmi_error_set(err, WM_ENOTFOUND, 0,
                      near && *near ? "no benchmark '%s'; did you mean %s?"
                                    : "no benchmark '%s'; --list shows those there are",
                      o->benchmarks.v[i], near ? near : "");
        free(near);
        free(names);
        return WM_ENOTFOUND;
    }
    return WM_OK;
}

static int list_metrics(const program *p) {
    wm_error err = WM_ERROR_INIT;
    wm_table *t = NULL;
    if (wm_metrics(NULL, &t, &err) != WM_OK) return complain(p, WMI_EXIT_USAGE, &err);
    const int status = print_table(p, t, p->options.format);
    wm_table_destroy(t);
    return status;
}

/* true: *status is the program's. */
static bool say_and_leave(const program *p, int *status) {
    const wmi_options *o = &p->options;
    wm_error err = WM_ERROR_INIT;
    wmi_buf text = WMI_BUF_INIT;
    if (o->list_metrics) {
        *status = list_metrics(p);
        return true;
    }
    if (o->help)
        wmi_help(p->name, &text);
    else if (o->version)
        wmi_buf_printf(&text, "warpmeter %s\n", wm_version());
    else if ((o->list || o->help_axes) && names_check(o, &err) != WM_OK) {
        *status = complain(p, WMI_EXIT_USAGE, &err);
        return true;
    } else if (o->list)
        wmi_list_benchmarks(&text);
    else if (!o->help_axes)
        return false;
    else if (wmi_list_axes(&text, &err) != WM_OK) {
        wmi_buf_free(&text);
        *status = complain(p, WMI_EXIT_USAGE, &err);
        return true;
    }
    *status = print_text(p, &text);
    return true;
}

/* ---- preparing: everything that can be wrong is found here ---- */

static bool chosen(const wmi_options *o, const char *name) {
    for (size_t i = 0; i < o->benchmarks.n; i++)
        if (!strcmp(o->benchmarks.v[i], name)) return true;
    return o->benchmarks.n == 0;
}

static wm_status sweeps_create(program *p, int argc, const char *const *argv, wm_error *err) {
    const size_t n = wmi_benchmark_count();
    p->sweeps = calloc(n + 1, sizeof(wm_sweep *));
    p->sweep_count = 0;
    if (!p->sweeps) return wmi_error_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const wm_benchmark *b = wmi_benchmark_at(i);
        if (!chosen(&p->options, b->name)) continue;
        wm_status status = wm_sweep_create(p->session, b, argc, argv, &p->sweeps[p->sweep_count], err);
        if (status != WM_OK) return status;
        status = wmi_sweep_settle(p->sweeps[p->sweep_count++], err);
        if (status != WM_OK) return status;
    }
    return WM_OK;
}

/* Only a filter leaves nothing to run. */
static wm_status configs_check(const program *p, wm_error *err) {
    const char *filter = "";
    for (size_t i = 0; i < p->sweep_count; i++) {
        if (p->sweeps[i]->point_count) return WM_OK;
        filter = p->sweeps[i]->options.filter;
    }
    return wmi_error_set(err, WM_EEMPTY, 0,
                         "nothing was measured: no configuration matches --filter '%.300s'", filter);
}

static int prepare(program *p, int argc, const char *const *argv) {
    wm_error err = WM_ERROR_INIT;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.log = on_log;
    opts.log_user = p;
    opts.keep_records = p->options.kernels_path != NULL;
    wm_status status = wmi_benchmark_failure(&err);
    if (status == WM_OK && wmi_benchmark_count() == 0)
        status = wmi_error_set(&err, WM_EEMPTY, 0, "this program has no benchmark: use WM_BENCHMARK");
    if (status == WM_OK) status = names_check(&p->options, &err);
    if (status == WM_OK) status = wmi_group_folders_check(&err);
    if (status == WM_OK) status = wmi_outputs_check(&p->options, &err);
    if (status == WM_OK) status = wm_session_create(&opts, &p->session, &err);
    if (status == WM_OK) status = sweeps_create(p, argc, argv, &err);
    if (status == WM_OK && !p->options.dry_run && configs_check(p, &err) != WM_OK)
        return complain(p, WMI_EXIT_NOTHING, &err);
    if (status == WM_OK && p->options.samples_path && !p->options.dry_run)
        status = wmi_sample_file_open(p->options.samples_path, p->session, &p->samples, &err);
    return status == WM_OK ? WMI_EXIT_OK : complain(p, WMI_EXIT_USAGE, &err);
}

static int dry_run(const program *p) {
    int status = WMI_EXIT_OK;
    for (size_t i = 0; i < p->sweep_count && status == WMI_EXIT_OK; i++) {
        wm_error err = WM_ERROR_INIT;
        wm_table *t = NULL;
        if (wm_sweep_plan(p->sweeps[i], &t, &err) != WM_OK) return complain(p, WMI_EXIT_USAGE, &err);
        status = print_table(p, t, p->options.format);
        wm_table_destroy(t);
    }
    return status;
}

/* ---- measuring ---- */

/* A benchmark's function may call exit: what was measured is lost then, and that is said. */
static program *measuring;

static void report_exit(void) {
    program *p = __atomic_load_n(&measuring, __ATOMIC_ACQUIRE);
    if (!p || !p->running || p->pid != getpid()) return;
    wmi_progress_clear(&p->progress);
    fprintf(stderr, "%s: benchmark %s ended the program, so there is no table\n", p->name, p->running);
}

static double left_ns(const program *p, size_t from) {
    const double step_ns = wmi_progress_step_ns(&p->progress);
    double left = 0;
    for (size_t i = from; i < p->sweep_count; i++) left += wmi_sweep_left_ns(p->sweeps[i], step_ns);
    return left;
}

/* What a configuration has that is not in the file yet. */
static void samples_write(program *p, const wm_sweep *sweep, size_t config, bool *lost, wm_error *err) {
    if (!p->samples || *lost || config == SIZE_MAX) return;
    if (wmi_sample_file_add(p->samples, p->session->samples, sweep->points[config].config, err) == WM_OK)
        return;
    wmi_progress_clear(&p->progress);
    complain(p, WMI_EXIT_OUTPUT, err); /* the measurement itself goes on */
    *lost = true;
}

/* Progress while a sweep waits. */
static bool show_wait(void *user, const wm_wait *wait) {
    program *p = user;
    wmi_progress_wait(&p->progress, wait);
    return !wmi_interrupted();
}

/* Values of counters come when the last window of their configuration closes: at the first step of
 * the next one, or at the end. */
static wm_status sweep_measure(program *p, size_t at, bool *lost, wm_error *err) {
    wm_sweep *sweep = p->sweeps[at];
    wm_step step = WM_STEP_INIT;
    wm_error unwritten = WM_ERROR_INIT;
    size_t config = SIZE_MAX;
    if (!p->options.profile) p->running = sweep->name;
    sweep->prompt = p->samples != NULL;
    wm_sweep_on_wait(sweep, show_wait, p);
    while (wm_sweep_next(sweep, &step, err)) {
        if (step.config != config) samples_write(p, sweep, config, lost, &unwritten);
        config = step.config;
        wm_step_call(&step);
        wm_status status = wm_sweep_done(sweep, &step, WM_OK, NULL, err);
        if (status != WM_OK) return status;
        if (wmi_progress_due(&p->progress)) wmi_progress_show(&p->progress, &step, left_ns(p, at));
        samples_write(p, sweep, config, lost, &unwritten);
        if (wmi_interrupted()) return wmi_error_set(err, WM_EINTERRUPTED, 0, "interrupted by a signal");
    }
    samples_write(p, sweep, config, lost, &unwritten);
    return err->code;
}

static bool has_value(const wm_table *t) {
    for (size_t i = 0; i < wm_table_rows(t); i++)
        if (wmi_table_cell(t, i, WMI_COL_MEAN).type != WM_NULL) return true;
    return false;
}

static int write_outputs(const program *p, const wm_table *t) {
    int status = WMI_EXIT_OK;
    for (size_t i = 0; i < p->options.out.n; i++) {
        wm_error err = WM_ERROR_INIT;
        if (wm_table_write(t, p->options.out.v[i], NULL, NULL, &err) != WM_OK)
            status = complain(p, WMI_EXIT_OUTPUT, &err);
    }
    return status;
}

static int results_show(const program *p, bool *anything) {
    wm_error err = WM_ERROR_INIT;
    wm_table *t = NULL;
    if (wm_session_table(p->session, &t, &err) != WM_OK) return complain(p, WMI_EXIT_OUTPUT, &err);
    *anything = has_value(t);
    const int written = write_outputs(p, t); /* first: stdout may be closed */
    const bool quiet =
        p->tool_prints || (p->options.verbosity < 0 && !p->options.format && p->options.out.n > 0);
    const int printed = quiet ? WMI_EXIT_OK : print_table(p, t, p->options.format);
    wm_table_destroy(t);
    return written != WMI_EXIT_OK ? written : printed;
}

static int kernels_write(const program *p) {
    wm_error err = WM_ERROR_INIT;
    wm_table *t = NULL;
    if (!p->options.kernels_path) return WMI_EXIT_OK;
    wm_status status = wm_session_kernels(p->session, &t, &err);
    if (status == WM_OK) status = wm_table_write(t, p->options.kernels_path, NULL, NULL, &err);
    wm_table_destroy(t);
    return status == WM_OK ? WMI_EXIT_OK : complain(p, WMI_EXIT_OUTPUT, &err);
}

/* Clocks that are held have to be given back, also when the program is to end. */
static bool holds_clocks(const program *p) {
    for (size_t i = 0; i < p->sweep_count; i++)
        if (p->sweeps[i]->options.lock_clocks.hz != 0) return true;
    return false;
}

static int measure(program *p) {
    wm_error err = WM_ERROR_INIT;
    wm_status status = WM_OK;
    bool lost = false, anything = false;
    int failed = 0;
    if (p->options.verbosity >= 0) wmi_progress_begin(&p->progress, stderr);
    p->pid = getpid();
    __atomic_store_n(&measuring, p, __ATOMIC_RELEASE);
    if (holds_clocks(p)) wmi_interrupt_catch();
    for (size_t i = 0; i < p->sweep_count && status == WM_OK; i++) {
        status = sweep_measure(p, i, &lost, &err);
        failed += p->sweeps[i]->failed;
    }
    p->running = NULL;
    wmi_progress_clear(&p->progress);
    if (wmi_sample_file_close(p->samples, status == WM_OK ? &err : NULL) != WM_OK && !lost) {
        complain(p, WMI_EXIT_OUTPUT, &err);
        lost = true;
    }
    p->samples = NULL;
    if (status != WM_OK) complain(p, WMI_EXIT_FAILED, &err);
    if (p->options.profile) return failed ? WMI_EXIT_FAILED : WMI_EXIT_OK;
    if (kernels_write(p) != WMI_EXIT_OK) lost = true;
    const int shown = results_show(p, &anything); /* whatever was measured is shown, also after a failure */
    if (shown != WMI_EXIT_OK || lost) return WMI_EXIT_OUTPUT;
    if (failed || status != WM_OK) return WMI_EXIT_FAILED;
    if (anything) return WMI_EXIT_OK;
    fprintf(stderr, "%s: nothing was measured\n", p->name);
    return WMI_EXIT_NOTHING;
}

/* Beside another profiler nothing is measured, so there is nothing to write. */
static void outputs_drop(wmi_options *o) {
    wmi_list_free(&o->out);
    free(o->samples_path);
    free(o->kernels_path);
    o->out = (wmi_list){NULL, 0, 0};
    o->samples_path = o->kernels_path = NULL;
}

/* What `warpmeter ncu` asks for through the environment. */
static wm_status environment_read(program *p, wm_error *err) {
    int64_t runs = 0;
    const char *out = getenv("WARPMETER_OUT");
    wm_status status = wmi_profile_asked(&runs, err);
    if (status != WM_OK) return status;
    p->options.profile |= runs > 0;
    if (runs > 0 || wmi_under_ncu_asked()) {
        outputs_drop(&p->options);
    } else if (out && *out) {
        p->tool_prints = true;
        if (wmi_list_add(&p->options.out, out, strlen(out)) != WM_OK) return wmi_error_nomem(err);
    }
    return WM_OK;
}

static int run(program *p, int argc, char **argv) {
    const char *const *words = argc > 0 ? (const char *const *)(argv + 1) : NULL;
    const int count = argc > 0 ? argc - 1 : 0;
    wm_error err = WM_ERROR_INIT;
    int status;
    if (wmi_options_parse(&p->options, count, words, true, NULL, &err) != WM_OK ||
        wmi_options_check(&p->options, &err) != WM_OK || environment_read(p, &err) != WM_OK)
        return complain(p, WMI_EXIT_USAGE, &err);
    p->out_opts = wmi_terminal_opts(stdout, p->options.color);
    p->out_opts.no_warnings = true; /* on_log shows them as they come, or --quiet forbids them */
    if (say_and_leave(p, &status)) return status;
    status = prepare(p, count, words);
    if (status != WMI_EXIT_OK) return status;
    if (p->options.dry_run) return dry_run(p);
    if (!wmi_under_ncu_asked()) return measure(p);
    wmi_under_ncu(p->sweeps, p->sweep_count, argc, argv, &err);
    return complain(p, WMI_EXIT_USAGE, &err);
}

int wm_main(int argc, char **argv) {
    program p = {.name = argc > 0 && argv[0] ? argv[0] : "benchmark"};
    const char *slash = strrchr(p.name, '/');
    if (slash) p.name = slash + 1;
    setlocale(LC_CTYPE, "");
    /* A closed pipe and a file that may not grow are reported, and other files still written. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    wmi_streams_keep();
    atexit(report_exit);
    wmi_options_init(&p.options);
    const int status = run(&p, argc, argv);
    wmi_sample_file_close(p.samples, NULL);
    for (size_t i = 0; i < p.sweep_count; i++) wm_sweep_destroy(p.sweeps[i]);
    free(p.sweeps);
    wm_session_destroy(p.session);
    wmi_options_fini(&p.options);
    __atomic_store_n(&measuring, NULL, __ATOMIC_RELEASE);
    wmi_interrupt_leave(); /* clocks were given back with the sweeps */
    if (wmi_interrupted()) raise(wmi_interrupted());
    return status;
}
