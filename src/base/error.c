#include "base/error.h"

#include <string.h>

#include "base/c_locale.h"
#include "base/text.h"

#define QUOTE_(x) #x
#define QUOTE(x)  QUOTE_(x)

const char *wm_version(void) {
    return QUOTE(WM_VERSION_MAJOR) "." QUOTE(WM_VERSION_MINOR) "." QUOTE(WM_VERSION_PATCH);
}

const char *wm_status_name(wm_status status) {
    switch (status) {
#define STATUS_NAME(name, value, text)                                                                       \
    case WM_##name: return "WM_" #name;
        WM_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "WM_?";
}

const char *wm_status_text(wm_status status) {
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                                       \
    case WM_##name: return text;
        WM_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

static const struct {
    const char *slug, *text;
} reasons[WM_REASON_COUNT] = {
#define REASON(name, slug, text) {slug, text},
    WM_REASON_MAP(REASON)
#undef REASON
};

static size_t reason_index(wm_reason reason) {
    return (unsigned)reason < WM_REASON_COUNT ? (size_t)reason : (size_t)WM_REASON_UNKNOWN;
}

const char *wm_reason_slug(wm_reason reason) { return reasons[reason_index(reason)].slug; }

const char *wm_reason_text(wm_reason reason) { return reasons[reason_index(reason)].text; }

wm_reason wmi_reason_from_slug(const char *slug, size_t n) {
    for (unsigned i = 0; i < WM_REASON_COUNT; i++)
        if (strlen(reasons[i].slug) == n && memcmp(reasons[i].slug, slug, n) == 0) return (wm_reason)i;
    return WM_REASON_UNKNOWN;
}

/* Length of the printable character at s, or 0 where its first byte has to be
 * shown as \xNN. U+0080..U+009F are control characters of two bytes. */
static size_t printable_len(const char *s, size_t n) {
    unsigned char c = (unsigned char)s[0];
    if (c < 0x80) return c >= 0x20 && c != 0x7f;
    if (c == 0xc2 && n > 1 && (unsigned char)s[1] < 0xa0) return 0;
    return wmi_utf8_len(s, n);
}

static void show_byte(char out[4], unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[byte >> 4];
    out[3] = hex[byte & 15];
}

/* Every character stays as long or gets longer, so raw text that fills more than
 * the message is cut here and nowhere else. */
static void set_message(char *message, size_t size, const char *raw, size_t n) {
    static const char dots[] = "...";
    size_t len = 0, cut = 0;
    for (size_t i = 0; i < n;) {
        size_t step = printable_len(raw + i, n - i);
        size_t shown = step ? step : 4;
        if (len + shown >= size) {
            memcpy(message + cut, dots, sizeof dots);
            return;
        }
        if (step)
            memcpy(message + len, raw + i, step);
        else
            show_byte(message + len, (unsigned char)raw[i]);
        len += shown;
        i += step ? step : 1;
        if (len + sizeof dots <= size) cut = len;
    }
    message[len] = '\0';
}

/* The text is first made in a buffer of its own: an argument may be the very
 * message that is being replaced. */
wm_status wmi_error_vset(wm_error *err, wm_status code, int native_code, const char *fmt, va_list args) {
    if (!err) return code;
    char raw[sizeof err->message + 8];
    locale_t previous = wmi_c_locale_enter();
    int n = vsnprintf(raw, sizeof raw, fmt, args);
    wmi_c_locale_leave(previous);
    if (n < 0) n = snprintf(raw, sizeof raw, "%s", wm_status_text(code));
    size_t len = (size_t)n < sizeof raw ? (size_t)n : sizeof raw - 1;
    set_message(err->message, sizeof err->message, raw, len);
    err->code = code;
    err->native_code = native_code;
    return code;
}

wm_status wmi_error_set(wm_error *err, wm_status code, int native_code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    wmi_error_vset(err, code, native_code, fmt, args);
    va_end(args);
    return code;
}

/* strerror follows the locale's language and need not be thread-safe. */
const char *wmi_errno_text(int errnum) {
    const char *text = strerrordesc_np(errnum);
    return text ? text : "unknown system error";
}
