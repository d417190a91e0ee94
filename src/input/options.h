/** input/: what people write: options, axes, configurations, metric groups; from text to data.
 *  May include base/, formula/ and samples/.
 *
 *  The options of a sweep and of a benchmark program: one table makes the parser,
 *  --help, and the check of what a benchmark's own option text may hold. */
#ifndef WMI_INPUT_OPTIONS_H
#define WMI_INPUT_OPTIONS_H

#include "base/text.h"
#include "samples/samples.h"

typedef enum wmi_order { WMI_ORDER_SEQUENTIAL = 0, WMI_ORDER_INTERLEAVED, WMI_ORDER_RANDOM } wmi_order;

/** A list of texts. */
typedef struct wmi_list {
    char **v;
    size_t n, cap;
} wmi_list;
wm_status wmi_list_add(wmi_list *l, const char *text, size_t n);
void wmi_list_free(wmi_list *l);

/** Where a device's clocks are to be held. */
typedef struct wmi_lock_clocks {
    double hz; /* 0: nowhere; -1: the base clock */
    bool soft; /* go on where that is not permitted */
} wmi_lock_clocks;

typedef struct wmi_options {
    /* a sweep's own. Not given: -1 for runs, warmup, pin, cache_clear and those of thermal; ten
     * seconds for hang_ns; 0 or NULL for all others */
    wmi_list axes;    /* texts; a later one replaces an earlier one of its name */
    wmi_list configs; /* explicit configurations */
    char *zip;
    char *filter; /* extended regular expression on "benchmark/config_key" */
    int64_t runs, warmup, min_runs, max_runs;
    int64_t min_time_ns, timeout_ns, batch_time_ns;
    double max_noise, target_ci, stable_threshold;
    wmi_list metrics, derive;
    char *normalize;
    wmi_order order;
    bool order_given;
    uint64_t seed;
    bool seed_given;
    int64_t *threads; /* [thread_count] */
    size_t thread_count;
    int pin;         /* -1: no */
    int cache_clear; /* -1 not given, 0 none, 1 all */
    int scope;       /* 0 process, 1 thread: which regions a launch can belong to */
    int replay;      /* 0 auto, 1 stacked, 2 window, 3 kernel, 4 range */
    int64_t counter_runs;
    int first_launch;        /* 0 apart, 1 keep */
    wmi_list ignore_kernels; /* shell patterns on kernels' own names */
    wmi_list combine;        /* HOW or METRIC=HOW; for wmi_combine_find */
    int64_t hang_ns;
    int state;                          /* 0 auto, 1 on, 2 off: whether the machine's state is read */
    int throttled;                      /* 0 tag, 1 keep, 2 discard */
    int thermal;                        /* 0 auto, 1 manual, 2 off */
    int64_t thermal_wait, thermal_cont; /* degrees; -1 not given */
    int64_t thermal_timeout_ns;         /* 0 not given */
    int thermal_device;                 /* -1: the one in use */
    wmi_lock_clocks lock_clocks;
    wmi_list collect; /* built-in collectors */
    /* a program's */
    wmi_list benchmarks;
    wmi_list out; /* paths */
    char *samples_path, *kernels_path;
    char *format;
    int color; /* 0 auto, 1 always, 2 never */
    int verbosity;
    bool list, help_axes, list_metrics, dry_run, profile, help, version;
} wmi_options;

void wmi_options_init(wmi_options *o);
void wmi_options_fini(wmi_options *o);

/** Parse words (no program name) over what *o holds already, as one layer: later ones
 *  win. Axes and formulas replace those of their name, explicit configurations are
 *  added, and all other lists replace those of earlier layers. An empty --zip, --filter
 *  or --normalize-against undoes an earlier one. --runs and the rules that find the
 *  number of runs (--min-runs, --max-runs, --min-time, --max-noise, --target-ci) undo
 *  one another's earlier layers; so does an --order without chance an earlier --seed.
 *  After WM_EINVAL *o is as it was.
 *  `program` false: options of a program are refused (a benchmark's own text).
 *  `where` is for messages: "benchmark matmul" or NULL for the command line.
 *  WM_EINVAL: one line that names the option, what was wrong and what is accepted; an
 *  unknown option comes with the nearest. WM_ENOMEM; WM_EUNSUPPORTED (--derive without
 *  muParser). */
wm_status wmi_options_parse(wmi_options *o, int argc, const char *const *argv, bool program,
                            const char *where, wm_error *err);
/** How the values of several kernels make a run's value of this metric, after --combine:
 *  the last METRIC=HOW of it, else the last HOW. "auto" gives `usual`. false: the option
 *  says nothing of it (*out untouched). */
bool wmi_combine_find(const wmi_list *combine, const char *metric, wmi_combine usual, wmi_combine *out);
/** What is contradictory (min above max, --runs with --max-noise, a configuration that
 *  is there twice, ...): WM_EINVAL. */
wm_status wmi_options_check(const wmi_options *o, wm_error *err);
/** The option table as text for --help: one or two lines an option. */
void wmi_options_help(wmi_buf *out);

#endif
