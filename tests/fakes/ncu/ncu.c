/* fakes/ncu/: a made-up ncu. It takes the options that warpmeter uses, runs the program with the NVTX tool of
 * tests/fakes/nvtx, which sees kernels of the fake GPU, and writes a report. For --import it prints CSV as
 * ncu 2025.3.1 was seen to: cells of NVTX ranges that are no CSV, commas between thousands, six places behind
 * the point, units in a line of their own, the other rollups of a counter beside the one asked for.
 *
 * FAKE_NCU in the environment makes it fail: permission, crash (of the program's run), old (it knows no
 * --print-kernel-base), truncated (the report), foreign (ranges are left out of it). FAKE_NCU_WORDS=FILE: the
 * words that it was called with, a line each.
 *
 * The report: a line of metrics, then the kernels as fakes/nvtx has them. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *fault(void) {
    const char *f = getenv("FAKE_NCU");
    return f ? f : "";
}

static bool fails(const char *how) { return strcmp(fault(), how) == 0; }

static int refuse(const char *option) {
    fprintf(stderr, "==ERROR== unrecognised option '%s'. Use --help for further details.\n", option);
    return 1;
}

/* ---- profiling ---- */

typedef struct order {
    const char *report, *log, *metrics, *domain;
    bool nvtx, force;
    char **program;
} order;

static bool takes_value(const char *word) {
    static const char *const names[] = {"--nvtx-include",
                                        "--metrics",
                                        "--cache-control",
                                        "--clock-control",
                                        "--replay-mode",
                                        "--log-file",
                                        "-o",
                                        "--set"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], word) == 0) return true;
    return false;
}

static bool order_read(char **words, order *out) {
    static char domain[256];
    for (; *words && (*words)[0] == '-'; words++) {
        const char *word = *words, *value = takes_value(word) ? *++words : "";
        if (!value) return false;
        if (strcmp(word, "--nvtx") == 0) {
            out->nvtx = true;
        } else if (strcmp(word, "-f") == 0) {
            out->force = true;
        } else if (strcmp(word, "-o") == 0) {
            out->report = value;
        } else if (strcmp(word, "--log-file") == 0) {
            out->log = value;
        } else if (strcmp(word, "--metrics") == 0) {
            out->metrics = value;
        } else if (strcmp(word, "--nvtx-include") == 0) {
            const char *at = strrchr(value, '@');
            if (strncmp(value, "regex:", 6) != 0 || !at || strcmp(at, "@.+") != 0) return false;
            snprintf(domain, sizeof domain, "%.*s", (int)(at - value - 6), value + 6);
            out->domain = domain;
        } else if (!takes_value(word)) {
            refuse(word);
            return false;
        }
    }
    out->program = words;
    return *words != NULL;
}

static void tool_set(const order *o, const char *report) {
    char self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    snprintf(path, sizeof path, "%s/fakenvtx.so", dirname(self));
    if (o->nvtx) setenv("NVTX_INJECTION64_PATH", path, 1);
    if (o->domain) setenv("FAKE_NCU_DOMAIN", o->domain, 1);
    setenv("FAKE_NCU_METRICS", o->metrics, 1);
    setenv("FAKE_NCU_REPORT", report, 1);
}

/* What ncu does not know it leaves out without a word. */
static char *metrics_known(const char *list) {
    char *copy = strdup(list), *known = calloc(1, strlen(list) + 2), *rest = copy;
    for (char *name; (name = strtok_r(rest, ",", &rest)) != NULL;) {
        if (strstr(name, "unknown")) continue;
        if (*known) strcat(known, ",");
        strcat(known, name);
    }
    free(copy);
    return known;
}

