#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "program/program.h"

bool wmi_terminal_is(FILE *stream) { return isatty(fileno(stream)) == 1; }

wm_write_opts wmi_terminal_opts(FILE *stream, int color) {
    wm_write_opts o = WM_WRITE_OPTS_INIT;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    const bool terminal = wmi_terminal_is(stream);
    const bool dumb = !term || !*term || !strcmp(term, "dumb");
    o.color = color == 1 || (color == 0 && terminal && !dumb && !(no_color && *no_color));
    o.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
    struct winsize size;
    if (terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) o.width = size.ws_col;
    return o;
}
