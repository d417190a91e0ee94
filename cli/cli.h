/** cli/: the tool `warpmeter`, on top of include/warpmeter.h and nothing else of
 *  the library. main.c holds the table of commands; each command is a file that
 *  exports its entry; args.c reads words, output.c writes. Nothing includes cli/. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "warpmeter.h"

/** Exit statuses, as the man pages give them. */
enum {
    CLI_OK = 0,
    CLI_HIT = 1,   /* compare --fail-on found a row; ncu: the program failed */
    CLI_BAD = 2,   /* usage or bad input */
    CLI_NONE = 3,  /* ncu: no kernel was profiled */
    CLI_OUTPUT = 4 /* the output could not be made */
};

/** An option of a command. All of them take a value; --help is understood everywhere. */
typedef struct cli_option {
    const char *name;           /* "--format"; NULL ends a table */
    const char *arg;            /* "NAME" */
    const char *text;           /* one line */
    const char *const *choices; /* the values there are, NULL ends; NULL: any */
} cli_option;

enum { CLI_OPTIONS_MAX = 8, CLI_OPERANDS_MAX = 2 };

/** The words after a command. */
typedef struct cli_args {
    const char *value[CLI_OPTIONS_MAX]; /* by number in the option table; NULL: not given */
    const char *operand[CLI_OPERANDS_MAX];
    size_t operands;
    bool help;
} cli_args;

typedef struct cli_command {
    const char *name;
    const char *operands; /* as the usage line shows them: "IN OUT" */
    size_t min_operands, max_operands;
    const char *text; /* one line */
    const cli_option *options;
    /** Returns the exit status; has said on stderr why it is not CLI_OK. */
    int (*run)(const cli_args *args);
    /** For a command whose words are not all its own: the same with all words behind its name, as they
     *  stand. NULL: `run` is called. */
    int (*run_words)(int argc, char **argv);
} cli_command;

extern const cli_command cli_compare, cli_convert, cli_doctor, cli_metrics, cli_ncu, cli_show, cli_version;

/* ---- args.c ---- */

extern const char *const cli_formats[], *const cli_formats_read[], *const cli_colors[];
/** Two options that several commands have. */
#define CLI_FORMAT_OPTION                                                                                    \
    { "--format", "NAME", "format of the output", cli_formats }
#define CLI_COLOR_OPTION                                                                                     \
    { "--color", "WHEN", "colour in text", cli_colors }

/** Read the words of a command: `--name value` or `--name=value`, anywhere; `--`
 *  ends the options; of an option given twice the last one counts. */
int cli_args_read(const cli_command *command, int argc, char **argv, cli_args *out);
/** Complain unless the option takes that value. */
int cli_check_value(const cli_option *option, const char *value);
/** Complain that `name`, a `what`, is none of names[0..count): with the nearest of
 *  them, or else all that `taker` takes. Returns CLI_BAD. */
int cli_unknown(const char *what, const char *name, const char *taker, const char *const *names,
                size_t count);
/** "a, b or c", cut where it does not fit. */
void cli_join(char *out, size_t size, const char *const *names, size_t count);

/* ---- output.c ---- */

/** Write `warpmeter: ` and one line to stderr, with control bytes shown as \xNN.
 *  Returns `exit_status`. */
int cli_complain(int exit_status, const char *fmt, ...) WM_PRINTF(2, 3);
/** The same for a library call that failed: WM_ENOMEM is CLI_OUTPUT, all else CLI_BAD. */
int cli_complain_error(const wm_error *err);
/** How to write to stdout: colour by --color (NULL: auto), width and Unicode by
 *  what stdout and the locale are. */
wm_write_opts cli_write_opts(const char *color);
/** Is the output for people (text, the default, or markdown) and not for programs? */
bool cli_is_prose(const char *format);
/** Print a table on stdout. `format` NULL: text. */
int cli_print(const wm_table *table, const char *format, const wm_write_opts *opts);
/** Close stdout, and complain if anything written to it was lost. Returns the
 *  status to exit with. */
int cli_finish(int exit_status);
/** Read a table from a path, or from stdin for "-", which needs `format`. */
int cli_read(const char *path, const char *format, wm_table **out);

#endif