static int profile(char **words) {
    order o = {.metrics = NULL};
    char report[PATH_MAX], program[PATH_MAX];
    struct stat before, after;
    int ended = 0;
    if (!order_read(words, &o)) return 1;
    char *known = metrics_known(o.metrics ? o.metrics : "gpu__time_duration.sum");
    o.metrics = known;
    FILE *log = o.log ? fopen(o.log, "we") : stdout;
    if (!log) return 1;
    if (!realpath(o.program[0], program)) {
        fprintf(log, "==ERROR== '%s' does not exist or is not an executable.\n", o.program[0]);
        return 1;
    }
    snprintf(report, sizeof report, "%s.ncu-rep", o.report ? o.report : "fake");
    FILE *to = fopen(report, "we");
    if (!to) return 1;
    fprintf(to, "%s\n", o.metrics);
    fclose(to);
    stat(report, &before);
    fflush(log);
    const pid_t pid = fork();
    if (pid == 0) {
        tool_set(&o, report);
        if (fails("crash")) abort();
        execv(program, o.program);
        _exit(127);
    }
    fprintf(log, "==PROF== Connected to process %d (%s)\n", (int)pid, program);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) continue;
    const int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    fprintf(log, "==PROF== Disconnected from process %d\n", (int)pid);
    const bool none = fails("permission") || stat(report, &after) != 0 || after.st_size == before.st_size;
    if (fails("permission"))
        fprintf(log, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
                     "Performance Counters on the target device 0.\n");
    if (status != 0) fprintf(log, "==ERROR== The application returned an error code (%d).\n", status);
    if (none) {
        fprintf(log, "==WARNING== No kernels were profiled.\n");
        unlink(report);
    } else {
        fprintf(log, "==PROF== Report: %s\n", report);
    }
    fclose(log);
    free(known);
    return status;
}

/* ---- printing ---- */

static const char lead[] =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"thread "
    "Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Id:Domain:Start/"
    "Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\",\"Context\","
    "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"";
static const char facts[] = ",\"device__attribute_display_name\",\"device__attribute_clock_rate\"";
static const char *const rollups[] = {".avg", ".max", ".min", ".sum"};

static bool is_sum(const char *name) {
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".sum") == 0;
}

/* 1234567 as "1,234,567", with six places behind the point where it is a fraction. */
static void print_number(double x, bool whole) {
    char digits[64], text[96];
    snprintf(digits, sizeof digits, whole ? "%.0f" : "%.6f", x);
    const size_t point = strcspn(digits, ".");
    size_t n = 0;
    for (size_t i = 0; digits[i]; i++) {
        if (i && i < point && (point - i) % 3 == 0) text[n++] = ',';
        text[n++] = digits[i];
    }
    text[n] = '\0';
    printf(",\"%s\"", text);
}

static const char *unit_of(const char *name) {
    if (strstr(name, "time_duration")) return "us";
    if (strstr(name, "pct_of_peak")) return "%";
    if (strstr(name, "per_second")) return "Gbyte/s";
    return strstr(name, "bytes") ? "Kbyte" : "inst";
}

static void print_value(const char *name, double x) {
    const char *unit = unit_of(name);
    if (strcmp(unit, "us") == 0 || strcmp(unit, "Kbyte") == 0)
        print_number(x / 1e3, false);
    else if (strcmp(unit, "Gbyte/s") == 0)
        print_number(x / 1e9, false);
    else
        print_number(x, strcmp(unit, "%") != 0);
}

/* Calls `each` with the columns of a metric, and the metric's value. */
static void columns_of(const char *metric, double x, void (*each)(const char *column, double x)) {
    char name[256];
    if (!is_sum(metric)) {
        each(metric, x);
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%.*s%s", (int)(strlen(metric) - 4), metric, rollups[i]);
        each(name, i == 3 ? x : x / 8);
    }
}

static void each_name(const char *column, double x) {
    (void)x;
    printf(",\"%s\"", column);
}

static void each_unit(const char *column, double x) {
    (void)x;
    printf(",\"%s\"", unit_of(column));
}

