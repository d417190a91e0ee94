/* WM_REPEAT: how often work that is too short to time alone is repeated. The count
 * is found once for each configuration, in its first run, by growing it until a batch
 * lasts as long as asked for; then it stays, so that all samples are alike. */
#include <pthread.h>
#include <stdlib.h>

#include "session/thread.h"
#include "sweep/sweep.h"

enum {
    COUNT_MAX = 1 << 30,
    GROWTH_MAX = 16,
    COUNT_STILL = 1 << 16 /* after so many without the clock moving it stands still */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all points' batches */

static uint64_t batch_get(const wmi_point *p, uint32_t region) {
    uint64_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < p->batch_count; i++)
        if (p->batches[i].region == region) count = p->batches[i].count;
    pthread_mutex_unlock(&lock);
    return count;
}

/* The count that stands: the first thread's does for all. Without memory each run finds it
 * anew. */
static uint64_t batch_put(wmi_point *p, uint32_t region, uint64_t count) {
    pthread_mutex_lock(&lock);
    bool known = false;
    for (size_t i = 0; i < p->batch_count && !known; i++) {
        known = p->batches[i].region == region;
        if (known) count = p->batches[i].count;
    }
    wmi_batch *batches = known ? NULL : realloc(p->batches, (p->batch_count + 1) * sizeof *batches);
    if (batches) {
        p->batches = batches;
        p->batches[p->batch_count++] = (wmi_batch){region, (uint32_t)count};
    }
    pthread_mutex_unlock(&lock);
    return count;
}

static void measure_begin(wm_repeat *r, uint64_t count) {
    r->count = r->st->repeat_count = count;
    r->phase = r->st->repeating = WMI_REPEAT_MEASURE;
    wm_begin_id(r->id);
}

static void calibrate_begin(wm_repeat *r) {
    const wmi_thread *t = wmi_thread_self();
    if (!t) { /* no memory for a ring: no mark will be kept either */
        r->phase = WMI_REPEAT_PLAIN;
        r->count = 1;
        return;
    }
    r->st->ring_count = atomic_load_explicit(&t->count, memory_order_relaxed);
    r->st->ring_dropped = atomic_load_explicit(&t->dropped, memory_order_relaxed);
    r->phase = r->st->repeating = WMI_REPEAT_CALIBRATE;
    r->count = 1;
    r->begin_ticks = wmi_ticks();
}

wm_repeat wm_repeat_begin(wm_state *st, const char *region) {
    wm_repeat r = {1, 0, st, wm_region_id(region), WMI_REPEAT_PLAIN};
    if (!WM_IS_ACTIVE() || !r.id) return r;
    const uint64_t known = batch_get(st->point, r.id);
    if (st->repeating != WMI_REPEAT_NONE) {
        r.phase = WMI_REPEAT_INNER;
        wm_begin_id(r.id);
    } else if (st->sweep->options.profile) { /* nothing is timed */
        measure_begin(&r, 1);
    } else if (st->sweep->options.cache_clear == 1) {
        __atomic_store_n(&st->sweep->repeat_seen, true, __ATOMIC_RELAXED);
        measure_begin(&r, 1);
    } else if (known) {
        measure_begin(&r, known);
    } else {
        calibrate_begin(&r);
    }
    return r;
}

/* The next count to try, or 0 when `count` repetitions, which took `ns`, give the
 * final one in *final. */
static uint64_t calibrate_next(uint64_t count, double ns, double budget_ns, uint64_t *final) {
    if (ns >= budget_ns || count >= COUNT_MAX || (ns <= 0 && count >= COUNT_STILL)) {
        const double exact = ns > budget_ns ? (double)count * budget_ns / ns : (double)count;
        *final = exact < 1 ? 1 : (uint64_t)exact;
        return 0;
    }
    double growth = ns > 0 ? 1.25 * budget_ns / ns : GROWTH_MAX;
    if (growth > GROWTH_MAX) growth = GROWTH_MAX;
    const uint64_t next = (uint64_t)((double)count * growth) + 1;
    return next > COUNT_MAX ? COUNT_MAX : next;
}

void wm_repeat_again(wm_repeat *r) {
    wm_state *st = r->st;
    if (r->phase == WMI_REPEAT_CALIBRATE) {
        const double ns = wmi_clock_span_ns(&st->sweep->session->clock, r->begin_ticks, wmi_ticks());
        uint64_t final = 1;
        r->count = calibrate_next(r->count, ns, (double)st->sweep->options.batch_time_ns, &final);
        if (r->count == 0) {
            wmi_thread *t = wmi_thread_self();
            if (t) {
                atomic_store_explicit(&t->count, st->ring_count, memory_order_relaxed);
                atomic_store_explicit(&t->dropped, st->ring_dropped, memory_order_relaxed);
            }
            measure_begin(r, batch_put(st->point, r->id, final));
        } else {
            r->begin_ticks = wmi_ticks();
        }
        return;
    }
    if (r->phase == WMI_REPEAT_MEASURE) {
        const uint64_t end = wmi_ticks();
        wmi_thread *t = wmi_thread_self();
        if (t) wmi_thread_end_batch(t, r->id, (uint32_t)r->count, end);
        st->repeating = WMI_REPEAT_NONE;
    } else if (r->phase == WMI_REPEAT_INNER) {
        wm_end_id(r->id);
    }
    r->count = 0;
}
