#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/machine.h"

/* To read twice what the caches hold replaces what was there even where the oldest line is not the first to
 * go. The buffer is written once: pages that were never written are all the same page of zeros. From then on
 * it is only read, so that a run starts with clean lines and never pays for writing them back. */
struct wmi_evictor {
    char *buffer;
    size_t bytes;
};

enum { LINE = 64 }; /* the smallest line in use; larger ones are read more than once */
enum { UNKNOWN_CACHE_BYTES = 32 * 1024 * 1024 };

static size_t cache_bytes(const wmi_machine *m) {
    int level = 0;
    int64_t sum = 0;
    for (int i = 0; i < m->cache_count; i++) {
        const wmi_cache *c = &m->caches[i];
        if (strcmp(c->type, "Instruction") == 0 || c->level < level) continue;
        if (c->level > level) sum = 0;
        level = c->level;
        sum += c->size_bytes * c->usable;
    }
    return sum > 0 ? (size_t)sum : UNKNOWN_CACHE_BYTES;
}

static wm_status map_buffer(wmi_evictor *e, int64_t memory_free, wm_error *err) {
    bool fits = memory_free < 0 || e->bytes <= (size_t)memory_free;
    void *p =
        fits ? mmap(NULL, e->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (p == MAP_FAILED)
        return wmi_error_set(
            err, WM_ENOMEM, 0,
            "evicting the caches takes a buffer of %zu MiB, and that much memory is not free",
            e->bytes >> 20);
    madvise(p, e->bytes, MADV_HUGEPAGE); /* fewer TLB misses while reading; fine if refused */
    memset(p, 1, e->bytes);
    e->buffer = p;
    return WM_OK;
}

wm_status wmi_evictor_create(const wmi_machine *m, wmi_evictor **out, size_t *bytes, wm_error *err) {
    wmi_evictor *e = calloc(1, sizeof *e);
    if (!e) return wmi_error_nomem(err);
    e->bytes = 2 * cache_bytes(m);
    wm_status status = map_buffer(e, m->memory_free_bytes, err);
    if (status != WM_OK) {
        free(e);
        return status;
    }
    if (bytes) *bytes = e->bytes;
    *out = e;
    return WM_OK;
}

void wmi_evictor_run(wmi_evictor *e) {
    for (size_t i = 0; i < e->bytes; i += LINE) (void)*(const volatile uint64_t *)(e->buffer + i);
}

void wmi_evictor_destroy(wmi_evictor *e) {
    if (!e) return;
    munmap(e->buffer, e->bytes);
    free(e);
}
