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

/* Does a text of so many digits read back to x? Beside a power of two the doubles below are
 * closer than those above, and the nearest decimal may miss where the one next to it
 * does not: the neighbours' texts are tried too. */
static bool try_digits(double x, int digits, char out[WMI_NUMBER_MAX]) {
    const double near[3] = {x, nextafter(x, INFINITY), nextafter(x, -INFINITY)};
    for (int i = 0; i < 3; i++) {
        snprintf(out, WMI_NUMBER_MAX, "%.*g", digits, near[i]);
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
    while (digits < DBL_DECIMAL_DIG && !try_digits(x, digits, out)) digits++;
    if (digits == DBL_DECIMAL_DIG) snprintf(out, WMI_NUMBER_MAX, "%.*g", digits, x);
    wmi_c_locale_leave(previous);
    return strlen(out);
}
