#include "backend/cuda/records.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/activity_buffers.h"
#include "backend/cuda/activity_store.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/join.h"
#include "base/text.h"

/* CUPTI's numbers of versions. */
enum { CUPTI_12_9 = 27, CUPTI_13_1_1 = 130101 };
enum { COLLECT_AT_ONCE = 65536 };

/* CUPTI fills a new buffer with zeros in the thread that launches, and a run that is read out has
 * used up one at least: a megabyte costs that thread little, and holds 5,000 kernels. */
#define BUFFER_BYTES       (INT64_C(1) << 20)
#define LEAST_BUFFER_BYTES (INT64_C(64) << 10)
#define MOST_BUFFER_BYTES  (INT64_C(1) << 30)
#define MOST_RECORDS       INT64_C(4000000)

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
enum { KINDS = sizeof kinds / sizeof *kinds };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static bool enabled;
static bool joining;
static wmi_join join;
static uint64_t dropped;
static char warning[256];

/* ---- settings ---- */

static int64_t setting(const char *name, int64_t usual, int64_t least, int64_t most) {
    const char *text = getenv(name);
    int64_t x = usual;
    if (!text || !*text) return usual;
    const bool number = wmi_i64_parse(text, strlen(text), &x);
    const int64_t used = !number ? usual : x < least ? least : x > most ? most : x;
    if (number && used == x) return used;
    const size_t n = strlen(warning);
    (void)snprintf(warning + n, sizeof warning - n,
                   "%s%s takes a number from %" PRId64 " to %" PRId64 ", not '%.20s': %" PRId64 " is used",
                   n ? "; " : "", name, least, most, text, used);
    return used;
}

const char *wmi_records_warning(void) { return warning; }

/* ---- attach, enable, detach ---- */

wm_status wmi_records_attach(wm_error *err) {
    pthread_mutex_lock(&lock);
    wm_status status = WM_OK;
    if (users == 0) {
        warning[0] = 0;
        const int64_t bytes =
            setting("WARPMETER_CUDA_BUFFER", BUFFER_BYTES, LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES);
        const int64_t records = setting("WARPMETER_KERNEL_RECORDS", MOST_RECORDS, 1, INT64_MAX / 2);
        status = wmi_activity_buffers_open((size_t)bytes, wmi_cupti_version() >= CUPTI_12_9, err);
        if (status == WM_OK) wmi_activity_store_open((size_t)records);
    }
    if (status == WM_OK) users++;
    pthread_mutex_unlock(&lock);
    return status;
}

wm_status wmi_records_enable(wm_error *err) {
    pthread_mutex_lock(&lock);
    CUptiResult r = CUPTI_SUCCESS;
    if (!enabled) {
        size_t on = 0;
        while (on < KINDS && (r = wmi_cupti.ActivityEnable(kinds[on])) == CUPTI_SUCCESS) on++;
        enabled = on == KINDS;
        while (!enabled && on > 0) (void)wmi_cupti.ActivityDisable(kinds[--on]);
    }
    pthread_mutex_unlock(&lock);
    if (r == CUPTI_SUCCESS) return WM_OK;
    return wmi_cuda_error(err, true, (int)r, "cannot record kernels: cuptiActivityEnable");
}

static void forget_locked(void) {
    if (joining) wmi_join_end(&join);
    joining = false;
    wmi_activity_blocks taken = wmi_activity_store_take();
    wmi_activity_blocks_free(&taken);
}

void wmi_records_detach(void) {
    pthread_mutex_lock(&lock);
    if (users > 0 && --users == 0) {
        for (size_t i = 0; enabled && i < KINDS; i++) (void)wmi_cupti.ActivityDisable(kinds[i]);
        enabled = false;
        wmi_activity_store_open(0);
        (void)wmi_cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); /* buffers come home */
        forget_locked();
        wmi_activity_buffers_close();
        dropped = 0;
        (void)wmi_activity_store_dropped();
        (void)wmi_activity_buffers_foreign();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- collect ---- */

/* A record exists only when its kernel has ended. Waiting for a context spoils what is captured in
 * it: then nothing is waited for. False: records may be missing. */
static bool settle(void) {
    bool settled = true;
    if (wmi_launches_capturing()) return false;
    wmi_launches_hide();
    for (size_t i = 0; i < wmi_launches_contexts(); i++) {
        CUcontext handle = wmi_launches_context(i).handle;
        if (!handle) continue;
        const bool entered = wmi_cuda.ctx_push(handle) == CUDA_SUCCESS;
        settled &= entered && wmi_cuda.ctx_synchronize() == CUDA_SUCCESS;
        if (entered) (void)wmi_cuda.ctx_pop(&handle);
    }
    wmi_launches_show();
    return settled;
}

/* A buffer comes back by itself only when all its records are complete: other threads may be
 * launching, so that one with what we wait for would stay. */
static CUptiResult flush(size_t launches) {
    const CUptiResult r = wmi_cupti.ActivityFlushAll(0);
    if (r != CUPTI_SUCCESS || wmi_activity_store_count() >= launches) return r;
    return wmi_cupti.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* How many were dropped since the last time. */
static uint64_t newly_dropped_locked(void) {
    size_t of_cupti = 0;
    const uint64_t n = wmi_activity_store_dropped();
    if (users == 0 || wmi_cupti.ActivityGetNumDroppedRecords(NULL, 0, &of_cupti) != CUPTI_SUCCESS) return n;
    return n + of_cupti;
}

static wm_status begin_locked(wm_error *err) {
    wmi_join_input in = {.graphs_checked = wmi_cupti_version() < CUPTI_13_1_1, .shared = wmi_cuda_mps()};
    in.launches = wmi_launches_times(&in.count);
    const bool settled = settle();
    const CUptiResult r = flush(in.count);
    const uint64_t lost = newly_dropped_locked();
    dropped += lost;
    in.incomplete = lost > 0 || !settled;
    in.activities = wmi_activity_store_take();
    if (r != CUPTI_SUCCESS) {
        wmi_activity_blocks_free(&in.activities);
        return wmi_cuda_error(err, true, (int)r, "cannot read the records of kernels: cuptiActivityFlushAll");
    }
    const wm_status status = wmi_join_begin(&join, &in, err);
    joining = status == WM_OK;
    return status;
}

wm_status wmi_records_collect(const wmi_device_opts *opts, wmi_drained *out, wm_error *err) {
    pthread_mutex_lock(&lock);
    out->more = false;
    wm_status status = joining ? WM_OK : begin_locked(err);
    if (status == WM_OK) {
        status = wmi_join_some(&join, opts, COLLECT_AT_ONCE, &out->records, err);
        out->more = status == WM_OK && join.at < join.n;
        joining = out->more;
        if (!joining) wmi_join_end(&join);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void wmi_records_disable(void) {
    pthread_mutex_lock(&lock);
    if (enabled) {
        (void)settle();
        for (size_t i = 0; i < KINDS; i++) (void)wmi_cupti.ActivityDisable(kinds[i]);
        enabled = false;
        (void)flush(SIZE_MAX);
        (void)newly_dropped_locked();
    }
    forget_locked();
    pthread_mutex_unlock(&lock);
}

uint64_t wmi_records_dropped(void) {
    pthread_mutex_lock(&lock);
    const uint64_t n = dropped + newly_dropped_locked();
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

uint64_t wmi_records_foreign(void) { return wmi_activity_buffers_foreign(); }
