/** The collectors of --collect. Private to sweep/. */
#ifndef WMI_SWEEP_COLLECT_BUILT_IN_H
#define WMI_SWEEP_COLLECT_BUILT_IN_H

#include "warpmeter.h"

/** One of them. All are called once. */
typedef struct wmi_built_in {
    bool (*collect)(void *user, wm_state *st, const char *region, wm_value *out);
    const char *column;   /* static; of env:NAME what is before the name */
    const char *variable; /* env:NAME: the name, in the word; else NULL. It is the function's `user`, which is
                             the sweep for all others */
    bool of_device;       /* it tells of the device in use, which is certain only after a run */
} wmi_built_in;

/** What a word of --collect means, such as "git" or "env:HOME". WM_EINVAL: nothing, with the nearest;
 *  WM_ENOMEM. */
wm_status wmi_built_in_find(const char *word, wmi_built_in *out, wm_error *err);

#endif
