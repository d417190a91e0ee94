/** What the JSON format shares with CSV's companion file and gbench-json. */
#ifndef WMI_SINK_JSON_H
#define WMI_SINK_JSON_H

#include "table/table.h"

#define WMI_JSON_TABLE   "warpmeter/table"
#define WMI_JSON_CONTEXT "warpmeter/context"
enum { WMI_JSON_VERSION = 1, WMI_COLUMNS_MAX = 4096 };

/** An object up to and without its closing brace: schema, version, kind, context
 *  and columns. */
void wmi_json_head(wmi_buf *b, const wm_table *t, const char *schema);
/** "string", "int64", "double" or "bool". */
const char *wmi_json_type(wm_type type);

/** Read a file of that schema: WMI_JSON_TABLE with its rows, or WMI_JSON_CONTEXT,
 *  which gives a table without rows. `path` is for messages. */
wm_status wmi_json_parse(const char *path, const char *schema, const char *text, size_t n, wm_table **out,
                         wm_error *err);

#endif
