/** sink/: one file for each format a table is written in. The seam is wmi_sink;
 *  registry.c holds the one table of them. Includes base/ and table/. */
#ifndef WMI_SINK_SINK_H
#define WMI_SINK_SINK_H

#include "table/table.h"

/** A way to write a table. `write` appends the whole output to `out` (a buffer, so
 *  that a file appears in full or not at all) and fails only for memory or a
 *  table it cannot show. `read` parses text (NUL-terminated, n bytes) back into an
 *  equal table; `path` is for messages and for files that lie beside it. */
typedef struct wmi_sink {
    const char *name;     /* "json" */
    const char *suffixes; /* ".json"; several are separated by a blank */
    const char *text;     /* one line for --help */
    wm_status (*write)(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err);
    wm_status (*read)(const char *path, const char *text, size_t n, wm_table **out,
                      wm_error *err); /* may be NULL */
    /** Text of a file that goes beside the first (CSV's context), with its suffix;
     *  NULL for none. */
    const char *companion_suffix;
    wm_status (*companion)(const wm_table *t, wmi_buf *out, wm_error *err);
} wmi_sink;

extern const wmi_sink *const wmi_sinks[]; /* NULL ends */
/** By name, or by the suffix of a path; WM_EINVAL names what is accepted. */
wm_status wmi_sink_by_name(const char *name, const wmi_sink **out, wm_error *err);
wm_status wmi_sink_by_path(const char *path, const wmi_sink **out, wm_error *err);

/** Before anything is measured: is there a format (NULL: from the suffix), and can
 *  the file and what lies beside it be written? As wmi_file_check. */
wm_status wmi_sink_check(const char *path, const char *format, wm_error *err);

/** Write only what lies beside a file of that format; nothing where there is no place for it. */
wm_status wmi_sink_write_beside(const wmi_sink *sink, const wm_table *t, const char *path, wm_error *err);

extern const wmi_sink wmi_sink_text, wmi_sink_csv, wmi_sink_json, wmi_sink_gbench, wmi_sink_markdown;

/** Lines of a samples table as CSV without (rows `from` on) and with its header:
 *  for files that grow. */
wm_status wmi_csv_header(const wm_table *t, wmi_buf *out);
wm_status wmi_csv_rows(const wm_table *t, size_t from, wmi_buf *out);

#endif
