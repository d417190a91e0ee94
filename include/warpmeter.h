/** warpmeter: measure code from inside the program that runs it.
 *
 *  Mark a piece of code, name the configurations to try and the metrics to
 *  read, run it a number of times, and get one table back: a row for each
 *  region, configuration and metric, with its spread, its unit, and the reason
 *  wherever a value is missing.
 *
 *      static void saxpy(wm_state *st) {
 *          int64_t n = wm_i64(st, "n");
 *          ...
 *          WM_BEGIN("saxpy");
 *          for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
 *          WM_END("saxpy");
 *          wm_keep(y);
 *          wm_add_flops(st, "saxpy", 2.0 * (double)n);
 *      }
 *      WM_BENCHMARK(saxpy, "--axis n[pow2]=[10:20:2] --runs 20")
 *      WM_MAIN()
 *
 *  This header is the reference manual. Conventions that hold throughout:
 *
 *  - Handles are opaque. `create` allocates and `destroy` frees; destroy(NULL)
 *    is fine. No other pointer may be NULL unless that is said. A pointer that is returned and not said to be
 * the caller's is borrowed: it lives as long as the object it came from.
 *  - A call that can fail returns wm_status and takes a last argument
 *    `wm_error *`, which may be NULL and is written only when the call fails.
 *    Output arguments are untouched when the call fails.
 *  - Units are in names: _ns, _bytes, _hz. Host times are nanoseconds of
 *    CLOCK_MONOTONIC.
 *  - A value that could not be had is a null with a reason, never 0 or NaN.
 *  - Option structs begin with struct_size, start from their _INIT value, and
 *    only ever grow at the end.
 *  - The library writes to no stream it was not given, touches no signal
 *    handler, and never ends the process. A child made by fork is inert: marks
 *    there cost nothing and record nothing, no session can be started, and those
 *    of the parent, and their sweeps, are not to be used or destroyed in it.
 *  - One thread controls a session and its sweeps; regions are marked from any
 *    thread. The shared library stays loaded after dlclose; a plug-in that the
 *    archive was linked into must not be unloaded.
 *  - Functions that the library calls must return: no exception and no longjmp
 *    may leave them.
 */
#ifndef WARPMETER_H
#define WARPMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WM_VERSION_MAJOR 0
#define WM_VERSION_MINOR 1
#define WM_VERSION_PATCH 0

#if defined(__GNUC__)
#define WM_API               __attribute__((visibility("default")))
#define WM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define WM_LIKELY(x)         __builtin_expect(!!(x), 1)
#define WM_UNLIKELY(x)       __builtin_expect(!!(x), 0)
#else
#error "warpmeter needs gcc or clang"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The library's version as text, such as "0.1.0". Static; any thread. */
WM_API const char *wm_version(void);

/* ---- status and errors -------------------------------------------------- */

/** Every status: name, number, message. The numbers never change meaning. */
#define WM_STATUS_MAP(X)                                                                                     \
    X(OK, 0, "success")                                                                                      \
    X(EINVAL, -1, "invalid argument")                                                                        \
    X(ENOMEM, -2, "out of memory")                                                                           \
    X(EIO, -3, "reading or writing failed")                                                                  \
    X(ENOTFOUND, -4, "no such thing")                                                                        \
    X(ESTATE, -5, "call out of order")                                                                       \
    X(EUNSUPPORTED, -6, "not supported on this machine")                                                     \
    X(EPERM, -7, "not permitted")                                                                            \
    X(EBUSY, -8, "in use by somebody else")                                                                  \
    X(EPARSE, -9, "text that could not be understood")                                                       \
    X(EEMPTY, -10, "nothing was measured")                                                                   \
    X(EFAILED, -11, "a configuration failed")                                                                \
    X(EHOT, -12, "the device did not cool down in time")                                                     \
    X(EINTERRUPTED, -13, "interrupted")

typedef enum wm_status {
#define WM_STATUS_ENUM(name, value, text) WM_##name = (value),
    WM_STATUS_MAP(WM_STATUS_ENUM)
#undef WM_STATUS_ENUM
} wm_status;

/** "WM_EINVAL" for WM_EINVAL; "WM_?" for a number not in the list. Static. */
WM_API const char *wm_status_name(wm_status status);
/** One short phrase for the status. Static. */
WM_API const char *wm_status_text(wm_status status);

/** What went wrong, filled by a call that fails. Owned by the caller. */
typedef struct wm_error {
    wm_status code;
    int native_code;   /**< errno or a vendor's number; 0 when there is none */
    char message[504]; /**< one line of valid UTF-8, without a newline */
} wm_error;

#define WM_ERROR_INIT                                                                                        \
    {                                                                                                        \
        WM_OK, 0, { 0 }                                                                                      \
    }

/** Why a value is missing: name, slug (what files hold), text. Slugs never
 *  change; new reasons are added at the end. */
