#include "sink/doctor.h"

#include <string.h>

#include "sink/report.h"

enum { INDENT = 2, GAP = 2, NARROWEST = 24 };

static const char *const names[] = {"component", "item", "state", "value", "reason", "remedy"};
enum { COMPONENT, ITEM, STATE, VALUE, REASON, REMEDY, COUNT };

bool wmi_is_doctor(const wm_table *t) {
    if (strcmp(wm_table_kind(t), "doctor") != 0) return false;
    for (size_t i = 0; i < COUNT; i++) {
        wm_column c = {0};
        if (wm_table_column(t, wm_table_find(t, names[i]), &c) != WM_OK || c.type != WM_STR) return false;
    }
    return true;
}

typedef struct page {
    const wm_table *t;
    const wm_write_opts *opts;
    wmi_buf *out;
    size_t column[COUNT];
    size_t item_width, state_width;
    wmi_buf text; /* one text, made fit to be shown */
} page;

/* A cell as text, valid until the next call. */
static const char *show(page *p, size_t row, int what) {
    wm_value v = wmi_table_cell(p->t, row, p->column[what]);
    p->text.len = 0;
    if (v.type == WM_STR) wmi_show_text(&p->text, v.as.str, p->opts->unicode);
    return p->text.len ? p->text.data : "";
}

static void put_blanks(page *p, size_t n) {
    while (n-- > 0) wmi_buf_char(p->out, ' ');
}

static void put_styled(page *p, const char *code, const char *s) {
    bool styled = p->opts->color && *code && *s;
    if (styled) wmi_buf_str(p->out, code);
    wmi_buf_str(p->out, s);
    if (styled) wmi_buf_str(p->out, "\033[0m");
}

static const char *state_code(const char *state) {
    if (strcmp(state, "ok") == 0) return "\033[32m";
    if (strcmp(state, "limited") == 0) return "\033[33m";
    return "\033[31m";
}

/* Words until the line is full. The words are cut out of p->text, in place. */
static void put_wrapped(page *p, size_t indent, size_t at) {
    size_t width = p->opts->width > 0 ? (size_t)p->opts->width : SIZE_MAX;
    if (width < indent + NARROWEST) width = indent + NARROWEST;
    char *rest = NULL;
    bool first = true;
    for (char *word = strtok_r(p->text.data, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t len = wmi_text_width(word);
        if (!first && at + 1 + len > width) {
            wmi_buf_char(p->out, '\n');
            put_blanks(p, indent);
            at = indent;
        } else if (!first) {
            wmi_buf_char(p->out, ' ');
            at++;
        }
        wmi_buf_str(p->out, word);
        at += len;
        first = false;
    }
    wmi_buf_char(p->out, '\n');
}

/* Value, reason and remedy, each on lines of its own behind the item. */
static void put_texts(page *p, size_t row, size_t indent) {
    bool first = true;
    for (int what = VALUE; what <= REMEDY; what++) {
        const char *label = what == REMEDY ? "remedy: " : "";
        if (!*show(p, row, what)) continue;
        put_blanks(p, first ? GAP : indent);
        wmi_buf_str(p->out, label);
        put_wrapped(p, indent, indent + strlen(label));
        first = false;
    }
    if (first) wmi_buf_char(p->out, '\n');
}

static void put_finding(page *p, size_t row) {
    size_t indent = INDENT + p->state_width + GAP + p->item_width + GAP;
    const char *state = show(p, row, STATE);
    put_blanks(p, INDENT);
    put_styled(p, state_code(state), state);
    put_blanks(p, p->state_width - wmi_text_width(state) + GAP);
    const char *item = show(p, row, ITEM);
    wmi_buf_str(p->out, item);
    put_blanks(p, p->item_width - wmi_text_width(item));
    put_texts(p, row, indent);
}

static size_t widest(page *p, int what) {
    size_t width = 0;
    for (size_t row = 0; row < wm_table_rows(p->t); row++) {
        size_t w = wmi_text_width(show(p, row, what));
        if (w > width) width = w;
    }
    return width;
}

static bool same_component(const page *p, size_t a, size_t b) {
    wm_value x = wmi_table_cell(p->t, a, p->column[COMPONENT]),
             y = wmi_table_cell(p->t, b, p->column[COMPONENT]);
    return x.type == y.type && (x.type == WM_NULL || strcmp(x.as.str, y.as.str) == 0);
}

void wmi_doctor_text(const wm_table *t, const wm_write_opts *opts, wmi_buf *out) {
    page p = {.t = t, .opts = opts, .out = out, .text = WMI_BUF_INIT};
    for (size_t i = 0; i < COUNT; i++) p.column[i] = wm_table_find(t, names[i]);
    p.item_width = widest(&p, ITEM);
    p.state_width = widest(&p, STATE);
    for (size_t row = 0; row < wm_table_rows(t); row++) {
        if (row == 0 || !same_component(&p, row, row - 1)) {
            if (row) wmi_buf_char(out, '\n');
            put_styled(&p, "\033[1m", show(&p, row, COMPONENT));
            wmi_buf_char(out, '\n');
        }
        put_finding(&p, row);
    }
    if (p.text.failed) out->failed = true;
    wmi_buf_free(&p.text);
}
