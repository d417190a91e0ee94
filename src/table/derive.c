#include "table/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a derived metric reads ---- */

static size_t count_commas(const char *s) {
    size_t n = 0;
    for (; *s; s++) n += *s == ',';
    return n;
}

/* Cut a comma list in place; blanks around a name do not count, nor do empty ones. */
static size_t cut_list(char *text, const char **names) {
    size_t n = 0;
    char *rest = text;
    for (char *name; (name = strsep(&rest, ","));) {
        name += strspn(name, " \t");
        size_t length = strlen(name);
        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t')) name[--length] = '\0';
        if (length) names[n++] = name;
    }
    return n;
}

static bool open_formula(wmi_derived *d, const wmi_formula *f) {
    d->name = wmi_formula_name(f);
    d->unit = wmi_formula_unit(f);
    d->input_count = wmi_formula_inputs(f);
    d->inputs = malloc((d->input_count + 1) * sizeof *d->inputs);
    for (size_t i = 0; d->inputs && i < d->input_count; i++) d->inputs[i] = wmi_formula_input(f, i);
    return d->inputs != NULL;
}

static bool open_function(wmi_derived *d, const wm_derivation *f) {
    d->name = f->metric;
    d->unit = f->unit ? f->unit : "";
    d->text = wmi_strdup(f->inputs ? f->inputs : "");
    if (!d->text) return false;
    d->inputs = malloc((count_commas(d->text) + 1) * sizeof *d->inputs);
    if (d->inputs) d->input_count = cut_list(d->text, d->inputs);
    return d->inputs != NULL;
}

wmi_derived *wmi_derived_open(const wmi_derive *derive, size_t count) {
    wmi_derived *all = calloc(count + 1, sizeof *all);
    for (size_t i = 0; all && i < count; i++) {
        all[i].how = &derive[i];
        if (derive[i].formula ? open_formula(&all[i], derive[i].formula)
                              : open_function(&all[i], derive[i].derivation))
            continue;
        wmi_derived_close(all, count);
        return NULL;
    }
    return all;
}

void wmi_derived_close(wmi_derived *derived, size_t count) {
    for (size_t i = 0; derived && i < count; i++) {
        free(derived[i].inputs);
        free(derived[i].text);
    }
    free(derived);
}

bool wmi_derived_compute(const wmi_derived *d, const double *in, double *out) {
    double result;
    const wm_derivation *f = d->how->derivation;
    if (d->how->formula) return wmi_formula_eval(d->how->formula, in, out);
    if (!f->compute(d->how->user, in, &result) || !isfinite(result)) return false;
    *out = result;
    return true;
}

/* ---- checking before anything runs ---- */

static bool is_among(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static wm_status unknown_input(const wmi_derived *d, const char *input, const char *const *names,
                               size_t count, wm_error *err) {
    wmi_buf hint = WMI_BUF_INIT;
    char *near = wmi_nearest(input, names, count);
    if (near && *near)
        wmi_buf_printf(&hint, "did you mean %s?", near);
    else
        wmi_buf_str(&hint, "it may read ");
    for (size_t i = 0; near && !*near && i < count; i++)
        wmi_buf_printf(&hint, "%s%s", i ? ", " : "", names[i]);
    wm_status status =
        near && !hint.failed
            ? wmi_error_set(
                  err, WM_ENOTFOUND, 0,
                  "'%.150s' reads '%.100s', which is no metric measured here and no numeric parameter; %s",
                  d->how->formula ? wmi_formula_text(d->how->formula) : d->name, input, hint.data)
            : wmi_error_nomem(err);
    wmi_buf_free(&hint);
    free(near);
    return status;
}

/* names[0..known_count) are known; those of the derived metrics are added as they come. */
static wm_status check_each(const wmi_derived *derived, size_t count, const char **names, size_t known_count,
                            wm_error *err) {
    for (size_t i = 0; i < count; i++) {
        const wmi_derived *d = &derived[i];
        for (size_t k = 0; k < d->input_count; k++)
            if (!is_among(d->inputs[k], names, known_count))
                return unknown_input(d, d->inputs[k], names, known_count, err);
        if (is_among(d->name, names, known_count))
            return wmi_error_set(
                err, WM_EINVAL, 0,
                "the derived metric '%s' needs a name that no other metric and no parameter has", d->name);
        names[known_count++] = d->name;
    }
    return WM_OK;
}

wm_status wmi_derive_check(const wmi_derive *derive, size_t count, const char *const *known,
                           size_t known_count, wm_error *err) {
    wmi_derived *derived = wmi_derived_open(derive, count);
    const char **names = malloc((known_count + count + 1) * sizeof *names);
    wm_status status = WM_ENOMEM;
    if (derived && names) {
        for (size_t i = 0; i < known_count; i++) names[i] = known[i];
        status = check_each(derived, count, names, known_count, err);
    } else {
        wmi_error_nomem(err);
    }
    free(names);
    wmi_derived_close(derived, count);
    return status;
}