#define WM_REASON_MAP(X)                                                                                     \
    X(NONE, "", "")                                                                                          \
    X(FEW_SAMPLES, "few-samples", "too few samples for this statistic")                                      \
    X(NO_SAMPLES, "no-samples", "no sample was taken")                                                       \
    X(NOT_APPLICABLE, "not-applicable", "has no meaning for this row")                                       \
    X(NOT_RUN, "not-run", "the configuration was skipped or failed")                                         \
    X(ZERO_MEAN, "zero-mean", "the mean is zero")                                                            \
    X(NO_BASELINE, "no-baseline", "the baseline has no value here")                                          \
    X(ZERO_BASELINE, "zero-baseline", "the baseline is zero")                                                \
    X(UNBOUNDED, "unbounded", "the baseline's interval holds zero")                                          \
    X(NOT_FINITE, "not-finite", "the result is not a finite number")                                         \
    X(NON_POSITIVE, "non-positive", "a value is zero or negative")                                           \
    X(NO_EVENT, "no-event", "this machine does not have the event")                                          \
    X(PERMISSION, "permission", "the system does not permit it")                                             \
    X(NO_SYSCALL, "no-syscall", "the system lacks the interface")                                            \
    X(NOT_COUNTED, "not-counted", "the counter was never scheduled")                                         \
    X(RESOLUTION, "resolution", "shorter than the clock can resolve")                                        \
    X(DROPPED, "dropped", "marks were lost because a ring was full")                                         \
    X(UNMATCHED, "unmatched", "a begin or an end has no partner")                                            \
    X(BACKEND, "backend", "the backend could not read it")                                                   \
    X(UNKNOWN, "unknown", "the file does not say why")                                                       \
    X(NO_KERNEL, "no-kernel", "no kernel was launched there")                                                \
    X(AMBIGUOUS, "ambiguous", "a launch from a thread without a region while several were open")             \
    X(NO_RECORD, "no-record", "a launch was seen but no record of it came")                                  \
    X(INVALID_RECORD, "invalid-record", "a record has times that cannot be true")                            \
    X(FIRST_LAUNCH, "first-launch", "the first launch of a kernel, which loads and compiles it")             \
    X(SEVERAL_KERNELS, "several-kernels", "several kernels ran where one was asked for")                     \
    X(SEQUENCE, "sequence", "passes launched different kernels, so their counters do not belong together")   \
    X(RANGES_DROPPED, "ranges-dropped", "more kernels ran than the counters had room for")                   \
    X(DEVICE_BUSY, "device-busy", "another process holds the device's counters")                             \
    X(NO_DEVICE, "no-device", "no device that can count it")                                                 \
    X(WAITING_KERNELS, "waiting-kernels", "kernels wait for each other, so they cannot be run one by one")   \
    X(CAPTURE, "capture", "not possible while a stream is captured")                                         \
    X(FAILED, "failed", "its work failed in this run")                                                       \
    X(THROTTLED, "throttled", "a clock was held down by heat or power in every attempt")                     \
    X(NO_SENSOR, "no-sensor", "the device has no such sensor, or it cannot be read")                         \
    X(DEVICE_LOST, "device-lost", "the device does not answer any more")                                     \
    X(NOT_COLLECTED, "not-collected", "its collector had no value")

typedef enum wm_reason {
#define WM_REASON_ENUM(name, slug, text) WM_REASON_##name,
    WM_REASON_MAP(WM_REASON_ENUM)
#undef WM_REASON_ENUM
        WM_REASON_COUNT
} wm_reason;

/** "few-samples" for WM_REASON_FEW_SAMPLES. Static. */
WM_API const char *wm_reason_slug(wm_reason reason);
/** One short phrase for the reason. Static. */
WM_API const char *wm_reason_text(wm_reason reason);

/* ---- values ------------------------------------------------------------- */

typedef enum wm_type { WM_NULL = 0, WM_I64 = 1, WM_F64 = 2, WM_STR = 3, WM_BOOL = 4 } wm_type;

/** A typed value or a null with its reason. Passed by value; `str` is borrowed
 *  and may hold any bytes but NUL. */
typedef struct wm_value {
    wm_type type;
    wm_reason reason; /**< for WM_NULL; otherwise WM_REASON_NONE */
    union {
        int64_t i64;
        double f64;
        const char *str;
        bool b;
    } as;
} wm_value;

/* ---- regions ------------------------------------------------------------ *
 * A region is a named stretch of code. It may be entered from any thread, many
 * times, and nests: "step/attention" is `attention` entered while `step` was
 * the innermost open region of the same thread. Time is inclusive. All entries
 * of one region in one run make one sample.
 *
 * An end closes the innermost open entry of that name in its thread, even if
 * other regions were opened since and are still open (begin A, begin B, end A,
 * end B is legal: both are measured in full, and B is "A/B"). An end with
 * nothing to close, and a begin still open when its run ends, mark that row
 * with status `error`; everything else is kept. So it is with all rows of a run in
 * which marks were lost: of each thread it keeps ring_marks, and 256 regions open
 * at once.
 *
 * Cost: about two reads of the cycle counter a pair with a session active, and
 * one load and one branch without. No lock, allocation or system call once a
 * thread has made its first mark in a session. */

/** Not 0 while a session is taking marks; then a sum of these. Read it; never write it. */
extern WM_API int wm_active;
enum {
    WM_ACTIVE = 1,
    WM_ACTIVE_WAITS = 2 /**< marks may wait for a device: a caller that holds a lock which others need
                             before they launch, such as an interpreter's, gives it up around marks */
};

/** The id of a region name. Process-wide, never reused, the same for equal
 *  names. Returns 0 for NULL, for "" and when memory ran out; marks of id 0 are
 *  ignored. `name` is
 *  copied; a '/' in it is kept but reads like nesting. Any thread. */
WM_API uint32_t wm_region_id(const char *name);
/** Enter and leave by id. Any thread. */
WM_API void wm_begin_id(uint32_t id);
WM_API void wm_end_id(uint32_t id);
/** Leave a region whose work failed: what was measured of the region in this run is null, "failed",
 *  and so is what is measured of it later in the run. The regions around it keep theirs. Any thread. */
WM_API void wm_abandon_id(uint32_t id);
/** Enter and leave by name: a hash look-up dearer than by id. Any thread. */
WM_API void wm_begin(const char *name);
WM_API void wm_end(const char *name);

#define WM_CAT_(a, b) a##b
#define WM_CAT(a, b)  WM_CAT_(a, b)

