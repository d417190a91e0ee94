#include "cli.h"

enum { COLUMNS, SORT, FILTER, FORMAT, FROM, COLOR };
static const cli_option options[] = {
    [COLUMNS] = {"--columns", "LIST", "columns to show, in this order: a,b,c", NULL},
    [SORT] = {"--sort", "LIST", "columns to sort by; -name for descending: a,-b", NULL},
    [FILTER] = {"--filter", "LIST", "rows to show: name=value, !=, <, <=, >, >=, name~regex; all must hold",
                NULL},
    [FORMAT] = CLI_FORMAT_OPTION,
    [FROM] = {"--from", "NAME", "format of FILE, where its suffix does not tell", cli_formats_read},
    [COLOR] = CLI_COLOR_OPTION,
    {NULL, NULL, NULL, NULL},
};

static int print_selection(const wm_table *table, const cli_args *args, const wm_write_opts *opts) {
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    wm_table *chosen = NULL;
    select.columns = args->value[COLUMNS];
    select.sort = args->value[SORT];
    select.filter = args->value[FILTER];
    if (wm_table_select(table, &select, &chosen, &err) != WM_OK) return cli_complain_error(&err);
    int status = cli_print(chosen, args->value[FORMAT], opts);
    wm_table_destroy(chosen);
    return status;
}

static int run(const cli_args *args) {
    wm_write_opts opts = cli_write_opts(args->value[COLOR]);
    wm_table *table = NULL;
    int status = cli_read(args->operand[0], args->value[FROM], &table);
    if (status != CLI_OK) return status;
    bool whole = !args->value[COLUMNS] && !args->value[SORT] && !args->value[FILTER];
    status = whole ? cli_print(table, args->value[FORMAT], &opts) : print_selection(table, args, &opts);
    wm_table_destroy(table);
    return status;
}

const cli_command cli_show = {
    "show", "FILE", 1, 1, "Show a file of results, samples or any other table", options, run,
};
