#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"

static size_t whole_text(double x, char out[WMI_NUMBER_MAX]) {
    char reversed[24];
    size_t n = 0, at = 0;
    uint64_t rest = (uint64_t)fabs(x);
    do reversed[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (signbit(x)) out[at++] = '-';
    while (n > 0) out[at++] = reversed[--n];
    out[at] = '\0';
    return at;
}

static bool reads_back(double x, int digits, char out[WMI_NUMBER_MAX]) {
    snprintf(out, WMI_NUMBER_MAX, "%.*g", digits, x);
    return strtod(out, NULL) == x;
}

/* Beside a power of two the doubles below are closer than those above, and the nearest
 * decimal of 16 digits may miss where the one on its other side does not. Powers of two
 * that %g writes without an exponent have no such text. */
static bool other_side(double x, char out[WMI_NUMBER_MAX]) {
    char wide[WMI_NUMBER_MAX];
    snprintf(wide, sizeof wide, "%.16e", x);
    char *last = strchr(wide, 'e') - 2; /* of 16 digits */
    for (int up = 0; up < 2; up++) {
        if (up && (*last)++ == '9') break; /* a carry would leave 15 digits, which were tried */
        snprintf(out, WMI_NUMBER_MAX, "%.*s%s", (int)(last + 1 - wide), wide, last + 2);
        if (strtod(out, NULL) == x) return true;
    }
    return false;
}

/* Any decimal of up to 15 digits survives the way to a double and back, so when the shortest
 * text has no more, %.15g, which drops trailing zeros, gives it; 17 are always
 * enough. Below DBL_MIN doubles have fewer digits. */
size_t wmi_number_text(double x, char out[WMI_NUMBER_MAX]) {
    if (fabs(x) < 0x1p53 && x == trunc(x)) return whole_text(x, out); /* most counts, and much faster */
    const locale_t previous = wmi_c_locale_enter();
    int digits = fabs(x) < DBL_MIN ? 1 : DBL_DIG;
    while (digits < DBL_DECIMAL_DIG && !reads_back(x, digits, out)) digits++;
    if (digits == DBL_DECIMAL_DIG && !other_side(x, out)) reads_back(x, digits, out);
    wmi_c_locale_leave(previous);
    return strlen(out);
}
