#include "formula/muparser_dl.h"

#include <pthread.h>
#include <string.h>

#include "base/dl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wmi_muparser library; /* under the lock until `opened` is set; constant after */
static bool opened;

/* What all parsers share is used once, under the lock: the first number that is read fills a cache
 * of the C++ library's, which threads would race for; and mupGetVersion answers in a static buffer,
 * which is copied up to the first blank ("2.3.3 (Release) ..."). */
static void use_once(void) {
    void *parser = library.mupCreate(WMI_MUPARSER_DOUBLE);
    if (!parser) return;
    library.mupSetExpr(parser, "1+1");
    (void)library.mupEval(parser);
    const char *version = library.mupGetVersion(parser);
    size_t n = version ? strcspn(version, " ") : 0;
    if (n >= sizeof library.version) n = sizeof library.version - 1;
    if (n > 0) memcpy(library.version, version, n);
    library.version[n] = '\0';
    library.mupRelease(parser);
}

static wm_status open_locked(wm_error *err) {
#define WMI_MUPARSER_ENTRY(name, result, arguments) {#name, (void **)(void *)&library.name, false},
    static const wmi_dl_symbol symbols[] = {WMI_MUPARSER_SYMBOLS(WMI_MUPARSER_ENTRY)};
#undef WMI_MUPARSER_ENTRY
    static const char *const names[] = {"libmuparser.so.2", NULL};
    static const wmi_dl_spec spec = {.what = "muParser",
                                     .env = "WARPMETER_MUPARSER",
                                     .names = names,
                                     .symbols = symbols,
                                     .symbol_count = sizeof symbols / sizeof symbols[0],
                                     .package = "libmuparser2v5"};
    void *handle = NULL;
    wm_status s = wmi_dl_open(&spec, &handle, &library.path, err);
    if (s) return s;
    use_once();
    opened = true;
    return WM_OK;
}

wm_status wmi_muparser_open(const wmi_muparser **out, wm_error *err) {
    pthread_mutex_lock(&lock);
    wm_status s = opened ? WM_OK : open_locked(err);
    pthread_mutex_unlock(&lock);
    if (s == WM_OK) *out = &library;
    return s;
}
