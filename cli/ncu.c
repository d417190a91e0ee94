/* warpmeter ncu: run a program under NVIDIA's profiler, and show what that found of its regions. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPARE, RUNS, METRICS, PREFIX, OUT, FORMAT, COLOR };
static const cli_option options[] = {
    [COMPARE] = {"--compare", "", "run the program by itself first, and show both results", NULL},
    [RUNS] = {"--runs", "N", "runs of each configuration under ncu: 3", NULL},
    [METRICS] = {"--metrics", "LIST", "what to collect, instead of what the program asks for", NULL},
    [PREFIX] = {"-o", "PREFIX", "names PREFIX.ncu-rep and PREFIX.log: the program's name", NULL},
    [OUT] = {"--out", "FILE", "write the table to FILE too", NULL},
    [FORMAT] = CLI_FORMAT_OPTION,
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

typedef struct job {
    const char *value[CLI_OPTIONS_MAX];
    const char **extra; /* [extra_count] for ncu */
    size_t extra_count;
    int argc;
    char **argv; /* the program and its words */
    char program[PATH_MAX], report[PATH_MAX], log[PATH_MAX];
} job;

/* ---- words ---- */

static bool is_given(const job *j, const char *option) {
    const size_t n = strlen(option);
    for (size_t i = 0; i < j->extra_count; i++)
        if (strncmp(j->extra[i], option, n) == 0 && (!j->extra[i][n] || j->extra[i][n] == '=')) return true;
    return false;
}

/* Is it an option of ours? Then its value is taken, which may be the next word. */
static int take_own(job *j, int count, char **words, int *at, bool *own) {
    const char *word = words[*at];
    const size_t n = strcspn(word, "=");
    *own = false;
    for (size_t i = 0; options[i].name && !*own; i++) {
        const cli_option *o = &options[i];
        if (strlen(o->name) != n || strncmp(o->name, word, n) != 0) continue;
        *own = true;
        if (!o->arg[0] && word[n]) return cli_complain(CLI_BAD, "%s takes no value", o->name);
        if (o->arg[0] && !word[n] && *at + 1 == count)
            return cli_complain(CLI_BAD, "%s needs a value: %s %s", o->name, o->name, o->arg);
        j->value[i] = !o->arg[0] ? "" : word[n] ? word + n + 1 : words[++*at];
        return cli_check_value(o, j->value[i]);
    }
    return CLI_OK;
}

static int words_read(job *j, int argc, char **argv) {
    int count = 0;
    while (count < argc && strcmp(argv[count], "--") != 0) count++;
    if (count + 1 >= argc)
        return cli_complain(CLI_BAD,
                            "ncu needs a program; usage: warpmeter ncu [options] [options of ncu] -- "
                            "PROGRAM [ARGS]");
    j->argc = argc - count - 1;
    j->argv = argv + count + 1;
    j->extra = calloc((size_t)count + 3, sizeof *j->extra);
    if (!j->extra) return cli_complain(CLI_OUTPUT, "out of memory");
    for (int i = 0; i < count; i++) {
        bool own;
        const int status = take_own(j, count, argv, &i, &own);
        if (status != CLI_OK) return status;
        if (!own) j->extra[j->extra_count++] = argv[i];
    }
    /* Between passes over one kernel ncu puts back the memory that it wrote, which changes how much of it
     * leaves the caches the next time. The program as a whole, run once for each pass, is as it is. */
    if (j->value[COMPARE] && !is_given(j, "--replay-mode")) {
        j->extra[j->extra_count++] = "--replay-mode";
        j->extra[j->extra_count++] = "application";
    }
    const char *runs = j->value[RUNS];
    if (runs &&
        (strspn(runs, "0123456789") != strlen(runs) || strlen(runs) > 6 || strtol(runs, NULL, 10) < 1))
        return cli_complain(CLI_BAD, "--runs takes a whole number of at least 1, not '%s'", runs);
    return CLI_OK;
}

/* ---- the program ---- */

