#include "session/sensing.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static const int64_t quick_ns = 20000000, slow_ns = 100000000;
/* Readings that take more than this share of the time come less often, and beyond the limit not at all. */
static const double cost_most = 0.01;
static const int64_t interval_most_ns = 2000000000;
/* A run of this length is worth readings at its ends. */
static const int64_t long_run_ns = 500000000;
/* A counter of energy moves only so often, or is read only so often; and a run must be ten times as long for
 * it to be known within a tenth. */
static const int64_t gpu_energy_ns = 100000000, cpu_energy_ns = 20000000;
static const double resolved = 10;

/* One value of a counter. */
typedef struct point {
    int64_t at_ns; /* 0: none */
    double value;
} point;

/* What the readings of a run add up to, for one sensor. */
typedef struct tally {
    double sum;
    uint32_t n, bits;
    point before, first, last, after; /* of a counter: around the run's begin and end */
} tally;

struct wmi_sensing {
    wmi_sensing_source sources[8];
    size_t source_count;
    wmi_sensing_opts opts;
    uint32_t all;   /* sensors that there may be and that are wanted */
    uint32_t quick; /* those of them that are quick */
    bool tells;
    int64_t quick_every_ns, slow_every_ns; /* 0: never */
    int cpu;                               /* of the measuring thread; atomic */
    pthread_mutex_t reading;               /* held while backends are asked */
    pthread_mutex_t lock;                  /* all that follows */
    pthread_cond_t wake;
    pthread_t thread;
    bool started, stop, awake, running;
    int64_t run_begin_ns, last_run_ns; /* -1: not known */
    wmi_sensed latest;
    tally tallies[WMI_SENSOR_COUNT];
    uint32_t worked, warned, to_warn;
    double busy_ns, awake_ns; /* all reading; all time in which there was any */
    int64_t awake_since_ns;
};

static int64_t now_ns(void) { return (int64_t)wmi_monotonic_ns(); }

/* ---- asking the backends ---- */

static void ask(wmi_sensing *s, uint32_t which, wmi_sensed *out) {
    const int cpu = __atomic_load_n(&s->cpu, __ATOMIC_RELAXED);
    wmi_sensed_clear(out, WM_REASON_NO_SENSOR);
    pthread_mutex_lock(&s->reading);
    const int64_t begin = now_ns();
    for (size_t i = 0; i < s->source_count; i++) {
        const wmi_sensing_source *source = &s->sources[i];
        const uint32_t own = which & source->ops->sensors;
        if (own) source->ops->sense(source->self, own, cpu, out);
    }
    const int64_t end = now_ns();
    pthread_mutex_unlock(&s->reading);
    out->at_ns = begin + (end - begin) / 2;
    pthread_mutex_lock(&s->lock);
    s->busy_ns += (double)(end - begin);
    pthread_mutex_unlock(&s->lock);
}

/* ---- taking a reading in; under the lock ---- */

static void take_total(wmi_sensing *s, int sensor, const wmi_sensed *r) {
    tally *t = &s->tallies[sensor];
    const point p = {r->at_ns, r->value[sensor]};
    if (!s->running) {
        t->before = p;
        return;
    }
    if (r->at_ns < s->run_begin_ns) return;
    if (!t->first.at_ns) t->first = p;
    t->last = p;
}

static void take_level(wmi_sensing *s, int sensor, const wmi_sensed *r) {
    tally *t = &s->tallies[sensor];
    if (!s->running || r->at_ns < s->run_begin_ns) return;
    t->n++;
    if (wmi_sensor_kind_of((wmi_sensor)sensor) == WMI_SENSE_BITS)
        t->bits |= (uint32_t)r->value[sensor];
    else
        t->sum += r->value[sensor];
}

