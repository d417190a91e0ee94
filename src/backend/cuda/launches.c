#include "backend/cuda/launches.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/launch_forms.h"
#include "backend/cuda/launch_threads.h"
#include "backend/cuda/met_contexts.h"
#include "base/intern.h"

_Static_assert(sizeof(wmi_launch) == 32, "memory for each launch is bounded");

/* One lock for the log and for whose turn it is. A callback's first half, at a launch's begin, may
 * call what wmi_launches_start was given without it: the thread says first that it is at work, and
 * looks at the mode then; wmi_launches_stop changes the mode first, and then waits for those at
 * work. A launch between its two halves holds nothing but, in a counter window, its turn. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;

static _Atomic(int) mode_now = WMI_LAUNCHES_OFF;
static _Atomic(bool) watching; /* contexts are noted, whatever the mode */
/* Written under the lock, while nobody is at work. */
static wmi_scope scope_now;
static uint64_t (*entry_of)(wmi_scope scope);
static uint16_t (*run_of)(void);
static wmi_launch_hooks hooks_now;
static uint64_t window; /* what `generation` is until the next stop */

/* Under the lock. */
static uint64_t generation;               /* of the log: changes at every start and stop */
static const wmi_launch_thread *at_turn;  /* whose launch it is, in a counter window */
static uint64_t next_ticket, next_served; /* of those that wait for their turn */
static wmi_launch *times;
static size_t times_n, times_cap;
static bool times_sorted = true;
static wmi_shape *shapes;
static size_t shapes_n, shapes_cap;
static _Atomic(uint64_t) lost;
static _Atomic(size_t) captures; /* streams that are being captured */

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static CUpti_SubscriberHandle subscriber;
static bool subscribed;
static _Atomic(uint64_t) attached; /* counts subscriptions: a launch that began in another one is dead */

/* ---- the log ---- */

/* A quarter more each time: memory for each launch is bounded, and a large block is moved by the
 * system without copying. */
static void *grown(void *v, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return v;
    const size_t more = *cap + *cap / 4 + 1024;
    void *moved = realloc(v, more * size);
    if (moved) *cap = more;
    return moved;
}

static bool log_time_locked(const wmi_launch_thread *t) {
    wmi_launch *v = grown(times, times_n, &times_cap, sizeof *v);
    if (!v) return false;
    times = v;
    if (times_n && times[times_n - 1].correlation > t->correlation) times_sorted = false;
    times[times_n++] = (wmi_launch){.entry = t->shape.entry,
                                    .call_ns = t->call_ns,
                                    .correlation = t->correlation,
                                    .thread = t->number,
                                    .context = t->shape.context,
                                    .run = t->run,
                                    .kind = t->shape.kind};
    return true;
}

static bool log_shape_locked(const wmi_launch_thread *t) {
    wmi_shape *v = grown(shapes, shapes_n, &shapes_cap, sizeof *v);
    if (!v) return false;
    shapes = v;
    shapes[shapes_n++] = t->shape;
    return true;
}

static int by_correlation(const void *a, const void *b) {
    const uint32_t x = ((const wmi_launch *)a)->correlation, y = ((const wmi_launch *)b)->correlation;
    return (x > y) - (x < y);
}

const wmi_launch *wmi_launches_times(size_t *count) {
    pthread_mutex_lock(&lock);
    if (!times_sorted) qsort(times, times_n, sizeof *times, by_correlation);
    times_sorted = true;
    pthread_mutex_unlock(&lock);
    *count = times_n;
    return times;
}

const wmi_shape *wmi_launches_shapes(size_t *count) {
    *count = shapes_n;
    return shapes;
}

static void clear_locked(void) {
    times_n = shapes_n = 0;
    times_sorted = true;
}

void wmi_launches_clear(void) {
    pthread_mutex_lock(&lock);
    clear_locked();
    pthread_mutex_unlock(&lock);
}

uint64_t wmi_launches_lost(void) { return atomic_load(&lost); }

/* ---- a launch ---- */

