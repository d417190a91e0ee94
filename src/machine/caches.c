#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/facts.h"
#include "machine/sysfs.h"

#define CACHE_PATH "/sys/devices/system/cpu/cpu%d/cache/index%d/"

/* The kernel writes sizes as 32K. A terabyte or more is taken for nonsense. */
static int64_t parse_size(const char *text) {
    const int64_t most = INT64_C(1) << 40;
    size_t n = strlen(text);
    int64_t unit = 1, x;
    if (n > 0 && text[n - 1] == 'K') unit = 1 << 10;
    if (n > 0 && text[n - 1] == 'M') unit = 1 << 20;
    if (unit > 1) n--;
    return wmi_i64_parse(text, n, &x) && x > 0 && x < most / unit ? x * unit : 0;
}

static bool read_cache(const char *root, int cpu, int index, const char *shared, wmi_cache *out) {
    char size[32];
    int64_t level;
    *out = (wmi_cache){0};
    if (!wmi_sys_i64(root, &level, CACHE_PATH "level", cpu, index) || level < 1 || level > 9) return false;
    if (!wmi_sys_line(root, size, sizeof size, CACHE_PATH "size", cpu, index)) return false;
    wmi_sys_line(root, out->type, sizeof out->type, CACHE_PATH "type", cpu, index);
    out->level = (int)level;
    out->size_bytes = parse_size(size);
    out->shared_by = shared[0] ? wmi_cpulist_count(shared) : 1;
    return out->size_bytes > 0;
}

static bool same_kind(const wmi_cache *a, const wmi_cache *b) {
    return a->level == b->level && a->size_bytes == b->size_bytes && a->shared_by == b->shared_by &&
           strcmp(a->type, b->type) == 0;
}

/* Kept in order of level: a machine with two kinds of cores has two kinds of caches at one level. */
static void add_cache(wmi_machine *m, const wmi_cache *cache, bool usable) {
    int at = 0;
    while (at < m->cache_count && !same_kind(&m->caches[at], cache)) at++;
    if (at == m->cache_count) {
        if (m->cache_count == WMI_CACHES_MAX) return;
        m->cache_count++;
        for (; at > 0 && m->caches[at - 1].level > cache->level; at--) m->caches[at] = m->caches[at - 1];
        m->caches[at] = *cache;
    }
    m->caches[at].count++;
    m->caches[at].usable += usable;
}

/* A cache is counted at the first of the processors that share it. */
static void read_caches_of(wmi_machine *m, const char *root, int cpu, const char *allowed) {
    for (int index = 0; index < WMI_CACHES_MAX; index++) {
        char shared[WMI_CPULIST_MAX], own[16];
        wmi_cache cache;
        if (wmi_sys_line(root, shared, sizeof shared, CACHE_PATH "shared_cpu_list", cpu, index)) {
            const char *at = shared;
            int first, last;
            if (wmi_cpulist_next(&at, &first, &last) && first != cpu) continue;
        }
        snprintf(own, sizeof own, "%d", cpu);
        const char *sharers = shared[0] ? shared : own;
        if (!read_cache(root, cpu, index, shared, &cache)) return;
        add_cache(m, &cache, !allowed[0] || wmi_cpulist_meet(sharers, allowed));
    }
}

#ifdef _SC_LEVEL1_DCACHE_SIZE
/* What the C library knows has no word about sharing: caches up to the second level are taken as one for each
 * processor, those above as one for the machine. */
static void read_caches_of_libc(wmi_machine *m) {
    static const struct {
        int level, name;
        const char *type;
    } known[] = {
        {1, _SC_LEVEL1_DCACHE_SIZE, "Data"},   {1, _SC_LEVEL1_ICACHE_SIZE, "Instruction"},
        {2, _SC_LEVEL2_CACHE_SIZE, "Unified"}, {3, _SC_LEVEL3_CACHE_SIZE, "Unified"},
        {4, _SC_LEVEL4_CACHE_SIZE, "Unified"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        long size = sysconf(known[i].name);
        if (size <= 0) continue;
        bool own = known[i].level <= 2;
        int processors = m->cpus_online > 0 ? m->cpus_online : m->cpus_allowed;
        wmi_cache *c = &m->caches[m->cache_count++];
        *c = (wmi_cache){.level = known[i].level, .size_bytes = size};
        snprintf(c->type, sizeof c->type, "%s", known[i].type);
        c->shared_by = own ? 1 : processors;
        c->count = own ? processors : 1;
        c->usable = own ? m->cpus_allowed : 1;
    }
}
#else
static void read_caches_of_libc(wmi_machine *m) { (void)m; }
#endif

void wmi_caches_read(wmi_machine *m, const char *root, const char *online, const char *allowed) {
    int first, last;
    m->cache_count = 0;
    while (wmi_cpulist_next(&online, &first, &last))
        for (int cpu = first; cpu <= last; cpu++) read_caches_of(m, root, cpu, allowed);
    if (m->cache_count == 0 && !root[0]) read_caches_of_libc(m);
}
