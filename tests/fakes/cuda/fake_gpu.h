/** fakes/cuda/: a made-up GPU. libcuda.so.1, libcupti.so.13, libcupti.so.12 (which says that it
 *  is 12.6) and an empty libnvperf_host.so have NVIDIA's symbols; libfakegpu.so holds the state
 *  behind them and the functions of this header, with which a test says what the GPU does.
 *
 *  A test links libfakegpu; it may call the driver's own functions (cuda.h) too, and then acts
 *  as a CUDA program. The code under test opens the libraries as ever: WARPMETER_LIBCUDA and
 *  WARPMETER_LIBCUPTI hold their paths.
 *
 *  Times are made up: a clock that only calls of the driver and of this header move forward.
 *  Any thread may call anything. Text that is handed in is copied; text that is handed out
 *  lives until the process ends. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Everything as when the process began: one device, no contexts, no subscriber, no failures,
 *  counters of calls at 0, the clock at FAKE_CLOCK_START. Contexts, streams, modules, graphs
 *  and profiler objects made before must not be used again; no call may be at work.
 *  Then the words of the environment variable FAKE_GPU are obeyed (below). */
void fake_reset(void);

/* ---- devices ---- */

typedef struct fake_device {
    const char *name, *chip; /* "NVIDIA H200", "GH100": the host interface must know the chip, unless
                                that it does not is what is tested */
    int major, minor, multiprocessors;
    int64_t l2_bytes, memory_bytes;
    int compute_mode; /* CUcomputemode: 0 default, 2 prohibited, 3 one context alone */
    bool concurrent_managed;
} fake_device;
/* Device N has the UUID 00010203-0405-0607-0809-0a0b0c0d0eNN. */
/** "NVIDIA Fake H200", GH100, 9.0, 132 multiprocessors, L2 60 MiB, 141 GiB. All
 *  devices are rated at 1.98 GHz. */
fake_device fake_device_default(void);
/** What devices there are: 0 to 8. With none cuInit returns CUDA_ERROR_NO_DEVICE (100). */
void fake_devices(const fake_device *devices, size_t count);
/** What cuDeviceGetAttribute says of an attribute that is not a field above. Others are 0. */
void fake_attribute(int device, int attribute, int value);
/** Is libcuda.so.1 the stub that toolkits bring: cuInit and cuDriverGetVersion return
 *  CUDA_ERROR_STUB_LIBRARY (34). */
void fake_stub(bool stub);
/** What cuDriverGetVersion says (13000) and cuptiGetVersion (0: that of the library, 130001 or
 *  24). Records have the layout that the version has. */
void fake_driver_version(int version);
void fake_cupti_version(uint32_t version);

/* ---- failures and counts ---- */

/** Let the vendor function of that name ("cuptiSubscribe") return `code`, without doing
 *  anything: from its from_call-th call on (1 is the next), `times` times, -1 for ever. A second call for a
 * function replaces the first; times 0 ends it. Callbacks of a failed call of the driver are made all the
 * same. */
void fake_fail(const char *function, int code, int from_call, int times);
/** Calls of a vendor function since the reset, failed ones too. */
uint64_t fake_calls(const char *function);
/** Calls into libcupti, whatever the function. */
uint64_t fake_cupti_calls(void);

/* ---- time and kernels ---- */

#define FAKE_CLOCK_START 1700000000000000000 /* ns: what a real CLOCK_REALTIME looks like */
#define FAKE_KERNEL_NS   1000                /* how long a kernel lasts unless told */
#define FAKE_LAUNCH_NS   500                 /* how long a launch call lasts unless told */
#define FAKE_LATENCY_NS  200                 /* from a call's end to the kernel's begin, unless told */

/** The clock of host and device [ns], as cuptiGetTimestamp says. */
int64_t fake_now(void);
/** The host does something else for that long. */
void fake_advance(int64_t ns);
/** How long launch calls last, and what lies between a call's end and its kernel's begin when the
 *  stream is idle. A kernel begins when the one before it in its stream has ended; streams
 *  overlap. (0, 0): back to the defaults. */
void fake_launch_cost(int64_t call_ns, int64_t latency_ns);
/** How long kernels of that binary name last. */
void fake_kernel_ns(const char *kernel, int64_t ns);
/** Registers, static and local memory that records and attributes say of that kernel (32, 0, 0). */
void fake_kernel_resources(const char *kernel, int registers, int static_shared, int local_per_thread);
/** A kernel that waits for another: it does not end until released. Waiting for it
 *  (synchronising, or launching it while counters are on) blocks the thread. */
void fake_hold(const char *kernel);
void fake_release(const char *kernel);
/** Threads that are blocked so right now; returns once there are at least so many. */
void fake_wait_blocked(size_t threads);
/** A CUfunction of that binary name, without a module. */
void *fake_function(const char *kernel);
/** Launches of kernels that the device got since the reset, graph nodes each; and by name. */
uint64_t fake_launches(void);
uint64_t fake_launches_of(const char *kernel);
/** Contexts, device memory [bytes] and modules that exist now: leaks of the code under test. */
size_t fake_contexts(void);
size_t fake_memory(void);
size_t fake_modules(void);

/* ---- activity records ---- */

/** The next `count` records of kernels say these times instead of the true ones; of 0 both are
 *  unsigned as in the record: (0, 0), (5, 3), (1 << 63, 1 << 63). */
void fake_record_times(uint64_t begin, uint64_t end, size_t count);
/** No records at all, as long as true. */
void fake_no_records(bool none);
/** The next `count` records are lost and counted by cuptiActivityGetNumDroppedRecords. */
void fake_drop_records(size_t count);
/** At the next flush the handler is given a buffer that it never gave, of this many bytes, full
 *  of 0xAA: it must neither read nor free it. */
