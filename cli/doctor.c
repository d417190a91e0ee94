#include "cli.h"

enum { FORMAT, COLOR };
static const cli_option options[] = {
    [FORMAT] = CLI_FORMAT_OPTION,
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

static int run(const cli_args *args) {
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    wm_error err = WM_ERROR_INIT;
    wm_table *table = NULL;
    if (wm_doctor(&table, &err) != WM_OK) return cli_complain_error(&err);
    int status = cli_print(table, args->value[FORMAT], &opts);
    wm_table_destroy(table);
    return status;
}

const cli_command cli_doctor = {
    "doctor", "",  0,    0, "Tell what this machine can measure, what it cannot, why, and what to do",
    options,  run, NULL,
};
