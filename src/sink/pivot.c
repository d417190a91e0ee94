/* Results for people: a block for each benchmark, in it a line for each
 * configuration and region, with the metrics beside each other. Blocks, lines and
 * metrics keep the order in which rows first name them. */
#include <stdlib.h>
#include <string.h>

#include "sink/report.h"
#include "table/collected_columns.h"

enum { METRICS_MAX = 64, KERNEL_WIDTH = 48 };
static const uint32_t no_metric = UINT32_MAX;
static const size_t none = SIZE_MAX;

typedef struct pivot {
    const wm_table *t;
    wmi_report *r;
    size_t column[WMI_COL_COUNT]; /* where the schema's columns are */
    size_t *params;               /* the columns that are not of the schema */
    size_t param_count;
    wmi_buf text; /* the cell being made */
} pivot;

/* The rows of one benchmark. Line and metric numbers are those of the two sets. */
typedef struct block {
    const pivot *p;
    const size_t *rows;
    size_t row_count;
    wmi_string_set lines, metrics;
    uint32_t *line_of, *metric_of; /* [row_count] */
    size_t *cells;                 /* [lines x metrics] row of the table + 1; 0: none */
    size_t *first;                 /* [lines] first row of each line */
    bool *varies;                  /* [params] and so has a column */
    uint32_t time;                 /* the metric that comes first; no_metric: there is none */
    bool regions, intervals, ratios, kernels, notes;
} block;

/* Files of earlier versions lack some columns. */
static wm_value cell(const pivot *p, size_t row, int id) {
    if (p->column[id] == none) return wmi_null(WM_REASON_NOT_APPLICABLE);
    return wmi_table_cell(p->t, row, p->column[id]);
}

static const char *text_of(const pivot *p, size_t row, int id) {
    wm_value v = cell(p, row, id);
    return v.type == WM_STR ? v.as.str : "";
}

/* ---- arranging ---- */

/* A row whose metric its line has already makes a line of its own. */
static bool place_row(block *b, size_t i, wmi_string_set *seen, wmi_buf *key) {
    const pivot *p = b->p;
    size_t row = b->rows[i];
    const char *config = text_of(p, row, WMI_COL_CONFIG_KEY), *region = text_of(p, row, WMI_COL_REGION);
    const char *metric = text_of(p, row, WMI_COL_METRIC);
    b->metric_of[i] = no_metric;
    if (*metric && !wmi_string_set_add(&b->metrics, metric, strlen(metric), &b->metric_of[i])) return false;
    key->len = 0;
    wmi_buf_printf(key, "%zu %s %s", strlen(config), config, region);
    if (key->failed || !wmi_string_set_add(&b->lines, key->data, key->len, &b->line_of[i])) return false;
    uint32_t id;
    size_t known = seen->n;
    key->len = 0;
    wmi_buf_printf(key, "%u %u", (unsigned)b->line_of[i], (unsigned)b->metric_of[i]);
    if (key->failed || !wmi_string_set_add(seen, key->data, key->len, &id)) return false;
    if (id != known) {
        key->len = 0;
        wmi_buf_printf(key, "row %zu", row);
        return !key->failed && wmi_string_set_add(&b->lines, key->data, key->len, &b->line_of[i]);
    }
    return true;
}

static bool place_rows(block *b) {
    wmi_string_set seen = WMI_STRING_SET_INIT;
    wmi_buf key = WMI_BUF_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < b->row_count; i++) ok = place_row(b, i, &seen, &key);
    wmi_buf_free(&key);
    wmi_string_set_free(&seen);
    return ok;
}

static bool make_cells(block *b) {
    size_t lines = b->lines.n, metrics = b->metrics.n;
    b->cells = calloc(lines * metrics + 1, sizeof *b->cells);
    b->first = calloc(lines + 1, sizeof *b->first);
    if (!b->cells || !b->first) return false;
    for (size_t i = b->row_count; i-- > 0;) {
        size_t row = b->rows[i];
        b->first[b->line_of[i]] = row;
        if (b->metric_of[i] != no_metric) b->cells[b->line_of[i] * metrics + b->metric_of[i]] = row + 1;
    }
    return true;
}

