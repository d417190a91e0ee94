/* Reading JSON. jansson reads every value; the outermost object and the array of
 * rows are walked here, so that only one row at a time is a tree of values. A file
 * of a million rows would otherwise take twenty times its size. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sink/json.h"

typedef struct reader {
    const char *path, *text;
    size_t n, at;
    json_t *head;   /* the members of the outermost object, but for the rows */
    size_t rows_at; /* where the array begins; SIZE_MAX: there is none */
    bool reals;     /* a whole number was too large for 64 bits: those beside it came as doubles */
    wm_table *table;
    json_t *keys; /* the names of the columns as they are in the file */
    wm_error *err;
} reader;

/* ---- failing ---- */

static size_t line_at(const reader *r, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at && i < r->n; i++) line += r->text[i] == '\n';
    return line;
}

static wm_status fail_at(reader *r, size_t at, const char *what) {
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s: line %zu: %s", r->path, line_at(r, at), what);
}

static wm_status fail(reader *r, const char *what) { return fail_at(r, r->at, what); }

/* ---- walking the text ---- */

static void skip_blank(reader *r) {
    while (r->at < r->n && memchr(" \t\r\n", r->text[r->at], 4)) r->at++;
}

static bool take(reader *r, char c) {
    skip_blank(r);
    if (r->at >= r->n || r->text[r->at] != c) return false;
    r->at++;
    return true;
}

/* The next value of any type; the caller releases *out. */
static wm_status take_value(reader *r, json_t **out) {
    json_error_t e;
    skip_blank(r);
    const size_t flags = JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES;
    json_t *v = json_loadb(r->text + r->at, r->n - r->at, flags, &e);
    /* A double may be written as a whole number that is none of 64 bits; see convert. */
    if (!v && json_error_code(&e) == json_error_numeric_overflow) {
        r->reals = true;
        v = json_loadb(r->text + r->at, r->n - r->at, flags | JSON_DECODE_INT_AS_REAL, &e);
    }
    if (!v) {
        if (json_error_code(&e) == json_error_out_of_memory || !e.text[0]) return wmi_error_nomem(r->err);
        return fail_at(r, r->at + (e.position > 0 ? (size_t)e.position : 0), e.text);
    }
    r->at += (size_t)e.position;
    *out = v;
    return WM_OK;
}

static void skip_string(reader *r) {
    for (r->at++; r->at < r->n && r->text[r->at] != '"'; r->at++) r->at += r->text[r->at] == '\\';
}

/* Step over a value without looking into it: the rows, which are read later, when
 * the columns are known wherever they stand in the file. */
static void skip_value(reader *r) {
    size_t depth = 0;
    for (; r->at < r->n; r->at++) {
        char c = r->text[r->at];
        bool opens = c == '[' || c == '{', closes = c == ']' || c == '}';
        if (depth == 0 && (closes || c == ',')) return;
        if (c == '"') skip_string(r);
        depth += opens;
        depth -= closes;
        if (closes && depth == 0) {
            r->at++;
            return;
        }
    }
}

static wm_status take_member(reader *r) {
    json_t *key = NULL, *value = NULL;
    wm_status s = take_value(r, &key);
    if (s != WM_OK) return s;
    const char *name = json_string_value(key);
    if (!name)
        s = fail(r, "a member's name in quotes is wanted");
    else if (!take(r, ':'))
        s = fail(r, "':' is wanted");
    else if (json_object_get(r->head, name) || (strcmp(name, "rows") == 0 && r->rows_at != SIZE_MAX))
        s = fail(r, "a member that was there before");
    else if (strcmp(name, "rows") == 0) {
        skip_blank(r);
        r->rows_at = r->at;
        skip_value(r);
    } else if ((s = take_value(r, &value)) == WM_OK) {
        if (json_object_set(r->head, name, value) != 0) s = wmi_error_nomem(r->err);
    }
    json_decref(value);
    json_decref(key);
    return s;
}

static wm_status take_head(reader *r) {
    if (r->n >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0) r->at = 3; /* a byte order mark */
    if (!take(r, '{')) return fail(r, "this is no JSON object");
    for (wm_status s; !take(r, '}');) {
        if (json_object_size(r->head) + (r->rows_at != SIZE_MAX) > 0 && !take(r, ','))
            return fail(r, "',' or '}' is wanted");
        if ((s = take_member(r)) != WM_OK) return s;
    }
    skip_blank(r);
    return r->at == r->n ? WM_OK : fail(r, "something follows the end of the object");
}

/* ---- what the file is ---- */

