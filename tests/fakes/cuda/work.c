/* The made-up device: contexts, streams, what runs in them and when. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

static _Atomic int64_t now; /* changed under the lock */
static int64_t call_ns, latency_ns;
static CUcontext contexts;
static CUgraph graphs;
static uint32_t context_ids, stream_ids, graph_ids;
static uint64_t node_ids, launched;
static size_t blocked; /* threads that wait for a held kernel */

/* What a record is wanted of, and what has no end yet, in the order of the launches. */
static fakei_work *works;
static size_t work_count, work_capacity;

void fakei_work_reset_locked(void) {
    for (CUgraph g = graphs; g; g = g->next) free(g->v);
    free(works);
    works = NULL;
    graphs = NULL;
    contexts = NULL;
    work_count = work_capacity = 0;
    context_ids = graph_ids = 0;
    stream_ids = 12;
    node_ids = launched = 0;
    now = FAKE_CLOCK_START;
    call_ns = FAKE_LAUNCH_NS;
    latency_ns = FAKE_LATENCY_NS;
}

/* ---- the clock ---- */

int64_t fakei_now_locked(void) { return now; }
void fakei_pass_locked(int64_t ns) { now += ns; }
void fakei_launch_call_locked(void) { now += call_ns; }

int64_t fake_now(void) { return now; }

void fake_advance(int64_t ns) {
    fakei_lock();
    now += ns;
    fakei_unlock();
}

