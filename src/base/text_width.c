#include <string.h>

#include "base/text.h"

size_t wmi_text_width(const char *s) {
    size_t n = strlen(s), width = 0;
    while (n) {
        size_t len = wmi_utf8_len(s, n);
        if (len == 0) len = 1;
        width++;
        s += len;
        n -= len;
    }
    return width;
}
