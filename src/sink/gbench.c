/* Google Benchmark's JSON, as its compare.py and others read it.
 *
 * A benchmark there is a name with times; here it is a benchmark, a region and a
 * configuration: "matmul/naive/n:128". Its first entry is of type "iteration": what
 * one repetition of that library reports is the mean over its iterations, which is
 * our mean over the samples. The aggregates (mean, median, stddev, cv) follow when
 * there are two samples or more. Times are nanoseconds. Other metrics are
 * counters. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sink/gbench_context.h"
#include "sink/json.h"
#include "sink/sink.h"
#include "table/collected_columns.h"
#include "table/string_set.h"

/* ---- the columns that are read ---- */

/* X(id, name, type) */
#define NEEDED(X)                                                                                            \
    X(BENCHMARK, "benchmark", WM_STR)                                                                        \
    X(REGION, "region", WM_STR)                                                                              \
    X(METRIC, "metric", WM_STR)                                                                              \
    X(UNIT, "unit", WM_STR)                                                                                  \
    X(MEAN, "mean", WM_F64)                                                                                  \
    X(MEDIAN, "median", WM_F64)                                                                              \
    X(STDDEV, "stddev", WM_F64)                                                                              \
    X(REL_STDDEV, "rel_stddev", WM_F64)                                                                      \
    X(SAMPLES, "samples", WM_I64)                                                                            \
    X(STATUS, "status", WM_STR)                                                                              \
    X(REASON, "reason", WM_STR)                                                                              \
    X(THREADS, "threads", WM_I64)                                                                            \
    X(BATCH, "batch", WM_I64)                                                                                \
    X(CONFIG_KEY, "config_key", WM_STR)

enum {
#define NEEDED_ENUM(id, name, type) IN_##id,
    NEEDED(NEEDED_ENUM)
#undef NEEDED_ENUM
        IN_COUNT
};

static const struct {
    const char *name;
    wm_type type;
} needed[IN_COUNT] = {
#define NEEDED_COLUMN(id, name, type) {name, type},
    NEEDED(NEEDED_COLUMN)
#undef NEEDED_COLUMN
};

/* The aggregates: their names there, and the columns they are here. */
static const struct {
    const char *name, *unit;
    int column;
} aggregates[] = {
    {"mean", "time", IN_MEAN},
    {"median", "time", IN_MEDIAN},
    {"stddev", "time", IN_STDDEV},
    {"cv", "percentage", IN_REL_STDDEV},
};

/* Counters that readers know by another name. */
static const struct {
    const char *metric, *counter;
} known_counters[] = {{"byte_rate", "bytes_per_second"}, {"item_rate", "items_per_second"}};

typedef struct writer {
    const wm_table *t;
    wmi_buf *out;
    size_t column[IN_COUNT];
    bool *is_param; /* [columns] */
    /* Entries: benchmark, region and configuration, numbered in order. */
    size_t *first, *next; /* [rows] the chain of an entry's rows: row + 1, 0 ends */
    size_t entries;
    size_t written;
} writer;

static wm_value cell(const writer *w, size_t row, int in) { return wmi_table_cell(w->t, row, w->column[in]); }

static const char *text_of(const writer *w, size_t row, int in) {
    wm_value v = cell(w, row, in);
    return v.type == WM_STR ? v.as.str : "";
}

/* ---- names ---- */

/* "matmul/naive/n:128/type:f32"; the whole function has no region. */
static void add_name(const writer *w, size_t row, wmi_buf *out) {
    const char *bench = text_of(w, row, IN_BENCHMARK), *region = text_of(w, row, IN_REGION);
    wmi_buf_str(out, bench);
    if (*region && strcmp(region, bench) != 0) wmi_buf_printf(out, "/%s", region);
    for (size_t i = 0; i < wm_table_columns(w->t); i++) {
        wm_column c = {0};
        wm_value v = wmi_table_cell(w->t, row, i);
        if (!w->is_param[i] || v.type == WM_NULL) continue;
        wm_table_column(w->t, i, &c);
        wmi_buf_printf(out, "/%s:", c.name);
        if (v.type == WM_STR)
            wmi_buf_str(out, v.as.str);
        else
            wmi_json_value(out, v);
    }
}

