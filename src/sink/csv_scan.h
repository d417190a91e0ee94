/** Splitting CSV text into records and fields. */
#ifndef WMI_SINK_CSV_SCAN_H
#define WMI_SINK_CSV_SCAN_H

#include "base/text.h"

typedef struct wmi_csv_field {
    const char *s; /* not ended by NUL; valid until the next record */
    size_t n, offset;
    bool quoted;
} wmi_csv_field;

typedef struct wmi_csv_scan {
    const char *at, *end;
    size_t next_line; /* number of the line at `at` */
    /* the record at hand */
    size_t line; /* on which it began */
    wmi_csv_field *fields;
    size_t count;
    bool cut;  /* it is the last one and has no line end */
    bool torn; /* and ends inside quotes: its last field is not in `fields` */
    /* private */
    size_t cap;
    wmi_buf scratch; /* the fields that held quotes */
} wmi_csv_scan;

/** Begin with s[0..n), behind a byte order mark. The text is borrowed. */
void wmi_csv_scan_init(wmi_csv_scan *c, const char *s, size_t n);
/** Move to the next record; empty lines are stepped over. At the end of the text
 *  it has no fields. A field that is wrong is WM_EPARSE, named in *what. */
wm_status wmi_csv_scan_next(wmi_csv_scan *c, size_t most_fields, const char **what);
void wmi_csv_scan_fini(wmi_csv_scan *c);

#endif
