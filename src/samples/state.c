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

static bool same_run(const void *owner, uint32_t id, const void *key) {
    const wmi_run_state *a = &((const wmi_state_store *)owner)->v[id], *b = key;
    return a->config == b->config && a->pass == b->pass && a->run == b->run;
}

static uint64_t hash_of(const wmi_run_state *s) {
    return wmi_hash_pair(s->config, (uint64_t)(uint32_t)s->pass << 32 | (uint32_t)s->run);
}

wm_status wmi_samples_state_add(wmi_samples *s, const wmi_run_state *state) {
    wmi_state_store *store = wmi_samples_state_store(s);
    if (store->n == store->cap) {
        const size_t cap = store->cap ? store->cap + store->cap / 2 : 16;
        wmi_run_state *v = realloc(store->v, cap * sizeof *v);
        if (!v) return WM_ENOMEM;
        store->v = v;
        store->cap = cap;
    }
    if (!wmi_index_reserve(&store->index)) return WM_ENOMEM;
    store->v[store->n] = *state;
    wmi_index_add(&store->index, hash_of(state), (uint32_t)store->n++);
    return WM_OK;
}

const wmi_sensed *wmi_samples_state_of(const wmi_samples *s, uint32_t config, int32_t pass, int32_t run) {
    const wmi_state_store *store = wmi_samples_state_store_of(s);
    const wmi_run_state key = {.config = config, .pass = pass, .run = run};
    const uint32_t *id =
        store->n ? wmi_index_find(&store->index, hash_of(&key), same_run, store, &key) : NULL;
    return id ? &store->v[*id].sensed : NULL;
}

bool wmi_samples_has_states(const wmi_samples *s) { return wmi_samples_state_store_of(s)->n > 0; }

void wmi_state_store_fini(wmi_state_store *store) {
    free(store->v);
    wmi_index_fini(&store->index);
}
