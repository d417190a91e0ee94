/* The seam: pass 0 is clean and takes records; the passes after it read counters. */
#include "backend/cuda/cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/clocks.h"
#include "backend/cuda/cold.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/kernel_names.h"
#include "backend/cuda/launches.h"
#include "backend/cuda/records.h"
#include "backend/cuda/replay.h"
#include "backend/cuda/sensors.h"
#include "base/clock.h"
#include "base/intern.h"

enum { DEVICES_MAX = 16 };

typedef struct cuda_backend {
    wmi_backend_opts opts;
    bool attached;
    wmi_replay_plan *replay; /* NULL: no counters were asked for */
    int32_t open_pass;       /* -1: no window is open */
    int32_t clean;           /* passes before those of counters: 1, or 0 where none is needed */
    bool joining;            /* in the middle of handing records over */
    uint64_t invalid;        /* records of this run */
    wmi_drained kept;        /* of clean windows that were closed before they were drained */
    /* what the clean pass saw in the configuration at hand */
    uint32_t config;
    wmi_replay_survey survey;
    /* cold caches */
    pthread_mutex_t lock;
    wmi_cold *cold[DEVICES_MAX]; /* by ordinal; made at the first kernel in a region */
    bool regions_seen;
    wm_error cold_error; /* the first failure: caches are not evicted any more */
    bool cold_warned;
    bool warm;            /* a stream was captured, so that some kernels found the caches as they were */
    uint32_t last_kernel; /* interned binary name of what was launched before the launch at hand */
    wmi_launch_hooks hooks;
    /* the device's state; of the thread that senses */
    wmi_cuda_sensors sensors;
    const wmi_cuda_device *clocked; /* whose clocks are held; NULL: none */
} cuda_backend;

static void warn(const cuda_backend *b, const char *line) {
    if (b->opts.warn) b->opts.warn(b->opts.user, line);
}

/* ---- cold caches: on the launching thread, inside CUPTI's callback ---- */

static wmi_cold *cold_of(cuda_backend *b, const wmi_cuda_device *device, wm_error *err) {
    if (!device || device->ordinal >= DEVICES_MAX) {
        wmi_error_set(err, WM_EUNSUPPORTED, 0, "only the first %d devices have their caches evicted",
                      DEVICES_MAX);
        return NULL;
    }
    wmi_cold **cold = &b->cold[device->ordinal];
    if (!*cold && wmi_cold_create(device, cold, err) != WM_OK) return NULL;
    return *cold;
}

/* Kernels outside regions are left as they are, unless the function marks no region at all,
 * which is known once one was seen. */
static bool evicts(cuda_backend *b, const wmi_shape *shape) {
    if (shape->entry == WMI_NO_ENTRY || shape->entry == WMI_AMBIGUOUS_ENTRY) return false;
    b->regions_seen |= wmi_entry_in_region(shape->entry);
    return b->cold_error.code == WM_OK && (!b->regions_seen || wmi_entry_in_region(shape->entry));
}

/* True: the reader ran in the program's context. */
static bool evict(cuda_backend *b, const wmi_cuda_context *context, const wmi_shape *shape,
                  wmi_cold_place place) {
    bool inside = false;
    const uint64_t begin = wmi_ticks();
    pthread_mutex_lock(&b->lock);
    const bool due = evicts(b, shape);
    if (due) {
        wm_error why = WM_ERROR_INIT;
        wmi_cold *cold = cold_of(b, context->device, &why);
        const wm_status status =
            cold ? wmi_cold_evict(cold, context, place, b->opts.device.hang_ns, &why) : why.code;
        if (status == WM_EFAILED && b->last_kernel)
            wmi_error_set(&b->cold_error, status, 0, "%s (the last one: %s)", why.message,
                          wmi_intern_name(wmi_kernel_name_of(wmi_intern_name(b->last_kernel)).plain));
        else if (status != WM_OK && status != WM_ESTATE)
            b->cold_error = why;
        b->warm |= status == WM_ESTATE;
        inside = status == WM_OK && (place == WMI_COLD_INSIDE || wmi_cold_in_program(cold));
    }
    if (shape->name) b->last_kernel = shape->name;
    pthread_mutex_unlock(&b->lock);
    if (due) b->opts.exclude(begin, wmi_ticks());
    return inside;
}

static void before_launch(void *user, const wmi_cuda_context *context, const wmi_shape *shape) {
    evict(user, context, shape, WMI_COLD_INSIDE);
}

static bool before_counted(void *user, const wmi_cuda_context *context, const wmi_shape *shape, bool apart) {
    return evict(user, context, shape, apart ? WMI_COLD_APART : WMI_COLD_INSIDE);
}

/* Why kernels of this run were not measured with cold caches, though that was asked for. `last`: what
 * is handed over ends the run. */
