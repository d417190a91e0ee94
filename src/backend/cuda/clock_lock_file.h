/** Who holds a device's clocks: a file named by its UUID, in the run folder, with the process and what it has
 *  locked. It outlives a process that was killed, so that the lock is found and undone.
 *
 *  The run folder is WARPMETER_RUN_DIR; else for root /run/warpmeter, for others $XDG_RUNTIME_DIR/warpmeter
 * or /tmp/warpmeter-UID. Root's is looked at by all. An empty file stands for no lock: it is not removed, for
 *  somebody else may be opening it. */
#ifndef WMI_BACKEND_CUDA_CLOCK_LOCK_FILE_H
#define WMI_BACKEND_CUDA_CLOCK_LOCK_FILE_H

#include "base/error.h"

typedef enum wmi_clock_holder_state {
    WMI_CLOCKS_NOBODYS = 0,
    WMI_CLOCKS_OURS,       /* this process's */
    WMI_CLOCKS_ANOTHERS,   /* that of a process which lives */
    WMI_CLOCKS_LEFT_BEHIND /* that of a process which is gone */
} wmi_clock_holder_state;
typedef struct wmi_clock_holder {
    wmi_clock_holder_state state;
    long long pid;
    char what[40]; /* "base", "1410 MHz" */
} wmi_clock_holder;

/** Who holds the clocks of the device, as far as files tell. */
void wmi_clock_holder_find(const char *uuid, wmi_clock_holder *out);
/** Write that this process holds them. One that is gone is written over; WM_EBUSY names one that lives, or
 *  says that it is this one; WM_EIO: the folder or the file cannot be made. */
wm_status wmi_clock_holder_claim(const char *uuid, const char *what, wm_error *err);
/** Nobody does any more, if this process did. */
void wmi_clock_holder_release(const char *uuid);

#endif