static size_t row_of(const block *b, size_t line, uint32_t metric) {
    size_t cell = metric == no_metric ? 0 : b->cells[line * b->metrics.n + metric];
    return cell ? cell - 1 : none;
}

/* The row that speaks for a line: that of the first metric, or of the first that has a value. */
static size_t main_row(const block *b, size_t line) {
    const size_t time = row_of(b, line, b->time);
    if (time != none && cell(b->p, time, WMI_COL_MEAN).type != WM_NULL) return time;
    for (uint32_t m = 0; m < b->metrics.n; m++) {
        const size_t row = row_of(b, line, m);
        if (row != none && cell(b->p, row, WMI_COL_MEAN).type != WM_NULL) return row;
    }
    return time == none ? b->first[line] : time;
}

static bool same_param(wm_value a, wm_value b) {
    if (a.type != b.type) return false;
    switch (a.type) {
    case WM_I64: return a.as.i64 == b.as.i64;
    case WM_F64: return !(a.as.f64 < b.as.f64 || a.as.f64 > b.as.f64);
    case WM_STR: return strcmp(a.as.str, b.as.str) == 0;
    case WM_BOOL: return a.as.b == b.as.b;
    case WM_NULL: break;
    }
    return true;
}

static bool param_varies(const block *b, size_t column) {
    wm_value first = wmi_table_cell(b->p->t, b->first[0], column);
    for (size_t line = 1; line < b->lines.n; line++)
        if (!same_param(first, wmi_table_cell(b->p->t, b->first[line], column))) return true;
    return false;
}

/* ---- notes ---- */

static void add_note(wmi_buf *out, const char *text) {
    if (out->len) wmi_buf_str(out, "; ");
    wmi_buf_str(out, text);
}

static void note_status(const pivot *p, size_t row, const char *status, wmi_buf *out) {
    const char *reason = text_of(p, row, WMI_COL_REASON);
    add_note(out, "");
    wmi_show_text(out, status, p->r->unicode);
    if (*reason) wmi_buf_str(out, ": ");
    wmi_show_text(out, reason, p->r->unicode);
}

/* Outliers are the usual cause: a few samples in which something else ran. */
static void note_unstable(const pivot *p, size_t row, wmi_buf *out) {
    const wm_value outliers = cell(p, row, WMI_COL_OUTLIERS);
    add_note(out, "unstable");
    if (outliers.type == WM_I64 && outliers.as.i64 > 0)
        wmi_buf_printf(out, ", %lld outlier%s", (long long)outliers.as.i64, outliers.as.i64 == 1 ? "" : "s");
}

/* What a row has to say besides its numbers; how its run went only where it is the
 * row that speaks for its line. */
static wmi_style note_row(const block *b, size_t row, bool main, wmi_buf *out) {
    const pivot *p = b->p;
    const char *status = text_of(p, row, WMI_COL_STATUS), *stop = text_of(p, row, WMI_COL_STOP_REASON);
    wm_value stable = cell(p, row, WMI_COL_STABLE);
    bool ok = !*status || strcmp(status, "ok") == 0;
    /* of a missing metric note_missing tells; here a whole configuration has no samples */
    const bool metric_missing = strcmp(status, "missing") == 0 && *text_of(p, row, WMI_COL_METRIC);
    if (!ok && !metric_missing) note_status(p, row, status, out);
    if (main && stable.type == WM_BOOL && !stable.as.b) note_unstable(p, row, out);
    if (main && ok && *stop && strcmp(stop, "runs") != 0) {
        add_note(out, "stopped by ");
        wmi_show_text(out, stop, p->r->unicode);
    }
    return strcmp(status, "failed") == 0 || strcmp(status, "error") == 0 ? WMI_STYLE_BAD : WMI_STYLE_DIM;
}

