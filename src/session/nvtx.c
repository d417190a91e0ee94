#include "session/nvtx.h"

#include <stddef.h>

#ifdef WM_HAVE_NVTX

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The header makes weak symbols, so that several files can share them. One file needs none, and the archive
 * is to define nothing that a program has too. */
#define NVTX_SUPPORT_STATIC_INJECTION_LIBRARY 0
#include <nvtx3/nvtxDetail/nvtxLinkOnce.h>
#undef NVTX_LINKONCE_DEFINE_GLOBAL
#undef NVTX_LINKONCE_DEFINE_FUNCTION
#undef NVTX_LINKONCE_FWDDECL_GLOBAL
#undef NVTX_LINKONCE_FWDDECL_FUNCTION
#define NVTX_LINKONCE_DEFINE_GLOBAL    static
#define NVTX_LINKONCE_DEFINE_FUNCTION  static
#define NVTX_LINKONCE_FWDDECL_GLOBAL   static
#define NVTX_LINKONCE_FWDDECL_FUNCTION static
#include <nvtx3/nvToolsExt.h>

struct wmi_nvtx {
    nvtxDomainHandle_t regions, steps;
    char *name;
    wmi_nvtx *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wmi_nvtx *all;

bool wmi_nvtx_built(void) { return true; }

static wmi_nvtx *make(const char *domain) {
    static const char suffix[] = ".steps";
    const size_t n = strlen(domain);
    struct nvtxDomainRegistration_st *regions = nvtxDomainCreateA(domain);
    wmi_nvtx *made = regions ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    made->name = malloc(n + sizeof suffix);
    if (!made->name) {
        free(made);
        return NULL;
    }
    memcpy(made->name, domain, n);
    memcpy(made->name + n, suffix, sizeof suffix);
    made->regions = regions;
    made->steps = nvtxDomainCreateA(made->name);
    made->name[n] = '\0'; /* the tool has copied it */
    return made;
}

const wmi_nvtx *wmi_nvtx_of(const char *domain) {
    pthread_mutex_lock(&lock);
    wmi_nvtx *found = all;
    while (found && strcmp(found->name, domain) != 0) found = found->next;
    if (!found && (found = make(domain)) != NULL) {
        found->next = all;
        all = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static uint64_t begin(nvtxDomainHandle_t domain, const char *text) {
    const nvtxEventAttributes_t about = {.version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                         .message = {.ascii = text}};
    return nvtxDomainRangeStartEx(domain, &about);
}

static void end(nvtxDomainHandle_t domain, uint64_t range) {
    if (range != WMI_NVTX_NONE) nvtxDomainRangeEnd(domain, range);
}

uint64_t wmi_nvtx_region_begin(const wmi_nvtx *nvtx, const char *name) { return begin(nvtx->regions, name); }
void wmi_nvtx_region_end(const wmi_nvtx *nvtx, uint64_t range) { end(nvtx->regions, range); }
uint64_t wmi_nvtx_step_begin(const wmi_nvtx *nvtx, const char *text) { return begin(nvtx->steps, text); }
void wmi_nvtx_step_end(const wmi_nvtx *nvtx, uint64_t range) { end(nvtx->steps, range); }

#else

bool wmi_nvtx_built(void) { return false; }

const wmi_nvtx *wmi_nvtx_of(const char *domain) {
    (void)domain;
    return NULL;
}

uint64_t wmi_nvtx_region_begin(const wmi_nvtx *nvtx, const char *name) {
    (void)nvtx;
    (void)name;
    return WMI_NVTX_NONE;
}

void wmi_nvtx_region_end(const wmi_nvtx *nvtx, uint64_t range) {
    (void)nvtx;
    (void)range;
}

uint64_t wmi_nvtx_step_begin(const wmi_nvtx *nvtx, const char *text) {
    (void)nvtx;
    (void)text;
    return WMI_NVTX_NONE;
}

void wmi_nvtx_step_end(const wmi_nvtx *nvtx, uint64_t range) {
    (void)nvtx;
    (void)range;
}

#endif
