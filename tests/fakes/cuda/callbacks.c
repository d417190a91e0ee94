/* The subscriber, and the calls of the driver that it sees. */
#include "fake_state.h"

#include <stdatomic.h>
#include <string.h>

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void *user;
    atomic_bool driver[CUPTI_DRIVER_TRACE_CBID_SIZE], resource[CUPTI_CBID_RESOURCE_SIZE];
};

/* Changed under the lock, read without: a launch must not wait for others twice. */
static struct CUpti_Subscriber_st *_Atomic subscriber;
static bool other;
static _Atomic uint32_t next_correlation;
static atomic_size_t active;
static _Atomic uint64_t made;

void fakei_callbacks_reset_locked(void) {
    subscriber = NULL;
    other = false;
    next_correlation = 1;
    active = 0;
    made = 0;
}

CUptiResult fakei_subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user) {
    CUptiResult result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (!out || !callback) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    if (!subscriber && !other) {
        struct CUpti_Subscriber_st *s = fakei_alloc(sizeof *s);
        s->callback = callback;
        s->user = user;
        subscriber = s;
        *out = s;
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

CUptiResult fakei_unsubscribe(CUpti_SubscriberHandle handle) {
    CUptiResult result = CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    if (handle && handle == subscriber) {
        subscriber = NULL;
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

static CUptiResult enable(struct CUpti_Subscriber_st *s, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                          bool on, bool all) {
    atomic_bool *flags = domain == CUPTI_CB_DOMAIN_DRIVER_API ? s->driver : s->resource;
    size_t count = domain == CUPTI_CB_DOMAIN_DRIVER_API ? CUPTI_DRIVER_TRACE_CBID_SIZE
                                                        : (size_t)CUPTI_CBID_RESOURCE_SIZE;
    if (domain == CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RESOURCE) return CUPTI_SUCCESS;
    if (!all && (cbid == 0 || cbid >= count)) return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 1; i < count; i++)
        if (all || i == cbid) flags[i] = on;
    return CUPTI_SUCCESS;
}

CUptiResult fakei_enable(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         bool on, bool all) {
    fakei_lock();
    CUptiResult result = handle && handle == subscriber ? enable(handle, domain, cbid, on, all)
                                                        : CUPTI_ERROR_INVALID_PARAMETER;
    fakei_unlock();
    return result;
}

/* The call at whose begin this thread is inside a callback, or 0. */
static _Thread_local uint32_t outer_correlation;

/* The callback runs without the lock: it may call the driver, and the subscriber may go meanwhile. */
static void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data) {
    struct CUpti_Subscriber_st *s = subscriber;
    if (!s || !(domain == CUPTI_CB_DOMAIN_DRIVER_API ? s->driver[cbid] : s->resource[cbid])) return;
    active++;
    made++;
    s->callback(s->user, domain, cbid, data);
    active--;
}

CUresult fakei_driver(const fakei_call *call, CUresult (*body)(const void *params, uint32_t correlation)) {
    CUresult result = (CUresult)fakei_enter(call->name);
    uint64_t kept = 0;
    const uint32_t outer = outer_correlation;
    const uint32_t correlation = outer ? outer : next_correlation++;
    CUpti_CallbackData data = {.callbackSite = CUPTI_API_ENTER,
                               .functionName = call->name,
                               .functionParams = call->params,
                               .symbolName = call->symbol,
                               .context = call->context,
                               .contextUid = call->context ? call->context->id : 0,
                               .correlationData = &kept,
                               .correlationId = correlation};
    outer_correlation = correlation;
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, call->cbid, &data);
    outer_correlation = outer;
    if (result == CUDA_SUCCESS) result = body(call->params, correlation);
    data.callbackSite = CUPTI_API_EXIT;
    data.functionReturnValue = &result;
    call_back(CUPTI_CB_DOMAIN_DRIVER_API, call->cbid, &data);
    return result;
}

void fakei_resource(CUpti_CallbackIdResource what, CUcontext context) {
    CUpti_ResourceData data = {.context = context};
    call_back(CUPTI_CB_DOMAIN_RESOURCE, what, &data);
}

void fake_next_correlation(uint32_t id) { next_correlation = id; }

void fake_other_subscriber(bool there) {
    fakei_lock();
    other = there;
    fakei_unlock();
}

size_t fake_callbacks_active(void) { return active; }
uint64_t fake_callbacks(void) { return made; }
