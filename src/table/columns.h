/** Finding columns by names that people typed. */
#ifndef WMI_TABLE_COLUMNS_H
#define WMI_TABLE_COLUMNS_H

#include "table/table.h"

/** Split a list at its commas; blanks around an item are dropped, and "\," is a
 *  comma inside an item. The items and the array are one allocation, freed with
 *  free(). An empty text is no item; *items may be NULL then. */
wm_status wmi_items_split(const char *text, char ***items, size_t *count, wm_error *err);
/** The number of a column. WM_ENOTFOUND names the nearest ones, or all of them. */
wm_status wmi_column_find(const wm_table *t, const char *name, size_t *out, wm_error *err);

#endif
