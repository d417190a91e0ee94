#include "session/thread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

int wm_active;
_Atomic uint32_t wmi_epoch;

/* What a thread copies when it meets a new run. Written before the epoch is
 * published with release, read after it was read with acquire. A thread that was
 * held up may read those of the next run under the old epoch: then its marks are
 * not read, and it enters again at its next mark. */
static struct {
    const wmi_measure *_Atomic edges;
    const wmi_nvtx *_Atomic nvtx;
    const char *_Atomic whole;
    _Atomic int32_t pass;
    _Atomic uint32_t capacity;
} current;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool key_made;
static wmi_thread *threads; /* by index, so that entries come by id */
static wmi_thread **threads_end = &threads;
static uint32_t thread_count;
static bool run_at_hand;      /* claimed and not yet released: the rings belong to its session */
static bool forked;           /* in a child: there are no threads and no session here */
static _Atomic uint32_t lost; /* marks of this run by threads that got no ring */
static __thread wmi_thread *self __attribute__((tls_model("initial-exec")));

static void thread_free(wmi_thread *t) {
    free(t->ring);
    free(t);
}

static void unlink_exited(void) {
    wmi_thread **p = &threads;
    while (*p) {
        wmi_thread *t = *p;
        if (t->exited) {
            *p = t->next;
            thread_free(t);
        } else {
            p = &t->next;
        }
    }
    threads_end = p;
}

/* End the ranges of entries that were left open. */
static void ranges_drop(wmi_thread *t) {
    if (!t->shown.nvtx) return;
    while (t->range_count) wmi_nvtx_region_end(t->shown.nvtx, t->ranges[--t->range_count].range);
    t->shown.nvtx = NULL;
}

/* Marks of a thread that ends in the middle of a run still count: its ring lives
 * until the run was read. */
static void thread_exited(void *arg) {
    wmi_thread *t = arg;
    self = NULL;
    if (forked) return;
    ranges_drop(t);
    pthread_mutex_lock(&lock);
    t->exited = true;
    if (!run_at_hand) unlink_exited();
    pthread_mutex_unlock(&lock);
}

/* The child of a fork has one thread, and the lock and the list of threads may be in
 * the middle of a change. So nothing here looks at them again. */
static void after_fork_in_child(void) {
    __atomic_store_n(&wm_active, 0, __ATOMIC_RELAXED);
    forked = true;
}

