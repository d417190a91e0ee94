/** A table arranged for people: blocks of lines, each with a title. pivot.c and
 *  grid.c make reports; text.c and markdown.c draw them. */
#ifndef WMI_SINK_REPORT_H
#define WMI_SINK_REPORT_H

#include "table/string_set.h"
#include "table/table.h"

typedef enum wmi_style { WMI_STYLE_PLAIN = 0, WMI_STYLE_DIM, WMI_STYLE_GOOD, WMI_STYLE_BAD } wmi_style;

typedef struct wmi_report_cell {
    const char *text; /* of the report; NULL: empty */
    wmi_style style;
} wmi_report_cell;

typedef struct wmi_report_column {
    const char *header;
    bool number; /* aligned at the point; otherwise to the left */
    bool prose;  /* may be cut where there is no room */
} wmi_report_column;

typedef struct wmi_block {
    const char *title; /* "" for none */
    wmi_report_column *columns;
    size_t column_count;
    wmi_report_cell *cells; /* rows x columns */
    size_t rows;
    size_t column_cap, cell_cap;
} wmi_block;

/** Built from first to last: a block, its columns, then its rows. When memory runs
 *  out `failed` stays set and further calls do nothing: check once, at the end. */
typedef struct wmi_report {
    wmi_block *blocks;
    size_t count, cap;
    bool unicode;
    bool failed;
    wmi_string_set texts;
} wmi_report;

void wmi_report_init(wmi_report *r, bool unicode);
void wmi_report_fini(wmi_report *r);
/** Texts are copied. */
void wmi_report_block(wmi_report *r, const char *title);
void wmi_report_column_add(wmi_report *r, const char *header, bool number);
/** The column added last is prose. */
void wmi_report_column_prose(wmi_report *r);
/** Begin a row of empty cells. */
void wmi_report_row(wmi_report *r);
/** Set a cell of the last row to the text of a buffer, which is emptied. */
void wmi_report_set(wmi_report *r, size_t column, wmi_style style, wmi_buf *text);

/** Append a text of the table so that it can do no harm on a terminal: control
 *  characters, those that turn the direction of text, and invalid bytes are shown
 *  as \xNN; without `unicode`, all that is not ASCII is. */
void wmi_show_text(wmi_buf *b, const char *s, bool unicode);
/** A value as people read it; `unit` "" for none. A number of a parameter (`exact`)
 *  keeps all its digits. A null is "-", or its reason in parentheses. */
void wmi_show_value(wmi_buf *b, wm_value v, const char *unit, bool exact, bool unicode);

/** One block for each benchmark of a table of results, a line for each
 *  configuration and region, the metrics beside each other. With more than 64
 *  metrics it is a grid. */
void wmi_pivot(const wm_table *t, wmi_report *out);
/** One block: the table as it is. Of a table that has all columns of its schema,
 *  those that hold nothing are left out. */
void wmi_grid(const wm_table *t, wmi_report *out);
/** One block: the context, a line for each entry that has a value. */
void wmi_facts(const wm_table *t, wmi_report *out);
/** Whatever of these fits the table. */
void wmi_report_make(const wm_table *t, wmi_report *out);

/** Is this context entry a warning to be shown below the table? */
bool wmi_is_warning(const char *key, wm_value v);
/** Append its text; in a comparison after the side that it comes from. */
void wmi_show_warning(wmi_buf *b, const char *key, wm_value v, bool unicode);

#endif
