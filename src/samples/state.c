#include "samples/state_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *wmi_sensor_name(wmi_sensor sensor) {
    static const char *const names[] = {
#define WMI_SENSOR_NAME(id, name, type, unit, text) name,
        WMI_STATE_COLUMNS(WMI_SENSOR_NAME)
#undef WMI_SENSOR_NAME
    };
    return names[sensor];
}

wmi_sensor_kind wmi_sensor_kind_of(wmi_sensor sensor) {
    switch (sensor) {
    case WMI_SENSOR_GPU_POWER: return WMI_SENSE_POWER;
    case WMI_SENSOR_GPU_ENERGY:
    case WMI_SENSOR_CPU_ENERGY: return WMI_SENSE_TOTAL;
    case WMI_SENSOR_GPU_THROTTLE:
    case WMI_SENSOR_CPU_THROTTLE: return WMI_SENSE_BITS;
    default: return WMI_SENSE_LEVEL;
    }
}

bool wmi_sensor_slow(wmi_sensor sensor) {
    return sensor == WMI_SENSOR_GPU_ENERGY || sensor == WMI_SENSOR_GPU_HEADROOM;
}

const char *wmi_throttle_text(uint32_t bits, char out[WMI_THROTTLE_TEXT_MAX]) {
    static const char *const slugs[] = {
#define WMI_THROTTLE_SLUG(id, slug) slug,
        WMI_THROTTLES(WMI_THROTTLE_SLUG)
#undef WMI_THROTTLE_SLUG
    };
    size_t n = 0;
    snprintf(out, WMI_THROTTLE_TEXT_MAX, "none");
    for (int i = 0; i < WMI_THROTTLE_COUNT; i++)
        if (bits >> i & 1 && n < WMI_THROTTLE_TEXT_MAX)
            n += (size_t)snprintf(out + n, WMI_THROTTLE_TEXT_MAX - n, "%s%s", n ? "," : "", slugs[i]);
    return out;
}

void wmi_sensed_clear(wmi_sensed *s, wm_reason why) {
    s->at_ns = 0;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) s->value[i] = NAN;
    memset(s->reason, (int)why, sizeof s->reason);
}

static uint32_t bits_of(const wmi_sensed *s, int sensor) {
    return s->reason[sensor] ? 0 : (uint32_t)s->value[sensor];
}

bool wmi_sensed_throttled(const wmi_sensed *s) {
    return bits_of(s, WMI_SENSOR_GPU_THROTTLE) || bits_of(s, WMI_SENSOR_CPU_THROTTLE);
}

void wmi_state_summary_init(wmi_state_summary *out) {
    *out = (wmi_state_summary){.runs = 0};
    wmi_sensed_clear(&out->mean, WM_REASON_NO_SAMPLES);
}

void wmi_state_summary_add(wmi_state_summary *sum, const wmi_sensed *run) {
    for (int s = 0; s < WMI_SENSOR_COUNT; s++) {
        double *mean = &sum->mean.value[s];
        if (run->reason[s]) {
            if (sum->runs == 0) sum->mean.reason[s] = run->reason[s];
            continue;
        }
        sum->mean.reason[s] = WM_REASON_NONE;
        const double n = (double)++sum->n[s];
        if (wmi_sensor_kind_of((wmi_sensor)s) == WMI_SENSE_BITS)
            *mean = (double)((n > 1 ? (uint32_t)*mean : 0u) | (uint32_t)run->value[s]);
        else
            *mean = n > 1 ? *mean + (run->value[s] - *mean) / n : run->value[s];
    }
    sum->runs++;
    sum->throttled += wmi_sensed_throttled(run);
}

/* ---- of all runs ---- */

static bool same_group(const void *owner, uint32_t id, const void *key) {
    const wmi_state_group *a = &((const wmi_state_store *)owner)->groups[id], *b = key;
    return a->config == b->config && a->pass == b->pass;
}

static wmi_state_group *group_find(const wmi_state_store *store, uint32_t config, int32_t pass) {
    const wmi_state_group key = {.config = config, .pass = pass};
    const uint32_t *id = store->n ? wmi_index_find(&store->index, wmi_hash_pair(config, (uint32_t)pass),
                                                   same_group, store, &key)
                                  : NULL;
    return id ? &store->groups[*id] : NULL;
}

static wmi_state_group *group_of(wmi_state_store *store, uint32_t config, int32_t pass) {
    wmi_state_group *found = group_find(store, config, pass);
    if (found) return found;
    if (store->n == store->cap) {
        const size_t cap = store->cap ? store->cap + store->cap / 2 : 16;
        wmi_state_group *groups = realloc(store->groups, cap * sizeof *groups);
        if (!groups) return NULL;
        store->groups = groups;
        store->cap = cap;
    }
    if (!wmi_index_reserve(&store->index)) return NULL;
    wmi_index_add(&store->index, wmi_hash_pair(config, (uint32_t)pass), (uint32_t)store->n);
    store->groups[store->n] = (wmi_state_group){.config = config, .pass = pass};
    return &store->groups[store->n++];
}

/* But for the time, which is each run's own. */
static bool same_sensed(const wmi_sensed *a, const wmi_sensed *b) {
    if (memcmp(a->reason, b->reason, sizeof a->reason) != 0) return false;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (!a->reason[i] && a->value[i] != b->value[i]) return false;
    return true;
}

wm_status wmi_samples_state_add(wmi_samples *s, const wmi_run_state *state) {
    wmi_state_group *g = group_of(wmi_samples_state_store(s), state->config, state->pass);
    if (!g) return WM_ENOMEM;
    wmi_state_runs *last = g->n ? &g->v[g->n - 1] : NULL;
    if (last && last->last + 1 == state->run && same_sensed(&last->sensed, &state->sensed)) {
        last->last++;
        return WM_OK;
    }
    if (!g->v || g->n == g->cap) {
        const size_t cap = g->cap + g->cap / 2 + 2;
        wmi_state_runs *v = realloc(g->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        g->v = v;
        g->cap = cap;
    }
    g->v[g->n++] = (wmi_state_runs){state->run, state->run, state->sensed};
    return WM_OK;
}

const wmi_sensed *wmi_samples_state_of(const wmi_samples *s, uint32_t config, int32_t pass, int32_t run,
                                       int32_t *last) {
    const wmi_state_group *g = group_find(wmi_samples_state_store_of(s), config, pass);
    size_t low = 0, high = g ? g->n : 0;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (g->v[mid].last < run)
            low = mid + 1;
        else
            high = mid;
    }
    const bool kept = g && low < g->n && g->v[low].first <= run;
    if (last) *last = kept ? g->v[low].last : run;
    return kept ? &g->v[low].sensed : NULL;
}

bool wmi_samples_has_states(const wmi_samples *s) { return wmi_samples_state_store_of(s)->n > 0; }

void wmi_state_store_fini(wmi_state_store *store) {
    for (size_t i = 0; i < store->n; i++) free(store->groups[i].v);
    free(store->groups);
    wmi_index_fini(&store->index);
}
