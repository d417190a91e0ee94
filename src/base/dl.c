#include "base/dl.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
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

static wm_status not_found(const wmi_dl_spec *spec, const char *remedy, wm_error *err) {
    wmi_buf tried = WMI_BUF_INIT;
    for (const char *const *name = spec->names; *name; name++) {
        if (name != spec->names) wmi_buf_str(&tried, ", ");
        wmi_buf_str(&tried, *name);
    }
    bool failed = tried.failed;
    if (!failed)
        (void)wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s was not found (tried %s); %s, or set %s to its path",
                            spec->what, tried.data ? tried.data : "nothing", remedy, spec->env);
    wmi_buf_free(&tried);
    return failed ? wmi_error_nomem(err) : WM_EUNSUPPORTED;
}

/* Borrowed from the loader's own list. */
const char *wmi_dl_path(void *handle) {
    struct link_map *map = NULL;
    return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

static const char *missing_symbol(const wmi_dl_spec *spec, void *handle) {
    for (size_t i = 0; i < spec->symbol_count; i++) {
        const wmi_dl_symbol *symbol = &spec->symbols[i];
        if (!symbol->optional && !dlsym(handle, symbol->name)) return symbol->name;
    }
    return NULL;
}

/* The check comes first: what it says of an old version explains more than a symbol does. */
static wm_status examine(const wmi_dl_spec *spec, const char *remedy, void *handle, wm_error *err) {
    wm_status status = spec->check ? spec->check(handle, wmi_dl_path(handle), err) : WM_OK;
    if (status != WM_OK) return status;
    const char *missing = missing_symbol(spec, handle);
    if (!missing) return WM_OK;
    return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s at %s lacks %s: it may be too old; %s", spec->what,
                         wmi_dl_path(handle), missing, remedy);
}

/* Of several failures the first is told: it is of the library that was preferred. */
typedef struct search {
    const wmi_dl_spec *spec;
    const char *remedy;
    void *handle;
    wm_error first;
} search;

static void remember(search *s, const wm_error *why) {
    if (s->first.code == WM_OK) s->first = *why;
}

/* Open `path` and keep it when it is fit. False when it cannot be opened. */
static bool consider(search *s, const char *path) {
    wm_error why = WM_ERROR_INIT;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    if (examine(s->spec, s->remedy, handle, &why) == WM_OK) {
        s->handle = handle;
    } else {
        remember(s, &why);
        if (!s->spec->check) dlclose(handle);
    }
    return true;
}

/* Places are files that exist: one that cannot be opened is news, unlike a name that is not there. */
static void search_places(search *s) {
    for (char *const *place = s->spec->places; place && *place && !s->handle; place++) {
        if (consider(s, *place)) continue;
        wm_error why = WM_ERROR_INIT;
        wmi_error_set(&why, WM_EUNSUPPORTED, 0, "%s could not be opened: %s", s->spec->what, last_dl_error());
        remember(s, &why);
    }
}

static wm_status open_new(const wmi_dl_spec *spec, const char *remedy, void **handle, wm_error *err) {
    search s = {.spec = spec, .remedy = remedy};
    search_places(&s);
    for (const char *const *name = spec->names; *name && !s.handle; name++) consider(&s, *name);
    *handle = s.handle;
    if (s.handle) return WM_OK;
    if (s.first.code == WM_OK) return not_found(spec, remedy, err);
    if (err) *err = s.first;
    return s.first.code;
}

static wm_status open_override(const wmi_dl_spec *spec, const char *path, void **handle, wm_error *err) {
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle) return WM_OK;
    (void)wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s could not be opened from %s: %s", spec->what, spec->env,
                        last_dl_error());
    return WM_EUNSUPPORTED;
}

/* A library that the user or the program has chosen is the one, fit or not. */
static wm_status open_library(const wmi_dl_spec *spec, const char *remedy, void **handle, wm_error *err) {
    const char *override = spec->env ? getenv(spec->env) : NULL;
    bool chosen = override && *override;
    if (chosen) {
        wm_status status = open_override(spec, override, handle, err);
        if (status != WM_OK) return status;
    } else {
        *handle = open_loaded(spec);
    }
    if (!*handle) return open_new(spec, remedy, handle, err);
    wm_status status = examine(spec, remedy, *handle, err);
    if (status != WM_OK && !spec->check) dlclose(*handle);
    return status;
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
    char package[128];
    void *opened = NULL;
    snprintf(package, sizeof package, "install the package %s", spec->package ? spec->package : "");
    wm_status status = open_library(spec, spec->remedy ? spec->remedy : package, &opened, err);
    if (status != WM_OK) return status;
    fill_slots(spec, opened);
    *handle = opened;
    if (path) *path = wmi_dl_path(opened);
    return WM_OK;
}

wm_status wmi_dl_open_once(wmi_dl_once *once, wm_status (*open)(wm_error *err), wm_error *err) {
    pthread_mutex_lock(&once->lock);
    if (!once->decided) {
        once->failure = (wm_error)WM_ERROR_INIT;
        once->outcome = open(&once->failure);
        once->decided = once->outcome != WM_ENOMEM;
    }
    const wm_status status = once->outcome;
    if (status != WM_OK && err) *err = once->failure;
    pthread_mutex_unlock(&once->lock);
    return status;
}
