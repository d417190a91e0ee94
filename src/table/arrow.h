/** Tables as Arrow data: the structures of the Arrow C data and C stream interfaces
 *  (arrow.apache.org/docs/format/CDataInterface.html), whose layout is fixed for all time. */
#ifndef WMI_TABLE_ARROW_H
#define WMI_TABLE_ARROW_H

#include "table/table.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/** wm_table_arrow, but a column of more than `text_max` bytes of text, at most INT32_MAX, gets
 *  offsets of 64 bits (large utf8). */
wm_status wmi_table_arrow(const wm_table *table, size_t text_max, struct ArrowArrayStream *out,
                          wm_error *err);

#endif
