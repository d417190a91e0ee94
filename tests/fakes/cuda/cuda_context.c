/* libcuda: contexts, and each thread's stack of them; streams. */
#include "cuda_driver.h"

#define DEPTH 32
static _Thread_local struct {
    uint64_t epoch; /* the stack is empty when a reset came between */
    size_t n;
    CUcontext v[DEPTH];
    CUstreamCaptureMode mode; /* which calls a capture forbids to this thread */
} stack;

CUcontext fakecuda_current(void) {
    const uint64_t epoch = fakei_epoch();
    if (stack.epoch != epoch) {
        stack.epoch = epoch;
        stack.n = 0;
        stack.mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    }
    return stack.n ? stack.v[stack.n - 1] : NULL;
}

static void push(CUcontext context) {
    (void)fakecuda_current();
    if (stack.n < DEPTH) stack.v[stack.n++] = context;
}

CUstream fakecuda_stream(CUstream handle, bool per_thread) {
    CUcontext context = fakecuda_current();
    if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) return handle;
    if (!context) return NULL;
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread)) return &context->per_thread;
    return &context->legacy;
}

/* ---- contexts ---- */

static CUresult create(CUcontext *context, CUdevice device) {
    CUresult result = CUDA_ERROR_INVALID_DEVICE;
    CUcontext made = NULL;
    size_t others = fake_contexts();
    fakei_lock();
    if (device >= 0 && (size_t)device < fakei_gpu.count) {
        int mode = fakei_gpu.v[device].compute_mode;
        bool refused =
            mode == CU_COMPUTEMODE_PROHIBITED || (mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS && others > 0);
        result = refused ? CUDA_ERROR_DEVICE_UNAVAILABLE : CUDA_SUCCESS;
        if (!refused) *context = made = fakei_context_new_locked(device, false);
    }
    fakei_unlock();
    if (made) {
        push(made);
        fakei_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, made);
    }
    return result;
}

static CUresult create_v2(const void *params, uint32_t correlation) {
    const cuCtxCreate_v2_params *p = params;
    (void)correlation;
    return create(p->pctx, p->dev);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    cuCtxCreate_v2_params p = {context, flags, device};
    return DRIVER(cuCtxCreate_v2, &p, NULL, create_v2);
}

#if CUDA_VERSION >= 12050
static CUresult create_v4(const void *params, uint32_t correlation) {
    const cuCtxCreate_v4_params *p = params;
    (void)correlation;
    return create(p->pctx, p->dev);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *how, unsigned flags, CUdevice device) {
    cuCtxCreate_v4_params p = {context, how, flags, device};
    return DRIVER(cuCtxCreate_v4, &p, NULL, create_v4);
}
#endif

static void end(CUcontext context) {
    fakei_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context);
    fakei_lock();
    fakei_synchronize_locked(context);
    fakei_context_end_locked(context);
    fakei_unlock();
}

static CUresult destroy(const void *params, uint32_t correlation) {
    const cuCtxDestroy_v2_params *p = params;
    (void)correlation;
    if (!p->ctx || p->ctx->gone || p->ctx->primary) return CUDA_ERROR_INVALID_CONTEXT;
    end(p->ctx);
    if (fakecuda_current() == p->ctx) stack.n--;
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    cuCtxDestroy_v2_params p = {context};
    return DRIVER(cuCtxDestroy_v2, &p, NULL, destroy);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    PLAIN(cuDevicePrimaryCtxRetain);
    fakei_lock();
    bool there = device >= 0 && (size_t)device < fakei_gpu.count;
    CUcontext c = there ? fakei_primary_locked(device) : NULL;
    bool fresh = there && !c;
    if (fresh) c = fakei_context_new_locked(device, true);
    if (c) c->references++;
    fakei_unlock();
    if (fresh) fakei_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, c);
    *context = c;
    return c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    PLAIN(cuDevicePrimaryCtxRelease_v2);
    fakei_lock();
    CUcontext c = fakei_primary_locked(device);
    bool last = c && --c->references == 0;
    fakei_unlock();
    if (last) end(c);
    return c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    PLAIN(cuCtxPushCurrent_v2);
    if (!context || context->gone) return CUDA_ERROR_INVALID_CONTEXT;
    push(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    PLAIN(cuCtxPopCurrent_v2);
    CUcontext c = fakecuda_current();
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    stack.n--;
    if (context) *context = c;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    PLAIN(cuCtxSetCurrent);
    if (fakecuda_current()) stack.n--;
    if (context) push(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    PLAIN(cuCtxGetCurrent);
    *context = fakecuda_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    PLAIN(cuCtxGetDevice);
    CUcontext c = fakecuda_current();
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    *device = c->device;
    return CUDA_SUCCESS;
}

/* Waiting for a context spoils what is captured in it. */
static CUresult synchronize(const void *params, uint32_t correlation) {
    CUcontext c = fakecuda_current();
    (void)params;
    (void)correlation;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    bool capturing = fakei_capturing_locked(c);
    for (CUstream s = &c->legacy; capturing && s; s = s->next) s->spoilt |= s->capture != NULL;
    if (!capturing) fakei_synchronize_locked(c);
    fakei_unlock();
    if (capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fakei_activity_deliver(false);
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) { return DRIVER(cuCtxSynchronize, NULL, NULL, synchronize); }

/* ---- streams ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    PLAIN(cuStreamCreate);
    CUcontext c = fakecuda_current();
    (void)flags;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    *stream = fakei_stream_new_locked(c);
    fakei_unlock();
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    PLAIN(cuStreamDestroy_v2);
    fakei_lock();
    fakei_stream_end_locked(stream);
    fakei_unlock();
    return CUDA_SUCCESS;
}

static CUresult synchronize_stream(CUstream s) {
    if (!s) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    bool capturing = s->capture != NULL;
    s->spoilt |= capturing;
    if (!capturing) fakei_synchronize_stream_locked(s);
    fakei_unlock();
    if (capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fakei_activity_deliver(false);
    return CUDA_SUCCESS;
}

static CUresult synchronize_legacy(const void *params, uint32_t correlation) {
    const cuStreamSynchronize_params *p = params;
    (void)correlation;
    return synchronize_stream(fakecuda_stream(p->hStream, false));
}

CUresult cuStreamSynchronize(CUstream stream) {
    cuStreamSynchronize_params p = {stream};
    return DRIVER(cuStreamSynchronize, &p, NULL, synchronize_legacy);
}

static CUresult synchronize_per_thread(const void *params, uint32_t correlation) {
    const cuStreamSynchronize_ptsz_params *p = params;
    (void)correlation;
    return synchronize_stream(fakecuda_stream(p->hStream, true));
}

CUresult cuStreamSynchronize_ptsz(CUstream stream) {
    cuStreamSynchronize_ptsz_params p = {stream};
    return DRIVER(cuStreamSynchronize_ptsz, &p, NULL, synchronize_per_thread);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    PLAIN(cuThreadExchangeStreamCaptureMode);
    (void)fakecuda_current();
    CUstreamCaptureMode old = stack.mode;
    stack.mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* A capture in global mode forbids unsafe calls to every thread that has not said otherwise; one in
 * the mode of its thread is not told apart. */
bool fakecuda_unsafe_allowed(void) {
    bool allowed = true;
    CUcontext c = fakecuda_current();
    if (!c || stack.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return true;
    fakei_lock();
    for (CUstream s = &c->legacy; s; s = s->next) {
        if (!s->capture || s->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
        s->spoilt = true;
        allowed = false;
    }
    fakei_unlock();
    return allowed;
}
