/* Axes and configurations. What parses must keep its promises: one type, no value
 * twice, and a configuration's key must be read back to the same key. */
#include <stdlib.h>
#include <string.h>

#include "input/axes.h"
#include "samples/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_axis(const char *text) {
    wmi_axis axis;
    wm_error err = WM_ERROR_INIT;
    wm_status s = wmi_axis_parse(text, &axis, &err);
    require(s == WM_OK || (s == WM_EPARSE && err.message[0]));
    if (s) return;
    require(axis.name[0] && axis.count >= 1 && axis.count <= 100000);
    for (size_t i = 0; i < axis.count; i++) require(axis.values[i].type == axis.type);
    size_t *index = NULL, count = 0;
    require(wmi_axes_expand(&axis, 1, "*", &index, &count, NULL) == WM_OK && count == axis.count);
    free(index);
    wmi_axis_fini(&axis);
}

/* The key of a configuration, or NULL when the text is none. */
static char *key_of(const char *text) {
    wmi_axis *axes = NULL;
    size_t n = 0;
    if (wmi_config_parse(text, &axes, &n, NULL) != WM_OK) return NULL;
    const char **names = malloc(n * sizeof *names);
    wm_value *values = malloc(n * sizeof *values);
    require(names && values);
    for (size_t i = 0; i < n; i++) {
        names[i] = axes[i].name;
        values[i] = axes[i].values[0];
    }
    char *key = wmi_config_key(n, names, values);
    require(key != NULL);
    for (size_t i = 0; i < n; i++) wmi_axis_fini(&axes[i]);
    free(axes);
    free(names);
    free(values);
    return key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = wmi_strndup((const char *)data, size);
    require(text != NULL);
    check_axis(text);
    char *key = key_of(text);
    if (key) {
        char *again = key_of(key);
        require(again && strcmp(key, again) == 0);
        free(again);
    }
    free(key);
    free(text);
    return 0;
}
