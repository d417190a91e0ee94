#include "base/dl.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *last_dl_error(void) {
    const char *text = dlerror();
    return text ? text : "unknown error of the dynamic loader";
}

/* RTLD_NOLOAD needs a binding flag: glibc refuses it alone. */
static void *open_loaded(const wmi_dl_spec *spec) {
    for (const char *const *name = spec->names; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOLOAD | RTLD_LAZY);
        if (handle) return handle;
    }
    return NULL;
}

static void *open_new(const wmi_dl_spec *spec) {
    for (const char *const *name = spec->names; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (handle) return handle;
    }
    return NULL;
}

static wm_status not_found(const wmi_dl_spec *spec, wm_error *err) {
    wmi_buf tried = WMI_BUF_INIT;
    for (const char *const *name = spec->names; *name; name++) {
        if (name != spec->names) wmi_buf_str(&tried, ", ");
        wmi_buf_str(&tried, *name);
    }
    wm_status status =
        tried.failed
            ? wmi_error_nomem(err)
            : wmi_error_set(err, WM_EUNSUPPORTED, 0,
                            "%s was not found (tried %s); install the package %s, or set %s to its path",
                            spec->what, tried.data ? tried.data : "nothing", spec->package, spec->env);
    wmi_buf_free(&tried);
    return status;
}

static wm_status open_library(const wmi_dl_spec *spec, void **handle, wm_error *err) {
    const char *override = spec->env ? getenv(spec->env) : NULL;
    if (override && *override) {
        *handle = dlopen(override, RTLD_NOW | RTLD_LOCAL);
        if (!*handle)
            return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s could not be opened from %s: %s", spec->what,
                                 spec->env, last_dl_error());
        return WM_OK;
    }
    *handle = open_loaded(spec);
    if (!*handle) *handle = open_new(spec);
    return *handle ? WM_OK : not_found(spec, err);
}

/* Borrowed from the loader's own list; lives as long as the library is open. */
static const char *library_path(void *handle) {
    struct link_map *map = NULL;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

static const char *missing_symbol(const wmi_dl_spec *spec, void *handle) {
    for (size_t i = 0; i < spec->symbol_count; i++) {
        const wmi_dl_symbol *symbol = &spec->symbols[i];
        if (!symbol->optional && !dlsym(handle, symbol->name)) return symbol->name;
    }
    return NULL;
}

/* A slot is most often a pointer to a function: its bytes are set, not an object of
 * type void pointer that is not there. */
static void fill_slots(const wmi_dl_spec *spec, void *handle) {
    for (size_t i = 0; i < spec->symbol_count; i++) {
        void *address = dlsym(handle, spec->symbols[i].name);
        memcpy(spec->symbols[i].slot, &address, sizeof address);
    }
}

wm_status wmi_dl_open(const wmi_dl_spec *spec, void **handle, const char **path, wm_error *err) {
    void *opened = NULL;
    wm_status status = open_library(spec, &opened, err);
    if (status != WM_OK) return status;
    const char *missing = missing_symbol(spec, opened);
    if (missing) {
        wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s at %s lacks %s: it may be too old; the package is %s",
                      spec->what, library_path(opened), missing, spec->package);
        dlclose(opened);
        return WM_EUNSUPPORTED;
    }
    fill_slots(spec, opened);
    *handle = opened;
    if (path) *path = library_path(opened);
    return WM_OK;
}
