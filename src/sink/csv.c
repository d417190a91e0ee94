/* Writing CSV as RFC 4180 has it, with LF line ends. A null is an empty field and
 * an empty string a pair of quotes; a last column holds the reasons of nulls. */
#include "sink/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sink/json.h"
#include "sink/sink.h"

/* ---- the column of reasons ---- */

static bool is_special(unsigned char c) { return c <= ' ' || c == '=' || c == '%' || c == 0x7f; }

void wmi_csv_escape(wmi_buf *b, const char *s) {
    for (; *s; s++) {
        if (is_special((unsigned char)*s))
            wmi_buf_printf(b, "%%%02X", (unsigned)(unsigned char)*s);
        else
            wmi_buf_char(b, *s);
    }
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

size_t wmi_csv_unescape(char *s) {
    char *to = s;
    for (const char *from = s; *from; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        bool escaped = low >= 0 && high * 16 + low != 0;
        *to++ = escaped ? (char)(high * 16 + low) : *from;
        if (escaped) from += 2;
    }
    *to = '\0';
    return (size_t)(to - s);
}

/* ---- fields ---- */

/* Would a reader that guesses take it for a number or a truth value? */
static bool looks_typed(const char *s) {
    double x;
    if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) return true;
    return strchr("+-.0123456789", *s) && wmi_number_parse(s, strlen(s), &x);
}

static bool needs_quotes(const char *s) {
    size_t n = strlen(s);
    bool edge =
        n == 0 || s[0] == ' ' || s[n - 1] == ' ' || (unsigned char)s[0] == 0xef; /* a byte order mark */
    return edge || s[strcspn(s, ",\"\r\n")] || looks_typed(s);
}

static void put_text(wmi_buf *b, const char *s) {
    if (!needs_quotes(s)) {
        wmi_buf_str(b, s);
        return;
    }
    wmi_buf_char(b, '"');
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        wmi_buf_add(b, s, (size_t)(quote - s) + 1);
        wmi_buf_char(b, '"');
    }
    wmi_buf_str(b, s);
    wmi_buf_char(b, '"');
}

static void put_value(wmi_buf *b, wm_value v) {
    char text[WMI_NUMBER_MAX];
    switch (v.type) {
    case WM_NULL: break;
    case WM_I64: wmi_buf_printf(b, "%" PRId64, v.as.i64); break;
    case WM_F64: wmi_buf_add(b, text, wmi_number_text(v.as.f64, text)); break;
    case WM_STR: put_text(b, v.as.str); break;
    case WM_BOOL: wmi_buf_str(b, v.as.b ? "true" : "false"); break;
    }
}

/* The reasons of a row's nulls, but for "not applicable", which goes without
 * saying. */
static void list_nulls(wmi_buf *b, const wm_table *t, size_t row) {
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        wm_column c = {0};
        wm_value v = wmi_table_cell(t, row, i);
        if (v.type != WM_NULL || v.reason == WM_REASON_NOT_APPLICABLE) continue;
        wm_table_column(t, i, &c);
        if (b->len) wmi_buf_char(b, ' ');
        wmi_csv_escape(b, c.name);
        wmi_buf_char(b, '=');
        wmi_buf_str(b, wm_reason_slug(v.reason));
    }
}

/* ---- the file ---- */

wm_status wmi_csv_header(const wm_table *t, wmi_buf *out) {
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        wm_column c = {0};
        wm_table_column(t, i, &c);
        put_text(out, c.name);
        wmi_buf_char(out, ',');
    }
    wmi_buf_str(out, "nulls\n");
    return out->failed ? WM_ENOMEM : WM_OK;
}

wm_status wmi_csv_rows(const wm_table *t, size_t from, wmi_buf *out) {
    wmi_buf nulls = WMI_BUF_INIT;
    for (size_t row = from; row < wm_table_rows(t); row++) {
        for (size_t i = 0; i < wm_table_columns(t); i++) {
            put_value(out, wmi_table_cell(t, row, i));
            wmi_buf_char(out, ',');
        }
        nulls.len = 0;
        list_nulls(&nulls, t, row);
        if (nulls.len) put_text(out, nulls.data);
        wmi_buf_char(out, '\n');
    }
    bool failed = nulls.failed || out->failed;
    wmi_buf_free(&nulls);
    return failed ? WM_ENOMEM : WM_OK;
}

static wm_status write_csv(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err) {
    (void)opts;
    wm_status s = wmi_csv_header(t, out);
    if (s == WM_OK) s = wmi_csv_rows(t, 0, out);
    return s == WM_OK ? s : wmi_error_nomem(err);
}

static wm_status write_companion(const wm_table *t, wmi_buf *out, wm_error *err) {
    wmi_json_head(out, t, WMI_JSON_CONTEXT);
    wmi_buf_str(out, "\n}\n");
    return out->failed ? wmi_error_nomem(err) : WM_OK;
}

static bool is_missing(const wm_error *e) { return e->native_code == ENOENT || e->native_code == ENOTDIR; }

static wm_status read_csv(const char *path, const char *text, size_t n, wm_table **out, wm_error *err) {
    wmi_buf name = WMI_BUF_INIT;
    char *companion = NULL;
    size_t companion_n = 0;
    wm_error why = WM_ERROR_INIT;
    wmi_buf_str(&name, path);
    wmi_buf_str(&name, WMI_CSV_COMPANION);
    wm_status s =
        name.failed ? wmi_error_nomem(&why) : wmi_file_read(name.data, &companion, &companion_n, &why);
    if (s == WM_OK || is_missing(&why))
        s = wmi_csv_parse(path, text, n, companion, companion_n, out, err);
    else if (err)
        *err = why;
    free(companion);
    wmi_buf_free(&name);
    return s;
}

const wmi_sink wmi_sink_csv = {
    .name = "csv",
    .suffixes = ".csv",
    .text = "every column; the context lies beside it in FILE" WMI_CSV_COMPANION,
    .write = write_csv,
    .read = read_csv,
    .companion_suffix = WMI_CSV_COMPANION,
    .companion = write_companion,
};
