#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"

/* The C library knows how wide a character is, but only in a locale of UTF-8. This
 * one comes with every glibc; without it each character counts as one column. */
static locale_t utf8_locale;
static pthread_once_t utf8_locale_once = PTHREAD_ONCE_INIT;

static void make_utf8_locale(void) { utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

static wchar_t decode(const char *s, size_t len) {
    uint32_t c = (unsigned char)s[0];
    if (len > 1) c &= 0x7fu >> len;
    for (size_t i = 1; i < len; i++) c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return (wchar_t)c;
}

/* Characters that cannot be shown count as one, for the sign that a terminal puts
 * in their place. */
static size_t columns(const char *s, size_t len) {
    int width = wcwidth(decode(s, len));
    return width >= 0 ? (size_t)width : 1;
}

size_t wmi_text_width(const char *s) {
    size_t left = strlen(s), width = 0;
    pthread_once(&utf8_locale_once, make_utf8_locale);
    locale_t previous = utf8_locale ? uselocale(utf8_locale) : (locale_t)0;
    while (left) {
        size_t len = wmi_utf8_len(s, left);
        width += len > 1 && previous ? columns(s, len) : 1;
        len += !len;
        s += len;
        left -= len;
    }
    if (previous) uselocale(previous);
    return width;
}

size_t wmi_text_fitting(const char *s, size_t width) {
    const size_t n = strlen(s);
    size_t used = 0;
    char piece[8];
    for (size_t at = 0; at < n;) {
        size_t len = wmi_utf8_len(s + at, n - at);
        memcpy(piece, s + at, len ? len : 1);
        piece[len ? len : 1] = '\0';
        used += wmi_text_width(piece);
        if (used > width) return at;
        at += len ? len : 1;
    }
    return n;
}
