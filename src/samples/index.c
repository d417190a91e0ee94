#include "samples/index.h"

#include <stdlib.h>

/* Open addressing with linear probing; half the slots stay free, so that probes are
 * short. A slot holds its hash, so that growing looks at no key. */

struct wmi_slot {
    uint32_t hash, id; /* id UINT32_MAX: free */
};

enum { FIRST_CAP = 16 };

uint32_t *wmi_index_find(const wmi_index *ix, uint64_t hash, wmi_same_fn same, const void *owner,
                         const void *key) {
    if (ix->cap == 0) return NULL;
    for (size_t at = (uint32_t)hash & (ix->cap - 1);; at = (at + 1) & (ix->cap - 1)) {
        struct wmi_slot *slot = &ix->slots[at];
        if (slot->id == UINT32_MAX) return NULL;
        if (slot->hash == (uint32_t)hash && same(owner, slot->id, key)) return &slot->id;
    }
}

static void place(struct wmi_slot *slots, size_t cap, struct wmi_slot slot) {
    size_t at = slot.hash & (cap - 1);
    while (slots[at].id != UINT32_MAX) at = (at + 1) & (cap - 1);
    slots[at] = slot;
}

bool wmi_index_reserve(wmi_index *ix) {
    if ((ix->n + 1) * 2 <= ix->cap) return true;
    size_t cap = ix->cap ? ix->cap * 2 : FIRST_CAP;
    struct wmi_slot *slots = malloc(cap * sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < cap; i++) slots[i].id = UINT32_MAX;
    for (size_t i = 0; i < ix->cap; i++)
        if (ix->slots[i].id != UINT32_MAX) place(slots, cap, ix->slots[i]);
    free(ix->slots);
    ix->slots = slots;
    ix->cap = cap;
    return true;
}

void wmi_index_add(wmi_index *ix, uint64_t hash, uint32_t id) {
    place(ix->slots, ix->cap, (struct wmi_slot){(uint32_t)hash, id});
    ix->n++;
}

void wmi_index_fini(wmi_index *ix) {
    free(ix->slots);
    *ix = (wmi_index){0};
}

/* FNV-1a (Fowler, Noll and Vo), mixed, because only the low bits choose a slot. */
uint64_t wmi_hash_text(const char *s) {
    uint64_t h = 0xCBF29CE484222325u;
    for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001B3u;
    return wmi_hash_pair(h, 0);
}

/* The finaliser of SplitMix64 (Steele, Lea and Flood, 2014). */
uint64_t wmi_hash_pair(uint64_t a, uint64_t b) {
    uint64_t h = a * 0x9E3779B97F4A7C15u + b;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}
