#include "sweep/cursor.h"

#include <stdlib.h>
#include <string.h>

wm_status wmi_cursor_init(wmi_cursor *c, size_t passes, size_t configs, int64_t warmup, bool take_turns,
                          bool stacked, bool pass_per_run) {
    memset(c, 0, sizeof *c);
    c->passes = c->end_pass = passes;
    c->configs = configs;
    c->warmup = warmup;
    c->order = malloc((configs + 1) * sizeof *c->order);
    if (!c->order) return WM_ENOMEM;
    for (size_t i = 0; i < configs; i++) c->order[i] = (uint32_t)i;
    static const wmi_dim nests[5][3] = {
        {WMI_DIM_CONFIG, WMI_DIM_PASS, WMI_DIM_RUN}, {WMI_DIM_CONFIG, WMI_DIM_RUN, WMI_DIM_PASS},
        {WMI_DIM_PASS, WMI_DIM_CONFIG, WMI_DIM_RUN}, {WMI_DIM_RUN, WMI_DIM_CONFIG, WMI_DIM_PASS},
        {WMI_DIM_PASS, WMI_DIM_RUN, WMI_DIM_CONFIG},
    };
    const int which = take_turns ? (stacked ? 4 : 3) : stacked ? 2 : pass_per_run ? 1 : 0;
    memcpy(c->nest, nests[which], sizeof c->nest);
    return WM_OK;
}

void wmi_cursor_late(wmi_cursor *c, size_t first_late) { c->end_pass = first_late; }

void wmi_cursor_fini(wmi_cursor *c) {
    free(c->order);
    c->order = NULL;
}

/* splitmix64 (Steele, Lea and Flood 2014) */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Fisher and Yates; the multiplication maps 64 random bits onto 0..n-1 with a bias
 * below n / 2^64. */
__extension__ typedef unsigned __int128 wide;
static void shuffle(wmi_cursor *c) {
    for (size_t i = c->configs; i > 1; i--) {
        const size_t k = (size_t)(((wide)next_random(&c->random) * i) >> 64);
        const uint32_t t = c->order[i - 1];
        c->order[i - 1] = c->order[k];
        c->order[k] = t;
    }
}

void wmi_cursor_shuffle(wmi_cursor *c, uint64_t seed) {
    c->shuffle = true;
    c->random = seed;
}

static int depth_of(const wmi_cursor *c, wmi_dim dim) {
    int i = 0;
    while (c->nest[i] != dim) i++;
    return i;
}

static bool outside(const wmi_cursor *c, wmi_dim a, wmi_dim b) { return depth_of(c, a) < depth_of(c, b); }

static bool wanted(const wmi_cursor *c) {
    return c->wants(c->user, wmi_cursor_config(c), (int32_t)c->at[WMI_DIM_PASS], c->at[WMI_DIM_RUN]);
}

/* Is there anything left at this value of the dimension? */
static bool in_range(const wmi_cursor *c, wmi_dim dim) {
    if (dim == WMI_DIM_PASS) return (size_t)c->at[dim] < c->end_pass;
    if (dim == WMI_DIM_CONFIG) return (size_t)c->at[dim] < c->configs;
    if (outside(c, WMI_DIM_CONFIG, WMI_DIM_RUN) && outside(c, WMI_DIM_PASS, WMI_DIM_RUN)) return wanted(c);
    const bool own_pass = outside(c, WMI_DIM_PASS, WMI_DIM_RUN);
    const int32_t pass = (int32_t)(own_pass ? c->at[WMI_DIM_PASS] : (int64_t)c->first_pass);
    if (outside(c, WMI_DIM_CONFIG, WMI_DIM_RUN))
        return c->wants(c->user, wmi_cursor_config(c), pass, c->at[dim]);
    for (size_t i = 0; i < c->configs; i++)
        if (c->wants(c->user, (uint32_t)i, pass, c->at[dim])) return true;
    return false;
}

/* Warm-up runs belong to the first pass. */
static void reset(wmi_cursor *c, wmi_dim dim) {
    const bool first = outside(c, WMI_DIM_RUN, WMI_DIM_PASS) || c->at[WMI_DIM_PASS] == 0;
    c->at[dim] = dim == WMI_DIM_PASS ? (int64_t)c->first_pass : dim == WMI_DIM_RUN && first ? -c->warmup : 0;
    if (dim == WMI_DIM_RUN && c->shuffle && outside(c, WMI_DIM_RUN, WMI_DIM_CONFIG)) shuffle(c);
}

/* On to the passes that do not take turns, in a nest of their own. */
static bool late_begin(wmi_cursor *c) {
    static const wmi_dim nest[3] = {WMI_DIM_CONFIG, WMI_DIM_PASS, WMI_DIM_RUN};
    if (c->end_pass == c->passes) {
        c->over = true; /* no place is left that may be looked at */
        return false;
    }
    c->first_pass = c->end_pass;
    c->end_pass = c->passes;
    c->shuffle = false;
    memcpy(c->nest, nest, sizeof c->nest);
    for (size_t i = 0; i < c->configs; i++) c->order[i] = (uint32_t)i;
    for (int i = 0; i < 3; i++) reset(c, c->nest[i]);
    return true;
}

static bool advance(wmi_cursor *c) {
    for (int level = 2; level >= 0; level--) {
        const wmi_dim dim = c->nest[level];
        c->at[dim]++;
        if (!in_range(c, dim)) continue;
        if (dim == WMI_DIM_RUN && c->shuffle && outside(c, WMI_DIM_RUN, WMI_DIM_CONFIG)) shuffle(c);
        for (int inner = level + 1; inner < 3; inner++) reset(c, c->nest[inner]);
        return true;
    }
    return late_begin(c);
}

bool wmi_cursor_next(wmi_cursor *c) {
    if (c->over || c->passes == 0 || c->configs == 0) return false;
    if (!c->started) {
        c->started = true;
        for (int i = 0; i < 3; i++) reset(c, c->nest[i]);
    } else if (!advance(c)) {
        return false;
    }
    while (!wanted(c))
        if (!advance(c)) return false;
    return true;
}
