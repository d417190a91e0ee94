/** Opening shared libraries at run time. A vendor library gets one `*_dl.c`: an
 *  X-macro list of its symbols and a table of places. Never linked against,
 *  never closed once used. */
#ifndef WMI_BASE_DL_H
#define WMI_BASE_DL_H

#include "base/error.h"

typedef struct wmi_dl_symbol {
    const char *name;
    void **slot;
    bool optional; /**< the slot stays NULL where the library lacks it */
} wmi_dl_symbol;

typedef struct wmi_dl_spec {
    const char *what;         /**< for messages: "muParser" */
    const char *env;          /**< variable that overrides the path */
    const char *const *names; /**< tried in order: sonames or paths; NULL ends */
    const wmi_dl_symbol *symbols;
    size_t symbol_count;
    const char *package; /**< remedy: Debian's package name */
} wmi_dl_spec;

/** Open and resolve: the override, else a copy already in the process
 *  (RTLD_NOLOAD | RTLD_LAZY), else the names. *handle and, if not NULL, *path
 *  (borrowed, for ever) are set on success.
 *  WM_EUNSUPPORTED: not found, or a required symbol is missing; the message says
 *  what was tried and names the package. */
wm_status wmi_dl_open(const wmi_dl_spec *spec, void **handle, const char **path, wm_error *err);

#endif