static void take(wmi_sensing *s, uint32_t which, const wmi_sensed *r) {
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) {
        const uint32_t bit = 1u << i;
        if (!(which & bit)) continue;
        s->latest.value[i] = r->value[i];
        s->latest.reason[i] = r->reason[i];
        if (r->reason[i]) {
            const bool counts = s->worked & bit || (s->opts.when == WMI_SENSING_ON && s->tells);
            if (counts && !(s->warned & bit)) s->to_warn |= bit;
            continue;
        }
        s->worked |= bit;
        if (wmi_sensor_kind_of((wmi_sensor)i) == WMI_SENSE_TOTAL)
            take_total(s, i, r);
        else
            take_level(s, i, r);
    }
    s->latest.at_ns = r->at_ns;
}

static void read_and_take(wmi_sensing *s, uint32_t which) {
    wmi_sensed r;
    ask(s, which, &r);
    pthread_mutex_lock(&s->lock);
    take(s, which, &r);
    pthread_mutex_unlock(&s->lock);
}

/* On the controlling thread, whose log it is. */
static void warn(wmi_sensing *s) {
    pthread_mutex_lock(&s->lock);
    const uint32_t due = s->to_warn;
    const wmi_sensed latest = s->latest;
    const uint32_t worked = s->worked;
    s->warned |= due;
    s->to_warn = 0;
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < WMI_SENSOR_COUNT && due; i++) {
        wm_error line;
        if (!(due >> i & 1) || !latest.reason[i] || !s->opts.warn) continue;
        wmi_error_set(&line, WM_OK, 0, "%s %s: %s", wmi_sensor_name((wmi_sensor)i),
                      worked >> i & 1 ? "is not read any more" : "cannot be read",
                      wm_reason_text((wm_reason)latest.reason[i]));
        s->opts.warn(s->opts.user, line.message);
    }
}

/* ---- the thread ---- */

static void deadline(int64_t at_ns, struct timespec *out) {
    out->tv_sec = (time_t)(at_ns / 1000000000);
    out->tv_nsec = (long)(at_ns % 1000000000);
}

