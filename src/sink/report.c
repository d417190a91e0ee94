#include "sink/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void wmi_report_init(wmi_report *r, bool unicode) { *r = (wmi_report){.unicode = unicode}; }

void wmi_report_fini(wmi_report *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->blocks[i].columns);
        free(r->blocks[i].cells);
    }
    free(r->blocks);
    wmi_string_set_free(&r->texts);
}

static const char *keep(wmi_report *r, const char *s, size_t n) {
    uint32_t id;
    if (wmi_string_set_add(&r->texts, s, n, &id)) return r->texts.text[id];
    r->failed = true;
    return "";
}

/* Room for `count` more elements of `size` bytes; NULL when out of memory. */
static void *reserve(void *array, size_t n, size_t count, size_t *cap, size_t size) {
    if (n + count <= *cap) return array;
    size_t larger = (n + count) * 2 + 8;
    void *moved = realloc(array, larger * size);
    if (moved) *cap = larger;
    return moved;
}

void wmi_report_block(wmi_report *r, const char *title) {
    if (r->failed) return;
    wmi_block *blocks = reserve(r->blocks, r->count, 1, &r->cap, sizeof *blocks);
    r->failed = !blocks;
    if (r->failed) return;
    r->blocks = blocks;
    r->blocks[r->count++] = (wmi_block){.title = keep(r, title, strlen(title))};
}

void wmi_report_column_add(wmi_report *r, const char *header, bool number) {
    if (r->failed) return;
    wmi_block *b = &r->blocks[r->count - 1];
    wmi_report_column *columns = reserve(b->columns, b->column_count, 1, &b->column_cap, sizeof *columns);
    r->failed = !columns;
    if (r->failed) return;
    b->columns = columns;
    b->columns[b->column_count++] = (wmi_report_column){keep(r, header, strlen(header)), number, false};
}

void wmi_report_column_prose(wmi_report *r) {
    if (r->failed) return;
    wmi_block *b = &r->blocks[r->count - 1];
    b->columns[b->column_count - 1].prose = true;
}

void wmi_report_row(wmi_report *r) {
    if (r->failed) return;
    wmi_block *b = &r->blocks[r->count - 1];
    size_t used = b->rows * b->column_count;
    wmi_report_cell *cells = reserve(b->cells, used, b->column_count, &b->cell_cap, sizeof *cells);
    r->failed = !cells;
    if (r->failed) return;
    b->cells = cells;
    memset(&b->cells[used], 0, b->column_count * sizeof *cells);
    b->rows++;
}

void wmi_report_set(wmi_report *r, size_t column, wmi_style style, wmi_buf *text) {
    if (text->failed) r->failed = true;
    if (r->failed) return;
    wmi_block *b = &r->blocks[r->count - 1];
    wmi_report_cell *cell = &b->cells[(b->rows - 1) * b->column_count + column];
    if (text->len) *cell = (wmi_report_cell){keep(r, text->data, text->len), style};
    text->len = 0;
}

/* ---- texts and values ---- */

/* U+061C, U+200E, U+200F, U+202A..U+202E and U+2066..U+2069 turn the direction of
 * text; U+2028 and U+2029 end a line. */
static bool turns_text(const char *s, size_t len) {
    const unsigned char *p = (const unsigned char *)s;
    if (len == 2) return p[0] == 0xd8 && p[1] == 0x9c;
    if (len != 3 || p[0] != 0xe2) return false;
    if (p[1] == 0x80) return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae);
    return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

/* How many bytes at s can be shown as they are; 0: the first one cannot. */
static size_t shown_len(const char *s, size_t n, bool unicode) {
    unsigned char c = (unsigned char)*s;
    if (c < 0x80) return c >= 0x20 && c != 0x7f;
    size_t len = wmi_utf8_len(s, n);
    bool control = len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0;
    return unicode && !control && !turns_text(s, len) ? len : 0;
}

void wmi_show_text(wmi_buf *b, const char *s, bool unicode) {
    size_t n = strlen(s);
    while (n) {
        size_t len = shown_len(s, n, unicode), step = len ? len : 1;
        if (len)
            wmi_buf_add(b, s, len);
        else
            wmi_buf_printf(b, "\\x%02x", (unsigned)(unsigned char)*s);
        s += step;
        n -= step;
    }
}

/* A unit is as much a stranger's text as a name is. */
static void show_number(wmi_buf *b, double x, const char *unit, bool unicode) {
    wmi_buf shown = WMI_BUF_INIT;
    wmi_show_text(&shown, unit, unicode);
    wmi_si_text(x, shown.len ? shown.data : "", unicode, b);
    if (shown.failed) b->failed = true;
    wmi_buf_free(&shown);
}

void wmi_show_value(wmi_buf *b, wm_value v, const char *unit, bool exact, bool unicode) {
    char number[WMI_NUMBER_MAX];
    switch (v.type) {
    case WM_NULL:
        if (v.reason == WM_REASON_NOT_APPLICABLE)
            wmi_buf_char(b, '-');
        else
            wmi_buf_printf(b, "(%s)", wm_reason_slug(v.reason));
        break;
    case WM_I64: wmi_buf_printf(b, "%" PRId64, v.as.i64); break;
    case WM_F64:
        if (exact)
            wmi_buf_add(b, number, wmi_number_text(v.as.f64, number));
        else
            show_number(b, v.as.f64, unit, unicode);
        break;
    case WM_STR: wmi_show_text(b, v.as.str, unicode); break;
    case WM_BOOL: wmi_buf_str(b, v.as.b ? "true" : "false"); break;
    }
}

bool wmi_is_warning(const char *key, wm_value v) {
    return strncmp(key, "warning", strlen("warning")) == 0 && v.type == WM_STR && *v.as.str;
}

void wmi_show_warning(wmi_buf *b, const char *key, wm_value v, bool unicode) {
    const char *side = strchr(key, '.'); /* warning.baseline_2 */
    if (side) wmi_buf_printf(b, "%.*s: ", (int)strcspn(side + 1, "_"), side + 1);
    wmi_show_text(b, v.as.str, unicode);
}

void wmi_facts(const wm_table *t, wmi_report *out) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_report_block(out, "");
    wmi_report_column_add(out, "", false);
    wmi_report_column_add(out, "", false);
    for (size_t i = 0; i < wm_table_context_count(t) && !out->failed; i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (v.type == WM_NULL || wmi_is_warning(key, v)) continue;
        wmi_report_row(out);
        wmi_show_text(&text, key, out->unicode);
        wmi_report_set(out, 0, WMI_STYLE_PLAIN, &text);
        wmi_show_value(&text, v, "", true, out->unicode);
        wmi_report_set(out, 1, WMI_STYLE_PLAIN, &text);
    }
    wmi_buf_free(&text);
}

/* A plan is in its context as much as in its rows. */
void wmi_report_make(const wm_table *t, wmi_report *out) {
    bool whole = wmi_schema_complete(t);
    const char *kind = wm_table_kind(t);
    if (whole && strcmp(kind, "results") == 0) {
        wmi_pivot(t, out);
        return;
    }
    if (whole && strcmp(kind, "plan") == 0) wmi_facts(t, out);
    wmi_grid(t, out);
}
