/* Texts as the files of /proc and /sys have them: a key, a line end, then the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "machine/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

static void check_field(const char *text, const char *key, char separator) {
    char value[32];
    memset(value, 'x', sizeof value);
    if (!wmi_sys_field(text, key, separator, value, sizeof value)) return;
    size_t n = strnlen(value, sizeof value);
    check(n < sizeof value);
    check(!strchr(value, '\n'));
    check(n == 0 || strstr(text, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = wmi_strndup((const char *)data, size);
    if (!text) return 0;
    check(wmi_cpulist_count(text) >= 0);
    check(wmi_cpulist_meet(text, text) == (wmi_cpulist_count(text) > 0));
    char *rest = strchr(text, '\n');
    if (rest) {
        *rest++ = '\0';
        check_field(rest, text, ':');
        check_field(rest, text, '=');
        check_field(rest, text, ' ');
        check(wmi_cpulist_meet(text, rest) == wmi_cpulist_meet(rest, text));
    }
    free(text);
    return 0;
}