static wm_reason cold_reason(cuda_backend *b, bool last) {
    if (!b->opts.device.cold) return WM_REASON_NONE;
    pthread_mutex_lock(&b->lock);
    const wm_error why = b->cold_error;
    const bool warm = b->warm;
    b->warm = warm && !last;
    const bool first = why.code != WM_OK && !b->cold_warned;
    b->cold_warned |= first;
    pthread_mutex_unlock(&b->lock);
    if (first) {
        wm_error line;
        wmi_error_set(&line, why.code, 0, "--cache-control all: %s", why.message);
        warn(b, line.message);
    }
    return why.code == WM_OK        ? (warm ? WM_REASON_CAPTURE : WM_REASON_NONE)
           : why.code == WM_EFAILED ? WM_REASON_WAITING_KERNELS
                                    : WM_REASON_BACKEND;
}

/* ---- the device's state ---- */

static void sense(void *self, uint32_t which, int cpu, wmi_sensed *out) {
    cuda_backend *b = self;
    (void)cpu;
    wmi_cuda_sense(&b->sensors, which, out);
}

static void unlock_clocks(void *self) {
    cuda_backend *b = self;
    wm_error why = WM_ERROR_INIT;
    if (b->clocked && !wmi_clocks_unlock(b->clocked, &why)) warn(b, why.message);
    b->clocked = NULL;
}

static wm_status lock_clocks(void *self, const wmi_clock_request *request, double *held_hz, wm_error *err) {
    cuda_backend *b = self;
    const wmi_cuda_device *d;
    wm_status status = wmi_cuda_watched(b->opts.device.watched, &d, err);
    if (status == WM_OK) status = wmi_clocks_lock(d, request, held_hz, err);
    if (status == WM_OK) b->clocked = d;
    return status;
}

static int device_in_use(int watched) {
    const wmi_cuda_device *d;
    return wmi_cuda_watched(watched, &d, NULL) == WM_OK ? d->ordinal : -1;
}

/* ---- opening ---- */

