/* Formulas. What our own check lets through muParser must accept, whatever the
 * inputs' values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formula/formula.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void evaluate(wmi_formula *f) {
    static const double values[] = {0, 1, -2.5, 1e300, NAN};
    size_t n = wmi_formula_inputs(f);
    double *in = malloc((n + 1) * sizeof *in);
    require(in != NULL);
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        double x = NAN;
        for (size_t i = 0; i < n; i++) in[i] = values[(v + i) % (sizeof values / sizeof values[0])];
        require(!wmi_formula_eval(f, in, &x) || isfinite(x));
    }
    free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = wmi_strndup((const char *)data, size);
    require(text != NULL);
    wmi_formula *f = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status s = wmi_formula_parse(text, &f, &err);
    if (s == WM_OK) {
        require(strcmp(wmi_formula_text(f), text) == 0 && wmi_formula_name(f)[0]);
        evaluate(f);
        wmi_formula_destroy(f);
    } else {
        require(s != WM_EPARSE || strncmp(err.message, "formula '", 9) == 0);
    }
    free(text);
    return 0;
}
