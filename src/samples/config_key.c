#include <math.h>
#include <string.h>

#include "base/text.h"
#include "samples/samples.h"

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* A word that reads as nothing else. Numbers are out by their first character. */
static bool is_plain_word(const char *s) {
    static const char *const taken[] = {"true", "false", "null", "nan", "inf"};
    if (!is_letter(s[0])) return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(s, taken[i]) == 0) return false;
    for (s++; *s; s++)
        if (!is_letter(*s) && !(*s >= '0' && *s <= '9') && !strchr(".:/+-", *s)) return false;
    return true;
}

static void add_text(wmi_buf *b, const char *s) {
    if (is_plain_word(s))
        wmi_buf_str(b, s);
    else
        wmi_json_string(b, s);
}

static void add_double(wmi_buf *b, double x) {
    char text[WMI_NUMBER_MAX];
    if (!isfinite(x)) {
        wmi_buf_str(b, isnan(x) ? "nan" : x < 0.0 ? "-inf" : "inf");
        return;
    }
    size_t n = wmi_number_text(x, text);
    wmi_buf_add(b, text, n);
    if (!memchr(text, '.', n) && !memchr(text, 'e', n)) wmi_buf_str(b, ".0");
}

static void add_value(wmi_buf *b, wm_value v) {
    switch (v.type) {
    case WM_NULL: wmi_buf_str(b, "null"); break;
    case WM_I64: wmi_buf_printf(b, "%lld", (long long)v.as.i64); break;
    case WM_F64: add_double(b, v.as.f64); break;
    case WM_STR: add_text(b, v.as.str); break;
    case WM_BOOL: wmi_buf_str(b, v.as.b ? "true" : "false"); break;
    }
}

char *wmi_config_key(size_t count, const char *const *names, const wm_value *values) {
    wmi_buf b = WMI_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        if (i) wmi_buf_char(&b, ',');
        add_text(&b, names[i]);
        wmi_buf_char(&b, '=');
        add_value(&b, values[i]);
    }
    return wmi_buf_take(&b);
}
