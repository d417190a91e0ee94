#include <stdlib.h>
#include <string.h>

#include "program/program.h"

static struct {
    wm_benchmark *v;
    size_t n, cap;
    wm_error failure; /* of a registration before main */
} registry;

static void bench_free(wm_benchmark *b) {
    for (size_t i = 0; i < b->derivation_count && b->derivations; i++) {
        free((char *)b->derivations[i].metric);
        free((char *)b->derivations[i].unit);
        free((char *)b->derivations[i].inputs);
    }
    free((wm_derivation *)b->derivations);
    wmi_collectors_free((wm_collector *)b->collectors, b->collector_count);
    free((char *)b->name);
    free((char *)b->options);
}

/* So that a program under a leak checker ends clean. */
__attribute__((destructor)) static void registry_free(void) {
    for (size_t i = 0; i < registry.n; i++) bench_free(&registry.v[i]);
    free(registry.v);
    registry.v = NULL;
    registry.n = registry.cap = 0;
}

static wm_status bench_copy(const wm_benchmark *from, wm_benchmark *to, wm_error *err) {
    *to = *from;
    to->collectors = NULL;
    to->collector_count = 0;
    to->options = NULL;
    to->derivations = NULL;
    to->derivation_count = 0;
    to->name = wmi_strdup(from->name);
    if (!to->name) return wmi_error_nomem(err);
    if (from->options && !(to->options = wmi_strdup(from->options))) return wmi_error_nomem(err);
    wm_collector *collectors;
    const wm_status status = wmi_collectors_copy(from->collectors, from->collector_count, &collectors, err);
    if (status != WM_OK) return status;
    to->collectors = collectors;
    to->collector_count = collectors ? from->collector_count : 0;
    if (!from->derivation_count) return WM_OK;
    wm_derivation *v = calloc(from->derivation_count, sizeof *v);
    to->derivations = v;
    if (!v) return wmi_error_nomem(err);
    for (size_t i = 0; i < from->derivation_count; i++) {
        const wm_derivation *d = &from->derivations[i];
        to->derivation_count = i + 1;
        v[i].compute = d->compute;
        v[i].metric = wmi_strdup(d->metric ? d->metric : "");
        v[i].unit = wmi_strdup(d->unit ? d->unit : "");
        v[i].inputs = wmi_strdup(d->inputs ? d->inputs : "");
        if (!v[i].metric || !v[i].unit || !v[i].inputs) return wmi_error_nomem(err);
    }
    return WM_OK;
}

wm_status wm_benchmark_register(const wm_benchmark *given, wm_error *err) {
    wm_benchmark b = WM_BENCHMARK_INIT;
    if (!given || given->struct_size < sizeof given->struct_size || given->struct_size > 4096)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_benchmark: start from WM_BENCHMARK_INIT");
    memcpy(&b, given, given->struct_size < sizeof b ? given->struct_size : sizeof b);
    if (!b.name || !*b.name) return wmi_error_set(err, WM_EINVAL, 0, "a benchmark needs a name");
    if (!b.derivations) b.derivation_count = 0;
    if (!b.run) return wmi_error_set(err, WM_EINVAL, 0, "benchmark %s has no function", b.name);
    if (wmi_benchmark_find(b.name))
        return wmi_error_set(err, WM_EINVAL, 0, "there are two benchmarks called %s", b.name);
    if (registry.n == registry.cap) {
        const size_t cap = registry.cap ? 2 * registry.cap : 8;
        wm_benchmark *v = realloc(registry.v, cap * sizeof *v);
        if (!v) return wmi_error_nomem(err);
        registry.v = v;
        registry.cap = cap;
    }
    const wm_status status = bench_copy(&b, &registry.v[registry.n], err);
    if (status != WM_OK) {
        bench_free(&registry.v[registry.n]);
        return status;
    }
    registry.n++;
    return WM_OK;
}

void wm_benchmark_register_static(const wm_benchmark *bench) {
    wm_error err = WM_ERROR_INIT;
    if (wm_benchmark_register(bench, &err) != WM_OK && registry.failure.code == WM_OK) registry.failure = err;
}

size_t wmi_benchmark_count(void) { return registry.n; }
const wm_benchmark *wmi_benchmark_at(size_t i) { return &registry.v[i]; }

const wm_benchmark *wmi_benchmark_find(const char *name) {
    for (size_t i = 0; i < registry.n; i++)
        if (!strcmp(registry.v[i].name, name)) return &registry.v[i];
    return NULL;
}

wm_status wmi_benchmark_failure(wm_error *err) {
    if (err) *err = registry.failure;
    return registry.failure.code;
}
