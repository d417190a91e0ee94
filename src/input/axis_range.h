/** Ranges, first:last:step. Private to sweep/. */
#ifndef WMI_INPUT_AXIS_RANGE_H
#define WMI_INPUT_AXIS_RANGE_H

#include "input/value_text.h"

enum { WMI_AXIS_VALUES_MAX = 100000 };

/** Does the text read like a range: is there a ':' with a number, or nothing,
 *  before the first one? */
bool wmi_range_looks(const char *text);
/** Its values: int64 when all parts are whole, unless `doubles`. `r` is for
 *  messages. *values: [*count], the caller frees. */
wm_status wmi_range_values(const wmi_reader *r, const char *text, bool doubles, wm_value **values,
                           size_t *count);

#endif
