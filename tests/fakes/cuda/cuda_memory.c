/* libcuda: device memory, copies and sets, which move no bytes. */
#include "cuda_driver.h"

static CUresult allocate(const void *params, uint32_t correlation) {
    const cuMemAlloc_v2_params *p = params;
    CUcontext c = fakecuda_current();
    (void)correlation;
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    if (!fakecuda_unsafe_allowed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return fakei_memory_new(c->device, p->bytesize, p->dptr) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    cuMemAlloc_v2_params p = {address, bytes};
    return DRIVER(cuMemAlloc_v2, &p, NULL, allocate);
}

static CUresult release(const void *params, uint32_t correlation) {
    const cuMemFree_v2_params *p = params;
    (void)correlation;
    return fakei_memory_end(p->dptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    cuMemFree_v2_params p = {address};
    return DRIVER(cuMemFree_v2, &p, NULL, release);
}

/* `waits`: the call returns once the work has ended, which no capture allows. */
static CUresult submit(fakei_work work, CUstream stream, bool waits, uint32_t correlation) {
    CUresult result = CUDA_SUCCESS;
    if (!stream) return CUDA_ERROR_INVALID_CONTEXT;
    work.stream = stream;
    work.correlation = correlation;
    fakei_lock();
    if (waits && fakei_capturing_locked(stream->context)) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else {
        fakei_launch_call_locked();
        fakei_launch_locked(work);
        if (waits) fakei_synchronize_stream_locked(stream);
    }
    fakei_unlock();
    return result;
}

/* The body of a copy or a set: its parameters as *p. */
#define BODY(function, per_thread, stream, waits, ...)                                                       \
    static CUresult do_##function(const void *params, uint32_t correlation) {                                \
        const function##_params *p = params;                                                                 \
        fakei_work work = {__VA_ARGS__};                                                                     \
        return submit(work, fakecuda_stream(stream, per_thread), waits, correlation);                        \
    }
#define COPY(direction)                                                                                      \
    .kind = FAKEI_COPY, .bytes = p->ByteCount, .copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_##direction
#define SET(size, what) .kind = FAKEI_SET, .bytes = p->N * (size), .value = p->what

BODY(cuMemcpyHtoD_v2, false, NULL, true, COPY(HTOD))
BODY(cuMemcpyDtoH_v2, false, NULL, true, COPY(DTOH))
BODY(cuMemcpyDtoD_v2, false, NULL, false, COPY(DTOD))
BODY(cuMemcpyHtoDAsync_v2, false, p->hStream, false, COPY(HTOD))
BODY(cuMemcpyHtoDAsync_v2_ptsz, true, p->hStream, false, COPY(HTOD))
BODY(cuMemsetD8_v2, false, NULL, false, SET(1, uc))
BODY(cuMemsetD32_v2, false, NULL, false, SET(4, ui))
BODY(cuMemsetD8Async, false, p->hStream, false, SET(1, uc))
BODY(cuMemsetD8Async_ptsz, true, p->hStream, false, SET(1, uc))

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    cuMemcpyHtoD_v2_params p = {to, from, bytes};
    return DRIVER(cuMemcpyHtoD_v2, &p, NULL, do_cuMemcpyHtoD_v2);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    cuMemcpyDtoH_v2_params p = {to, from, bytes};
    return DRIVER(cuMemcpyDtoH_v2, &p, NULL, do_cuMemcpyDtoH_v2);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    cuMemcpyDtoD_v2_params p = {to, from, bytes};
    return DRIVER(cuMemcpyDtoD_v2, &p, NULL, do_cuMemcpyDtoD_v2);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    cuMemcpyHtoDAsync_v2_params p = {to, from, bytes, stream};
    return DRIVER(cuMemcpyHtoDAsync_v2, &p, NULL, do_cuMemcpyHtoDAsync_v2);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    cuMemcpyHtoDAsync_v2_ptsz_params p = {to, from, bytes, stream};
    return DRIVER(cuMemcpyHtoDAsync_v2_ptsz, &p, NULL, do_cuMemcpyHtoDAsync_v2_ptsz);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    cuMemsetD8_v2_params p = {to, value, count};
    return DRIVER(cuMemsetD8_v2, &p, NULL, do_cuMemsetD8_v2);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    cuMemsetD32_v2_params p = {to, value, count};
    return DRIVER(cuMemsetD32_v2, &p, NULL, do_cuMemsetD32_v2);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    cuMemsetD8Async_params p = {to, value, count, stream};
    return DRIVER(cuMemsetD8Async, &p, NULL, do_cuMemsetD8Async);
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    cuMemsetD8Async_ptsz_params p = {to, value, count, stream};
    return DRIVER(cuMemsetD8Async_ptsz, &p, NULL, do_cuMemsetD8Async_ptsz);
}
