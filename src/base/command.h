/** Running another program for what it prints. */
#ifndef WMI_BASE_COMMAND_H
#define WMI_BASE_COMMAND_H

#include "base/text.h"

typedef struct wmi_command {
    const char *const *argv; /**< argv[0] is found along PATH */
    int64_t limit_ns;        /**< after so long it is killed; 0: it may take as long as it does */
    size_t most;             /**< bytes that it may print; 0: as many as it does */
    wmi_buf *errors;         /**< gets what it prints on its standard error; NULL: that is thrown away */
} wmi_command;

/** Run it in the locale C, with nothing on its standard input and no shell between, and append what it
 *  prints to *out. *exit_status: its own, or 128 and the signal that ended it.
 *  WM_ENOTFOUND: there is no such program; WM_EUNSUPPORTED: it took too long, or printed too much; WM_EIO;
 *  WM_ENOMEM. The controlling thread waits for it. */
wm_status wmi_command_output(const wmi_command *command, wmi_buf *out, int *exit_status, wm_error *err);

#endif