static void *loop(void *user) {
    wmi_sensing *s = user;
    int64_t quick_due = 0, slow_due = 0;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (!s->awake) {
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
        const int64_t now = now_ns();
        const bool quick = s->quick_every_ns && now >= quick_due, slow = s->slow_every_ns && now >= slow_due;
        if (quick || slow) {
            pthread_mutex_unlock(&s->lock);
            read_and_take(s, (quick ? s->quick : 0) | (slow ? s->all & ~s->quick : 0));
            pthread_mutex_lock(&s->lock);
            if (quick) quick_due = now + s->quick_every_ns;
            if (slow) slow_due = now + s->slow_every_ns;
            continue;
        }
        const int64_t next = !s->slow_every_ns                           ? quick_due
                             : s->quick_every_ns && quick_due < slow_due ? quick_due
                                                                         : slow_due;
        struct timespec at;
        deadline(next, &at);
        pthread_cond_timedwait(&s->wake, &s->lock, &at);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* The thread takes no signal: they are the program's. */
static wm_status thread_start(wmi_sensing *s, wm_error *err) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->started = pthread_create(&s->thread, NULL, loop, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s->started ? WM_OK : wmi_error_nomem(err);
}

/* ---- creating ---- */

static uint32_t slow_bits(void) {
    uint32_t bits = 0;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (wmi_sensor_slow((wmi_sensor)i)) bits |= 1u << i;
    return bits;
}

/* Read them once, to learn what there is and what it costs. Returns how often to read them. */
static int64_t try_out(wmi_sensing *s, uint32_t which, int64_t usual_ns) {
    if (!which) return 0;
    read_and_take(s, which); /* opens what must be open */
    const double before = s->busy_ns;
    read_and_take(s, which);
    if (!(s->worked & which)) return 0;
    const double cost = s->busy_ns - before;
    if (s->opts.when == WMI_SENSING_ON || cost <= cost_most * (double)usual_ns) return usual_ns;
    return cost <= cost_most * (double)interval_most_ns ? (int64_t)(cost / cost_most) : 0;
}

wm_status wmi_sensing_create(const wmi_sensing_source *sources, size_t count, const wmi_sensing_opts *opts,
                             wmi_sensing **out, wm_error *err) {
    wmi_sensing *s = calloc(1, sizeof *s);
    if (!s) return wmi_error_nomem(err);
    pthread_condattr_t monotonic;
    s->opts = *opts;
    s->tells = opts->when != WMI_SENSING_OFF;
    s->cpu = sched_getcpu();
    s->last_run_ns = -1;
    wmi_sensed_clear(&s->latest, WM_REASON_NOT_APPLICABLE);
    for (size_t i = 0; i < count && s->source_count < sizeof s->sources / sizeof *s->sources; i++) {
        if (!sources[i].self || !sources[i].ops->sense) continue;
        const uint32_t own = s->tells ? sources[i].ops->sensors : sources[i].ops->sensors & opts->wanted;
        if (own) s->sources[s->source_count++] = sources[i];
        s->all |= own;
    }
    s->quick = s->all & ~slow_bits();
    pthread_mutex_init(&s->reading, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    s->quick_every_ns = try_out(s, s->quick, quick_ns);
    s->slow_every_ns = try_out(s, s->all & ~s->quick, slow_ns);
    s->busy_ns = 0;
    wm_status status = WM_OK;
    if (s->quick_every_ns || s->slow_every_ns) status = thread_start(s, err);
    if (status == WM_OK && s->all) {
        *out = s;
        return WM_OK;
    }
    wmi_sensing_destroy(s);
    if (status == WM_OK) *out = NULL;
    return status;
}

void wmi_sensing_destroy(wmi_sensing *s) {
    if (!s) return;
    if (s->started) {
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->reading);
    free(s);
}

/* ---- runs ---- */

static bool reads(const wmi_sensing *s) { return s->quick_every_ns || s->slow_every_ns; }

void wmi_sensing_begin(wmi_sensing *s) {
    if (!s) return;
    warn(s);
    if (!reads(s)) return;
    __atomic_store_n(&s->cpu, sched_getcpu(), __ATOMIC_RELAXED);
    if (s->last_run_ns < 0 || s->last_run_ns >= long_run_ns) read_and_take(s, s->all);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) s->tallies[i] = (tally){.before = s->tallies[i].before};
    s->running = true;
    s->run_begin_ns = now_ns();
    if (!s->awake) {
        s->awake = true;
        s->awake_since_ns = s->run_begin_ns;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->lock);
}

/* A counter at a time between two points, or a little beyond them. */
static double between(point a, point b, int64_t at_ns) {
    if (a.at_ns == b.at_ns) return b.value;
    return a.value + (b.value - a.value) * (double)(at_ns - a.at_ns) / (double)(b.at_ns - a.at_ns);
}

static void total_of(const tally *t, int sensor, int64_t begin_ns, int64_t end_ns, wmi_sensed *out) {
    const int64_t resolution = sensor == WMI_SENSOR_GPU_ENERGY ? gpu_energy_ns : cpu_energy_ns;
    out->reason[sensor] = WM_REASON_RESOLUTION;
    const point first = t->first.at_ns ? t->first : t->after;
    const point last = t->after.at_ns ? t->after : t->last;
    if ((double)(end_ns - begin_ns) < resolved * (double)resolution || !first.at_ns || !last.at_ns) return;
    const double from = t->before.at_ns ? between(t->before, first, begin_ns) : first.value;
    const double to = between(t->last.at_ns ? t->last : t->before, last, end_ns);
    if (to > from) wmi_sensed_set(out, (wmi_sensor)sensor, to - from);
}

static void value_of(const wmi_sensing *s, const tally *t, int sensor, int64_t begin_ns, int64_t end_ns,
                     wmi_sensed *out) {
    out->reason[sensor] = s->latest.reason[sensor];
    if (out->reason[sensor] && t->n == 0) return; /* it does not answer now, and did not in the run */
    switch (wmi_sensor_kind_of((wmi_sensor)sensor)) {
    case WMI_SENSE_TOTAL: total_of(t, sensor, begin_ns, end_ns, out); return;
    case WMI_SENSE_BITS:
        wmi_sensed_set(out, (wmi_sensor)sensor, t->n ? t->bits : s->latest.value[sensor]);
        return;
    case WMI_SENSE_POWER:
        out->reason[sensor] = WM_REASON_RESOLUTION;
        if (t->n) wmi_sensed_set(out, (wmi_sensor)sensor, t->sum / t->n);
        return;
    case WMI_SENSE_LEVEL:
        wmi_sensed_set(out, (wmi_sensor)sensor, t->n ? t->sum / t->n : s->latest.value[sensor]);
        return;
    }
}

/* The reading after a run ends its counters. */
static void read_after(wmi_sensing *s, tally *tallies) {
    wmi_sensed r;
    ask(s, s->all, &r);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (!r.reason[i]) tallies[i].after = (point){r.at_ns, r.value[i]};
    pthread_mutex_lock(&s->lock);
    take(s, s->all, &r);
    pthread_mutex_unlock(&s->lock);
}

void wmi_sensing_end(wmi_sensing *s, int64_t begin_ns, int64_t end_ns, wmi_sensed *out) {
    tally tallies[WMI_SENSOR_COUNT];
    wmi_sensed_clear(out, WM_REASON_NOT_APPLICABLE);
    out->at_ns = begin_ns;
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->running = false; /* what the thread reads from now on is of no run */
    memcpy(tallies, s->tallies, sizeof tallies);
    pthread_mutex_unlock(&s->lock);
    s->last_run_ns = end_ns - begin_ns;
    if (reads(s) && s->last_run_ns >= long_run_ns) read_after(s, tallies);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (s->all >> i & 1) value_of(s, &tallies[i], i, begin_ns, end_ns, out);
    pthread_mutex_unlock(&s->lock);
    warn(s);
}

void wmi_sensing_pause(wmi_sensing *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    if (s->awake) s->awake_ns += (double)(now_ns() - s->awake_since_ns);
    s->awake = s->running = false;
    pthread_mutex_unlock(&s->lock);
    warn(s);
}

void wmi_sensing_now(wmi_sensing *s, uint32_t which, wmi_sensed *out) {
    wmi_sensed_clear(out, WM_REASON_NO_SENSOR);
    if (!s) return;
    ask(s, which & s->all, out);
    pthread_mutex_lock(&s->lock);
    take(s, which & s->all, out);
    pthread_mutex_unlock(&s->lock);
    warn(s);
}

double wmi_sensing_latest(const wmi_sensing *s, wmi_sensor sensor, wm_reason *why) {
    *why = WM_REASON_NO_SENSOR;
    if (!s) return NAN;
    wmi_sensing *locked = (wmi_sensing *)s;
    pthread_mutex_lock(&locked->lock);
    *why = (wm_reason)s->latest.reason[sensor];
    const double value = s->latest.value[sensor];
    pthread_mutex_unlock(&locked->lock);
    return *why ? NAN : value;
}

int64_t wmi_sensing_interval_ns(const wmi_sensing *s) { return s ? s->quick_every_ns : 0; }

double wmi_sensing_cost(const wmi_sensing *s) {
    if (!s) return 0;
    wmi_sensing *locked = (wmi_sensing *)s;
    pthread_mutex_lock(&locked->lock);
    const double all = s->awake_ns + (s->awake ? (double)(now_ns() - s->awake_since_ns) : 0);
    const double cost = all > 0 ? s->busy_ns / all : 0;
    pthread_mutex_unlock(&locked->lock);
    return cost;
}

bool wmi_sensing_tells(const wmi_sensing *s) { return s && s->tells; }
