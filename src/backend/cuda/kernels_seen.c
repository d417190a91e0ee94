#include "backend/cuda/kernels_seen.h"

#include <stdlib.h>

/* An open-addressing table, at most half full; 0 is an empty slot, since no name has the id 0. */
static uint64_t *slots;
static size_t mask, count;

static uint64_t *slot_of(uint64_t *in, size_t in_mask, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    size_t i = (size_t)(hash >> 32) & in_mask;
    while (in[i] && in[i] != key) i = (i + 1) & in_mask;
    return &in[i];
}

static bool grow(void) {
    const size_t cap = slots ? 2 * (mask + 1) : 256;
    uint64_t *more = calloc(cap, sizeof *more);
    if (!more) return false;
    for (size_t i = 0; slots && i <= mask; i++) {
        if (slots[i]) *slot_of(more, cap - 1, slots[i]) = slots[i];
    }
    free(slots);
    slots = more;
    mask = cap - 1;
    return true;
}

bool wmi_kernels_seen_add(uint32_t name, uint32_t device, bool *first) {
    const uint64_t key = (uint64_t)name << 32 | device;
    *first = false;
    if (name == 0) return true;
    if ((!slots || 2 * (count + 1) > mask + 1) && !grow()) return false;
    uint64_t *slot = slot_of(slots, mask, key);
    if (*slot == key) return true;
    *slot = key;
    count++;
    *first = true;
    return true;
}
