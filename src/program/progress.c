#include <stdlib.h>
#include <string.h>

#include "program/program.h"

static const int64_t redraw_every_ns = 100000000; /* on a terminal */
static const int64_t line_every_ns = 5000000000;  /* elsewhere */

void wmi_progress_begin(wmi_progress *p, FILE *stream) {
    const char *term = getenv("TERM");
    *p = (wmi_progress){.stream = stream};
    p->terminal = stream && wmi_terminal_is(stream) && term && *term && strcmp(term, "dumb") != 0;
    p->begin_ns = p->shown_ns = (int64_t)wmi_monotonic_ns();
}

static const int64_t second_ns = 1000000000;

static void add_time(wmi_buf *out, int64_t ns) {
    const long long s = ns / second_ns;
    if (s >= 3600)
        wmi_buf_printf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        wmi_buf_printf(out, "%lld:%02lld", s / 60, s % 60);
}

static void line_make(const wmi_progress *p, const wm_step *step, double left_ns, int64_t now, wmi_buf *out) {
    const double gone_ns = (double)(now - p->begin_ns), most_ns = 9e18;
    wm_error text; /* for its one-line, valid-UTF-8 text */
    wmi_error_set(&text, WM_OK, 0, "%s%s%s", step->benchmark, *step->config_key ? " " : "", step->config_key);
    if (gone_ns + left_ns > 0) wmi_buf_printf(out, "[%3d %%] ", (int)(100 * gone_ns / (gone_ns + left_ns)));
    wmi_buf_str(out, text.message);
    if (step->warmup)
        wmi_buf_str(out, ", warm-up");
    else
        wmi_buf_printf(out, ", run %lld", (long long)step->run + 1);
    if (step->pass > 0) wmi_buf_printf(out, ", pass %d", step->pass + 1);
    wmi_buf_str(out, ", elapsed ");
    add_time(out, now - p->begin_ns);
    wmi_buf_str(out, ", remaining at most about ");
    left_ns += (double)(second_ns - 1); /* whole seconds, rounded up */
    add_time(out, (int64_t)(left_ns < most_ns ? left_ns : most_ns));
}

double wmi_progress_step_ns(const wmi_progress *p) {
    return p->done ? (double)((int64_t)wmi_monotonic_ns() - p->begin_ns) / (double)p->done : 0;
}

static bool due(const wmi_progress *p, int64_t now) {
    return p->stream && now - p->shown_ns >= (p->terminal ? redraw_every_ns : line_every_ns);
}

bool wmi_progress_due(wmi_progress *p) {
    if (p->stream) p->done++;
    return due(p, (int64_t)wmi_monotonic_ns());
}

static void line_show(wmi_progress *p, const wmi_buf *line, int64_t now) {
    if (!line->failed && line->data) {
        wmi_progress_clear(p);
        const wm_write_opts o = wmi_terminal_opts(p->stream, 2);
        size_t n = line->len;
        if (p->terminal && o.width > 1 && n >= (size_t)o.width) n = (size_t)o.width - 1;
        while (n < line->len && n > 0 && ((unsigned char)line->data[n] & 0xC0) == 0x80) n--;
        fprintf(p->stream, p->terminal ? "%.*s" : "%.*s\n", (int)n, line->data);
        fflush(p->stream);
        p->width = p->terminal ? n : 0;
    }
    p->shown_ns = now;
}

void wmi_progress_show(wmi_progress *p, const wm_step *step, double left_ns) {
    const int64_t now = (int64_t)wmi_monotonic_ns();
    wmi_buf line = WMI_BUF_INIT;
    line_make(p, step, left_ns, now, &line);
    line_show(p, &line, now);
    wmi_buf_free(&line);
}

void wmi_progress_wait(wmi_progress *p, const wm_wait *wait) {
    const int64_t now = (int64_t)wmi_monotonic_ns();
    wmi_buf line = WMI_BUF_INIT;
    if (!due(p, now)) return;
    wmi_buf_printf(&line, "waiting for the GPU to cool: %.0f of %.0f degrees left, for ", wait->left_c,
                   wait->wanted_c);
    add_time(&line, wait->waited_ns);
    wmi_buf_str(&line, ", at most ");
    add_time(&line, wait->timeout_ns > 0 ? wait->timeout_ns : 0);
    wmi_buf_str(&line, " more");
    line_show(p, &line, now);
    wmi_buf_free(&line);
}

void wmi_progress_clear(wmi_progress *p) {
    if (!p->stream || p->width == 0) return;
    fprintf(p->stream, "\r%*s\r", (int)p->width, "");
    fflush(p->stream);
    p->width = 0;
}
