#include "cli.h"

#include <string.h>

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

/* Does a column hold values whose units were left out? */
static bool lacks_units(const wm_table *table) {
    bool refers = false;
    for (size_t i = 0; i < wm_table_columns(table); i++) {
        wm_column c;
        if (wm_table_column(table, i, &c) == WM_OK) refers = refers || strcmp(c.unit, "row") == 0;
    }
    return refers && wm_table_find(table, "unit") == SIZE_MAX;
}

/* A person who chose columns of values with units that differ gets the units too; a
 * program gets what it asked for. */
static int select_rows(const wm_table *table, const cli_args *args, wm_table **out) {
    const char *columns = args->value[COLUMNS], *format = args->value[FORMAT];
    wm_select_opts select = WM_SELECT_OPTS_INIT;
    wm_error err = WM_ERROR_INIT;
    char with_unit[1024];
    select.columns = columns;
    select.sort = args->value[SORT];
    select.filter = args->value[FILTER];
    if (wm_table_select(table, &select, out, &err) != WM_OK) return cli_complain_error(&err);
    if (!cli_is_prose(format) || !lacks_units(*out)) return CLI_OK;
    int n = snprintf(with_unit, sizeof with_unit, "%s,unit", columns);
    wm_table *wider = NULL;
    select.columns = with_unit;
    if (n >= (int)sizeof with_unit || wm_table_select(table, &select, &wider, NULL) != WM_OK) return CLI_OK;
    wm_table_destroy(*out);
    *out = wider;
    return CLI_OK;
}

static int print_selection(const wm_table *table, const cli_args *args, const wm_write_opts *opts) {
    wm_table *chosen = NULL;
    int status = select_rows(table, args, &chosen);
    if (status == CLI_OK) status = cli_print(chosen, args->value[FORMAT], opts);
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
    "show", "FILE", 1, 1, "Show a file of results, samples or any other table", options, run, NULL,
};
