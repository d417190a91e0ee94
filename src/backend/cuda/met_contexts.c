#include "backend/cuda/met_contexts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "backend/cuda/cuda_dl.h"

typedef struct met {
    wmi_cuda_context context;
    atomic_bool gone;
} met;

/* Blocks of 8, 16, 32 …: they do not move, so that one is read while another is added. */
enum { FIRST_BITS = 3, BLOCKS = 13, MOST = (1 << (FIRST_BITS + BLOCKS)) - (1 << FIRST_BITS) };
_Static_assert(MOST <= UINT16_MAX, "a number has 16 bits");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static met *blocks[BLOCKS];
static _Atomic(size_t) count;

static met *at(size_t index) {
    const size_t place = index + (1u << FIRST_BITS);
    const unsigned bit = 31u - (unsigned)__builtin_clz((unsigned)place);
    return &blocks[bit - FIRST_BITS][place - ((size_t)1 << bit)];
}

static const wmi_cuda_device *current_device(void) {
    CUdevice ordinal;
    const wmi_cuda_device *devices;
    size_t n;
    if (wmi_cuda.ctx_device(&ordinal) != CUDA_SUCCESS) return NULL;
    if (wmi_cuda_devices(&devices, &n, NULL) != WM_OK) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (devices[i].ordinal == ordinal) return &devices[i];
    }
    return NULL;
}

static bool add_locked(const wmi_cuda_context *context) {
    const size_t n = atomic_load_explicit(&count, memory_order_relaxed);
    if (n >= MOST) return false;
    const size_t place = n + (1u << FIRST_BITS);
    if ((place & (place - 1)) == 0) { /* the first of a block */
        const unsigned bit = 31u - (unsigned)__builtin_clz((unsigned)place);
        met **block = &blocks[bit - FIRST_BITS];
        if (!*block) *block = calloc(place, sizeof **block);
        if (!*block) return false;
    }
    met *m = at(n);
    m->context = *context;
    atomic_store(&m->gone, false);
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return true;
}

static bool find_locked(CUcontext handle, uint32_t id, uint16_t *index) {
    for (size_t i = wmi_met_contexts(); i-- > 0;) {
        const met *m = at(i);
        if (m->context.id == id && m->context.handle == handle && !atomic_load(&m->gone)) {
            *index = (uint16_t)i;
            return true;
        }
    }
    return false;
}

bool wmi_met_context(CUcontext handle, uint32_t id, uint16_t *index) {
    pthread_mutex_lock(&lock);
    bool known = find_locked(handle, id, index);
    pthread_mutex_unlock(&lock);
    if (known) return true;
    /* The driver is asked without the lock. */
    const wmi_cuda_context context = {handle, id, current_device()};
    if (!context.device) return false;
    pthread_mutex_lock(&lock);
    known = find_locked(handle, id, index) || (add_locked(&context) && find_locked(handle, id, index));
    pthread_mutex_unlock(&lock);
    return known;
}

const wmi_cuda_context *wmi_met_context_at(size_t index) { return &at(index)->context; }

size_t wmi_met_contexts(void) { return atomic_load_explicit(&count, memory_order_acquire); }

void wmi_met_context_gone(CUcontext handle) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < wmi_met_contexts(); i++) {
        met *m = at(i);
        if (m->context.handle == handle) atomic_store(&m->gone, true);
    }
    pthread_mutex_unlock(&lock);
}

bool wmi_met_context_is_gone(size_t index) { return atomic_load(&at(index)->gone); }

void wmi_met_contexts_clear(void) {
    pthread_mutex_lock(&lock);
    atomic_store(&count, 0);
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
}
