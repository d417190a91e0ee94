/* The option table as text. */
#include <string.h>

#include "input/option_table.h"

enum { HELP_COLUMN = 28, HELP_WIDTH = 80 };

static void spaces(wmi_buf *out, size_t n) {
    while (n-- > 0) wmi_buf_char(out, ' ');
}

/* The words of a text, broken where a line is full; the first line begins at
 * HELP_COLUMN already. */
static void wrap(const char *text, wmi_buf *out) {
    size_t column = HELP_COLUMN;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + n > HELP_WIDTH) {
            wmi_buf_char(out, '\n');
            spaces(out, HELP_COLUMN);
            column = HELP_COLUMN;
        }
        if (column > HELP_COLUMN) {
            wmi_buf_char(out, ' ');
            column++;
        }
        wmi_buf_add(out, text, n);
        column += n;
        text += n + (text[n] == ' ');
    }
    wmi_buf_char(out, '\n');
}

static void option_help(const wmi_option *option, wmi_buf *out) {
    size_t start = out->len;
    if (option->letter)
        wmi_buf_printf(out, "  -%c, --%s", option->letter, option->name);
    else
        wmi_buf_printf(out, "      --%s", option->name);
    if (option->arg) wmi_buf_printf(out, " %s", option->arg);
    size_t used = out->len - start;
    if (used + 2 > HELP_COLUMN) {
        wmi_buf_char(out, '\n');
        used = 0;
    }
    spaces(out, HELP_COLUMN - used);
    wrap(option->help, out);
}

void wmi_options_help(wmi_buf *out) {
    wmi_buf_str(out, "What is swept (a benchmark's own text may hold these too):\n");
    for (size_t i = 0; i < WMI_SWEEP_OPTIONS; i++) option_help(&wmi_option_table[i], out);
    wmi_buf_str(out, "\nThe program:\n");
    for (size_t i = WMI_SWEEP_OPTIONS; i < WMI_OPT_COUNT; i++) option_help(&wmi_option_table[i], out);
}
