#include "backend/cuda/activity_store.h"

#include <pthread.h>
#include <stdlib.h>

#include "backend/cuda/activity_read.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wmi_activity_blocks kept;
static size_t limit_now;
static uint64_t dropped;

void wmi_activity_blocks_free(wmi_activity_blocks *b) {
    for (size_t i = 0; i < b->n; i++) free(b->v[i]);
    free(b->v);
    *b = (wmi_activity_blocks){0};
}

/* Room for one more record; NULL: there is none. */
static wmi_activity *room_locked(void) {
    if (kept.records >= limit_now) return NULL;
    if (kept.n == 0 || kept.v[kept.n - 1]->n == WMI_ACTIVITY_BLOCK) {
        if (kept.n == kept.cap) {
            const size_t cap = kept.cap ? 2 * kept.cap : 16;
            wmi_activity_block **v = realloc(kept.v, cap * sizeof *v);
            if (!v) return NULL;
            kept.v = v;
            kept.cap = cap;
        }
        wmi_activity_block *block = malloc(sizeof *block);
        if (!block) return NULL;
        block->n = 0;
        kept.v[kept.n++] = block;
    }
    wmi_activity_block *last = kept.v[kept.n - 1];
    return &last->v[last->n];
}

void wmi_activity_store_open(size_t limit) {
    pthread_mutex_lock(&lock);
    limit_now = limit;
    pthread_mutex_unlock(&lock);
}

void wmi_activity_store_add(uint8_t *buffer, size_t size) {
    pthread_mutex_lock(&lock);
    void *record = NULL;
    bool broken = false;
    while (limit_now && wmi_activity_next(buffer, size, &record, &broken)) {
        wmi_activity read;
        const wmi_activity_verdict verdict = wmi_activity_read(record, &read);
        if (verdict == WMI_ACTIVITY_OTHER) continue;
        wmi_activity *room = verdict == WMI_ACTIVITY_READ ? room_locked() : NULL;
        if (!room) {
            dropped++;
            continue;
        }
        *room = read;
        kept.v[kept.n - 1]->n++;
        kept.records++;
    }
    dropped += broken; /* one at least */
    pthread_mutex_unlock(&lock);
}

wmi_activity_blocks wmi_activity_store_take(void) {
    pthread_mutex_lock(&lock);
    const wmi_activity_blocks taken = kept;
    kept = (wmi_activity_blocks){0};
    pthread_mutex_unlock(&lock);
    return taken;
}

size_t wmi_activity_store_count(void) {
    pthread_mutex_lock(&lock);
    const size_t n = kept.records;
    pthread_mutex_unlock(&lock);
    return n;
}

uint64_t wmi_activity_store_dropped(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return n;
}
