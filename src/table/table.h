/** table/: the table, its schema, and how samples become rows (reduce: combine,
 *  derive, summarise, normalise). Includes base/, stats/, formula/ and samples/. */
#ifndef WMI_TABLE_TABLE_H
#define WMI_TABLE_TABLE_H

#include "base/text.h"
#include "samples/state.h"

/* ---- building a table ---- */

/** A new empty table of a kind (static text); NULL when out of memory. */
wm_table *wmi_table_create(const char *kind);
/** Add a column; name and unit are copied. Legal only before the first row.
 *  A name that is taken is changed the same way for every sink: "param_" in
 *  front, and then "_2", "_3" behind, until it is free; "nulls" is always taken,
 *  because files keep the reasons under it. *out: its number; may be NULL.
 *  WM_EINVAL for WM_NULL as the type; WM_ESTATE once there are rows. */
wm_status wmi_table_add_column(wm_table *t, const char *name, wm_type type, const char *unit, size_t *out);
/** Make room for this many rows in all, which spares moving them as they come. WM_ENOMEM. */
wm_status wmi_table_reserve(wm_table *t, size_t rows);
/** Add a row of nulls (WM_REASON_NOT_APPLICABLE). *out: its number; may be NULL.
 *  WM_ESTATE for a table without columns. */
wm_status wmi_table_add_row(wm_table *t, size_t *out);
/** Add `count` rows of nulls. *first: the number of the first; may be NULL. As above, and WM_ENOMEM. */
wm_status wmi_table_add_rows(wm_table *t, size_t count, size_t *first);
/** Set a cell. Strings are copied (equal ones are kept once). An int64 is widened
 *  for a double column; any other type that does not fit is WM_EINVAL. A double
 *  that is not finite is stored as a null (WM_REASON_NOT_FINITE), and a null
 *  without a reason as one of WM_REASON_UNKNOWN. */
wm_status wmi_table_set(wm_table *t, size_t row, size_t column, wm_value v);
/** Set a cell of `count` rows from `row` on alike: for each what wmi_table_set does, and at once. */
wm_status wmi_table_fill(wm_table *t, size_t row, size_t count, size_t column, wm_value v);
/** Add a context entry, or replace the one of that key. Copied. */
wm_status wmi_table_set_context(wm_table *t, const char *key, wm_value v);
/** The context entry of that key, or a null (WM_REASON_NOT_APPLICABLE). */
wm_value wmi_table_context_value(const wm_table *t, const char *key);
/** A cell without checks: row and column are in range. */
wm_value wmi_table_cell(const wm_table *t, size_t row, size_t column);
/** Are both equal: kind, columns, units, context, cells, reasons of nulls? When
 *  not, *why (may be NULL) gets the first difference. For tests and `convert`. */
bool wmi_table_equal(const wm_table *a, const wm_table *b, wmi_buf *why);

/* ---- schemas: the columns that tables of a kind begin with ---- */

typedef struct wmi_schema_column {
    const char *name;
    wm_type type;
    const char *unit;
    const char *text;
} wmi_schema_column;
typedef struct wmi_schema {
    const char *kind;
    const wmi_schema_column *columns;
    size_t count;
} wmi_schema;
/** Every schema there is; `kind` NULL ends. */
extern const wmi_schema wmi_schemas[];
/** The schema of a kind, or NULL. */
const wmi_schema *wmi_schema_of(const char *kind);
/** An empty table of that kind with the schema's columns, then `count` parameter
 *  columns; NULL when out of memory. */
wm_table *wmi_schema_table(const wmi_schema *schema, size_t count, const char *const *params,
                           const wm_type *types);
/** Whether the table has all columns of the schema of its kind, with their types. Results of
 *  a version that did not know some columns yet count as whole too: wm_table_find says which
 *  there are. */
bool wmi_schema_complete(const wm_table *t);

/* ---- schema of the "results" table ----
 * X(id, name, type, unit, text). unit "row": the row's `unit` column has it. Columns
 * after these are the parameters. docs/format.md is checked against this list. */
