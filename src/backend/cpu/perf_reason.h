/** Why a perf event cannot be had, and what to do about it. */
#ifndef WMI_BACKEND_CPU_PERF_REASON_H
#define WMI_BACKEND_CPU_PERF_REASON_H

#include "base/text.h"

/** Why an event could not be opened: the reason, one line of text, and what to do
 *  about it ("" for nothing). kernel: the event was to count kernel code. */
wm_reason wmi_perf_reason(int native);
void wmi_perf_explain(int native, bool kernel, wmi_buf *text, wmi_buf *remedy);
/** kernel.perf_event_paranoid, or INT_MIN where it cannot be read. */
int wmi_perf_paranoid(void);

#endif
