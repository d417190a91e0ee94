#include "table/params.h"

#include <stdlib.h>
#include <string.h>

static size_t find(const wmi_params *p, const char *name) {
    size_t i = 0;
    while (i < p->count && strcmp(p->names[i], name) != 0) i++;
    return i;
}

static bool add(wmi_params *p, const char *name, wm_type type) {
    if (p->count == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 8;
        const char **names = realloc(p->names, cap * sizeof *names);
        if (!names) return false;
        p->names = names;
        wm_type *types = realloc(p->types, cap * sizeof *types);
        if (!types) return false;
        p->types = types;
        p->cap = cap;
    }
    p->names[p->count] = name;
    p->types[p->count++] = type;
    return true;
}

static bool is_number(wm_type type) { return type == WM_I64 || type == WM_F64; }

wm_type wmi_type_common(wm_type a, wm_type b) {
    if (a == b || b == WM_NULL) return a;
    if (a == WM_NULL) return b;
    return is_number(a) && is_number(b) ? WM_F64 : WM_STR;
}

wm_status wmi_params_collect(const wmi_samples *samples, wmi_params *out) {
    *out = (wmi_params){0};
    for (size_t c = 0; c < wmi_samples_configs(samples); c++) {
        const wmi_config *config = wmi_samples_config_at(samples, (uint32_t)c);
        for (size_t i = 0; i < config->count; i++) {
            size_t at = find(out, config->names[i]);
            if (at == out->count && !add(out, config->names[i], WM_NULL)) {
                wmi_params_fini(out);
                return WM_ENOMEM;
            }
            out->types[at] = wmi_type_common(out->types[at], config->values[i].type);
        }
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->types[i] == WM_NULL) out->types[i] = WM_STR;
    return WM_OK;
}

void wmi_params_fini(wmi_params *p) {
    free(p->names);
    free(p->types);
    *p = (wmi_params){0};
}

/* A value in a column of text reads as it does in the configuration's key. */
static wm_status set_as_text(wm_table *t, size_t row, size_t count, size_t column, wm_value v) {
    static const char name[] = "v";
    const char *const names[] = {name};
    char *text = wmi_config_key(1, names, &v);
    if (!text) return WM_ENOMEM;
    wm_status status = wmi_table_fill(t, row, count, column, wmi_str(text + sizeof name)); /* behind "v=" */
    free(text);
    return status;
}

wm_status wmi_value_fill(wm_table *t, size_t row, size_t count, size_t column, wm_type type, wm_value v) {
    const bool as_text = type == WM_STR && v.type != WM_STR && v.type != WM_NULL;
    return as_text ? set_as_text(t, row, count, column, v) : wmi_table_fill(t, row, count, column, v);
}

wm_status wmi_params_fill(const wmi_params *p, wm_table *t, size_t row, size_t count, size_t first,
                          const wmi_config *config) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < config->count && status == WM_OK; i++) {
        size_t at = find(p, config->names[i]);
        status = wmi_value_fill(t, row, count, first + at, p->types[at], config->values[i]);
    }
    return status;
}

wm_status wmi_params_set(const wmi_params *p, wm_table *t, size_t row, size_t first,
                         const wmi_config *config) {
    return wmi_params_fill(p, t, row, 1, first, config);
}