/* Why a row has no value, or NULL where that needs no words. */
static const char *why_missing(const pivot *p, size_t row) {
    if (row == none || strcmp(text_of(p, row, WMI_COL_STATUS), "missing") != 0) return NULL;
    const char *reason = text_of(p, row, WMI_COL_REASON);
    const wm_value mean = cell(p, row, WMI_COL_MEAN);
    if (mean.type != WM_NULL) return reason;
    const char *usual = wm_reason_text(mean.reason);
    if (mean.reason == WM_REASON_NOT_APPLICABLE && (!*reason || strcmp(reason, usual) == 0)) return NULL;
    return *reason ? reason : usual;
}

/* Metrics without a value; of several with the same reason the first is named. */
static void note_missing(const block *b, size_t line, wmi_buf *out) {
    const pivot *p = b->p;
    for (uint32_t m = 0; m < b->metrics.n; m++) {
        const char *why = why_missing(p, row_of(b, line, m));
        size_t before = 0, more = 0;
        for (uint32_t k = 0; k < b->metrics.n && why; k++) {
            const char *other = k == m ? NULL : why_missing(p, row_of(b, line, k));
            if (!other || strcmp(other, why) != 0) continue;
            if (k < m)
                before++;
            else
                more++;
        }
        if (!why || before) continue;
        add_note(out, "");
        wmi_show_text(out, b->metrics.text[m], p->r->unicode);
        if (more) wmi_buf_printf(out, " and %zu more", more);
        wmi_buf_str(out, *why ? " missing: " : " missing");
        wmi_show_text(out, why, p->r->unicode);
    }
}

/* All rows of a line that have this text have the same. */
static void note_common(const block *b, size_t line, int id, wmi_buf *out) {
    const char *text = text_of(b->p, main_row(b, line), id);
    for (uint32_t m = 0; m < b->metrics.n && !*text; m++) {
        const size_t row = row_of(b, line, m);
        if (row != none) text = text_of(b->p, row, id);
    }
    if (!*text) return;
    add_note(out, "");
    wmi_show_text(out, text, b->p->r->unicode);
}

/* Rows of one line often say the same: what was said is not said again. */
static wmi_style note_line(const block *b, size_t line, wmi_buf *out) {
    wmi_style style = note_row(b, main_row(b, line), true, out);
    for (uint32_t m = 0; m < b->metrics.n; m++) {
        size_t row = row_of(b, line, m), len = out->len;
        if (row == none || m == b->time) continue;
        wmi_style other = note_row(b, row, false, out);
        if (out->failed || out->len == len) continue;
        if (other == WMI_STYLE_BAD) style = other;
        const char *said = out->data + len + (len ? strlen("; ") : 0);
        char *before = strstr(out->data, said);
        if (before && before < out->data + len) {
            out->len = len;
            out->data[len] = '\0';
        }
    }
    note_missing(b, line, out);
    note_common(b, line, WMI_COL_BOUND, out);
    note_common(b, line, WMI_COL_NOTE, out);
    return style;
}

/* ---- drawing ---- */

static void survey(block *b) {
    const pivot *p = b->p;
    wmi_buf note = WMI_BUF_INIT;
    b->time = b->metrics.n ? 0 : no_metric;
    for (uint32_t m = 0; m < b->metrics.n; m++)
        if (strcmp(b->metrics.text[m], "time") == 0) b->time = m;
    for (size_t i = 0; i < p->param_count; i++) b->varies[i] = param_varies(b, p->params[i]);
    for (size_t line = 0; line < b->lines.n; line++) {
        size_t row = main_row(b, line), time = row_of(b, line, b->time);
        const char *region = text_of(p, row, WMI_COL_REGION);
        if (strcmp(region, text_of(p, row, WMI_COL_BENCHMARK)) != 0) b->regions = true;
        if (time != none && cell(p, time, WMI_COL_CI95_LOW).type == WM_F64) b->intervals = true;
        if (time != none && *text_of(p, time, WMI_COL_BASELINE)) b->ratios = true;
        if (*text_of(p, row, WMI_COL_KERNEL)) b->kernels = true;
        if (!b->notes) note_line(b, line, &note);
        if (note.len) b->notes = true;
    }
    if (note.failed) p->r->failed = true;
    wmi_buf_free(&note);
}

