/* wm_table_compare: two result tables row by row.
 *
 * Rows are matched by a hash of benchmark, configuration, region and metric; the
 * nth row of a key in one table meets the nth of that key in the other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "table/table.h"

/* ---- the columns that are read ---- */

/* X(id, name): those of the results' schema that a comparison needs. */
#define NEEDED(X)                                                                                            \
    X(BENCHMARK, "benchmark")                                                                                \
    X(CONFIG, "config_key")                                                                                  \
    X(REGION, "region")                                                                                      \
    X(METRIC, "metric")                                                                                      \
    X(UNIT, "unit")                                                                                          \
    X(MEAN, "mean")                                                                                          \
    X(STDDEV, "stddev")                                                                                      \
    X(SAMPLES, "samples")                                                                                    \
    X(BETTER, "better")                                                                                      \
    X(STATUS, "status")                                                                                      \
    X(REASON, "reason")

enum {
#define NEEDED_ENUM(id, name) IN_##id,
    NEEDED(NEEDED_ENUM)
#undef NEEDED_ENUM
        IN_COUNT,
    KEY_COUNT = IN_METRIC + 1
};

static const char *const needed_names[IN_COUNT] = {
#define NEEDED_NAME(id, name) name,
    NEEDED(NEEDED_NAME)
#undef NEEDED_NAME
};

typedef struct side {
    const wm_table *table;
    const char *name; /* "baseline" or "contender" */
    size_t column[IN_COUNT];
    bool ncu;         /* Nsight Compute's */
    bool time_as_own; /* its time of kernels goes by the name of ours, the only one that the other has */
} side;

static wm_status open_side(side *s, wm_error *err) {
    const wmi_schema *schema = wmi_schema_of("results");
    if (strcmp(wm_table_kind(s->table), schema->kind) != 0)
        return wmi_error_set(err, WM_EINVAL, 0, "the %s is a table of %s; compare takes tables of results",
                             s->name, wm_table_kind(s->table));
    for (size_t i = 0; i < IN_COUNT; i++) {
        wm_column c = {0};
        wm_type wanted = i == IN_SAMPLES ? WM_I64 : i == IN_MEAN || i == IN_STDDEV ? WM_F64 : WM_STR;
        s->column[i] = wm_table_find(s->table, needed_names[i]);
        if (wm_table_column(s->table, s->column[i], &c) != WM_OK || c.type != wanted)
            return wmi_error_set(err, WM_EINVAL, 0, "the %s lacks the column '%s', which compare needs",
                                 s->name, needed_names[i]);
    }
    return WM_OK;
}

static wm_value cell(const side *s, size_t row, int in) {
    return wmi_table_cell(s->table, row, s->column[in]);
}

static const char ncu_time[] = "gpu__time_duration.sum", own_time[] = "kernel_time";

/* A cell of text; "" for a null. */
static const char *text(const side *s, size_t row, int in) {
    wm_value v = cell(s, row, in);
    const char *found = v.type == WM_STR ? v.as.str : "";
    return in == IN_METRIC && s->time_as_own && strcmp(found, ncu_time) == 0 ? own_time : found;
}

static bool has_metric(const side *s, const char *name) {
    for (size_t row = 0; row < wm_table_rows(s->table); row++)
        if (strcmp(text(s, row, IN_METRIC), name) == 0) return true;
    return false;
}

/* The profiler's time of kernels is the counterpart of ours, where ours was not read by it. */
static void names_match(side *s, const side *other) {
    const size_t column = wm_table_find(s->table, "backend");
    for (size_t row = 0; column != SIZE_MAX && row < wm_table_rows(s->table) && !s->ncu; row++) {
        const wm_value v = wmi_table_cell(s->table, row, column);
        s->ncu = v.type == WM_STR && strcmp(v.as.str, "ncu") == 0;
    }
    s->time_as_own = s->ncu && !has_metric(other, ncu_time) && has_metric(other, own_time);
}

/* ---- matching ---- */

/* The contender's rows by key: open chains, in the order of rows. */
typedef struct row_index {
    const side *side;
    size_t *first; /* [buckets] row + 1, 0: none */
    size_t *next;  /* [rows] */
    bool *taken;   /* [rows] */
    size_t buckets;
} row_index;

static size_t bucket_of(const row_index *x, const side *s, size_t row) {
    uint64_t h = 14695981039346656037u; /* FNV-1a, a 0 byte behind each text */
    for (int in = 0; in < KEY_COUNT; in++) {
        const char *p = text(s, row, in);
        do h = (h ^ (unsigned char)*p) * 1099511628211u;
        while (*p++);
    }
    h ^= h >> 32;
    return (size_t)(h ^ h >> 15) & (x->buckets - 1);
}

