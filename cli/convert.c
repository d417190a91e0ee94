#include "cli.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { FROM, TO };
static const cli_option options[] = {
    [FROM] = {"--from", "NAME", "format of IN, where its suffix does not tell", cli_formats_read},
    [TO] = {"--to", "NAME", "format of OUT, where its suffix does not tell", cli_formats},
    {NULL, NULL, NULL, NULL},
};

static bool same_file(const char *a, const char *b) {
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* The context of a CSV file lies beside it, and may not take the place of IN either. */
static bool is_beside(const char *a, const char *b) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s.context.json", a);
    return n > 0 && (size_t)n < sizeof path && same_file(path, b);
}

static int write_table(const wm_table *table, const char *path, const char *format) {
    wm_error err = WM_ERROR_INIT;
    if (strcmp(path, "-") == 0) return cli_print(table, format, NULL);
    if (wm_table_write(table, path, format, NULL, &err) == WM_OK) return CLI_OK;
    if (err.code == WM_EIO || err.code == WM_EPERM) return cli_complain(CLI_OUTPUT, "%s", err.message);
    return cli_complain_error(&err);
}

static int run(const cli_args *args) {
    const char *in = args->operand[0], *out = args->operand[1];
    wm_table *table = NULL;
    if (same_file(in, out))
        return cli_complain(
            CLI_BAD, "'%s' and '%s' are the same file; convert needs another name to write to", in, out);
    if (is_beside(in, out) || is_beside(out, in))
        return cli_complain(CLI_BAD,
                            "'%s' lies beside '%s' as its context; convert needs another name to write to",
                            is_beside(in, out) ? out : in, is_beside(in, out) ? in : out);
    if (strcmp(out, "-") == 0 && !args->value[TO])
        return cli_complain(CLI_BAD, "writing to standard output needs --to with the name of a format");
    int status = cli_read(in, args->value[FROM], &table);
    if (status != CLI_OK) return status;
    status = write_table(table, out, args->value[TO]);
    wm_table_destroy(table);
    return status;
}

const cli_command cli_convert = {
    "convert", "IN OUT", 2, 2, "Write a file again in another format", options, run, NULL,
};
