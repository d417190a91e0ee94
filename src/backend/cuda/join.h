/** Launches and activity records, joined by their correlation numbers. */
#ifndef WMI_BACKEND_CUDA_JOIN_H
#define WMI_BACKEND_CUDA_JOIN_H

#include "backend/backend.h"
#include "backend/cuda/activity_store.h"
#include "backend/cuda/launches.h"

enum { WMI_JOIN_NAMES = 64 };
typedef struct wmi_join_cursor {
    wmi_activity_block *block;
    size_t next;
    size_t order; /* of its arrival */
} wmi_join_cursor;

/** A join at hand. All zeros: none. */
typedef struct wmi_join {
    const wmi_launch *launches; /* borrowed, in order of correlation */
    size_t n, at;
    bool answered; /* the launch at hand has a record */
    bool graphs_lost;
    bool shared;           /* the device may serve other processes */
    wmi_join_cursor *heap; /* of blocks that have records left: the one with the least is first */
    size_t heap_n;
    struct wmi_join_name {
        uint32_t name, full, plain;
        bool ignored;
    } names[WMI_JOIN_NAMES]; /* of the kernels that came last */
} wmi_join;

typedef struct wmi_join_input {
    const wmi_launch *launches;
    size_t count;
    wmi_activity_blocks activities; /* given away */
    bool graphs_checked;            /* records of graphs may have wrong correlation numbers */
    bool incomplete;                /* some records may be missing */
    bool shared;
} wmi_join_input;

/** Begin. WM_ENOMEM: there is nothing to join. */
wm_status wmi_join_begin(wmi_join *join, wmi_join_input *input, wm_error *err);
/** Add up to `most` records to out; join->at == join->n once all launches had theirs. WM_ENOMEM. */
wm_status wmi_join_some(wmi_join *join, const wmi_device_opts *opts, size_t most, wmi_records *out,
                        wm_error *err);
void wmi_join_end(wmi_join *join);

#endif