#ifdef WM_DISABLE /* every mark compiles to nothing; all else stays, WM_REPEAT too */
#define WM_BEGIN(name) ((void)0)
#define WM_END(name)   ((void)0)
#define WM_SCOPE(name) ((void)0)
#else
#define WM_IS_ACTIVE() WM_UNLIKELY(__atomic_load_n(&wm_active, __ATOMIC_RELAXED))

/** The id kept at a call site; interned the first time it is needed. */
static inline uint32_t wm_site_id(uint32_t *site, const char *name) {
    uint32_t id = __atomic_load_n(site, __ATOMIC_RELAXED);
    if (WM_UNLIKELY(id == 0)) {
        id = wm_region_id(name);
        __atomic_store_n(site, id, __ATOMIC_RELAXED);
    }
    return id;
}

/** Enter and leave a region whose name is a string literal. */
#define WM_BEGIN(name)                                                                                       \
    do {                                                                                                     \
        if (WM_IS_ACTIVE()) {                                                                                \
            static uint32_t wm_site_;                                                                        \
            wm_begin_id(wm_site_id(&wm_site_, "" name ""));                                                  \
        }                                                                                                    \
    } while (0)
#define WM_END(name)                                                                                         \
    do {                                                                                                     \
        if (WM_IS_ACTIVE()) {                                                                                \
            static uint32_t wm_site_;                                                                        \
            wm_end_id(wm_site_id(&wm_site_, "" name ""));                                                    \
        }                                                                                                    \
    } while (0)

static inline void wm_scope_leave(const uint32_t *id) {
    if (*id) wm_end_id(*id);
}
static inline uint32_t wm_scope_enter(uint32_t *site, const char *name) {
    uint32_t id = 0;
    if (WM_IS_ACTIVE()) {
        id = wm_site_id(site, name);
        wm_begin_id(id);
    }
    return id;
}
/** A region from here to the end of the enclosing block, however it is left. */
#define WM_SCOPE(name)                                                                                       \
    static uint32_t WM_CAT(wm_site_, __LINE__);                                                              \
    __attribute__((cleanup(wm_scope_leave), unused)) uint32_t WM_CAT(wm_scope_, __LINE__) =                  \
        wm_scope_enter(&WM_CAT(wm_site_, __LINE__), "" name "")
#endif

/** The optimiser must assume that all memory is read and written here, `p`'s
 *  included: work whose result is in memory reachable from `p` is kept. */
static inline void wm_keep(const void *p) { __asm__ volatile("" : : "g"(p) : "memory"); }
/** The same for a value in a register: WM_KEEP(sum). `x` is an lvalue. */
#define WM_KEEP(x) __asm__ volatile("" : "+m,r"(x) : : "memory")

/* ---- benchmarks --------------------------------------------------------- */

/** What a benchmark's function is handed: one run of one configuration. The
 *  pointer is valid in that call only. With several threads each has its own. */
typedef struct wm_state wm_state;
typedef void (*wm_fn)(wm_state *st);

/** Parameters of the configuration, by name. Asking for one that does not
 *  exist or has another type fails the configuration, naming it, and returns
 *  0, 0.0, "" or false. wm_f64 also takes an int64. Strings are borrowed for
 *  the call. */
WM_API int64_t wm_i64(wm_state *st, const char *name);
WM_API double wm_f64(wm_state *st, const char *name);
WM_API const char *wm_str(wm_state *st, const char *name);
WM_API bool wm_bool(wm_state *st, const char *name);
/** Any parameter. WM_ENOTFOUND where there is none of that name. */
WM_API wm_status wm_param(wm_state *st, const char *name, wm_value *out);

/** The pointer a benchmark was registered with, and one that a set-up function
 *  leaves for the runs and the tear-down of its configuration. */
WM_API void *wm_user(wm_state *st);
WM_API void wm_set_data(wm_state *st, void *data);
WM_API void *wm_data(wm_state *st);

/** Leave this configuration out, or fail it. The function should return after
 *  it; the sweep goes on with the next configuration. `why` is printf text and
 *  becomes the row's reason. The first call counts. */
WM_API void wm_skip(wm_state *st, const char *why, ...) WM_PRINTF(2, 3);
WM_API void wm_fail(wm_state *st, const char *why, ...) WM_PRINTF(2, 3);

/** Work done in one run of a region (of one that WM_REPEAT repeats: in one
 *  repetition). Amounts of one run, also those of several threads, add up; each
 *  gives a rate over the region's time: flop_rate [FLOP/s], byte_rate [B/s],
 *  item_rate [item/s]. In a body of WM_REPEAT they may be added in every
 *  repetition. `region` is a path ("step/attention"), a name that is the last part
 *  of one path only in that run, or NULL for the whole function. */
WM_API void wm_add_flops(wm_state *st, const char *region, double count);
WM_API void wm_add_bytes(wm_state *st, const char *region, double count);
WM_API void wm_add_items(wm_state *st, const char *region, double count);

/** A value of the caller's own for this run, in base units: a metric of the
 *  innermost region open in this thread, else of the whole function. Several in
 *  one run add up. `unit` may be "", and is the same every time. A value that is
 *  not finite is kept as a null. A name that is empty or that of a metric which is
 *  measured or derived fails the configuration; so does another unit. */
WM_API void wm_record(wm_state *st, const char *metric, double value, const char *unit);

/** Time the caller measured (by another device's clock, say): replaces the
 *  measured time of the region (as above; NULL: the whole function) in this run.
 *  Several in one run add up; of several threads the longest counts, and all in
 *  time_sum. One below 0 or not finite fails the configuration. */
WM_API void wm_set_time_ns(wm_state *st, const char *region, double time_ns);

/** Threads that run the function at once (`--threads`), and this one's index. */
WM_API int wm_threads(wm_state *st);
WM_API int wm_thread(wm_state *st);