static bool same_key(const side *a, size_t row_a, const side *b, size_t row_b) {
    for (int in = 0; in < KEY_COUNT; in++)
        if (strcmp(text(a, row_a, in), text(b, row_b, in)) != 0) return false;
    return true;
}

static void close_index(row_index *x) {
    free(x->first);
    free(x->next);
    free(x->taken);
}

static bool open_index(row_index *x, const side *s) {
    size_t rows = wm_table_rows(s->table);
    *x = (row_index){s, NULL, NULL, NULL, 16};
    while (x->buckets < rows) x->buckets *= 2;
    x->first = calloc(x->buckets, sizeof *x->first);
    x->next = calloc(rows + 1, sizeof *x->next);
    x->taken = calloc(rows + 1, sizeof *x->taken);
    if (!x->first || !x->next || !x->taken) {
        close_index(x);
        return false;
    }
    for (size_t row = rows; row-- > 0;) { /* backwards, so that chains run forwards */
        size_t b = bucket_of(x, s, row);
        x->next[row] = x->first[b];
        x->first[b] = row + 1;
    }
    return true;
}

/* The first row of that key that is not taken, taken out of its chain; SIZE_MAX
 * for none. Rows leave the chain, so that many rows of one key stay cheap. */
static size_t take_match(row_index *x, const side *s, size_t row) {
    size_t *link = &x->first[bucket_of(x, s, row)];
    for (; *link; link = &x->next[*link - 1]) {
        size_t found = *link - 1;
        if (!same_key(x->side, found, s, row)) continue;
        *link = x->next[found];
        x->taken[found] = true;
        return found;
    }
    return SIZE_MAX;
}

/* ---- verdicts ---- */

typedef struct outcome {
    wm_value ratio, low, high;
    const char *verdict;
    wmi_buf reason; /* empty: none */
} outcome;

static wmi_moments moments(const side *s, size_t row) {
    wm_value mean = cell(s, row, IN_MEAN), stddev = cell(s, row, IN_STDDEV), n = cell(s, row, IN_SAMPLES);
    bool spread = stddev.type == WM_F64 && n.type == WM_I64 && n.as.i64 > 1;
    wmi_moments m = {mean.as.f64, spread ? stddev.as.f64 : __builtin_nan(""), spread ? (size_t)n.as.i64 : 1};
    return m;
}

/* What keeps a row from having a value: "failed: out of luck" or a null's reason. */
static void explain(const side *s, size_t row, wmi_buf *out) {
    const char *status = text(s, row, IN_STATUS), *reason = text(s, row, IN_REASON);
    wm_value mean = cell(s, row, IN_MEAN);
    bool fine = !*status || strcmp(status, "ok") == 0;
    if (!fine) wmi_buf_printf(out, "%s%s", status, *reason ? ": " : "");
    if (!fine && *reason)
        wmi_buf_str(out, reason);
    else if (fine && mean.type == WM_NULL)
        wmi_buf_str(out, wm_reason_text(mean.reason));
}

static void note_missing(outcome *o, const side *s, size_t row) {
    if (cell(s, row, IN_MEAN).type != WM_NULL) return;
    if (o->reason.len) wmi_buf_str(&o->reason, "; ");
    wmi_buf_printf(&o->reason, "%s: ", s->name);
    explain(s, row, &o->reason);
}

/* Where the interval lies against 1 ± threshold. `better` is the direction in
 * which the value improves. With a negative baseline a ratio above 1 is a value
 * below the baseline's. */
static const char *judge(double low, double high, double threshold, const char *better, bool negative) {
    bool up = low > 1 + threshold, down = high < 1 - threshold;
    if (low >= 1 - threshold && high <= 1 + threshold) return "same";
    if (!up && !down) return "undecided";
    if (!*better) return "changed";
    bool rose = up != negative;
    return rose == (strcmp(better, "higher") == 0) ? "better" : "worse";
}

/* A spread that is missing has a reason of its own, which says more. */
static wm_reason interval_reason(const wmi_ratio *r, wm_value stddev_b, wm_value stddev_c) {
    if (stddev_b.type == WM_NULL) return stddev_b.reason;
    if (stddev_c.type == WM_NULL) return stddev_c.reason;
    return r->ci_reason ? r->ci_reason : WM_REASON_NOT_FINITE;
}