#define WMI_RESULT_COLUMNS(X)                                                                                \
    X(BENCHMARK, "benchmark", WM_STR, "", "name of the benchmark")                                           \
    X(REGION, "region", WM_STR, "", "path of the region; the benchmark's name for the whole function")       \
    X(METRIC, "metric", WM_STR, "", "name of the metric")                                                    \
    X(UNIT, "unit", WM_STR, "", "base unit of the row's values; empty for a ratio or a count")               \
    X(MEAN, "mean", WM_F64, "row", "arithmetic mean of the samples")                                         \
    X(STDDEV, "stddev", WM_F64, "row", "standard deviation, n - 1 in the denominator")                       \
    X(MIN, "min", WM_F64, "row", "smallest sample")                                                          \
    X(MAX, "max", WM_F64, "row", "largest sample")                                                           \
    X(MEDIAN, "median", WM_F64, "row", "median")                                                             \
    X(P05, "p05", WM_F64, "row", "5th percentile, linear between order statistics")                          \
    X(P95, "p95", WM_F64, "row", "95th percentile, linear between order statistics")                         \
    X(SAMPLES, "samples", WM_I64, "", "samples behind the row, nulls left out")                              \
    X(CI95_LOW, "ci95_low", WM_F64, "row", "95 % confidence interval of the mean (Student's t)")             \
    X(CI95_HIGH, "ci95_high", WM_F64, "row", "its upper end")                                                \
    X(REL_STDDEV, "rel_stddev", WM_F64, "", "stddev / |mean|, a ratio")                                      \
    X(STABLE, "stable", WM_BOOL, "", "whether rel_stddev is below the threshold")                            \
    X(OUTLIERS, "outliers", WM_I64, "", "samples beyond Tukey's fences; counted, not dropped")               \
    X(BETTER, "better", WM_STR, "", "lower, higher, or null where neither is better")                        \
    X(BASELINE, "baseline", WM_STR, "", "region that ratio refers to")                                       \
    X(RATIO, "ratio", WM_F64, "", "mean / the baseline's mean, same configuration and metric")               \
    X(RATIO_CI95_LOW, "ratio_ci95_low", WM_F64, "", "95 % interval of ratio (Fieller)")                      \
    X(RATIO_CI95_HIGH, "ratio_ci95_high", WM_F64, "", "its upper end")                                       \
    X(STATUS, "status", WM_STR, "", "ok, skipped, failed, missing or error")                                 \
    X(REASON, "reason", WM_STR, "", "why status is not ok")                                                  \
    X(STOP_REASON, "stop_reason", WM_STR, "", "why no further run was made")                                 \
    X(KERNEL, "kernel", WM_STR, "", "own names of the kernels that ran on an accelerator")                   \
    X(KERNELS, "kernels", WM_I64, "", "kernels in all runs")                                                 \
    X(ENTRIES, "entries", WM_I64, "", "times the region was entered, in all runs")                           \
    X(THREADS, "threads", WM_I64, "", "most threads that entered the region in one run")                     \
    X(SHARED, "shared", WM_BOOL, "", "whether other work shared the device")                                 \
    X(BACKEND, "backend", WM_STR, "", "what measured it")                                                    \
    X(TIMER, "timer", WM_STR, "", "source of a time: tsc, cntvct, monotonic, cupti, profiler or manual")     \
    X(BATCH, "batch", WM_I64, "", "repetitions behind one sample")                                           \
    X(EVALUATED, "evaluated", WM_STR, "",                                                                    \
      "derived metrics: samples or summary, what the formula was applied to")                                \
    X(SM_CLOCK_HZ, "sm_clock_hz", WM_F64, "Hz", "clock that an accelerator ran its kernels at, measured")    \
    X(SM_CLOCK_PASS, "sm_clock_pass", WM_I64, "", "pass that read sm_clock_hz")                              \
    X(PASS_TIME_RATIO, "pass_time_ratio", WM_F64, "",                                                        \
      "mean kernel time of a run where counters were read / where times were")                               \
    X(NOTE, "note", WM_STR, "", "why a good row deserves a second look")                                     \
    X(BOUND, "bound", WM_STR, "", "what bounds the region, by the metrics of a group's label")               \
    WMI_STATE_COLUMNS(X)                                                                                     \
    X(THROTTLED, "throttled", WM_I64, "", "samples taken while a clock was held down")                       \
    X(CLOCK_REQUESTED, "clock_requested_hz", WM_F64, "Hz", "clock that a GPU's was to be held at")           \
    X(DEVICE, "device", WM_STR, "", "accelerator, where one was used; several where they differ")            \
    X(HOST, "host", WM_STR, "", "name of the machine")                                                       \
    X(CONFIG_KEY, "config_key", WM_STR, "", "canonical text of the configuration")

enum {
#define WMI_RESULT_ENUM(id, name, type, unit, text) WMI_COL_##id,
    WMI_RESULT_COLUMNS(WMI_RESULT_ENUM)
#undef WMI_RESULT_ENUM
        WMI_COL_COUNT
};
/** An empty results table with all columns of the schema, then `count` parameter
 *  columns; NULL when out of memory. */
wm_table *wmi_results_create(size_t count, const char *const *params, const wm_type *types);

