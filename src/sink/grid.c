/* The table as it is: a line for each row. */
#include <stdlib.h>
#include <string.h>

#include "sink/report.h"

typedef struct shown_column {
    size_t number; /* in the table */
    wm_column is;
    bool exact;
} shown_column;

typedef struct grid {
    const wm_table *table;
    wmi_report *report;
    shown_column *shown;
    size_t count;
    size_t unit; /* column with the unit of the row; SIZE_MAX: none */
    wmi_buf text;
} grid;

static bool is_empty(wm_value v) { return v.type == WM_NULL || (v.type == WM_STR && !*v.as.str); }

static bool holds_nothing(const wm_table *t, size_t column) {
    for (size_t row = 0; row < wm_table_rows(t); row++)
        if (!is_empty(wmi_table_cell(t, row, column))) return false;
    return true;
}

static bool has_row_units(const wm_table *t) {
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        wm_column c = {0};
        wm_table_column(t, i, &c);
        if (strcmp(c.unit, "row") == 0) return true;
    }
    return false;
}

/* Numbers of a schema are measured and shown with four digits; all others were set
 * by somebody, who wants to see what he set. */
static bool is_exact(const wm_table *t, const wm_column *c) {
    const wmi_schema *schema = wmi_schema_of(wm_table_kind(t));
    for (size_t i = 0; schema && i < schema->count; i++)
        if (strcmp(schema->columns[i].name, c->name) == 0) return false;
    return schema != NULL;
}

static void show_column(grid *g, size_t number) {
    shown_column *c = &g->shown[g->count++];
    c->number = number;
    wm_table_column(g->table, number, &c->is);
    c->exact = is_exact(g->table, &c->is);
}

/* In a table whose columns nobody chose, what is empty everywhere says nothing, and
 * units stand behind the values. */
static void choose_columns(grid *g) {
    const wm_table *t = g->table;
    bool whole = wmi_schema_complete(t), units = has_row_units(t);
    g->unit = wm_table_find(t, "unit");
    for (size_t i = 0; i < wm_table_columns(t); i++)
        if (!whole || !((i == g->unit && units) || holds_nothing(t, i))) show_column(g, i);
    bool nothing = g->count == 0;
    for (size_t i = 0; nothing && i < wm_table_columns(t); i++) show_column(g, i);
}

static const char *unit_of(const grid *g, size_t row, const char *unit) {
    if (strcmp(unit, "row") != 0) return unit;
    wm_value v = g->unit == SIZE_MAX ? wmi_null(WM_REASON_UNKNOWN) : wmi_table_cell(g->table, row, g->unit);
    return v.type == WM_STR ? v.as.str : "";
}

static wmi_style style_of(const wm_column *c, wm_value v) {
    static const struct {
        const char *column, *value;
        wmi_style style;
    } styles[] = {
        {"verdict", "better", WMI_STYLE_GOOD}, {"verdict", "worse", WMI_STYLE_BAD},
        {"status", "failed", WMI_STYLE_BAD},   {"status", "error", WMI_STYLE_BAD},
        {"status", "skipped", WMI_STYLE_DIM},  {"status", "missing", WMI_STYLE_DIM},
    };
    if (v.type == WM_NULL) return WMI_STYLE_DIM;
    for (size_t i = 0; v.type == WM_STR && i < sizeof styles / sizeof styles[0]; i++)
        if (strcmp(c->name, styles[i].column) == 0 && strcmp(v.as.str, styles[i].value) == 0)
            return styles[i].style;
    return WMI_STYLE_PLAIN;
}

static bool is_prose(const char *column) {
    return strcmp(column, "reason") == 0 || strcmp(column, "text") == 0;
}

static bool is_number(wm_type type) { return type == WM_I64 || type == WM_F64; }

static void add_cell(grid *g, size_t row, size_t at) {
    const shown_column *c = &g->shown[at];
    wm_value v = wmi_table_cell(g->table, row, c->number);
    bool blank = v.type == WM_NULL && v.reason == WM_REASON_NOT_APPLICABLE && !is_number(c->is.type);
    if (!blank) wmi_show_value(&g->text, v, unit_of(g, row, c->is.unit), c->exact, g->report->unicode);
    wmi_report_set(g->report, at, style_of(&c->is, v), &g->text);
}

static void fill(grid *g) {
    wmi_report_block(g->report, "");
    for (size_t i = 0; i < g->count; i++) {
        wmi_show_text(&g->text, g->shown[i].is.name, g->report->unicode);
        wmi_report_column_add(g->report, g->text.len ? g->text.data : "", is_number(g->shown[i].is.type));
        if (is_prose(g->shown[i].is.name)) wmi_report_column_prose(g->report);
        g->text.len = 0;
    }
    for (size_t row = 0; row < wm_table_rows(g->table) && !g->report->failed; row++) {
        wmi_report_row(g->report);
        for (size_t i = 0; i < g->count; i++) add_cell(g, row, i);
    }
}

void wmi_grid(const wm_table *t, wmi_report *out) {
    grid g = {.table = t, .report = out, .text = WMI_BUF_INIT};
    g.shown = malloc((wm_table_columns(t) + 1) * sizeof *g.shown);
    if (g.shown) {
        choose_columns(&g);
        fill(&g);
    }
    if (!g.shown || g.text.failed) out->failed = true;
    wmi_buf_free(&g.text);
    free(g.shown);
}