/* Both means are there, in one unit. */
static void weigh_means(outcome *o, const side *base, size_t b, const side *cont, size_t c,
                        double threshold) {
    wmi_moments den = moments(base, b);
    wmi_ratio r = wmi_ratio_of_means(moments(cont, c), den, 0, false);
    wm_reason why = r.reason ? r.reason : WM_REASON_NOT_FINITE;
    if (!__builtin_isfinite(r.ratio)) {
        o->ratio = o->low = o->high = wmi_null(why);
        wmi_buf_str(&o->reason, wm_reason_text(why));
        return;
    }
    o->ratio = wmi_f64(r.ratio);
    if (!__builtin_isfinite(r.low) || !__builtin_isfinite(r.high)) {
        why = interval_reason(&r, cell(base, b, IN_STDDEV), cell(cont, c, IN_STDDEV));
        o->low = o->high = wmi_null(why);
        o->verdict = "undecided";
        wmi_buf_str(&o->reason, wm_reason_text(why));
        return;
    }
    o->low = wmi_f64(r.low);
    o->high = wmi_f64(r.high);
    o->verdict = judge(r.low, r.high, threshold, text(cont, c, IN_BETTER), den.mean < 0);
}

static void weigh(outcome *o, const side *base, size_t b, const side *cont, size_t c, double threshold) {
    wm_value mean_b = cell(base, b, IN_MEAN), mean_c = cell(cont, c, IN_MEAN);
    const char *unit_b = text(base, b, IN_UNIT), *unit_c = text(cont, c, IN_UNIT);
    o->verdict = "missing";
    if (mean_b.type == WM_NULL || mean_c.type == WM_NULL) {
        o->ratio = o->low = o->high = mean_b.type == WM_NULL ? wmi_null(WM_REASON_NO_BASELINE) : mean_c;
        note_missing(o, base, b);
        note_missing(o, cont, c);
    } else if (strcmp(unit_b, unit_c) != 0) {
        wmi_buf_printf(&o->reason, "the units differ: '%s' and '%s'", unit_b, unit_c);
    } else {
        weigh_means(o, base, b, cont, c, threshold);
    }
}

/* ---- the table ---- */

static const wm_value no_value = {WM_NULL, WM_REASON_NOT_APPLICABLE, {0}};

/* How far ours is from what the other profiler found. */
static wm_value difference(const side *base, size_t b, const side *cont, size_t c) {
    const wm_value mean_b = cell(base, b, IN_MEAN), mean_c = cell(cont, c, IN_MEAN);
    const char *unit = text(base, b, IN_UNIT);
    if (!base->ncu || mean_b.type != WM_F64 || mean_c.type != WM_F64) return no_value;
    if (strcmp(unit, text(cont, c, IN_UNIT)) != 0) return no_value;
    const double by = mean_c.as.f64 - mean_b.as.f64;
    if (strcmp(unit, "%") == 0) return wmi_f64(by);
    return mean_b.as.f64 == 0 ? wmi_null(WM_REASON_ZERO_BASELINE) : wmi_f64(100 * by / fabs(mean_b.as.f64));
}

/* One row of the result; `base` or `cont` is NULL where only the other has it. */
static wm_status add_row(wm_table *t, const side *base, size_t b, const side *cont, size_t c,
                         double threshold) {
    const side *any = base ? base : cont;
    size_t row, at = base ? b : c;
    outcome o = {no_value, no_value, no_value, base ? "only-baseline" : "only-contender", WMI_BUF_INIT};
    if (base && cont)
        weigh(&o, base, b, cont, c, threshold);
    else
        explain(any, at, &o.reason);
    const wm_value v[WMI_CCOL_COUNT] = {
        [WMI_CCOL_BENCHMARK] = cell(any, at, IN_BENCHMARK),
        [WMI_CCOL_CONFIG_KEY] = cell(any, at, IN_CONFIG),
        [WMI_CCOL_REGION] = cell(any, at, IN_REGION),
        [WMI_CCOL_METRIC] = any->time_as_own ? wmi_str(text(any, at, IN_METRIC)) : cell(any, at, IN_METRIC),
        [WMI_CCOL_UNIT] = cell(any, at, IN_UNIT),
        [WMI_CCOL_BASELINE_MEAN] = base ? cell(base, b, IN_MEAN) : no_value,
        [WMI_CCOL_CONTENDER_MEAN] = cont ? cell(cont, c, IN_MEAN) : no_value,
        [WMI_CCOL_RATIO] = o.ratio,
        [WMI_CCOL_RATIO_CI95_LOW] = o.low,
        [WMI_CCOL_RATIO_CI95_HIGH] = o.high,
        [WMI_CCOL_DIFFERENCE] = base && cont ? difference(base, b, cont, c) : no_value,
        [WMI_CCOL_VERDICT] = wmi_str(o.verdict),
        [WMI_CCOL_REASON] = o.reason.len ? wmi_str(o.reason.data) : no_value,
    };
    wm_status s = o.reason.failed ? WM_ENOMEM : wmi_table_add_row(t, &row);
    for (size_t i = 0; s == WM_OK && i < WMI_CCOL_COUNT; i++) s = wmi_table_set(t, row, i, v[i]);
    wmi_buf_free(&o.reason);
    return s;
}

