/* Buffers for activity records: asked for, filled, handed back. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

static struct {
    CUpti_BuffersCallbackRequestFunc requested;
    CUpti_BuffersCallbackCompleteFunc completed;
    uint32_t version;
    bool on[FAKEI_SET + 1];
    bool busy; /* a thread hands over: handlers run without the lock, one at a time */
    pthread_t owner;
    size_t out; /* buffers that were given and not handed back */
    uint64_t written;
    size_t dropped;
} activity;

/* The buffer being filled; of the thread that hands over. */
static struct {
    uint8_t *data;
    size_t size, used, limit, records;
} buffer;

/* What a test wants to go wrong. */
static struct {
    uint64_t begin, end;
    size_t times; /* how many records get those times */
    size_t drops;
    bool none, on_thread, wrong_correlation;
    uint8_t *foreign;
    size_t foreign_size;
    bool foreign_due, foreign_read;
} fault;

void fakei_activity_reset_locked(void) {
    free(fault.foreign);
    memset(&activity, 0, sizeof activity);
    memset(&buffer, 0, sizeof buffer);
    memset(&fault, 0, sizeof fault);
}

/* ---- what the API asks ---- */

CUptiResult fakei_activity_register(CUpti_BuffersCallbackRequestFunc requested,
                                    CUpti_BuffersCallbackCompleteFunc completed, uint32_t version) {
    if (!requested || !completed) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    activity.requested = requested;
    activity.completed = completed;
    activity.version = version;
    fakei_unlock();
    return CUPTI_SUCCESS;
}

static bool kind_of(CUpti_ActivityKind kind, fakei_kind *out) {
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: *out = FAKEI_KERNEL; return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY: *out = FAKEI_COPY; return true;
    case CUPTI_ACTIVITY_KIND_MEMSET: *out = FAKEI_SET; return true;
    default: return false;
    }
}

CUptiResult fakei_activity_enable(CUpti_ActivityKind kind, bool on) {
    fakei_kind k;
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    if (!kind_of(kind, &k)) return CUPTI_SUCCESS; /* a kind of which nothing ever comes */
    fakei_lock();
    activity.on[k] = on;
    fakei_unlock();
    return CUPTI_SUCCESS;
}

bool fakei_activity_wanted_locked(fakei_kind kind) { return activity.on[kind] && !fault.none; }

bool fakei_activity_enabled_locked(void) {
    return activity.on[FAKEI_KERNEL] || activity.on[FAKEI_COPY] || activity.on[FAKEI_SET];
}

size_t fakei_activity_dropped(void) {
    fakei_lock();
    size_t n = activity.dropped;
    activity.dropped = 0;
    fakei_unlock();
    return n;
}