/* A name that is a member already would make readers lose one of the two. */
static bool is_reserved(const char *name) {
    static const char *const reserved[] = {"name",
                                           "family_index",
                                           "per_family_instance_index",
                                           "run_name",
                                           "run_type",
                                           "label",
                                           "repetitions",
                                           "repetition_index",
                                           "threads",
                                           "iterations",
                                           "aggregate_name",
                                           "aggregate_unit",
                                           "real_time",
                                           "cpu_time",
                                           "time_unit",
                                           "bytes_per_second",
                                           "items_per_second",
                                           "skipped",
                                           "skip_message",
                                           "error_occurred",
                                           "error_message",
                                           "cpu_coefficient",
                                           "real_coefficient",
                                           "big_o",
                                           "rms",
                                           "complexity_n",
                                           "params"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(reserved[i], name) == 0) return true;
    return false;
}

static void add_counter_name(wmi_buf *out, const char *metric) {
    for (size_t i = 0; i < sizeof known_counters / sizeof known_counters[0]; i++) {
        if (strcmp(metric, known_counters[i].metric) != 0) continue;
        wmi_buf_str(out, known_counters[i].counter);
        return;
    }
    wmi_buf_printf(out, "%s%s", is_reserved(metric) ? "metric_" : "", metric);
}

/* ---- times ---- */

/* Nanoseconds in a unit of time; 0 for any other unit. */
static double nanoseconds_in(const char *unit) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].unit) == 0) return units[i].ns;
    return 0;
}

/* The entry's row of a metric that is a time, and has one; SIZE_MAX for none. */
static size_t time_row(const writer *w, size_t entry, const char *metric) {
    for (size_t link = w->first[entry]; link; link = w->next[link - 1]) {
        size_t row = link - 1;
        if (strcmp(text_of(w, row, IN_METRIC), metric) != 0 || cell(w, row, IN_MEAN).type == WM_NULL)
            continue;
        if (nanoseconds_in(text_of(w, row, IN_UNIT)) > 0) return row;
    }
    return SIZE_MAX;
}

static void put_time(const writer *w, const char *member, size_t row, int column) {
    wm_value v = cell(w, row, column);
    if (v.type != WM_F64) return;
    double scale = column == IN_REL_STDDEV ? 1 : nanoseconds_in(text_of(w, row, IN_UNIT));
    wmi_buf_printf(w->out, ",\n      \"%s\": ", member);
    wmi_json_value(w->out, wmi_f64(v.as.f64 * scale));
}

/* ---- entries ---- */

typedef struct entry {
    size_t number, row; /* a row that speaks for it */
    size_t family, instance;
    const char *name; /* with its quotes open: no closing one, so that a suffix fits */
    int64_t samples, threads, iterations;
} entry;

static void put_i64(const writer *w, const char *member, int64_t x) {
    wmi_buf_printf(w->out, ",\n      \"%s\": %" PRId64, member, x);
}

static void begin_entry(writer *w, const entry *e, const char *suffix, const char *run_type,
                        int64_t repetitions) {
    wmi_buf_printf(w->out, "%s\n    {\n      \"name\": %s%s%s\"", w->written++ ? "," : "", e->name,
                   *suffix ? "_" : "", suffix);
    wmi_buf_printf(w->out, ",\n      \"family_index\": %zu,\n      \"per_family_instance_index\": %zu",
                   e->family, e->instance);
    wmi_buf_printf(w->out, ",\n      \"run_name\": %s\",\n      \"run_type\": \"%s\"", e->name, run_type);
    put_i64(w, "repetitions", repetitions);
}

/* One counter, unless the entry has it already: of two members of one name readers
 * would keep either. */
static void put_counter(const writer *w, const char *metric, wm_value v, wmi_string_set *seen) {
    wmi_buf name = WMI_BUF_INIT;
    size_t known = seen->n;
    uint32_t id;
    add_counter_name(&name, metric);
    if (name.failed || !wmi_string_set_add(seen, name.data, name.len, &id)) {
        w->out->failed = true;
    } else if (id == known) {
        wmi_buf_str(w->out, ",\n      ");
        wmi_json_string(w->out, name.data);
        wmi_buf_str(w->out, ": ");
        wmi_json_value(w->out, v);
    }
    wmi_buf_free(&name);
}

static void put_counters(const writer *w, const entry *e, int column, size_t real, size_t cpu) {
    wmi_string_set seen = WMI_STRING_SET_INIT;
    for (size_t link = w->first[e->number]; link; link = w->next[link - 1]) {
        size_t row = link - 1;
        wm_value v = cell(w, row, column);
        const char *metric = text_of(w, row, IN_METRIC);
        if (row == real || row == cpu || v.type != WM_F64 || !*metric) continue;
        put_counter(w, metric, v, &seen);
    }
    wmi_string_set_free(&seen);
}

