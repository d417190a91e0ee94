/** What libfakegpu.so offers to the fake libcuda and libcupti. Functions that end in _locked
 *  are called with the lock held; the lock is never held while code of a test or of the
 *  program runs. */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <pthread.h>

#include "fake_cuda.h"
#include "fake_gpu.h"

#define FAKE_MAX_DEVICES 8
#define FAKE_NEVER       INT64_MAX /* when a kernel ends that is held */

/* ---- state.c ---- */

extern pthread_mutex_t fakei_mutex;
extern pthread_cond_t fakei_changed; /* broadcast when a thread may wait for what has changed */
void fakei_lock(void);
void fakei_unlock(void);

/** The number of the reset: what was made before another one is gone. */
uint64_t fakei_epoch(void);
/** Count a call; the code that the function must return, or 0. */
int fakei_enter(const char *function);
/** The same, for a function of libcupti. */
CUptiResult fakei_enter_cupti(const char *function);
/** Memory that lives until the reset; never NULL: without memory the process ends. */
void *fakei_alloc(size_t size);
/** Text kept until the process ends, one copy of each. */
const char *fakei_intern(const char *text);
/** calloc, realloc that end the process without memory; freed by free. */
void *fakei_calloc(size_t count, size_t size);
void *fakei_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* ---- devices.c ---- */

typedef struct fakei_devices {
    fake_device v[FAKE_MAX_DEVICES];
    size_t count;
    bool stub;
    int driver_version;
    uint32_t cupti_version;
} fakei_devices;
extern fakei_devices fakei_gpu; /* changed under the lock */
void fakei_devices_reset_locked(void);
/** The attribute that a test has set. */
bool fakei_attribute_locked(int device, int attribute, int *value);

/** Fill in the support levels. */
void fakei_supported_locked(CUpti_Profiler_DeviceSupported_Params *out);

/* ---- nvml/nvml_state.c ---- */

void fakei_nvml_reset_locked(void);
/** Obey a word, or a word with a number, of FAKE_GPU; false: it is none of NVML's. */
bool fakei_nvml_word(const char *word);
bool fakei_nvml_number(const char *key, const char *value);
/** Lock and give back the clocks of a device, by NVML or by CUPTI's clock control. */
void fakei_clocks_lock_locked(int device, unsigned mhz, bool cupti);
bool fakei_clocks_unlock_locked(int device, bool cupti);

/* ---- kernels.c ---- */

/** A kernel: all that have its name are one. */
struct CUfunc_st {
    const char *name;
    int64_t ns;
    int registers, static_shared, local;
    bool held;
    uint64_t launches;
    struct CUfunc_st *next;
};
CUfunction fakei_kernel_locked(const char *name);
void fakei_kernels_reset_locked(void);

/* ---- work.c ---- */

struct CUstream_st {
    CUcontext context;
    uint32_t id;
    int64_t free_at; /* when what is in it has ended */
    bool stuck;      /* a held kernel is in it */
    CUgraph capture; /* what is captured into, or NULL */
    CUstreamCaptureMode mode;
    bool spoilt; /* a call that no capture allows was made */
    struct CUstream_st *next;
};
struct CUctx_st {
    int device;
    uint32_t id;
    struct CUstream_st legacy, per_thread; /* the default streams; further ones are linked to them */
    CUpti_RangeProfiler_Object *profiler;
    bool primary, gone;
    unsigned references;
    struct CUctx_st *next;
};

typedef enum fakei_kind { FAKEI_KERNEL = 0, FAKEI_COPY, FAKEI_SET } fakei_kind;
/** A kernel, copy or set: as launched, as a node of a graph, as kept for a record. */
typedef struct fakei_work {
    fakei_kind kind;
    CUfunction kernel;
    unsigned grid[3], block[3], shared;
    uint64_t bytes;
    uint32_t value;
    uint8_t copy_kind; /* CUpti_ActivityMemcpyKind */
    CUstream stream;
    uint32_t correlation, graph;
    uint64_t node;
    uint64_t launch; /* its number among all launches */
    int64_t begin, end;
    bool wanted; /* a record of it is wanted */
} fakei_work;

struct CUgraph_st {
    fakei_work *v;
    size_t n, cap;
    uint32_t id;
    struct CUgraph_st *next;
};

