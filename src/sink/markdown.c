/* Tables as GitHub shows them. */
#include <string.h>

#include "sink/report.h"
#include "sink/sink.h"

static bool is_word_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* An underscore inside a word is only an underscore; at its edge it is emphasis. */
static bool is_inner(const char *s, const char *at) {
    return at > s && is_word_byte(at[-1]) && is_word_byte(at[1]);
}

static void put_text(wmi_buf *out, const char *s) {
    for (const char *p = s; *p; p++) {
        switch (*p) {
        case '&': wmi_buf_str(out, "&amp;"); break;
        case '<': wmi_buf_str(out, "&lt;"); break;
        case '>': wmi_buf_str(out, "&gt;"); break;
        case '_':
            if (!is_inner(s, p)) wmi_buf_char(out, '\\');
            wmi_buf_char(out, '_');
            break;
        default:
            if (strchr("|\\`*~[]#", *p)) wmi_buf_char(out, '\\');
            wmi_buf_char(out, *p);
        }
    }
}

static void put_row(const wmi_block *b, size_t row, wmi_buf *out) {
    for (size_t i = 0; i < b->column_count; i++) {
        const char *s = b->cells[row * b->column_count + i].text;
        wmi_buf_str(out, i ? " | " : "| ");
        put_text(out, s ? s : "");
    }
    wmi_buf_str(out, " |\n");
}

static void put_block(const wmi_block *b, wmi_buf *out) {
    if (*b->title) {
        wmi_buf_str(out, "### ");
        put_text(out, b->title);
        wmi_buf_str(out, "\n\n");
    }
    if (b->column_count == 0) return;
    for (size_t i = 0; i < b->column_count; i++) {
        wmi_buf_str(out, i ? " | " : "| ");
        put_text(out, b->columns[i].header);
    }
    wmi_buf_str(out, " |\n");
    for (size_t i = 0; i < b->column_count; i++) {
        wmi_buf_str(out, i ? " | " : "| ");
        wmi_buf_str(out, b->columns[i].number ? "---:" : ":---");
    }
    wmi_buf_str(out, " |\n");
    for (size_t row = 0; row < b->rows; row++) put_row(b, row, out);
}

static void put_warnings(const wm_table *t, wmi_buf *out) {
    wmi_buf text = WMI_BUF_INIT;
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!wmi_is_warning(key, v)) continue;
        text.len = 0;
        wmi_show_warning(&text, key, v, true);
        wmi_buf_str(out, "\n> **Warning:** ");
        put_text(out, text.len ? text.data : "");
        wmi_buf_char(out, '\n');
    }
    if (text.failed) out->failed = true;
    wmi_buf_free(&text);
}

/* Markdown is UTF-8 wherever it is read, so the terminal's options do not matter. */
static wm_status write_markdown(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err) {
    (void)opts;
    wmi_report r;
    wmi_report_init(&r, true);
    if (wm_table_rows(t) == 0)
        wmi_buf_str(out, "no rows\n");
    else
        wmi_report_make(t, &r);
    bool ok = !r.failed;
    for (size_t i = 0; ok && i < r.count; i++) {
        if (i) wmi_buf_char(out, '\n');
        put_block(&r.blocks[i], out);
    }
    wmi_report_fini(&r);
    put_warnings(t, out);
    return ok && !out->failed ? WM_OK : wmi_error_nomem(err);
}

const wmi_sink wmi_sink_markdown = {
    .name = "markdown",
    .suffixes = ".md",
    .text = "what text shows, as tables that GitHub renders",
    .write = write_markdown,
};
