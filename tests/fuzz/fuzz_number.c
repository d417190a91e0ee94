/* What reads as a number reads the same from its own text; and it reads at all only
 * if the C library reads the whole of it too. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_double(const char *s, size_t n) {
    char text[WMI_NUMBER_MAX], *end;
    double x, again;
    if (!wmi_number_parse(s, n, &x)) return;
    char *copy = wmi_strndup(s, n);
    if (!copy) return;
    if (strtod(copy, &end) != x || end != copy + n) abort();
    size_t len = wmi_number_text(x, text);
    if (len != strlen(text) || !wmi_number_parse(text, len, &again)) abort();
    if (memcmp(&x, &again, sizeof x) != 0) abort();
    free(copy);
}

static void check_integer(const char *s, size_t n) {
    char text[WMI_NUMBER_MAX];
    int64_t x, again;
    double real;
    if (!wmi_i64_parse(s, n, &x)) return;
    int len = snprintf(text, sizeof text, "%lld", (long long)x);
    if (!wmi_i64_parse(text, (size_t)len, &again) || again != x) abort();
    if (n < 100 && (!wmi_number_parse(s, n, &real) || real != (double)x)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *s = (const char *)data;
    int64_t ns;
    check_double(s, size);
    check_integer(s, size);
    if (wmi_duration_parse(s, size, &ns) && (ns < 0 || ns > INT64_C(1) << 62)) abort();
    return 0;
}
