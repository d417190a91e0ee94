/** Opening shared libraries at run time. A vendor library gets one `*_dl.c`: an
 *  X-macro list of its symbols and a table of places. Never linked against,
 *  never closed once used. */
#ifndef WMI_BASE_DL_H
#define WMI_BASE_DL_H

#include <pthread.h>

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
    const char *remedy;  /**< says more than "install the package ..."; NULL: that */
    char *const *places; /**< paths tried before the names; NULL ends; NULL: none */
    /** Is this library fit for use? NULL: every one is. It may call the library, which is
     *  therefore never closed again, fit or not. */
    wm_status (*check)(void *handle, const char *path, wm_error *err);
} wmi_dl_spec;

/** Open and resolve: the override, else a copy already in the process
 *  (RTLD_NOLOAD | RTLD_LAZY), else the first of the places and names that is fit for use: it
 *  passes the check and has the symbols. *handle and, if not NULL, *path (borrowed, for ever)
 *  and the slots are set on success.
 *  WM_EUNSUPPORTED: not found, or a required symbol is missing; the message says
 *  what was tried, or what the first that was found lacks, and what to do. Else what the check
 *  returned. */
wm_status wmi_dl_open(const wmi_dl_spec *spec, void **handle, const char **path, wm_error *err);
/** What a process opens at most once: the first outcome is every later one, but for want of memory. */
typedef struct wmi_dl_once {
    pthread_mutex_t lock;
    bool decided; /* this and the next two under the lock */
    wm_status outcome;
    wm_error failure;
} wmi_dl_once;
#define WMI_DL_ONCE_INIT                                                                                     \
    { .lock = PTHREAD_MUTEX_INITIALIZER }
/** Call `open`, unless it is decided what comes of it. Any thread. */
wm_status wmi_dl_open_once(wmi_dl_once *once, wm_status (*open)(wm_error *err), wm_error *err);

/** The path of an open library; "" for NULL, and where the loader does not tell. Lives as long as it is open.
 */
const char *wmi_dl_path(void *handle);

#endif
