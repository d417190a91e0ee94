#include "cli.h"

enum { FORMAT, COLOR };
static const cli_option options[] = {
    [FORMAT] = CLI_FORMAT_OPTION,
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

static int run(const cli_args *args) {
    const char *pattern = args->operands ? args->operand[0] : NULL;
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    wm_error err = WM_ERROR_INIT;
    wm_table *table = NULL;
    int status;
    if (wm_metrics(pattern, &table, &err) != WM_OK) return cli_complain_error(&err);
    if (pattern && wm_table_rows(table) == 0)
        status = cli_complain(
            CLI_BAD, "no metric's name matches '%s'; patterns are a shell's, such as '*fault*'", pattern);
    else
        status = cli_print(table, args->value[FORMAT], &opts);
    wm_table_destroy(table);
    return status;
}

const cli_command cli_metrics = {
    "metrics", "[PATTERN]", 0, 1, "List the metrics that --metrics takes, and whether this machine has them",
    options,   run,
};
