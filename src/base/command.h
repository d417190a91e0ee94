/** Running another program for what it prints. */
#ifndef WMI_BASE_COMMAND_H
#define WMI_BASE_COMMAND_H

#include "base/text.h"

/** Run argv[0], found along PATH, with nothing on its standard input, its errors thrown away and no shell
 *  between, and append what it prints, a megabyte at most. *exit_status: its own, or 128 and the signal that
 *  ended it. After `limit_ns` it is killed.
 *  WM_ENOTFOUND: there is no such program; WM_EUNSUPPORTED: it took too long, or printed too much; WM_EIO;
 *  WM_ENOMEM. The controlling thread waits for it. */
wm_status wmi_command_output(const char *const *argv, int64_t limit_ns, wmi_buf *out, int *exit_status,
                             wm_error *err);

#endif
