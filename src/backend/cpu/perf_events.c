#include "backend/cpu/perf_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

/* What read() gives for a group: the number of events, the two times, and a pair of count and id for each. */
enum { READ_COUNT = 0, READ_ENABLED, READ_RUNNING, READ_FIRST };

static void free_arrays(wmi_perf_group *g) {
    free(g->fds);
    free(g->ids);
    free(g->buffer);
    *g = (wmi_perf_group){0};
}

bool wmi_perf_group_init(wmi_perf_group *g, const wmi_perf_sys *sys, size_t cap) {
    *g = (wmi_perf_group){.sys = sys, .cap = cap};
    size_t n = cap ? cap : 1;
    g->fds = malloc(n * sizeof *g->fds);
    g->ids = malloc(n * sizeof *g->ids);
    g->buffer = malloc((READ_FIRST + 2 * n) * sizeof *g->buffer);
    if (g->fds && g->ids && g->buffer) return true;
    free_arrays(g);
    return false;
}

void wmi_perf_group_fini(wmi_perf_group *g) {
    wmi_perf_group_close(g);
    free_arrays(g);
}

static int open_event(const wmi_perf_sys *sys, const struct perf_event_attr *event, int leader) {
    struct perf_event_attr attr = *event;
    attr.size = sizeof attr;
    attr.disabled = leader < 0;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
    return sys->open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

int wmi_perf_group_add(wmi_perf_group *g, const struct perf_event_attr *attr) {
    int fd = open_event(g->sys, attr, g->count ? g->fds[0] : -1);
    if (fd < 0) return errno;
    g->fds[g->count] = fd;
    if (g->sys->control(fd, PERF_EVENT_IOC_ID, &g->ids[g->count]) != 0) {
        int failure = errno;
        g->sys->close(fd);
        return failure;
    }
    g->count++;
    return 0;
}

static void drop_last(wmi_perf_group *g) { g->sys->close(g->fds[--g->count]); }

static int control_group(wmi_perf_group *g, unsigned long request) {
    void *whole_group = (void *)(uintptr_t)PERF_IOC_FLAG_GROUP; /* the kernel takes the number itself */
    return g->sys->control(g->fds[0], request, whole_group) == 0 ? 0 : errno;
}

int wmi_perf_group_start(wmi_perf_group *g) { return control_group(g, PERF_EVENT_IOC_ENABLE); }

static bool find_count(const wmi_perf_group *g, uint64_t id, uint64_t *out) {
    for (size_t i = 0; i < g->count; i++) {
        const uint64_t *pair = g->buffer + READ_FIRST + 2 * i;
        if (pair[1] != id) continue;
        *out = pair[0];
        return true;
    }
    return false;
}

static int read_group(wmi_perf_group *g) {
    size_t want = (READ_FIRST + 2 * g->count) * sizeof *g->buffer;
    ssize_t got = g->sys->read(g->fds[0], g->buffer, want);
    if (got < 0) return errno;
    return (size_t)got == want && g->buffer[READ_COUNT] == g->count ? 0 : EIO;
}

int wmi_perf_group_read(wmi_perf_group *g, uint64_t *words) {
    int native = read_group(g);
    if (native != 0) return native;
    words[WMI_PERF_ENABLED] = g->buffer[READ_ENABLED];
    words[WMI_PERF_RUNNING] = g->buffer[READ_RUNNING];
    for (size_t i = 0; i < g->count; i++)
        if (!find_count(g, g->ids[i], &words[WMI_PERF_FIRST + i])) return EIO;
    return 0;
}

static void spin(void) {
    for (volatile int i = 0; i < 20000; i++) {
    }
}

static bool read_running(wmi_perf_group *g, uint64_t *running) {
    if (read_group(g) != 0) return false;
    *running = g->buffer[READ_RUNNING];
    return true;
}

/* A group that needs more counters than there are is refused when it is opened on some processors; on others,
 * or where somebody holds a counter, it opens and never runs. A group that only waits for its turn gets it
 * within the kernel's interval of rotation, 4 ms. */
static bool runs(wmi_perf_group *g) {
    enum { PATIENCE_NS = 10 * 1000 * 1000 };
    uint64_t before, now;
    if (!read_running(g, &before) || wmi_perf_group_start(g) != 0) return false;
    uint64_t begin = wmi_monotonic_ns();
    do {
        spin();
        if (!read_running(g, &now)) return false;
    } while (now == before && wmi_monotonic_ns() - begin < PATIENCE_NS);
    return now != before;
}

/* The group is stopped while it grows: an event added to one that runs may stay at 0 (seen with task-clock as
 * the leader on Linux 6.18). */
bool wmi_perf_group_grow(wmi_perf_group *g, const struct perf_event_attr *attr) {
    if (g->count > 0 && control_group(g, PERF_EVENT_IOC_DISABLE) != 0) return false;
    if (wmi_perf_group_add(g, attr) != 0) return false;
    if (runs(g)) return true;
    drop_last(g);
    return false;
}

void wmi_perf_group_close(wmi_perf_group *g) {
    while (g->count > 0) drop_last(g); /* the leader last: without it the others would count on */
}

int wmi_perf_try(const wmi_perf_sys *sys, const struct perf_event_attr *attr) {
    int fd = open_event(sys, attr, -1);
    if (fd < 0) return errno;
    sys->close(fd);
    return 0;
}

wm_reason wmi_perf_scale(uint64_t count, uint64_t enabled, uint64_t running, double *out) {
    if (running == 0 && enabled > 0) return WM_REASON_NOT_COUNTED;
    *out = running == enabled ? (double)count : (double)count * ((double)enabled / (double)running);
    return WM_REASON_NONE;
}