/** Numbers as in wm_step: that of the configuration, and that of the run at hand (of the one to come in a
 *  set-up and a collector; it means nothing in a tear-down). */
WM_API size_t wm_config(wm_state *st);
WM_API int64_t wm_run(wm_state *st);

/** Repeat work that is too short to time alone, as one timed batch:
 *
 *      WM_REPEAT(st, "add") { x = add(x, 3); WM_KEEP(x); }
 *
 *  The core finds the count once for each configuration and name, so that a batch
 *  lasts `--batch-time`; samples are per repetition, the row's `batch` has the
 *  count. So are those of regions in the body; a WM_REPEAT there is a plain region.
 *  The body must be left by its end only (no break, return or goto). Cold
 *  caches and repetition exclude each other: under `--cache-control all` the
 *  body runs once a run, and a warning says so. Members are the library's own. */
typedef struct wm_repeat {
    uint64_t count; /**< repetitions in the batch at hand; 0 when all is done */
    uint64_t begin_ticks;
    wm_state *st;
    uint32_t id;
    uint32_t phase;
} wm_repeat;
WM_API wm_repeat wm_repeat_begin(wm_state *st, const char *region);
WM_API void wm_repeat_again(wm_repeat *r);
#define WM_REPEAT(st, name) WM_REPEAT_(st, name, WM_CAT(wm_repeat_, __LINE__), WM_CAT(wm_left_, __LINE__))
#define WM_REPEAT_(st, name, r, left)                                                                        \
    for (wm_repeat r = wm_repeat_begin((st), "" name ""); r.count; wm_repeat_again(&r))                      \
        for (uint64_t left = r.count; left; left--)

/** A metric computed by a C function, beside `--derive` formulas. */
typedef struct wm_derivation {
    const char *metric;
    const char *unit;   /**< "" for a ratio */
    const char *inputs; /**< comma list of metrics and numeric parameters */
    /** Computes *out from in[], in the order of `inputs`; false: no value. Pure;
     *  called on the controlling thread when a table is made, with the benchmark's
     *  `user`, which must live as long as the session. */
    bool (*compute)(void *user, const double *in, double *out);
} wm_derivation;

/* ---- collectors --------------------------------------------------------- *
 * A collector says something about a measurement that is no metric: a version, a setting, a
 * temperature of its own. What it says is a column of the tables, behind the parameters: in samples
 * one called as the collector; in results too for WM_COLLECT_ONCE and for what is not a number, with
 * the value of the first run that has one; of numbers otherwise NAME_avg, NAME_std, NAME_min and
 * NAME_max over the runs of the row's region. */

/** How often a collector is called: */
typedef enum wm_collect_scope {
    WM_COLLECT_ONCE = 0,   /**< before the first run of the sweep, and before any set-up */
    WM_COLLECT_CONFIG = 1, /**< before the first run of each configuration, warm-ups among them, after its
                                set-up */
    WM_COLLECT_RUN = 2,    /**< before each measured run: once, however many passes and attempts it takes */
    WM_COLLECT_REGION = 3  /**< after each measured run of the first pass, for each region that was entered
                                in it; for the whole function where none was. Not after a run that failed */
} wm_collect_scope;

typedef struct wm_collector {
    size_t struct_size;
    const char *name; /**< of its column: one that no other column has */
    wm_collect_scope scope;
    /** Sets *out, which is a null before. A text is copied as soon as it is returned, and stays the
     *  collector's. `st`: for the configuration's parameters, wm_user and wm_data; what else is said
     *  through it is ignored; NULL for WM_COLLECT_ONCE. `region`: its path, or the benchmark's name for
     *  the whole function; NULL but for WM_COLLECT_REGION. false: it has no value; that makes a null, and
     *  one warning that names the collector. true with a null: a null for its reason, and no warning.
     *  Called on the controlling thread, between runs, outside of all that is timed. NULL: the caller
     *  of wm_sweep_collect gives the values. */
    bool (*collect)(void *user, wm_state *st, const char *region, wm_value *out);
    void *user;
} wm_collector;
#define WM_COLLECTOR_INIT                                                                                    \
    { sizeof(wm_collector), NULL, WM_COLLECT_ONCE, NULL, NULL }

/** A benchmark: a function and what goes with it. */
typedef struct wm_benchmark {
    size_t struct_size;
    const char *name;
    wm_fn run;           /**< NULL: the caller of wm_sweep_next does the work itself */
    wm_fn setup;         /**< before the first run of a configuration; may be NULL */
    wm_fn teardown;      /**< after its last run, also after a failure, but not when its
                              set-up skipped or failed; may be NULL */
    void *user;          /**< what wm_user returns */
    const char *options; /**< spelled as on the command line; may be NULL */
    const wm_derivation *derivations;
    size_t derivation_count;
    /** Makes one value of those of several kernels that ran in a region in one run, for each
     *  metric of an accelerator's chip but those that --combine combines in another way than
     *  auto. values[i] is what kernel i counted, weights_ns[i] how long it ran meanwhile; in
     *  the order of their launches. NaN: no value. Called on the controlling thread after the
     *  run, with `user`, also for a single kernel. NULL: as the metric's own kind says. */
    double (*combine)(void *user, const char *metric, const double *values, const double *weights_ns,
                      size_t count);
    const wm_collector *collectors; /**< beside those of --collect */
    size_t collector_count;
} wm_benchmark;

#define WM_BENCHMARK_INIT                                                                                    \
    { sizeof(wm_benchmark), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0 }

/** Add a benchmark to the list that wm_main runs. The struct and its texts are
 *  copied; its functions must stay loaded. With interleaved and random order, set-up and tear-down run again
 *  whenever the configuration changes.
 *  Returns  WM_OK; WM_EINVAL (no name or function, a name already taken, or a collector without a name);
 *           WM_ENOMEM.   Threads  one at a time. */