/* The "samples" table: a row for each value. Parameters follow. */
#define WMI_SAMPLE_COLUMNS(X)                                                                                \
    X(BENCHMARK, "benchmark", WM_STR, "", "name of the benchmark")                                           \
    X(REGION, "region", WM_STR, "", "path of the region")                                                    \
    X(METRIC, "metric", WM_STR, "", "name of the metric")                                                    \
    X(UNIT, "unit", WM_STR, "", "base unit of value")                                                        \
    X(RUN, "run", WM_I64, "", "number of the run, from 0")                                                   \
    X(PASS, "pass", WM_I64, "", "pass that read it")                                                         \
    X(VALUE, "value", WM_F64, "row", "the sample")                                                           \
    X(REASON, "reason", WM_STR, "", "slug of the reason where value is null")                                \
    WMI_STATE_COLUMNS(X)                                                                                     \
    X(CONFIG_KEY, "config_key", WM_STR, "", "canonical text of the configuration")
enum {
#define WMI_SAMPLE_ENUM(id, name, type, unit, text) WMI_SCOL_##id,
    WMI_SAMPLE_COLUMNS(WMI_SAMPLE_ENUM)
#undef WMI_SAMPLE_ENUM
        WMI_SCOL_COUNT
};
wm_table *wmi_samples_table_create(size_t count, const char *const *params, const wm_type *types);

/* The "kernels" table: a row for each piece of work that a device did in the runs in which
 * times were taken. Parameters follow. */
#define WMI_KERNEL_COLUMNS(X)                                                                                \
    X(BENCHMARK, "benchmark", WM_STR, "", "name of the benchmark")                                           \
    X(REGION, "region", WM_STR, "",                                                                          \
      "path of the innermost region at the launch; the benchmark, where it has no regions")                  \
    X(RUN, "run", WM_I64, "", "number of the run, from 0")                                                   \
    X(ORDINAL, "ordinal", WM_I64, "", "number of the launch in the region and run, from 0")                  \
    X(KIND, "kind", WM_STR, "", "kernel, copy or set")                                                       \
    X(KERNEL, "kernel", WM_STR, "", "the function's own name")                                               \
    X(KERNEL_FULL, "kernel_full", WM_STR, "", "its whole name, with types and parameters")                   \
    X(KERNEL_BINARY, "kernel_binary", WM_STR, "", "its name in the binary")                                  \
    X(DEVICE, "device", WM_STR, "", "accelerator that it ran on")                                            \
    X(STREAM, "stream", WM_I64, "", "number of the stream")                                                  \
    X(THREAD, "thread", WM_I64, "", "thread that launched it, numbered from 0")                              \
    X(LAUNCH_NS, "launch_ns", WM_F64, "ns",                                                                  \
      "when the launch was called, from the first launch of the table")                                      \
    X(BEGIN_NS, "begin_ns", WM_F64, "ns", "when it began on the device, on the same clock")                  \
    X(DURATION_NS, "duration_ns", WM_F64, "ns", "how long it ran")                                           \
    X(LAUNCH_LATENCY_NS, "launch_latency_ns", WM_F64, "ns", "from the launch call to the begin")             \
    X(GRID_X, "grid_x", WM_I64, "", "blocks in the grid")                                                    \
    X(GRID_Y, "grid_y", WM_I64, "", "its second dimension")                                                  \
    X(GRID_Z, "grid_z", WM_I64, "", "its third dimension")                                                   \
    X(BLOCK_X, "block_x", WM_I64, "", "threads in a block")                                                  \
    X(BLOCK_Y, "block_y", WM_I64, "", "its second dimension")                                                \
    X(BLOCK_Z, "block_z", WM_I64, "", "its third dimension")                                                 \
    X(REGISTERS, "registers", WM_I64, "", "registers of each thread")                                        \
    X(STATIC_SHARED_BYTES, "static_shared_bytes", WM_I64, "B",                                               \
      "shared memory of a block, fixed when compiled")                                                       \
    X(DYNAMIC_SHARED_BYTES, "dynamic_shared_bytes", WM_I64, "B",                                             \
      "shared memory of a block, asked for at the launch")                                                   \
    X(BYTES, "bytes", WM_I64, "B", "of a copy or a set")                                                     \
    X(FIRST, "first", WM_BOOL, "",                                                                           \
      "whether it was the first launch of that kernel, with loading and compiling")                          \
    X(GRAPH, "graph", WM_BOOL, "", "whether it was launched as part of a graph")                             \
    X(IGNORED, "ignored", WM_BOOL, "", "whether it is on the list of kernels to ignore")                     \
    X(REASON, "reason", WM_STR, "", "slug of the reason where times or the region are null")                 \
    X(CONFIG_KEY, "config_key", WM_STR, "", "canonical text of the configuration")
