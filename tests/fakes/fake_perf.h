/* A kernel that counts what a test tells it to: perf_event_open, ioctl, read and
 * close over a table. Included by the tests that need one; each has its own. */
#ifndef FAKE_PERF_H
#define FAKE_PERF_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/perf_sys.h"

enum { FAKE_FD = 1000, FAKE_EVENTS = 256, FAKE_CONFIGS = 16, FAKE_READS = 64 };

typedef struct fake_event {
    bool open, enabled;
    struct perf_event_attr attr;
    int leader; /* index; its own for a leader */
} fake_event;

static struct {
    /* how the machine is */
    int counters;      /* hardware counters; a group that needs more is refused, */
    bool opens_anyway; /* or opens and never runs */
    uint64_t tick;     /* what each read of a group adds to its times while it runs */
    bool user_only;    /* kernel code may not be counted */
    int (*refuse)(const struct perf_event_attr *attr); /* an errno for this event, or 0 */
    int fail_read_after; /* reads that succeed before the others fail; -1: all succeed */
    /* what it has counted: set by tests, the same for all events but for `count` */
    uint64_t enabled, running;
    uint64_t count[FAKE_CONFIGS]; /* by config, of software and hardware events */
    /* what it was asked */
    int opened, closed, reads;
    uint32_t read_types[FAKE_READS]; /* the leaders' types, in a ring */
    fake_event events[FAKE_EVENTS];
} fake;

static inline void fake_reset(void) {
    memset(&fake, 0, sizeof fake);
    fake.counters = 4;
    fake.tick = 1000;
    fake.fail_read_after = -1;
}

static inline int fake_open_count(void) {
    int n = 0;
    for (int i = 0; i < FAKE_EVENTS; i++) n += fake.events[i].open;
    return n;
}

static inline int fake_hardware_in(int leader) {
    int n = 0;
    for (int i = 0; i < FAKE_EVENTS; i++)
        n += fake.events[i].open && fake.events[i].leader == leader &&
             fake.events[i].attr.type != PERF_TYPE_SOFTWARE;
    return n;
}

static inline int fake_fail(int native) {
    errno = native;
    return -1;
}

static inline int fake_find_free(void) {
    for (int i = 0; i < FAKE_EVENTS; i++)
        if (!fake.events[i].open) return i;
    return -1;
}

static inline int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd,
                            unsigned long flags) {
    int refusal = fake.refuse ? fake.refuse(attr) : 0;
    if (refusal) return fake_fail(refusal);
    if (fake.user_only && !attr->exclude_kernel) return fake_fail(EACCES);
    if (pid != 0 || cpu != -1 || flags != PERF_FLAG_FD_CLOEXEC || attr->inherit) return fake_fail(E2BIG);
    if (attr->disabled != (leader_fd < 0)) return fake_fail(E2BIG);
    int at = fake_find_free(), leader = leader_fd < 0 ? at : leader_fd - FAKE_FD;
    if (at < 0) return fake_fail(EMFILE);
    bool hardware = attr->type != PERF_TYPE_SOFTWARE;
    if (hardware && !fake.opens_anyway && fake_hardware_in(leader) >= fake.counters) return fake_fail(EINVAL);
    fake.events[at] = (fake_event){.open = true, .attr = *attr, .leader = leader};
    fake.opened++;
    return FAKE_FD + at;
}

static inline int fake_control(int fd, unsigned long request, void *argument) {
    fake_event *e = &fake.events[fd - FAKE_FD];
    if (request == PERF_EVENT_IOC_ID) {
        *(uint64_t *)argument = (uint64_t)fd * 7;
        return 0;
    }
    if ((uintptr_t)argument != PERF_IOC_FLAG_GROUP) return fake_fail(EINVAL);
    e->enabled = request == PERF_EVENT_IOC_ENABLE;
    return 0;
}

static inline size_t fake_members(int leader) {
    size_t n = 0;
    for (int i = 0; i < FAKE_EVENTS; i++) n += fake.events[i].open && fake.events[i].leader == leader;
    return n;
}

/* Siblings come in the reverse order, so that only their ids tell whose counts they are. */
static inline ssize_t fake_read(int fd, void *buffer, size_t n) {
    int leader = fd - FAKE_FD;
    uint64_t *words = buffer;
    size_t size = (3 + 2 * fake_members(leader)) * sizeof *words;
    if (fake.fail_read_after >= 0 && fake.reads >= fake.fail_read_after) return fake_fail(EIO);
    if (n < size) return fake_fail(ENOSPC);
    fake.read_types[fake.reads++ % FAKE_READS] = fake.events[leader].attr.type;
    if (fake.events[leader].enabled && fake_hardware_in(leader) <= fake.counters) {
        fake.enabled += fake.tick;
        fake.running += fake.tick;
    }
    words[0] = fake_members(leader);
    words[1] = fake.enabled;
    words[2] = fake.running;
    words += 3;
    for (int i = FAKE_EVENTS; i-- > 0;) {
        const fake_event *e = &fake.events[i];
        if (!e->open || e->leader != leader) continue;
        *words++ = fake.count[e->attr.config % FAKE_CONFIGS];
        *words++ = (uint64_t)(FAKE_FD + i) * 7;
    }
    return (ssize_t)size;
}

static inline int fake_close(int fd) {
    fake.events[fd - FAKE_FD].open = false;
    fake.closed++;
    return 0;
}

static const wmi_perf_sys fake_kernel = {fake_open, fake_control, fake_read, fake_close};

#endif