WM_API wm_status wm_benchmark_register(const wm_benchmark *bench, wm_error *err);

/** Register `fn` before main runs, under its own name. */
#define WM_BENCHMARK(fn, options) WM_BENCHMARK_WITH(fn, NULL, NULL, NULL, options)
#define WM_BENCHMARK_WITH(fn, setup, teardown, user, options)                                                \
    __attribute__((constructor)) static void wm_register_##fn(void) {                                        \
        const wm_benchmark wm_bench_ = {                                                                     \
            sizeof(wm_benchmark), #fn, fn, setup, teardown, user, options, NULL, 0, NULL, NULL, 0};          \
        wm_benchmark_register_static(&wm_bench_);                                                            \
    }
/** What WM_BENCHMARK calls: a failure is kept and reported by wm_main. */
WM_API void wm_benchmark_register_static(const wm_benchmark *bench);

/** The command line of a benchmark program: parses, measures, prints. It alone
 *  writes to stdout and stderr. See warpmeter-benchmark(1).
 *  Returns  the exit status: 0; 1 a configuration failed; 2 usage; 3 nothing
 *           was measured; 4 a result could not be written. */
WM_API int wm_main(int argc, char **argv);
/** Say what the program was built with, for the table's context (static text). One that
 *  holds "not optimised" makes a warning. */
WM_API void wm_set_build_info(const char *text);
#ifdef __clang__
#define WM_COMPILER_ "clang " __clang_version__
#else
#define WM_COMPILER_ "gcc " __VERSION__
#endif
#ifdef __OPTIMIZE__
#define WM_BUILD_INFO WM_COMPILER_ ", optimised"
#else
#define WM_BUILD_INFO WM_COMPILER_ ", not optimised"
#endif
#define WM_MAIN()                                                                                            \
    int main(int argc, char **argv) {                                                                        \
        wm_set_build_info(WM_BUILD_INFO);                                                                    \
        return wm_main(argc, argv);                                                                          \
    }

/* ---- sessions and sweeps ------------------------------------------------ */

typedef struct wm_session wm_session;
typedef struct wm_sweep wm_sweep;
typedef struct wm_table wm_table;

typedef enum wm_log_level {
    WM_LOG_ERROR = 0,
    WM_LOG_WARNING = 1,
    WM_LOG_INFO = 2,
    WM_LOG_DEBUG = 3
} wm_log_level;
/** Called with one line, without a newline, one call at a time: on the controlling thread, but for
 *  a warning that kernels hang the program, which comes while that thread is in it. */
typedef void (*wm_log_fn)(void *user, wm_log_level level, const char *line);

typedef struct wm_session_opts {
    size_t struct_size;
    const char *name; /**< what start/stop stretches are called; NULL or "": "session" */
    wm_log_fn log;    /**< NULL: warnings are only kept in the table's context */
    void *log_user;
    size_t ring_marks;       /**< marks a thread can make in one run; 0: 262144. Beyond it
                                  marks are dropped, counted and reported */
    const char *metrics;     /**< for start/stop: comma list; NULL or "": "time". Those that
                                  take several passes need a sweep */
    bool by_entry;           /**< for start/stop: a sample for each entry, not each run */
    bool keep_records;       /**< keep what devices did, for wm_session_kernels: 128 bytes for
                                  each kernel, copy and set */
    bool keep_first;         /**< for start/stop: first launches of kernels, which load and may compile
                                  them, count (as --first-launch keep has it in a sweep) */
    const char *state;       /**< for start/stop: whether the machine's state is read beside it, as
                              --state has it: "auto", "on" or "off"; NULL: "auto" */
    const char *nvtx_domain; /**< under which other tools see the regions, as NVTX ranges; NULL:
                              "warpmeter" */
} wm_session_opts;
#define WM_SESSION_OPTS_INIT                                                                                 \
    { sizeof(wm_session_opts), NULL, NULL, NULL, 0, NULL, false, false, false, NULL, NULL }

/** Make a session: calibrates the clock (about 3 ms). `opts` may be NULL; its texts
 *  are copied. Several may exist; one at a time is active (between start and stop,
 *  or from wm_sweep_next to wm_sweep_done of a sweep of it). The caller owns *out.
 *  Returns  WM_OK; WM_ENOMEM; WM_EINVAL (an option, or an unknown WARPMETER_TIMER);
 *           WM_EUNSUPPORTED (the timer it names). */
WM_API wm_status wm_session_create(const wm_session_opts *opts, wm_session **out, wm_error *err);
/** Stops the session if it is active. All its sweeps must be destroyed first. */
WM_API void wm_session_destroy(wm_session *session);
/** Measure a stretch of code without a sweep: each start/stop pair is a run.
 *  Returns  WM_OK; WM_EBUSY (a session is active); WM_ESTATE (started already, or
 *           not started); WM_ENOTFOUND (an unknown metric, named); WM_EINVAL
 *           (metrics that take several passes); WM_ENOMEM (stop: the run is lost,
 *           earlier ones are kept). */
WM_API wm_status wm_session_start(wm_session *session, wm_error *err);
WM_API wm_status wm_session_stop(wm_session *session, wm_error *err);
/** The result table of all that the session measured so far. The caller owns
 *  *out; it does not change and outlives the session.
 *  Returns  WM_OK; WM_ENOMEM. */
WM_API wm_status wm_session_table(wm_session *session, wm_table **out, wm_error *err);
/** Every raw sample, as a table; the same holds. */
WM_API wm_status wm_session_samples(wm_session *session, wm_table **out, wm_error *err);
/** Every kernel, copy and set of memory that a device did in the measured runs in which
 *  times were taken, as a table; the same holds. Without keep_records it has no rows. */
WM_API wm_status wm_session_kernels(wm_session *session, wm_table **out, wm_error *err);

