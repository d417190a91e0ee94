/* Tables for a terminal: columns in line, numbers with their points above each
 * other. */
#include <stdlib.h>
#include <string.h>

#include "sink/doctor.h"
#include "sink/report.h"
#include "sink/sink.h"

enum { GAP = 2, SHORTEST = 8 };

typedef struct canvas {
    wmi_buf *out;
    wm_write_opts opts;
} canvas;

/* ---- pieces ---- */

static const char *const style_codes[] = {[WMI_STYLE_PLAIN] = "",
                                          [WMI_STYLE_DIM] = "\033[2m",
                                          [WMI_STYLE_GOOD] = "\033[32m",
                                          [WMI_STYLE_BAD] = "\033[31m"};

static void put_styled(const canvas *c, const char *code, const char *s, size_t n) {
    bool styled = c->opts.color && *code && n > 0;
    if (styled) wmi_buf_str(c->out, code);
    wmi_buf_add(c->out, s, n);
    if (styled) wmi_buf_str(c->out, "\033[0m");
}

static void put_blanks(const canvas *c, size_t n) {
    while (n-- > 0) wmi_buf_char(c->out, ' ');
}

/* Blanks at the end of a line show nothing. */
static void end_line(const canvas *c) {
    while (c->out->len && c->out->data[c->out->len - 1] == ' ') c->out->len--;
    wmi_buf_char(c->out, '\n');
}

/* ---- columns ---- */

/* A number is cut into what stands before its point, from the point on, and what
 * follows the first blank: its unit. */
typedef struct parts {
    const char *s;
    size_t whole, fraction, rest; /* bytes; digits are one column each */
    size_t rest_width;
} parts;

static parts cut_number(const char *s) {
    parts p = {s, strcspn(s, ". "), 0, 0, 0};
    if (s[p.whole] == '.') p.fraction = strcspn(s + p.whole, " ");
    p.rest = strlen(s) - p.whole - p.fraction;
    p.rest_width = wmi_text_width(s + p.whole + p.fraction);
    return p;
}

typedef struct layout {
    size_t width;                 /* of the column */
    size_t whole, fraction, rest; /* numbers: of the widest part each */
} layout;

static const char *cell_text(const wmi_block *b, size_t row, size_t column) {
    const char *s = b->cells[row * b->column_count + column].text;
    return s ? s : "";
}

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* A cell that is a word ("-", "(few-samples)") only asks for its width. */
static bool is_word(const char *s) {
    return !(s[0] >= '0' && s[0] <= '9') && !(s[0] == '-' && s[1] >= '0' && s[1] <= '9');
}

static layout measure(const wmi_block *b, size_t column) {
    layout l = {wmi_text_width(b->columns[column].header), 0, 0, 0};
    for (size_t row = 0; row < b->rows; row++) {
        const char *s = cell_text(b, row, column);
        if (!b->columns[column].number || is_word(s)) {
            l.width = most(l.width, wmi_text_width(s));
            continue;
        }
        parts p = cut_number(s);
        l.whole = most(l.whole, p.whole);
        l.fraction = most(l.fraction, p.fraction);
        l.rest = most(l.rest, p.rest_width);
    }
    l.width = most(l.width, l.whole + l.fraction + l.rest);
    return l;
}

static void put_left(const canvas *c, const char *code, const char *s, size_t width) {
    put_styled(c, code, s, strlen(s));
    put_blanks(c, width - wmi_text_width(s));
}

static void put_right(const canvas *c, const char *code, const char *s, size_t width) {
    put_blanks(c, width - wmi_text_width(s));
    put_styled(c, code, s, strlen(s));
}

static void put_number(const canvas *c, const char *code, const char *s, const layout *l) {
    parts p = cut_number(s);
    put_blanks(c, l->width - l->rest - l->fraction - p.whole);
    put_styled(c, code, s, p.whole + p.fraction);
    put_blanks(c, l->fraction - p.fraction);
    put_styled(c, code, s + p.whole + p.fraction, p.rest);
    put_blanks(c, l->rest - p.rest_width);
}

