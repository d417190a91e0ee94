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
/* After so long a sleep what was read before it says nothing of a run that begins. */
static const int64_t stale_ns = 100000000;
/* A run of this length is worth readings at its ends. */
static const int64_t long_run_ns = 500000000;
/* A counter of energy moves only so often, or is read only so often; and a run must be ten times as long for
 * it to be known within a tenth. */
static const int64_t gpu_energy_ns = 100000000, cpu_energy_ns = 20000000;
static const double resolved = 10;

typedef wmi_sensing_point point; /* at_ns 0: none */

/* What the readings of a run add up to, for one sensor. */
typedef struct tally {
    double sum;
    uint32_t n, bits;
    point before, first, last, after; /* of a counter: around the run's begin and end */
} tally;

/* Sensors that are read together, and how often. */
typedef struct pace {
    uint32_t which;
    int64_t usual_ns, every_ns, due_ns; /* every: 0 never */
    double least_ns;                    /* that a reading took; 0: none was timed yet */
    bool met;                           /* a reading had a value: the next ones tell what readings cost */
} pace;
enum { PACES = 2 /* quick, slow */, TRIES = 3 };

struct wmi_sensing {
    wmi_sensing_source sources[8];
    size_t source_count;
    wmi_sensing_opts opts;
    uint32_t all; /* sensors that there may be and that are wanted */
    bool tells;
    int cpu;                 /* of the measuring thread; atomic */
    int64_t last_run_ns;     /* of the controlling thread; -1: not known */
    pthread_mutex_t reading; /* from asking the backends until what they said is taken in */
    pthread_mutex_t lock;    /* all that follows; taken within `reading` */
    pthread_cond_t wake;
    pthread_t thread;
    bool started, stop, awake, running;
    pace paces[PACES];
    int64_t run_begin_ns;
    wmi_sensed latest;
    int64_t read_ns[WMI_SENSOR_COUNT]; /* when each of the latest was read */
    point counters[WMI_SENSOR_COUNT];  /* the last point of each counter */
    tally tallies[WMI_SENSOR_COUNT];
    uint32_t worked, warned, to_warn;
    double busy_ns, awake_ns; /* all reading; all time in which there was any */
    int64_t awake_since_ns;
    uint32_t taken; /* readings so far; atomic: short runs only ask whether there was one */
    /* Of the controlling thread: the readings at the end of the last run, and what is to be said of a run in
     * which there is no further one. */
    uint32_t seen;
    bool quiet_known;
    wmi_sensed quiet;
};

static int64_t now_ns(void) { return (int64_t)wmi_monotonic_ns(); }

/* ---- asking the backends ---- */

/* Returns how long it took. */
static int64_t ask(wmi_sensing *s, uint32_t which, wmi_sensed *out) {
    const int cpu = __atomic_load_n(&s->cpu, __ATOMIC_RELAXED);
    wmi_sensed_clear(out, WM_REASON_NO_SENSOR);
    const int64_t begin = now_ns();
    for (size_t i = 0; i < s->source_count; i++) {
        const wmi_sensing_source *source = &s->sources[i];
        const uint32_t own = which & source->ops->sensors;
        if (own) source->ops->sense(source->self, own, cpu, out);
    }
    const int64_t took = now_ns() - begin;
    out->at_ns = begin + took / 2;
    return took;
}

/* ---- taking a reading in; under the lock ---- */

static void take_total(wmi_sensing *s, int sensor, const wmi_sensed *r) {
    tally *t = &s->tallies[sensor];
    const point p = {r->at_ns, r->value[sensor]};
    s->counters[sensor] = p;
    if (!s->running) return;
    if (r->at_ns < s->run_begin_ns) {
        t->before = p;
        return;
    }
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
        s->read_ns[i] = r->at_ns;
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
    __atomic_add_fetch(&s->taken, 1, __ATOMIC_RELEASE);
}

