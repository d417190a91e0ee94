/** Parameters as columns: every configuration's, side by side; and the rows of raw
 *  samples, which are followed by them. */
#ifndef WMI_TABLE_PARAMS_H
#define WMI_TABLE_PARAMS_H

#include "samples/samples.h"
#include "table/collected_columns.h"
#include "table/table.h"

typedef struct wmi_params {
    const char **names; /* borrowed from the configurations */
    wm_type *types;
    size_t count, cap;
} wmi_params;

/** The parameters of all configurations in order of first use. A name that is int64
 *  in one and double in another is a double; any other mixture is text. */
wm_status wmi_params_collect(const wmi_samples *samples, wmi_params *out);
void wmi_params_fini(wmi_params *params);
/** Set the parameters of a configuration; their columns begin at `first`. */
wm_status wmi_params_set(const wmi_params *params, wm_table *t, size_t row, size_t first,
                         const wmi_config *config);
/** The same in `count` rows from `row` on. */
wm_status wmi_params_fill(const wmi_params *params, wm_table *t, size_t row, size_t count, size_t first,
                          const wmi_config *config);

/** The type of a column that holds values of both; WM_NULL leaves the other. */
wm_type wmi_type_common(wm_type a, wm_type b);
/** Set a cell of `count` rows: in a column of text (`type`) also what is none, as it reads in a
 *  configuration's key. */
wm_status wmi_value_fill(wm_table *t, size_t row, size_t count, size_t column, wm_type type, wm_value v);

/** Add the values of a series, from value `from` on, to a samples table made with these columns. */
wm_status wmi_params_add_samples(const wmi_params *params, const wmi_collected_columns *collected,
                                 wm_table *t, const wmi_samples *samples, const wmi_series *s, size_t from);

#endif