static bool is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As a shell would find it: ncu takes a path only. */
static bool find_program(const char *name, char *out, size_t size) {
    const char *path = getenv("PATH");
    if (strchr(name, '/')) return snprintf(out, size, "%s", name) < (int)size && is_program(out);
    for (const char *at = path ? path : ""; *at;) {
        const size_t n = strcspn(at, ":");
        const int length = snprintf(out, size, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
        if (length > 0 && (size_t)length < size && is_program(out)) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* Does the program plan for itself? One with wm_main holds the name, or, linked with the archive, the
 * variable that asks it to. */
static bool has_main(const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool found = false;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 4) {
        const size_t n = (size_t)st.st_size;
        void *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            found = memcmp(map, "\177ELF", 4) == 0 &&
                    (memmem(map, n, "\0wm_main", 9) || memmem(map, n, "\0WARPMETER_NCU_EXEC", 20));
            munmap(map, n);
        }
    }
    if (fd >= 0) close(fd);
    return found;
}

/* ---- running ---- */

/* Run a command to its end. `quiet`: its standard output goes nowhere. Returns its exit status, 128 and the
 * number of a signal that ended it, or -1. */
static int run_command(char **argv, bool quiet) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t pid;
    int ended;
    sigemptyset(&defaults); /* what is ignored here would stay so there */
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (quiet) posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    fflush(stdout);
    const int code = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
        cli_complain(CLI_BAD, "cannot run '%s': %s", argv[0], strerror(code));
        return -1;
    }
    while (waitpid(pid, &ended, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

/* A word as wmi_words_split takes it back. */
static bool put_word(FILE *to, const char *word) {
    bool fine = fputs(" '", to) >= 0;
    for (const char *p = word; *p && fine; p++)
        fine = *p == '\'' ? fputs("'\\''", to) >= 0 : fputc(*p, to) != EOF;
    return fine && fputc('\'', to) != EOF;
}

/* The program plans and has ncu take its place. */
static int run_planning(const job *j) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    const char *const words[] = {j->report, j->log, j->value[RUNS] ? j->value[RUNS] : "3",
                                 j->value[METRICS] ? j->value[METRICS] : ""};
    bool fine = to != NULL;
    for (size_t i = 0; fine && i < sizeof words / sizeof *words; i++) fine = put_word(to, words[i]);
    for (size_t i = 0; fine && i < j->extra_count; i++) fine = put_word(to, j->extra[i]);
    if (to && fclose(to) != 0) fine = false;
    if (fine) fine = setenv("WARPMETER_NCU_EXEC", text, 1) == 0;
    free(text);
    if (!fine) {
        cli_complain(CLI_OUTPUT, "out of memory");
        return -1;
    }
    const int status = run_command(j->argv, false);
    unsetenv("WARPMETER_NCU_EXEC");
    return status;
}

/* Any other program: what it shows is up to it. */
static int run_other(const job *j) {
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    char **command = NULL, profile[32];
    opts.report = j->report;
    opts.log = j->log;
    opts.metrics = j->value[METRICS];
    opts.extra = j->extra;
    opts.extra_count = j->extra_count;
    if (wm_ncu_command(&opts, j->argc, (const char *const *)j->argv, &command, &err) != WM_OK) {
        cli_complain_error(&err);
        return -1;
    }
    snprintf(profile, sizeof profile, "ncu:%s", j->value[RUNS] ? j->value[RUNS] : "3");
    setenv("WARPMETER_PROFILE", profile, 1);
    const int status = run_command(command, false);
    unsetenv("WARPMETER_PROFILE");
    wm_ncu_command_free(command);
    return status;
}

/* ---- what ncu said ---- */

/* The log, or ""; the caller frees it. */
static char *log_read(const char *path) {
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (!from) return NULL;
    if (getdelim(&text, &size, '\0', from) < 0) {
        free(text);
        text = NULL;
    }
    fclose(from);
    return text;
}

/* Why there is no report, or none to rely on; CLI_OK: nothing is known to be wrong. */
static int judge(const job *j, int status) {
    char *log = log_read(j->log);
    const char *failed = log ? strstr(log, "application returned an error code") : NULL;
    int result = CLI_OK;
    if (log && strstr(log, "ERR_NVGPUCTRPERM"))
        result = cli_complain(
            CLI_BAD, "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or load the "
                     "driver with NVreg_RestrictProfilingToAdminUsers=0");
    else if (failed)
        result =
            cli_complain(CLI_HIT, "the program failed under ncu: %.*s", (int)strcspn(failed, "\n"), failed);
    else if (log && strstr(log, "No kernels were profiled"))
        result = cli_complain(CLI_NONE, "no kernel was profiled: none ran in a region; %s has what ncu said",
                              j->log);
    else if (access(j->report, R_OK) != 0 && !log && status != 0)
        result = cli_complain(CLI_HIT, "the program ended with status %d before ncu began", status);
    else if (access(j->report, R_OK) != 0)
        result = cli_complain(CLI_BAD, "ncu ended with status %d and wrote no report%s%s", status,
                              log ? "; see " : "", log ? j->log : "");
    else if (status != 0)
        result = cli_complain(CLI_HIT, "ncu ended with status %d; see %s", status, j->log);
    free(log);
    return result;
}

static int profile(const job *j, wm_table **out) {
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    unlink(j->report); /* what is there after is of this run */
    unlink(j->log);
    const int status = has_main(j->program) ? run_planning(j) : run_other(j);
    if (status < 0) return CLI_BAD;
    const int judged = judge(j, status);
    if (judged != CLI_OK) return judged;
    opts.metrics = j->value[METRICS];
    return wm_ncu_read(j->report, &opts, out, &err) == WM_OK ? CLI_OK : cli_complain_error(&err);
}

/* ---- both ---- */

/* The program by itself: it writes its results where it is told to. */
static int measure(const job *j, wm_table **out) {
    char path[PATH_MAX], metrics[] = "--metrics";
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder) folder = "/tmp";
    wm_error err = WM_ERROR_INIT;
    if (!has_main(j->program))
        return cli_complain(CLI_BAD, "--compare needs a benchmark program, and '%s' has no wm_main",
                            j->program);
    if (snprintf(path, sizeof path, "%s/warpmeter-XXXXXX.json", folder) >= (int)sizeof path)
        return cli_complain(CLI_OUTPUT, "TMPDIR is too long");
    const int fd = mkstemps(path, 5);
    char **argv = calloc((size_t)j->argc + 3, sizeof *argv);
    int result = CLI_OK;
    if (fd < 0 || !argv) {
        result = cli_complain(CLI_OUTPUT, "cannot make a file in %s: %s", folder, strerror(errno));
    } else {
        int n = j->argc;
        memcpy(argv, j->argv, (size_t)n * sizeof *argv);
        if (j->value[METRICS]) {
            argv[n++] = metrics;
            argv[n++] = (char *)(uintptr_t)j->value[METRICS];
        }
        setenv("WARPMETER_OUT", path, 1);
        const int status = run_command(argv, true);
        unsetenv("WARPMETER_OUT");
        if (status != 0)
            result = cli_complain(CLI_HIT, "the program ended with status %d when it ran by itself", status);
        else if (wm_table_read(path, "json", out, &err) != WM_OK)
            result = cli_complain_error(&err);
    }
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(argv);
    return result;
}

