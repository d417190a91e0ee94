/** What collectors said, as columns behind the parameters; and which columns of a table those are. Their
 *  names are kept in the context (key "collected"), for nothing else tells them from parameters. Private to
 *  table/, the sinks and the file of samples. */
#ifndef WMI_TABLE_COLLECTED_COLUMNS_H
#define WMI_TABLE_COLLECTED_COLUMNS_H

#include "samples/collected.h"
#include "table/table.h"

/** Columns of one name: collectors of several benchmarks share them. */
typedef struct wmi_collected_column {
    const char *name; /* interned */
    bool single;      /* one column, with a value */
    bool spread;      /* NAME_avg, NAME_std, NAME_min, NAME_max; never in samples */
    wm_type type;     /* of the one column */
    size_t at;        /* the first of them, among all collected ones: the single one, then the four */
} wmi_collected_column;

typedef struct wmi_collected_columns {
    const wmi_samples *samples;
    wmi_collected_column *v;
    size_t count;
    size_t *of;               /* [collectors] the columns of each */
    wm_value *cells;          /* [cell_count] of the row at hand */
    size_t cell_count, first; /* first: in the table */
} wmi_collected_columns;

/** The columns for what was collected so far. `results` false: for samples. WM_ENOMEM. Free it whatever came
 *  of it. */
wm_status wmi_collected_columns_make(const wmi_samples *samples, bool results, wmi_collected_columns *out);
void wmi_collected_columns_fini(wmi_collected_columns *c);
/** Add them to an empty table, and their names to its context. WM_ENOMEM. */
wm_status wmi_collected_columns_add(wmi_collected_columns *c, wm_table *t);

/** Results: make the cells of a region's rows, over the runs in which `runs` has values or nulls. node
 *  UINT32_MAX and runs NULL: of a configuration without regions. */
void wmi_collected_cells_make(wmi_collected_columns *c, uint32_t config, uint32_t node,
                              const wmi_series *runs);
/** Put them into a row. */
wm_status wmi_collected_cells_put(const wmi_collected_columns *c, wm_table *t, size_t row);
/** Samples: fill `count` rows from `row` on, those of the series' values from `from` on. */
wm_status wmi_collected_fill(const wmi_collected_columns *c, wm_table *t, size_t row, size_t count,
                             const wmi_series *s, size_t from);

/** Set flags[i] for each column of the table that holds what a collector said. WM_ENOMEM. */
wm_status wmi_collected_find(const wm_table *t, bool *flags);

#endif
