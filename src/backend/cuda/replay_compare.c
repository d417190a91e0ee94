#include <stdlib.h>
#include <string.h>

#include "backend/cuda/replay.h"

/* ---- numbering ---- */

/* From numbers to 1, 2, … in the order in which they were first met; open addressing. */
typedef struct numbering {
    uint64_t *key;
    uint64_t *number; /* 0: free */
    size_t slots, met;
} numbering;

static size_t slot_of(const numbering *m, uint64_t key) {
    size_t i = (size_t)((key * 0x9e3779b97f4a7c15u) >> 17) & (m->slots - 1);
    while (m->number[i] && m->key[i] != key) i = (i + 1) & (m->slots - 1);
    return i;
}

static void numbering_free(numbering *m) {
    free(m->key);
    free(m->number);
}

static bool grow(numbering *m) {
    numbering more = {.slots = m->slots ? 2 * m->slots : 64, .met = m->met};
    more.key = malloc(more.slots * sizeof *more.key);
    more.number = calloc(more.slots, sizeof *more.number);
    if (!more.key || !more.number) {
        numbering_free(&more);
        return false;
    }
    for (size_t i = 0; i < m->slots; i++) {
        if (!m->number[i]) continue;
        const size_t to = slot_of(&more, m->key[i]);
        more.key[to] = m->key[i];
        more.number[to] = m->number[i];
    }
    numbering_free(m);
    *m = more;
    return true;
}

static bool meet(numbering *m, uint64_t key) {
    if (2 * (m->met + 1) > m->slots && !grow(m)) return false;
    const size_t i = slot_of(m, key);
    if (m->number[i]) return true;
    m->key[i] = key;
    m->number[i] = ++m->met;
    return true;
}

bool wmi_replay_renumber(wmi_shape *shapes, size_t count) {
    numbering streams = {0}, threads = {0};
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = meet(&streams, shapes[i].stream) && meet(&threads, shapes[i].thread);
    for (size_t i = 0; i < count && good; i++) {
        wmi_shape *s = &shapes[i];
        s->stream = streams.number[slot_of(&streams, s->stream)] - 1;
        s->thread = (uint32_t)(threads.number[slot_of(&threads, s->thread)] - 1);
    }
    numbering_free(&streams);
    numbering_free(&threads);
    return good;
}

/* ---- comparing ---- */

static bool same_size(const uint32_t a[3], const uint32_t b[3]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool same(const wmi_shape *a, const wmi_shape *b) {
    return a->name == b->name && a->kind == b->kind && a->stream == b->stream && a->thread == b->thread &&
           a->shared == b->shared && same_size(a->grid, b->grid) && same_size(a->block, b->block);
}

size_t wmi_replay_difference(const wmi_shape *a, size_t na, const wmi_shape *b, size_t nb) {
    const size_t n = na < nb ? na : nb;
    for (size_t i = 0; i < n; i++)
        if (!same(&a[i], &b[i])) return i;
    return na == nb ? SIZE_MAX : n;
}
