/** libpfm4's event names, through the library opened at its first use. Building
 *  takes its headers (package libpfm4-dev); without them every call here says
 *  that support was not built. Any thread. */
#ifndef WMI_BACKEND_CPU_PFM_DL_H
#define WMI_BACKEND_CPU_PFM_DL_H

#include "base/error.h"

/** An event as the kernel takes it. The library has its own copy of the kernel's
 *  header, which must not meet the system's: hence a type of our own. */
typedef struct wmi_pfm_event {
    uint32_t type;
    uint64_t config, config1, config2;
    bool exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host;
    bool asks_kernel; /* the name itself asks for kernel code */
    char text[256];   /* the library's description */
} wmi_pfm_event;

/** Look up a name such as perf::CYCLES:u or INST_RETIRED:ANY. Names without a PMU
 *  are looked for in those that this machine has.
 *  WM_ENOTFOUND (the library's own words are in the message); WM_EUNSUPPORTED (no
 *  library: names the package). */
wm_status wmi_pfm_encode(const char *name, wmi_pfm_event *out, wm_error *err);

/** Call `each` for every name of every PMU that this machine has: events as
 *  PMU::EVENT, and as PMU::EVENT:UMASK for each of their unit masks. Ends early
 *  with what `each` returns when that is not WM_OK. `each` may encode. */
typedef wm_status (*wmi_pfm_each)(void *user, const char *name);
wm_status wmi_pfm_list(wmi_pfm_each each, void *user, wm_error *err);

/** The library's version and path, for doctor. */
wm_status wmi_pfm_library(char version[16], const char **path, wm_error *err);

#endif
