/** The one table of options, and how the value of each is read. Private to input/. */
#ifndef WMI_INPUT_OPTION_TABLE_H
#define WMI_INPUT_OPTION_TABLE_H

#include "input/options.h"

/** What an option takes, and the type of its member of wmi_options. */
typedef enum wmi_option_kind {
    WMI_OPTION_FLAG,     /* nothing; bool */
    WMI_OPTION_QUIET,    /* nothing; int */
    WMI_OPTION_VERBOSE,  /* nothing, each time one more; int */
    WMI_OPTION_WHOLE,    /* a whole number from min to max; int64_t */
    WMI_OPTION_CPU,      /* the same; int */
    WMI_OPTION_SEED,     /* the same; uint64_t */
    WMI_OPTION_DURATION, /* a length of time; int64_t, ns */
    WMI_OPTION_RATIO,    /* 2% or 0.02; double */
    WMI_OPTION_CHOICE,   /* one of the choices; int, its number */
    WMI_OPTION_FORMAT,   /* one of the choices; char * */
    WMI_OPTION_PATH,     /* char * */
    WMI_OPTION_TEXT,     /* char *; "" undoes an earlier one */
    WMI_OPTION_REGEX,    /* the same, an extended regular expression */
    WMI_OPTION_NAMES,    /* one text each time; wmi_list */
    WMI_OPTION_METRICS,  /* a comma list; wmi_list, like the next two */
    WMI_OPTION_PATTERNS,
    WMI_OPTION_CLOCKS,  /* none, base or a frequency; wmi_lock_clocks */
    WMI_OPTION_COMBINE, /* HOW or METRIC=HOW, HOW one of the choices */
    WMI_OPTION_AXIS,    /* wmi_list of texts, like the next two */
    WMI_OPTION_CONFIG,
    WMI_OPTION_FORMULA,
    WMI_OPTION_THREADS /* values of an axis; threads and thread_count */
} wmi_option_kind;

typedef struct wmi_option {
    const char *name;
    char letter;     /* '\0' for none */
    const char *arg; /* what --help calls its value; NULL for none */
    wmi_option_kind kind;
    size_t member;              /* its offset in wmi_options */
    int64_t min, max;           /* of a number */
    const char *const *choices; /* NULL ends */
    const char *help;
} wmi_option;

enum {
    WMI_RUNS_MAX = 1000000000,
    WMI_THREADS_MAX = 1024,
    WMI_CPU_MAX = 65535,
    WMI_DEVICE_MAX = 1023,
    WMI_DEGREES_MAX = 150,
    WMI_REGEX_LENGTH_MAX = 1000,
    WMI_REGEX_REPEAT_MAX = 1000
};

enum {
    WMI_OPT_AXIS,
    WMI_OPT_CONFIG,
    WMI_OPT_ZIP,
    WMI_OPT_FILTER,
    WMI_OPT_RUNS,
    WMI_OPT_WARMUP,
    WMI_OPT_MIN_RUNS,
    WMI_OPT_MAX_RUNS,
    WMI_OPT_MIN_TIME,
    WMI_OPT_MAX_NOISE,
    WMI_OPT_TARGET_CI,
    WMI_OPT_TIMEOUT,
    WMI_OPT_BATCH_TIME,
    WMI_OPT_STABLE,
    WMI_OPT_METRICS,
    WMI_OPT_DERIVE,
    WMI_OPT_NORMALIZE,
    WMI_OPT_ORDER,
    WMI_OPT_SEED,
    WMI_OPT_THREADS,
    WMI_OPT_PIN,
    WMI_OPT_CACHE_CONTROL,
    WMI_OPT_SCOPE,
    WMI_OPT_REPLAY,
    WMI_OPT_COUNTER_RUNS,
    WMI_OPT_COMBINE,
    WMI_OPT_IGNORE_KERNELS,
    WMI_OPT_FIRST_LAUNCH,
    WMI_OPT_HANG_TIME,
    WMI_OPT_STATE,
    WMI_OPT_THROTTLED,
    WMI_OPT_THERMAL,
    WMI_OPT_THERMAL_WAIT,
    WMI_OPT_THERMAL_CONT,
    WMI_OPT_THERMAL_TIMEOUT,
    WMI_OPT_THERMAL_DEVICE,
    WMI_OPT_LOCK_CLOCKS,
    WMI_OPT_COLLECT,
    WMI_SWEEP_OPTIONS, /* those of a program alone follow */
    WMI_OPT_BENCHMARK = WMI_SWEEP_OPTIONS,
    WMI_OPT_FORMAT,
    WMI_OPT_OUT,
    WMI_OPT_SAMPLES,
    WMI_OPT_KERNELS,
    WMI_OPT_COLOR,
    WMI_OPT_QUIET,
    WMI_OPT_VERBOSE,
    WMI_OPT_LIST,
    WMI_OPT_HELP_AXES,
    WMI_OPT_LIST_METRICS,
    WMI_OPT_DRY_RUN,
    WMI_OPT_PROFILE,
    WMI_OPT_HELP,
    WMI_OPT_VERSION,
    WMI_OPT_COUNT
};

/** Indexed by WMI_OPT_*. */
extern const wmi_option wmi_option_table[WMI_OPT_COUNT];

/** For messages: who gave the option. */
typedef struct wmi_option_context {
    const char *where; /* "benchmark matmul"; NULL: the command line */
    wm_error *err;
} wmi_option_context;
/** WM_EINVAL: `<where>: <message>`. */
wm_status wmi_option_fail(const wmi_option_context *c, const char *fmt, ...) WM_PRINTF(2, 3);
/** The same: `--runs takes a whole number of at least 1, and nothing follows it`. */
wm_status wmi_option_missing(const wmi_option_context *c, const wmi_option *option);
/** The same: `--list takes no value, not 'x'`. */
wm_status wmi_option_superfluous(const wmi_option_context *c, const wmi_option *option, const char *value);

/** Read a value into the option's member of *o; NULL for an option that takes none.
 *  WM_EINVAL, WM_ENOMEM, WM_EUNSUPPORTED (a formula without muParser). */
wm_status wmi_option_set(const wmi_option_context *c, const wmi_option *option, const char *value,
                         wmi_options *o);
/** Add an axis or a formula to a list, in the place of one of the same name. */
wm_status wmi_option_add_named(wmi_list *list, const char *text, wm_error *err);

#endif
