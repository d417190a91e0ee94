#include "input/value_text.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 100 };

wm_status wmi_reader_fail(const wmi_reader *r, const char *fmt, ...) {
    size_t shown = r->n;
    if (shown > SHOWN_MAX)
        for (shown = SHOWN_MAX; shown > 0 && ((unsigned char)r->text[shown] & 0xc0) == 0x80;) shown--;
    wm_error what = WM_ERROR_INIT;
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(&what, WM_EPARSE, 0, fmt, args);
    va_end(args);
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s '%.*s%s': %s", r->what, (int)shown, r->text,
                         shown < r->n ? "..." : "", what.message);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void wmi_reader_blanks(wmi_reader *r) {
    while (r->at < r->n && is_blank(r->text[r->at])) r->at++;
}

/* ---- values ---- */

static void add_utf8(wmi_buf *out, uint32_t c) {
    if (c < 0x80) {
        wmi_buf_char(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    wmi_buf_char(out, (char)(first[more] | (c >> (6 * more))));
    while (more-- > 0) wmi_buf_char(out, (char)(0x80 | ((c >> (6 * more)) & 0x3f)));
}

/* Four hexadecimal digits; UINT32_MAX where there are none. */
static uint32_t read_hex4(const wmi_reader *r, size_t at) {
    uint32_t x = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = i < r->n ? r->text[i] : '\0';
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : UINT32_MAX;
        if (digit == UINT32_MAX) return UINT32_MAX;
        x = x * 16 + digit;
    }
    return x;
}

/* The escape at r->at, a backslash (RFC 8259, section 7). */
static wm_status read_escape(wmi_reader *r, wmi_buf *out) {
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char c = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        wmi_buf_char(out, bytes[letter - letters]);
        r->at += 2;
        return WM_OK;
    }
    uint32_t x = c == 'u' ? read_hex4(r, r->at + 2) : UINT32_MAX;
    size_t length = 6;
    if (x >= 0xd800 && x < 0xdc00 && r->at + 8 < r->n && r->text[r->at + 6] == '\\' &&
        r->text[r->at + 7] == 'u') {
        uint32_t low = read_hex4(r, r->at + 8);
        if (low >= 0xdc00 && low < 0xe000) {
            x = 0x10000 + ((x - 0xd800) << 10) + (low - 0xdc00);
            length = 12;
        }
    }
    if (x == 0 || x > 0x10ffff || (x >= 0xd800 && x < 0xe000))
        return wmi_reader_fail(r, "in double quotes a backslash goes before \" \\ / b f n r t or u and four "
                                  "hexadecimal digits; use single quotes for a plain one");
    add_utf8(out, x);
    r->at += length;
    return WM_OK;
}

static wm_status read_quoted(wmi_reader *r, wmi_item *out) {
    char quote = r->text[r->at++];
    wmi_buf text = WMI_BUF_INIT;
    wm_status s = WM_OK;
    while (s == WM_OK && r->at < r->n && r->text[r->at] != quote) {
        if (quote == '"' && r->text[r->at] == '\\')
            s = read_escape(r, &text);
        else
            wmi_buf_char(&text, r->text[r->at++]);
    }
    if (s == WM_OK && r->at == r->n) s = wmi_reader_fail(r, "a quote that is never closed");
    if (s) {
        wmi_buf_free(&text);
        return s;
    }
    r->at++;
    out->quoted = true;
    out->text = wmi_buf_take(&text);
    if (!out->text) return wmi_error_nomem(r->err);
    if (quote == '"') wmi_json_unescape(out->text);
    return WM_OK;
}

static wm_status read_bare(wmi_reader *r, wmi_item *out) {
    size_t start = r->at, end;
    while (r->at < r->n && r->text[r->at] != ',' && r->text[r->at] != ']') {
        char c = r->text[r->at++];
        if (c == '"' || c == '\'' || c == '[')
            return wmi_reader_fail(r, "a value that holds '%c' is written in quotes, the whole of it", c);
    }
    for (end = r->at; end > start && is_blank(r->text[end - 1]);) end--;
    if (end == start) return wmi_reader_fail(r, "a value is missing; an empty one is written \"\"");
    out->quoted = false;
    out->text = wmi_strndup(r->text + start, end - start);
    return out->text ? WM_OK : wmi_error_nomem(r->err);
}

