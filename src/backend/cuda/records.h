/** Activity records: buffers handed to CUPTI, kept in a compact form as they come back, and
 *  joined with the launches. One for the process.
 *
 *  CUPTI's own thread, or one that flushes, hands buffers back: no code of the user's runs
 *  there. A buffer that is not ours (another profiler's, which came second or first) is never
 *  read or freed, and is warned of. Only fields that lie at the same place in every version
 *  are read; those that do not by the layout of the version found. */
#ifndef WMI_BACKEND_CUDA_RECORDS_H
#define WMI_BACKEND_CUDA_RECORDS_H

#include "backend/backend.h"
#include "backend/cuda/launches.h"

/** Register the buffer callbacks; counted. After wmi_launches_attach. WM_ENOMEM; WM_EBUSY. */
wm_status wmi_records_attach(wm_error *err);
void wmi_records_detach(void);
/** What the last attach found wrong in WARPMETER_CUDA_BUFFER (bytes of a buffer: 64 KiB to 1 GiB)
 *  and WARPMETER_KERNEL_RECORDS, in one line: what is used instead. "": nothing. */
const char *wmi_records_warning(void);
/** Switch records of kernels, copies and sets on (stays on until detached: switching on costs
 *  the next kernel milliseconds). WM_OK, or CUPTI's failure. */
wm_status wmi_records_enable(wm_error *err);
/** Wait for the device, switch them off, and forget what came (a late record of a graph would make
 *  those of graphs that are measured later doubtful). Where counters are read, records would make each launch
 *  a millisecond slower, and counters of machine instructions read 0 (seen with CUPTI 13.0). */
void wmi_records_disable(void);
/** Wait for the device, take what CUPTI has, join it with the logged launches, and add one
 *  wmi_record for each kernel, copy and set of a logged launch, in the order of their
 *  correlation numbers: that of a launch without any record has the reason NO_RECORD, of one
 *  whose times cannot be true (begin 0, end before begin, outside the window by years)
 *  INVALID_RECORD. Launches whose entry is WMI_NO_ENTRY are left out. Records of no logged
 *  launch are dropped. A kernel's first launch in the process is flagged.
 *  `ignored` (of opts): patterns on plain names. At most 65,536 at a time, so that memory stays
 *  bounded: when out->more is set, the next call goes on where this one ended (launches stay
 *  stopped meanwhile).
 *  WM_ENOMEM: what was joined so far stays in *out. */
wm_status wmi_records_collect(const wmi_device_opts *opts, wmi_drained *out, wm_error *err);
/** Records that CUPTI or the limit dropped, since the last call. The limit is
 *  WARPMETER_KERNEL_RECORDS in a run (default 4,000,000): recorded + dropped = launched. */
uint64_t wmi_records_dropped(void);
/** Buffers of others that came to us since the last call. */
uint64_t wmi_records_foreign(void);

#endif