static bool is_captured(const wmi_launch_form *form, const void *params) {
    CUstream stream = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (atomic_load(&captures) == 0 || !wmi_launch_form_stream(form, params, &stream)) return false;
    return wmi_cuda.stream_is_capturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static bool place(wmi_launch_thread *t, const CUpti_CallbackData *data) {
    const uint64_t now = atomic_load(&attached);
    if (t->context != data->context || t->context_id != data->contextUid || t->context_attached != now) {
        if (!wmi_met_context(data->context, data->contextUid, &t->context_index)) return false;
        t->context = data->context;
        t->context_id = data->contextUid;
        t->context_attached = now;
    }
    t->shape.context = t->context_index;
    return true;
}

static uint8_t kind_of(const wmi_launch_form *form) {
    switch (form->kind) {
    case WMI_FORM_GRAPH: return WMI_LAUNCH_GRAPH;
    case WMI_FORM_COPY: return WMI_LAUNCH_COPY;
    case WMI_FORM_SET: return WMI_LAUNCH_SET;
    default: return WMI_LAUNCH_KERNEL;
    }
}

/* Wait until no other launch is at work, and all that came earlier were; else one thread in a loop
 * could keep the others out. false: the log was stopped meanwhile. */
static bool take_turn(wmi_launch_thread *t) {
    pthread_mutex_lock(&lock);
    t->ordered = generation == t->generation;
    if (t->ordered) {
        const uint64_t ticket = next_ticket++;
        while (generation == t->generation && (at_turn || ticket != next_served))
            pthread_cond_wait(&turn, &lock);
        t->ordered = generation == t->generation;
    }
    if (t->ordered) {
        at_turn = t;
        next_served++;
    }
    pthread_mutex_unlock(&lock);
    return t->ordered;
}

/* For wmi_launches_stuck. */
static void publish(wmi_launch_thread *t, const wmi_launch_form *form, const CUpti_CallbackData *data) {
    const char *name = form->kind == WMI_FORM_KERNEL ? data->symbolName : NULL;
    atomic_store_explicit(&t->name, name ? name : data->functionName, memory_order_relaxed);
    atomic_store_explicit(&t->since_ns, t->call_ns, memory_order_release);
}

static void begin_work(wmi_launch_thread *t, const wmi_launch_form *form, const CUpti_CallbackData *data,
                       bool in_order) {
    const bool runs = form->kind == WMI_FORM_KERNEL || form->kind == WMI_FORM_GRAPH;
    t->open = true; /* from here on calls of the driver by this thread are within the launch */
    t->correlation = data->correlationId;
    t->attached = atomic_load(&attached);
    t->ordered = false;
    t->generation = window;
    t->shape = (wmi_shape){
        .entry = entry_of ? entry_of(scope_now) : WMI_NO_ENTRY, .thread = t->number, .kind = kind_of(form)};
    t->run = run_of ? run_of() : 0;
    t->captured = is_captured(form, data->functionParams);
    t->placed = place(t, data);
    if (runs && !t->captured && (in_order || hooks_now.before)) {
        if (form->kind == WMI_FORM_KERNEL && data->symbolName) t->shape.name = wmi_intern(data->symbolName);
        wmi_launch_form_shape(form, data->functionParams, &t->shape);
    }
    if (in_order && !take_turn(t)) {
        t->open = false;
        return;
    }
    if (hooks_now.before && runs && !t->captured && t->placed) {
        hooks_now.before(hooks_now.user, wmi_met_context_at(t->shape.context), &t->shape);
    }
    uint64_t now = 0;
    (void)wmi_cupti.GetTimestamp(&now);
    t->call_ns = (int64_t)now;
    if (runs) publish(t, form, data);
}

static void on_begin(const wmi_launch_form *form, const CUpti_CallbackData *data) {
    wmi_launch_thread *t = wmi_launch_thread_self();
    if (!t) {
        atomic_fetch_add(&lost, 1);
        return;
    }
    /* The driver may call itself: the outer call is the launch. */
    if (t->open && t->attached == atomic_load(&attached)) return;
    t->open = false;
    atomic_store(&t->at_work, true);
    const int now = atomic_load(&mode_now);
    if (now == WMI_LAUNCHES_OFF && atomic_load(&watching)) (void)place(t, data);
    const bool runs = form->kind == WMI_FORM_KERNEL || form->kind == WMI_FORM_GRAPH;
    if (now == WMI_LAUNCHES_TIMES || (now == WMI_LAUNCHES_SHAPES && runs))
        begin_work(t, form, data, now == WMI_LAUNCHES_SHAPES);
    atomic_store_explicit(&t->at_work, false, memory_order_release);
}

static bool succeeded(const CUpti_CallbackData *data) {
    return !data->functionReturnValue || *(const CUresult *)data->functionReturnValue == CUDA_SUCCESS;
}

static void on_end(const CUpti_CallbackData *data) {
    wmi_launch_thread *t = wmi_launch_thread_known();
    if (!t || !t->open || t->correlation != data->correlationId) return;
    t->open = false;
    atomic_store_explicit(&t->since_ns, 0, memory_order_relaxed);
    const bool made = succeeded(data) && !t->captured;
    pthread_mutex_lock(&lock);
    if (made && t->generation == generation) {
        const bool logged = t->placed && (t->ordered ? log_shape_locked(t) : log_time_locked(t));
        if (!logged) atomic_fetch_add(&lost, 1);
    }
    if (t->ordered && at_turn == t) {
        at_turn = NULL;
        pthread_cond_broadcast(&turn);
    }
    pthread_mutex_unlock(&lock);
}

/* Does this result of cuStreamEndCapture mean that the stream is not captured any more? */
static bool ended(CUresult result) {
    return result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

static void on_capture(const wmi_launch_form *form, const CUpti_CallbackData *data) {
    if (data->callbackSite != CUPTI_API_EXIT || !data->functionReturnValue) return;
    const CUresult result = *(const CUresult *)data->functionReturnValue;
    pthread_mutex_lock(&lock);
    const size_t n = atomic_load(&captures);
    if (form->kind == WMI_FORM_BEGIN_CAPTURE) {
        if (result == CUDA_SUCCESS) atomic_store(&captures, n + 1);
    } else if (n > 0 && ended(result)) {
        atomic_store(&captures, n - 1);
    }
    pthread_mutex_unlock(&lock);
}

bool wmi_launches_capturing(void) { return atomic_load(&captures) > 0; }

static void (*_Atomic context_ends)(CUcontext context);

void wmi_launches_on_context_end(void (*ends)(CUcontext context)) { atomic_store(&context_ends, ends); }

static void on_context_end(const CUpti_ResourceData *data) {
    void (*ends)(CUcontext context) = atomic_load(&context_ends);
    if (ends) ends(data->context);
    wmi_met_context_gone(data->context);
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data) {
    (void)user;
    if (wmi_launch_thread_hidden()) return;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) on_context_end(data);
        return;
    }
    const CUpti_CallbackData *call = data;
    const wmi_launch_form *form = domain == CUPTI_CB_DOMAIN_DRIVER_API ? wmi_launch_form_of(id) : NULL;
    if (!form) return;
    if (form->kind == WMI_FORM_BEGIN_CAPTURE || form->kind == WMI_FORM_END_CAPTURE)
        on_capture(form, call);
    else if (call->callbackSite == CUPTI_API_ENTER)
        on_begin(form, call);
    else
        on_end(call);
}

