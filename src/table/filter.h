/** Conditions on the rows of a table. */
#ifndef WMI_TABLE_FILTER_H
#define WMI_TABLE_FILTER_H

#include "table/table.h"

typedef struct wmi_filter wmi_filter;

/** Parse conditions joined by ',' (all must hold). The table is borrowed.
 *  WM_EINVAL or WM_ENOTFOUND (a column) say what was wrong and what is accepted. */
wm_status wmi_filter_create(const wm_table *t, const char *text, wmi_filter **out, wm_error *err);
bool wmi_filter_holds(const wmi_filter *f, size_t row);
void wmi_filter_destroy(wmi_filter *f);

#endif
