/* The ranges of a window, and their values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

static fake_value_fn value_of;
static void *value_user;

void fakei_values_reset_locked(void) {
    value_of = NULL;
    value_user = NULL;
}

void fake_values(fake_value_fn value, void *user) {
    fakei_lock();
    value_of = value;
    value_user = user;
    fakei_unlock();
}

double fake_value_default(const fake_range *range, const char *metric) {
    if (strstr(metric, ".per_second")) return 1.5e9;
    if (strstr(metric, ".pct")) return 50.0;
    if (strncmp(metric, "gpu__time_duration", 18) == 0) return (double)range->ns;
    return 1000.0 * range->kernels;
}

double fakei_value(const fake_range *range, const char *metric) {
    fakei_lock();
    fake_value_fn value = value_of;
    void *user = value_user;
    fakei_unlock();
    return value ? value(user, range, metric) : fake_value_default(range, metric);
}

size_t fakei_range_add_locked(CUpti_RangeProfiler_Object *p, const fake_range *range) {
    size_t at = p->at;
    if (at == p->limit) {
        p->dropped++;
        return SIZE_MAX;
    }
    p->at++;
    if (at == p->n) {
        p->v = fakei_grow(p->v, &p->cap, p->n + 1, sizeof *p->v);
        p->v[p->n++] = (fakei_seen){.passes = 0};
    }
    fakei_seen *seen = &p->v[at];
    seen->range = *range;
    seen->instructed = 0;
    seen->range.range = at;
    seen->range.pass = p->kernel_replay ? p->config->passes - 1 : p->pass;
    seen->passes = p->kernel_replay ? p->config->passes : seen->passes + 1;
    seen->begin = fakei_now_locked();
    return at;
}

/* ---- push and pop ---- */

static bool takes_ranges(CUpti_RangeProfiler_Object *p) {
    return p && !p->broken && p->open && p->user_ranges;
}

CUptiResult fakei_profiler_push(CUpti_RangeProfiler_Object *p, const char *name) {
    CUptiResult result = CUPTI_ERROR_INVALID_OPERATION;
    if (!name) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    if (takes_ranges(p) && p->depth < FAKEI_NESTED) {
        size_t level = p->depth + 1;
        bool read = level >= p->first_level && level < p->first_level + p->levels;
        fake_range range = {.kernel = fakei_intern(name)};
        p->stack[p->depth++] = read ? fakei_range_add_locked(p, &range) : SIZE_MAX;
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

CUptiResult fakei_profiler_pop(CUpti_RangeProfiler_Object *p) {
    CUptiResult result = CUPTI_ERROR_INVALID_OPERATION;
    fakei_lock();
    if (takes_ranges(p) && p->depth > 0) {
        size_t at = p->stack[--p->depth];
        if (at != SIZE_MAX) p->v[at].range.ns = fakei_now_locked() - p->v[at].begin;
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

/* ---- decoding ---- */

typedef struct decoding {
    fakei_seen *v;
    size_t n, passes, dropped;
    bool useless, user_ranges;
    fakei_config *config;
    fakei_image *image;
} decoding;

static bool counted(const fakei_config *config, const char *metric) {
    for (size_t i = 0; i < config->count; i++)
        if (strcmp(fakei_config_name(config, i), metric) == 0) return true;
    return false;
}

static double value_in(const fakei_seen *seen, const char *metric) {
    if (!strstr(metric, "__sass_")) return fakei_value(&seen->range, metric);
    fake_range instructed = seen->range;
    instructed.kernels = seen->instructed;
    return instructed.kernels ? fakei_value(&instructed, metric) : 0.0;
}

/* Where the values of a range go, and whether others of its name are there. */
static size_t place_of(const decoding *d, const char *name, bool *shared) {
    const size_t n = d->image->ranges;
    size_t at = d->user_ranges ? 0 : n;
    while (at < n && strcmp(fakei_image_range(d->image, at), name) != 0) at++;
    *shared = at < n;
    if (!*shared && !fakei_image_add(d->image, name)) return SIZE_MAX;
    return at;
}

static bool write_range(const decoding *d, const fakei_seen *seen) {
    char number[24];
    bool shared;
    snprintf(number, sizeof number, "%zu", d->image->ranges);
    const size_t at = place_of(d, d->user_ranges ? seen->range.kernel : number, &shared);
    if (at == SIZE_MAX) return false;
    const bool useless = d->useless || seen->passes < d->passes;
    for (size_t i = 0; i < d->image->count; i++) {
        const char *metric = fakei_image_name(d->image, i);
        if (!counted(d->config, metric)) continue;
        const double before = shared ? fakei_image_value(d->image, at, i) : 0.0;
        fakei_image_set(d->image, at, i, useless ? NAN : before + value_in(seen, metric));
    }
    return true;
}

/* A copy of what a decode needs: values are made without the lock. */
static CUptiResult begin_locked(CUpti_RangeProfiler_Object *p, decoding *d) {
    if (!p) return CUPTI_ERROR_INVALID_PARAMETER;
    if (p->broken) return CUPTI_ERROR_UNKNOWN;
    if (!p->config || p->open) return CUPTI_ERROR_INVALID_OPERATION;
    d->image = fakei_image_of(p->image, p->image_size);
    if (!d->image) return CUPTI_ERROR_INVALID_PARAMETER;
    d->dropped = p->dropped;
    d->passes = p->config->passes;
    d->user_ranges = p->user_ranges;
    d->useless = p->mixed || (d->passes > 1 && d->image->ranges > 0);
    if (!p->all_in || p->decoded || p->n == 0) return CUPTI_SUCCESS;
    size_t config_size = fakei_config_size(p->config->count);
    d->config = fakei_calloc(1, config_size);
    memcpy(d->config, p->config, config_size);
    d->n = p->n;
    d->v = fakei_calloc(d->n, sizeof *d->v);
    memcpy(d->v, p->v, d->n * sizeof *d->v);
    p->decoded = true;
    return CUPTI_SUCCESS;
}

CUptiResult fakei_profiler_decode(CUpti_RangeProfiler_Object *p, size_t *dropped) {
    decoding d = {.n = 0};
    fakei_lock();
    CUptiResult result = begin_locked(p, &d);
    fakei_unlock();
    for (size_t i = 0; i < d.n; i++) d.dropped += !write_range(&d, &d.v[i]);
    *dropped = d.dropped;
    free(d.v);
    free(d.config);
    return result;
}
