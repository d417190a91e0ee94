/* What the programs of this folder share: checking CUDA's results, the clock, reading a
 * table's cell. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include <cuda_runtime.h>
#include <time.h>
#include <warpmeter.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static inline double now_s() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/* Ends the program when CUDA failed. */
static inline void need(cudaError_t result, const char *what) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
    std::exit(1);
}

/* Ends the program when warpmeter failed. */
static inline void need(wm_status status, const wm_error &err) {
    if (status == WM_OK) return;
    std::fprintf(stderr, "%s\n", err.message);
    std::exit(1);
}

/* Fails the configuration when CUDA failed. */
static inline bool good(wm_state *st, cudaError_t result, const char *what) {
    if (result == cudaSuccess) return true;
    wm_fail(st, "%s: %s", what, cudaGetErrorString(result));
    return false;
}

static inline bool cell_is(const wm_table *table, size_t row, const char *column, const char *text) {
    wm_value v;
    return wm_table_get(table, row, wm_table_find(table, column), &v) == WM_OK && v.type == WM_STR &&
           std::strcmp(v.as.str, text) == 0;
}

/* How many kernels a session recorded in a region; -1 where its table does not say. */
static inline long long kernels_of(wm_session *session, const char *region) {
    wm_table *table = nullptr;
    wm_error err = WM_ERROR_INIT;
    need(wm_session_table(session, &table, &err), err);
    long long kernels = -1;
    for (size_t row = 0; row < wm_table_rows(table); row++) {
        wm_value v;
        if (cell_is(table, row, "region", region) && cell_is(table, row, "metric", "kernel_time") &&
            wm_table_get(table, row, wm_table_find(table, "kernels"), &v) == WM_OK && v.type == WM_I64)
            kernels = v.as.i64;
    }
    wm_table_destroy(table);
    return kernels;
}

static inline wm_session *session_of_times() {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.metrics = "kernel_time";
    wm_session *session = nullptr;
    wm_error err = WM_ERROR_INIT;
    need(wm_session_create(&opts, &session, &err), err);
    return session;
}

#endif
