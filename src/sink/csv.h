/** What writing and reading CSV share. */
#ifndef WMI_SINK_CSV_H
#define WMI_SINK_CSV_H

#include "table/table.h"

#define WMI_CSV_COMPANION ".context.json"

/** A text in which blanks, '=', '%' and control bytes are %XX: a column's name in
 *  the column `nulls`. */
void wmi_csv_escape(wmi_buf *b, const char *s);
/** In place; returns the new length. */
size_t wmi_csv_unescape(char *s);

/** Read CSV text. `companion` is the text of the file beside it, NULL for none.
 *  `path` is for messages. */
wm_status wmi_csv_parse(const char *path, const char *text, size_t n, const char *companion,
                        size_t companion_n, wm_table **out, wm_error *err);

#endif