static void put_iteration(writer *w, const entry *e, size_t real, size_t cpu) {
    begin_entry(w, e, "", "iteration", 1);
    put_i64(w, "repetition_index", 0);
    put_i64(w, "threads", e->threads);
    put_i64(w, "iterations", e->iterations);
    put_time(w, "real_time", real, IN_MEAN);
    put_time(w, "cpu_time", cpu, IN_MEAN);
    wmi_buf_str(w->out, ",\n      \"time_unit\": \"ns\"");
    put_counters(w, e, IN_MEAN, real, cpu);
    wmi_buf_str(w->out, "\n    }");
}

static void put_aggregate(writer *w, const entry *e, size_t kind, size_t real, size_t cpu) {
    int column = aggregates[kind].column;
    if (cell(w, real, column).type == WM_NULL || cell(w, cpu, column).type == WM_NULL) return;
    begin_entry(w, e, aggregates[kind].name, "aggregate", e->samples);
    put_i64(w, "threads", e->threads);
    wmi_buf_printf(w->out, ",\n      \"aggregate_name\": \"%s\",\n      \"aggregate_unit\": \"%s\"",
                   aggregates[kind].name, aggregates[kind].unit);
    put_i64(w, "iterations", e->samples);
    put_time(w, "real_time", real, column);
    put_time(w, "cpu_time", cpu, column);
    wmi_buf_str(w->out, ",\n      \"time_unit\": \"ns\"");
    put_counters(w, e, column, real, cpu);
    wmi_buf_str(w->out, "\n    }");
}

/* An entry without a time says why. The zeros are what the format has there: its
 * readers look at error_occurred first, and some stumble over a missing member. */
static void put_error(writer *w, const entry *e) {
    wmi_buf why = WMI_BUF_INIT;
    const char *status = text_of(w, e->row, IN_STATUS), *reason = text_of(w, e->row, IN_REASON);
    if (*status && strcmp(status, "ok") != 0)
        wmi_buf_printf(&why, "%s%s%s", status, *reason ? ": " : "", reason);
    else
        wmi_buf_str(&why, "no time was measured");
    begin_entry(w, e, "", "iteration", 1);
    put_i64(w, "repetition_index", 0);
    put_i64(w, "threads", e->threads);
    wmi_buf_str(w->out, ",\n      \"error_occurred\": true,\n      \"error_message\": ");
    if (why.failed)
        w->out->failed = true;
    else
        wmi_json_string(w->out, why.data);
    wmi_buf_str(w->out, ",\n      \"iterations\": 0,\n      \"real_time\": 0,\n      \"cpu_time\": 0,\n"
                        "      \"time_unit\": \"ns\"");
    put_counters(w, e, IN_MEAN, SIZE_MAX, SIZE_MAX);
    wmi_buf_str(w->out, "\n    }");
    wmi_buf_free(&why);
}

static int64_t count_or(const writer *w, size_t row, int in, int64_t otherwise) {
    wm_value v = cell(w, row, in);
    return v.type == WM_I64 && v.as.i64 > 0 ? v.as.i64 : otherwise;
}

static void put_entry(writer *w, entry *e) {
    size_t real = time_row(w, e->number, "time"), cpu = time_row(w, e->number, "cpu_time");
    if (real != SIZE_MAX) e->row = real;
    e->threads = count_or(w, e->row, IN_THREADS, 1);
    e->samples = count_or(w, e->row, IN_SAMPLES, 1);
    int64_t batch = count_or(w, e->row, IN_BATCH, 1);
    if (__builtin_mul_overflow(e->samples, batch, &e->iterations)) e->iterations = e->samples;
    if (real == SIZE_MAX) {
        put_error(w, e);
        return;
    }
    if (cpu == SIZE_MAX) cpu = real;
    put_iteration(w, e, real, cpu);
    for (size_t i = 0; e->samples > 1 && i < sizeof aggregates / sizeof aggregates[0]; i++)
        put_aggregate(w, e, i, real, cpu);
}

static void put_named_entry(writer *w, entry *e) {
    wmi_buf name = WMI_BUF_INIT, quoted = WMI_BUF_INIT;
    add_name(w, e->row, &name);
    wmi_json_string(&quoted, name.failed ? "" : name.data ? name.data : "");
    if (name.failed || quoted.failed) {
        w->out->failed = true;
    } else {
        quoted.data[quoted.len - 1] = '\0';
        e->name = quoted.data;
        put_entry(w, e);
    }
    wmi_buf_free(&quoted);
    wmi_buf_free(&name);
}

/* ---- which rows belong together ---- */