enum {
#define WMI_KERNEL_ENUM(id, name, type, unit, text) WMI_KCOL_##id,
    WMI_KERNEL_COLUMNS(WMI_KERNEL_ENUM)
#undef WMI_KERNEL_ENUM
        WMI_KCOL_COUNT
};

/* The "comparison" table that wm_table_compare makes. */
#define WMI_COMPARISON_COLUMNS(X)                                                                            \
    X(BENCHMARK, "benchmark", WM_STR, "", "name of the benchmark")                                           \
    X(CONFIG_KEY, "config_key", WM_STR, "", "canonical text of the configuration")                           \
    X(REGION, "region", WM_STR, "", "path of the region")                                                    \
    X(METRIC, "metric", WM_STR, "", "name of the metric")                                                    \
    X(UNIT, "unit", WM_STR, "", "base unit of both means")                                                   \
    X(BASELINE_MEAN, "baseline_mean", WM_F64, "row", "mean in the first file")                               \
    X(CONTENDER_MEAN, "contender_mean", WM_F64, "row", "mean in the second file")                            \
    X(RATIO, "ratio", WM_F64, "", "contender / baseline")                                                    \
    X(RATIO_CI95_LOW, "ratio_ci95_low", WM_F64, "", "95 % interval of ratio (Fieller)")                      \
    X(RATIO_CI95_HIGH, "ratio_ci95_high", WM_F64, "", "its upper end")                                       \
    X(VERDICT, "verdict", WM_STR, "",                                                                        \
      "better, worse, changed (no direction), same, undecided, only-baseline, only-contender or missing")    \
    X(REASON, "reason", WM_STR, "", "why there is no ratio or interval")                                     \
    X(DIFFERENCE, "difference", WM_F64, "%",                                                                 \
      "of Nsight Compute's results: contender - baseline, in percent of it, or in points of a share")
enum {
#define WMI_COMPARISON_ENUM(id, name, type, unit, text) WMI_CCOL_##id,
    WMI_COMPARISON_COLUMNS(WMI_COMPARISON_ENUM)
#undef WMI_COMPARISON_ENUM
        WMI_CCOL_COUNT
};

/* The "plan" table: a row for each metric of a sweep. */
#define WMI_PLAN_COLUMNS(X)                                                                                  \
    X(BENCHMARK, "benchmark", WM_STR, "", "name of the benchmark")                                           \
    X(METRIC, "metric", WM_STR, "", "name of the metric")                                                    \
    X(UNIT, "unit", WM_STR, "", "base unit of the metric")                                                   \
    X(BACKEND, "backend", WM_STR, "", "what measures it")                                                    \
    X(PASS, "pass", WM_I64, "", "pass that reads it; null where it cannot be had")                           \
    X(WINDOW, "window", WM_STR, "",                                                                          \
      "stretch that the pass is switched on for: sweep, configuration, run or region")                       \
    X(DISTURBS, "disturbs", WM_BOOL, "", "whether times taken in the pass are not the program's own")        \
    X(REASON, "reason", WM_STR, "", "why the metric cannot be had")

/* The "metrics" table: a row for each metric or group of metrics. */
#define WMI_METRIC_COLUMNS(X)                                                                                \
    X(METRIC, "metric", WM_STR, "", "name of the metric, or group: and the name of a group")                 \
    X(UNIT, "unit", WM_STR, "", "base unit of its values; null for a ratio or a count")                      \
    X(BACKEND, "backend", WM_STR, "", "what measures it")                                                    \
    X(BETTER, "better", WM_STR, "", "lower, higher, or null where neither is better")                        \
    X(AVAILABLE, "available", WM_BOOL, "", "whether this machine, or the chip, can measure it")              \
    X(REASON, "reason", WM_STR, "", "why it cannot")                                                         \
    X(TEXT, "text", WM_STR, "", "one line on what it is")

/* The "doctor" table: a row for each finding. */
#define WMI_DOCTOR_COLUMNS(X)                                                                                \
    X(COMPONENT, "component", WM_STR, "",                                                                    \
      "what was looked at: timer, cpu, perf, cuda, formulas, tools, machine")                                \
    X(ITEM, "item", WM_STR, "", "what of it")                                                                \
    X(STATE, "state", WM_STR, "", "ok, limited or absent")                                                   \
    X(VALUE, "value", WM_STR, "", "what was found")                                                          \
    X(REASON, "reason", WM_STR, "", "why it is limited or absent")                                           \
    X(REMEDY, "remedy", WM_STR, "", "what to do about it")

#endif