void fakei_work_reset_locked(void);
CUcontext fakei_context_new_locked(int device, bool primary);
void fakei_context_end_locked(CUcontext context);
/** The primary context of a device, or NULL. */
CUcontext fakei_primary_locked(int device);
CUstream fakei_stream_new_locked(CUcontext context);
void fakei_stream_end_locked(CUstream stream);
CUgraph fakei_graph_new_locked(void);
bool fakei_capturing_locked(const struct CUctx_st *context);

/** Put work in its stream, or in the graph that it is captured into. Waits for it when
 *  counters are on. */
void fakei_launch_locked(fakei_work work);
void fakei_graph_launch_locked(CUgraph graph, CUstream stream, uint32_t correlation);
/** Wait until what was put in a stream, or in all streams of a context, has ended. */
void fakei_synchronize_stream_locked(CUstream stream);
void fakei_synchronize_locked(CUcontext context);
/** Take those that have ended and of which a record is wanted, in the order of their ends. The
 *  caller frees. */
fakei_work *fakei_work_take_locked(size_t *count);
/** The clock: `call`: a launch call's time passes. */
int64_t fakei_now_locked(void);
void fakei_pass_locked(int64_t ns);
void fakei_launch_call_locked(void);

/* ---- memory.c ---- */

bool fakei_memory_new(int device, size_t bytes, CUdeviceptr *address); /* false: too much */
bool fakei_memory_end(CUdeviceptr address);                            /* false: there is none */
struct CUmod_st {
    const char *image; /* interned text */
    bool gone;
};
CUmodule fakei_module_new(const char *image);
bool fakei_module_end(CUmodule module);
void fakei_memory_reset_locked(void);

/* ---- callbacks.c ---- */

/** A call of the driver that callbacks may see. */
typedef struct fakei_call {
    const char *name;
    CUpti_CallbackId cbid;
    const void *params;
    const char *symbol; /* of a launch of a kernel; else NULL */
    CUcontext context;
} fakei_call;
/** Count it, call back, do it (with its correlation number), call back. */
CUresult fakei_driver(const fakei_call *call, CUresult (*body)(const void *params, uint32_t correlation));
void fakei_resource(CUpti_CallbackIdResource what, CUcontext context);
CUptiResult fakei_subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *user);
CUptiResult fakei_unsubscribe(CUpti_SubscriberHandle subscriber);
CUptiResult fakei_enable(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                         CUpti_CallbackId cbid, bool on, bool all);
void fakei_callbacks_reset_locked(void);

/* ---- activity.c, records.c ---- */

void fakei_activity_reset_locked(void);
/** version: of libcupti, and so of the records. */
CUptiResult fakei_activity_register(CUpti_BuffersCallbackRequestFunc requested,
                                    CUpti_BuffersCallbackCompleteFunc completed, uint32_t version);
CUptiResult fakei_activity_enable(CUpti_ActivityKind kind, bool on);
bool fakei_activity_wanted_locked(fakei_kind kind);
/** Are records of any kind enabled? */
bool fakei_activity_enabled_locked(void);
/** Write records of what has ended; hand over full buffers, and with `flush` the last one too. */
void fakei_activity_deliver(bool flush);
size_t fakei_activity_dropped(void);
CUptiResult fakei_activity_next(uint8_t *buffer, size_t size, CUpti_Activity **record);

typedef union fakei_record {
    CUpti_Activity head;
    uint8_t bytes[512];
    uint64_t align;
} fakei_record;
/** The record of a piece of work, in the layout of a version; its size. */
size_t fakei_record_write(fakei_record *out, const fakei_work *work, uint32_t version);
/** Size of a record of that kind; 0: no such kind. */
size_t fakei_record_size(CUpti_ActivityKind kind, uint32_t version);

/* ---- metrics.c ---- */

const char *const *fakei_chips(size_t *count);
const char *fakei_chip(const char *name); /* its static name, or NULL */
typedef struct fakei_metric {
    const char *name, *text, *hw, *dim;
    CUpti_MetricType type;
    const char *chips; /* those that have it, blanks around each; NULL: all */
} fakei_metric;
/** The metric that a name, with or without rollup and submetric, belongs to, or NULL.
 *  *rest: what follows the base name. */
const fakei_metric *fakei_metric_of(const char *chip, const char *name, const char **rest);
/** Is it a name that can be counted: one with a rollup or submetric that there is? */
bool fakei_metric_countable(const char *chip, const char *name);
const char **fakei_metric_list(const char *chip, CUpti_MetricType type, size_t *count);
const char **fakei_submetrics(CUpti_MetricType type, size_t *count);
size_t fakei_metric_passes_of(const fakei_metric *metric);
void fakei_metrics_reset_locked(void);

