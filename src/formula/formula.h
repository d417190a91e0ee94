/** formula/: formulas over named numbers, through muParser's C interface, which
 *  is opened at the first formula. Includes base/ only. */
#ifndef WMI_FORMULA_FORMULA_H
#define WMI_FORMULA_FORMULA_H

#include "base/error.h"

typedef struct wmi_formula wmi_formula;

/** Parse `name = expression [unit]`: the unit in brackets may be left out. A name
 *  that is not a plain identifier is written in back quotes:
 *  `page-faults`/n. Operators and functions are muParser's (+ - * / ^, min, max,
 *  sqrt, log2, ...; ?:, comparisons, && and || too); _pi and _e are constants.
 *  Assignment, a comma outside a function's arguments and strings are refused, and
 *  so is a text of more than 4096 bytes or 200 levels.
 *  Returns WM_OK; WM_EPARSE (the message shows the formula and the place);
 *          WM_EUNSUPPORTED (muParser cannot be opened; names the package);
 *          WM_ENOMEM. */
wm_status wmi_formula_parse(const char *text, wmi_formula **out, wm_error *err);
void wmi_formula_destroy(wmi_formula *f);
const char *wmi_formula_name(const wmi_formula *f);
const char *wmi_formula_unit(const wmi_formula *f); /* "" when none was given */
const char *wmi_formula_text(const wmi_formula *f);
/** The distinct names that the expression uses, in order of first use. */
size_t wmi_formula_inputs(const wmi_formula *f);
const char *wmi_formula_input(const wmi_formula *f, size_t i);
/** Evaluate with in[i] for input i. Returns false, *out untouched, when an input or
 *  the result is not finite. One thread at a time for one formula. */
bool wmi_formula_eval(wmi_formula *f, const double *in, double *out);
/** Whether muParser can be opened, its version and path (borrowed), for doctor. */
wm_status wmi_formula_library(const char **version, const char **path, wm_error *err);

#endif
