#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "backend/cuda/kernel_names.h"
#include "backend/cuda/replay_parts.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/text.h"

/* Counters run kernels one by one, so a kernel that waits for a later one never ends, and its
 * launch does not come back: the program hangs where nothing of ours can run but this thread. */
struct wmi_replay_watch {
    wmi_backend_opts opts;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool ends;
    _Atomic bool *warned; /* the plan's */
};

/* Often enough for limits of a second and more. */
#define LOOK_NS 100000000

void wmi_replay_warn_of_waiting(const wmi_backend_opts *opts, _Atomic bool *warned, const char *kernel) {
    if (atomic_exchange(warned, true)) return;
    wmi_buf line = WMI_BUF_INIT;
    const char *plain = *kernel ? wmi_intern_name(wmi_kernel_name_of(kernel).plain) : "";
    if (*plain)
        wmi_buf_printf(&line, "kernel %s does not end while counters are read", plain);
    else
        wmi_buf_str(&line, "the device does not come to rest while counters are read");
    wmi_buf_printf(&line,
                   " (after %.3g s): they run kernels one by one, so kernels that wait for each other never "
                   "end; stop the program, and measure it without counters, by kernel_time alone",
                   (double)opts->device.hang_ns / 1e9);
    if (!line.failed && opts->warn) opts->warn(opts->user, line.data);
    wmi_buf_free(&line);
}

static struct timespec later(int64_t ns) {
    struct timespec t;
    const int64_t second = 1000000000;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t sum = t.tv_nsec + ns % second;
    t.tv_sec += (time_t)(ns / second + sum / second);
    t.tv_nsec = (long)(sum % second);
    return t;
}

static void *look_out(void *user) {
    wmi_replay_watch *w = user;
    const int64_t quarter = w->opts.device.hang_ns / 4 + 1;
    pthread_mutex_lock(&w->lock);
    while (!w->ends && !atomic_load(w->warned)) {
        const struct timespec until = later(quarter < LOOK_NS ? quarter : LOOK_NS);
        if (pthread_cond_timedwait(&w->ending, &w->lock, &until) != ETIMEDOUT) continue;
        const char *kernel = wmi_launches_stuck(w->opts.device.hang_ns);
        if (kernel) wmi_replay_warn_of_waiting(&w->opts, w->warned, kernel);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int start_thread(wmi_replay_watch *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, look_out, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void release(wmi_replay_watch *w) {
    pthread_cond_destroy(&w->ending);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

wmi_replay_watch *wmi_replay_watch_start(const wmi_backend_opts *opts, _Atomic bool *warned) {
    wmi_replay_watch *w = calloc(1, sizeof *w);
    pthread_condattr_t monotonic;
    if (!w) return NULL;
    w->opts = *opts;
    w->warned = warned;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ending, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (start_thread(w) == 0) return w;
    release(w);
    return NULL;
}

void wmi_replay_watch_stop(wmi_replay_watch *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->ending);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    release(w);
}