static void close_backend(void *self) {
    cuda_backend *b = self;
    if (!b) return;
    unlock_clocks(b);
    if (b->open_pass >= 0) wmi_launches_stop();
    wmi_replay_plan_destroy(b->replay);
    wmi_drained_free(&b->kept);
    for (size_t i = 0; i < DEVICES_MAX; i++) wmi_cold_destroy(b->cold[i]);
    if (b->attached) {
        wmi_records_detach();
        wmi_launches_detach();
    }
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static wm_status attach(cuda_backend *b, wm_error *err) {
    wm_status status = wmi_cuda_load(err);
    if (status == WM_OK) status = wmi_cupti_load(err);
    if (status == WM_OK) status = wmi_launches_attach(err);
    if (status != WM_OK) return status;
    status = wmi_records_attach(err);
    if (status != WM_OK) wmi_launches_detach();
    b->attached = status == WM_OK;
    if (b->attached && *wmi_records_warning()) warn(b, wmi_records_warning());
    return status;
}

static wm_status open_backend(const wmi_backend_opts *opts, void **self, wm_error *err) {
    cuda_backend *b = calloc(1, sizeof *b);
    if (!b) return wmi_error_nomem(err);
    b->opts = *opts;
    b->open_pass = -1;
    b->config = UINT32_MAX;
    b->hooks = (wmi_launch_hooks){before_launch, b};
    b->sensors.watched = opts->device.watched;
    if (pthread_mutex_init(&b->lock, NULL) != 0) {
        free(b);
        return wmi_error_nomem(err);
    }
    const wm_status status = attach(b, err);
    if (status != WM_OK) {
        close_backend(b);
        return status;
    }
    *self = b;
    return WM_OK;
}

/* ---- planning ---- */

static wm_status replay_plan(cuda_backend *b, wmi_chip *chip, const char *const *names, const uint32_t *of,
                             size_t count, wmi_plan *out, wm_error *err) {
    const wmi_replay_how how = {&b->opts, b->opts.device.cold ? before_counted : NULL, b};
    return wmi_replay_plan_make(chip, names, of, count, &how, out, &b->replay, err);
}

/* Those of the set that the chip counts; the others are made of records, in pass 0. */
static wm_status counters_plan(cuda_backend *b, const wmi_cuda_counted *c, wmi_plan *out, wm_error *err) {
    const wmi_cuda_device *devices;
    size_t device_count;
    wmi_chip *chip = NULL;
    wm_status status = wmi_cuda_devices(&devices, &device_count, err);
    if (status == WM_OK) status = wmi_chip_find(devices[0].chip, &chip, err);
    return status == WM_OK ? replay_plan(b, chip, c->names, c->metric_of, c->count, out, err) : status;
}

/* Where the driver replays kernels, and no time is asked for, the program need not run for times first. */
static wm_status plan(void *self, const wmi_metric_set *set, wmi_plan *out, wm_error *err) {
    cuda_backend *b = self;
    int32_t index;
    wmi_cuda_counted c;
    wm_status status = wmi_plan_init(out, set->count, err);
    if (status != WM_OK) return status;
    status = wmi_cuda_counted_of(NULL, set, &c, err);
    if (status == WM_OK) {
        b->clean = b->opts.device.replay != WMI_REPLAY_KERNEL || c.count < set->count;
        if (b->clean) status = wmi_plan_add_pass(out, (wmi_pass){.window = WMI_WINDOW_CONFIG}, &index, err);
        if (status == WM_OK && c.count) status = counters_plan(b, &c, out, err);
        wmi_cuda_counted_free(&c);
    }
    if (status != WM_OK) wmi_plan_free(out);
    return status;
}

/* ---- windows ---- */

/* Is a window open in which times are taken? */
static bool is_clean(const cuda_backend *b) { return b->open_pass >= 0 && b->open_pass < b->clean; }

static void start_times(cuda_backend *b) {
    wmi_launches_start(WMI_LAUNCHES_TIMES, b->opts.device.scope, b->opts.launch_entry, b->opts.launch_run,
                       b->opts.device.cold ? &b->hooks : NULL);
}

static wm_status open_window(void *self, const wmi_window *w, wm_error *err) {
    cuda_backend *b = self;
    if (w->config != b->config) {
        b->config = w->config;
        b->survey = (wmi_replay_survey){0};
    }
    wm_status status = WM_OK;
    if (w->pass < b->clean) {
        status = wmi_records_enable(err);
        if (status == WM_OK) start_times(b);
    } else {
        wmi_replay_survey survey = b->survey;
        const double most = (double)b->opts.device.counter_runs;
        if (most > 0 && survey.runs > most) survey.runs = most;
        wmi_records_disable();
        status = wmi_replay_open(b->replay, w->pass - b->clean, w, b->clean ? &survey : NULL, err);
    }
    if (status == WM_OK) b->open_pass = w->pass;
    return status;
}

static wm_status collect_all(cuda_backend *b, wm_error *err);

/* Was something launched in a run that was not drained? */
static bool any_in_runs(void) {
    size_t n;
    const wmi_launch *v = wmi_launches_times(&n);
    for (size_t i = 0; i < n; i++)
        if (v[i].entry != WMI_NO_ENTRY) return true;
    return false;
}

static wm_status close_window(void *self, const wmi_window *w, wm_error *err) {
    cuda_backend *b = self;
    if (b->open_pass < 0) return WM_OK;
    b->open_pass = -1;
    if (w->pass >= b->clean) return wmi_replay_close(b->replay, w->pass - b->clean, w, err);
    wmi_launches_stop();
    const wm_status status = any_in_runs() ? collect_all(b, err) : WM_OK;
    wmi_launches_clear();
    return status;
}

static void edge(void *self, const wmi_mark *mark) {
    cuda_backend *b = self;
    if (b->open_pass >= b->clean) wmi_replay_edge(b->replay, mark);
}

static bool wants(void *self, int32_t pass, uint32_t config) {
    const cuda_backend *b = self;
    return pass < b->clean || wmi_replay_wants(b->replay, pass - b->clean, config);
}

/* ---- what was read ---- */

/* What one run launched. */
typedef struct launched {
    double in, out, regions, graphs;
} launched;

/* Mean numbers a run, for the choice of windows. */
static void survey_run(wmi_replay_survey *s, launched n) {
    if (n.in == 0) { /* the function is the region */
        n.in = n.out;
        n.out = 0;
        n.regions = n.in > 0;
    }
    const double runs = s->runs + 1;
    s->kernels_in += (n.in - s->kernels_in) / runs;
    s->kernels_out += (n.out - s->kernels_out) / runs;
    s->regions += (n.regions - s->regions) / runs;
    s->graphs += (n.graphs - s->graphs) / runs;
    if (n.in + n.out > s->most) s->most = n.in + n.out;
    s->runs = runs;
}

static void survey_add(cuda_backend *b) {
    size_t n;
    const wmi_launch *v = wmi_launches_times(&n);
    launched of = {0};
    uint64_t last = WMI_NO_ENTRY;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && v[i].run != v[i - 1].run) {
            survey_run(&b->survey, of);
            of = (launched){0};
        }
        if (v[i].kind != WMI_LAUNCH_KERNEL && v[i].kind != WMI_LAUNCH_GRAPH) continue;
        if (v[i].entry == WMI_NO_ENTRY) continue;
        of.graphs += v[i].kind == WMI_LAUNCH_GRAPH;
        if (!wmi_entry_in_region(v[i].entry)) {
            of.out++;
            continue;
        }
        of.in++;
        of.regions += v[i].entry != last;
        last = v[i].entry;
    }
    survey_run(&b->survey, of);
}

