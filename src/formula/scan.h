/** Reading the expression of a formula. Private to formula/. */
#ifndef WMI_FORMULA_SCAN_H
#define WMI_FORMULA_SCAN_H

#include "base/text.h"

enum { WMI_FORMULA_LENGTH_MAX = 4096, WMI_FORMULA_DEPTH_MAX = 200 };

/** An expression in the spelling that muParser is given: input i is v<i>, number i
 *  is k<i>, and arguments are separated by ';'. */
typedef struct wmi_scan {
    wmi_buf code;
    char **inputs; /* distinct names, in order of first use */
    size_t input_count, input_cap;
    double *numbers;
    size_t number_count, number_cap;
} wmi_scan;

/** Check and rewrite text[begin..end). On failure *out is freed. WM_EPARSE,
 *  WM_ENOMEM. */
wm_status wmi_scan_expression(const char *text, size_t begin, size_t end, wmi_scan *out, wm_error *err);
void wmi_scan_free(wmi_scan *scan);

/** WM_EPARSE: `formula '<text>', character <n>: <message>`, n of the place `at`. A
 *  long formula is shown around the place. */
wm_status wmi_scan_error(const char *text, size_t at, wm_error *err, const char *fmt, ...) WM_PRINTF(4, 5);

static inline bool wmi_scan_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static inline bool wmi_scan_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool wmi_scan_word_start(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool wmi_scan_word(char c) { return wmi_scan_word_start(c) || wmi_scan_digit(c); }

#endif
