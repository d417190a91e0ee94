/* Reading CSV. The types of the columns come from the companion file if it tells
 * of the same columns; else from the schema that the header fits best; else, for
 * parameters, from the values, which takes a pass of its own. */
#include <stdlib.h>
#include <string.h>

#include "sink/csv.h"
#include "sink/csv_scan.h"
#include "sink/json.h"

/* A column of the file, but for the reasons. */
typedef struct column {
    char *name;
    wm_type type; /* WM_NULL: not known yet */
    const char *unit;
} column;

typedef struct reader {
    const char *path;
    wmi_csv_scan scan;
    column *columns;
    size_t count;
    size_t nulls_at; /* number of the field that holds reasons; SIZE_MAX: none does */
    bool dropped;    /* the last line was half a record */
    wmi_buf text;    /* a field as a string */
    wm_table *table;
    wm_error *err;
} reader;

static wm_status fail(reader *r, const char *what) {
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s: line %zu: %s", r->path, r->scan.line, what);
}

/* The field as a string, valid until the next call; NULL when out of memory. */
static char *field_text(reader *r, const wmi_csv_field *f) {
    r->text.len = 0;
    wmi_buf_add(&r->text, f->s, f->n);
    return r->text.failed ? NULL : r->text.data;
}

static const wmi_csv_field *field_of(const reader *r, size_t col) {
    return &r->scan.fields[col + (col >= r->nulls_at)];
}

/* ---- records ---- */

static wm_status next_record(reader *r) {
    const char *what = "";
    wm_status s = wmi_csv_scan_next(&r->scan, WMI_COLUMNS_MAX + 1, &what);
    if (s == WM_ENOMEM) return wmi_error_nomem(r->err);
    return s == WM_OK ? s : fail(r, what);
}

/* Read the next row; *got is false at the end. A last line without an end and
 * with too few fields is what a writer that was killed left: it is dropped. */
static wm_status next_row(reader *r, bool *got) {
    size_t width = r->count + (r->nulls_at != SIZE_MAX);
    wm_status s = next_record(r);
    if (s != WM_OK) return s;
    r->dropped = r->scan.cut && (r->scan.torn || r->scan.count < width);
    *got = r->scan.count > 0 && !r->dropped;
    if (!*got || r->scan.count == width) return WM_OK;
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s: line %zu: %zu fields, where the header has %zu", r->path,
                         r->scan.line, r->scan.count, width);
}

/* ---- the header ---- */

static bool has_column(const reader *r, const char *name) {
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->columns[i].name, name) == 0) return true;
    return false;
}

static wm_status add_name(reader *r, size_t field) {
    char *name = field_text(r, &r->scan.fields[field]);
    if (!name) return wmi_error_nomem(r->err);
    bool nulls = strcmp(name, "nulls") == 0;
    if (has_column(r, name) || (nulls && r->nulls_at != SIZE_MAX))
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: two columns are called '%s'", r->path, name);
    if (nulls) {
        r->nulls_at = field;
        return WM_OK;
    }
    char *copy = wmi_strdup(name);
    if (!copy) return wmi_error_nomem(r->err);
    r->columns[r->count++] = (column){copy, WM_NULL, ""};
    return WM_OK;
}

static wm_status read_header(reader *r) {
    wm_status s = next_record(r);
    if (s != WM_OK) return s;
    if (r->scan.torn) return fail(r, "a quote is not closed");
    if (r->scan.count == 0) return wmi_error_set(r->err, WM_EPARSE, 0, "%s is empty", r->path);
    r->columns = calloc(r->scan.count, sizeof *r->columns);
    if (!r->columns) return wmi_error_nomem(r->err);
    for (size_t i = 0; s == WM_OK && i < r->scan.count; i++) s = add_name(r, i);
    return s;
}

/* ---- types ---- */

static const wmi_schema_column *find_in(const wmi_schema *schema, const char *name) {
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->columns[i].name, name) == 0) return &schema->columns[i];
    return NULL;
}

/* The schema that has the most of the columns; NULL if none has any. */
static const wmi_schema *best_schema(const reader *r) {
    const wmi_schema *best = NULL;
    size_t most = 0;
    for (const wmi_schema *s = wmi_schemas; s->kind; s++) {
        size_t shared = 0;
        for (size_t i = 0; i < r->count; i++) shared += find_in(s, r->columns[i].name) != NULL;
        if (shared > most) best = s;
        if (shared > most) most = shared;
    }
    return best;
}

static bool is_word(const wmi_csv_field *f, const char *word) {
    return f->n == strlen(word) && memcmp(f->s, word, f->n) == 0;
}

