#include "base/intern.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* An open-addressing hash table of ids, read without a lock. A slot is written
 * once, after the name it stands for; a full table is replaced by a larger one,
 * and the old one is kept, because a reader may still be in it. All old tables
 * together are smaller than the new one. Writers hold the lock. */
typedef struct id_table {
    struct id_table *older;
    uint32_t mask;
    uint32_t slots[];
} id_table;

typedef struct interned {
    uint32_t hash;
    char name[];
} interned;

/* Names by id, in blocks of 64, 64, 128, 256 …: a block never moves, so that it
 * can be read while the next one is added. */
enum { FIRST_BITS = 6, BLOCKS = 32 - FIRST_BITS };

static interned **blocks[BLOCKS];
static id_table *table;
static uint32_t last_id;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t block_of(uint32_t id, uint32_t *first) {
    if (id < 1u << FIRST_BITS) {
        *first = 0;
        return 0;
    }
    uint32_t bit = 31u - (uint32_t)__builtin_clz(id);
    *first = 1u << bit;
    return bit - FIRST_BITS + 1;
}

static const interned *entry_of(uint32_t id) {
    uint32_t first, block = block_of(id, &first);
    interned **entries = block < BLOCKS ? __atomic_load_n(&blocks[block], __ATOMIC_ACQUIRE) : NULL;
    return entries ? __atomic_load_n(&entries[id - first], __ATOMIC_ACQUIRE) : NULL;
}

/* FNV-1a (Fowler, Noll and Vo), whose low bits are good enough for a mask. */
static uint32_t hash_name(const char *name) {
    uint32_t h = 2166136261u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

static uint32_t find(const id_table *t, const char *name, uint32_t hash) {
    if (!t) return 0;
    for (uint32_t i = hash;; i++) {
        uint32_t id = __atomic_load_n(&t->slots[i & t->mask], __ATOMIC_ACQUIRE);
        if (id == 0) return 0;
        const interned *entry = entry_of(id);
        if (entry->hash == hash && strcmp(entry->name, name) == 0) return id;
    }
}

static void put(id_table *t, uint32_t id, uint32_t hash) {
    uint32_t i = hash;
    while (t->slots[i & t->mask]) i++;
    __atomic_store_n(&t->slots[i & t->mask], id, __ATOMIC_RELEASE);
}

/* At most half full, so that a search always meets an empty slot, and soon. */
static bool make_room_in_table(void) {
    if (table && last_id < table->mask / 2) return true;
    uint32_t size = table ? (table->mask + 1) * 2 : 256;
    id_table *bigger = calloc(1, sizeof *bigger + size * sizeof bigger->slots[0]);
    if (!bigger) return false;
    bigger->older = table;
    bigger->mask = size - 1;
    for (uint32_t id = 1; id <= last_id; id++) put(bigger, id, entry_of(id)->hash);
    __atomic_store_n(&table, bigger, __ATOMIC_RELEASE);
    return true;
}

/* Where the entry of a new id goes; NULL when out of memory. */
static interned **make_place(uint32_t id) {
    uint32_t first, block = block_of(id, &first);
    if (!blocks[block]) {
        interned **made = calloc(first ? first : 1u << FIRST_BITS, sizeof *made);
        if (!made) return NULL;
        __atomic_store_n(&blocks[block], made, __ATOMIC_RELEASE);
    }
    return &blocks[block][id - first];
}

static uint32_t add(const char *name, uint32_t hash) {
    uint32_t id = last_id + 1;
    if (id > INT32_MAX || !make_room_in_table()) return 0;
    interned **place = make_place(id);
    size_t size = strlen(name) + 1;
    interned *entry = place ? malloc(sizeof *entry + size) : NULL;
    if (!entry) return 0;
    entry->hash = hash;
    memcpy(entry->name, name, size);
    __atomic_store_n(place, entry, __ATOMIC_RELEASE);
    last_id = id;
    put(table, id, hash);
    return id;
}

static void lock_writers(void) { pthread_mutex_lock(&lock); }
static void unlock_writers(void) { pthread_mutex_unlock(&lock); }

/* A fork while another thread adds a name must not leave the child's lock shut. */
static void guard_fork(void) { pthread_atfork(lock_writers, unlock_writers, unlock_writers); }

uint32_t wmi_intern(const char *name) {
    static pthread_once_t fork_guarded = PTHREAD_ONCE_INIT;
    uint32_t hash = hash_name(name);
    uint32_t id = find(__atomic_load_n(&table, __ATOMIC_ACQUIRE), name, hash);
    if (id) return id;
    pthread_once(&fork_guarded, guard_fork);
    lock_writers();
    id = find(table, name, hash);
    if (!id) id = add(name, hash);
    unlock_writers();
    return id;
}

/* An id may reach a thread ahead of its entry, by an unordered store: the lock
 * makes up for it. */
const char *wmi_intern_name(uint32_t id) {
    const interned *entry = entry_of(id);
    if (!entry) {
        lock_writers();
        entry = entry_of(id);
        unlock_writers();
    }
    return entry ? entry->name : "";
}