static void each_metric(const char *list, const char *values, void (*each)(const char *column, double x)) {
    char *copy = strdup(list), *rest = copy;
    for (char *name; (name = strtok_r(rest, ",", &rest)) != NULL;) {
        const double x = values && *values ? strtod(values, NULL) : 0;
        values = values ? strchr(values, '\x1f') : NULL;
        if (values) values++;
        columns_of(name, x, each);
    }
    free(copy);
}

static void print_front(unsigned number, char *pid, char *kernel, char *ranges) {
    printf("\"%u\",\"%s\",\"fake\",\"127.0.0.1\",\"\",\"%s\",\"%s\",\"1\",\"7\",\"(128, 1, 1)\",\"(1, 1, "
           "1)\",\"0\",\"9.0\"",
           number, pid, fails("foreign") ? "" : ranges, kernel);
}

static void print_raw(const char *metrics, char *kernels) {
    unsigned number = 0;
    printf("%s%s", lead, facts);
    each_metric(metrics, NULL, each_name);
    printf("\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"");
    each_metric(metrics, NULL, each_unit);
    printf("\n");
    for (char *record; (record = strsep(&kernels, "\x1e")) != NULL && *record;) {
        char *pid = strsep(&record, "\x1f"), *kernel = strsep(&record, "\x1f"),
             *ranges = strsep(&record, "\x1f");
        print_front(number++, pid, kernel, ranges);
        printf(",\"NVIDIA Fake H200\",\"1,980,000\"");
        each_metric(metrics, record, print_value);
        printf("\n");
    }
}

static void print_details(const char *metrics, char *kernels) {
    unsigned number = 0;
    printf("%s,\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n", lead);
    for (char *record; (record = strsep(&kernels, "\x1e")) != NULL && *record; number++) {
        char *pid = strsep(&record, "\x1f"), *kernel = strsep(&record, "\x1f"),
             *ranges = strsep(&record, "\x1f");
        char *copy = strdup(metrics), *rest = copy;
        for (char *name; (name = strtok_r(rest, ",", &rest)) != NULL;) {
            print_front(number, pid, kernel, ranges);
            printf(",\"Command line profiler metrics\",\"%s\",\"%s\",\"0.00\"\n", name, unit_of(name));
        }
        free(copy);
    }
}

static int import(const char *path, const char *page) {
    FILE *from = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    ssize_t n = from ? getdelim(&text, &size, '\0', from) : -1;
    if (n < 0) {
        printf("==ERROR== '%s' could not be opened.\n", path);
        return 1;
    }
    fclose(from);
    if (fails("truncated")) {
        printf("==ERROR== Failed to load report file '%s'.\n", path);
        free(text);
        return 1;
    }
    /* one item's blank behind it and the next one's before make the two that part them */
    char *kernels = strchr(text, '\n');
    *kernels++ = '\0';
    if (strcmp(page, "details") == 0)
        print_details(text, kernels);
    else
        print_raw(text, kernels);
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    const char *path = NULL, *page = "details";
    FILE *words = getenv("FAKE_NCU_WORDS") ? fopen(getenv("FAKE_NCU_WORDS"), "ae") : NULL;
    for (int i = 1; words && i < argc; i++) fprintf(words, "%s\n", argv[i]);
    if (words) fclose(words);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1) (fake)");
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "--import") != 0) return profile(argv + 1);
    for (int i = 1; i < argc; i++) {
        if (fails("old") && strcmp(argv[i], "--print-kernel-base") == 0) return refuse(argv[i]);
        if (strcmp(argv[i], "--import") == 0 && i + 1 < argc)
            path = argv[++i];
        else if (strcmp(argv[i], "--page") == 0 && i + 1 < argc)
            page = argv[++i];
        else if (strcmp(argv[i], "--print-kernel-base") == 0 && i + 1 < argc)
            i++;
        else if (strcmp(argv[i], "--csv") != 0)
            return refuse(argv[i]);
    }
    return path ? import(path, page) : 1;
}
