#include "cli.h"

enum { CHIP, PLAN, FORMAT, COLOR };
static const cli_option options[] = {
    [CHIP] = {"--chip", "NAME", "of this accelerator, such as GH100, which need not be here", NULL},
    [PLAN] = {"--plan", "LIST", "the passes that these metrics take", NULL},
    [FORMAT] = CLI_FORMAT_OPTION,
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

static int print_plan(const cli_args *args) {
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    wm_error err = WM_ERROR_INIT;
    wm_table *table = NULL;
    if (wm_metrics_plan(args->value[PLAN], args->value[CHIP], &table, &err) != WM_OK)
        return cli_complain_error(&err);
    int status = cli_print(table, args->value[FORMAT], &opts);
    wm_table_destroy(table);
    return status;
}

static int print_list(const cli_args *args) {
    wm_metrics_opts which = WM_METRICS_OPTS_INIT;
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    wm_error err = WM_ERROR_INIT;
    wm_table *table = NULL;
    int status;
    which.pattern = args->operands ? args->operand[0] : NULL;
    which.chip = args->value[CHIP];
    if (wm_metrics(&which, &table, &err) != WM_OK) return cli_complain_error(&err);
    if (which.pattern && wm_table_rows(table) == 0)
        status = cli_complain(
            CLI_BAD, "no metric's name matches '%s'; patterns are a shell's, such as '*fault*'%s",
            which.pattern, which.chip ? "" : ", and --chip NAME lists those of a GPU that is not here");
    else
        status = cli_print(table, args->value[FORMAT], &opts);
    wm_table_destroy(table);
    return status;
}

static int run(const cli_args *args) {
    if (!args->value[PLAN]) return print_list(args);
    if (args->operands)
        return cli_complain(CLI_BAD, "--plan takes the metrics itself: '%s' is one word too many",
                            args->operand[0]);
    return print_plan(args);
}

const cli_command cli_metrics = {
    "metrics",
    "[PATTERN]",
    0,
    1,
    "List the metrics that --metrics takes, and whether this machine has them",
    options,
    run,
    NULL,
};