static void put_cell(const canvas *c, const wmi_block *b, size_t row, size_t column, const layout *l) {
    const char *s = cell_text(b, row, column);
    const char *code = style_codes[b->cells[row * b->column_count + column].style];
    if (wmi_text_width(s) > l->width) { /* prose on a narrow terminal */
        const char *dots = c->opts.unicode ? "\u2026" : "...";
        put_styled(c, code, s, wmi_text_fitting(s, l->width - wmi_text_width(dots)));
        put_styled(c, code, dots, strlen(dots));
    } else if (!b->columns[column].number) {
        put_left(c, code, s, l->width);
    } else if (is_word(s)) {
        put_right(c, code, s, l->width);
    } else {
        put_number(c, code, s, l);
    }
}

static bool may_shrink(const wmi_block *b, const layout *l, size_t i) {
    bool prose = b->columns[i].prose || (i == b->column_count - 1 && !b->columns[i].number);
    return prose && l[i].width > most(SHORTEST, wmi_text_width(b->columns[i].header));
}

/* Columns of prose, and a last one of text, give way where the terminal is too narrow: the
 * widest first. */
static void fit(const canvas *c, const wmi_block *b, layout *l) {
    size_t total = 0, width = (size_t)c->opts.width;
    for (size_t i = 0; i < b->column_count; i++) total += l[i].width + (i ? GAP : 0);
    for (; c->opts.width > 0 && total > width; total--) {
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < b->column_count; i++)
            if (may_shrink(b, l, i) && (widest == SIZE_MAX || l[i].width >= l[widest].width)) widest = i;
        if (widest == SIZE_MAX) return;
        l[widest].width--;
    }
}

static bool has_headers(const wmi_block *b) {
    for (size_t i = 0; i < b->column_count; i++)
        if (*b->columns[i].header) return true;
    return false;
}

static void put_headers(const canvas *c, const wmi_block *b, const layout *l) {
    for (size_t i = 0; i < b->column_count; i++) {
        put_blanks(c, i ? GAP : 0);
        (b->columns[i].number ? put_right : put_left)(c, "\033[1m", b->columns[i].header, l[i].width);
    }
    end_line(c);
}

static void put_block(const canvas *c, const wmi_block *b, const layout *l) {
    if (*b->title) {
        put_styled(c, "\033[1m", b->title, strlen(b->title));
        end_line(c);
    }
    if (has_headers(b)) put_headers(c, b, l);
    for (size_t row = 0; row < b->rows; row++) {
        for (size_t i = 0; i < b->column_count; i++) {
            put_blanks(c, i ? GAP : 0);
            put_cell(c, b, row, i, &l[i]);
        }
        end_line(c);
    }
}

static bool draw_block(const canvas *c, const wmi_block *b) {
    if (b->column_count == 0) return true;
    layout *l = malloc(b->column_count * sizeof *l);
    if (!l) return false;
    for (size_t i = 0; i < b->column_count; i++) l[i] = measure(b, i);
    fit(c, b, l);
    put_block(c, b, l);
    free(l);
    return true;
}

/* ---- the whole text ---- */

static void put_warnings(const canvas *c, const wm_table *t) {
    bool first = true;
    if (c->opts.no_warnings) return;
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!wmi_is_warning(key, v)) continue;
        if (first) wmi_buf_char(c->out, '\n');
        first = false;
        put_styled(c, "\033[1m", "warning:", strlen("warning:"));
        wmi_buf_char(c->out, ' ');
        wmi_show_warning(c->out, key, v, c->opts.unicode);
        wmi_buf_char(c->out, '\n');
    }
}

static bool draw_report(const canvas *c, const wm_table *t) {
    wmi_report r;
    wmi_report_init(&r, c->opts.unicode);
    wmi_report_make(t, &r);
    bool ok = !r.failed;
    for (size_t i = 0; ok && i < r.count; i++) {
        if (i) wmi_buf_char(c->out, '\n');
        ok = draw_block(c, &r.blocks[i]);
    }
    wmi_report_fini(&r);
    return ok;
}

static wm_status write_text(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err) {
    canvas c = {out, WM_WRITE_OPTS_INIT};
    if (opts) c.opts = *opts;
    bool ok = true;
    if (wm_table_rows(t) == 0)
        wmi_buf_printf(out, "no rows\n");
    else if (wmi_is_doctor(t))
        wmi_doctor_text(t, &c.opts, out);
    else
        ok = draw_report(&c, t);
    put_warnings(&c, t);
    return ok && !out->failed ? WM_OK : wmi_error_nomem(err);
}

const wmi_sink wmi_sink_text = {
    .name = "text",
    .suffixes = ".txt",
    .text = "for people: a line for each configuration and region",
    .write = write_text,
};
