#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/* U+EF80..U+EFFF are EE BE 80..EE BF BF in UTF-8: the first two bytes tell. */
static bool is_stand_in(const char *s) {
    const unsigned char *p = (const unsigned char *)s;
    return p[0] == 0xee && (p[1] == 0xbe || p[1] == 0xbf);
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

static void add_escaped(wmi_buf *b, unsigned char c) {
    switch (c) {
    case '"': wmi_buf_add(b, "\\\"", 2); break;
    case '\\': wmi_buf_add(b, "\\\\", 2); break;
    case '\n': wmi_buf_add(b, "\\n", 2); break;
    case '\r': wmi_buf_add(b, "\\r", 2); break;
    case '\t': wmi_buf_add(b, "\\t", 2); break;
    default: wmi_buf_printf(b, "\\u%04x", c < 0x80 ? c : 0xef00u + c); break;
    }
}

void wmi_json_string(wmi_buf *b, const char *s) {
    size_t n = strlen(s);
    wmi_buf_char(b, '"');
    for (size_t i = 0; i < n;) {
        size_t run = i;
        while (run < n) {
            unsigned char c = (unsigned char)s[run];
            size_t len = c < 0x80 ? is_plain(c) : wmi_utf8_len(s + run, n - run);
            if (len == 0 || (len == 3 && is_stand_in(s + run))) break;
            run += len;
        }
        if (run > i) wmi_buf_add(b, s + i, run - i);
        if (run < n) add_escaped(b, (unsigned char)s[run++]);
        i = run;
    }
    wmi_buf_char(b, '"');
}

/* The sign of a zero survives only with a point: "-0" reads back as an integer. */
static void put_double(wmi_buf *b, double x) {
    char text[WMI_NUMBER_MAX];
    size_t n = wmi_number_text(x, text);
    wmi_buf_add(b, text, n);
    if (strcmp(text, "-0") == 0) wmi_buf_str(b, ".0");
}

void wmi_json_value(wmi_buf *b, wm_value v) {
    switch (v.type) {
    case WM_NULL: wmi_buf_str(b, "null"); break;
    case WM_I64: wmi_buf_printf(b, "%" PRId64, v.as.i64); break;
    case WM_F64: put_double(b, v.as.f64); break;
    case WM_STR: wmi_json_string(b, v.as.str); break;
    case WM_BOOL: wmi_buf_str(b, v.as.b ? "true" : "false"); break;
    }
}

size_t wmi_json_unescape(char *s) {
    char *to = strchr(s, '\xee');
    if (!to) return strlen(s);
    const char *from = to;
    while (*from) {
        if (is_stand_in(from) && ((unsigned char)from[2] & 0xc0) == 0x80) {
            *to++ = (char)((unsigned)(unsigned char)from[1] << 6 | ((unsigned char)from[2] & 0x3f));
            from += 3;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return (size_t)(to - s);
}
