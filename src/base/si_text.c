#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"

enum { SMALLEST_PREFIX = -24, LARGEST_PREFIX = 24 };

/* The units that take a prefix. Nobody counts kiloseconds: seconds go without. */
static const struct si_unit {
    const char *name, *base;
    int exponent; /* name = 10^exponent base */
    int largest;  /* exponent of the largest prefix in use */
} si_units[] = {
    {"ns", "s", -9, 0},
    {"s", "s", 0, 0},
    {"B", "B", 0, LARGEST_PREFIX},
    {"B/s", "B/s", 0, LARGEST_PREFIX},
    {"FLOP", "FLOP", 0, LARGEST_PREFIX},
    {"FLOP/s", "FLOP/s", 0, LARGEST_PREFIX},
    {"item/s", "item/s", 0, LARGEST_PREFIX},
    {"Hz", "Hz", 0, LARGEST_PREFIX},
    {"W", "W", 0, LARGEST_PREFIX},
    {"J", "J", 0, LARGEST_PREFIX},
};

static const struct si_unit *find_unit(const char *name) {
    for (size_t i = 0; i < sizeof si_units / sizeof si_units[0]; i++)
        if (strcmp(si_units[i].name, name) == 0) return &si_units[i];
    return NULL;
}

static const char *prefix(int exponent, bool unicode) {
    static const char *const prefixes[] = {"y", "z", "a", "f", "p", "n", "u", "m", "",
                                           "k", "M", "G", "T", "P", "E", "Z", "Y"};
    if (exponent == -6 && unicode) return "\u00b5";
    return prefixes[(exponent - SMALLEST_PREFIX) / 3];
}

/* Four digits, but never fewer than the integer part has. From 999.95 on four
 * digits leave no room for a point. */
static void add_plain(wmi_buf *out, double x, const char *unit) {
    double size = fabs(x);
    if (size < 1e15 && (size >= 999.95 || x == rint(x)))
        wmi_buf_printf(out, "%.0f", x == 0 ? 0 : x);
    else
        wmi_buf_printf(out, "%#.4g", x);
    if (*unit) wmi_buf_printf(out, " %s", unit);
}

/* x rounded to four digits, as digits and a power of ten: 1234 and 3 for
 * 1.2336e3. */
static int round_to_four(double x, char digits[5]) {
    char text[32]; /* d.ddde+ddd */
    locale_t previous = wmi_c_locale_enter();
    snprintf(text, sizeof text, "%.3e", x);
    wmi_c_locale_leave(previous);
    digits[0] = text[0];
    memcpy(digits + 1, text + 2, 3);
    digits[4] = '\0';
    return (int)strtol(text + 6, NULL, 10);
}

/* The digits are rounded before the prefix is chosen; else 999.96 ns would show
 * as "1000 ns". */
static void add_scaled(wmi_buf *out, double x, const struct si_unit *unit, bool unicode) {
    char digits[5];
    int exponent = round_to_four(fabs(x), digits) + unit->exponent;
    int third = (exponent - SMALLEST_PREFIX) / 3 * 3 + SMALLEST_PREFIX;
    if (exponent < SMALLEST_PREFIX || third > LARGEST_PREFIX) {
        wmi_buf_printf(out, "%.3e %s", x, unit->name);
        return;
    }
    if (third > unit->largest) {
        add_plain(out, x * pow(10, unit->exponent), unit->base);
        return;
    }
    int whole = exponent - third + 1;
    wmi_buf_printf(out, "%s%.*s.%s %s%s", x < 0 ? "-" : "", whole, digits, digits + whole,
                   prefix(third, unicode), unit->base);
}

void wmi_si_text(double x, const char *unit, bool unicode, wmi_buf *out) {
    const struct si_unit *u = find_unit(unit);
    if (u && x != 0)
        add_scaled(out, x, u, unicode);
    else
        add_plain(out, x, unit);
}
