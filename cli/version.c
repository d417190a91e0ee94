#include "cli.h"

static const cli_option options[] = {{NULL, NULL, NULL, NULL}};

static int run(const cli_args *args) {
    (void)args;
    printf("warpmeter %s\n", wm_version());
    return CLI_OK;
}

const cli_command cli_version = {"version", "", 0, 0, "Print the version", options, run, NULL};
