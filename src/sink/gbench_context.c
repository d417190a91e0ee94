#include "sink/gbench_context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sink/json.h"

typedef struct writer {
    const wm_table *t;
    wmi_buf *out;
    bool any;
} writer;

static void put_key(writer *w, const char *key) {
    wmi_buf_str(w->out, w->any ? ",\n    " : "\n    ");
    wmi_json_string(w->out, key);
    wmi_buf_str(w->out, ": ");
    w->any = true;
}

static void put_value(writer *w, const char *key, wm_value v) {
    if (v.type == WM_NULL) return;
    put_key(w, key);
    wmi_json_value(w->out, v);
}

static wm_value fact(const writer *w, const char *key, wm_type type) {
    wm_value v = wmi_table_context_value(w->t, key);
    return v.type == type ? v : wmi_null(WM_REASON_UNKNOWN);
}

/* The first word of the command line. */
static void put_executable(writer *w) {
    wm_value command = fact(w, "command", WM_STR);
    char **words;
    size_t count;
    if (command.type == WM_NULL || wmi_words_split(command.as.str, &words, &count, NULL) != WM_OK) return;
    if (count) put_value(w, "executable", wmi_str(words[0]));
    free(words);
}

static void put_clock(writer *w) {
    wm_value hz = fact(w, "max_hz", WM_F64), governor = fact(w, "governor", WM_STR);
    if (hz.type == WM_F64 && hz.as.f64 > 0 && hz.as.f64 < 1e15)
        put_value(w, "mhz_per_cpu", wmi_i64((int64_t)(hz.as.f64 / 1e6 + 0.5)));
    if (governor.type == WM_STR)
        put_value(w, "cpu_scaling_enabled", wmi_bool(strcmp(governor.as.str, "performance") != 0));
}

/* ---- caches: "L1 Data 32 KiB x 4; L2 Unified 1024 KiB x 4" ---- */

typedef struct cache {
    int64_t level, kib, count;
    char type[16];
} cache;

static bool take_number(const char **s, int64_t *out) {
    size_t n = strspn(*s, "0123456789");
    bool ok = wmi_i64_parse(*s, n, out) && *out > 0;
    *s += n;
    return ok;
}

static bool take_text(const char **s, const char *text) {
    size_t n = strlen(text);
    if (strncmp(*s, text, n) != 0) return false;
    *s += n;
    return true;
}

static bool take_cache(const char **s, cache *c) {
    if (!take_text(s, "L") || !take_number(s, &c->level) || !take_text(s, " ")) return false;
    size_t n = strcspn(*s, " ;");
    if (n >= sizeof c->type) return false;
    memcpy(c->type, *s, n);
    c->type[n] = '\0';
    *s += n;
    return take_text(s, " ") && take_number(s, &c->kib) && take_text(s, " KiB x ") &&
           take_number(s, &c->count) && c->kib <= INT64_MAX / 1024;
}

/* The list is left out, whole, where the text is not as expected. */
static void put_caches(writer *w) {
    wm_value text = fact(w, "caches", WM_STR), cpus = fact(w, "cpus_online", WM_I64);
    wmi_buf list = WMI_BUF_INIT;
    bool ok = text.type == WM_STR && *text.as.str;
    for (const char *s = ok ? text.as.str : ""; ok && *s;) {
        cache c;
        ok = take_cache(&s, &c) && (!*s || take_text(&s, "; "));
        if (!ok) break;
        int64_t sharing = cpus.type == WM_I64 && cpus.as.i64 >= c.count ? cpus.as.i64 / c.count : 1;
        wmi_buf_str(&list, list.len ? ",\n      {\"type\": " : "\n      {\"type\": ");
        wmi_json_string(&list, c.type);
        wmi_buf_printf(&list,
                       ", \"level\": %" PRId64 ", \"size\": %" PRId64 ", \"num_sharing\": %" PRId64 "}",
                       c.level, c.kib * 1024, sharing);
    }
    put_key(w, "caches");
    wmi_buf_char(w->out, '[');
    if (ok && list.len) wmi_buf_printf(w->out, "%s\n    ", list.data);
    wmi_buf_char(w->out, ']');
    if (list.failed) w->out->failed = true;
    wmi_buf_free(&list);
}

static void put_load(writer *w) {
    wm_value load = fact(w, "load1", WM_F64);
    put_key(w, "load_avg");
    wmi_buf_char(w->out, '[');
    if (load.type == WM_F64) wmi_json_value(w->out, load);
    wmi_buf_char(w->out, ']');
}

static void put_build_type(writer *w) {
    wm_value type = fact(w, "library_build_type", WM_STR);
    if (type.type == WM_STR)
        put_value(w, "library_build_type", wmi_str(strcmp(type.as.str, "Debug") == 0 ? "debug" : "release"));
}

/* The members above; entries of that name are not repeated. */
static bool is_written(const char *key) {
    static const char *const written[] = {"date",
                                          "host_name",
                                          "executable",
                                          "num_cpus",
                                          "mhz_per_cpu",
                                          "cpu_scaling_enabled",
                                          "caches",
                                          "load_avg",
                                          "library_build_type",
                                          "json_schema_version"};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        if (strcmp(written[i], key) == 0) return true;
    return false;
}

void wmi_gbench_context(const wm_table *t, wmi_buf *out) {
    writer w = {t, out, false};
    put_value(&w, "date", fact(&w, "date", WM_STR));
    put_value(&w, "host_name", fact(&w, "host", WM_STR));
    put_executable(&w);
    put_value(&w, "num_cpus", fact(&w, "cpus_online", WM_I64));
    put_clock(&w);
    put_caches(&w);
    put_load(&w);
    put_build_type(&w);
    put_value(&w, "json_schema_version", wmi_i64(1));
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (!is_written(key)) put_value(&w, key, v);
    }
}
