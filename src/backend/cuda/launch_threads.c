#include "backend/cuda/launch_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "backend/cuda/cupti_dl.h"
#include "base/intern.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what is taken and of the list's end */
static _Atomic(wmi_launch_thread *) first;

static _Thread_local wmi_launch_thread *self;
static _Thread_local unsigned hidden;

/* A destructor that runs later may call the driver: that thread then takes a state anew. */
static void release(void *state) {
    wmi_launch_thread *t = state;
    self = NULL;
    t->open = false;
    atomic_store_explicit(&t->since_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&t->taken, false, memory_order_release);
}

static void make_key(void) { have_key = pthread_key_create(&key, release) == 0; }

/* The one with the lowest number that is free. */
static wmi_launch_thread *take_locked(void) {
    _Atomic(wmi_launch_thread *) *at = &first;
    uint32_t number = 0;
    for (wmi_launch_thread *t = atomic_load(at); t; at = &t->next, t = atomic_load(at), number++) {
        if (atomic_load_explicit(&t->taken, memory_order_acquire)) continue;
        atomic_store_explicit(&t->taken, true, memory_order_relaxed);
        return t;
    }
    wmi_launch_thread *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->number = number;
    atomic_init(&made->taken, true);
    atomic_store_explicit(at, made, memory_order_release);
    return made;
}

wmi_launch_thread *wmi_launch_thread_self(void) {
    if (WM_LIKELY(self != NULL)) return self;
    pthread_once(&once, make_key);
    if (!have_key) return NULL;
    pthread_mutex_lock(&lock);
    wmi_launch_thread *t = take_locked();
    pthread_mutex_unlock(&lock);
    if (!t) return NULL;
    if (pthread_setspecific(key, t) != 0) {
        release(t);
        return NULL;
    }
    self = t;
    return t;
}

wmi_launch_thread *wmi_launch_thread_known(void) { return self; }

wmi_launch_thread *wmi_launch_threads(void) { return atomic_load_explicit(&first, memory_order_acquire); }

bool wmi_launch_thread_hidden(void) { return hidden > 0; }

void wmi_launches_hide(void) { hidden++; }

void wmi_launches_show(void) { hidden--; }

const char *wmi_launches_stuck(int64_t ns) {
    uint64_t now = 0;
    if (!wmi_cupti.GetTimestamp || wmi_cupti.GetTimestamp(&now) != CUPTI_SUCCESS) return NULL;
    int64_t longest = ns;
    const char *name = NULL;
    for (wmi_launch_thread *t = wmi_launch_threads(); t; t = atomic_load(&t->next)) {
        const int64_t since = atomic_load(&t->since_ns);
        if (since == 0 || (int64_t)now - since <= longest) continue;
        const char *its = atomic_load(&t->name);
        if (atomic_load(&t->since_ns) != since) continue; /* it has gone on meanwhile */
        longest = (int64_t)now - since;
        name = its;
    }
    return name ? wmi_intern_name(wmi_intern(name)) : NULL;
}
