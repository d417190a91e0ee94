/** samples/: what is kept of a measurement: configurations, regions, metrics,
 *  runs, and the series of values. Append-only columns. Includes base/ only. */
#ifndef WMI_SAMPLES_SAMPLES_H
#define WMI_SAMPLES_SAMPLES_H

#include "base/error.h"

typedef enum wmi_better { WMI_BETTER_NONE = 0, WMI_BETTER_LOWER, WMI_BETTER_HIGHER } wmi_better;
/** "", "lower", "higher". */
const char *wmi_better_text(wmi_better b);
/** What is likely better for a metric of which only the unit is known: less of a time
 *  (ns, us, ms, s), more of anything a second ("/s" at the end), else neither. */
wmi_better wmi_better_of_unit(const char *unit);

/** How values of several entries, or of several kernels, in one run make that run's value. */
typedef enum wmi_combine {
    WMI_COMBINE_SUM = 0,
    WMI_COMBINE_MEAN,
    WMI_COMBINE_MAX,
    WMI_COMBINE_MIN,
    WMI_COMBINE_WEIGHTED, /* mean, weighted by time */
    WMI_COMBINE_ONE,      /* of one kernel only: several are an error that names them */
    WMI_COMBINE_USER      /* a function of the user's */
} wmi_combine;

/** What the core makes of a device's records; WMI_OF_NONE: a backend reads the metric. */
typedef enum wmi_of_records {
    WMI_OF_NONE = 0,
    WMI_OF_KERNEL_TIME,  /* of each kernel; combined as the metric says */
    WMI_OF_KERNEL_UNION, /* time in which at least one ran */
    WMI_OF_KERNEL_COUNT,
    WMI_OF_LAUNCH_LATENCY, /* from the launch call to the start; mean */
    WMI_OF_KERNEL_GAP,     /* from the first start to the last end, less the union */
    WMI_OF_FIRST_TIME,     /* first launches of kernels, which the others leave out */
    WMI_OF_COPY_TIME,
    WMI_OF_COPY_BYTES,
    WMI_OF_SET_TIME,
    WMI_OF_SET_BYTES
} wmi_of_records;

/** A metric as the table knows it. All texts are copied by wmi_samples_metric. */
typedef struct wmi_metric {
    const char *name;
    const char *unit; /* base unit; "" for a ratio or a plain count */
    const char *text; /* one line */
    const char *backend;
    const char *timer; /* where the time comes from: "tsc", "monotonic", "manual"; "" otherwise */
    wmi_better better;
    wmi_combine combine;
    wmi_of_records of;
} wmi_metric;

/** One point of the axes. */
typedef enum wmi_config_state { WMI_CONFIG_OK = 0, WMI_CONFIG_SKIPPED, WMI_CONFIG_FAILED } wmi_config_state;
typedef struct wmi_config {
    uint32_t bench;     /* index of the benchmark */
    char *key;          /* canonical text of the parameters: n=128,type=f32 */
    size_t count;       /* parameters; names are shared by the benchmark's configurations */
    const char **names; /* interned */
    wm_value *values;   /* strings owned */
    wmi_config_state state;
    char *reason;            /* why it was skipped or failed; NULL */
    const char *stop_reason; /* static: "runs", "min-time", ..., NULL while running */
} wmi_config;

/** A region: a name under a parent. Node 0 is the function as a whole. */
typedef struct wmi_node {
    uint32_t bench, parent, name; /* name: interned id */
    char *path;                   /* "step/attention"; the benchmark's name for a root */
} wmi_node;

enum { WMI_CHUNK = 4096 };
/** A stretch of a series. All chunks have room for WMI_CHUNK values but the first,
 *  which starts small and grows up to that. */
typedef struct wmi_chunk {
    double *value; /* NaN where reason is set */
    int32_t *run;
    uint8_t *reason; /* NULL: none is null */
} wmi_chunk;
/** Values of one configuration x region x metric x pass. A short series takes at most
 *  half as much again as its 12 bytes a value, and growing a long one copies
 *  nothing. */
typedef struct wmi_series {
    uint32_t config, node, metric;
    int32_t pass;
    size_t n; /* values, nulls included */
    size_t nulls;
    wmi_chunk *chunk;
    size_t chunks, chunk_cap;
    size_t room;                   /* values that the last chunk can hold */
    const char *why;               /* interned: says more than the reason does; NULL */
    wm_reason last_reason;         /* of the last null */
    uint64_t batch_min, batch_max; /* repetitions behind a value; 0: the program gave the values itself */
    uint64_t entries;              /* entries behind all values */
    uint32_t threads;              /* most threads that entered in one run */
    uint64_t dropped, unmatched;   /* marks lost; begins or ends without a partner */
    bool manual;                   /* the caller measured the time */
} wmi_series;

