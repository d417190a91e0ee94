#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"

static size_t skip_digits(const char *s, size_t n, size_t i) {
    while (i < n && s[i] >= '0' && s[i] <= '9') i++;
    return i;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit on one side of the point
 * at least. strtod would also take blanks, hexadecimal, "inf" and "nan". */
static bool is_decimal(const char *s, size_t n) {
    size_t i = n > 0 && (s[0] == '+' || s[0] == '-');
    size_t end = skip_digits(s, n, i);
    size_t digits = end - i;
    i = end;
    if (i < n && s[i] == '.') {
        end = skip_digits(s, n, i + 1);
        digits += end - (i + 1);
        i = end;
    }
    if (digits == 0) return false;
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        i += i < n && (s[i] == '+' || s[i] == '-');
        end = skip_digits(s, n, i);
        if (end == i) return false;
        i = end;
    }
    return i == n;
}

bool wmi_number_parse(const char *s, size_t n, double *out) {
    char text[512];
    if (n >= sizeof text || !is_decimal(s, n)) return false;
    memcpy(text, s, n);
    text[n] = '\0';
    locale_t previous = wmi_c_locale_enter();
    double x = strtod(text, NULL);
    wmi_c_locale_leave(previous);
    if (!isfinite(x)) return false;
    *out = x;
    return true;
}

/* Counts downwards, because the negative side holds one number more. */
bool wmi_i64_parse(const char *s, size_t n, int64_t *out) {
    size_t i = n > 0 && (s[0] == '+' || s[0] == '-');
    bool negative = i && s[0] == '-';
    if (i == n) return false;
    int64_t x = 0;
    for (; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_sub_overflow(x, s[i] - '0', &x)) return false;
    }
    if (!negative && x == INT64_MIN) return false;
    *out = negative ? x : -x;
    return true;
}

static bool unit_scale(const char *unit, size_t n, double *scale) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {
        {"", 1e9},   {"ns", 1},  {"us", 1e3},   {"\u00b5s", 1e3}, {"\u03bcs", 1e3},
        {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) != n || memcmp(units[i].name, unit, n) != 0) continue;
        *scale = units[i].ns;
        return true;
    }
    return false;
}

bool wmi_duration_parse(const char *s, size_t n, int64_t *ns) {
    size_t digits = n;
    while (digits > 0 && s[digits - 1] != '.' && (s[digits - 1] < '0' || s[digits - 1] > '9')) digits--;
    double x, scale;
    if (!unit_scale(s + digits, n - digits, &scale) || !wmi_number_parse(s, digits, &x)) return false;
    double span = rint(x * scale);
    if (!(span >= 0 && span <= 0x1p62)) return false;
    *ns = (int64_t)span;
    return true;
}