/* "matmul (type=f32, ratio to naive)": what all lines share. */
static void add_title(const block *b, wmi_buf *text) {
    const pivot *p = b->p;
    const char *baseline = "", *separator = " (";
    wmi_show_text(text, text_of(p, b->first[0], WMI_COL_BENCHMARK), p->r->unicode);
    for (size_t i = 0; i < p->param_count; i++) {
        wm_column c = {0};
        wm_value v = wmi_table_cell(p->t, b->first[0], p->params[i]);
        if (b->varies[i] || v.type == WM_NULL) continue;
        wm_table_column(p->t, p->params[i], &c);
        wmi_buf_str(text, separator);
        wmi_show_text(text, c.name, p->r->unicode);
        wmi_buf_char(text, '=');
        wmi_show_value(text, v, "", true, p->r->unicode);
        separator = ", ";
    }
    for (size_t line = 0; b->ratios && line < b->lines.n && !*baseline; line++)
        baseline = text_of(p, main_row(b, line), WMI_COL_BASELINE);
    if (*baseline) {
        wmi_buf_str(text, separator);
        wmi_buf_str(text, "ratio to ");
        wmi_show_text(text, baseline, p->r->unicode);
        separator = ", ";
    }
    if (separator[0] == ',') wmi_buf_char(text, ')');
    wmi_report_block(p->r, text->len ? text->data : "");
    text->len = 0;
}

static void add_header(const block *b, const char *name, bool number, wmi_buf *text) {
    wmi_show_text(text, name, b->p->r->unicode);
    wmi_report_column_add(b->p->r, text->len ? text->data : "", number);
    text->len = 0;
}

static void add_headers(const block *b, wmi_buf *text) {
    const pivot *p = b->p;
    for (size_t i = 0; i < p->param_count; i++) {
        wm_column c = {0};
        wm_table_column(p->t, p->params[i], &c);
        if (b->varies[i]) add_header(b, c.name, c.type == WM_I64 || c.type == WM_F64, text);
    }
    if (b->regions) add_header(b, "region", false, text);
    if (b->time != no_metric) add_header(b, b->metrics.text[b->time], true, text);
    if (b->intervals) add_header(b, p->r->unicode ? "\u00b1 (95 %)" : "+- (95 %)", true, text);
    for (uint32_t m = 0; m < b->metrics.n; m++)
        if (m != b->time) add_header(b, b->metrics.text[m], true, text);
    if (b->ratios) add_header(b, "ratio", true, text);
    add_header(b, "samples", true, text);
    if (b->kernels) add_header(b, "kernel", false, text);
    if (b->notes) add_header(b, "note", false, text);
}

static void set_value(const pivot *p, size_t at, wm_value v, const char *unit, bool exact, wmi_buf *text) {
    bool silent = v.type == WM_NULL && v.reason == WM_REASON_NOT_RUN; /* the note says why */
    wmi_show_value(text, silent ? wmi_null(WM_REASON_NOT_APPLICABLE) : v, unit, exact, p->r->unicode);
    wmi_report_set(p->r, at, v.type == WM_NULL ? WMI_STYLE_DIM : WMI_STYLE_PLAIN, text);
}

static void set_mean(const block *b, size_t at, size_t row, wmi_buf *text) {
    if (row != none)
        set_value(b->p, at, cell(b->p, row, WMI_COL_MEAN), text_of(b->p, row, WMI_COL_UNIT), false, text);
}

/* Half of the interval as a share of the mean, with two digits. */
static void set_interval(const block *b, size_t at, size_t row, wmi_buf *text) {
    const pivot *p = b->p;
    if (row == none) return;
    wm_value mean = cell(p, row, WMI_COL_MEAN), low = cell(p, row, WMI_COL_CI95_LOW);
    wm_value high = cell(p, row, WMI_COL_CI95_HIGH);
    if (mean.type == WM_NULL) return;
    if (low.type == WM_NULL || high.type == WM_NULL) {
        set_value(p, at, low, "", false, text);
        return;
    }
    double size = mean.as.f64 < 0 ? -mean.as.f64 : mean.as.f64;
    if (!(size > 0)) return;
    double percent = (high.as.f64 - low.as.f64) / 2 / size * 100;
    wmi_buf_printf(text, "%.*f %%", percent < 1 ? 2 : percent < 10 ? 1 : 0, percent);
    wmi_report_set(p->r, at, WMI_STYLE_PLAIN, text);
}