static inline double wmi_series_value(const wmi_series *s, size_t i) {
    return s->chunk[i / WMI_CHUNK].value[i % WMI_CHUNK];
}
static inline int32_t wmi_series_run(const wmi_series *s, size_t i) {
    return s->chunk[i / WMI_CHUNK].run[i % WMI_CHUNK];
}
static inline wm_reason wmi_series_reason(const wmi_series *s, size_t i) {
    const uint8_t *reason = s->chunk[i / WMI_CHUNK].reason;
    return reason ? (wm_reason)reason[i % WMI_CHUNK] : WM_REASON_NONE;
}

/** One execution of the function. */
typedef struct wmi_run {
    uint32_t config;
    int32_t run, pass, attempt;
    int64_t begin_ns, end_ns;
    uint32_t flags; /* WMI_RUN_* */
} wmi_run;
enum { WMI_RUN_WARMUP = 1, WMI_RUN_FAILED = 2, WMI_RUN_DISCARDED = 4 };
/** Runs of one configuration and pass that followed each other with rising numbers,
 *  kept as one, so that runs take no memory each. Other configurations' may lie
 *  between them in time. */
typedef struct wmi_stretch {
    wmi_run first;
    int64_t end_ns; /* of the last */
    uint32_t count;
} wmi_stretch;

#define WMI_NO_ENTRY        UINT64_MAX       /* nothing was open */
#define WMI_AMBIGUOUS_ENTRY (UINT64_MAX - 1) /* several were open, in other threads */
#define WMI_ROOT_ENTRY      (1ull << 62)     /* set in the id of an entry that is the whole function's */

/** Is it an entry of a region, rather than of a whole function, none, or unknown? */
static inline bool wmi_entry_in_region(uint64_t entry) { return !(entry & WMI_ROOT_ENTRY); }

/** One piece of work that a device did in a clean pass. Times are of one clock for all
 *  records of a backend. Names are interned texts; 0 for none. */
typedef enum wmi_record_kind { WMI_RECORD_KERNEL = 0, WMI_RECORD_COPY, WMI_RECORD_SET } wmi_record_kind;
enum {
    WMI_RECORD_FIRST = 1,   /* the first launch of that kernel: loading and compiling are in it */
    WMI_RECORD_GRAPH = 2,   /* launched as part of a graph */
    WMI_RECORD_IGNORED = 4, /* on the user's list of kernels to ignore: in the records only */
    WMI_RECORD_SHARED = 8   /* other processes may have shared the device */
};
typedef struct wmi_record {
    uint64_t entry;             /* innermost one open at the launch, or WMI_*_ENTRY */
    int64_t begin_ns, end_ns;   /* on the device */
    int64_t launch_ns;          /* when the launch was called */
    uint64_t bytes;             /* copies and sets */
    uint32_t name, full, plain; /* as in the binary; demangled; the function's own name */
    uint32_t device;            /* interned name of the device */
    uint32_t correlation;       /* the vendor's number of the launch, rising */
    uint32_t stream, thread;    /* vendor's stream number; launching thread, numbered from 0 */
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared, dynamic_shared; /* per thread; bytes per block */
    uint16_t run; /* what wmi_backend_opts.launch_run said at the launch */
    uint8_t kind, flags;
    uint8_t reason; /* a wm_reason: the launch was seen, but its record is missing or invalid */
} wmi_record;
/** What a device did for a region (itself and those in it) in the measured runs of a
 *  configuration. */
enum { WMI_WORK_NAMES = 8 };
typedef struct wmi_work {
    uint32_t config, node;
    uint64_t kernels;               /* in all runs */
    uint32_t names[WMI_WORK_NAMES]; /* plain names, distinct, in the order of their first launches */
    uint32_t name_count;            /* distinct names met: may be more than there is room for */
    uint32_t device;                /* interned; 0: none yet */
    bool devices_differ, shared;
    wm_reason why_not;              /* which launches were its own is not known */
    double clock_sum, clock_weight; /* of clocks read [Hz ns], and of their weights [ns] */
    int32_t clock_pass;             /* the pass that read it; -1: none yet */
    double clean_ns, counter_ns;    /* kernel time, in the clean pass and where counters were read */
    uint64_t clean_runs, counter_runs;
} wmi_work;

typedef struct wmi_samples wmi_samples;
wmi_samples *wmi_samples_create(void); /* NULL when out of memory */
void wmi_samples_destroy(wmi_samples *s);

