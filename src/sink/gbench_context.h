/** The member "context" of Google Benchmark's JSON. */
#ifndef WMI_SINK_GBENCH_CONTEXT_H
#define WMI_SINK_GBENCH_CONTEXT_H

#include "table/table.h"

/** Append the members, each on a line: those that readers look for, where the table
 *  knows them, then every other entry of the table's context under its own key. */
void wmi_gbench_context(const wm_table *t, wmi_buf *out);

#endif