CUptiResult fakei_activity_next(uint8_t *data, size_t size, CUpti_Activity **record) {
    if (!data || !record) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    uint32_t version = activity.version;
    bool foreign = data == fault.foreign;
    fault.foreign_read |= foreign;
    fakei_unlock();
    if (foreign) return CUPTI_ERROR_INVALID_KIND;
    size_t at =
        *record ? (size_t)((uint8_t *)*record - data) + fakei_record_size((*record)->kind, version) : 0;
    if (at >= size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    CUpti_Activity *next = (CUpti_Activity *)(void *)(data + at);
    if (fakei_record_size(next->kind, version) == 0) return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    return CUPTI_SUCCESS;
}

/* ---- handing over ---- */

static void hand_back(void) {
    if (!buffer.data) return;
    fakei_lock();
    CUpti_BuffersCallbackCompleteFunc completed = activity.completed;
    activity.out--;
    fakei_unlock();
    completed(NULL, 0, buffer.data, buffer.size, buffer.used);
    memset(&buffer, 0, sizeof buffer);
}

static void ask_for_buffer(void) {
    fakei_lock();
    CUpti_BuffersCallbackRequestFunc requested = activity.requested;
    fakei_unlock();
    if (!requested) return;
    requested(&buffer.data, &buffer.size, &buffer.limit);
    if (!buffer.data) return;
    fakei_lock();
    activity.out++;
    fakei_unlock();
}

static bool fits(size_t size) {
    bool room = buffer.used + size <= buffer.size && (!buffer.limit || buffer.records < buffer.limit);
    return buffer.data && room && (uintptr_t)buffer.data % ACTIVITY_RECORD_ALIGNMENT == 0;
}

/* What the test wants to become of a record; false: it is lost. */
static bool spoil(fakei_work *work) {
    bool keep = true;
    fakei_lock();
    if (fault.drops > 0) {
        fault.drops--;
        activity.dropped++;
        keep = false;
    } else if (work->kind == FAKEI_KERNEL && fault.times > 0) {
        fault.times--;
        work->begin = (int64_t)fault.begin;
        work->end = (int64_t)fault.end;
    }
    if (fault.wrong_correlation && work->graph) work->correlation += 1000000;
    fakei_unlock();
    return keep;
}

static void count_record(bool written) {
    fakei_lock();
    activity.written += written;
    activity.dropped += !written;
    fakei_unlock();
}

static void write_record(fakei_work *work, uint32_t version) {
    fakei_record record;
    if (!spoil(work)) return;
    size_t size = fakei_record_write(&record, work, version);
    if (!fits(size)) {
        hand_back();
        ask_for_buffer();
    }
    bool written = fits(size);
    if (written) {
        memcpy(buffer.data + buffer.used, &record, size);
        buffer.used += size;
        buffer.records++;
    }
    count_record(written);
}

static void hand_over_foreign(void) {
    fakei_lock();
    CUpti_BuffersCallbackCompleteFunc completed = fault.foreign_due ? activity.completed : NULL;
    if (completed) fault.foreign_due = false;
    uint8_t *data = fault.foreign;
    size_t size = fault.foreign_size;
    fakei_unlock();
    if (completed) completed(NULL, 0, data, size, size);
}

/* False: this thread is at it already, in a handler that has called the driver. */
static bool begin_delivery(void) {
    fakei_lock();
    bool mine = activity.busy && pthread_equal(activity.owner, pthread_self());
    while (!mine && activity.busy) pthread_cond_wait(&fakei_changed, &fakei_mutex);
    if (!mine) {
        activity.busy = true;
        activity.owner = pthread_self();
    }
    fakei_unlock();
    return !mine;
}

static void end_delivery(void) {
    fakei_lock();
    activity.busy = false;
    pthread_cond_broadcast(&fakei_changed);
    fakei_unlock();
}

static void deliver(bool flush) {
    size_t count;
    if (!begin_delivery()) return;
    fakei_lock();
    uint32_t version = activity.version;
    fakei_work *works = fakei_work_take_locked(&count);
    fakei_unlock();
    for (size_t i = 0; i < count; i++) write_record(&works[i], version);
    free(works);
    if (flush) {
        hand_back();
        hand_over_foreign();
    }
    end_delivery();
}

static void *deliver_all(void *unused) {
    (void)unused;
    deliver(true);
    return NULL;
}

void fakei_activity_deliver(bool flush) {
    pthread_t thread;
    fakei_lock();
    bool on_thread = fault.on_thread && flush;
    fakei_unlock();
    if (on_thread && pthread_create(&thread, NULL, deliver_all, NULL) == 0)
        pthread_join(thread, NULL);
    else
        deliver(flush);
}

/* ---- control ---- */

void fake_record_times(uint64_t begin, uint64_t end, size_t count) {
    fakei_lock();
    fault.begin = begin;
    fault.end = end;
    fault.times = count;
    fakei_unlock();
}

void fake_no_records(bool none) {
    fakei_lock();
    fault.none = none;
    fakei_unlock();
}

void fake_drop_records(size_t count) {
    fakei_lock();
    fault.drops = count;
    fakei_unlock();
}

void fake_foreign_buffer(size_t bytes) {
    fakei_lock();
    free(fault.foreign);
    fault.foreign = fakei_calloc(1, bytes);
    memset(fault.foreign, 0xAA, bytes);
    fault.foreign_size = bytes;
    fault.foreign_due = true;
    fault.foreign_read = false;
    fakei_unlock();
}

bool fake_foreign_untouched(void) {
    fakei_lock();
    bool untouched = fault.foreign && !fault.foreign_read;
    for (size_t i = 0; untouched && i < fault.foreign_size; i++) untouched = fault.foreign[i] == 0xAA;
    fakei_unlock();
    return untouched;
}

void fake_flush_on_thread(bool on) {
    fakei_lock();
    fault.on_thread = on;
    fakei_unlock();
}

void fake_graph_correlation_wrong(bool wrong) {
    fakei_lock();
    fault.wrong_correlation = wrong;
    fakei_unlock();
}

size_t fake_buffers_out(void) {
    fakei_lock();
    size_t n = activity.out;
    fakei_unlock();
    return n;
}

uint64_t fake_records(void) {
    fakei_lock();
    uint64_t n = activity.written;
    fakei_unlock();
    return n;
}