void fake_foreign_buffer(size_t bytes);
/** Whether that buffer was left as it was. */
bool fake_foreign_untouched(void);
/** cuptiActivityFlushAll calls the handlers from a thread of its own, and waits for it. */
void fake_flush_on_thread(bool on);
/** The correlation number of the next call. They rise by 1 with every call of the driver, but for those
 *  made inside of the callback at a call's begin: they have that call's number. */
void fake_next_correlation(uint32_t id);
/** Records of graph nodes have a correlation number of no launch. */
void fake_graph_correlation_wrong(bool wrong);
/** Buffers that the handler gave and did not get back yet; it gets all back at flushes. */
size_t fake_buffers_out(void);
/** Records handed over since the reset. */
uint64_t fake_records(void);

/* ---- subscribers ----
 *
 *  Callbacks of the domain DRIVER_API come of launches, copies, sets, allocations, capture, graphs,
 *  synchronising, loading a module, making and destroying a context; of the domain RESOURCE when
 *  a context was made and before one is destroyed. */

/** Another profiler in the process has the only subscription: cuptiSubscribe returns 39. The
 *  same happens by itself when a second one subscribes. */
void fake_other_subscriber(bool there);
/** Callbacks at work now, and made since the reset. */
size_t fake_callbacks_active(void);
uint64_t fake_callbacks(void);

/* ---- counters ----
 *
 *  The range profiler keeps the rules that real ones were seen to keep. A Start once all passes are
 *  in, without a SetConfig, returns 999, and so does everything until Disable. The pass advances with
 *  every Stop. With several passes, SetConfig in their midst is fine when it says the pass that
 *  comes next; else the windows are taken for different ones, and every value is NaN until Disable.
 *  Ranges of one-pass configurations append to the image; those of a configuration of several
 *  passes need an empty one, else they are NaN. Where a range was not seen in every pass it is
 *  NaN; where another kernel ran in its place its values are the last pass's, wrong without a
 *  word, as hardware's are. SetConfig forgets what was not decoded.
 *
 *  A device counts for one context at a time: Start returns 26 while another's window is open. A graph in a
 *  window in which each kernel is a range makes Stop return 999, and so does everything until Disable;
 *  where the driver replays kernels, there are not as many ranges as launches.
 *  Metrics with "__sass_" in their names do not see kernels of graphs, nor any kernel while activity records
 *  are enabled, unless the driver replays it: they are too low, without a word. Pushed ranges of one name
 *  are one range, whose values add up. */

/** What cuptiProfilerDeviceSupported says: a CUpti_Profiler_Support_Level (0 unknown, 1
 *  unsupported, 2 disabled, 3 supported) of "architecture", "sli", "vGpu", "confidentialCompute",
 *  "cmp", "wsl". One that is not 3 makes isSupported 1; "isSupported" alone sets it with every
 *  flag at 3. */
void fake_supported(const char *flag, int level);

/** A range whose value of a metric is asked for. */
typedef struct fake_range {
    const char *kernel; /* binary name; of push and pop the range's name */
    uint64_t launch;    /* how many launches the device got before it since the reset */
    size_t range;       /* its place in its window, from 0 */
    size_t pass;        /* in which the last counter of it was read */
    int64_t ns;         /* how long it lasted */
    unsigned kernels;   /* of push and pop: how many it holds that the metric sees; else 1 */
} fake_range;
/** The function that makes the values; called without a lock by
 *  cuptiRangeProfilerDecodeData. NULL:
 *  fake_value_default. */
typedef double (*fake_value_fn)(void *user, const fake_range *range, const char *metric);
void fake_values(fake_value_fn value, void *user);
/** Another profiler, outside of CUPTI: called, under a lock, with each kernel that is launched and no part of
 *  a graph. NULL: none. */
typedef void (*fake_launch_fn)(const fake_range *range);
void fake_on_launch(fake_launch_fn fn);
/** gpu__time_duration*: the time [ns]; *.per_second: 1.5e9; percentages: 50; others: 1000 for each
 *  kernel. */
double fake_value_default(const fake_range *range, const char *metric);
/** How many passes a base metric takes on every chip: sm__throughput 8, its triage form 2, others
 *  1, unless told. A set takes as many as the one that takes the most. */
void fake_metric_passes(const char *base, size_t passes);
/** What each window (Start and Stop) and each kernel in it cost on the clock [ns]; 0 and 0. */
void fake_profiler_cost(int64_t window_ns, int64_t kernel_ns);
/** Profiler objects that are enabled now; windows started since the reset. */
size_t fake_profilers(void);
uint64_t fake_windows(void);

/* ---- for programs that cannot call this header ----
 *
 *  FAKE_GPU in the environment, words parted by blanks:
 *    devices=N         that many default devices
 *    name=TEXT chip=TEXT  of all of them; '_' in a name stands for a blank
 *    stub              fake_stub(true)
 *    driver=N cupti=N  versions
 *    subscriber        fake_other_subscriber(true)
 *    no-records        fake_no_records(true)
 *    unsupported=FLAG  fake_supported(FLAG, 1)
 *    FUNCTION=CODE     fake_fail(FUNCTION, CODE, 1, -1); FUNCTION=CODE@K: from the K-th call
 *    calls=FILE        at the end of the process append a line "FUNCTION COUNT" for each vendor
 *                      function that was called
 *  Any other word stops the process with a message. */

#endif
