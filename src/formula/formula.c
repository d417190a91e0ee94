#include "formula/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formula/muparser_dl.h"
#include "formula/scan.h"

struct wmi_formula {
    char *text, *name, *unit;
    char **inputs;
    size_t input_count;
    double *values; /* inputs, then numbers: muParser reads them in place */
    const wmi_muparser *mu;
    void *parser;
};

/* Where the parts of a formula lie in its text. */
typedef struct layout {
    size_t name, name_len;
    size_t expression, expression_end;
    size_t unit, unit_len;
} layout;

static size_t skip_blanks(const char *text, size_t at, size_t end) {
    while (at < end && wmi_scan_blank(text[at])) at++;
    return at;
}

static size_t trim_end(const char *text, size_t at, size_t end) {
    while (end > at && wmi_scan_blank(text[end - 1])) end--;
    return end;
}

/* ---- name = expression [unit] ---- */

static wm_status find_name(const char *text, size_t end, layout *out, wm_error *err) {
    size_t at = skip_blanks(text, 0, end), after;
    out->name = at;
    if (text[at] == '`') {
        const char *close = strchr(text + at + 1, '`');
        if (!close) return wmi_scan_error(text, at, err, "a back quote without its partner");
        out->name = at + 1;
        out->name_len = (size_t)(close - text) - out->name;
        after = out->name + out->name_len + 1;
        if (out->name_len == 0) return wmi_scan_error(text, at, err, "an empty name in back quotes");
    } else {
        if (wmi_scan_word_start(text[at]))
            while (wmi_scan_word(text[out->name + out->name_len])) out->name_len++;
        after = out->name + out->name_len;
    }
    at = skip_blanks(text, after, end);
    if (out->name_len == 0 || text[at] != '=' || text[at + 1] == '=')
        return wmi_scan_error(text, at, err,
                              "name = expression [unit] is expected, name a word or in back quotes");
    out->expression = at + 1;
    return WM_OK;
}

static wm_status find_unit(const char *text, size_t end, layout *out, wm_error *err) {
    out->expression_end = end;
    if (text[end - 1] != ']') return WM_OK;
    size_t open = end - 1;
    while (open > out->expression && text[open] != '[') open--;
    if (text[open] != '[') return wmi_scan_error(text, end - 1, err, "a ']' without its '['");
    out->expression_end = open;
    out->unit = skip_blanks(text, open + 1, end - 1);
    out->unit_len = trim_end(text, out->unit, end - 1) - out->unit;
    for (size_t i = out->unit; i < out->unit + out->unit_len; i++)
        if (text[i] == ']' || text[i] == '`' || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return wmi_scan_error(text, i, err, "a character that no unit has");
    return WM_OK;
}

static wm_status find_parts(const char *text, layout *out, wm_error *err) {
    size_t n = strlen(text);
    if (n > WMI_FORMULA_LENGTH_MAX)
        return wmi_error_set(err, WM_EPARSE, 0, "formula '%.40s...': %zu bytes are more than the %d allowed",
                             text, n, WMI_FORMULA_LENGTH_MAX);
    size_t end = trim_end(text, 0, n);
    wm_status s = find_name(text, end, out, err);
    return s ? s : find_unit(text, end, out, err);
}

/* ---- muParser ---- */

static void define(const wmi_formula *f, char kind, size_t number, double *value) {
    char name[24];
    snprintf(name, sizeof name, "%c%zu", kind, number);
    f->mu->mupDefineVar(f->parser, name, value);
}

/* muParser reads the expression at the first evaluation. The inputs are 1 for it,
 * where few formulas divide by zero. */
static wm_status compile(wmi_formula *f, const wmi_scan *scan, wm_error *err) {
    wm_status s = wmi_muparser_open(&f->mu, err);
    if (s) return s;
    f->parser = f->mu->mupCreate(WMI_MUPARSER_DOUBLE);
    if (!f->parser) return wmi_error_nomem(err);
    f->mu->mupSetArgSep(f->parser, ';');
    for (size_t i = 0; i < scan->input_count; i++) {
        f->values[i] = 1.0;
        define(f, 'v', i, &f->values[i]);
    }
    for (size_t i = 0; i < scan->number_count; i++) {
        f->values[scan->input_count + i] = scan->numbers[i];
        define(f, 'k', i, &f->values[scan->input_count + i]);
    }
    f->mu->mupSetExpr(f->parser, scan->code.data);
    (void)f->mu->mupEval(f->parser);
    if (f->mu->mupError(f->parser))
        return wmi_error_set(err, WM_EPARSE, 0, "muParser %s cannot read the formula '%.200s' (its error %d)",
                             f->mu->version, f->text, f->mu->mupGetErrorCode(f->parser));
    return WM_OK;
}

static wm_status build(wmi_formula *f, const char *text, const layout *parts, wmi_scan *scan, wm_error *err) {
    f->text = wmi_strdup(text);
    f->name = wmi_strndup(text + parts->name, parts->name_len);
    f->unit = wmi_strndup(text + parts->unit, parts->unit_len);
    f->values = calloc(scan->input_count + scan->number_count + 1, sizeof *f->values);
    if (!f->text || !f->name || !f->unit || !f->values) return wmi_error_nomem(err);
    f->inputs = scan->inputs;
    f->input_count = scan->input_count;
    wm_status s = compile(f, scan, err);
    scan->inputs = NULL;
    scan->input_count = 0;
    return s;
}

wm_status wmi_formula_parse(const char *text, wmi_formula **out, wm_error *err) {
    layout parts = {0};
    wmi_scan scan;
    wm_status s = find_parts(text, &parts, err);
    if (s == WM_OK) s = wmi_scan_expression(text, parts.expression, parts.expression_end, &scan, err);
    if (s) return s;
    wmi_formula *f = calloc(1, sizeof *f);
    s = f ? build(f, text, &parts, &scan, err) : wmi_error_nomem(err);
    wmi_scan_free(&scan);
    if (s)
        wmi_formula_destroy(f);
    else
        *out = f;
    return s;
}

void wmi_formula_destroy(wmi_formula *f) {
    if (!f) return;
    if (f->parser) f->mu->mupRelease(f->parser);
    for (size_t i = 0; i < f->input_count; i++) free(f->inputs[i]);
    free(f->inputs);
    free(f->values);
    free(f->unit);
    free(f->name);
    free(f->text);
    free(f);
}

const char *wmi_formula_name(const wmi_formula *f) { return f->name; }
const char *wmi_formula_unit(const wmi_formula *f) { return f->unit; }
const char *wmi_formula_text(const wmi_formula *f) { return f->text; }
size_t wmi_formula_inputs(const wmi_formula *f) { return f->input_count; }
const char *wmi_formula_input(const wmi_formula *f, size_t i) {
    return i < f->input_count ? f->inputs[i] : NULL;
}

bool wmi_formula_eval(wmi_formula *f, const double *in, double *out) {
    for (size_t i = 0; i < f->input_count; i++) {
        if (!isfinite(in[i])) return false;
        f->values[i] = in[i];
    }
    double x = f->mu->mupEval(f->parser);
    if (f->mu->mupError(f->parser) || !isfinite(x)) return false;
    *out = x;
    return true;
}

wm_status wmi_formula_library(const char **version, const char **path, wm_error *err) {
    const wmi_muparser *mu = NULL;
    wm_status s = wmi_muparser_open(&mu, err);
    if (s) return s;
    if (version) *version = mu->version;
    if (path) *path = mu->path;
    return WM_OK;
}
