/** Activity records in a compact form, kept in blocks until they are joined with launches. */
#ifndef WMI_BACKEND_CUDA_ACTIVITY_STORE_H
#define WMI_BACKEND_CUDA_ACTIVITY_STORE_H

#include "base/error.h"

enum { WMI_ACTIVITY_GRAPH = 1, WMI_ACTIVITY_INVALID = 2 };
typedef struct wmi_activity {
    uint64_t begin, end; /* as the record says */
    union {
        uint64_t bytes;     /* of copies and sets */
        uint32_t shared[2]; /* of kernels: static, dynamic */
    } of;
    uint32_t correlation, stream, name; /* name: interned binary one; 0 but for kernels */
    uint32_t grid[3];
    uint16_t block[3], registers;
    uint16_t device; /* its ordinal */
    uint8_t kind;    /* wmi_record_kind */
    uint8_t flags;   /* WMI_ACTIVITY_*; GRAPH: of a node of a graph; INVALID: cannot be true */
} wmi_activity;
_Static_assert(sizeof(wmi_activity) == 64, "memory for each kernel is bounded");

enum { WMI_ACTIVITY_BLOCK = 8192 };
typedef struct wmi_activity_block {
    size_t n;
    wmi_activity v[WMI_ACTIVITY_BLOCK];
} wmi_activity_block;
typedef struct wmi_activity_blocks {
    wmi_activity_block **v;
    size_t n, cap;
    size_t records;
} wmi_activity_blocks;
void wmi_activity_blocks_free(wmi_activity_blocks *b);

/* The store: one for the process, any thread. */

/** Keep at most so many records between two takes; closed until then, and by 0. */
void wmi_activity_store_open(size_t limit);
/** Take in what CUPTI put into a buffer. What finds no room is counted as dropped. */
void wmi_activity_store_add(uint8_t *buffer, size_t size);
/** Hand over all records; the caller frees. */
wmi_activity_blocks wmi_activity_store_take(void);
size_t wmi_activity_store_count(void);
/** Records that found no room, or no memory, since the last call. */
uint64_t wmi_activity_store_dropped(void);

#endif