/* "host" of the baseline becomes "baseline.host", and "warning" becomes
 * "warning.baseline", so that it is still shown as one. */
static wm_status add_context(wm_table *t, const side *s) {
    static const char warning[] = "warning";
    const size_t len = sizeof warning - 1;
    wm_status status = WM_OK;
    for (size_t i = 0; status == WM_OK && i < wm_table_context_count(s->table); i++) {
        const char *key;
        wm_value v;
        wmi_buf name = WMI_BUF_INIT;
        wm_table_context(s->table, i, &key, &v);
        if (strncmp(key, warning, len) == 0)
            wmi_buf_printf(&name, "%s.%s%s", warning, s->name, key + len);
        else
            wmi_buf_printf(&name, "%s.%s", s->name, key);
        status = name.failed ? WM_ENOMEM : wmi_table_set_context(t, name.data, v);
        wmi_buf_free(&name);
    }
    return status;
}

static wm_status fill(wm_table *t, const side *base, const side *cont, row_index *rows, double threshold,
                      bool *common) {
    wm_status s = wmi_table_set_context(t, "threshold", wmi_f64(threshold));
    if (s == WM_OK) s = add_context(t, base);
    if (s == WM_OK) s = add_context(t, cont);
    for (size_t b = 0; s == WM_OK && b < wm_table_rows(base->table); b++) {
        size_t c = take_match(rows, base, b);
        *common = *common || c != SIZE_MAX;
        s = add_row(t, base, b, c == SIZE_MAX ? NULL : cont, c, threshold);
    }
    for (size_t c = 0; s == WM_OK && c < wm_table_rows(cont->table); c++)
        if (!rows->taken[c]) s = add_row(t, NULL, 0, cont, c, threshold);
    return s;
}

/* Times make one number of all rows; other metrics have no common scale. */
static wm_status add_geomean(wm_table *t) {
    const size_t rows = wm_table_rows(t);
    size_t n = 0;
    double *ratios = malloc((rows + 1) * sizeof *ratios);
    if (!ratios) return WM_ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        const wm_value metric = wmi_table_cell(t, i, WMI_CCOL_METRIC),
                       ratio = wmi_table_cell(t, i, WMI_CCOL_RATIO);
        if (metric.type == WM_STR && strcmp(metric.as.str, "time") == 0 && ratio.type == WM_F64)
            ratios[n++] = ratio.as.f64;
    }
    wm_value mean = wmi_f64(wmi_geomean(ratios, n));
    if (mean.type == WM_NULL) mean.reason = n ? WM_REASON_NON_POSITIVE : WM_REASON_NO_SAMPLES;
    free(ratios);
    return wmi_table_set_context(t, "time_ratio_geomean", mean);
}

static wm_status compare(const side *base, const side *cont, double threshold, wm_table **out,
                         wm_error *err) {
    row_index rows;
    bool common = false;
    if (!open_index(&rows, cont)) return wmi_error_nomem(err);
    wm_table *t = wmi_schema_table(wmi_schema_of("comparison"), 0, NULL, NULL);
    wm_status s = t ? fill(t, base, cont, &rows, threshold, &common) : WM_ENOMEM;
    close_index(&rows);
    if (s == WM_OK) s = add_geomean(t);
    if (s == WM_ENOMEM)
        wmi_error_nomem(err);
    else if (s == WM_OK && !common)
        s = wmi_error_set(err, WM_ENOTFOUND, 0,
                          "the tables have no row in common: no benchmark, configuration, region and metric "
                          "is in both");
    if (s == WM_OK)
        *out = t;
    else
        wm_table_destroy(t);
    return s;
}

wm_status wm_table_compare(const wm_table *baseline, const wm_table *contender, const wm_compare_opts *opts,
                           wm_table **out, wm_error *err) {
    wm_compare_opts o = WM_COMPARE_OPTS_INIT;
    if (!baseline || !contender || !out)
        return wmi_error_set(err, WM_EINVAL, 0,
                             "wm_table_compare needs two tables and a place for the result");
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    if (!(o.threshold >= 0 && o.threshold < 1))
        return wmi_error_set(err, WM_EINVAL, 0, "the threshold takes a number from 0 to below 1");
    side base = {.table = baseline, .name = "baseline"}, cont = {.table = contender, .name = "contender"};
    wm_status s = open_side(&base, err);
    if (s == WM_OK) s = open_side(&cont, err);
    if (s != WM_OK) return s;
    names_match(&base, &cont);
    names_match(&cont, &base);
    return compare(&base, &cont, o.threshold, out, err);
}