/** Prepare a sweep of one benchmark: parse the options (the benchmark's own,
 *  then argv, which overrides), expand the axes, check metrics and formulas,
 *  plan. Nothing runs. argv has no program name and may be NULL with argc 0. The
 *  struct and its texts are copied. The caller owns *out.
 *  Returns  WM_OK; WM_EPARSE or WM_EINVAL (the message names the option and what
 *           it accepts); WM_ENOTFOUND (metric or name, with the nearest known
 *           ones); WM_EUNSUPPORTED (formulas without muParser); WM_ENOMEM. */
WM_API wm_status wm_sweep_create(wm_session *session, const wm_benchmark *bench, int argc,
                                 const char *const *argv, wm_sweep **out, wm_error *err);
/** Tears down the current configuration if the sweep was left half way. */
WM_API void wm_sweep_destroy(wm_sweep *sweep);
/** Add one explicit configuration beside those of the axes (with the first
 *  call, instead of the single empty one). Names and values are copied.
 *  Returns  WM_OK; WM_EINVAL (a parameter without a name or value, or one that is
 *           there twice); WM_ESTATE (after the first plan or step); WM_ENOMEM. */
WM_API wm_status wm_sweep_add_config(wm_sweep *sweep, size_t count, const char *const *names,
                                     const wm_value *values, wm_error *err);
/** The plan as a table (kind "plan"): a row for each metric with its pass, and
 *  in the context the configurations, passes and calls. The caller owns *out.
 *  Returns  WM_OK; WM_EINVAL (a configuration that is there twice, or a derived
 *           metric's name that is taken); WM_ENOTFOUND (a name in a formula);
 *           WM_ENOMEM. */
WM_API wm_status wm_sweep_plan(wm_sweep *sweep, wm_table **out, wm_error *err);

/** One call of the function. The core decides when the next is due. */
typedef struct wm_step {
    size_t struct_size;
    wm_state *state;        /**< for the function; valid until wm_sweep_done */
    const char *benchmark;  /**< like config_key: borrowed, lives as long as the sweep */
    const char *config_key; /**< its parameters: "n=128,type=f32" */
    size_t config;          /**< its number, from 0, in the order of the axes */
    int64_t run;            /**< from 0; warm-up runs count up to -1 */
    int32_t attempt;        /**< 0 */
    int32_t pass;           /**< from 0: which metrics are read in this step */
    int32_t threads;        /**< that wm_step_call runs the function in */
    bool warmup;
    bool first_pass; /**< once-a-run work belongs here */
} wm_step;
#define WM_STEP_INIT                                                                                         \
    { sizeof(wm_step), NULL, NULL, NULL, 0, 0, 0, 0, 1, false, false }

/** Move to the next step: tears down and sets up configurations, opens windows,
 *  evicts caches, then starts the measurement of the step.
 *  *step starts from WM_STEP_INIT and can be used again.
 *  Returns  true: run the function, then call wm_sweep_done. false: the sweep is
 *           over; err->code is WM_OK, or the failure that ended it early: WM_EBUSY
 *           (a session is active), WM_ENOMEM, WM_EINTERRUPTED (wm_sweep_on_wait), or
 *           one of wm_sweep_plan's. WM_ESTATE (a step is at hand) and WM_EINVAL (*step)
 *           end nothing. */
WM_API bool wm_sweep_next(wm_sweep *sweep, wm_step *step, wm_error *err);
/** End the step. `status` other than WM_OK fails the configuration with `why`
 *  (may be NULL) as its reason; the sweep goes on.
 *  Returns  WM_OK; WM_ESTATE (not the step at hand); WM_ENOMEM (the sweep is over). */
WM_API wm_status wm_sweep_done(wm_sweep *sweep, const wm_step *step, wm_status status, const char *why,
                               wm_error *err);
/** Say the value of a metric of the caller's own in a run that was measured, after it (wm_record is
 *  for during it); for a metric that was measured, put another value in place of that run's. `region`:
 *  a path, or NULL for the whole function; it was entered in that run. A null has its reason. Of a new
 *  metric values come in the order of runs. On the controlling thread, between steps or after the last.
 *  Returns  WM_OK; WM_EINVAL (no number, or another unit than before; a name that is not to be taken);
 *           WM_ENOTFOUND (no such configuration, run or region); WM_ESTATE (in a step, or before the
 *           first); WM_ENOMEM. */
WM_API wm_status wm_sweep_put(wm_sweep *sweep, size_t config, int64_t run, const char *region,
                              const char *metric, wm_value value, const char *unit, wm_error *err);
/** Give a collector's value from outside: of one that was declared without a function, or in place of what
 *  its function said. A second value of the same place replaces the first. `config` and `run` have a meaning
 *  from WM_COLLECT_CONFIG and WM_COLLECT_RUN on, `region` (a path, or NULL for the whole function) for
 *  WM_COLLECT_REGION only. A name that was not declared is declared by its first value; samples that are
 *  written while the program runs lack its column then. Texts are copied; a null has its reason. On the
 *  controlling thread, between steps or after the last.
 *  Returns  WM_OK; WM_EINVAL (a name that is not to be taken, or another scope than before); WM_ENOTFOUND
 *           (no such configuration, run or region); WM_ESTATE (in a step, or before the first); WM_ENOMEM. */
WM_API wm_status wm_sweep_collect(wm_sweep *sweep, const char *name, wm_collect_scope scope, size_t config,
                                  int64_t run, const char *region, wm_value value, wm_error *err);
/** Call the benchmark's C function for a step, in as many threads as it asks. The
 *  calling thread is the first of them. */
WM_API void wm_step_call(const wm_step *step);
/** A sweep waits between two steps, because its device is too hot to measure (--thermal). The time counts
 *  to no configuration. */
