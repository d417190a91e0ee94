#include "input/axis_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *text;
    size_t n;
} part;

typedef struct range {
    part parts[3]; /* first, last, step */
    const wmi_reader *reader;
} range;

static part trim(const char *text, size_t n) {
    while (n > 0 && (text[0] == ' ' || text[0] == '\t')) text++, n--;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) n--;
    return (part){text, n};
}

bool wmi_range_looks(const char *text) {
    const char *colon = strchr(text, ':');
    if (!colon) return false;
    part first = trim(text, (size_t)(colon - text));
    double x;
    return first.n == 0 || wmi_number_parse(first.text, first.n, &x);
}

static wm_status split(const char *text, range *out) {
    size_t count = 0;
    for (;;) {
        size_t n = strcspn(text, ":");
        if (count == 3) return wmi_reader_fail(out->reader, "a range is first:last or first:last:step");
        out->parts[count++] = trim(text, n);
        if (text[n] == '\0') break;
        text += n + 1;
    }
    if (count == 2) out->parts[2] = (part){"1", 1};
    return WM_OK;
}

static wm_status allocate(const range *r, double count, wm_value **values, size_t *n) {
    if (!(count >= 1 && count <= WMI_AXIS_VALUES_MAX))
        return wmi_reader_fail(r->reader, "a range has at most %d values", WMI_AXIS_VALUES_MAX);
    wm_value *v = malloc((size_t)count * sizeof *v);
    if (!v) return wmi_error_nomem(r->reader->err);
    *values = v;
    *n = (size_t)count;
    return WM_OK;
}

static wm_status check_step(const range *r, bool zero, bool away) {
    if (zero) {
        wmi_reader_fail(r->reader, "the step of a range must not be 0");
        return WM_EPARSE; /* a constant, for checkers that look for a division by zero */
    }
    if (away)
        return wmi_reader_fail(r->reader, "a step of %.*s does not lead from %.*s to %.*s",
                               (int)r->parts[2].n, r->parts[2].text, (int)r->parts[0].n, r->parts[0].text,
                               (int)r->parts[1].n, r->parts[1].text);
    return WM_OK;
}

/* Distances are computed without a sign, because last - first need not fit. */
static wm_status whole_values(const range *r, const int64_t x[3], wm_value **values, size_t *count) {
    bool down = x[2] < 0;
    wm_status s = check_step(r, x[2] == 0, x[0] != x[1] && down != (x[1] < x[0]));
    if (s) return s;
    uint64_t first = (uint64_t)x[0], step = (uint64_t)x[2];
    uint64_t distance = down ? first - (uint64_t)x[1] : (uint64_t)x[1] - first;
    uint64_t length = down ? 0 - step : step;
    s = allocate(r, (double)(distance / length) + 1, values, count);
    if (s) return s;
    for (uint64_t i = 0; i < *count; i++) (*values)[i] = wmi_i64((int64_t)(first + i * step));
    return WM_OK;
}

/* Digits behind the point that a number is written with: 2 for 0.25 and for 25e-2. */
static int decimals(part p) {
    const char *point = p.n ? memchr(p.text, '.', p.n) : NULL;
    size_t mantissa = 0;
    while (mantissa < p.n && p.text[mantissa] != 'e' && p.text[mantissa] != 'E') mantissa++;
    int64_t exponent = 0;
    if (mantissa < p.n && !wmi_i64_parse(p.text + mantissa + 1, p.n - mantissa - 1, &exponent))
        return INT32_MAX;
    int64_t n = point ? (int64_t)mantissa - (point - p.text) - 1 : 0;
    if (exponent > INT32_MAX / 2 || exponent < -INT32_MAX / 2) return INT32_MAX;
    return n > exponent ? (int)(n - exponent) : 0;
}

/* Numbers written in decimal are kept exact: scaled to whole numbers, stepped, and
 * divided once at the end, so that 0:1:0.1 has the 0.3 a reader expects and not
 * 0.30000000000000004. Works while the scaled numbers are exact in a double. */
static bool scale(const range *r, const double x[3], double *unit, int64_t scaled[3]) {
    int digits = 0;
    for (int i = 0; i < 3; i++)
        if (decimals(r->parts[i]) > digits) digits = decimals(r->parts[i]);
    if (digits > 15) return false;
    *unit = 1;
    while (digits-- > 0) *unit *= 10;
    for (int i = 0; i < 3; i++) {
        if (!(fabs(x[i]) * *unit < 0x1p50)) return false;
        scaled[i] = llround(x[i] * *unit);
    }
    return true;
}

static wm_status double_values(const range *r, const double x[3], wm_value **values, size_t *count) {
    wm_status s = check_step(r, x[2] == 0, x[0] != x[1] && (x[2] < 0) != (x[1] < x[0]));
    if (s) return s;
    double unit;
    int64_t scaled[3];
    bool exact = scale(r, x, &unit, scaled);
    double steps = exact ? (double)((scaled[1] - scaled[0]) / scaled[2]) : floor((x[1] - x[0]) / x[2] + 1e-9);
    s = allocate(r, steps + 1, values, count);
    if (s) return s;
    for (size_t i = 0; i < *count; i++) {
        double v = exact ? (double)(scaled[0] + (int64_t)i * scaled[2]) / unit : x[0] + (double)i * x[2];
        (*values)[i] = wmi_f64(v);
    }
    return WM_OK;
}

wm_status wmi_range_values(const wmi_reader *reader, const char *text, bool doubles, wm_value **values,
                           size_t *count) {
    range r = {.reader = reader};
    wm_status s = split(text, &r);
    if (s) return s;
    int64_t whole[3];
    double x[3];
    bool all_whole = !doubles;
    for (int i = 0; i < 3; i++) {
        part p = r.parts[i];
        if (!wmi_number_parse(p.text, p.n, &x[i]))
            return wmi_reader_fail(
                reader, "'%.*s' is not a number that a range can have (quote a text that holds ':')",
                p.n > 60 ? 60 : (int)p.n, p.text);
        if (wmi_i64_parse(p.text, p.n, &whole[i])) continue;
        all_whole = false;
        if (!doubles && wmi_is_whole_text(p.text, p.n))
            return wmi_reader_fail(reader,
                                   "a whole number is too large for 64 bits; [f64] makes it a double");
    }
    return all_whole ? whole_values(&r, whole, values, count) : double_values(&r, x, values, count);
}
