#include "cli.h"

#include <string.h>

enum { NAME_MAX_LEN = 24, NEAR = 2 };

const char *const cli_formats[] = {"text", "csv", "json", "gbench-json", "markdown", NULL};
const char *const cli_formats_read[] = {"csv", "json", "ncu-rep", NULL};
const char *const cli_colors[] = {"auto", "always", "never", NULL};

static size_t min3(size_t a, size_t b, size_t c) {
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein's distance with one row of the matrix (Wagner and Fischer 1974).
 * Words longer than any name here are far from all of them. */
static size_t distance(const char *a, const char *b) {
    size_t row[NAME_MAX_LEN + 1], n = strlen(b);
    if (strlen(a) > NAME_MAX_LEN || n > NAME_MAX_LEN) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t above = row[j + 1];
            row[j + 1] = min3(diagonal + (a[i] != b[j]), above + 1, row[j] + 1);
            diagonal = above;
        }
    }
    return row[n];
}

/* At most two slips, and no more than one in two letters, or there is none. */
static const char *nearest(const char *name, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t letters = strlen(name + strspn(name, "-"));
    size_t least = (letters / 2 < NEAR ? letters / 2 : NEAR) + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(name, names[i]);
        if (d < least) least = d, best = names[i];
    }
    return best;
}

void cli_join(char *out, size_t size, const char *const *names, size_t count) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *link = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s%s", link, names[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

int cli_unknown(const char *what, const char *name, const char *taker, const char *const *names,
                size_t count) {
    char list[256] = "";
    const char *near = nearest(name, names, count);
    if (near) return cli_complain(CLI_BAD, "unknown %s '%s'; did you mean %s?", what, name, near);
    cli_join(list, sizeof list, names, count);
    return cli_complain(CLI_BAD, "unknown %s '%s'; %s takes %s", what, name, taker, list);
}

static int unknown_option(const cli_command *command, const char *word, size_t len) {
    const char *names[CLI_OPTIONS_MAX + 1];
    char name[128];
    size_t count = 0;
    for (const cli_option *o = command->options; o->name; o++) names[count++] = o->name;
    names[count++] = "--help";
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    return cli_unknown("option", name, command->name, names, count);
}

int cli_check_value(const cli_option *option, const char *value) {
    char list[128] = "";
    size_t count = 0;
    for (; option->choices && option->choices[count]; count++)
        if (strcmp(option->choices[count], value) == 0) return CLI_OK;
    if (!option->choices) return CLI_OK;
    cli_join(list, sizeof list, option->choices, count);
    return cli_complain(CLI_BAD, "%s takes %s, not '%s'", option->name, list, value);
}

static int read_option(const cli_command *command, int argc, char **argv, int *at, cli_args *out) {
    const char *word = argv[*at];
    size_t len = strcspn(word, "=");
    for (size_t i = 0; command->options[i].name; i++) {
        const cli_option *o = &command->options[i];
        if (strlen(o->name) != len || memcmp(o->name, word, len) != 0) continue;
        if (!word[len] && *at + 1 == argc)
            return cli_complain(CLI_BAD, "%s needs a value: %s %s", o->name, o->name, o->arg);
        out->value[i] = word[len] ? word + len + 1 : argv[++*at];
        return cli_check_value(o, out->value[i]);
    }
    return unknown_option(command, word, len);
}

int cli_args_read(const cli_command *command, int argc, char **argv, cli_args *out) {
    bool options = true;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            out->help = true;
            return CLI_OK;
        } else if (options && word[0] == '-' && word[1]) {
            int status = read_option(command, argc, argv, &i, out);
            if (status != CLI_OK) return status;
        } else if (out->operands < command->max_operands) {
            out->operand[out->operands++] = word;
        } else {
            return cli_complain(CLI_BAD, "'%s' is one word too many; usage: warpmeter %s [options]%s%s", word,
                                command->name, command->operands[0] ? " " : "", command->operands);
        }
    }
    if (out->operands < command->min_operands)
        return cli_complain(CLI_BAD, "%s needs %s; usage: warpmeter %s [options] %s", command->name,
                            command->operands, command->name, command->operands);
    return CLI_OK;
}