/* ---- start and stop ---- */

static void wait_for_work(void) {
    for (wmi_launch_thread *t = wmi_launch_threads(); t; t = atomic_load(&t->next)) {
        while (atomic_load(&t->at_work)) sched_yield();
    }
}

void wmi_launches_stop(void) {
    pthread_mutex_lock(&lock);
    atomic_store(&mode_now, WMI_LAUNCHES_OFF);
    generation++;
    next_ticket = next_served = 0; /* all that wait go away */
    pthread_cond_broadcast(&turn);
    pthread_mutex_unlock(&lock);
    wait_for_work();
}

void wmi_launches_start(wmi_launch_mode mode, wmi_scope scope, uint64_t (*launch_entry)(wmi_scope scope),
                        uint16_t (*launch_run)(void), const wmi_launch_hooks *hooks) {
    wmi_launches_stop();
    pthread_mutex_lock(&lock);
    clear_locked();
    atomic_store(&lost, 0);
    scope_now = scope;
    entry_of = launch_entry;
    run_of = launch_run;
    hooks_now = hooks ? *hooks : (wmi_launch_hooks){0};
    window = ++generation;
    atomic_store(&mode_now, (int)mode);
    pthread_mutex_unlock(&lock);
}

size_t wmi_launches_contexts(void) { return wmi_met_contexts(); }

