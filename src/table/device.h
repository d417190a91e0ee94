/** What a device did for a region, as cells that all its rows share. Private to table/. */
#ifndef WMI_TABLE_DEVICE_H
#define WMI_TABLE_DEVICE_H

#include "table/region.h"

typedef struct wmi_device_cells {
    wm_value kernel, kernels, shared, device;
    wm_value sm_clock_hz, sm_clock_pass, pass_time_ratio;
    wm_value note, bound;
    wmi_buf kernel_text, note_text, bound_text; /* what the cells point into */
} wmi_device_cells;

/** WM_ENOMEM: nothing is left to free. */
wm_status wmi_device_cells_make(const wmi_samples *samples, const wmi_region *region, const wmi_label *labels,
                                size_t label_count, wmi_device_cells *out);
void wmi_device_cells_fini(wmi_device_cells *cells);

#endif