static void init_once(void) {
    key_made = pthread_key_create(&exit_key, thread_exited) == 0;
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static wmi_thread *thread_create(void) {
    wmi_thread *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    if (!key_made || pthread_setspecific(exit_key, t) != 0) {
        free(t);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    t->index = thread_count++;
    *threads_end = t;
    threads_end = &t->next;
    pthread_mutex_unlock(&lock);
    self = t;
    return t;
}

/* Out of line: the first mark of a thread in a run. Half the numbers there are stay
 * free for the run, so that the entries in its ring have rising ones. */
static __attribute__((noinline)) wmi_thread *thread_enter(uint32_t epoch) {
    wmi_thread *t = self ? self : thread_create();
    if (!t) {
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
        return NULL;
    }
    if (t->seq > WMI_NO_SEQ / 2) t->seq = 0;
    const uint32_t capacity = atomic_load_explicit(&current.capacity, memory_order_relaxed);
    if (t->capacity != capacity) {
        free(t->ring);
        t->ring = malloc((size_t)capacity * sizeof *t->ring);
        t->capacity = t->ring ? capacity : 0;
    }
    ranges_drop(t);
    t->depth = t->too_deep = 0;
    atomic_store_explicit(&t->open, 0, memory_order_relaxed);
    t->edges = atomic_load_explicit(&current.edges, memory_order_relaxed);
    t->shown.nvtx = atomic_load_explicit(&current.nvtx, memory_order_relaxed);
    t->shown.whole = atomic_load_explicit(&current.whole, memory_order_relaxed);
    t->told = t->edges || t->shown.nvtx;
    t->pass = atomic_load_explicit(&current.pass, memory_order_relaxed);
    atomic_store_explicit(&t->first, t->seq, memory_order_relaxed);
    atomic_store_explicit(&t->count, 0, memory_order_relaxed);
    atomic_store_explicit(&t->dropped, 0, memory_order_relaxed);
    atomic_store_explicit(&t->epoch, epoch, memory_order_release);
    return t;
}

static inline wmi_thread *thread_self(void) {
    wmi_thread *t = self;
    const uint32_t epoch = atomic_load_explicit(&wmi_epoch, memory_order_acquire);
    if (WM_UNLIKELY(!t || atomic_load_explicit(&t->epoch, memory_order_relaxed) != epoch))
        return thread_enter(epoch);
    return t;
}

wmi_thread *wmi_thread_self(void) { return thread_self(); }

static inline void put(wmi_thread *t, uint64_t ticks, uint32_t name, uint32_t seq) {
    const uint32_t n = atomic_load_explicit(&t->count, memory_order_relaxed);
    if (WM_UNLIKELY(n >= t->capacity)) {
        atomic_store_explicit(&t->dropped, atomic_load_explicit(&t->dropped, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        return;
    }
    t->ring[n] = (wmi_ring_mark){ticks, name, seq};
    atomic_store_explicit(&t->count, n + 1, memory_order_release);
}

/* Tell the backends of this pass, before the clock at a begin and after it at an
 * end, so that their own cost stays outside the interval. Either this thread sees
 * that the run is over, or wmi_threads_close sees in_edge and waits: both sides
 * store first and load second, in one total order. */
static void call_edges(wmi_thread *t, bool end, uint32_t name, uint32_t seq, uint64_t ticks) {
    atomic_store(&t->in_edge, true);
    if (__atomic_load_n(&wm_active, __ATOMIC_SEQ_CST) &&
        atomic_load(&wmi_epoch) == atomic_load_explicit(&t->epoch, memory_order_relaxed)) {
        const wmi_joint_pass *pass = &t->edges->passes[t->pass];
        const wmi_mark mark = {end, name, t->index, wmi_entry_id(t, seq), ticks};
        for (size_t i = 0; i < t->edges->source_count; i++) {
            const wmi_source *source = &t->edges->sources[i];
            if (pass->local[i] >= 0 && source->ops->edge) source->ops->edge(source->self, &mark);
        }
    }
    atomic_store_explicit(&t->in_edge, false, memory_order_release);
}

static void range_begin(wmi_thread *t, uint32_t name, uint32_t seq) {
    const char *text = name == WMI_ROOT_NAME ? t->shown.whole : wmi_intern_name(name);
    if (text) t->ranges[t->range_count++] = (wmi_open_range){wmi_nvtx_region_begin(t->shown.nvtx, text), seq};
}

static void range_end(wmi_thread *t, uint32_t seq) {
    uint32_t at = t->range_count;
    while (at > 0 && t->ranges[at - 1].seq != seq) at--;
    if (at == 0) return;
    const uint64_t range = t->ranges[at - 1].range;
    memmove(&t->ranges[at - 1], &t->ranges[at], (t->range_count - at) * sizeof t->ranges[0]);
    t->range_count--;
    wmi_nvtx_region_end(t->shown.nvtx, range);
}

/* What is shown lies around what backends read, as that lies around the clock. */
static __attribute__((noinline)) void tell_begin(wmi_thread *t, uint32_t name, uint32_t seq) {
    if (t->shown.nvtx) range_begin(t, name, seq);
    if (t->edges) call_edges(t, false, name, seq, 0);
}

static __attribute__((noinline)) void tell_end(wmi_thread *t, uint32_t name, uint32_t seq, uint64_t ticks) {
    if (t->edges) call_edges(t, true, name, seq, ticks);
    if (t->shown.nvtx) range_end(t, seq);
}

static inline void publish_open(wmi_thread *t) {
    uint64_t open = 0;
    if (t->depth) {
        const wmi_open *top = &t->stack[t->depth - 1];
        open = ((uint64_t)top->seq + 1) | (top->name == WMI_ROOT_NAME ? WMI_OPEN_ROOT : 0);
    }
    atomic_store_explicit(&t->open, open, memory_order_relaxed);
}

static inline void begin(wmi_thread *t, uint32_t name) {
    if (WM_UNLIKELY(t->depth == WMI_DEPTH_MAX)) {
        t->too_deep++;
        put(t, 0, name, WMI_NO_SEQ);
        return;
    }
    const uint32_t seq = t->seq++;
    t->stack[t->depth++] = (wmi_open){name, seq};
    publish_open(t);
    if (WM_UNLIKELY(t->told)) tell_begin(t, name, seq);
    put(t, wmi_ticks(), name, seq);
}

static inline void end(wmi_thread *t, uint32_t name, uint64_t ticks) {
    uint32_t at = t->depth;
    if (WM_UNLIKELY(t->too_deep != 0) && name != WMI_ROOT_NAME) {
        t->too_deep--;
        return;
    }
    while (at > 0 && t->stack[at - 1].name != name) at--;
    if (WM_UNLIKELY(at == 0)) {
        put(t, ticks, name | WMI_END_BIT, WMI_NO_SEQ);
        return;
    }
    const uint32_t seq = t->stack[at - 1].seq;
    if (WM_UNLIKELY(at != t->depth)) /* an outer one ends first: the inner ones stay open */
        memmove(&t->stack[at - 1], &t->stack[at], (t->depth - at) * sizeof t->stack[0]);
    t->depth--;
    publish_open(t);
    put(t, ticks, name | WMI_END_BIT, seq);
    if (WM_UNLIKELY(t->told)) tell_end(t, name, seq, ticks);
}

void wmi_thread_begin(wmi_thread *t, uint32_t name) { begin(t, name); }
void wmi_thread_end(wmi_thread *t, uint32_t name) { end(t, name, wmi_ticks()); }

void wmi_thread_end_batch(wmi_thread *t, uint32_t name, uint32_t count, uint64_t ticks) {
    uint32_t at = t->depth;
    while (at > 0 && t->stack[at - 1].name != name) at--;
    if (at > 0 && t->too_deep == 0) put(t, count, WMI_BATCH_NAME, t->stack[at - 1].seq);
    end(t, name, ticks);
}

void wm_begin_id(uint32_t id) {
    if (!WM_IS_ACTIVE() || WM_UNLIKELY(id == 0)) return;
    wmi_thread *t = thread_self();
    if (WM_LIKELY(t != NULL)) begin(t, id);
}

void wm_end_id(uint32_t id) {
    if (!WM_IS_ACTIVE() || WM_UNLIKELY(id == 0)) return;
    const uint64_t ticks = wmi_ticks();
    wmi_thread *t = thread_self();
    if (WM_LIKELY(t != NULL)) end(t, id, ticks);
}

void wm_abandon_id(uint32_t id) {
    if (!WM_IS_ACTIVE() || id == 0) return;
    const uint64_t ticks = wmi_ticks();
    wmi_thread *t = thread_self();
    if (!t) return;
    uint32_t at = t->depth;
    while (at > 0 && t->stack[at - 1].name != id) at--;
    if (at > 0 && t->too_deep == 0) put(t, 0, WMI_FAILED_NAME, t->stack[at - 1].seq);
    end(t, id, ticks);
}

uint32_t wm_region_id(const char *name) { return name && *name ? wmi_intern(name) : 0; }

void wm_begin(const char *name) {
    if (WM_IS_ACTIVE()) wm_begin_id(wm_region_id(name));
}

void wm_end(const char *name) {
    if (WM_IS_ACTIVE()) wm_end_id(wm_region_id(name));
}

uint64_t wmi_thread_innermost(void) {
    if (!WM_IS_ACTIVE()) return WMI_NO_ENTRY;
    const wmi_thread *t = thread_self();
    if (!t || t->depth == 0 || t->stack[t->depth - 1].name == WMI_ROOT_NAME) return WMI_NO_ENTRY;
    return wmi_entry_id(t, t->stack[t->depth - 1].seq);
}

/* A region that is open somewhere, if it is the only one. */
static uint64_t only_open(uint32_t epoch) {
    uint64_t entry[2] = {WMI_NO_ENTRY, WMI_NO_ENTRY}; /* of regions, of whole functions */
    uint32_t count[2] = {0, 0};
    if (forked) return WMI_NO_ENTRY;
    pthread_mutex_lock(&lock);
    for (const wmi_thread *t = threads; t; t = t->next) {
        if (atomic_load_explicit(&t->epoch, memory_order_acquire) != epoch) continue;
        const uint64_t open = atomic_load_explicit(&t->open, memory_order_relaxed);
        if (!open) continue;
        const int root = (open & WMI_OPEN_ROOT) != 0;
        entry[root] = wmi_entry_id(t, (uint32_t)((open & ~WMI_OPEN_ROOT) - 1)) | (root ? WMI_ROOT_ENTRY : 0);
        count[root]++;
    }
    pthread_mutex_unlock(&lock);
    const int which = count[0] ? 0 : 1;
    return count[which] > 1 ? WMI_AMBIGUOUS_ENTRY : entry[which];
}

uint16_t wmi_run_number(void) {
    return (uint16_t)(atomic_load_explicit(&wmi_epoch, memory_order_relaxed) % 65535 + 1);
}

uint64_t wmi_launch_entry(wmi_scope scope) {
    if (!WM_IS_ACTIVE()) return WMI_NO_ENTRY;
    const wmi_thread *t = self;
    const uint32_t epoch = atomic_load_explicit(&wmi_epoch, memory_order_acquire);
    if (t && t->depth && atomic_load_explicit(&t->epoch, memory_order_relaxed) == epoch) {
        const wmi_open *top = &t->stack[t->depth - 1];
        return wmi_entry_id(t, top->seq) | (top->name == WMI_ROOT_NAME ? WMI_ROOT_ENTRY : 0);
    }
    return scope == WMI_SCOPE_THREAD ? WMI_NO_ENTRY : only_open(epoch);
}

void wmi_thread_exclude(uint64_t begin_ticks, uint64_t end_ticks) {
    wmi_thread *t = self;
    if (!WM_IS_ACTIVE() || !t || !t->depth || end_ticks <= begin_ticks) return;
    if (atomic_load_explicit(&t->epoch, memory_order_relaxed) !=
        atomic_load_explicit(&wmi_epoch, memory_order_acquire))
        return;
    put(t, end_ticks - begin_ticks, WMI_OWN_NAME, WMI_NO_SEQ);
}

wm_status wmi_threads_visit(wm_status (*visit)(void *user, const wmi_thread *t), void *user) {
    wm_status status = WM_OK;
    const uint32_t epoch = atomic_load_explicit(&wmi_epoch, memory_order_relaxed);
    if (forked) return WM_OK;
    pthread_mutex_lock(&lock);
    for (const wmi_thread *t = threads; t && status == WM_OK; t = t->next) {
        if (atomic_load_explicit(&t->epoch, memory_order_acquire) == epoch) status = visit(user, t);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static wm_status find_region(void *user, const wmi_thread *t) {
    const uint32_t n = atomic_load_explicit(&t->count, memory_order_acquire);
    for (uint32_t i = 0; i < n && !*(bool *)user; i++)
        *(bool *)user = (t->ring[i].name & ~WMI_END_BIT) < WMI_FAILED_NAME;
    return WM_OK;
}

bool wmi_threads_marked(void) {
    bool found = false;
    (void)wmi_threads_visit(find_region, &found);
    return found;
}

uint32_t wmi_threads_lost(void) { return atomic_load_explicit(&lost, memory_order_relaxed); }

wm_status wmi_threads_claim(void) {
    pthread_once(&once, init_once);
    if (forked) return WM_EBUSY;
    pthread_mutex_lock(&lock);
    const bool busy = run_at_hand;
    run_at_hand = true;
    pthread_mutex_unlock(&lock);
    return busy ? WM_EBUSY : WM_OK;
}

void wmi_threads_open(const wm_session *s, const wmi_measure *m, int32_t pass) {
    atomic_store_explicit(&lost, 0, memory_order_relaxed);
    atomic_store_explicit(&current.capacity, (uint32_t)s->ring_marks, memory_order_relaxed);
    atomic_store_explicit(&current.edges, m && m->passes[pass].edges ? m : NULL, memory_order_relaxed);
    atomic_store_explicit(&current.nvtx, s->shown.nvtx, memory_order_relaxed);
    atomic_store_explicit(&current.whole, s->shown.whole, memory_order_relaxed);
    atomic_store_explicit(&current.pass, pass, memory_order_relaxed);
    atomic_fetch_add(&wmi_epoch, 1);
    const bool waits = m && m->passes[pass].edges && m->has_device;
    __atomic_store_n(&wm_active, waits ? WM_ACTIVE | WM_ACTIVE_WAITS : WM_ACTIVE, __ATOMIC_SEQ_CST);
}

void wmi_threads_close(void) {
    __atomic_store_n(&wm_active, 0, __ATOMIC_SEQ_CST);
    if (forked) return;
    if (self) ranges_drop(self); /* other threads do it at their next mark, or when they end */
    pthread_mutex_lock(&lock);
    for (const wmi_thread *t = threads; t; t = t->next) {
        while (atomic_load(&t->in_edge)) sched_yield();
    }
    pthread_mutex_unlock(&lock);
}

void wmi_threads_release(void) {
    if (forked) return;
    pthread_mutex_lock(&lock);
    unlink_exited();
    run_at_hand = false;
    pthread_mutex_unlock(&lock);
}
