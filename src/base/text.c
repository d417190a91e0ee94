#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"

/* Room for n more bytes and the NUL. Doubling keeps the cost of n additions
 * linear. */
static bool reserve(wmi_buf *b, size_t n) {
    if (b->failed) return false;
    if (n < b->cap - b->len) return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap - b->len <= n) {
        if (cap > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        cap *= 2;
    }
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void wmi_buf_add(wmi_buf *b, const char *bytes, size_t n) {
    if (!reserve(b, n)) return;
    if (n) memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void wmi_buf_str(wmi_buf *b, const char *s) { wmi_buf_add(b, s, strlen(s)); }

void wmi_buf_char(wmi_buf *b, char c) { wmi_buf_add(b, &c, 1); }

static int print_into(wmi_buf *b, const char *fmt, va_list args) {
    locale_t previous = wmi_c_locale_enter();
    int n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, args);
    wmi_c_locale_leave(previous);
    return n;
}

void wmi_buf_printf(wmi_buf *b, const char *fmt, ...) {
    if (!reserve(b, 63)) return;
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int n = print_into(b, fmt, args);
    if (n >= 0 && (size_t)n >= b->cap - b->len && reserve(b, (size_t)n)) n = print_into(b, fmt, again);
    va_end(again);
    va_end(args);
    if (n < 0) b->failed = true;
    if (b->failed)
        b->data[b->len] = '\0';
    else
        b->len += (size_t)n;
}

char *wmi_buf_take(wmi_buf *b) {
    char *text = NULL;
    if (!b->failed) {
        text = b->data ? b->data : wmi_strdup("");
        b->data = NULL;
    }
    wmi_buf_free(b);
    return text;
}

void wmi_buf_free(wmi_buf *b) {
    free(b->data);
    *b = (wmi_buf)WMI_BUF_INIT;
}

char *wmi_strdup(const char *s) { return wmi_strndup(s, strlen(s)); }

char *wmi_strndup(const char *s, size_t n) {
    char *copy = malloc(n + 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}
