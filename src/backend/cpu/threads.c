#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"

/* An entry that has begun, or why its begin could not be read. */
typedef struct open_entry {
    uint64_t entry;
    wm_reason reason;
} open_entry;

enum { GROUPS = 2 }; /* hardware, software */

/* What a thread counts with. Its own edges use it; the controlling thread closes and drains it. Both hold the
 * lock, which nobody else wants while marks are made, so that it costs a thread no wait. */
typedef struct counters {
    struct counters *next;
    pthread_mutex_t lock;
    uint32_t thread; /* the session's number for it */
    pid_t tid;
    uint64_t window;      /* the window that they were opened for; 0: closed */
    wm_reason unreadable; /* why they could not be opened */
    wmi_perf_group groups[GROUPS];
    open_entry *open; /* [open_cap] a stack, but for ends that come out of order */
    uint64_t *begins; /* [open_cap][words] what was read at their begins */
    size_t open_count, open_cap;
    uint64_t *now; /* [words] */
    wmi_readings done;
    bool out_of_memory;
} counters;

struct wmi_cpu_threads {
    const wmi_perf_sys *sys;
    uint64_t serial;      /* tells instances apart, also where one takes another's address */
    pthread_mutex_t lock; /* of the list */
    counters *list;
    const wmi_cpu_pass *pass;
    uint64_t window; /* the open window, 0 for none; atomic */
    uint64_t windows;
    bool out_of_memory; /* atomic */
};

static uint64_t last_serial; /* atomic */

/* The calling thread's counters, with the instance that they belong to. */
static _Thread_local struct {
    uint64_t serial;
    counters *counters;
} mine;