/* The type of a value that stands alone; WM_STR for what is nothing else. */
static wm_type type_of(const wmi_csv_field *f) {
    int64_t i;
    double x;
    if (f->quoted) return WM_STR;
    if (is_word(f, "true") || is_word(f, "false")) return WM_BOOL;
    if (wmi_i64_parse(f->s, f->n, &i)) return WM_I64;
    return wmi_number_parse(f->s, f->n, &x) ? WM_F64 : WM_STR;
}

/* The narrowest type that holds values of both. */
static wm_type widest(wm_type a, wm_type b) {
    if (a == WM_NULL || a == b) return b;
    bool numbers = (a == WM_I64 || a == WM_F64) && (b == WM_I64 || b == WM_F64);
    return numbers ? WM_F64 : WM_STR;
}

/* Look at all values of the columns that no schema knows, then go back. */
static wm_status guess_types(reader *r) {
    wmi_csv_scan *scan = &r->scan;
    const char *at = scan->at;
    size_t line = scan->next_line, unknown = 0;
    size_t *guessed = calloc(r->count + 1, sizeof *guessed);
    if (!guessed) return wmi_error_nomem(r->err);
    for (size_t i = 0; i < r->count; i++)
        if (r->columns[i].type == WM_NULL) guessed[unknown++] = i;
    wm_status s = WM_OK;
    for (bool got = unknown > 0; s == WM_OK && got;) {
        s = next_row(r, &got);
        for (size_t k = 0; s == WM_OK && got && k < unknown; k++) {
            const wmi_csv_field *f = field_of(r, guessed[k]);
            column *c = &r->columns[guessed[k]];
            if ((f->n || f->quoted) && c->type != WM_STR) c->type = widest(c->type, type_of(f));
        }
    }
    for (size_t k = 0; k < unknown; k++)
        if (r->columns[guessed[k]].type == WM_NULL) r->columns[guessed[k]].type = WM_STR;
    free(guessed);
    scan->at = at;
    scan->next_line = line;
    return s;
}

static wm_status infer_table(reader *r) {
    const wmi_schema *schema = best_schema(r);
    if (!schema)
        return wmi_error_set(r->err, WM_EPARSE, 0,
                             "%s has no column of a table of warpmeter, and no %s%s says what it holds",
                             r->path, r->path, WMI_CSV_COMPANION);
    for (size_t i = 0; i < r->count; i++) {
        const wmi_schema_column *known = find_in(schema, r->columns[i].name);
        if (!known) continue;
        r->columns[i].type = known->type;
        r->columns[i].unit = known->unit;
    }
    wm_status s = guess_types(r);
    if (s != WM_OK) return s;
    r->table = wmi_table_create(schema->kind);
    s = r->table ? WM_OK : WM_ENOMEM;
    for (size_t i = 0; s == WM_OK && i < r->count; i++)
        s = wmi_table_add_column(r->table, r->columns[i].name, r->columns[i].type, r->columns[i].unit, NULL);
    return s == WM_OK ? s : wmi_error_nomem(r->err);
}

static bool has_same_columns(const wm_table *t, const reader *r) {
    if (wm_table_columns(t) != r->count) return false;
    for (size_t i = 0; i < r->count; i++)
        if (wm_table_find(t, r->columns[i].name) != i) return false;
    return true;
}

/* The companion is a table without rows: if it tells of this header, it is the one
 * to fill. */
static wm_status make_table(reader *r, const char *companion, size_t n) {
    wm_table *model = NULL;
    wmi_buf name = WMI_BUF_INIT;
    wmi_buf_printf(&name, "%s%s", r->path, WMI_CSV_COMPANION);
    wm_status s = name.failed ? wmi_error_nomem(r->err) : WM_OK;
    if (s == WM_OK && companion)
        s = wmi_json_parse(name.data, WMI_JSON_CONTEXT, companion, n, &model, r->err);
    wmi_buf_free(&name);
    if (s != WM_OK) return s;
    if (model && has_same_columns(model, r)) {
        r->table = model;
        return WM_OK;
    }
    s = infer_table(r);
    if (s == WM_OK && model &&
        wmi_table_set_context(r->table, "warning_context",
                              wmi_str("the file of the context tells of other columns and was left out")) !=
            WM_OK)
        s = wmi_error_nomem(r->err);
    wm_table_destroy(model);
    return s;
}

/* ---- rows ---- */

static wm_status bad_value(reader *r, const wm_column *c, const wmi_csv_field *f) {
    const char *wanted = c->type == WM_BOOL  ? "true or false"
                         : c->type == WM_I64 ? "whole numbers"
                                             : "numbers";
    const char *text = field_text(r, f);
    if (!text) return wmi_error_nomem(r->err);
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s: line %zu: column '%s' takes %s, not '%s'", r->path,
                         r->scan.line, c->name, wanted, text);
}