/* ---- images.c ---- */

#define FAKEI_NAME 160 /* the longest name of a metric, its end included */
/** A configuration image: names follow. */
typedef struct fakei_config {
    char magic[8];
    size_t passes, count;
} fakei_config;
/** A counter data image: names, then ranges, follow. */
typedef struct fakei_image {
    char magic[8];
    size_t capacity, ranges, count;
} fakei_image;
size_t fakei_config_size(size_t count);
void fakei_config_write(uint8_t *out, size_t passes, const char *const *names, size_t count);
const fakei_config *fakei_config_of(const uint8_t *bytes, size_t size); /* NULL: is none */
const char *fakei_config_name(const fakei_config *config, size_t i);
size_t fakei_image_size(size_t capacity, size_t count);
void fakei_image_write(uint8_t *out, size_t capacity, const char *const *names, size_t count);
fakei_image *fakei_image_of(const uint8_t *bytes, size_t size); /* NULL: is none */
const char *fakei_image_range(const fakei_image *image, size_t range);
const char *fakei_image_name(const fakei_image *image, size_t metric);
/** Index of the metric, or SIZE_MAX. */
size_t fakei_image_metric(const fakei_image *image, const char *name);
double fakei_image_value(const fakei_image *image, size_t range, size_t metric);
/** Append a range with every value NaN; false: no room. */
bool fakei_image_add(fakei_image *image, const char *name);
void fakei_image_set(fakei_image *image, size_t range, size_t metric, double value);

/* ---- profiler.c, ranges.c ---- */

/** A range of the windows at hand, and how many passes have seen it. */
typedef struct fakei_seen {
    fake_range range;
    size_t passes;
    unsigned instructed; /* kernels in it whose machine instructions were counted */
    int64_t begin;       /* of push */
} fakei_seen;
#define FAKEI_NESTED 16
struct CUpti_RangeProfiler_Object {
    CUcontext context;
    const char **names; /* those that an image is made for */
    size_t name_count, name_capacity, ranges;
    fakei_config *config; /* a copy */
    uint8_t *image;
    size_t image_size, limit;
    bool user_ranges, kernel_replay;
    size_t first_level, levels;
    size_t pass;    /* that the next window reads */
    size_t at;      /* ranges in this window so far */
    size_t dropped; /* in this window */
    bool open, all_in, broken, mixed, decoded;
    bool unreadable; /* the window at hand */
    fakei_seen *v;
    size_t n, cap;
    size_t stack[FAKEI_NESTED]; /* places of pushed ranges; SIZE_MAX: not one that is read */
    size_t depth;
    struct CUpti_RangeProfiler_Object *next;
};
size_t fakei_range_add_locked(CUpti_RangeProfiler_Object *p, const fake_range *range);
void fakei_values_reset_locked(void);
/** What the test's function says of a range. */
double fakei_value(const fake_range *range, const char *metric);

void fakei_profiler_reset_locked(void);
CUptiResult fakei_profiler_enable(CUcontext context, CUpti_RangeProfiler_Object **out);
CUptiResult fakei_profiler_disable(CUpti_RangeProfiler_Object *profiler);
/** The image that a set of metrics needs; its names and room stay with the profiler. */
CUptiResult fakei_profiler_image_size(CUpti_RangeProfiler_Object *profiler, const char *const *names,
                                      size_t count, size_t ranges, size_t *size);
CUptiResult fakei_profiler_image(CUpti_RangeProfiler_Object *profiler, uint8_t *out, size_t size);
CUptiResult fakei_profiler_set(const CUpti_RangeProfiler_SetConfig_Params *params);
CUptiResult fakei_profiler_start(CUpti_RangeProfiler_Object *profiler);
CUptiResult fakei_profiler_stop(CUpti_RangeProfiler_Stop_Params *params);
CUptiResult fakei_profiler_push(CUpti_RangeProfiler_Object *profiler, const char *name);
CUptiResult fakei_profiler_pop(CUpti_RangeProfiler_Object *profiler);
CUptiResult fakei_profiler_decode(CUpti_RangeProfiler_Object *profiler, size_t *dropped);
/** Is a window open in the context, and how often does the driver run each kernel in it. */
size_t fakei_profiler_replays_locked(const struct CUctx_st *context);
/** A kernel, or a graph, ran in the context. */
void fakei_profiler_ran_locked(CUcontext context, const fake_range *range, bool graph);

#endif
