/** Launches, seen from CUPTI's driver callbacks: which entry each belongs to, and in which
 *  order they came. One log for the process, under one lock.
 *
 *  Every form of launch has an id of its own, with and without _ptsz: cuLaunch, cuLaunchGrid,
 *  cuLaunchGridAsync, cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel,
 *  cuLaunchCooperativeKernelMultiDevice, cuGraphLaunch; and those of cuMemcpy*, cuMemset*,
 *  whose records are attributed in the same way (launch_forms.c). At the call's begin its time
 *  is taken, at its end, on success and outside stream capture, the launch is logged. A launch
 *  that is at work when the log is started or stopped belongs to no log. */
#ifndef WMI_BACKEND_CUDA_LAUNCHES_H
#define WMI_BACKEND_CUDA_LAUNCHES_H

#include "backend/backend.h"
#include "backend/cuda/device.h"

typedef enum wmi_launch_kind {
    WMI_LAUNCH_KERNEL = 0,
    WMI_LAUNCH_GRAPH,
    WMI_LAUNCH_COPY,
    WMI_LAUNCH_SET
} wmi_launch_kind;

/** A launch in a clean pass: what a record needs. 32 bytes each. */
typedef struct wmi_launch {
    uint64_t entry;
    int64_t call_ns; /* CUPTI's clock, at the begin of the call */
    uint32_t correlation;
    uint32_t thread; /* numbered from 0 in the order of their first launches */
    uint16_t context;
    uint16_t run; /* what the core calls the run at hand, as in a wmi_record */
    uint8_t kind;
} wmi_launch;

/** A kernel or graph launched in a counter window: what is compared between passes. */
typedef struct wmi_shape {
    uint64_t entry;
    uint64_t stream;
    uint32_t name; /* interned binary name; 0 for a graph */
    uint32_t grid[3], block[3], shared;
    uint32_t thread;
    uint16_t context;
    uint8_t kind;
} wmi_shape;

typedef enum wmi_launch_mode {
    WMI_LAUNCHES_OFF = 0,
    WMI_LAUNCHES_TIMES, /* log wmi_launch */
    WMI_LAUNCHES_SHAPES /* log wmi_shape, kernels and graphs alone; one launch at a time: the
                           lock is held from its begin to its end, so that the log is in the
                           order in which the device got them */
} wmi_launch_mode;

/** What happens at launches of kernels and graphs. Called on the launching thread inside CUPTI's
 *  callback, at the launch's begin, outside capture; never for calls made between
 *  wmi_launches_hide and _show. May be NULL. */
typedef struct wmi_launch_hooks {
    void (*before)(void *user, const wmi_cuda_context *context, const wmi_shape *shape);
    void *user;
} wmi_launch_hooks;

/** Subscribe, enable the callbacks; counted. Needs both libraries.
 *  WM_EBUSY: another subscriber holds CUPTI (named, with what to do). */
wm_status wmi_launches_attach(wm_error *err);
void wmi_launches_detach(void);

/** Log from now on; forgets what was logged. launch_entry and launch_run: those of wmi_backend_opts; the
 *  latter may be NULL, for 0. */
void wmi_launches_start(wmi_launch_mode mode, wmi_scope scope, uint64_t (*launch_entry)(wmi_scope scope),
                        uint16_t (*launch_run)(void), const wmi_launch_hooks *hooks);
/** Stop; the logs stay until the next start or wmi_launches_clear. Waits for callbacks at work. */
void wmi_launches_stop(void);
void wmi_launches_clear(void);
/** The logs, for the controlling thread while stopped. Borrowed until the next start. Launches
 *  of a clean pass are in the order of their correlation numbers. */
const wmi_launch *wmi_launches_times(size_t *count);
const wmi_shape *wmi_launches_shapes(size_t *count);
/** Launches that were not logged because memory ran out. */
uint64_t wmi_launches_lost(void);
/** Contexts met since the first attach, by their number in the logs: those that anything was
 *  launched in, logged or not. `handle` is NULL when the program has
 *  destroyed it since. */
size_t wmi_launches_contexts(void);
wmi_cuda_context wmi_launches_context(size_t i);
/** Meet the context that is current to the calling thread, if there is one, before anything is launched. */
void wmi_launches_meet_current(void);
/** Call `ends` when the program destroys a context, while that still lives, on the thread that does it
 *  and inside CUPTI's callback. One for the process. */
void wmi_launches_on_context_end(void (*ends)(CUcontext context));
/** Whether a stream in any context is being captured, as far as the callbacks saw. */
bool wmi_launches_capturing(void);
/** The launch of a kernel or graph that has been in the driver for longest, if for more than
 *  `ns`: its kernel's binary name ("cuGraphLaunch" for a graph), else NULL. For the watchdog; any
 *  thread. */
const char *wmi_launches_stuck(int64_t ns);

/** Driver calls made by this thread from here on are not the program's. Nests. */
void wmi_launches_hide(void);
void wmi_launches_show(void);

#endif