/* WM_EINVAL: the text is no value of that type. */
static wm_status parse_value(reader *r, const wmi_csv_field *f, wm_type type, wm_value *out) {
    int64_t i;
    double x;
    const char *text;
    switch (type) {
    case WM_STR:
        if (!(text = field_text(r, f))) return WM_ENOMEM;
        *out = wmi_str(text);
        return WM_OK;
    case WM_I64:
        if (!wmi_i64_parse(f->s, f->n, &i)) return WM_EINVAL;
        *out = wmi_i64(i);
        return WM_OK;
    case WM_F64:
        if (!wmi_number_parse(f->s, f->n, &x)) return WM_EINVAL;
        *out = wmi_f64(x);
        return WM_OK;
    case WM_BOOL:
        *out = wmi_bool(is_word(f, "true"));
        return out->as.b || is_word(f, "false") ? WM_OK : WM_EINVAL;
    case WM_NULL: break;
    }
    return WM_EINVAL;
}

static wm_status set_cell(reader *r, size_t row, size_t col) {
    const wmi_csv_field *f = field_of(r, col);
    wm_column c = {0};
    wm_value v = wmi_null(r->nulls_at == SIZE_MAX ? WM_REASON_UNKNOWN : WM_REASON_NOT_APPLICABLE);
    wm_table_column(r->table, col, &c);
    wm_status s = f->n || f->quoted ? parse_value(r, f, c.type, &v) : WM_OK;
    if (s == WM_EINVAL) return bad_value(r, &c, f);
    if (s == WM_OK) s = wmi_table_set(r->table, row, col, v);
    return s == WM_OK ? s : wmi_error_nomem(r->err);
}

/* "stddev=few-samples ci95_low=few-samples"; what names no null is stepped over. */
static wm_status set_reasons(reader *r, size_t row, const wmi_csv_field *f) {
    char *text = field_text(r, f), *rest = NULL;
    if (!text) return wmi_error_nomem(r->err);
    for (char *item = strtok_r(text, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(item, '=');
        if (!equals) continue;
        *equals = '\0';
        wmi_csv_unescape(item);
        size_t col = wm_table_find(r->table, item);
        if (col == SIZE_MAX || wmi_table_cell(r->table, row, col).type != WM_NULL) continue;
        wmi_table_set(r->table, row, col, wmi_null(wmi_reason_from_slug(equals + 1, strlen(equals + 1))));
    }
    return WM_OK;
}

static wm_status read_rows(reader *r) {
    wm_status s = WM_OK;
    for (bool got = true; s == WM_OK;) {
        size_t row;
        s = next_row(r, &got);
        if (s != WM_OK || !got) break;
        if (r->count == 0) return fail(r, "there are rows, but no columns");
        if (wmi_table_add_row(r->table, &row) != WM_OK) return wmi_error_nomem(r->err);
        for (size_t i = 0; s == WM_OK && i < r->count; i++) s = set_cell(r, row, i);
        if (s == WM_OK && r->nulls_at != SIZE_MAX && r->scan.fields[r->nulls_at].n)
            s = set_reasons(r, row, &r->scan.fields[r->nulls_at]);
    }
    if (s == WM_OK && r->dropped &&
        wmi_table_set_context(r->table, "warning_cut",
                              wmi_str("the last line of the file was cut short and is left out")) != WM_OK)
        s = wmi_error_nomem(r->err);
    return s;
}

/* ---- all of it ---- */

wm_status wmi_csv_parse(const char *path, const char *text, size_t n, const char *companion,
                        size_t companion_n, wm_table **out, wm_error *err) {
    reader r = {.path = path, .nulls_at = SIZE_MAX, .err = err};
    wm_status s = WM_OK;
    if (memchr(text, '\0', n))
        s = wmi_error_set(err, WM_EPARSE, 0, "%s holds a NUL byte: it is no text", path);
    wmi_csv_scan_init(&r.scan, text, n);
    if (s == WM_OK) s = read_header(&r);
    if (s == WM_OK) s = make_table(&r, companion, companion_n);
    if (s == WM_OK) s = read_rows(&r);
    for (size_t i = 0; i < r.count; i++) free(r.columns[i].name);
    free(r.columns);
    wmi_csv_scan_fini(&r.scan);
    wmi_buf_free(&r.text);
    if (s == WM_OK)
        *out = r.table;
    else
        wm_table_destroy(r.table);
    return s;
}