typedef struct wm_wait {
    size_t struct_size;
    double left_c;   /**< degrees until heat slows the device down */
    double wanted_c; /**< it goes on with so many */
    int64_t waited_ns;
    int64_t timeout_ns; /**< until it gives up, or is content with fewer */
} wm_wait;
typedef bool (*wm_wait_fn)(void *user, const wm_wait *wait);
/** Have `fn` called while wm_sweep_next waits: twice a second, and at once when a signal handler ran in that
 *  thread. On the thread that called wm_sweep_next; for progress, and to look whether to go on. false: the
 *  sweep ends there, WM_EINTERRUPTED. NULL: nothing is called. */
WM_API void wm_sweep_on_wait(wm_sweep *sweep, wm_wait_fn fn, void *user);
/** How the configurations of a sweep went so far.
 *  Returns  WM_OK; WM_EHOT (one failed because the device did not cool down in time: it was not measured,
 *           and why is its row's reason); WM_EFAILED (others failed). *err says how many. */
WM_API wm_status wm_sweep_outcome(const wm_sweep *sweep, wm_error *err);
/** The whole loop, for benchmarks written in C.
 *  Returns  WM_OK; WM_EFAILED or WM_EHOT when a configuration failed, as wm_sweep_outcome
 *           (all others were measured); WM_EBUSY; WM_ENOMEM; WM_EIO. */
WM_API wm_status wm_sweep_run(wm_sweep *sweep, wm_error *err);

/* ---- tables ------------------------------------------------------------- *
 * A table is typed columns of values, each with a unit, and a context: an
 * ordered list of facts about the machine and the measurement. It does not
 * change once built. Reading one is safe from any thread. The columns of each
 * kind are described in docs/format.md. */

WM_API void wm_table_destroy(wm_table *table);
/** "results", "samples", "kernels", "comparison", "plan", "metrics" or "doctor". */
WM_API const char *wm_table_kind(const wm_table *table);
WM_API size_t wm_table_rows(const wm_table *table);
WM_API size_t wm_table_columns(const wm_table *table);

typedef struct wm_column {
    const char *name;
    wm_type type;
    const char *unit; /**< "" for none; "row" where the row's `unit` column has it */
} wm_column;
/** Column number `column`; WM_EINVAL when out of range. */
WM_API wm_status wm_table_column(const wm_table *table, size_t column, wm_column *out);
/** The number of the column of that name, or SIZE_MAX. */
WM_API size_t wm_table_find(const wm_table *table, const char *name);
/** One cell; a null has its reason. WM_EINVAL when out of range. */
WM_API wm_status wm_table_get(const wm_table *table, size_t row, size_t column, wm_value *out);
/** Number of context entries, and one of them. */
WM_API size_t wm_table_context_count(const wm_table *table);
WM_API wm_status wm_table_context(const wm_table *table, size_t index, const char **key, wm_value *out);

struct ArrowArrayStream; /* of the Arrow C stream interface, arrow.apache.org */
/** All rows as one record batch. Columns: int64, float64, utf8 (bytes that are no UTF-8 become
 *  U+FFFD) or bool; a null has lost its reason. A field's metadata holds its unit ("unit"), the
 *  schema's the kind ("kind") and the context ("context", one JSON object). The stream is the
 *  caller's, to be ended by its release; it holds a copy, and outlives the table.
 *  Returns  WM_OK; WM_ENOMEM. */
WM_API wm_status wm_table_arrow(const wm_table *table, struct ArrowArrayStream *out, wm_error *err);

typedef struct wm_write_opts {
    size_t struct_size;
    bool color;       /**< text: ANSI styles */
    bool unicode;     /**< text: ± and µ; otherwise plain ASCII */
    int32_t width;    /**< text: columns of the terminal; 0: no limit */
    bool no_warnings; /**< text: leave the context's warnings out (they were shown already) */
} wm_write_opts;
#define WM_WRITE_OPTS_INIT                                                                                   \
    { sizeof(wm_write_opts), false, false, 0, false }

/** Read a file that this library wrote: JSON or CSV (whose context lies beside
 *  it in FILE.context.json); or a report of Nsight Compute (.ncu-rep, as wm_ncu_read,
 *  whose statuses it returns too). `format` NULL: from the suffix.
 *  Returns  WM_OK; WM_EIO; WM_EPARSE (names the place); WM_EUNSUPPORTED (a
 *           schema that is too new, or a format that is not read); WM_ENOMEM. */
WM_API wm_status wm_table_read(const char *path, const char *format, wm_table **out, wm_error *err);
/** Write to a file, in full or not at all (it appears by rename). `format` is
 *  "text", "csv", "json", "gbench-json" or "markdown"; NULL: from the suffix.
 *  `opts` may be NULL. */
WM_API wm_status wm_table_write(const wm_table *table, const char *path, const char *format,
                                const wm_write_opts *opts, wm_error *err);
/** Write to an open stream; flushed, not closed. */
WM_API wm_status wm_table_print(const wm_table *table, FILE *stream, const char *format,
                                const wm_write_opts *opts, wm_error *err);

typedef struct wm_select_opts {
    size_t struct_size;
    const char *columns; /**< comma list, in the order wanted; NULL: all */
    const char *sort;    /**< comma list; "-name" for descending; stable; nulls last */
    const char *filter;  /**< conditions joined by ',' (all must hold): name=value,
                              !=, <, <=, >, >=, name~regex */
} wm_select_opts;
#define WM_SELECT_OPTS_INIT                                                                                  \
    { sizeof(wm_select_opts), NULL, NULL, NULL }
/** A new table of the chosen rows and columns; the caller owns *out. */
WM_API wm_status wm_table_select(const wm_table *table, const wm_select_opts *opts, wm_table **out,
                                 wm_error *err);