void fake_launch_cost(int64_t call, int64_t latency) {
    fakei_lock();
    bool defaults = call == 0 && latency == 0;
    call_ns = defaults ? FAKE_LAUNCH_NS : call;
    latency_ns = defaults ? FAKE_LATENCY_NS : latency;
    fakei_unlock();
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- contexts, streams, graphs ---- */

CUcontext fakei_context_new_locked(int device, bool primary) {
    CUcontext c = fakei_alloc(sizeof *c);
    c->device = device;
    c->id = ++context_ids;
    c->primary = primary;
    c->legacy = (struct CUstream_st){.context = c, .id = 7, .free_at = now, .next = &c->per_thread};
    c->per_thread = (struct CUstream_st){.context = c, .id = 8, .free_at = now};
    c->next = contexts;
    contexts = c;
    return c;
}

void fakei_context_end_locked(CUcontext context) {
    CUcontext *at = &contexts;
    while (*at && *at != context) at = &(*at)->next;
    if (*at) *at = context->next;
    context->gone = true;
}

CUcontext fakei_primary_locked(int device) {
    CUcontext c = contexts;
    while (c && !(c->primary && c->device == device)) c = c->next;
    return c;
}

size_t fake_contexts(void) {
    size_t n = 0;
    fakei_lock();
    for (CUcontext c = contexts; c; c = c->next) n++;
    fakei_unlock();
    return n;
}

CUstream fakei_stream_new_locked(CUcontext context) {
    CUstream s = fakei_alloc(sizeof *s);
    *s = (struct CUstream_st){
        .context = context, .id = ++stream_ids, .free_at = now, .next = context->per_thread.next};
    context->per_thread.next = s;
    return s;
}

void fakei_stream_end_locked(CUstream stream) {
    CUstream *at = &stream->context->per_thread.next;
    while (*at && *at != stream) at = &(*at)->next;
    if (*at) *at = stream->next;
}

bool fakei_capturing_locked(const struct CUctx_st *context) {
    const struct CUstream_st *s = &context->legacy;
    while (s && !s->capture) s = s->next;
    return s != NULL;
}

CUgraph fakei_graph_new_locked(void) {
    CUgraph g = fakei_alloc(sizeof *g);
    g->id = ++graph_ids;
    g->next = graphs;
    graphs = g;
    return g;
}

static void capture(CUstream stream, fakei_work work) {
    CUgraph g = stream->capture;
    work.node = ++node_ids;
    g->v = fakei_grow(g->v, &g->cap, g->n + 1, sizeof *g->v);
    g->v[g->n++] = work;
}

/* ---- running ---- */

static int64_t duration(const fakei_work *w) {
    if (w->kind == FAKEI_KERNEL) return w->kernel->ns;
    return 100 + (int64_t)(w->bytes / 64);
}

/* A stream is stuck while a kernel in it is held: what comes after has no begin yet. */
static void place(fakei_work *w, int64_t earliest) {
    CUstream s = w->stream;
    w->end = FAKE_NEVER;
    if (s->stuck) {
        w->begin = FAKE_NEVER;
        return;
    }
    w->begin = later(earliest, s->free_at);
    s->stuck = w->kind == FAKEI_KERNEL && w->kernel->held;
    if (!s->stuck) s->free_at = w->end = w->begin + duration(w);
}

static void keep(const fakei_work *w) {
    if (!w->wanted && w->end != FAKE_NEVER) return;
    works = fakei_grow(works, &work_capacity, work_count + 1, sizeof *works);
    works[work_count++] = *w;
}

static void wait_for(CUstream s) {
    if (s->stuck) {
        blocked++;
        pthread_cond_broadcast(&fakei_changed);
        while (s->stuck) pthread_cond_wait(&fakei_changed, &fakei_mutex);
        blocked--;
    }
    now = later(now, s->free_at);
}

/* Returns the work's time, known once it was placed. */
static fake_range run(fakei_work *w) {
    w->wanted = fakei_activity_wanted_locked(w->kind);
    w->launch = launched;
    if (w->kind == FAKEI_KERNEL) {
        launched++;
        w->kernel->launches++;
    }
    place(w, now + latency_ns);
    keep(w);
    return (fake_range){.kernel = w->kind == FAKEI_KERNEL ? w->kernel->name : NULL,
                        .launch = w->launch,
                        .ns = duration(w),
                        .kernels = 1};
}

/* While counters are read kernels run one at a time, and the launch waits for them. */
static void count(CUstream stream, fake_range *range, bool graph) {
    CUcontext context = stream->context;
    size_t replays = fakei_profiler_replays_locked(context);
    if (replays == 0) return;
    wait_for(stream);
    now += (int64_t)(replays - 1) * range->ns;
    fakei_profiler_ran_locked(context, range, graph);
}

static fake_launch_fn on_launch;

void fake_on_launch(fake_launch_fn fn) {
    fakei_lock();
    on_launch = fn;
    fakei_unlock();
}

void fakei_launch_locked(fakei_work work) {
    if (work.stream->capture) {
        capture(work.stream, work);
        return;
    }
    fake_range range = run(&work);
    if (work.kind != FAKEI_KERNEL) return;
    count(work.stream, &range, false);
    if (on_launch) on_launch(&range);
}

void fakei_graph_launch_locked(CUgraph graph, CUstream stream, uint32_t correlation) {
    fake_range whole = {.kernel = "graph", .launch = launched};
    for (size_t i = 0; i < graph->n; i++) {
        fakei_work w = graph->v[i];
        w.stream = stream;
        w.correlation = correlation;
        w.graph = graph->id;
        fake_range range = run(&w);
        whole.ns += range.ns;
        whole.kernels += w.kind == FAKEI_KERNEL;
    }
    count(stream, &whole, true);
}

void fakei_synchronize_stream_locked(CUstream stream) { wait_for(stream); }

void fakei_synchronize_locked(CUcontext context) {
    for (CUstream s = &context->legacy; s; s = s->next) wait_for(s);
}

static void unstick(void) {
    for (CUcontext c = contexts; c; c = c->next)
        for (CUstream s = &c->legacy; s; s = s->next) s->stuck = false;
}

/* Places what had no end again, in the order of the launches. */
void fake_release(const char *name) {
    size_t left = 0;
    fakei_lock();
    fakei_kernel_locked(name)->held = false;
    unstick();
    for (size_t i = 0; i < work_count; i++) {
        fakei_work w = works[i];
        if (w.end == FAKE_NEVER) place(&w, w.begin == FAKE_NEVER ? now : w.begin);
        if (w.wanted || w.end == FAKE_NEVER) works[left++] = w;
    }
    work_count = left;
    pthread_cond_broadcast(&fakei_changed);
    fakei_unlock();
}

void fake_wait_blocked(size_t threads) {
    fakei_lock();
    while (blocked < threads) pthread_cond_wait(&fakei_changed, &fakei_mutex);
    fakei_unlock();
}

static int by_end(const void *a, const void *b) {
    const fakei_work *x = a, *y = b;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return (x->launch > y->launch) - (x->launch < y->launch);
}

fakei_work *fakei_work_take_locked(size_t *taken) {
    fakei_work *out = work_count ? fakei_calloc(work_count, sizeof *out) : NULL;
    size_t left = 0;
    *taken = 0;
    for (size_t i = 0; i < work_count; i++) {
        if (works[i].wanted && works[i].end <= now)
            out[(*taken)++] = works[i];
        else
            works[left++] = works[i];
    }
    work_count = left;
    if (*taken) qsort(out, *taken, sizeof *out, by_end);
    return out;
}
