/** base/: status, errors, text, numbers, the clock, interning, files, dynamic
 *  loading. Plain services with no knowledge of measuring. Includes nothing of
 *  the other folders; every folder may include it. */
#ifndef WMI_BASE_ERROR_H
#define WMI_BASE_ERROR_H

#include <stdarg.h>

#include "warpmeter.h"

/** Fill *err (NULL is fine) and return `code`, so that a caller can write
 *  `return wmi_error_set(err, WM_EINVAL, 0, "...", ...)`. The message is made
 *  one line of valid UTF-8: control bytes and invalid bytes are shown as \xNN,
 *  and a long one is cut at a character with "...". Any thread. */
wm_status wmi_error_set(wm_error *err, wm_status code, int native_code, const char *fmt, ...) WM_PRINTF(4, 5);
wm_status wmi_error_vset(wm_error *err, wm_status code, int native_code, const char *fmt, va_list args);
/** The same for memory that could not be had. */
static inline wm_status wmi_error_nomem(wm_error *err) {
    (void)wmi_error_set(err, WM_ENOMEM, 0, "%s", wm_status_text(WM_ENOMEM));
    return WM_ENOMEM; /* as a constant, so that a checker knows that no call that failed says WM_OK */
}
/** The system's phrase for an errno, in English in every locale. Static; any
 *  thread. */
const char *wmi_errno_text(int errnum);
/** The reason whose slug this is (length `n`), or WM_REASON_UNKNOWN. */
wm_reason wmi_reason_from_slug(const char *slug, size_t n);

static inline wm_value wmi_null(wm_reason why) {
    wm_value v = {WM_NULL, why, {0}};
    return v;
}
static inline wm_value wmi_i64(int64_t x) {
    wm_value v = {WM_I64, WM_REASON_NONE, {0}};
    v.as.i64 = x;
    return v;
}
/** A number that is not finite becomes a null (WM_REASON_NOT_FINITE). */
static inline wm_value wmi_f64(double x) {
    wm_value v = {WM_F64, WM_REASON_NONE, {0}};
    if (!__builtin_isfinite(x)) return wmi_null(WM_REASON_NOT_FINITE);
    v.as.f64 = x;
    return v;
}
static inline wm_value wmi_str(const char *s) {
    wm_value v = {WM_STR, WM_REASON_NONE, {0}};
    v.as.str = s;
    return v;
}
static inline wm_value wmi_bool(bool b) {
    wm_value v = {WM_BOOL, WM_REASON_NONE, {0}};
    v.as.b = b;
    return v;
}

#endif