typedef struct wm_compare_opts {
    size_t struct_size;
    double threshold; /**< a ratio within 1 ± this counts as the same; 0.01 */
} wm_compare_opts;
#define WM_COMPARE_OPTS_INIT                                                                                 \
    { sizeof(wm_compare_opts), 0.01 }
/** Compare two result tables row by row (benchmark, configuration, region,
 *  metric): ratio contender/baseline with its 95 % interval and a verdict. Rows
 *  that only one side has are kept and say so. The caller owns *out.
 *  Returns  WM_OK; WM_ENOTFOUND (no row in common); WM_EINVAL (not results). */
WM_API wm_status wm_table_compare(const wm_table *baseline, const wm_table *contender,
                                  const wm_compare_opts *opts, wm_table **out, wm_error *err);

/* ---- Nsight Compute ------------------------------------------------------ *
 * ncu, NVIDIA's command-line profiler, as a second witness: it runs a program that
 * marks regions, and its report is read into a table of results. The program is told
 * by WARPMETER_PROFILE=ncu or ncu:RUNS in its environment; its sweeps and sessions
 * then measure nothing, run each configuration once to warm up and RUNS times, and
 * show regions as NVTX ranges, by which ncu chooses kernels and its report is read. */

typedef struct wm_ncu_opts {
    size_t struct_size;
    const char *ncu; /**< path of the program; NULL: as wm_ncu_find has it */
    const char
        *report;     /**< for a command: the report, overwritten; ".ncu-rep" is added; NULL: none is kept */
    const char *log; /**< for a command: the file for what ncu says; NULL: standard output */
    const char *metrics; /**< comma list, of warpmeter's names, ncu's or groups; those of the processor are
                              left out. NULL: for a command ncu's own set; for a report what is in it */
    const char *nvtx_domain;  /**< that the session has; NULL: "warpmeter" for a command, any for a report.
                                   "": a command profiles all kernels */
    bool cold;                /**< ncu evicts the device's caches before each kernel */
    const char *clocks;       /**< ncu's --clock-control; NULL: "none" */
    const char *replay;       /**< ncu's --replay-mode; NULL: its own choice */
    const char *const *extra; /**< [extra_count] further options of ncu's; what they say is not said again */
    size_t extra_count;
} wm_ncu_opts;
#define WM_NCU_OPTS_INIT                                                                                     \
    { sizeof(wm_ncu_opts), NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL, 0 }
/** Where ncu is: WARPMETER_NCU, the PATH, CUDA's folder, the newest Nsight Compute in /opt. `path` is
 *  [size] bytes.
 *  Returns  WM_OK; WM_ENOTFOUND; WM_EINVAL (too long). */
WM_API wm_status wm_ncu_find(char *path, size_t size, wm_error *err);
/** The words that run argv [argc] under ncu, with NULL at the end; `opts` may be NULL. Nothing is run. The
 *  caller frees *out with wm_ncu_command_free.
 *  Returns  WM_OK; WM_ENOTFOUND (ncu, or a group of metrics); WM_EINVAL; WM_ENOMEM. */
WM_API wm_status wm_ncu_command(const wm_ncu_opts *opts, int argc, const char *const *argv, char ***out,
                                wm_error *err);
WM_API void wm_ncu_command_free(char **command);
/** Read a report: a table of results with a row for each region, configuration and metric; a run of the
 *  program is a sample. Kernels of a run are combined as the metric has it (sums are added up, shares
 * weighted by time). Of a program without warpmeter's ranges each kernel is a region, and each launch a run.
 * Runs ncu; `opts` may be NULL; of it ncu, metrics and nvtx_domain count. Returns  WM_OK; WM_ENOTFOUND (ncu);
 * WM_EIO (the file); WM_EPARSE; WM_EEMPTY (no kernel); WM_ENOMEM. */
WM_API wm_status wm_ncu_read(const char *report, const wm_ncu_opts *opts, wm_table **out, wm_error *err);

/* ---- the machine -------------------------------------------------------- */

/** What this machine can measure, what it cannot, why, and what to do about it,
 *  as a table (kind "doctor"). May load libraries; makes no device context. */
WM_API wm_status wm_doctor(wm_table **out, wm_error *err);

typedef struct wm_metrics_opts {
    size_t struct_size;
    const char
        *pattern;     /**< a shell pattern on names; NULL: all. An accelerator's metrics that come with
                           several rollups are listed with the usual one, unless the pattern asks for others */
    const char *chip; /**< an accelerator's chip, such as "GH100", whether or not it is here: list what it
                           can count; NULL: what this machine can */
} wm_metrics_opts;
#define WM_METRICS_OPTS_INIT                                                                                 \
    { sizeof(wm_metrics_opts), NULL, NULL }
/** The metrics that there are, as a table (kind "metrics"). `opts` may be NULL.
 *  Returns  WM_OK; WM_ENOTFOUND (no such chip: gives the nearest); WM_EUNSUPPORTED (chips
 *           cannot be asked about here, and why); WM_EINVAL; WM_EIO; WM_ENOMEM. */
WM_API wm_status wm_metrics(const wm_metrics_opts *opts, wm_table **out, wm_error *err);
/** The passes over the program that a set of metrics takes, on this machine or on `chip`, as
 *  a table (kind "plan") with a row for each metric: its pass, or why it cannot be had. `list`
 *  is what --metrics takes. The context holds how many passes there are (passes), and in how
 *  many of them counters are read (counter_passes).
 *  Returns  as wm_metrics; also WM_ENOTFOUND and WM_EINVAL for a name that is no metric. */
WM_API wm_status wm_metrics_plan(const char *list, const char *chip, wm_table **out, wm_error *err);

#ifdef __cplusplus
}
#endif
#endif
