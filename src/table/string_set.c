#include "table/string_set.h"

#include <stdlib.h>
#include <string.h>

/* Text lives in blocks, so that it never moves. A block that is too small for a
 * string is left as it is: what is lost is below one string a block. */
typedef struct wmi_string_block {
    struct wmi_string_block *next;
    size_t len, cap;
    char bytes[];
} string_block;

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 256 * 1024, FIRST_SLOTS = 64 };

/* FNV-1a (Fowler, Noll and Vo) with a final mix, because the slot is taken from
 * the low bits. */
static uint32_t hash_of(const char *s, size_t n) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    h ^= h >> 32;
    return (uint32_t)(h ^ (h >> 15));
}

static char *block_copy(wmi_string_set *set, const char *s, size_t n) {
    string_block *b = set->blocks;
    if (!b || b->cap - b->len <= n) {
        size_t cap = b ? b->cap * 2 : FIRST_BLOCK;
        if (cap > LARGEST_BLOCK) cap = LARGEST_BLOCK;
        if (cap <= n) cap = n + 1;
        b = malloc(sizeof *b + cap);
        if (!b) return NULL;
        b->next = set->blocks;
        b->len = 0;
        b->cap = cap;
        set->blocks = b;
    }
    char *copy = b->bytes + b->len;
    memcpy(copy, s, n);
    copy[n] = '\0';
    b->len += n + 1;
    return copy;
}

static bool grow_slots(wmi_string_set *set) {
    size_t count = set->slot_count ? set->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (size_t id = 0; id < set->n; id++) {
        size_t i = set->hash[id] & (count - 1);
        while (slots[i]) i = (i + 1) & (count - 1);
        slots[i] = (uint32_t)id + 1;
    }
    free(set->slots);
    set->slots = slots;
    set->slot_count = count;
    return true;
}

static bool grow_texts(wmi_string_set *set) {
    size_t cap = set->cap ? set->cap * 2 : FIRST_SLOTS;
    const char **text = realloc(set->text, cap * sizeof *text);
    if (!text) return false;
    set->text = text;
    uint32_t *hash = realloc(set->hash, cap * sizeof *hash);
    if (!hash) return false;
    set->hash = hash;
    set->cap = cap;
    return true;
}

bool wmi_string_set_add(wmi_string_set *set, const char *s, size_t n, uint32_t *id) {
    if (set->n >= set->slot_count / 4 * 3 && !grow_slots(set)) return false;
    uint32_t hash = hash_of(s, n);
    size_t i = hash & (set->slot_count - 1);
    for (; set->slots[i]; i = (i + 1) & (set->slot_count - 1)) {
        uint32_t found = set->slots[i] - 1;
        const char *text = set->text[found];
        if (set->hash[found] == hash && strncmp(text, s, n) == 0 && text[n] == '\0') {
            *id = found;
            return true;
        }
    }
    if (set->n >= UINT32_MAX - 1) return false;
    if (set->n == set->cap && !grow_texts(set)) return false;
    const char *copy = block_copy(set, s, n);
    if (!copy) return false;
    set->text[set->n] = copy;
    set->hash[set->n] = hash;
    set->slots[i] = (uint32_t)set->n + 1;
    *id = (uint32_t)set->n++;
    return true;
}

void wmi_string_set_free(wmi_string_set *set) {
    for (string_block *b = set->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(set->text);
    free(set->hash);
    free(set->slots);
    *set = (wmi_string_set)WMI_STRING_SET_INIT;
}