static bool add_key(wmi_string_set *set, const char *const *parts, size_t count, uint32_t *id) {
    wmi_buf key = WMI_BUF_INIT;
    for (size_t i = 0; i < count; i++) wmi_buf_printf(&key, "%zu %s", strlen(parts[i]), parts[i]);
    bool ok = !key.failed && wmi_string_set_add(set, key.data, key.len, id);
    wmi_buf_free(&key);
    return ok;
}

/* Chain the rows of each entry, backwards so that the chains run forwards. */
static bool chain_rows(writer *w, const uint32_t *entry_of) {
    size_t rows = wm_table_rows(w->t);
    w->first = calloc(w->entries + 1, sizeof *w->first);
    w->next = calloc(rows + 1, sizeof *w->next);
    if (!w->first || !w->next) return false;
    for (size_t row = rows; row-- > 0;) {
        w->next[row] = w->first[entry_of[row]];
        w->first[entry_of[row]] = row + 1;
    }
    return true;
}

static bool find_entries(writer *w, uint32_t *entry_of) {
    wmi_string_set entries = WMI_STRING_SET_INIT;
    bool ok = true;
    for (size_t row = 0; ok && row < wm_table_rows(w->t); row++) {
        const char *parts[] = {text_of(w, row, IN_BENCHMARK), text_of(w, row, IN_REGION),
                               text_of(w, row, IN_CONFIG_KEY)};
        ok = add_key(&entries, parts, 3, &entry_of[row]);
    }
    w->entries = entries.n;
    wmi_string_set_free(&entries);
    return ok;
}

/* A family is a region of a benchmark; its instances are the configurations. */
static bool put_entries(writer *w) {
    wmi_string_set families = WMI_STRING_SET_INIT;
    size_t *instances = calloc(w->entries + 1, sizeof *instances);
    bool ok = instances != NULL;
    for (size_t i = 0; ok && i < w->entries && !w->out->failed; i++) {
        entry e = {.number = i, .row = w->first[i] - 1};
        const char *parts[] = {text_of(w, e.row, IN_BENCHMARK), text_of(w, e.row, IN_REGION)};
        uint32_t family;
        ok = add_key(&families, parts, 2, &family);
        if (!ok) break;
        e.family = family;
        e.instance = instances[family]++;
        put_named_entry(w, &e);
    }
    free(instances);
    wmi_string_set_free(&families);
    return ok;
}

/* ---- the file ---- */

static wm_status open_table(writer *w, wm_error *err) {
    if (strcmp(wm_table_kind(w->t), "results") != 0)
        return wmi_error_set(err, WM_EINVAL, 0, "gbench-json holds results only, not a table of %s",
                             wm_table_kind(w->t));
    w->is_param = malloc(wm_table_columns(w->t) + 1);
    if (!w->is_param || wmi_collected_find(w->t, w->is_param) != WM_OK) return wmi_error_nomem(err);
    for (size_t i = 0; i < wm_table_columns(w->t); i++) {
        const wmi_schema *schema = wmi_schema_of("results");
        wm_column c = {0};
        wm_table_column(w->t, i, &c);
        w->is_param[i] = !w->is_param[i];
        for (size_t k = 0; k < schema->count; k++)
            if (strcmp(schema->columns[k].name, c.name) == 0) w->is_param[i] = false;
    }
    for (size_t i = 0; i < IN_COUNT; i++) {
        wm_column c = {0};
        w->column[i] = wm_table_find(w->t, needed[i].name);
        if (wm_table_column(w->t, w->column[i], &c) != WM_OK || c.type != needed[i].type)
            return wmi_error_set(err, WM_EINVAL, 0,
                                 "gbench-json needs the column '%s', which the table lacks", needed[i].name);
    }
    return WM_OK;
}

static wm_status write_gbench(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err) {
    (void)opts;
    writer w = {.t = t, .out = out};
    wm_status s = open_table(&w, err);
    if (s == WM_OK) {
        uint32_t *entry_of = malloc((wm_table_rows(t) + 1) * sizeof *entry_of);
        wmi_buf_str(out, "{\n  \"context\": {");
        wmi_gbench_context(t, out);
        wmi_buf_str(out, "\n  },\n  \"benchmarks\": [");
        bool ok = entry_of && find_entries(&w, entry_of) && chain_rows(&w, entry_of) && put_entries(&w);
        wmi_buf_str(out, "\n  ]\n}\n");
        if (!ok || out->failed) s = wmi_error_nomem(err);
        free(entry_of);
    }
    free(w.is_param);
    free(w.first);
    free(w.next);
    return s;
}

const wmi_sink wmi_sink_gbench = {
    .name = "gbench-json",
    .suffixes = ".gbench.json",
    .text = "Google Benchmark's JSON, for its compare.py and others",
    .write = write_gbench,
};
