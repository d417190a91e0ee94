/** muParser's C interface, opened at its first use. The types are declared here,
 *  so that building needs no header of it. Private to formula/. */
#ifndef WMI_FORMULA_MUPARSER_DL_H
#define WMI_FORMULA_MUPARSER_DL_H

#include "base/error.h"

/* X(name, result, arguments): what is used of it, in every release with the
 * soname libmuparser.so.2. Errors never leave these calls: they set a flag that
 * mupError reads and clears. mupGetErrorMsg and its like are left out on purpose,
 * because they share one static buffer. */
#define WMI_MUPARSER_SYMBOLS(X)                                                                              \
    X(mupCreate, void *, (int base_type))                                                                    \
    X(mupRelease, void, (void *parser))                                                                      \
    X(mupGetVersion, const char *, (void *parser))                                                           \
    X(mupSetArgSep, void, (void *parser, char separator))                                                    \
    X(mupDefineVar, void, (void *parser, const char *name, double *value))                                   \
    X(mupSetExpr, void, (void *parser, const char *expression))                                              \
    X(mupEval, double, (void *parser))                                                                       \
    X(mupError, int, (void *parser))                                                                         \
    X(mupGetErrorCode, int, (void *parser))

typedef struct wmi_muparser {
#define WMI_MUPARSER_SLOT(name, result, arguments) result(*name) arguments;
    WMI_MUPARSER_SYMBOLS(WMI_MUPARSER_SLOT)
#undef WMI_MUPARSER_SLOT
    char version[32];
    const char *path;
} wmi_muparser;

enum { WMI_MUPARSER_DOUBLE = 0 }; /* mupCreate's base type */

/** The opened library; *out lives for ever. WM_EUNSUPPORTED names the package. Any
 *  thread. */
wm_status wmi_muparser_open(const wmi_muparser **out, wm_error *err);

#endif