static void warn_of_losses(cuda_backend *b) {
    const uint64_t dropped = wmi_records_dropped(), foreign = wmi_records_foreign(),
                   lost = wmi_launches_lost();
    wm_error line;
    if (dropped) {
        wmi_error_set(&line, WM_OK, 0,
                      "%llu kernel records were dropped in a run, so its rows have no value; "
                      "WARPMETER_KERNEL_RECORDS sets how many are kept",
                      (unsigned long long)dropped);
        warn(b, line.message);
    }
    if (b->invalid) {
        wmi_error_set(&line, WM_OK, 0,
                      "%llu kernel records of a run had times that cannot be true; they are left out",
                      (unsigned long long)b->invalid);
        warn(b, line.message);
        b->invalid = 0;
    }
    if (lost) {
        wmi_error_set(&line, WM_OK, 0,
                      "%llu launches could not be followed; the rows of their runs have no value",
                      (unsigned long long)lost);
        warn(b, line.message);
    }
    if (foreign)
        warn(b,
             "another profiler in this process (PyTorch's, say) takes kernel records: those that went to it "
             "are missing, and their rows have no value");
}

/* Of a launch that was not followed it is not known whose it was. */
static wm_status add_lost(wmi_records *records, wm_error *err) {
    const wmi_record lost = {
        .entry = WMI_AMBIGUOUS_ENTRY, .kind = WMI_RECORD_KERNEL, .reason = WM_REASON_NO_RECORD};
    if (wmi_launches_lost() == 0 || wmi_records_add(records, &lost)) return WM_OK;
    return wmi_error_nomem(err);
}

static wm_status drain_records(cuda_backend *b, wmi_drained *out, wm_error *err) {
    const size_t first = out->records.n;
    if (!b->joining) {
        wmi_launches_stop();
        survey_add(b);
    }
    wm_status status = wmi_records_collect(&b->opts.device, out, err);
    const wm_reason why = cold_reason(b, !out->more);
    for (size_t i = first; i < out->records.n; i++) {
        wmi_record *r = &out->records.v[i];
        b->invalid += r->reason == WM_REASON_INVALID_RECORD;
        if (!r->reason) r->reason = (uint8_t)why;
    }
    b->joining = status == WM_OK && out->more;
    if (b->joining) return WM_OK;
    if (status == WM_OK) status = add_lost(&out->records, err);
    warn_of_losses(b);
    if (is_clean(b)) start_times(b);
    return status;
}

static wm_status drain_readings(cuda_backend *b, wmi_drained *out, wm_error *err) {
    const size_t first = out->readings.n;
    const wm_status status = wmi_replay_drain(b->replay, &out->readings, err);
    const wm_reason why = cold_reason(b, out->readings.n > first);
    for (size_t i = first; i < out->readings.n; i++)
        if (!out->readings.v[i].reason) out->readings.v[i].reason = why;
    return status;
}

static wm_status collect_all(cuda_backend *b, wm_error *err) {
    wm_status status;
    do {
        status = drain_records(b, &b->kept, err);
    } while (status == WM_OK && b->joining);
    b->joining = false;
    return status;
}

static wm_status hand_over_kept(cuda_backend *b, wmi_drained *out, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < b->kept.records.n && status == WM_OK; i++)
        if (!wmi_records_add(&out->records, &b->kept.records.v[i])) status = wmi_error_nomem(err);
    wmi_drained_free(&b->kept);
    b->kept = (wmi_drained){0};
    return status;
}

static wm_status drain(void *self, wmi_drained *out, wm_error *err) {
    cuda_backend *b = self;
    if (b->kept.records.n) {
        const wm_status status = hand_over_kept(b, out, err);
        if (status != WM_OK) return status;
    }
    if (is_clean(b)) return drain_records(b, out, err);
    return b->replay ? drain_readings(b, out, err) : WM_OK;
}

static void probe(wmi_probe *out) { wmi_cuda_probe(out); }

const wmi_backend_ops wmi_cuda_backend = {
    .name = "cuda",
    .device = true,
    .probe = probe,
    .describe = wmi_cuda_describe,
    .list = wmi_cuda_list,
    .plan_on = wmi_cuda_plan_on,
    .open = open_backend,
    .plan = plan,
    .wants = wants,
    .open_window = open_window,
    .close_window = close_window,
    .edge = edge,
    .drain = drain,
    .sensors = WMI_CUDA_SENSORS,
    .sense = sense,
    .lock_clocks = lock_clocks,
    .unlock_clocks = unlock_clocks,
    .close = close_backend,
    .facts = wmi_cuda_facts,
    .device_in_use = device_in_use,
};
