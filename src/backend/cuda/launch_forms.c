#include "backend/cuda/launch_forms.h"

#include <string.h>

#include "backend/cuda/cupti_headers.h"

/* Where a stream is: its offset in the parameters, in units of 8 bytes, or one of these. */
enum { STREAM_IN_CONFIG = 253, STREAM_IN_LIST, STREAM_NONE };
enum { SHAPE_NONE = 0, SHAPE_DIMS, SHAPE_CONFIG, SHAPE_LIST, SHAPE_GRID };

/* A call, and the two of those that have one on the thread's own default stream. */
#define FORM(name, kind, at, shape, per_thread)                                                              \
    [CUPTI_DRIVER_TRACE_CBID_##name] = {kind, at, shape, per_thread}
#define AT(name) (offsetof(name##_params, hStream) / 8)
#define BOTH_AT(name, kind, shape)                                                                           \
    FORM(name, kind, AT(name), shape, 0), FORM(name##_ptsz, kind, AT(name##_ptsz), shape, 1)
#define BOTH_NOWHERE(name, kind)                                                                             \
    FORM(name, kind, STREAM_NONE, SHAPE_NONE, 0), FORM(name##_ptds, kind, STREAM_NONE, SHAPE_NONE, 1)

#define COPY(name)       BOTH_NOWHERE(name, WMI_FORM_COPY)
#define COPY_ASYNC(name) BOTH_AT(name, WMI_FORM_COPY, SHAPE_NONE)
#define SET(name)        BOTH_NOWHERE(name, WMI_FORM_SET)
#define SET_ASYNC(name)  BOTH_AT(name, WMI_FORM_SET, SHAPE_NONE)

/* Calls whose names cuda.h makes macros of: such a name must not be handed on. */
#define OLD(name, kind) [CUPTI_DRIVER_TRACE_CBID_##name] = {kind, STREAM_NONE, SHAPE_NONE, 0}
#define OLD_AT(name, kind, per_thread)                                                                       \
    [CUPTI_DRIVER_TRACE_CBID_##name] = {kind, offsetof(name##_params, hStream) / 8, SHAPE_NONE, per_thread}

/* Calls that the oldest headers that the library builds with lack, by number: an id never
 * changes its meaning. The one on the thread's own stream follows. */
#define LATER(id, kind, at)                                                                                  \
    [id] = {kind, (at) / 8, SHAPE_NONE, 0}, [(id) + 1] = {kind, (at) / 8, SHAPE_NONE, 1}

static const wmi_launch_form forms[WMI_LAUNCH_FORMS] = {
    /* kernels and graphs */
    FORM(cuLaunch, WMI_FORM_KERNEL, STREAM_NONE, SHAPE_NONE, 0),
    FORM(cuLaunchGrid, WMI_FORM_KERNEL, STREAM_NONE, SHAPE_GRID, 0),
    FORM(cuLaunchGridAsync, WMI_FORM_KERNEL, AT(cuLaunchGridAsync), SHAPE_GRID, 0),
    BOTH_AT(cuLaunchKernel, WMI_FORM_KERNEL, SHAPE_DIMS),
    FORM(cuLaunchKernelEx, WMI_FORM_KERNEL, STREAM_IN_CONFIG, SHAPE_CONFIG, 0),
    FORM(cuLaunchKernelEx_ptsz, WMI_FORM_KERNEL, STREAM_IN_CONFIG, SHAPE_CONFIG, 1),
    BOTH_AT(cuLaunchCooperativeKernel, WMI_FORM_KERNEL, SHAPE_DIMS),
    FORM(cuLaunchCooperativeKernelMultiDevice, WMI_FORM_KERNEL, STREAM_IN_LIST, SHAPE_LIST, 0),
    BOTH_AT(cuGraphLaunch, WMI_FORM_GRAPH, SHAPE_NONE),
    /* copies */
    COPY(cuMemcpy), COPY(cuMemcpyPeer), COPY(cuMemcpy3DPeer), COPY(cuMemcpyHtoD_v2), COPY(cuMemcpyDtoH_v2),
    COPY(cuMemcpyDtoD_v2), COPY(cuMemcpyDtoA_v2), COPY(cuMemcpyAtoD_v2), COPY(cuMemcpyHtoA_v2),
    COPY(cuMemcpyAtoH_v2), COPY(cuMemcpyAtoA_v2), COPY(cuMemcpy2D_v2), COPY(cuMemcpy2DUnaligned_v2),
    COPY(cuMemcpy3D_v2), COPY_ASYNC(cuMemcpyAsync), COPY_ASYNC(cuMemcpyPeerAsync),
    COPY_ASYNC(cuMemcpy3DPeerAsync), COPY_ASYNC(cuMemcpyHtoDAsync_v2), COPY_ASYNC(cuMemcpyDtoHAsync_v2),
    COPY_ASYNC(cuMemcpyDtoDAsync_v2), COPY_ASYNC(cuMemcpyHtoAAsync_v2), COPY_ASYNC(cuMemcpyAtoHAsync_v2),
    COPY_ASYNC(cuMemcpy2DAsync_v2), COPY_ASYNC(cuMemcpy3DAsync_v2),
    LATER(776, WMI_FORM_COPY, 64), /* cuMemcpyBatchAsync */
    LATER(778, WMI_FORM_COPY, 32), /* cuMemcpy3DBatchAsync */
    LATER(796, WMI_FORM_COPY, 56), /* cuMemcpyBatchAsync_v2 */
    LATER(798, WMI_FORM_COPY, 24), /* cuMemcpy3DBatchAsync_v2 */
    LATER(837, WMI_FORM_COPY, 32), /* cuMemcpyWithAttributesAsync */
    LATER(839, WMI_FORM_COPY, 16), /* cuMemcpy3DWithAttributesAsync */
    /* copies of before CUDA 3.2 */
    OLD(cuMemcpyHtoD, WMI_FORM_COPY), OLD(cuMemcpyDtoH, WMI_FORM_COPY), OLD(cuMemcpyDtoD, WMI_FORM_COPY),
    OLD(cuMemcpyDtoA, WMI_FORM_COPY), OLD(cuMemcpyAtoD, WMI_FORM_COPY), OLD(cuMemcpyHtoA, WMI_FORM_COPY),
    OLD(cuMemcpyAtoH, WMI_FORM_COPY), OLD(cuMemcpyAtoA, WMI_FORM_COPY), OLD(cuMemcpy2D, WMI_FORM_COPY),
    OLD(cuMemcpy2DUnaligned, WMI_FORM_COPY), OLD(cuMemcpy3D, WMI_FORM_COPY),
    OLD_AT(cuMemcpyHtoDAsync, WMI_FORM_COPY, 0), OLD_AT(cuMemcpyDtoHAsync, WMI_FORM_COPY, 0),
    OLD_AT(cuMemcpyDtoDAsync, WMI_FORM_COPY, 0), OLD_AT(cuMemcpyHtoAAsync, WMI_FORM_COPY, 0),
    OLD_AT(cuMemcpyAtoHAsync, WMI_FORM_COPY, 0), OLD_AT(cuMemcpy2DAsync, WMI_FORM_COPY, 0),
    OLD_AT(cuMemcpy3DAsync, WMI_FORM_COPY, 0),
    /* sets */
    SET(cuMemsetD8_v2), SET(cuMemsetD16_v2), SET(cuMemsetD32_v2), SET(cuMemsetD2D8_v2), SET(cuMemsetD2D16_v2),
    SET(cuMemsetD2D32_v2), SET_ASYNC(cuMemsetD8Async), SET_ASYNC(cuMemsetD16Async),
    SET_ASYNC(cuMemsetD32Async), SET_ASYNC(cuMemsetD2D8Async), SET_ASYNC(cuMemsetD2D16Async),
    SET_ASYNC(cuMemsetD2D32Async), OLD(cuMemsetD8, WMI_FORM_SET), OLD(cuMemsetD16, WMI_FORM_SET),
    OLD(cuMemsetD32, WMI_FORM_SET), OLD(cuMemsetD2D8, WMI_FORM_SET), OLD(cuMemsetD2D16, WMI_FORM_SET),
    OLD(cuMemsetD2D32, WMI_FORM_SET),
    /* stream capture */
    OLD_AT(cuStreamBeginCapture, WMI_FORM_BEGIN_CAPTURE, 0),
    OLD_AT(cuStreamBeginCapture_ptsz, WMI_FORM_BEGIN_CAPTURE, 1),
    BOTH_AT(cuStreamBeginCapture_v2, WMI_FORM_BEGIN_CAPTURE, SHAPE_NONE),
    BOTH_AT(cuStreamBeginCaptureToGraph, WMI_FORM_BEGIN_CAPTURE, SHAPE_NONE),
    BOTH_AT(cuStreamEndCapture, WMI_FORM_END_CAPTURE, SHAPE_NONE),
    LATER(846, WMI_FORM_BEGIN_CAPTURE, 0), /* cuStreamBeginRecaptureToGraph */
};

/* What is read through one type is true of the others that share its way. */
#define SAME(a, b, member)                                                                                   \
    _Static_assert(offsetof(a##_params, member) == offsetof(b##_params, member), #a " is as " #b)
#define SAME_DIMS(a)                                                                                         \
    SAME(a, cuLaunchKernel, gridDimX);                                                                       \
    SAME(a, cuLaunchKernel, gridDimY);                                                                       \
    SAME(a, cuLaunchKernel, gridDimZ);                                                                       \
    SAME(a, cuLaunchKernel, blockDimX);                                                                      \
    SAME(a, cuLaunchKernel, blockDimY);                                                                      \
    SAME(a, cuLaunchKernel, blockDimZ);                                                                      \
    SAME(a, cuLaunchKernel, sharedMemBytes)
SAME_DIMS(cuLaunchKernel_ptsz);
SAME_DIMS(cuLaunchCooperativeKernel);
SAME_DIMS(cuLaunchCooperativeKernel_ptsz);
SAME(cuLaunchKernelEx_ptsz, cuLaunchKernelEx, config);
SAME(cuLaunchGridAsync, cuLaunchGrid, grid_width);
SAME(cuLaunchGridAsync, cuLaunchGrid, grid_height);

const wmi_launch_form *wmi_launch_form_of(uint32_t id) {
    return id < WMI_LAUNCH_FORMS && forms[id].kind != WMI_FORM_NONE ? &forms[id] : NULL;
}

bool wmi_launch_form_stream(const wmi_launch_form *form, const void *params, CUstream *stream) {
    switch (form->stream) {
    case STREAM_NONE: return false; /* it works on a default stream, which cannot be captured */
    case STREAM_IN_CONFIG: *stream = ((const cuLaunchKernelEx_params *)params)->config->hStream; break;
    case STREAM_IN_LIST: {
        const cuLaunchCooperativeKernelMultiDevice_params *p = params;
        if (p->numDevices == 0) return false;
        *stream = p->launchParamsList[0].hStream;
        break;
    }
    default: memcpy(stream, (const char *)params + 8 * (size_t)form->stream, sizeof *stream); break;
    }
    if (!*stream && form->per_thread) *stream = CU_STREAM_PER_THREAD;
    return true;
}

static void set_shape(wmi_shape *shape, const unsigned grid[3], const unsigned block[3], unsigned shared) {
    for (int i = 0; i < 3; i++) {
        shape->grid[i] = grid[i];
        shape->block[i] = block[i];
    }
    shape->shared = shared;
}

void wmi_launch_form_shape(const wmi_launch_form *form, const void *params, wmi_shape *shape) {
    CUstream stream = NULL;
    if (wmi_launch_form_stream(form, params, &stream)) shape->stream = (uint64_t)(uintptr_t)stream;
    switch (form->shape) {
    case SHAPE_DIMS: {
        const cuLaunchKernel_params *p = params;
        set_shape(shape, (unsigned[]){p->gridDimX, p->gridDimY, p->gridDimZ},
                  (unsigned[]){p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes);
        break;
    }
    case SHAPE_CONFIG: {
        const CUlaunchConfig *c = ((const cuLaunchKernelEx_params *)params)->config;
        set_shape(shape, (unsigned[]){c->gridDimX, c->gridDimY, c->gridDimZ},
                  (unsigned[]){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes);
        break;
    }
    case SHAPE_LIST: {
        const cuLaunchCooperativeKernelMultiDevice_params *p = params;
        if (p->numDevices == 0) break;
        const CUDA_LAUNCH_PARAMS *c = &p->launchParamsList[0];
        set_shape(shape, (unsigned[]){c->gridDimX, c->gridDimY, c->gridDimZ},
                  (unsigned[]){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes);
        break;
    }
    case SHAPE_GRID: { /* the block was set on the function, earlier */
        const cuLaunchGrid_params *p = params;
        shape->grid[0] = (uint32_t)p->grid_width;
        shape->grid[1] = (uint32_t)p->grid_height;
        shape->grid[2] = 1;
        break;
    }
    default: break;
    }
}
