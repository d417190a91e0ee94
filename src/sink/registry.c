/* The one table of sinks. */
#include <string.h>

#include "sink/sink.h"

/* In the order in which messages and --help list them. */
const wmi_sink *const wmi_sinks[] = {&wmi_sink_text,   &wmi_sink_csv,      &wmi_sink_json,
                                     &wmi_sink_gbench, &wmi_sink_markdown, NULL};

/* "text, csv, json or markdown", or their suffixes. */
static void list_sinks(wmi_buf *b, bool suffixes) {
    for (const wmi_sink *const *s = wmi_sinks; *s; s++) {
        if (s != wmi_sinks) wmi_buf_str(b, s[1] ? ", " : " or ");
        wmi_buf_str(b, suffixes ? (*s)->suffixes : (*s)->name);
    }
}

wm_status wmi_sink_by_name(const char *name, const wmi_sink **out, wm_error *err) {
    for (const wmi_sink *const *s = wmi_sinks; *s; s++) {
        if (strcmp((*s)->name, name) != 0) continue;
        *out = *s;
        return WM_OK;
    }
    wmi_buf names = WMI_BUF_INIT;
    list_sinks(&names, false);
    wm_status status =
        names.failed ? wmi_error_nomem(err)
                     : wmi_error_set(err, WM_EINVAL, 0, "the format takes %s, not '%s'", names.data, name);
    wmi_buf_free(&names);
    return status;
}

/* The length of the longest of the suffixes that the path ends with. */
static size_t match(const char *path, const char *suffixes) {
    size_t path_len = strlen(path), longest = 0;
    for (const char *s = suffixes; *s;) {
        size_t len = strcspn(s, " ");
        if (len < path_len && memcmp(path + path_len - len, s, len) == 0 && len > longest) longest = len;
        s += len;
        s += strspn(s, " ");
    }
    return longest;
}

/* The longest suffix wins: "x.gbench.json" is no plain ".json". */
wm_status wmi_sink_by_path(const char *path, const wmi_sink **out, wm_error *err) {
    const wmi_sink *best = NULL;
    size_t longest = 0;
    for (const wmi_sink *const *s = wmi_sinks; *s; s++) {
        size_t len = match(path, (*s)->suffixes);
        if (len > longest) best = *s;
        if (len > longest) longest = len;
    }
    if (best) {
        *out = best;
        return WM_OK;
    }
    wmi_buf names = WMI_BUF_INIT;
    list_sinks(&names, true);
    wm_status status =
        names.failed ? wmi_error_nomem(err)
                     : wmi_error_set(err, WM_EINVAL, 0, "the suffix of '%s' gives no format: it takes %s",
                                     path, names.data);
    wmi_buf_free(&names);
    return status;
}