/* Returns how long it took. Readings are taken in in the order in which they were made. */
static int64_t read_and_take(wmi_sensing *s, uint32_t which, wmi_sensed *out) {
    pthread_mutex_lock(&s->reading);
    const int64_t took = ask(s, which, out);
    pthread_mutex_lock(&s->lock);
    s->busy_ns += (double)took;
    take(s, which, out);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->reading);
    return took;
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
        const bool never = !(worked >> i & 1);
        wmi_error_set(&line, WM_OK, 0, "%s %s: %s", wmi_sensor_name((wmi_sensor)i),
                      never ? "cannot be read" : "is not read any more",
                      never && latest.reason[i] == WM_REASON_NO_SENSOR
                          ? "'warpmeter doctor' says why"
                          : wm_reason_text((wm_reason)latest.reason[i]));
        s->opts.warn(s->opts.user, line.message);
    }
}

/* ---- the thread ---- */

static void deadline(int64_t at_ns, struct timespec *out) {
    out->tv_sec = (time_t)(at_ns / 1000000000);
    out->tv_nsec = (long)(at_ns % 1000000000);
}

/* What readings cost says how often they come. The least counts, since others had to wait for something, and
 * the first one with a value not at all: it may have opened a library. Under the lock. */
static void pace_learn(const wmi_sensing *s, pace *p, int64_t took_ns) {
    if (!(s->worked & p->which)) return;
    if (p->met && (p->least_ns <= 0 || (double)took_ns < p->least_ns)) p->least_ns = (double)took_ns;
    p->met = true;
    if (s->opts.when == WMI_SENSING_ON || p->least_ns <= cost_most * (double)p->usual_ns)
        p->every_ns = p->usual_ns;
    else
        p->every_ns =
            p->least_ns <= cost_most * (double)interval_most_ns ? (int64_t)(p->least_ns / cost_most) : 0;
}

/* Read the sensors that are due; false when none is. Gives the lock up meanwhile. */
static bool pace_go(wmi_sensing *s, pace *p) {
    wmi_sensed r;
    const int64_t now = now_ns();
    if (!p->every_ns || now < p->due_ns) return false;
    pthread_mutex_unlock(&s->lock);
    const int64_t took = read_and_take(s, p->which, &r);
    pthread_mutex_lock(&s->lock);
    pace_learn(s, p, took);
    p->due_ns = now + p->every_ns;
    return true;
}

