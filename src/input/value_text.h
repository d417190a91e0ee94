/** How axes and configurations are written: names, tags and values. Private to
 *  sweep/. */
#ifndef WMI_INPUT_VALUE_TEXT_H
#define WMI_INPUT_VALUE_TEXT_H

#include "base/text.h"

/** A text that is being read. */
typedef struct wmi_reader {
    const char *what; /* for messages: "axis", "configuration" */
    const char *text;
    size_t n, at;
    wm_error *err;
} wmi_reader;

/** WM_EPARSE: `<what> '<text>': <message>`. */
wm_status wmi_reader_fail(const wmi_reader *r, const char *fmt, ...) WM_PRINTF(2, 3);
void wmi_reader_blanks(wmi_reader *r);
/** The next byte, '\0' at the end. */
static inline char wmi_reader_peek(const wmi_reader *r) { return r->at < r->n ? r->text[r->at] : '\0'; }

/** What stands in brackets behind a name. */
typedef enum wmi_tag {
    WMI_TAG_NONE,
    WMI_TAG_I64,
    WMI_TAG_F64,
    WMI_TAG_STR,
    WMI_TAG_BOOL,
    WMI_TAG_POW2
} wmi_tag;

/** Read `name[tag]=`; the caller frees *name. `any`: it may be any name as a key writes
 *  it, "..." included; otherwise one that an axis can have. */
wm_status wmi_head_read(wmi_reader *r, bool any, char **name, wmi_tag *tag);

/** One value as it is written. */
typedef struct wmi_item {
    char *text; /* without the quotes; owned */
    bool quoted;
} wmi_item;

/** Read one value, up to the ',' or ']' or the end behind it. In "..." the escapes
 *  of JSON hold, so that what wmi_config_key writes can be read; in '...' none. */
wm_status wmi_item_read(wmi_reader *r, wmi_item *out);

/** Is it written as a whole number, whether or not 64 bits can hold it? */
bool wmi_is_whole_text(const char *s, size_t n);

#endif