static void set_ratio(const block *b, size_t at, size_t row, wmi_buf *text) {
    const pivot *p = b->p;
    if (row == none) return;
    wm_value ratio = cell(p, row, WMI_COL_RATIO), low = cell(p, row, WMI_COL_RATIO_CI95_LOW);
    wm_value high = cell(p, row, WMI_COL_RATIO_CI95_HIGH);
    bool itself = strcmp(text_of(p, row, WMI_COL_BASELINE), text_of(p, row, WMI_COL_REGION)) == 0;
    if (ratio.type != WM_NULL && low.type != WM_NULL && high.type != WM_NULL && !itself) {
        wmi_si_text(ratio.as.f64, "", p->r->unicode, text);
        wmi_buf_str(text, " [");
        wmi_si_text(low.as.f64, "", p->r->unicode, text);
        wmi_buf_str(text, ", ");
        wmi_si_text(high.as.f64, "", p->r->unicode, text);
        wmi_buf_str(text, "]");
        wmi_report_set(p->r, at, WMI_STYLE_PLAIN, text);
    } else {
        set_value(p, at, ratio, "", false, text);
    }
}

/* Names of kernels are long and several: the beginning tells them apart. */
static void set_kernel(const block *b, size_t at, size_t row, wmi_buf *text) {
    const pivot *p = b->p;
    const wm_value v = cell(p, row, WMI_COL_KERNEL);
    if (v.type == WM_NULL && v.reason == WM_REASON_NOT_APPLICABLE) return;
    wmi_show_value(text, v, "", true, p->r->unicode);
    if (!text->failed && text->len && wmi_text_width(text->data) > KERNEL_WIDTH) {
        const char *dots = p->r->unicode ? "\u2026" : "...";
        text->len = wmi_text_fitting(text->data, KERNEL_WIDTH - wmi_text_width(dots));
        wmi_buf_str(text, dots);
    }
    wmi_report_set(p->r, at, v.type == WM_NULL ? WMI_STYLE_DIM : WMI_STYLE_PLAIN, text);
}

static void add_line(const block *b, size_t line, wmi_buf *text) {
    const pivot *p = b->p;
    size_t at = 0, row = main_row(b, line), time = row_of(b, line, b->time);
    wmi_report_row(p->r);
    for (size_t i = 0; i < p->param_count; i++)
        if (b->varies[i]) set_value(p, at++, wmi_table_cell(p->t, row, p->params[i]), "", true, text);
    if (b->regions) {
        wmi_show_text(text, text_of(p, row, WMI_COL_REGION), p->r->unicode);
        wmi_report_set(p->r, at++, WMI_STYLE_PLAIN, text);
    }
    if (b->time != no_metric) set_mean(b, at++, time, text);
    if (b->intervals) set_interval(b, at++, time, text);
    for (uint32_t m = 0; m < b->metrics.n; m++)
        if (m != b->time) set_mean(b, at++, row_of(b, line, m), text);
    if (b->ratios) set_ratio(b, at++, time, text);
    set_value(p, at++, cell(p, row, WMI_COL_SAMPLES), "", true, text);
    if (b->kernels) set_kernel(b, at++, row, text);
    if (!b->notes) return;
    wmi_style style = note_line(b, line, text);
    wmi_report_set(p->r, at, style, text);
}

static void add_block(pivot *p, const size_t *rows, size_t count) {
    block b = {.p = p, .rows = rows, .row_count = count};
    b.line_of = malloc((count + 1) * sizeof *b.line_of);
    b.metric_of = malloc((count + 1) * sizeof *b.metric_of);
    b.varies = calloc(p->param_count + 1, sizeof *b.varies);
    if (b.line_of && b.metric_of && b.varies && place_rows(&b) && make_cells(&b)) {
        survey(&b);
        add_title(&b, &p->text);
        add_headers(&b, &p->text);
        for (size_t line = 0; line < b.lines.n && !p->r->failed; line++) add_line(&b, line, &p->text);
    } else {
        p->r->failed = true;
    }
    free(b.line_of);
    free(b.metric_of);
    free(b.varies);
    free(b.cells);
    free(b.first);
    wmi_string_set_free(&b.lines);
    wmi_string_set_free(&b.metrics);
}