wmi_cpu_threads *wmi_cpu_threads_create(const wmi_perf_sys *sys) {
    wmi_cpu_threads *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->sys = sys;
    t->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* ---- opening and closing counters, under their lock ---- */

static void close_counters(counters *c) {
    for (int i = 0; i < GROUPS; i++)
        if (c->groups[i].sys) wmi_perf_group_fini(&c->groups[i]);
    free(c->open);
    free(c->begins);
    free(c->now);
    c->open = NULL;
    c->begins = c->now = NULL;
    c->open_count = c->open_cap = 0;
    c->window = 0;
}

static int open_group(wmi_perf_group *g, const wmi_perf_sys *sys, const struct perf_event_attr *attrs,
                      size_t count) {
    if (count == 0) return 0;
    if (!wmi_perf_group_init(g, sys, count)) return ENOMEM;
    int native = 0;
    for (size_t i = 0; i < count && native == 0; i++) native = wmi_perf_group_add(g, &attrs[i]);
    return native != 0 ? native : wmi_perf_group_start(g);
}

static bool reserve_entries(counters *c, size_t cap, size_t words) {
    open_entry *open = realloc(c->open, cap * sizeof *open);
    if (open) c->open = open;
    uint64_t *begins = realloc(c->begins, cap * words * sizeof *begins);
    if (begins) c->begins = begins;
    if (!open || !begins) return false;
    c->open_cap = cap;
    return true;
}

static void open_counters(const wmi_cpu_threads *t, counters *c, uint64_t window) {
    enum { NESTING = 32 };
    const wmi_cpu_pass *pass = t->pass;
    size_t words = wmi_cpu_pass_words(pass);
    close_counters(c);
    c->now = calloc(words, sizeof *c->now);
    if (!c->now || !reserve_entries(c, NESTING, words)) {
        close_counters(c);
        c->out_of_memory = true;
        return;
    }
    c->window = window;
    int native = 0;
    if (pass->kind == WMI_CPU_EVENT) {
        size_t software = pass->count - pass->hardware;
        native = open_group(&c->groups[0], t->sys, pass->attrs, pass->hardware);
        if (native == 0) native = open_group(&c->groups[1], t->sys, pass->attrs + pass->hardware, software);
    }
    c->unreadable = native == 0 ? WM_REASON_NONE : wmi_perf_reason(native);
    if (native == ENOMEM) c->out_of_memory = true;
}

/* ---- finding a thread's counters ---- */

static void destroy_counters(counters *c) {
    close_counters(c);
    wmi_readings_free(&c->done);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The readings get room, with its pages touched: to grow within a region would be counted there. */
static counters *create_counters(uint32_t thread) {
    enum { READINGS = 2048 };
    counters *c = calloc(1, sizeof *c);
    wmi_reading *v = malloc(READINGS * sizeof *v);
    if (!c || !v) {
        free(c);
        free(v);
        return NULL;
    }
    memset(v, 0xff, READINGS * sizeof *v);
    c->done = (wmi_readings){v, 0, READINGS};
    c->thread = thread;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static counters *find_counters(const wmi_cpu_threads *t, uint32_t thread) {
    for (counters *c = t->list; c; c = c->next)
        if (c->thread == thread) return c;
    return NULL;
}

/* A thread that takes the number of one that ended takes its record too, but not its counters: those belong
 * to the ended thread. */
static counters *bind_thread(wmi_cpu_threads *t, uint32_t thread) {
    pthread_mutex_lock(&t->lock);
    counters *c = find_counters(t, thread);
    if (!c && (c = create_counters(thread)) != NULL) {
        c->next = t->list;
        t->list = c;
    }
    if (c) {
        pthread_mutex_lock(&c->lock);
        close_counters(c);
        c->tid = (pid_t)syscall(SYS_gettid);
        pthread_mutex_unlock(&c->lock);
        mine.serial = t->serial;
        mine.counters = c;
    }
    pthread_mutex_unlock(&t->lock);
    return c;
}

/* ---- reading ---- */

/* Where the software events' words begin. */
static size_t software_at(const wmi_cpu_pass *pass) {
    return pass->hardware ? WMI_PERF_FIRST + pass->hardware : 0;
}

static wm_reason read_thread_time(uint64_t *word) {
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return WM_REASON_BACKEND;
    *word = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return WM_REASON_NONE;
}

/* Hardware events see the other group being read, in the kernel. So they are read last at a begin and first
 * at an end. */
static wm_reason read_counters(counters *c, const wmi_cpu_pass *pass, bool end, uint64_t *words) {
    if (c->unreadable != WM_REASON_NONE) return c->unreadable;
    if (pass->kind == WMI_CPU_THREAD_TIME) return read_thread_time(words);
    uint64_t *const places[GROUPS] = {words, words + software_at(pass)};
    for (int turn = 0; turn < GROUPS; turn++) {
        int i = end ? turn : GROUPS - 1 - turn;
        if (c->groups[i].count == 0) continue;
        if (wmi_perf_group_read(&c->groups[i], places[i]) != 0) return WM_REASON_BACKEND;
    }
    return WM_REASON_NONE;
}

static void begin_entry(counters *c, const wmi_cpu_pass *pass, uint64_t entry) {
    size_t words = wmi_cpu_pass_words(pass);
    if (c->open_count == c->open_cap && !reserve_entries(c, 2 * c->open_cap, words)) {
        c->out_of_memory = true;
        return;
    }
    size_t top = c->open_count++;
    c->open[top].entry = entry;
    c->open[top].reason = read_counters(c, pass, false, c->begins + top * words);
}

static bool find_open(const counters *c, uint64_t entry, size_t *at) {
    for (size_t i = c->open_count; i-- > 0;) {
        if (c->open[i].entry != entry) continue;
        *at = i;
        return true;
    }
    return false;
}

static void remove_open(counters *c, size_t at, size_t words) {
    size_t above = c->open_count - at - 1;
    memmove(c->open + at, c->open + at + 1, above * sizeof *c->open);
    memmove(c->begins + at * words, c->begins + (at + 1) * words, above * words * sizeof *c->begins);
    c->open_count--;
}

/* Scaling the difference, not both ends, keeps a count exact where the event ran throughout the entry. */
static wm_reason event_value(const wmi_cpu_pass *pass, const uint64_t *begin, const uint64_t *end,
                             size_t event, double *out) {
    size_t place = event;
    if (event >= pass->hardware) {
        begin += software_at(pass);
        end += software_at(pass);
        place = event - pass->hardware;
    }
    return wmi_perf_scale(end[WMI_PERF_FIRST + place] - begin[WMI_PERF_FIRST + place],
                          end[WMI_PERF_ENABLED] - begin[WMI_PERF_ENABLED],
                          end[WMI_PERF_RUNNING] - begin[WMI_PERF_RUNNING], out);
}

static void end_entry(counters *c, const wmi_cpu_pass *pass, uint64_t entry) {
    size_t words = wmi_cpu_pass_words(pass), at;
    wm_reason reason = read_counters(c, pass, true, c->now);
    if (!find_open(c, entry, &at)) return;
    const uint64_t *begin = c->begins + at * words;
    if (c->open[at].reason != WM_REASON_NONE) reason = c->open[at].reason;
    for (size_t i = 0; i < pass->count; i++) {
        wmi_reading r = {.entry = entry, .metric = pass->metrics[i], .reason = reason};
        if (reason == WM_REASON_NONE && pass->kind == WMI_CPU_THREAD_TIME)
            r.value = (double)(c->now[0] - begin[0]);
        else if (reason == WM_REASON_NONE)
            r.reason = event_value(pass, begin, c->now, i, &r.value);
        if (!wmi_readings_add(&c->done, r)) c->out_of_memory = true;
    }
    remove_open(c, at, words);
}

/* A mark leaves errno as it was: the code that is measured may be about to look at it. */
void wmi_cpu_threads_edge(wmi_cpu_threads *t, const wmi_mark *mark) {
    int kept_errno = errno;
    counters *c = mine.serial == t->serial ? mine.counters : bind_thread(t, mark->thread);
    if (c) {
        pthread_mutex_lock(&c->lock);
        uint64_t window = __atomic_load_n(&t->window, __ATOMIC_ACQUIRE);
        if (window != 0 && c->window != window) open_counters(t, c, window);
        if (window != 0 && c->window == window) {
            if (mark->end)
                end_entry(c, t->pass, mark->entry);
            else
                begin_entry(c, t->pass, mark->entry);
        }
        pthread_mutex_unlock(&c->lock);
    } else {
        __atomic_store_n(&t->out_of_memory, true, __ATOMIC_RELAXED);
    }
    errno = kept_errno;
}

/* ---- on the controlling thread ---- */

void wmi_cpu_threads_open(wmi_cpu_threads *t, const wmi_cpu_pass *pass) {
    t->pass = pass;
    __atomic_store_n(&t->window, ++t->windows, __ATOMIC_RELEASE);
}

/* An edge looks at the window under its counters' lock. So once that lock was held here, no edge of theirs
 * reads or opens anything for the window that is gone. */
void wmi_cpu_threads_close(wmi_cpu_threads *t) {
    __atomic_store_n(&t->window, 0, __ATOMIC_RELEASE);
    pthread_mutex_lock(&t->lock);
    for (counters *c = t->list; c; c = c->next) {
        pthread_mutex_lock(&c->lock);
        close_counters(c);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static wm_status drain_counters(counters *c, wmi_readings *out) {
    wm_status status = c->out_of_memory ? WM_ENOMEM : WM_OK;
    for (size_t i = 0; i < c->done.n && status == WM_OK; i++)
        if (!wmi_readings_add(out, c->done.v[i])) status = WM_ENOMEM;
    c->done.n = 0;
    c->open_count = 0;
    c->out_of_memory = false;
    return status;
}

static bool has_ended(const counters *c) {
    return syscall(SYS_tgkill, getpid(), c->tid, 0) != 0 && errno == ESRCH;
}

wm_status wmi_cpu_threads_drain(wmi_cpu_threads *t, wmi_readings *out, wm_error *err) {
    wm_status status = __atomic_exchange_n(&t->out_of_memory, false, __ATOMIC_RELAXED) ? WM_ENOMEM : WM_OK;
    pthread_mutex_lock(&t->lock);
    for (counters **link = &t->list; *link;) {
        counters *c = *link;
        pthread_mutex_lock(&c->lock);
        wm_status drained = drain_counters(c, out);
        bool ended = has_ended(c);
        pthread_mutex_unlock(&c->lock);
        if (drained != WM_OK) status = drained;
        if (ended) {
            *link = c->next;
            destroy_counters(c);
        } else {
            link = &c->next;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return status == WM_OK ? WM_OK : wmi_error_nomem(err);
}

void wmi_cpu_threads_destroy(wmi_cpu_threads *t) {
    if (!t) return;
    while (t->list) {
        counters *c = t->list;
        t->list = c->next;
        destroy_counters(c);
    }
    pthread_mutex_destroy(&t->lock);
    free(t);
}