/* Adding. Each returns WM_OK or WM_ENOMEM, and leaves all as it was on failure.
 * Pointers that the functions below return live as long as s, but for that to a
 * stretch, which the next run may move. Looking up what was added before takes the
 * same time however much there is. */
wm_status wmi_samples_bench(wmi_samples *s, const char *name, uint32_t *out);
wm_status wmi_samples_config(wmi_samples *s, uint32_t bench, size_t count, const char *const *names,
                             const wm_value *values, uint32_t *out);
wm_status wmi_samples_set_state(wmi_samples *s, uint32_t config, wmi_config_state state, const char *reason);
/** The node for a name under a parent (found or added). parent UINT32_MAX: the
 *  benchmark's root, whatever the name. */
wm_status wmi_samples_node(wmi_samples *s, uint32_t bench, uint32_t parent, uint32_t name, uint32_t *out);
/** The metric of that name (found or added). */
wm_status wmi_samples_metric(wmi_samples *s, const wmi_metric *m, uint32_t *out);
wm_status wmi_samples_run(wmi_samples *s, const wmi_run *run);
/** The series of these keys (found or added). */
wm_status wmi_samples_series(wmi_samples *s, uint32_t config, uint32_t node, uint32_t metric, int32_t pass,
                             wmi_series **out);
/** The work of a region in a configuration (found or added). */
wm_status wmi_samples_work(wmi_samples *s, uint32_t config, uint32_t node, wmi_work **out);
/** Add a name (0: none) and a device to it; the caller counts the kernel. WM_ENOMEM: one
 *  name less is counted. */
wm_status wmi_work_add_kernel(wmi_work *work, uint32_t plain, uint32_t device);
/** Keep a record, for the table of records. node: of its innermost region; UINT32_MAX: none. */
wm_status wmi_samples_keep(wmi_samples *s, uint32_t config, uint32_t node, int32_t run,
                           const wmi_record *record);
/** Append one value, or a null when `why` is set or the value is not finite. */
wm_status wmi_series_add(wmi_series *series, int32_t run, double value, wm_reason why);

/** Put a value, or a null, in place of the one that the series has of that run. WM_ENOTFOUND: it has
 *  none. WM_ENOMEM. */
wm_status wmi_series_put(wmi_series *series, int32_t run, double value, wm_reason why);

/* Reading. */
size_t wmi_samples_benches(const wmi_samples *s);
const char *wmi_samples_bench_name(const wmi_samples *s, uint32_t bench);
size_t wmi_samples_configs(const wmi_samples *s);
wmi_config *wmi_samples_config_at(const wmi_samples *s, uint32_t config);
size_t wmi_samples_nodes(const wmi_samples *s);
const wmi_node *wmi_samples_node_at(const wmi_samples *s, uint32_t node);
/** The node that a name given by a user means: the region of that path, else the
 *  whole function of that name, else the only region whose path ends in it.
 *  UINT32_MAX: none, or several (*several set; may be NULL). */
uint32_t wmi_samples_find_node(const wmi_samples *s, uint32_t bench, const char *name, bool *several);
/** The same among these nodes, such as those of one run. */
uint32_t wmi_samples_find_among(const wmi_samples *s, const uint32_t *nodes, size_t count, const char *name,
                                bool *several);
size_t wmi_samples_metrics(const wmi_samples *s);
const wmi_metric *wmi_samples_metric_at(const wmi_samples *s, uint32_t metric);
size_t wmi_samples_stretches(const wmi_samples *s);
const wmi_stretch *wmi_samples_stretch_at(const wmi_samples *s, size_t i); /* in order of their first runs */
size_t wmi_samples_series_count(const wmi_samples *s);
wmi_series *wmi_samples_series_at(const wmi_samples *s, size_t i); /* in order of creation */

/** NULL: no device worked for it. */
const wmi_work *wmi_samples_work_of(const wmi_samples *s, uint32_t config, uint32_t node);
/** A record that was kept. */
typedef struct wmi_kept {
    uint32_t config, node;
    int32_t run;
    wmi_record record;
} wmi_kept;
size_t wmi_samples_kept(const wmi_samples *s);
const wmi_kept *wmi_samples_kept_at(const wmi_samples *s, size_t i); /* in the order kept */

/** The canonical key of a configuration: name=value joined by ','; an int64 as
 *  128, a double always with a point or an exponent, true and false, and a string
 *  bare when it is a plain word (a letter or '_', then those, digits and . : / + -)
 *  that is none of these, else as a JSON string. The caller frees; NULL when out of
 *  memory. */
char *wmi_config_key(size_t count, const char *const *names, const wm_value *values);

#endif
