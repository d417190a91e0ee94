#include "backend/cuda/context_wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/launches.h"
#include "base/clock.h"

struct wmi_context_wait {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    CUcontext context; /* to wait for */
    CUresult result;
    bool working;   /* asked and not answered */
    bool leaving;   /* nobody asks any more */
    bool abandoned; /* while it worked: the thread frees all */
};

static void release(wmi_context_wait *w) {
    pthread_cond_destroy(&w->asked);
    pthread_cond_destroy(&w->answered);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static CUresult synchronize(CUcontext context) {
    CUresult result = wmi_cuda.ctx_push(context);
    if (result != CUDA_SUCCESS) return result;
    result = wmi_cuda.ctx_synchronize();
    CUcontext popped;
    (void)wmi_cuda.ctx_pop(&popped);
    return result;
}

static void *work(void *user) {
    wmi_context_wait *w = user;
    /* Both are a thread's own, and this thread is ours. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)wmi_cuda.capture_mode(&mode);
    wmi_launches_hide();

    pthread_mutex_lock(&w->lock);
    while (true) {
        while (!w->working && !w->leaving) pthread_cond_wait(&w->asked, &w->lock);
        if (!w->working) break;
        CUcontext context = w->context;
        pthread_mutex_unlock(&w->lock);
        CUresult result = synchronize(context);
        pthread_mutex_lock(&w->lock);
        w->result = result;
        w->working = false;
        pthread_cond_signal(&w->answered);
    }
    bool abandoned = w->abandoned;
    pthread_mutex_unlock(&w->lock);
    if (abandoned) release(w);
    return NULL;
}

static int start(wmi_context_wait *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void init(wmi_context_wait *w) {
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->asked, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

wm_status wmi_context_wait_create(wmi_context_wait **out, wm_error *err) {
    wmi_context_wait *w = calloc(1, sizeof *w);
    if (!w) return wmi_error_nomem(err);
    init(w);
    int failed = start(w);
    if (failed) {
        release(w);
        return wmi_error_set(err, WM_ENOMEM, failed, "no thread could be made to wait for the device: %s",
                             wmi_errno_text(failed));
    }
    *out = w;
    return WM_OK;
}

void wmi_context_wait_destroy(wmi_context_wait *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    bool stuck = w->working; /* perhaps for ever */
    w->leaving = true;
    w->abandoned = stuck;
    pthread_t thread = w->thread;
    pthread_cond_signal(&w->asked);
    pthread_mutex_unlock(&w->lock);
    if (stuck) {
        pthread_detach(thread);
    } else {
        pthread_join(thread, NULL);
        release(w);
    }
}

static struct timespec moment(int64_t from_now_ns) {
    enum { SECOND = 1000000000 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = t.tv_nsec + (from_now_ns > 0 ? from_now_ns % SECOND : 0);
    t.tv_sec += (time_t)(from_now_ns > 0 ? from_now_ns / SECOND : 0) + (time_t)(ns / SECOND);
    t.tv_nsec = (long)(ns % SECOND);
    return t;
}

bool wmi_context_wait_for(wmi_context_wait *w, CUcontext context, int64_t limit_ns, CUresult *result) {
    struct timespec deadline = moment(limit_ns);
    int waited = 0;
    pthread_mutex_lock(&w->lock);
    w->context = context;
    w->working = true;
    pthread_cond_signal(&w->asked);
    while (w->working && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&w->answered, &w->lock, &deadline);
    bool rested = !w->working;
    if (rested) *result = w->result;
    pthread_mutex_unlock(&w->lock);
    return rested;
}
