/* Writing JSON: one line for each context entry, column and row, so that files
 * can be compared and cut by line. */
#include "sink/json.h"

#include <stdlib.h>
#include <string.h>

#include "sink/sink.h"

const char *wmi_json_type(wm_type type) {
    switch (type) {
    case WM_I64: return "int64";
    case WM_F64: return "double";
    case WM_BOOL: return "bool";
    case WM_STR:
    case WM_NULL: break;
    }
    return "string";
}

static void put_context(wmi_buf *b, const char *key, wm_value v) {
    wmi_buf_str(b, "{\"key\": ");
    wmi_json_string(b, key);
    if (v.type == WM_NULL)
        wmi_buf_printf(b, ", \"value\": null, \"reason\": \"%s\"}", wm_reason_slug(v.reason));
    else {
        wmi_buf_printf(b, ", \"type\": \"%s\", \"value\": ", wmi_json_type(v.type));
        wmi_json_value(b, v);
        wmi_buf_char(b, '}');
    }
}

static void put_column(wmi_buf *b, const wm_column *c) {
    wmi_buf_str(b, "{\"name\": ");
    wmi_json_string(b, c->name);
    wmi_buf_printf(b, ", \"type\": \"%s\", \"unit\": ", wmi_json_type(c->type));
    wmi_json_string(b, c->unit);
    wmi_buf_char(b, '}');
}

void wmi_json_head(wmi_buf *b, const wm_table *t, const char *schema) {
    wmi_buf_printf(b, "{\n\"schema\": \"%s\",\n\"version\": %d,\n\"kind\": ", schema, WMI_JSON_VERSION);
    wmi_json_string(b, wm_table_kind(t));
    wmi_buf_str(b, ",\n\"context\": [");
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        wmi_buf_str(b, i ? ",\n  " : "\n  ");
        put_context(b, key, v);
    }
    wmi_buf_str(b, "\n],\n\"columns\": [");
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        wm_column c = {0};
        wm_table_column(t, i, &c);
        wmi_buf_str(b, i ? ",\n  " : "\n  ");
        put_column(b, &c);
    }
    wmi_buf_str(b, "\n]");
}

/* ---- rows ---- */

/* The names of the columns as JSON strings, which every row repeats. */
static char **column_keys(const wm_table *t) {
    size_t count = wm_table_columns(t);
    char **keys = calloc(count + 1, sizeof *keys);
    for (size_t i = 0; keys && i < count; i++) {
        wm_column c = {0};
        wmi_buf b = WMI_BUF_INIT;
        wm_table_column(t, i, &c);
        wmi_json_string(&b, c.name);
        keys[i] = wmi_buf_take(&b);
        if (!keys[i]) {
            while (i-- > 0) free(keys[i]);
            free(keys);
            return NULL;
        }
    }
    return keys;
}

/* The reasons of nulls, but for "not applicable", which goes without saying. */
static void put_nulls(wmi_buf *b, const wm_table *t, size_t row, char *const *keys) {
    size_t shown = 0;
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        wm_value v = wmi_table_cell(t, row, i);
        if (v.type != WM_NULL || v.reason == WM_REASON_NOT_APPLICABLE) continue;
        wmi_buf_printf(b, "%s%s: \"%s\"", shown++ ? ", " : ", \"nulls\": {", keys[i],
                       wm_reason_slug(v.reason));
    }
    if (shown) wmi_buf_char(b, '}');
}

static void put_row(wmi_buf *b, const wm_table *t, size_t row, char *const *keys) {
    wmi_buf_char(b, '{');
    for (size_t i = 0; i < wm_table_columns(t); i++) {
        if (i) wmi_buf_str(b, ", ");
        wmi_buf_str(b, keys[i]);
        wmi_buf_str(b, ": ");
        wmi_json_value(b, wmi_table_cell(t, row, i));
    }
    put_nulls(b, t, row, keys);
    wmi_buf_char(b, '}');
}

static wm_status write_json(const wm_table *t, const wm_write_opts *opts, wmi_buf *out, wm_error *err) {
    (void)opts;
    char **keys = column_keys(t);
    if (!keys) return wmi_error_nomem(err);
    wmi_json_head(out, t, WMI_JSON_TABLE);
    wmi_buf_str(out, ",\n\"rows\": [");
    for (size_t row = 0; row < wm_table_rows(t); row++) {
        wmi_buf_str(out, row ? ",\n  " : "\n  ");
        put_row(out, t, row, keys);
    }
    wmi_buf_str(out, "\n]\n}\n");
    for (size_t i = 0; i < wm_table_columns(t); i++) free(keys[i]);
    free(keys);
    return out->failed ? wmi_error_nomem(err) : WM_OK;
}

static wm_status read_json(const char *path, const char *text, size_t n, wm_table **out, wm_error *err) {
    return wmi_json_parse(path, WMI_JSON_TABLE, text, n, out, err);
}

const wmi_sink wmi_sink_json = {
    .name = "json",
    .suffixes = ".json",
    .text = "every column, the context and the reasons; read back in full",
    .write = write_json,
    .read = read_json,
};