static void *loop(void *user) {
    wmi_sensing *s = user;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        struct timespec at;
        int64_t next = INT64_MAX;
        bool went = false;
        for (int i = 0; i < PACES && s->awake; i++) {
            went |= pace_go(s, &s->paces[i]);
            if (s->paces[i].every_ns && s->paces[i].due_ns < next) next = s->paces[i].due_ns;
        }
        if (went) continue; /* much may have changed meanwhile */
        if (!s->awake || next == INT64_MAX) {
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
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

/* Read them, to learn what there is and what it costs. */
static void try_out(wmi_sensing *s, pace *p, uint32_t which, int64_t usual_ns) {
    wmi_sensed r;
    *p = (pace){.which = which, .usual_ns = usual_ns};
    for (int i = 0; i < TRIES && which; i++) {
        const int64_t took = read_and_take(s, which, &r);
        pace_learn(s, p, took);
    }
    s->busy_ns = 0;
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
    pthread_mutex_init(&s->reading, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    try_out(s, &s->paces[0], s->all & ~slow_bits(), quick_ns);
    try_out(s, &s->paces[1], s->all & slow_bits(), slow_ns);
    wm_status status = WM_OK;
    if (s->paces[0].every_ns || s->paces[1].every_ns) status = thread_start(s, err);
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

/* The sensors that are read again and again. Under the lock. */
static uint32_t followed(const wmi_sensing *s) {
    uint32_t which = 0;
    for (int i = 0; i < PACES; i++)
        if (s->paces[i].every_ns) which |= s->paces[i].which;
    return which;
}

/* What was read last, for a run that begins: is it too old, or is a long run to be expected? */
static uint32_t due_before(wmi_sensing *s) {
    pthread_mutex_lock(&s->lock);
    const uint32_t which = followed(s);
    bool due = s->last_run_ns < 0 || s->last_run_ns >= long_run_ns;
    const int64_t now = now_ns();
    for (int i = 0; i < WMI_SENSOR_COUNT && !s->awake; i++)
        due |= which >> i & 1 && now - s->read_ns[i] > stale_ns;
    pthread_mutex_unlock(&s->lock);
    return due ? which : 0;
}

/* Has nothing been read since the last run ended? */
static bool is_quiet(const wmi_sensing *s) {
    return s->quiet_known && s->last_run_ns < long_run_ns &&
           __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE) == s->seen;
}

/* What is read from now on is of the run that begins. Under the lock. */
static void run_open(wmi_sensing *s) {
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) s->tallies[i] = (tally){.before = s->counters[i]};
    s->running = true;
    s->run_begin_ns = now_ns();
}

void wmi_sensing_begin(wmi_sensing *s) {
    if (!s) return;
    wmi_sensed r;
    __atomic_store_n(&s->cpu, sched_getcpu(), __ATOMIC_RELAXED);
    if (is_quiet(s)) return; /* it was opened when the last one ended */
    const uint32_t which = due_before(s);
    if (which) read_and_take(s, which, &r);
    warn(s);
    pthread_mutex_lock(&s->lock);
    run_open(s);
    if (!s->awake) {
        s->awake = true;
        s->awake_since_ns = s->run_begin_ns;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->lock);
}

/* A counter at a time between two points, or a little beyond them. */
static double between(point a, point b, int64_t at_ns) {
    return a.value + (b.value - a.value) * (double)(at_ns - a.at_ns) / (double)(b.at_ns - a.at_ns);
}

double wmi_sensing_used(const wmi_sensing_point *points, size_t count, int64_t begin_ns, int64_t end_ns,
                        int64_t step_ns) {
    const double length_ns = (double)(end_ns - begin_ns);
    if (count < 2 || length_ns < resolved * (double)step_ns) return NAN;
    const double late_ns = (double)(points[0].at_ns - begin_ns),
                 early_ns = (double)(end_ns - points[count - 1].at_ns);
    if (late_ns * resolved > length_ns || early_ns * resolved > length_ns) return NAN;
    size_t first = 0, last = count - 1; /* the points around begin, and those around end */
    while (first + 2 < count && points[first + 1].at_ns <= begin_ns) first++;
    while (last > 1 && points[last - 1].at_ns >= end_ns) last--;
    const double used =
        between(points[last - 1], points[last], end_ns) - between(points[first], points[first + 1], begin_ns);
    return used > 0 ? used : NAN;
}

static void total_of(const tally *t, int sensor, int64_t begin_ns, int64_t end_ns, wmi_sensed *out) {
    const int64_t step_ns = sensor == WMI_SENSOR_GPU_ENERGY ? gpu_energy_ns : cpu_energy_ns;
    const point order[] = {t->before, t->first, t->last, t->after};
    point seen[4];
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        if (order[i].at_ns && (n == 0 || order[i].at_ns > seen[n - 1].at_ns)) seen[n++] = order[i];
    const double used = wmi_sensing_used(seen, n, begin_ns, end_ns, step_ns);
    out->reason[sensor] = WM_REASON_RESOLUTION;
    if (used == used) wmi_sensed_set(out, (wmi_sensor)sensor, used);
}

static void value_of(const wmi_sensing *s, const tally *t, int sensor, int64_t begin_ns, int64_t end_ns,
                     wmi_sensed *out) {
    out->reason[sensor] = s->latest.reason[sensor];
    if (out->reason[sensor] && t->n == 0) return;    /* it does not answer now, and did not in the run */
    if (t->n == 0 && !(followed(s) >> sensor & 1)) { /* what it said once says nothing of this run */
        out->reason[sensor] = WM_REASON_NOT_APPLICABLE;
        return;
    }
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
static void read_after(wmi_sensing *s, uint32_t which, tally *tallies) {
    wmi_sensed r;
    read_and_take(s, which, &r);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (which >> i & 1 && !r.reason[i]) tallies[i].after = (point){r.at_ns, r.value[i]};
}

/* Until something is read, the runs that follow are as one without a reading. Under the lock. */
static void run_close(wmi_sensing *s) {
    static const tally nothing;
    wmi_sensed_clear(&s->quiet, WM_REASON_NOT_APPLICABLE);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (s->all >> i & 1) value_of(s, &nothing, i, 0, 0, &s->quiet);
    s->quiet_known = true;
    s->seen = s->taken;
    run_open(s);
}

void wmi_sensing_end(wmi_sensing *s, int64_t begin_ns, int64_t end_ns, wmi_sensed *out) {
    tally tallies[WMI_SENSOR_COUNT];
    if (!s) {
        wmi_sensed_clear(out, WM_REASON_NOT_APPLICABLE);
        return;
    }
    if (is_quiet(s) && end_ns - begin_ns < long_run_ns) {
        *out = s->quiet;
        out->at_ns = begin_ns;
        s->last_run_ns = end_ns - begin_ns;
        return;
    }
    wmi_sensed_clear(out, WM_REASON_NOT_APPLICABLE);
    out->at_ns = begin_ns;
    pthread_mutex_lock(&s->lock);
    s->running = false; /* what the thread reads from now on is of no run */
    memcpy(tallies, s->tallies, sizeof tallies);
    const uint32_t which = followed(s);
    pthread_mutex_unlock(&s->lock);
    s->last_run_ns = end_ns - begin_ns;
    if (which && s->last_run_ns >= long_run_ns) read_after(s, which, tallies);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (s->all >> i & 1) value_of(s, &tallies[i], i, begin_ns, end_ns, out);
    run_close(s);
    pthread_mutex_unlock(&s->lock);
    warn(s);
}

void wmi_sensing_pause(wmi_sensing *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    if (s->awake) s->awake_ns += (double)(now_ns() - s->awake_since_ns);
    s->awake = s->running = s->quiet_known = false;
    pthread_mutex_unlock(&s->lock);
    warn(s);
}

void wmi_sensing_now(wmi_sensing *s, uint32_t which, wmi_sensed *out) {
    wmi_sensed_clear(out, WM_REASON_NO_SENSOR);
    if (!s) return;
    read_and_take(s, which & s->all, out);
    warn(s);
}

double wmi_sensing_latest(wmi_sensing *s, wmi_sensor sensor, int64_t most_ns, wm_reason *why) {
    wmi_sensed r;
    *why = WM_REASON_NO_SENSOR;
    if (!s || !(s->all >> sensor & 1)) return NAN;
    pthread_mutex_lock(&s->lock);
    const bool fresh = now_ns() - s->read_ns[sensor] < most_ns;
    r = s->latest;
    pthread_mutex_unlock(&s->lock);
    if (!fresh) wmi_sensing_now(s, 1u << sensor, &r);
    *why = (wm_reason)r.reason[sensor];
    return *why ? NAN : r.value[sensor];
}

int64_t wmi_sensing_interval_ns(wmi_sensing *s) {
    if (!s) return 0;
    pthread_mutex_lock(&s->lock);
    const int64_t every_ns = s->paces[0].every_ns;
    pthread_mutex_unlock(&s->lock);
    return every_ns;
}

double wmi_sensing_cost(wmi_sensing *s) {
    if (!s) return 0;
    pthread_mutex_lock(&s->lock);
    const double all = s->awake_ns + (s->awake ? (double)(now_ns() - s->awake_since_ns) : 0);
    const double cost = all > 0 ? s->busy_ns / all : 0;
    pthread_mutex_unlock(&s->lock);
    return cost;
}

bool wmi_sensing_tells(const wmi_sensing *s) { return s && s->tells; }
