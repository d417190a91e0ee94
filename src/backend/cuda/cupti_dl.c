#include "backend/cuda/cupti_dl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/places.h"
#include "base/dl.h"

enum { OLDEST = 24 }; /* 12.6 */

wmi_cupti_api wmi_cupti;

/* Set before the first load returns; the text before the number. */
static const char *_Atomic path, *_Atomic nvperf_path;
static char version_text[16];
static _Atomic uint32_t version;

/* Up to 12.9 they were counted; since then the number holds the toolkit's version. */
void wmi_cupti_version_name(uint32_t number, char out[16]) {
    static const char *const counted[] = {
        [1] = "4.0",   [2] = "4.1",   [3] = "5.0",   [4] = "5.5",     [5] = "6.0",   [6] = "6.5",
        [7] = "6.5",   [8] = "7.0",   [9] = "8.0",   [10] = "9.0",    [11] = "9.1",  [12] = "10.0",
        [13] = "11.0", [14] = "11.1", [15] = "11.2", [16] = "11.5",   [17] = "11.6", [18] = "11.8",
        [19] = "12.0", [20] = "12.2", [21] = "12.3", [22] = "12.4",   [23] = "12.5", [24] = "12.6",
        [25] = "12.7", [26] = "12.8", [27] = "12.9", [28] = "12.9.1",
    };
    unsigned major = number / 10000, minor = number / 100 % 100, update = number % 100;
    if (number < sizeof counted / sizeof *counted && counted[number])
        snprintf(out, 16, "%s", counted[number]);
    else if (major == 0)
        snprintf(out, 16, "number %u", number);
    else if (update == 0)
        snprintf(out, 16, "%u.%u", major, minor);
    else
        snprintf(out, 16, "%u.%u.%u", major, minor, update);
}

/* Without the function the symbols' own check names it. */
static wm_status check_version(void *handle, const char *where, wm_error *err) {
    CUptiResult (*get_version)(uint32_t *) = NULL;
    void *address = dlsym(handle, "cuptiGetVersion");
    uint32_t number = 0;
    if (!address) return WM_OK;
    memcpy(&get_version, &address, sizeof address);
    CUptiResult code = get_version(&number);
    if (code != CUPTI_SUCCESS)
        return wmi_error_set(err, WM_EUNSUPPORTED, (int)code,
                             "libcupti at %.100s does not start (cuptiGetVersion gave %d), since newer ones "
                             "need NVIDIA's driver even to list metrics; install the driver, or set "
                             "WARPMETER_LIBCUPTI to the path of an older one, such as 13.0",
                             where, (int)code);
    char name[16];
    wmi_cupti_version_name(number, name);
    if (number < OLDEST)
        return wmi_error_set(
            err, WM_EUNSUPPORTED, 0,
            "libcupti at %.100s is of CUDA %s, and 12.6 or newer is needed; install python3's "
            "nvidia-cuda-cupti or a newer CUDA toolkit, or set WARPMETER_LIBCUPTI to the path of one",
            where, name);
    memcpy(version_text, name, sizeof name);
    version = number;
    return WM_OK;
}

static wm_status open_library(char *const *places, wm_error *err) {
#define CUPTI_ENTRY(name, optional) {"cupti" #name, (void **)(void *)&wmi_cupti.name, optional},
#define CUPTI_LATER(name, type)     {"cupti" #name, (void **)(void *)&wmi_cupti.name, true},
    static const wmi_dl_symbol symbols[] = {WMI_CUPTI_SYMBOLS(CUPTI_ENTRY)
                                                WMI_CUPTI_LATER_SYMBOLS(CUPTI_LATER)};
#undef CUPTI_LATER
#undef CUPTI_ENTRY
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so", NULL};
    const wmi_dl_spec spec = {
        .what = "libcupti",
        .env = "WARPMETER_LIBCUPTI",
        .names = names,
        .symbols = symbols,
        .symbol_count = sizeof symbols / sizeof symbols[0],
        .remedy = "install the CUDA toolkit or python3's nvidia-cuda-cupti",
        .places = places,
        .check = check_version,
    };
    void *handle = NULL;
    const char *where = NULL;
    wm_status status = wmi_dl_open(&spec, &handle, &where, err);
    if (status == WM_OK) path = where;
    return status;
}

static void *open_in_folder_of(const char *file, const char *name) {
    char beside[4096];
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) : -1;
    if (folder < 0 || snprintf(beside, sizeof beside, "%.*s/%s", folder, file, name) >= (int)sizeof beside)
        return NULL;
    return dlopen(beside, RTLD_NOW | RTLD_LOCAL);
}

/* The libcupti may be a link to another folder. */
static void *open_beside(const char *library, const char *name) {
    void *handle = open_in_folder_of(library, name);
    if (handle) return handle;
    char *real = realpath(library, NULL);
    if (real) handle = open_in_folder_of(real, name);
    free(real);
    return handle;
}

/* libcupti will ask the loader for the bare name, and gets the copy of that soname that is in the process,
 * wherever it came from. It asks for no other library of its folder: libnvperf_target, whose opening takes a
 * tenth of a second, is not needed. */
static void open_nvperf(void) {
    static const char name[] = "libnvperf_host.so";
    void *handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    if (!handle) handle = open_beside(path, name);
    if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle) nvperf_path = wmi_dl_path(handle);
}

static wm_status load(wm_error *err) {
    char **places = wmi_cuda_places("libcupti.so*");
    const wm_status status = places ? open_library(places, err) : wmi_error_nomem(err);
    free(places);
    if (status == WM_OK) open_nvperf();
    return status;
}

wm_status wmi_cupti_load(wm_error *err) {
    static wmi_dl_once once = WMI_DL_ONCE_INIT;
    const wm_status status = wmi_cuda_allowed(err);
    return status == WM_OK ? wmi_dl_open_once(&once, load, err) : status;
}

static const char *known(const char *text) { return text ? text : ""; }

const char *wmi_cupti_path(void) { return known(path); }
const char *wmi_nvperf_path(void) { return known(nvperf_path); }
const char *wmi_cupti_version_text(void) { return wmi_cupti_path()[0] ? version_text : ""; }
uint32_t wmi_cupti_version(void) { return wmi_cupti_path()[0] ? version : 0; }
