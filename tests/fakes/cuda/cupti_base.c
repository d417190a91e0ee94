/* libcupti: what it says of itself and of devices, callbacks, activity. */
#include <string.h>

#include "cupti_calls.h"

static uint32_t version(void) {
    fakei_lock();
    uint32_t v = fakei_gpu.cupti_version;
    fakei_unlock();
    return v ? v : FAKE_CUPTI_VERSION;
}

CUptiResult cuptiGetVersion(uint32_t *out) {
    ENTER(cuptiGetVersion);
    *out = version();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult code, const char **out) {
    ENTER(cuptiGetResultString);
    if (code < CUPTI_SUCCESS || (code > INVALID_CHIP_NAME && code != CUPTI_ERROR_UNKNOWN))
        return CUPTI_ERROR_INVALID_PARAMETER;
    switch (code) {
    case CUPTI_SUCCESS: *out = "CUPTI_SUCCESS"; break;
    case CUPTI_ERROR_INVALID_PARAMETER: *out = "CUPTI_ERROR_INVALID_PARAMETER"; break;
    case CUPTI_ERROR_HARDWARE_BUSY: *out = "CUPTI_ERROR_HARDWARE_BUSY"; break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *out = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *out = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    case CUPTI_ERROR_UNKNOWN: *out = "CUPTI_ERROR_UNKNOWN"; break;
    default: *out = "CUPTI_ERROR_OF_A_FAKE"; break;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *out) {
    ENTER(cuptiGetTimestamp);
    *out = (uint64_t)fake_now();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *out) {
    ENTER(cuptiGetContextId);
    if (!context || context->gone) return CUPTI_ERROR_INVALID_CONTEXT;
    *out = context->id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params) {
    ENTER(cuptiDeviceGetChipName);
    if (!SIZED(params, CUpti_Device_GetChipName_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    bool there = params->deviceIndex < fakei_gpu.count;
    if (there) params->pChipName = fakei_gpu.v[params->deviceIndex].chip;
    fakei_unlock();
    return there ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_DEVICE;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params) {
    ENTER(cuptiProfilerInitialize);
    if (!SIZED(params, CUpti_Profiler_Initialize_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    bool device = fakei_gpu.count > 0 && !fakei_gpu.stub;
    fakei_unlock();
    return device ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *params) {
    ENTER(cuptiProfilerDeInitialize);
    return SIZED(params, CUpti_Profiler_DeInitialize_Params) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *params) {
    ENTER(cuptiProfilerDeviceSupported);
    if (!SIZED(params, CUpti_Profiler_DeviceSupported_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    bool there = params->cuDevice >= 0 && (size_t)params->cuDevice < fakei_gpu.count;
    if (there) fakei_supported_locked(params);
    fakei_unlock();
    return there ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_DEVICE;
}

/* ---- callbacks ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user) {
    ENTER(cuptiSubscribe);
    return fakei_subscribe(out, callback, user);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    ENTER(cuptiUnsubscribe);
    return fakei_unsubscribe(subscriber);
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
    ENTER(cuptiEnableCallback);
    return fakei_enable(subscriber, domain, cbid, on != 0, false);
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) {
    ENTER(cuptiEnableDomain);
    return fakei_enable(subscriber, domain, 0, on != 0, true);
}

/* ---- activity ---- */

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
    ENTER(cuptiActivityRegisterCallbacks);
    return fakei_activity_register(requested, completed, version());
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    ENTER(cuptiActivityEnable);
    return fakei_activity_enable(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    ENTER(cuptiActivityDisable);
    return fakei_activity_enable(kind, false);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    ENTER(cuptiActivityFlushAll);
    (void)flag;
    fakei_activity_deliver(true);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t size, CUpti_Activity **record) {
    ENTER(cuptiActivityGetNextRecord);
    return fakei_activity_next(buffer, size, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped) {
    ENTER(cuptiActivityGetNumDroppedRecords);
    (void)context;
    (void)stream;
    if (!dropped) return CUPTI_ERROR_INVALID_PARAMETER;
    *dropped = fakei_activity_dropped();
    return CUPTI_SUCCESS;
}

/* ---- clock control, since 13.4; no header of 13.0 has it ---- */

CUptiResult cuptiClockControlLock(CUcontext context, int mode);
CUptiResult cuptiClockControlUnlock(void);

static int clocked = -1; /* the device whose clocks are locked; under the lock */

CUptiResult cuptiClockControlLock(CUcontext context, int mode) {
    ENTER(cuptiClockControlLock);
    if (version() < 130400) return CUPTI_ERROR_NOT_SUPPORTED;
    if (!context || context->gone || mode != 1) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    clocked = context->device;
    fakei_clocks_lock_locked(clocked, 1305, true);
    fakei_unlock();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiClockControlUnlock(void) {
    ENTER(cuptiClockControlUnlock);
    fakei_lock();
    const bool was = clocked >= 0 && fakei_clocks_unlock_locked(clocked, true);
    clocked = -1;
    fakei_unlock();
    return was ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
