/** The findings of `doctor` as text: long reasons and remedies need lines of their
 *  own. */
#ifndef WMI_SINK_DOCTOR_H
#define WMI_SINK_DOCTOR_H

#include "table/table.h"

/** Has the table the kind and the columns that wmi_doctor_text reads? */
bool wmi_is_doctor(const wm_table *t);
void wmi_doctor_text(const wm_table *t, const wm_write_opts *opts, wmi_buf *out);

#endif
