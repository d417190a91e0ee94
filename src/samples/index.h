/** A hash table from the hashes of keys to numbers; the keys lie elsewhere. Private
 *  to samples/. */
#ifndef WMI_SAMPLES_INDEX_H
#define WMI_SAMPLES_INDEX_H

#include "base/error.h"

typedef struct wmi_index {
    struct wmi_slot *slots;
    size_t cap, n; /* a power of two; numbers in it */
} wmi_index;

/** Is `key` that of number `id`? */
typedef bool (*wmi_same_fn)(const void *owner, uint32_t id, const void *key);

/** Where the number for a key is kept, or NULL when there is none. The number may be
 *  replaced through it, until the next wmi_index_reserve. */
uint32_t *wmi_index_find(const wmi_index *ix, uint64_t hash, wmi_same_fn same, const void *owner,
                         const void *key);
/** Make sure that one more fits; false when out of memory. */
bool wmi_index_reserve(wmi_index *ix);
/** Add a number whose key is not there yet, after wmi_index_reserve. */
void wmi_index_add(wmi_index *ix, uint64_t hash, uint32_t id);
void wmi_index_fini(wmi_index *ix);

uint64_t wmi_hash_text(const char *s);
uint64_t wmi_hash_pair(uint64_t a, uint64_t b);

#endif