static wm_status check_schema(reader *r, const char *schema) {
    const char *found = json_string_value(json_object_get(r->head, "schema"));
    const json_t *version = json_object_get(r->head, "version");
    if (!found || strcmp(found, schema) != 0) {
        if (found && strcmp(found, WMI_JSON_CONTEXT) == 0)
            return wmi_error_set(r->err, WM_EPARSE, 0, "%s goes with a CSV file: read that file instead",
                                 r->path);
        return wmi_error_set(r->err, WM_EPARSE, 0,
                             "%s is no file of warpmeter: its member \"schema\" is not \"%s\"", r->path,
                             schema);
    }
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: the member \"version\" takes a whole number from 1",
                             r->path);
    if (json_integer_value(version) > WMI_JSON_VERSION)
        return wmi_error_set(r->err, WM_EUNSUPPORTED, 0,
                             "%s is of version %lld of the format; this library reads up to version %d",
                             r->path, (long long)json_integer_value(version), (int)WMI_JSON_VERSION);
    return WM_OK;
}

static wm_status wrong(reader *r, const char *what, size_t number, const char *why) {
    return wmi_error_set(r->err, WM_EPARSE, 0, "%s: %s %zu: %s", r->path, what, number + 1, why);
}

/* A copy of a string with the bytes that the file has in disguise. */
static char *plain_text(const json_t *v) {
    char *s = wmi_strdup(json_string_value(v));
    if (s) wmi_json_unescape(s);
    return s;
}

static bool parse_type(const json_t *v, wm_type *out) {
    static const wm_type types[] = {WM_I64, WM_F64, WM_STR, WM_BOOL};
    const char *name = json_string_value(v);
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, wmi_json_type(types[i])) != 0) continue;
        *out = types[i];
        return true;
    }
    return false;
}

static wm_value null_of(const json_t *reason, wm_reason otherwise) {
    const char *slug = json_string_value(reason);
    return wmi_null(slug ? wmi_reason_from_slug(slug, strlen(slug)) : otherwise);
}

/* A whole number that a double holds as it was written. */
static bool is_exact(double x) { return fabs(x) < 0x1p53 && x == floor(x); }

/* A value of the wanted type. A string is copied to *text, which the caller frees.
 * WM_EINVAL where the type does not fit. */
static wm_status convert(const reader *r, const json_t *v, wm_type type, wm_value *out, char **text) {
    if (type == WM_I64 && json_is_integer(v))
        *out = wmi_i64(json_integer_value(v));
    else if (type == WM_I64 && r->reals && json_is_real(v) && is_exact(json_real_value(v)))
        *out = wmi_i64((int64_t)json_real_value(v));
    else if (type == WM_F64 && json_is_number(v))
        *out = wmi_f64(json_number_value(v));
    else if (type == WM_BOOL && json_is_boolean(v))
        *out = wmi_bool(json_is_true(v));
    else if (type == WM_STR && json_is_string(v)) {
        *text = plain_text(v);
        if (!*text) return WM_ENOMEM;
        *out = wmi_str(*text);
    } else
        return WM_EINVAL;
    return WM_OK;
}

static wm_status add_context(reader *r, size_t i, const json_t *entry) {
    const json_t *key = json_object_get(entry, "key"), *value = json_object_get(entry, "value");
    wm_value v = null_of(json_object_get(entry, "reason"), WM_REASON_UNKNOWN);
    wm_type type;
    wm_status s = WM_OK;
    char *text = NULL;
    if (!json_is_string(key)) return wrong(r, "context entry", i, "its \"key\" is no string");
    if (value && !json_is_null(value)) {
        if (!parse_type(json_object_get(entry, "type"), &type))
            return wrong(r, "context entry", i, "its \"type\" is none of int64, double, string and bool");
        s = convert(r, value, type, &v, &text);
        if (s == WM_EINVAL) return wrong(r, "context entry", i, "its \"value\" is not of its \"type\"");
    }
    char *name = s == WM_OK ? plain_text(key) : NULL;
    s = name ? wmi_table_set_context(r->table, name, v) : WM_ENOMEM;
    free(name);
    free(text);
    return s == WM_OK ? s : wmi_error_nomem(r->err);
}

static wm_status add_column(reader *r, size_t i, const json_t *column) {
    json_t *name = json_object_get(column, "name");
    const json_t *unit = json_object_get(column, "unit");
    wm_type type;
    if (!json_is_string(name)) return wrong(r, "column", i, "its \"name\" is no string");
    if (unit && !json_is_string(unit)) return wrong(r, "column", i, "its \"unit\" is no string");
    if (!parse_type(json_object_get(column, "type"), &type))
        return wrong(r, "column", i, "its \"type\" is none of int64, double, string and bool");
    char *plain = plain_text(name), *plain_unit = unit ? plain_text(unit) : wmi_strdup("");
    wm_status s = WM_ENOMEM;
    if (plain && plain_unit) {
        if (wm_table_find(r->table, plain) != SIZE_MAX)
            s = wrong(r, "column", i, "its name was there before");
        else if (strcmp(plain, "nulls") == 0)
            s = wrong(r, "column", i, "the name \"nulls\" is kept for the reasons of nulls");
        else if (json_array_append(r->keys, name) == 0)
            s = wmi_table_add_column(r->table, plain, type, plain_unit, NULL);
    }
    free(plain);
    free(plain_unit);
    return s == WM_ENOMEM ? wmi_error_nomem(r->err) : s;
}

