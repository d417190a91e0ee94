/** Text: a growing buffer, numbers to and from text, names that are near. All
 *  of it is independent of the process's locale. */
#ifndef WMI_BASE_TEXT_H
#define WMI_BASE_TEXT_H

#include "base/error.h"

/** A growing byte buffer, always NUL-terminated once anything was added. When
 *  memory runs out `failed` stays set, the text so far stays valid, and further
 *  additions do nothing: check once, at the end. */
typedef struct wmi_buf {
    char *data;
    size_t len, cap;
    bool failed;
} wmi_buf;
#define WMI_BUF_INIT                                                                                         \
    { NULL, 0, 0, false }
void wmi_buf_add(wmi_buf *b, const char *bytes, size_t n);
void wmi_buf_str(wmi_buf *b, const char *s);
void wmi_buf_char(wmi_buf *b, char c);
void wmi_buf_printf(wmi_buf *b, const char *fmt, ...) WM_PRINTF(2, 3);
/** Hand the text over to the caller, who frees it; "" if nothing was added;
 *  NULL if memory ran out (the buffer is freed). The buffer is empty after. */
char *wmi_buf_take(wmi_buf *b);
void wmi_buf_free(wmi_buf *b);

/** Copy of a string or of its first n bytes; NULL when out of memory. */
char *wmi_strdup(const char *s);
char *wmi_strndup(const char *s, size_t n);

enum { WMI_NUMBER_MAX = 40 };
/** The shortest text that reads back to the same double, with '.' in every
 *  locale. An integer below 2^53 is written in full ("1000000"); anything else
 *  looks as with printf's %g ("0.001", "1e+300"). x must be finite. Returns the
 *  length. */
size_t wmi_number_text(double x, char out[WMI_NUMBER_MAX]);
/** The whole of s[0..n) as a decimal double or an int64. false when anything is
 *  left over, for an empty text, on overflow, for "nan" and "inf", and for more
 *  than 511 characters of a double. */
bool wmi_number_parse(const char *s, size_t n, double *out);
bool wmi_i64_parse(const char *s, size_t n, int64_t *out);
/** A length of time with a unit: "250ms", "1.5s", "10us", "800ns", "2min", "1h";
 *  a bare number is seconds. In ns, not negative, at most 2^62. */
bool wmi_duration_parse(const char *s, size_t n, int64_t *ns);
/** x scaled by a power of 1000 with four significant digits and its unit, for
 *  people: (1.234e9, "FLOP/s") gives "1.234 GFLOP/s"; (1.5e6, "ns") gives
 *  "1.500 ms". Units that take no prefix ("%", "", "1/s", counts) are left as
 *  they are: four digits, or all of an integer. `unicode` chooses µ or u. x must
 *  be finite. */
void wmi_si_text(double x, const char *unit, bool unicode, wmi_buf *out);

/** Append bytes as a JSON string with its quotes. Always valid JSON in UTF-8:
 *  control characters are escaped; a byte 0x80..0xFF that is not part of valid
 *  UTF-8 becomes U+EF80..U+EFFF, and a real U+EF80..U+EFFF in the input is treated
 *  as three invalid bytes, so that every byte string is restored by
 *  wmi_json_unescape (for bytes that jansson has already decoded). */
void wmi_json_string(wmi_buf *b, const char *s);
/** In place; returns the new length. */
size_t wmi_json_unescape(char *s);
/** Append a value as JSON; a null is null. */
void wmi_json_value(wmi_buf *b, wm_value v);
/** Length of the valid UTF-8 sequence at s (1..4), 0 if invalid. n is what is left. */
size_t wmi_utf8_len(const char *s, size_t n);
/** Append a text with U+FFFD in place of each byte that is not part of valid UTF-8. */
void wmi_utf8_replace(wmi_buf *b, const char *s);
/** Columns that s takes on a terminal (combining marks 0, wide characters 2, bytes
 *  that are not UTF-8 one each). */
size_t wmi_text_width(const char *s);
/** How many bytes of s, whole characters, fit into `width` columns. */
size_t wmi_text_fitting(const char *s, size_t width);

/** Up to three of the names nearest to `name` by edit distance, whatever their
 *  case, as "a, b or c"; "" when none is near. The caller frees; NULL when out of memory. */
char *wmi_nearest(const char *name, const char *const *names, size_t count);

/** Split a text into words as a shell does: blanks separate, '...' and "..."
 *  quote, \ takes the next character (in "..." only another " or \). No expansion
 *  of any kind. The words and the array, which a NULL ends, are one allocation,
 *  freed with free(). WM_EPARSE for an open quote or a \ at the end. */
wm_status wmi_words_split(const char *text, char ***words, size_t *count, wm_error *err);

#endif
