/* Records are read through the structures of the headers at hand, but only fields that lie at the
 * same place in all versions. Compared in the headers of CUPTI 12.6, 13.0 and 13.5:
 *   CUpti_ActivityKernel8 to 13    kind 0, registers 6, start 16, end 24, device 40, stream 48,
 *                                  grid 52, block 64, shared memory 76 and 80, correlation 92,
 *                                  name 104, graph 156
 *   CUpti_ActivityMemcpy4 to 7, CUpti_ActivityMemset3 to 5
 *                                  kind 0, bytes 8, start 16, end 24, device 32, stream 40,
 *                                  correlation 44, graph 72
 *   CUpti_ActivityMemcpyPtoP3, 4   the same but correlation 60, graph 80
 * Structures only grew at their ends, and the assertions below would tell of a change. */
#include "backend/cuda/activity_read.h"

#include "backend/cuda/cold.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/kernel_names.h"
#include "samples/samples.h"

typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemcpyPtoP4 peer_record;
typedef CUpti_ActivityMemset4 set_record;

#define LIES_AT(type, member, offset)                                                                        \
    _Static_assert(offsetof(type, member) == (offset), #type " has " #member " elsewhere")
#define KERNEL_LAYOUT(type)                                                                                  \
    LIES_AT(type, kind, 0);                                                                                  \
    LIES_AT(type, registersPerThread, 6);                                                                    \
    LIES_AT(type, start, 16);                                                                                \
    LIES_AT(type, end, 24);                                                                                  \
    LIES_AT(type, deviceId, 40);                                                                             \
    LIES_AT(type, streamId, 48);                                                                             \
    LIES_AT(type, gridX, 52);                                                                                \
    LIES_AT(type, blockX, 64);                                                                               \
    LIES_AT(type, staticSharedMemory, 76);                                                                   \
    LIES_AT(type, dynamicSharedMemory, 80);                                                                  \
    LIES_AT(type, correlationId, 92);                                                                        \
    LIES_AT(type, name, 104);                                                                                \
    LIES_AT(type, graphId, 156)
#define MEMORY_LAYOUT(type, correlation, graph)                                                              \
    LIES_AT(type, kind, 0);                                                                                  \
    LIES_AT(type, bytes, 8);                                                                                 \
    LIES_AT(type, start, 16);                                                                                \
    LIES_AT(type, end, 24);                                                                                  \
    LIES_AT(type, deviceId, 32);                                                                             \
    LIES_AT(type, streamId, 40);                                                                             \
    LIES_AT(type, correlationId, correlation);                                                               \
    LIES_AT(type, graphId, graph)

KERNEL_LAYOUT(CUpti_ActivityKernel8);
KERNEL_LAYOUT(CUpti_ActivityKernel9);
MEMORY_LAYOUT(CUpti_ActivityMemcpy4, 44, 72);
MEMORY_LAYOUT(CUpti_ActivityMemcpy5, 44, 72);
MEMORY_LAYOUT(CUpti_ActivityMemset3, 44, 72);
MEMORY_LAYOUT(CUpti_ActivityMemset4, 44, 72);
MEMORY_LAYOUT(CUpti_ActivityMemcpyPtoP3, 60, 80);
MEMORY_LAYOUT(CUpti_ActivityMemcpyPtoP4, 60, 80);
#if CUPTI_API_VERSION >= 130000
KERNEL_LAYOUT(CUpti_ActivityKernel10);
MEMORY_LAYOUT(CUpti_ActivityMemcpy6, 44, 72);
#endif
#if CUPTI_API_VERSION >= 130500
KERNEL_LAYOUT(CUpti_ActivityKernel11);
KERNEL_LAYOUT(CUpti_ActivityKernel12);
KERNEL_LAYOUT(CUpti_ActivityKernel13);
MEMORY_LAYOUT(CUpti_ActivityMemcpy7, 44, 72);
MEMORY_LAYOUT(CUpti_ActivityMemset5, 44, 72);
#endif

bool wmi_activity_next(uint8_t *buffer, size_t size, void **record, bool *broken) {
    CUpti_Activity *at = *record;
    if (size == 0) return false;
    const CUptiResult result = wmi_cupti.ActivityGetNextRecord(buffer, size, &at);
    *broken = result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (result == CUPTI_SUCCESS) *record = at;
    return result == CUPTI_SUCCESS;
}

static void set_times(wmi_activity *a, uint64_t begin, uint64_t end) {
    a->begin = begin;
    a->end = end;
    if (begin == 0 || end < begin || end > INT64_MAX) a->flags |= WMI_ACTIVITY_INVALID;
}

/* A size that does not fit is none that a device has. */
static uint16_t small(wmi_activity *a, int64_t x) {
    if (x >= 0 && x <= UINT16_MAX) return (uint16_t)x;
    a->flags |= WMI_ACTIVITY_INVALID;
    return UINT16_MAX;
}

static void set_place(wmi_activity *a, wmi_record_kind kind, uint32_t device, uint32_t stream,
                      uint32_t correlation, uint32_t graph) {
    a->kind = (uint8_t)kind;
    a->device = small(a, device);
    a->stream = stream;
    a->correlation = correlation;
    if (graph) a->flags |= WMI_ACTIVITY_GRAPH;
}

static wmi_activity_verdict read_kernel(const kernel_record *k, wmi_activity *a) {
    set_place(a, WMI_RECORD_KERNEL, k->deviceId, k->streamId, k->correlationId, k->graphId);
    set_times(a, k->start, k->end);
    const int32_t grid[] = {k->gridX, k->gridY, k->gridZ}, block[] = {k->blockX, k->blockY, k->blockZ};
    for (int i = 0; i < 3; i++) {
        a->grid[i] = (uint32_t)grid[i];
        a->block[i] = small(a, block[i]);
    }
    a->registers = k->registersPerThread;
    a->of.shared[0] = (uint32_t)k->staticSharedMemory;
    a->of.shared[1] = (uint32_t)k->dynamicSharedMemory;
    if (!k->name) return WMI_ACTIVITY_READ;
    /* It is launched from inside a launch's callback, and may have that launch's number. */
    if (!strcmp(k->name, wmi_cold_kernel)) return WMI_ACTIVITY_OTHER;
    a->name = wmi_kernel_name_of(k->name).binary;
    return a->name ? WMI_ACTIVITY_READ : WMI_ACTIVITY_NOMEM;
}

wmi_activity_verdict wmi_activity_read(const void *record, wmi_activity *out) {
    *out = (wmi_activity){0};
    switch (((const CUpti_Activity *)record)->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return read_kernel(record, out);
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const copy_record *c = record;
        set_place(out, WMI_RECORD_COPY, c->deviceId, c->streamId, c->correlationId, c->graphId);
        set_times(out, c->start, c->end);
        out->of.bytes = c->bytes;
        return WMI_ACTIVITY_READ;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: { /* between devices: never the kind above too */
        const peer_record *c = record;
        set_place(out, WMI_RECORD_COPY, c->deviceId, c->streamId, c->correlationId, c->graphId);
        set_times(out, c->start, c->end);
        out->of.bytes = c->bytes;
        return WMI_ACTIVITY_READ;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const set_record *s = record;
        set_place(out, WMI_RECORD_SET, s->deviceId, s->streamId, s->correlationId, s->graphId);
        set_times(out, s->start, s->end);
        out->of.bytes = s->bytes;
        return WMI_ACTIVITY_READ;
    }
    default: return WMI_ACTIVITY_OTHER;
    }
}