wmi_cuda_context wmi_launches_context(size_t i) {
    wmi_cuda_context context = *wmi_met_context_at(i);
    if (wmi_met_context_is_gone(i)) context.handle = NULL;
    return context;
}

void wmi_launches_meet_current(void) {
    CUcontext context = NULL;
    uint32_t id = 0;
    uint16_t index;
    wmi_launches_hide();
    if (wmi_cuda.ctx_current(&context) == CUDA_SUCCESS && context &&
        wmi_cupti.GetContextId(context, &id) == CUPTI_SUCCESS)
        (void)wmi_met_context(context, id, &index);
    wmi_launches_show();
}

/* ---- the subscription ---- */

static CUptiResult enable_callbacks(void) {
    for (uint32_t id = 0; id < WMI_LAUNCH_FORMS; id++) {
        if (!wmi_launch_form_of(id)) continue;
        const CUptiResult r = wmi_cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
        if (r != CUPTI_SUCCESS && id < WMI_LAUNCH_FORMS_ALWAYS) return r;
    }
    return wmi_cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

/* A subscription that CUPTI did not end serves again: it takes no second one. */
static void unsubscribe(void) { subscribed = wmi_cupti.Unsubscribe(subscriber) != CUPTI_SUCCESS; }

static wm_status subscribe(wm_error *err) {
    const wmi_cuda_device *devices;
    size_t count;
    wm_status status = wmi_cuda_load(err);
    if (status == WM_OK) status = wmi_cupti_load(err);
    if (status == WM_OK) status = wmi_cuda_devices(&devices, &count, err);
    if (status != WM_OK) return status;
    CUptiResult r = subscribed ? CUPTI_SUCCESS : wmi_cupti.Subscribe(&subscriber, on_callback, NULL);
    subscribed = r == CUPTI_SUCCESS;
    if (r != CUPTI_SUCCESS) return wmi_cuda_error(err, true, (int)r, "cannot see launches: cuptiSubscribe");
    r = enable_callbacks();
    if (r == CUPTI_SUCCESS) {
        atomic_store(&watching, true);
        return WM_OK;
    }
    unsubscribe();
    return wmi_cuda_error(err, true, (int)r, "cannot see launches: cuptiEnableCallback");
}

wm_status wmi_launches_attach(wm_error *err) {
    pthread_mutex_lock(&attach_lock);
    wm_status status = WM_OK;
    if (users == 0) {
        atomic_fetch_add(&attached, 1);
        status = subscribe(err);
    }
    if (status == WM_OK) users++;
    pthread_mutex_unlock(&attach_lock);
    return status;
}

static void forget_all(void) {
    pthread_mutex_lock(&lock);
    free(times);
    free(shapes);
    times = NULL;
    shapes = NULL;
    times_cap = shapes_cap = 0;
    clear_locked();
    at_turn = NULL; /* the end of a launch that is at work will not be seen */
    atomic_store(&captures, 0);
    pthread_mutex_unlock(&lock);
    wmi_met_contexts_clear();
}

void wmi_launches_detach(void) {
    pthread_mutex_lock(&attach_lock);
    if (users > 0 && --users == 0) {
        wmi_launches_stop();
        unsubscribe();
        atomic_fetch_add(&attached, 1);
        atomic_store(&watching, false);
        wait_for_work();
        forget_all();
    }
    pthread_mutex_unlock(&attach_lock);
}
