#include "backend/cuda/activity_buffers.h"

#include <pthread.h>
#include <stdlib.h>

#include "backend/cuda/activity_store.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cupti_dl.h"

/* Buffers that are idle are kept up to this number. */
enum { SPARES = 8 };
/* For a CUPTI that does not bear to be refused: small buffers, made ahead. */
enum { RESERVES = 4, RESERVE_BYTES = 64 << 10 };

typedef struct buffer {
    struct buffer *next;
    uint8_t *bytes;
    size_t size;
    bool out; /* CUPTI holds it */
    bool reserve;
} buffer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer *buffers;
static size_t spares; /* idle ones that are no reserve */
static size_t size_now;
static uint64_t foreign;

static buffer *make(size_t size) {
    buffer *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    /* A page's alignment, so that large ones begin where the system gives pages. */
    b->bytes = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
    if (!b->bytes) {
        free(b);
        return NULL;
    }
    b->size = size;
    return b;
}

static void add_locked(buffer *b) {
    b->next = buffers;
    buffers = b;
}

/* An idle one of the size wanted, or of the reserve. */
static buffer *idle_locked(bool reserve) {
    for (buffer *b = buffers; b; b = b->next) {
        if (!b->out && b->reserve == reserve && (reserve || b->size == size_now)) return b;
    }
    return NULL;
}

static buffer *take_locked(void) {
    buffer *b = idle_locked(false);
    if (b) {
        spares--;
        return b;
    }
    b = make(size_now);
    if (b) add_locked(b);
    return b ? b : idle_locked(true);
}

static void CUPTIAPI on_request(uint8_t **bytes, size_t *size, size_t *most) {
    pthread_mutex_lock(&lock);
    buffer *b = take_locked();
    if (b) b->out = true;
    *bytes = b ? b->bytes : NULL;
    *size = b ? b->size : 0;
    *most = 0;
    pthread_mutex_unlock(&lock);
}

static buffer *find_locked(const uint8_t *bytes) {
    for (buffer *b = buffers; b; b = b->next) {
        if (b->out && b->bytes == bytes) return b;
    }
    return NULL;
}

static void drop_locked(buffer *b) {
    for (buffer **at = &buffers; *at; at = &(*at)->next) {
        if (*at != b) continue;
        *at = b->next;
        free(b->bytes);
        free(b);
        return;
    }
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *bytes, size_t size,
                                 size_t filled) {
    (void)context;
    (void)stream;
    pthread_mutex_lock(&lock);
    buffer *b = find_locked(bytes);
    if (!b && bytes) foreign++;
    pthread_mutex_unlock(&lock);
    if (!b) return;
    if (filled > b->size || filled > size) filled = b->size < size ? b->size : size;
    wmi_activity_store_add(bytes, filled);
    pthread_mutex_lock(&lock);
    b->out = false;
    if (!b->reserve && (spares >= SPARES || b->size != size_now))
        drop_locked(b);
    else if (!b->reserve)
        spares++;
    pthread_mutex_unlock(&lock);
}

static bool make_reserves_locked(void) {
    size_t have = 0;
    for (const buffer *b = buffers; b; b = b->next) have += b->reserve;
    for (; have < RESERVES; have++) {
        buffer *b = make(RESERVE_BYTES);
        if (!b) return false;
        b->reserve = true;
        add_locked(b);
    }
    return true;
}

wm_status wmi_activity_buffers_open(size_t size, bool refuse, wm_error *err) {
    pthread_mutex_lock(&lock);
    size_now = size;
    const bool ready = refuse || make_reserves_locked();
    pthread_mutex_unlock(&lock);
    if (!ready) {
        wmi_activity_buffers_close();
        return wmi_error_nomem(err);
    }
    const CUptiResult r = wmi_cupti.ActivityRegisterCallbacks(on_request, on_complete);
    if (r == CUPTI_SUCCESS) return WM_OK;
    wmi_activity_buffers_close();
    return wmi_cuda_error(err, true, (int)r, "cannot record kernels: cuptiActivityRegisterCallbacks");
}

void wmi_activity_buffers_close(void) {
    pthread_mutex_lock(&lock);
    buffer **at = &buffers;
    while (*at) {
        buffer *b = *at;
        if (b->out) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        free(b->bytes);
        free(b);
    }
    spares = 0;
    pthread_mutex_unlock(&lock);
}

uint64_t wmi_activity_buffers_foreign(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = foreign;
    foreign = 0;
    pthread_mutex_unlock(&lock);
    return n;
}
