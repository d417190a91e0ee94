#include "sink/csv_scan.h"

#include <stdlib.h>
#include <string.h>

void wmi_csv_scan_init(wmi_csv_scan *c, const char *s, size_t n) {
    size_t mark = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *c = (wmi_csv_scan){.at = s + mark, .end = s + n, .next_line = 1};
}

void wmi_csv_scan_fini(wmi_csv_scan *c) {
    free(c->fields);
    wmi_buf_free(&c->scratch);
}

static bool at_crlf(const wmi_csv_scan *c) {
    return c->end - c->at > 1 && c->at[0] == '\r' && c->at[1] == '\n';
}

static bool at_field_end(const wmi_csv_scan *c) {
    return c->at == c->end || *c->at == ',' || *c->at == '\n' || at_crlf(c);
}

/* Step over the end of a field. true: it was the record's last. */
static bool end_field(wmi_csv_scan *c) {
    if (c->at == c->end) {
        c->cut = true;
        return true;
    }
    if (at_crlf(c)) c->at++;
    if (*c->at++ == ',') return false;
    c->next_line++;
    return true;
}

static void plain_field(wmi_csv_scan *c, wmi_csv_field *f) {
    f->s = c->at;
    while (!at_field_end(c)) c->at++;
    f->n = (size_t)(c->at - f->s);
}

/* Where the text ends inside quotes, it was torn if that began on its last line. */
static wm_status open_field(wmi_csv_scan *c, const char *open, const char **what) {
    c->torn = !memchr(open, '\n', (size_t)(c->end - open));
    c->cut = c->torn;
    c->at = c->end;
    c->count--;
    if (c->torn) return WM_OK;
    *what = "a quote is not closed";
    return WM_EPARSE;
}

static void count_lines(wmi_csv_scan *c, const char *s, const char *end) {
    for (; (s = memchr(s, '\n', (size_t)(end - s))); s++) c->next_line++;
}

/* Between quotes two stand for one; only then is the text copied. */
static wm_status quoted_field(wmi_csv_scan *c, wmi_csv_field *f, const char **what) {
    const char *open = c->at++, *piece = c->at;
    size_t offset = c->scratch.len;
    f->quoted = true;
    for (;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));
        if (!quote) return open_field(c, open, what);
        count_lines(c, c->at, quote);
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"') break;
        wmi_buf_add(&c->scratch, piece, (size_t)(c->at - piece));
        piece = ++c->at;
    }
    f->s = piece;
    f->n = (size_t)(c->at - 1 - piece);
    if (c->scratch.len > offset) {
        wmi_buf_add(&c->scratch, piece, f->n);
        f->s = NULL; /* the scratch text may still move */
        f->offset = offset;
        f->n = c->scratch.len - offset;
    }
    if (c->scratch.failed) return WM_ENOMEM;
    if (at_field_end(c)) return WM_OK;
    *what = "something follows a closing quote";
    return WM_EPARSE;
}

static wmi_csv_field *add_field(wmi_csv_scan *c) {
    if (c->count == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 64;
        wmi_csv_field *fields = realloc(c->fields, cap * sizeof *fields);
        if (!fields) return NULL;
        c->fields = fields;
        c->cap = cap;
    }
    c->fields[c->count] = (wmi_csv_field){NULL, 0, 0, false};
    return &c->fields[c->count++];
}

static void skip_empty_lines(wmi_csv_scan *c) {
    for (; c->at < c->end && (*c->at == '\n' || at_crlf(c)); c->next_line++) c->at += *c->at == '\n' ? 1 : 2;
}

wm_status wmi_csv_scan_next(wmi_csv_scan *c, size_t most_fields, const char **what) {
    skip_empty_lines(c);
    c->line = c->next_line;
    c->count = 0;
    c->scratch.len = 0;
    c->cut = c->torn = false;
    if (c->at == c->end) return WM_OK;
    do {
        if (c->count == most_fields) {
            *what = "there are too many fields";
            return WM_EPARSE;
        }
        wmi_csv_field *f = add_field(c);
        wm_status s = f ? WM_OK : WM_ENOMEM;
        if (s == WM_OK && !at_field_end(c) && *c->at == '"')
            s = quoted_field(c, f, what);
        else if (s == WM_OK)
            plain_field(c, f);
        if (s != WM_OK) return s;
    } while (!c->torn && !end_field(c));
    for (size_t i = 0; i < c->count; i++)
        if (!c->fields[i].s) c->fields[i].s = c->scratch.data + c->fields[i].offset;
    return WM_OK;
}
