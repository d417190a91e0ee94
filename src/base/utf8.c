#include <string.h>

#include "base/text.h"

/* Table 3-7 of the Unicode standard: the second byte's range depends on the
 * first, which keeps out overlong forms, surrogates and what lies beyond
 * U+10FFFF. */
size_t wmi_utf8_len(const char *s, size_t n) {
    const unsigned char *p = (const unsigned char *)s;
    if (n == 0) return 0;
    if (p[0] < 0x80) return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len) return 0;
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    return len;
}

void wmi_utf8_replace(wmi_buf *b, const char *s) {
    static const char replacement[] = "\xef\xbf\xbd";
    const size_t n = strlen(s);
    size_t begin = 0, end = 0;
    while (end < n) {
        const size_t len = wmi_utf8_len(s + end, n - end);
        end += len;
        if (len) continue;
        wmi_buf_add(b, s + begin, end - begin);
        wmi_buf_str(b, replacement);
        begin = ++end;
    }
    wmi_buf_add(b, s + begin, end - begin);
}
