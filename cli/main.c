/* warpmeter: look at this machine and at the files that benchmarks wrote. */
#include "cli.h"

#include <signal.h>
#include <string.h>

static const cli_command *const commands[] = {&cli_doctor,  &cli_show, &cli_convert, &cli_compare,
                                              &cli_metrics, &cli_ncu,  &cli_version};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_commands(void) {
    fputs("usage: warpmeter COMMAND [options] [operands]\n"
          "Look at this machine and at the files that benchmarks wrote.\n\n",
          stdout);
    for (size_t i = 0; i < COMMANDS; i++) printf("  %-10s%s\n", commands[i]->name, commands[i]->text);
    fputs("\n  --help    this text; warpmeter COMMAND --help tells of one command\n"
          "  --version the version\n\n"
          "The manual pages are warpmeter(1) and warpmeter-COMMAND(1).\n",
          stdout);
    return CLI_OK;
}

static void print_option(const cli_option *option) {
    char left[32], choices[128] = "";
    size_t count = 0;
    while (option->choices && option->choices[count]) count++;
    cli_join(choices, sizeof choices, option->choices, count);
    snprintf(left, sizeof left, "%s%s%s", option->name, option->arg[0] ? " " : "", option->arg);
    printf("  %-20s%s%s%s\n", left, option->text, count ? ": " : "", choices);
}

static int print_help(const cli_command *command) {
    printf("usage: warpmeter %s [options]%s%s\n%s.\n\n", command->name, command->operands[0] ? " " : "",
           command->operands, command->text);
    for (const cli_option *o = command->options; o->name; o++) print_option(o);
    printf("  %-20s%s\n\nThe manual page is warpmeter-%s(1).\n", "--help", "this text", command->name);
    return CLI_OK;
}

/* Is the first word, or one before "--", a call for help? */
static bool asks_help(int argc, char **argv) {
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

static int run_command(const cli_command *command, int argc, char **argv) {
    cli_args args;
    if (command->run_words)
        return asks_help(argc, argv) ? print_help(command) : command->run_words(argc, argv);
    int status = cli_args_read(command, argc, argv, &args);
    if (status != CLI_OK) return status;
    return args.help ? print_help(command) : command->run(&args);
}

static int unknown_word(const char *word) {
    const char *names[COMMANDS + 2];
    size_t count = 0;
    for (size_t i = 0; i < COMMANDS; i++) names[count++] = commands[i]->name;
    names[count++] = "--help";
    names[count++] = "--version";
    return cli_unknown(word[0] == '-' ? "option" : "command", word, "warpmeter", names, count);
}

static int dispatch(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_commands();
    if (strcmp(word, "--version") == 0) word = cli_version.name;
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i]->name) == 0) return run_command(commands[i], argc - 2, argv + 2);
    return unknown_word(word);
}

int main(int argc, char **argv) {
    /* A reader that went away and a file that may not grow are failed writes, which are
     * reported like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return cli_finish(dispatch(argc, argv));
}
