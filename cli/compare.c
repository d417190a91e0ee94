#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { THRESHOLD, ONLY, FAIL_ON, FORMAT, FROM, COLOR };
static const cli_option options[] = {
    [THRESHOLD] = {"--threshold", "RATIO", "a difference up to this is none: 0.01 or 1% (the default)", NULL},
    [ONLY] = {"--only", "LIST", "verdicts to show: better,worse,...", NULL},
    [FAIL_ON] = {"--fail-on", "LIST", "verdicts that make the exit status 1: worse,...", NULL},
    [FORMAT] = CLI_FORMAT_OPTION,
    [FROM] = {"--from", "NAME", "format of A and B, where their suffixes do not tell", cli_formats_read},
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

enum { BETTER, WORSE, SAME, UNDECIDED, ONLY_BASELINE, ONLY_CONTENDER, CHANGED, MISSING, VERDICTS };
static const char *const verdict_names[VERDICTS] = {
    "better", "worse", "same", "undecided", "only-baseline", "only-contender", "changed", "missing",
};

typedef struct verdict_set {
    bool has[VERDICTS];
} verdict_set;

static size_t find_verdict(const char *name, size_t len) {
    size_t i = 0;
    while (i < VERDICTS && (strlen(verdict_names[i]) != len || memcmp(verdict_names[i], name, len) != 0)) i++;
    return i;
}

static int read_verdicts(const char *list, const char *option, verdict_set *out) {
    char name[64];
    for (const char *p = list;; p++) {
        size_t len = strcspn(p, ","), i = find_verdict(p, len);
        if (i == VERDICTS) {
            snprintf(name, sizeof name, "%.*s", (int)len, p);
            return cli_unknown("verdict", name, option, verdict_names, VERDICTS);
        }
        out->has[i] = true;
        p += len;
        if (!*p) return CLI_OK;
    }
}

static int read_threshold(const char *text, double *out) {
    char *end = NULL;
    bool plain = text[0] && strspn(text, "0123456789.eE-+%") == strlen(text);
    double x = plain ? strtod(text, &end) : -1.0;
    if (plain && strcmp(end, "%") == 0) x /= 100.0, end++;
    if (!plain || end == text || *end || !(x >= 0.0 && x < 1.0))
        return cli_complain(
            CLI_BAD, "--threshold takes a ratio of at least 0 and below 1, as 0.01 or 1%%, not '%s'", text);
    *out = x;
    return CLI_OK;
}

/* The comparison of the two files; the caller owns *out. */
static int compare_files(const cli_args *args, const wm_compare_opts *opts, wm_table **out) {
    wm_table *baseline = NULL, *contender = NULL;
    wm_error err = WM_ERROR_INIT;
    int status = cli_read(args->operand[0], args->value[FROM], &baseline);
    if (status == CLI_OK) status = cli_read(args->operand[1], args->value[FROM], &contender);
    if (status == CLI_OK && wm_table_compare(baseline, contender, opts, out, &err) != WM_OK)
        status = cli_complain_error(&err);
    wm_table_destroy(baseline);
    wm_table_destroy(contender);
    return status;
}

static void count_verdicts(const wm_table *table, size_t count[VERDICTS]) {
    size_t column = wm_table_find(table, "verdict");
    for (size_t row = 0; row < wm_table_rows(table); row++) {
        wm_value v;
        if (wm_table_get(table, row, column, &v) != WM_OK || v.type != WM_STR) continue;
        size_t i = find_verdict(v.as.str, strlen(v.as.str));
        if (i < VERDICTS) count[i]++;
    }
}

static int print_rows(const wm_table *table, const verdict_set *only, const char *format,
                      const wm_write_opts *opts) {
    char filter[160] = "verdict~^(";
    size_t used = strlen(filter);
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_table *chosen = NULL;
    for (size_t i = 0; i < VERDICTS; i++)
        if (only->has[i])
            used += (size_t)snprintf(filter + used, sizeof filter - used, "%s|", verdict_names[i]);
    snprintf(filter + used - 1, sizeof filter - used + 1, ")$");
    select.filter = filter;
    if (wm_table_select(table, &select, &chosen, &err) != WM_OK) return cli_complain_error(&err);
    int status = cli_print(chosen, format, opts);
    wm_table_destroy(chosen);
    return status;
}

static wm_value context_of(const wm_table *table, const char *wanted) {
    wm_value v = {WM_NULL, WM_REASON_NOT_APPLICABLE, {0}}, at;
    const char *key;
    for (size_t i = 0; i < wm_table_context_count(table); i++)
        if (wm_table_context(table, i, &key, &at) == WM_OK && strcmp(key, wanted) == 0) v = at;
    return v;
}

/* Formats that a program reads stay pure: there the summary goes to stderr. */
static void print_summary(const char *format, const wm_table *table, const size_t count[VERDICTS]) {
    bool prose = cli_is_prose(format);
    FILE *to = prose ? stdout : stderr;
    fprintf(to, "%s%zu better, %zu worse, %zu same, %zu undecided", prose ? "\n" : "", count[BETTER],
            count[WORSE], count[SAME], count[UNDECIDED]);
    if (count[CHANGED]) fprintf(to, ", %zu changed", count[CHANGED]);
    if (count[MISSING]) fprintf(to, ", %zu missing", count[MISSING]);
    if (count[ONLY_BASELINE]) fprintf(to, ", %zu only in A", count[ONLY_BASELINE]);
    if (count[ONLY_CONTENDER]) fprintf(to, ", %zu only in B", count[ONLY_CONTENDER]);
    fputc('\n', to);
    const wm_value mean = context_of(table, "time_ratio_geomean");
    if (mean.type == WM_F64) fprintf(to, "geometric mean of the time ratios: %.4f\n", mean.as.f64);
}

static int report(const wm_table *table, const cli_args *args, const verdict_set *only,
                  const verdict_set *fail_on) {
    size_t count[VERDICTS] = {0};
    const char *format = args->value[FORMAT];
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    count_verdicts(table, count);
    int status = args->value[ONLY] ? print_rows(table, only, format, &opts) : cli_print(table, format, &opts);
    if (status != CLI_OK) return status;
    print_summary(format, table, count);
    for (size_t i = 0; i < VERDICTS; i++)
        if (fail_on->has[i] && count[i]) status = CLI_HIT;
    return status;
}

static int run(const cli_args *args) {
    const char *threshold = args->value[THRESHOLD], *only_list = args->value[ONLY],
               *fail_list = args->value[FAIL_ON];
    wm_compare_opts compare = WM_COMPARE_OPTS_INIT;
    verdict_set only = {{false}}, fail_on = {{false}};
    wm_table *table = NULL;
    int status = threshold ? read_threshold(threshold, &compare.threshold) : CLI_OK;
    if (status == CLI_OK && only_list) status = read_verdicts(only_list, "--only", &only);
    if (status == CLI_OK && fail_list) status = read_verdicts(fail_list, "--fail-on", &fail_on);
    if (status == CLI_OK) status = compare_files(args, &compare, &table);
    if (status == CLI_OK) status = report(table, args, &only, &fail_on);
    wm_table_destroy(table);
    return status;
}

const cli_command cli_compare = {
    "compare", "A B", 2,    2, "Compare two files of results row by row, with intervals and verdicts",
    options,   run,   NULL,
};