wm_status wmi_item_read(wmi_reader *r, wmi_item *out) {
    wmi_reader_blanks(r);
    char c = wmi_reader_peek(r);
    if (c != '"' && c != '\'') return read_bare(r, out);
    wmi_item item;
    wm_status s = read_quoted(r, &item);
    if (s) return s;
    wmi_reader_blanks(r);
    c = wmi_reader_peek(r);
    if (r->at < r->n && c != ',' && c != ']') {
        free(item.text);
        return wmi_reader_fail(r, "something follows a closing quote");
    }
    *out = item;
    return WM_OK;
}

/* ---- name[tag]= ---- */

static bool is_letter(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_name_char(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

static wm_status read_tag(wmi_reader *r, wmi_tag *tag) {
    static const struct {
        const char *name;
        wmi_tag tag;
    } tags[] = {{"pow2", WMI_TAG_POW2},
                {"i64", WMI_TAG_I64},
                {"f64", WMI_TAG_F64},
                {"str", WMI_TAG_STR},
                {"bool", WMI_TAG_BOOL}};
    const char *name = r->text + ++r->at;
    const char *close = memchr(name, ']', r->n - r->at);
    if (!close) return wmi_reader_fail(r, "the '[' behind the name is never closed");
    size_t n = (size_t)(close - name);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (strlen(tags[i].name) != n || memcmp(tags[i].name, name, n) != 0) continue;
        *tag = tags[i].tag;
        r->at += n + 1;
        return WM_OK;
    }
    return wmi_reader_fail(
        r, "what may stand in brackets behind the name is pow2, i64, f64, str or bool, not '%.*s'",
        n > SHOWN_MAX ? SHOWN_MAX : (int)n, name);
}

static wm_status read_equals(wmi_reader *r, wmi_tag *tag) {
    wmi_reader_blanks(r);
    if (wmi_reader_peek(r) == '[') {
        wm_status s = read_tag(r, tag);
        if (s) return s;
        wmi_reader_blanks(r);
    }
    if (wmi_reader_peek(r) != '=') return wmi_reader_fail(r, "name=value is expected");
    r->at++;
    wmi_reader_blanks(r);
    return WM_OK;
}

/* A key has the characters of `more` unquoted too. */
static wm_status read_plain_name(wmi_reader *r, const char *more, char **name) {
    const char *start = r->text + r->at;
    size_t n = 0;
    if (!is_letter(wmi_reader_peek(r)))
        return wmi_reader_fail(
            r, "a name begins with a letter or '_' and goes on with those, digits, '.' and '-'");
    while (r->at < r->n && (is_name_char(r->text[r->at]) || strchr(more, r->text[r->at]))) r->at++, n++;
    *name = wmi_strndup(start, n);
    return *name ? WM_OK : wmi_error_nomem(r->err);
}

static wm_status read_quoted_name(wmi_reader *r, char **name) {
    wmi_item item;
    wm_status s = read_quoted(r, &item);
    if (s) return s;
    if (!*item.text) {
        free(item.text);
        return wmi_reader_fail(r, "a name is empty");
    }
    *name = item.text;
    return WM_OK;
}

wm_status wmi_head_read(wmi_reader *r, bool any, char **name, wmi_tag *tag) {
    wmi_reader_blanks(r);
    char *read = NULL;
    wm_status s = any && wmi_reader_peek(r) == '"' ? read_quoted_name(r, &read)
                                                   : read_plain_name(r, any ? ":/+" : "", &read);
    *tag = WMI_TAG_NONE;
    if (s == WM_OK) s = read_equals(r, tag);
    if (s)
        free(read);
    else
        *name = read;
    return s;
}

bool wmi_is_whole_text(const char *s, size_t n) {
    size_t at = n > 0 && (s[0] == '-' || s[0] == '+');
    if (at == n) return false;
    while (at < n && s[at] >= '0' && s[at] <= '9') at++;
    return at == n;
}