/* ---- all blocks ---- */

/* Sort the rows by benchmark, in the order in which benchmarks appear: count, then
 * place. start[i]..start[i + 1] are those of benchmark i. */
static bool sort_rows(const pivot *p, uint32_t *bench_of, size_t *order, size_t **start, size_t *count) {
    size_t rows = wm_table_rows(p->t);
    wmi_string_set names = WMI_STRING_SET_INIT;
    bool ok = true;
    for (size_t row = 0; ok && row < rows; row++) {
        const char *name = text_of(p, row, WMI_COL_BENCHMARK);
        ok = wmi_string_set_add(&names, name, strlen(name), &bench_of[row]);
    }
    *count = names.n;
    wmi_string_set_free(&names);
    *start = ok ? calloc(*count + 2, sizeof **start) : NULL;
    if (!*start) return false;
    size_t *next = *start + 1; /* shifted by one, so that placing leaves the starts */
    for (size_t row = 0; row < rows; row++) next[bench_of[row] + 1]++;
    for (size_t i = 1; i <= *count; i++) next[i] += next[i - 1];
    for (size_t row = 0; row < rows; row++) order[next[bench_of[row]]++] = row;
    return true;
}

static bool find_columns(pivot *p) {
    const wmi_schema *schema = wmi_schema_of("results");
    bool *taken = calloc(wm_table_columns(p->t) + 1, sizeof *taken);
    if (taken && wmi_collected_find(p->t, taken) != WM_OK) {
        free(taken);
        taken = NULL;
    }
    p->params = malloc((wm_table_columns(p->t) + 1) * sizeof *p->params);
    for (size_t i = 0; taken && i < WMI_COL_COUNT; i++) {
        p->column[i] = wm_table_find(p->t, schema->columns[i].name);
        if (p->column[i] != none) taken[p->column[i]] = true;
    }
    for (size_t i = 0; taken && p->params && i < wm_table_columns(p->t); i++)
        if (!taken[i]) p->params[p->param_count++] = i;
    bool ok = taken && p->params;
    free(taken);
    return ok;
}

/* Beside each other, very many metrics are no table any more, and one that is
 * mostly empty. */
static bool is_wide(const pivot *p) {
    wmi_string_set metrics = WMI_STRING_SET_INIT;
    bool ok = true;
    for (size_t row = 0; ok && row < wm_table_rows(p->t) && metrics.n <= METRICS_MAX; row++) {
        const char *metric = text_of(p, row, WMI_COL_METRIC);
        uint32_t id;
        ok = wmi_string_set_add(&metrics, metric, strlen(metric), &id);
    }
    bool wide = metrics.n > METRICS_MAX;
    wmi_string_set_free(&metrics);
    if (!ok) p->r->failed = true;
    return wide;
}

static bool add_blocks(pivot *p) {
    size_t *start = NULL, count = 0;
    uint32_t *bench_of = malloc((wm_table_rows(p->t) + 1) * sizeof *bench_of);
    size_t *order = malloc((wm_table_rows(p->t) + 1) * sizeof *order);
    bool ok = bench_of && order && sort_rows(p, bench_of, order, &start, &count);
    for (size_t i = 0; ok && i < count && !p->r->failed; i++)
        add_block(p, order + start[i], start[i + 1] - start[i]);
    free(start);
    free(order);
    free(bench_of);
    return ok;
}

void wmi_pivot(const wm_table *t, wmi_report *out) {
    pivot p = {.t = t, .r = out, .text = WMI_BUF_INIT};
    bool ok = find_columns(&p);
    if (ok && is_wide(&p))
        wmi_grid(t, out);
    else if (ok)
        ok = add_blocks(&p);
    if (!ok || p.text.failed) out->failed = true;
    wmi_buf_free(&p.text);
    free(p.params);
}
