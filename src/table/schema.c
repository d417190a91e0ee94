/* The columns that tables of each kind begin with. */
#include <string.h>

#include "table/table.h"

#define COLUMN(id, name, type, unit, text) {name, type, unit, text},
static const wmi_schema_column result_columns[] = {WMI_RESULT_COLUMNS(COLUMN)};
static const wmi_schema_column sample_columns[] = {WMI_SAMPLE_COLUMNS(COLUMN)};
static const wmi_schema_column kernel_columns[] = {WMI_KERNEL_COLUMNS(COLUMN)};
static const wmi_schema_column comparison_columns[] = {WMI_COMPARISON_COLUMNS(COLUMN)};
static const wmi_schema_column plan_columns[] = {WMI_PLAN_COLUMNS(COLUMN)};
static const wmi_schema_column metric_columns[] = {WMI_METRIC_COLUMNS(COLUMN)};
static const wmi_schema_column doctor_columns[] = {WMI_DOCTOR_COLUMNS(COLUMN)};
#undef COLUMN

#define SCHEMA(kind, columns)                                                                                \
    { kind, columns, sizeof columns / sizeof columns[0] }
const wmi_schema wmi_schemas[] = {
    SCHEMA("results", result_columns), SCHEMA("samples", sample_columns),
    SCHEMA("kernels", kernel_columns), SCHEMA("comparison", comparison_columns),
    SCHEMA("plan", plan_columns),      SCHEMA("metrics", metric_columns),
    SCHEMA("doctor", doctor_columns),  {NULL, NULL, 0},
};
#undef SCHEMA

const wmi_schema *wmi_schema_of(const char *kind) {
    for (const wmi_schema *s = wmi_schemas; s->kind; s++)
        if (strcmp(s->kind, kind) == 0) return s;
    return NULL;
}

wm_table *wmi_schema_table(const wmi_schema *schema, size_t count, const char *const *params,
                           const wm_type *types) {
    wm_table *t = wmi_table_create(schema->kind);
    wm_status s = t ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; s == WM_OK && i < schema->count; i++) {
        const wmi_schema_column *c = &schema->columns[i];
        s = wmi_table_add_column(t, c->name, c->type, c->unit, NULL);
    }
    for (size_t i = 0; s == WM_OK && i < count; i++)
        s = wmi_table_add_column(t, params[i], types[i], "", NULL);
    if (s == WM_OK) return t;
    wm_table_destroy(t);
    return NULL;
}

wm_table *wmi_results_create(size_t count, const char *const *params, const wm_type *types) {
    return wmi_schema_table(wmi_schema_of("results"), count, params, types);
}

wm_table *wmi_samples_table_create(size_t count, const char *const *params, const wm_type *types) {
    return wmi_schema_table(wmi_schema_of("samples"), count, params, types);
}

/* Columns that files of version 0.1 lack. */
static bool is_new(const wmi_schema_column *column) {
    static const char *const names[] = {
#define NAME(id, name, type, unit, text) name,
        WMI_STATE_COLUMNS(NAME)
#undef NAME
            "throttled",
        "clock_requested_hz",
        "sm_clock_pass",
        "pass_time_ratio",
        "note",
        "bound"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(column->name, names[i]) == 0) return true;
    return false;
}

bool wmi_schema_complete(const wm_table *t) {
    const wmi_schema *schema = wmi_schema_of(wm_table_kind(t));
    for (size_t i = 0; schema && i < schema->count; i++) {
        wm_column c = {0};
        if (is_new(&schema->columns[i]) && wm_table_find(t, schema->columns[i].name) == SIZE_MAX) continue;
        if (wm_table_column(t, wm_table_find(t, schema->columns[i].name), &c) != WM_OK) return false;
        if (c.type != schema->columns[i].type) return false;
    }
    return schema != NULL;
}