/* Call `add` for each element of the head's array of that name. */
static wm_status add_all(reader *r, const char *name, size_t most,
                         wm_status (*add)(reader *, size_t, const json_t *)) {
    const json_t *list = json_object_get(r->head, name);
    wm_status s = WM_OK;
    if (!json_is_array(list))
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: the member \"%s\" is no array", r->path, name);
    if (json_array_size(list) > most)
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: more than %zu %s", r->path, most, name);
    for (size_t i = 0; s == WM_OK && i < json_array_size(list); i++) s = add(r, i, json_array_get(list, i));
    return s;
}

static wm_status make_table(reader *r) {
    const json_t *kind = json_object_get(r->head, "kind");
    if (!json_is_string(kind) || !*json_string_value(kind))
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: the member \"kind\" does not say what the table is",
                             r->path);
    char *plain = plain_text(kind);
    r->table = plain ? wmi_table_create(plain) : NULL;
    free(plain);
    if (!r->table) return wmi_error_nomem(r->err);
    wm_status s = add_all(r, "context", SIZE_MAX, add_context);
    return s == WM_OK ? add_all(r, "columns", WMI_COLUMNS_MAX, add_column) : s;
}

/* ---- rows ---- */

static wm_status set_cell(reader *r, size_t row, size_t column, const json_t *v, const json_t *nulls) {
    const char *key = json_string_value(json_array_get(r->keys, column));
    wm_column c = {0};
    wm_value value = null_of(json_object_get(nulls, key), WM_REASON_NOT_APPLICABLE);
    wm_status s = WM_OK;
    char *text = NULL;
    wm_table_column(r->table, column, &c);
    if (v && !json_is_null(v)) s = convert(r, v, c.type, &value, &text);
    if (s == WM_EINVAL)
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: line %zu: column '%s' takes %s %s or null", r->path,
                             line_at(r, r->at), c.name, c.type == WM_I64 ? "an" : "a", wmi_json_type(c.type));
    if (s == WM_OK) s = wmi_table_set(r->table, row, column, value);
    free(text);
    return s == WM_OK ? s : wmi_error_nomem(r->err);
}

static wm_status take_row(reader *r) {
    json_t *row = NULL;
    size_t number;
    wm_status s = take_value(r, &row);
    if (s != WM_OK) return s;
    const json_t *nulls = json_object_get(row, "nulls");
    if (!json_is_object(row)) s = fail(r, "a row is no object");
    if (s == WM_OK && wmi_table_add_row(r->table, &number) != WM_OK) s = wmi_error_nomem(r->err);
    for (size_t i = 0; s == WM_OK && i < wm_table_columns(r->table); i++)
        s = set_cell(r, number, i, json_object_get(row, json_string_value(json_array_get(r->keys, i))),
                     nulls);
    json_decref(row);
    return s;
}

static wm_status take_rows(reader *r) {
    if (r->rows_at == SIZE_MAX)
        return wmi_error_set(r->err, WM_EPARSE, 0, "%s: there is no member \"rows\"", r->path);
    r->at = r->rows_at;
    if (!take(r, '[')) return fail(r, "the member \"rows\" is no array");
    if (take(r, ']')) return WM_OK;
    if (wm_table_columns(r->table) == 0) return fail(r, "there are rows, but no columns");
    for (;;) {
        wm_status s = take_row(r);
        if (s != WM_OK) return s;
        if (take(r, ']')) return WM_OK;
        if (!take(r, ',')) return fail(r, "',' or ']' is wanted");
    }
}

/* ---- all of it ---- */

wm_status wmi_json_parse(const char *path, const char *schema, const char *text, size_t n, wm_table **out,
                         wm_error *err) {
    reader r = {.path = path, .text = text, .n = n, .rows_at = SIZE_MAX, .err = err};
    r.head = json_object();
    r.keys = json_array();
    wm_status s = r.head && r.keys ? take_head(&r) : wmi_error_nomem(err);
    if (s == WM_OK) s = check_schema(&r, schema);
    if (s == WM_OK) s = make_table(&r);
    if (s == WM_OK && strcmp(schema, WMI_JSON_TABLE) == 0) s = take_rows(&r);
    json_decref(r.head);
    json_decref(r.keys);
    if (s == WM_OK)
        *out = r.table;
    else
        wm_table_destroy(r.table);
    return s;
}
