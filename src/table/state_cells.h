/** What a row says of the machine's state in the runs behind it. Private to table/. */
#ifndef WMI_TABLE_STATE_CELLS_H
#define WMI_TABLE_STATE_CELLS_H

#include "samples/samples.h"
#include "table/table.h"

/** The state of the runs in which a series has values, summed up once for series that have the same. */
typedef struct wmi_state_cells {
    const wmi_series *of; /* whose the summary is; NULL: none yet */
    bool known;           /* some run's state was read */
    wmi_state_summary summary;
} wmi_state_cells;

/** The summary for a series: NULL where no state was read. */
const wmi_state_summary *wmi_state_cells_of(wmi_state_cells *cells, const wmi_samples *samples,
                                            const wmi_series *series);
/** Put what sensors said into the columns from `first` on, in the order of WMI_STATE_COLUMNS, of `count`
 * rows.
 */
wm_status wmi_state_cells_put(wm_table *t, size_t row, size_t count, size_t first, const wmi_sensed *sensed);

#endif
