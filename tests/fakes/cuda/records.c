/* Activity records, in the layouts of CUPTI's versions. */
#include <string.h>

#include "fake_state.h"

/* Later versions have the fields of these, and more at the end. */
#define KERNEL_TAIL(version) ((version) >= 130000 ? 8U : 0U)
#define COPY_TAIL(version)   ((version) >= 26 ? 8U : 0U)

#if CUPTI_API_VERSION >= 130000
_Static_assert(sizeof(CUpti_ActivityKernel9) + KERNEL_TAIL(130000) == sizeof(CUpti_ActivityKernel10),
               "layout");
_Static_assert(sizeof(CUpti_ActivityMemcpy5) + COPY_TAIL(26) == sizeof(CUpti_ActivityMemcpy6), "layout");
#endif
_Static_assert(sizeof(CUpti_ActivityKernel9) + KERNEL_TAIL(130000) <= sizeof(fakei_record), "room");

size_t fakei_record_size(CUpti_ActivityKind kind, uint32_t version) {
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel9) + KERNEL_TAIL(version);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy5) + COPY_TAIL(version);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    default: return 0;
    }
}

static void write_kernel(fakei_record *out, const fakei_work *w) {
    CUpti_ActivityKernel9 k;
    memset(&k, 0, sizeof k);
    k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    k.registersPerThread = (uint16_t)w->kernel->registers;
    k.start = (uint64_t)w->begin;
    k.end = k.completed = (uint64_t)w->end;
    k.deviceId = (uint32_t)w->stream->context->device;
    k.contextId = w->stream->context->id;
    k.streamId = w->stream->id;
    k.gridX = (int32_t)w->grid[0], k.gridY = (int32_t)w->grid[1], k.gridZ = (int32_t)w->grid[2];
    k.blockX = (int32_t)w->block[0], k.blockY = (int32_t)w->block[1], k.blockZ = (int32_t)w->block[2];
    k.staticSharedMemory = w->kernel->static_shared;
    k.dynamicSharedMemory = (int32_t)w->shared;
    k.localMemoryPerThread = (uint32_t)w->kernel->local;
    k.correlationId = w->correlation;
    k.gridId = (int64_t)w->launch + 1;
    k.name = w->kernel->name;
    k.graphNodeId = w->node;
    k.graphId = w->graph;
    memcpy(out->bytes, &k, sizeof k);
}

static void write_copy(fakei_record *out, const fakei_work *w) {
    CUpti_ActivityMemcpy5 c;
    memset(&c, 0, sizeof c);
    c.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    c.copyKind = w->copy_kind;
    c.bytes = w->bytes;
    c.start = (uint64_t)w->begin;
    c.end = (uint64_t)w->end;
    c.deviceId = (uint32_t)w->stream->context->device;
    c.contextId = w->stream->context->id;
    c.streamId = w->stream->id;
    c.correlationId = w->correlation;
    c.graphNodeId = w->node;
    c.graphId = w->graph;
    memcpy(out->bytes, &c, sizeof c);
}

static void write_set(fakei_record *out, const fakei_work *w) {
    CUpti_ActivityMemset4 s;
    memset(&s, 0, sizeof s);
    s.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    s.value = w->value;
    s.bytes = w->bytes;
    s.start = (uint64_t)w->begin;
    s.end = (uint64_t)w->end;
    s.deviceId = (uint32_t)w->stream->context->device;
    s.contextId = w->stream->context->id;
    s.streamId = w->stream->id;
    s.correlationId = w->correlation;
    s.graphNodeId = w->node;
    s.graphId = w->graph;
    memcpy(out->bytes, &s, sizeof s);
}

size_t fakei_record_write(fakei_record *out, const fakei_work *work, uint32_t version) {
    CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    memset(out, 0, sizeof *out);
    switch (work->kind) {
    case FAKEI_KERNEL: write_kernel(out, work); break;
    case FAKEI_COPY:
        kind = CUPTI_ACTIVITY_KIND_MEMCPY;
        write_copy(out, work);
        break;
    case FAKEI_SET:
        kind = CUPTI_ACTIVITY_KIND_MEMSET;
        write_set(out, work);
        break;
    }
    return fakei_record_size(kind, version);
}
