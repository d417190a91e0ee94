#include "backend/cpu/pfm_dl.h"

#if __has_include(<perfmon/pfmlib_perf_event.h>)

#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/dl.h"
#include "base/text.h"

#define PFM_SYMBOLS(X)                                                                                       \
    X(pfm_initialize)                                                                                        \
    X(pfm_strerror)                                                                                          \
    X(pfm_get_version)                                                                                       \
    X(pfm_get_pmu_info)                                                                                      \
    X(pfm_get_event_next)                                                                                    \
    X(pfm_get_event_info)                                                                                    \
    X(pfm_get_event_attr_info)                                                                               \
    X(pfm_get_os_event_encoding)

/* The library keeps state of its own and is not safe to call from two threads: every call is made under the
 * lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool open;
    const char *path;
#define PFM_SLOT(name) __typeof__(&name) name;
    PFM_SYMBOLS(PFM_SLOT)
#undef PFM_SLOT
} lib;

static wm_status open_library(wm_error *err) {
    if (lib.open) return WM_OK;
#define PFM_ENTRY(name) {#name, (void **)(void *)&lib.name, false},
    static const wmi_dl_symbol symbols[] = {PFM_SYMBOLS(PFM_ENTRY)};
#undef PFM_ENTRY
    static const char *const names[] = {"libpfm.so.4", NULL};
    static const wmi_dl_spec spec = {.what = "libpfm4",
                                     .env = "WARPMETER_LIBPFM4",
                                     .names = names,
                                     .symbols = symbols,
                                     .symbol_count = sizeof symbols / sizeof symbols[0],
                                     .package = "libpfm4"};
    void *handle;
    wm_status status = wmi_dl_open(&spec, &handle, &lib.path, err);
    if (status != WM_OK) return status;
    int code = lib.pfm_initialize();
    if (code != PFM_SUCCESS)
        return wmi_error_set(err, WM_EUNSUPPORTED, code, "libpfm4 could not start: %s",
                             lib.pfm_strerror(code));
    lib.open = true;
    return WM_OK;
}

static int encode(const char *name, int modes, struct perf_event_attr *attr, int *event) {
    memset(attr, 0, sizeof *attr);
    pfm_perf_encode_arg_t arg;
    memset(&arg, 0, sizeof arg);
    arg.attr = attr;
    arg.size = sizeof arg;
    int code = lib.pfm_get_os_event_encoding(name, modes, PFM_OS_PERF_EVENT, &arg);
    *event = arg.idx;
    return code;
}

static void describe(int event, char *text, size_t n) {
    pfm_event_info_t info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    bool known = lib.pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) == PFM_SUCCESS && info.desc;
    snprintf(text, n, "%s", known ? info.desc : "event of libpfm4");
}

/* A name asks for kernel code when it gets it though the default is user code alone. */
static wm_status encode_locked(const char *name, wmi_pfm_event *out, wm_error *err) {
    struct perf_event_attr attr, user_default;
    int event;
    int code = encode(name, PFM_PLM0 | PFM_PLM3, &attr, &event);
    if (code == PFM_ERR_NOMEM) return wmi_error_nomem(err);
    if (code != PFM_SUCCESS)
        return wmi_error_set(err, WM_ENOTFOUND, code, "libpfm4 says of '%s': %s", name,
                             lib.pfm_strerror(code));
    *out = (wmi_pfm_event){.type = attr.type,
                           .config = attr.config,
                           .config1 = attr.config1,
                           .config2 = attr.config2,
                           .exclude_user = attr.exclude_user,
                           .exclude_kernel = attr.exclude_kernel,
                           .exclude_hv = attr.exclude_hv,
                           .exclude_guest = attr.exclude_guest,
                           .exclude_host = attr.exclude_host};
    describe(event, out->text, sizeof out->text);
    out->asks_kernel =
        encode(name, PFM_PLM3, &user_default, &event) == PFM_SUCCESS && !user_default.exclude_kernel;
    return WM_OK;
}

wm_status wmi_pfm_encode(const char *name, wmi_pfm_event *out, wm_error *err) {
    pthread_mutex_lock(&lock);
    wm_status status = open_library(err);
    if (status == WM_OK) status = encode_locked(name, out, err);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- listing ---- */

/* Names are gathered with a NUL after each, and handed on when the lock is free again. */
static void gather_event(const char *pmu, int event, wmi_buf *names) {
    pfm_event_info_t info;
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    if (lib.pfm_get_event_info(event, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS) return;
    wmi_buf_printf(names, "%s::%s", pmu, info.name);
    wmi_buf_add(names, "", 1);
    for (int i = 0; i < info.nattrs; i++) {
        pfm_event_attr_info_t attribute;
        memset(&attribute, 0, sizeof attribute);
        attribute.size = sizeof attribute;
        if (lib.pfm_get_event_attr_info(event, i, PFM_OS_PERF_EVENT, &attribute) != PFM_SUCCESS) continue;
        if (attribute.type != PFM_ATTR_UMASK) continue;
        wmi_buf_printf(names, "%s::%s:%s", pmu, info.name, attribute.name);
        wmi_buf_add(names, "", 1);
    }
}

static void gather_all(wmi_buf *names) {
    for (int i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu;
        memset(&pmu, 0, sizeof pmu);
        pmu.size = sizeof pmu;
        if (lib.pfm_get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || !pmu.is_present) continue;
        for (int event = pmu.first_event; event >= 0; event = lib.pfm_get_event_next(event))
            gather_event(pmu.name, event, names);
    }
}

wm_status wmi_pfm_list(wmi_pfm_each each, void *user, wm_error *err) {
    wmi_buf names = WMI_BUF_INIT;
    pthread_mutex_lock(&lock);
    wm_status status = open_library(err);
    if (status == WM_OK) gather_all(&names);
    pthread_mutex_unlock(&lock);
    if (names.failed) status = wmi_error_nomem(err);
    for (size_t at = 0; at < names.len && status == WM_OK; at += strlen(names.data + at) + 1)
        status = each(user, names.data + at);
    wmi_buf_free(&names);
    return status;
}

wm_status wmi_pfm_library(char version[16], const char **path, wm_error *err) {
    pthread_mutex_lock(&lock);
    wm_status status = open_library(err);
    if (status == WM_OK) {
        int v = lib.pfm_get_version();
        snprintf(version, 16, "%d.%d", PFM_MAJ_VERSION(v), PFM_MIN_VERSION(v));
        *path = lib.path;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

#else

static wm_status not_built(wm_error *err) {
    return wmi_error_set(err, WM_EUNSUPPORTED, 0,
                         "built without libpfm4: install the package libpfm4-dev and build again");
}

wm_status wmi_pfm_encode(const char *name, wmi_pfm_event *out, wm_error *err) {
    (void)name;
    (void)out;
    return not_built(err);
}

wm_status wmi_pfm_list(wmi_pfm_each each, void *user, wm_error *err) {
    (void)each;
    (void)user;
    return not_built(err);
}

wm_status wmi_pfm_library(char version[16], const char **path, wm_error *err) {
    (void)version;
    (void)path;
    return not_built(err);
}

#endif
