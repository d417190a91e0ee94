/* Facts of the machine, the build and the measurement, for every file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/session.h"

#ifndef WM_BUILD_COMPILER
#define WM_BUILD_COMPILER "unknown"
#endif
#ifndef WM_BUILD_FLAGS
#define WM_BUILD_FLAGS "unknown"
#endif
#ifndef WM_BUILD_TYPE
#define WM_BUILD_TYPE "unknown"
#endif

static const char *build_info;

void wm_set_build_info(const char *text) { __atomic_store_n(&build_info, text, __ATOMIC_RELAXED); }

bool wmi_build_unoptimised(void) {
    const char *text = __atomic_load_n(&build_info, __ATOMIC_RELAXED);
    return text && strstr(text, "not optimised");
}

typedef struct context {
    wm_table *t;
    wm_status status;
} context;

static void put(context *c, const char *key, wm_value v) {
    if (c->status == WM_OK) c->status = wmi_table_set_context(c->t, key, v);
}

static void put_text(context *c, const char *key, const char *text) {
    put(c, key, text && *text ? wmi_str(text) : wmi_null(WM_REASON_UNKNOWN));
}

static void put_flag(context *c, const char *key, int flag) {
    put(c, key, flag < 0 ? wmi_null(WM_REASON_UNKNOWN) : wmi_bool(flag != 0));
}

/* The command line as a shell would take it back: words with odd characters quoted. */
static char *command_line(void) {
    wmi_buf out = WMI_BUF_INIT;
    char bytes[4096];
    bool open_word = false;
    wmi_buf raw = WMI_BUF_INIT;
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0;) wmi_buf_add(&raw, bytes, (size_t)n);
    if (fd >= 0) close(fd);
    for (size_t i = 0; i < raw.len; i += strlen(raw.data + i) + 1) {
        const char *word = raw.data + i;
        if (open_word) wmi_buf_char(&out, ' ');
        open_word = true;
        if (*word &&
            word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-%@")] ==
                0) {
            wmi_buf_str(&out, word);
            continue;
        }
        wmi_buf_char(&out, '\'');
        for (const char *p = word; *p; p++) {
            if (*p == '\'')
                wmi_buf_str(&out, "'\\''");
            else
                wmi_buf_char(&out, *p);
        }
        wmi_buf_char(&out, '\'');
    }
    wmi_buf_free(&raw);
    return wmi_buf_take(&out);
}

static void put_now(context *c) {
    char text[64] = "";
    const time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &tm);
    put_text(c, "date", text);
}

static void put_caches(context *c, const wmi_machine *m) {
    wmi_buf out = WMI_BUF_INIT;
    for (int i = 0; i < m->cache_count; i++) {
        const wmi_cache *k = &m->caches[i];
        wmi_buf_printf(&out, "%sL%d %s %lld KiB x %d", i ? "; " : "", k->level, k->type,
                       (long long)(k->size_bytes / 1024), k->count);
    }
    char *text = wmi_buf_take(&out);
    if (!text) c->status = WM_ENOMEM;
    put_text(c, "caches", text);
    free(text);
}

static void put_fact(void *user, const char *key, wm_value value) { put(user, key, value); }

static void put_devices(context *c, const wm_session *s) {
    const wmi_fact_list list = {c, put_fact};
    for (uint32_t b = 0; b < WMI_BACKENDS_MAX && wmi_backends[b]; b++)
        if (s->measured_by >> b & 1 && wmi_backends[b]->facts) wmi_backends[b]->facts(&list);
}

void wmi_session_measured_by(wm_session *s, const wmi_measure *m) {
    for (uint32_t b = 0; b < m->source_count; b++)
        if (m->sources[b].self) s->measured_by |= (uint32_t)1 << b;
}

static void put_thermal(context *c, const wmi_thermal_facts *t) {
    if (!*t->mode) return;
    put_text(c, "thermal", t->mode);
    put(c, "thermal_wait_c", wmi_f64(t->wait_c));
    put(c, "thermal_cont_c", wmi_f64(t->cont_c));
    put(c, "thermal_timeout_ns", wmi_i64(t->timeout_ns));
    put(c, "thermal_waited_ns", wmi_i64(t->waited_ns));
}

static void put_warnings(context *c, const wm_session *s) {
    for (size_t i = 0; i < s->warning_count; i++) {
        char key[32] = "warning";
        if (i > 0) snprintf(key, sizeof key, "warning_%zu", i + 1);
        put_text(c, key, s->warnings[i]);
    }
}

wm_status wmi_session_context(const wm_session *s, wm_table *t) {
    context c = {t, WM_OK};
    const wmi_machine *m = &s->machine;
    put_now(&c);
    put_text(&c, "host", m->host);
    put_text(&c, "os", m->os);
    put_text(&c, "kernel", m->kernel);
    put_text(&c, "cpu", m->cpu);
    put(&c, "cpus_online", m->cpus_online > 0 ? wmi_i64(m->cpus_online) : wmi_null(WM_REASON_UNKNOWN));
    put(&c, "cpus_allowed", wmi_i64(m->cpus_allowed));
    put_caches(&c, m);
    put(&c, "max_hz", m->max_hz > 0 ? wmi_f64(m->max_hz) : wmi_null(WM_REASON_UNKNOWN));
    put_text(&c, "governor", m->governor);
    put_flag(&c, "turbo", m->turbo);
    put_flag(&c, "smt", m->smt);
    put(&c, "virtual_machine", wmi_bool(m->virtual_machine));
    put(&c, "load1", m->load1 >= 0 ? wmi_f64(m->load1) : wmi_null(WM_REASON_UNKNOWN));
    put(&c, "memory_bytes", wmi_i64(m->memory_bytes));
    put_devices(&c, s);
    if (s->state_interval_ns > 0) {
        put(&c, "state_interval_ns", wmi_i64(s->state_interval_ns));
        put(&c, "state_cost", wmi_f64(s->state_cost));
    }
    put_thermal(&c, &s->thermal);
    put_text(&c, "timer", wmi_clock_name());
    put(&c, "timer_cost_ns", wmi_f64(s->clock.pair_cost_ns));
    put_text(&c, "version", wm_version());
    put_text(&c, "library_compiler", WM_BUILD_COMPILER);
    put_text(&c, "library_flags", WM_BUILD_FLAGS);
    put_text(&c, "library_build_type", WM_BUILD_TYPE);
    put_text(&c, "program_build", __atomic_load_n(&build_info, __ATOMIC_RELAXED));
    char *command = command_line();
    if (!command) c.status = WM_ENOMEM;
    put_text(&c, "command", command);
    free(command);
    if (s->seed >= 0) put(&c, "seed", wmi_i64(s->seed));
    put_warnings(&c, s);
    return c.status;
}