/* Rows that only one has, such as times of the processor, are no evidence. */
static int weigh(const wm_table *ncu, const wm_table *own, wm_table **out) {
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_table *all = NULL;
    select.filter = "verdict!=only-baseline,verdict!=only-contender";
    wm_status status = wm_table_compare(ncu, own, NULL, &all, &err);
    if (status == WM_OK) status = wm_table_select(all, &select, out, &err);
    wm_table_destroy(all);
    return status == WM_OK ? CLI_OK : cli_complain_error(&err);
}

static int show(const job *j, const wm_table *table) {
    const char *format = j->value[FORMAT];
    const wm_write_opts opts = cli_write_opts(j->value[COLOR]);
    wm_error err = WM_ERROR_INIT;
    if (j->value[OUT] && wm_table_write(table, j->value[OUT], NULL, NULL, &err) != WM_OK)
        return cli_complain(CLI_OUTPUT, "%s", err.message);
    if (j->value[COMPARE] && (!format || strcmp(format, "text") == 0))
        puts("baseline: ncu; contender: the program by itself");
    return cli_print(table, format, &opts);
}

static int run_job(job *j) {
    wm_table *own = NULL, *ncu = NULL, *both = NULL;
    wm_error err = WM_ERROR_INIT;
    char found[PATH_MAX];
    if (!find_program(j->argv[0], j->program, sizeof j->program))
        return cli_complain(CLI_BAD, "'%s' is no program", j->argv[0]);
    const char *slash = strrchr(j->argv[0], '/'), *prefix = j->value[PREFIX];
    if (!prefix) prefix = slash ? slash + 1 : j->argv[0];
    if (snprintf(j->report, sizeof j->report, "%s.ncu-rep", prefix) >= (int)sizeof j->report ||
        snprintf(j->log, sizeof j->log, "%s.log", prefix) >= (int)sizeof j->log)
        return cli_complain(CLI_BAD, "-o %.40s... is too long", prefix);
    j->argv[0] = j->program;
    if (wm_ncu_find(found, sizeof found, &err) != WM_OK) return cli_complain_error(&err);
    int status = j->value[COMPARE] ? measure(j, &own) : CLI_OK;
    if (status == CLI_OK) status = profile(j, &ncu);
    if (status == CLI_OK && own) status = weigh(ncu, own, &both);
    if (status == CLI_OK) status = show(j, both ? both : ncu);
    wm_table_destroy(both);
    wm_table_destroy(ncu);
    wm_table_destroy(own);
    return status;
}

static int run(int argc, char **argv) {
    job j = {.argv = argv};
    int status = words_read(&j, argc, argv);
    if (status == CLI_OK) status = run_job(&j);
    free(j.extra);
    return status;
}

const cli_command cli_ncu = {
    "ncu",
    "[options of ncu] -- PROGRAM [ARGS]",
    0,
    0,
    "Run a program under Nsight Compute and show what that finds of its regions",
    options,
    NULL,
    run,
};
