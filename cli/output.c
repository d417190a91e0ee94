#include "cli.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_complain(int exit_status, const char *fmt, ...) {
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fputs("warpmeter: ", stderr);
    for (const char *p = line; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c == 0x7f) {
            fprintf(stderr, "\\x%02x", c);
        } else {
            fputc(c, stderr);
        }
    }
    fputc('\n', stderr);
    return exit_status;
}

int cli_complain_error(const wm_error *err) {
    return cli_complain(err->code == WM_ENOMEM ? CLI_OUTPUT : CLI_BAD, "%s", err->message);
}

static bool locale_is_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale) return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

/* See https://no-color.org: NO_COLOR counts when it is set and not empty. */
static bool terminal_takes_color(void) {
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    return term && *term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}

wm_write_opts cli_write_opts(const char *color) {
    bool terminal = isatty(STDOUT_FILENO);
    bool by_itself = !color || strcmp(color, "auto") == 0;
    wm_write_opts opts = WM_WRITE_OPTS_INIT;
    struct winsize size;
    opts.color = by_itself ? terminal && terminal_takes_color() : strcmp(color, "always") == 0;
    opts.unicode = locale_is_utf8();
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) opts.width = size.ws_col;
    return opts;
}

static int complain_lost(int native_code) {
    return cli_complain(CLI_OUTPUT, "cannot write to standard output: %s", strerror(native_code));
}

bool cli_is_prose(const char *format) {
    return !format || strcmp(format, "text") == 0 || strcmp(format, "markdown") == 0;
}

int cli_print(const wm_table *table, const char *format, const wm_write_opts *opts) {
    wm_error err = WM_ERROR_INIT;
    if (wm_table_print(table, stdout, format ? format : "text", opts, &err) == WM_OK) return CLI_OK;
    return err.code == WM_EIO ? complain_lost(err.native_code) : cli_complain_error(&err);
}

int cli_finish(int exit_status) {
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    int why = lost ? errno : 0;
    /* A stdout that was closed from the start harms only those who write to it. */
    if (fclose(stdout) != 0 && errno != EBADF && !lost) lost = true, why = errno;
    if (!lost || exit_status == CLI_OUTPUT) return exit_status;
    return complain_lost(why);
}

int cli_read(const char *path, const char *format, wm_table **out) {
    wm_error err = WM_ERROR_INIT;
    bool from_stdin = strcmp(path, "-") == 0;
    if (from_stdin && !format)
        return cli_complain(CLI_BAD, "reading standard input needs --from csv or --from json");
    if (wm_table_read(from_stdin ? "/dev/stdin" : path, format, out, &err) == WM_OK) return CLI_OK;
    return cli_complain_error(&err);
}
