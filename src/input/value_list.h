/** Lists of values as they are written, and the typed values they make. Private to
 *  sweep/. */
#ifndef WMI_INPUT_VALUE_LIST_H
#define WMI_INPUT_VALUE_LIST_H

#include "input/axes.h"
#include "input/value_text.h"

typedef struct wmi_items {
    wmi_item *v;
    size_t n, cap;
} wmi_items;

/** Read one more value. */
wm_status wmi_items_read(wmi_reader *r, wmi_items *list);
void wmi_items_free(wmi_items *list);
/** Does it mean a range of the values that the tag asks for? */
bool wmi_item_is_range(wmi_tag tag, const wmi_item *item);
/** Fail with `why` when one of the items is a range. */
wm_status wmi_items_refuse_ranges(const wmi_reader *r, wmi_tag tag, const wmi_items *list, const char *why);
/** Make the items the values of the axis, of the tag's type or the narrowest that
 *  holds all. Strings are taken over from the items. The caller frees the axis, after
 *  a failure too. */
wm_status wmi_items_convert(const wmi_reader *r, wmi_tag tag, wmi_items *list, wmi_axis *axis);
/** Replace each value by that power of 2. */
wm_status wmi_values_raise(const wmi_reader *r, wm_value *values, size_t n);
/** -1, 0 or 1: an order of values, by type first. */
int wmi_value_compare(const wm_value *x, const wm_value *y);

#endif
