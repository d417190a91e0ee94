#include "backend/cpu/cpu.h"

#include <limits.h>
#include <stdlib.h>

#include "backend/cpu/sensors.h"

typedef struct cpu_backend {
    const wmi_perf_sys *sys;
    void (*warn)(void *user, const char *line);
    void *user;
    wmi_cpu_modes modes;
    bool warned;
    wmi_cpu_passes passes;
    wmi_cpu_threads *threads;
    wmi_cpu_sensors *sensors;
} cpu_backend;

static void probe(wmi_probe *out) { wmi_cpu_probe(&wmi_perf_kernel, out); }

static wm_status not_a_chip(const char *chip, wm_error *err) {
    return wmi_error_set(err, WM_ENOTFOUND, 0, "the processor is no chip to choose: '%.60s' was asked for",
                         chip);
}

static wm_status describe(const char *chip, const char *name, wmi_metric *out, wm_error *err) {
    wmi_cpu_kind kind;
    if (chip) return not_a_chip(chip, err);
    return wmi_cpu_lookup(name, &kind, out, NULL, err);
}

static wm_status list_metrics(const char *chip, const char *pattern, const wmi_metric_list *list,
                              wm_error *err) {
    if (chip) return not_a_chip(chip, err);
    return wmi_cpu_list(&wmi_perf_kernel, pattern, list, err);
}

wm_status wmi_cpu_open(const wmi_perf_sys *sys, const wmi_backend_opts *opts, void **self, wm_error *err) {
    cpu_backend *b = calloc(1, sizeof *b);
    wmi_cpu_threads *threads = wmi_cpu_threads_create(sys);
    wmi_cpu_sensors *sensors = wmi_cpu_sensors_create("");
    if (!b || !threads || !sensors) {
        free(b);
        wmi_cpu_threads_destroy(threads);
        wmi_cpu_sensors_destroy(sensors);
        return wmi_error_nomem(err);
    }
    b->sys = sys;
    b->warn = opts->warn;
    b->user = opts->user;
    b->threads = threads;
    b->sensors = sensors;
    *self = b;
    return WM_OK;
}

static wm_status open_backend(const wmi_backend_opts *opts, void **self, wm_error *err) {
    return wmi_cpu_open(&wmi_perf_kernel, opts, self, err);
}

static wm_status warn_of_user_only(cpu_backend *b, wm_error *err) {
    if (!b->modes.user_only || b->warned || !b->warn) return WM_OK;
    wmi_buf line = WMI_BUF_INIT;
    int level = wmi_perf_paranoid();
    wmi_buf_str(&line, "perf events count user code alone: kernel code is not permitted");
    if (level > 1) wmi_buf_printf(&line, " while kernel.perf_event_paranoid is %d; 1 permits it", level);
    wm_status status = line.failed ? wmi_error_nomem(err) : WM_OK;
    if (status == WM_OK) b->warn(b->user, line.data);
    b->warned = status == WM_OK;
    wmi_buf_free(&line);
    return status;
}

static wm_status plan(void *self, const wmi_metric_set *set, wmi_plan *out, wm_error *err) {
    cpu_backend *b = self;
    wmi_cpu_passes passes;
    wm_status status = wmi_cpu_plan(b->sys, set, &b->modes, &passes, out, err);
    if (status != WM_OK) return status;
    status = warn_of_user_only(b, err);
    if (status != WM_OK) {
        wmi_cpu_passes_free(&passes);
        wmi_plan_free(out);
        return status;
    }
    wmi_cpu_passes_free(&b->passes);
    b->passes = passes;
    return WM_OK;
}

static wm_status open_window(void *self, const wmi_window *w, wm_error *err) {
    cpu_backend *b = self;
    if (w->pass < 0 || (size_t)w->pass >= b->passes.n)
        return wmi_error_set(err, WM_EINVAL, 0, "the cpu backend's plan has %zu passes; there is no pass %d",
                             b->passes.n, (int)w->pass);
    const wmi_cpu_pass *pass = &b->passes.v[w->pass];
    if (pass->kind != WMI_CPU_CLOCK) wmi_cpu_threads_open(b->threads, pass);
    return WM_OK;
}

static wm_status close_window(void *self, const wmi_window *w, wm_error *err) {
    (void)w;
    (void)err;
    cpu_backend *b = self;
    wmi_cpu_threads_close(b->threads);
    return WM_OK;
}

static void edge(void *self, const wmi_mark *mark) {
    cpu_backend *b = self;
    wmi_cpu_threads_edge(b->threads, mark);
}

static wm_status drain(void *self, wmi_drained *out, wm_error *err) {
    cpu_backend *b = self;
    return wmi_cpu_threads_drain(b->threads, &out->readings, err);
}

static void sense(void *self, uint32_t which, int cpu, wmi_sensed *out) {
    const cpu_backend *b = self;
    wmi_cpu_sensors_read(b->sensors, which, cpu, out);
}

static void close_backend(void *self) {
    cpu_backend *b = self;
    if (!b) return;
    wmi_cpu_threads_destroy(b->threads);
    wmi_cpu_sensors_destroy(b->sensors);
    wmi_cpu_passes_free(&b->passes);
    free(b);
}

const wmi_backend_ops wmi_cpu_backend = {
    .name = "cpu",
    .probe = probe,
    .describe = describe,
    .list = list_metrics,
    .open = open_backend,
    .plan = plan,
    .open_window = open_window,
    .close_window = close_window,
    .edge = edge,
    .drain = drain,
    .sensors = WMI_CPU_SENSORS,
    .sense = sense,
    .close = close_backend,
};
