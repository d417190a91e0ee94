/** What each launching thread is at: its number, the launch that it is in, whether it is in one
 *  of our callbacks. The state of a thread that ended serves the next new one, with its number,
 *  so that a program that starts the same threads for every run gives them the same numbers. */
#ifndef WMI_BACKEND_CUDA_LAUNCH_THREADS_H
#define WMI_BACKEND_CUDA_LAUNCH_THREADS_H

#include <stdatomic.h>

#include "backend/cuda/launches.h"

typedef struct wmi_launch_thread {
    _Atomic(struct wmi_launch_thread *) next;
    uint32_t number;
    /* Read by other threads. */
    atomic_bool taken;
    atomic_bool at_work;        /* in a callback that uses what wmi_launches_start was given */
    _Atomic(int64_t) since_ns;  /* begin of the kernel or graph launch that it is in; 0: in none */
    _Atomic(const char *) name; /* of its kernel, or of the driver's function */
    /* Its own: the launch that it is in. */
    bool open;
    bool captured; /* by a stream */
    bool ordered;  /* others wait for its end */
    bool placed;   /* its context is known */
    uint32_t correlation;
    uint16_t run;        /* what the core calls the run at hand */
    uint64_t attached;   /* subscription that saw its begin */
    uint64_t generation; /* log that it belongs to */
    int64_t call_ns;
    wmi_shape shape; /* in a clean pass without hooks entry, thread, context and kind alone */
    /* Its own: the context that it used last. */
    CUcontext context;
    uint32_t context_id;
    uint16_t context_index;
    uint64_t context_attached; /* subscription in which it was found */
} wmi_launch_thread;

/** That of the calling thread: made when there is none; NULL when out of memory. */
wmi_launch_thread *wmi_launch_thread_self(void);
/** The same, but NULL when there is none. */
wmi_launch_thread *wmi_launch_thread_known(void);
/** All that were ever made, by their next. Any thread. */
wmi_launch_thread *wmi_launch_threads(void);
/** Whether the calls of this thread are hidden. */
bool wmi_launch_thread_hidden(void);

#endif
