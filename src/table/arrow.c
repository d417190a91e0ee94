/* The batch is made at once, so that a stream needs neither the table nor memory later, and a consumer
 * gets it by a move. Schemas may be asked for several times, and are made each time.
 *
 * A consumer may move any child out of a schema or a batch, and release it in any order and in any
 * thread. So each structure owns what it points to, and shares nothing. */
#include "table/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- schemas ---- */

/* What a schema is made from. Of a stream's fields, number 0 is the whole row; a column each follows. */
typedef struct field {
    const char *format;
    int64_t flags;
    wmi_buf name, metadata;
} field;

static void schema_release(struct ArrowSchema *s) {
    if (!s->release) return;
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release) s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    free(s->children);
    free(s->private_data);
    s->release = NULL;
}

/* The metadata come before the name, because they begin with an integer. */
static bool schema_init(struct ArrowSchema *s, const field *f) {
    char *texts = malloc(f->metadata.len + f->name.len + 1);
    if (!texts) return false;
    char *name = texts + f->metadata.len;
    memcpy(texts, f->metadata.data, f->metadata.len);
    memcpy(name, f->name.data, f->name.len + 1);
    *s = (struct ArrowSchema){.format = f->format,
                              .name = name,
                              .metadata = texts,
                              .flags = f->flags,
                              .release = schema_release,
                              .private_data = texts};
    return true;
}

static bool schema_add_children(struct ArrowSchema *s, const field *fields, size_t count) {
    s->children = calloc(count + 1, sizeof *s->children);
    if (!s->children) return false;
    for (size_t i = 0; i < count; i++) {
        struct ArrowSchema *child = malloc(sizeof *child);
        if (!child || !schema_init(child, &fields[i])) {
            free(child);
            return false;
        }
        s->children[s->n_children++] = child;
    }
    return true;
}

/* ---- metadata ---- */

/* Lengths are int32 in the machine's own order. A text beyond that is one for which there is no room. */
static void add_length(wmi_buf *b, size_t n) {
    const int32_t length = (int32_t)n;
    if (n > INT32_MAX) b->failed = true;
    wmi_buf_add(b, (const char *)&length, sizeof length);
}

static void add_pair(wmi_buf *b, const char *key, const wmi_buf *value) {
    add_length(b, strlen(key));
    wmi_buf_str(b, key);
    add_length(b, value->len);
    wmi_buf_add(b, value->data, value->len);
    if (value->failed) b->failed = true;
}

static void put_context(wmi_buf *b, const wm_table *t) {
    wmi_buf_char(b, '{');
    for (size_t i = 0; i < wm_table_context_count(t); i++) {
        const char *key;
        wm_value v;
        wm_table_context(t, i, &key, &v);
        if (i) wmi_buf_str(b, ", ");
        wmi_json_string(b, key);
        wmi_buf_str(b, ": ");
        wmi_json_value(b, v);
    }
    wmi_buf_char(b, '}');
}

static bool describe_row(field *f, const wm_table *t) {
    wmi_buf kind = WMI_BUF_INIT, context = WMI_BUF_INIT;
    wmi_utf8_replace(&kind, wm_table_kind(t));
    put_context(&context, t);
    f->format = "+s";
    wmi_buf_str(&f->name, "");
    add_length(&f->metadata, 2);
    add_pair(&f->metadata, "kind", &kind);
    add_pair(&f->metadata, "context", &context);
    wmi_buf_free(&kind);
    wmi_buf_free(&context);
    return !f->name.failed && !f->metadata.failed;
}

static bool describe_column(field *f, const wm_column *c, bool large) {
    static const char *const formats[] = {[WM_I64] = "l", [WM_F64] = "g", [WM_STR] = "u", [WM_BOOL] = "b"};
    wmi_buf unit = WMI_BUF_INIT;
    wmi_utf8_replace(&unit, c->unit);
    wmi_utf8_replace(&f->name, c->name);
    f->format = large ? "U" : formats[c->type];
    f->flags = ARROW_FLAG_NULLABLE;
    add_length(&f->metadata, 1);
    add_pair(&f->metadata, "unit", &unit);
    wmi_buf_free(&unit);
    return !f->name.failed && !f->metadata.failed;
}

/* ---- arrays ---- */

static void array_release(struct ArrowArray *a) {
    if (!a->release) return;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release) a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    for (int64_t i = 0; i < a->n_buffers; i++) free((void *)a->buffers[i]);
    free(a->children);
    free(a->buffers);
    a->release = NULL;
}

static bool array_init(struct ArrowArray *a, size_t length, size_t buffers) {
    const void **list = calloc(buffers, sizeof *list);
    if (!list) return false;
    *a = (struct ArrowArray){
        .length = (int64_t)length, .n_buffers = (int64_t)buffers, .buffers = list, .release = array_release};
    return true;
}

/* The next buffer of an array: zeros, aligned and padded as the format recommends. */
static void *add_buffer(struct ArrowArray *a, size_t number, size_t bytes) {
    enum { ALIGNMENT = 64 };
    if (bytes > SIZE_MAX - ALIGNMENT) return NULL;
    const size_t size = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    void *buffer = aligned_alloc(ALIGNMENT, size);
    if (buffer) memset(buffer, 0, size);
    a->buffers[number] = buffer;
    return buffer;
}

static void *add_bits(struct ArrowArray *a, size_t number, size_t rows) {
    return add_buffer(a, number, (rows + 7) / 8);
}

static void set_bit(uint8_t *bits, size_t i) { bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8); }

/* A validity bitmap that turned out to hold no null is not kept. */
static void count_nulls(struct ArrowArray *a, size_t values) {
    a->null_count = a->length - (int64_t)values;
    if (a->null_count) return;
    free((void *)a->buffers[0]);
    a->buffers[0] = NULL;
}

static bool fill_plain(struct ArrowArray *a, const wm_table *t, size_t column, wm_type type) {
    const size_t rows = wm_table_rows(t);
    uint8_t *valid = add_bits(a, 0, rows);
    void *to = type == WM_BOOL ? add_bits(a, 1, rows) : add_buffer(a, 1, rows * sizeof(int64_t));
    size_t values = 0;
    if (!valid || !to) return false;
    for (size_t row = 0; row < rows; row++) {
        const wm_value v = wmi_table_cell(t, row, column);
        switch (v.type) {
        case WM_I64: ((int64_t *)to)[row] = v.as.i64; break;
        case WM_F64: ((double *)to)[row] = v.as.f64; break;
        case WM_BOOL:
            if (v.as.b) set_bit(to, row);
            break;
        case WM_STR:
        case WM_NULL: continue;
        }
        set_bit(valid, row);
        values++;
    }
    count_nulls(a, values);
    return true;
}

/* Reads the texts of a column. Rows that follow each other often have the same, which the table keeps
 * once: it is made valid once, too. */
typedef struct reader {
    const wm_table *table;
    size_t column;
    const char *last; /* `text` is made from it */
    wmi_buf text;
} reader;

static bool reader_get(reader *r, size_t row) {
    const wm_value v = wmi_table_cell(r->table, row, r->column);
    if (v.type == WM_NULL) return false;
    if (v.as.str != r->last) {
        r->text.len = 0;
        wmi_utf8_replace(&r->text, v.as.str);
        r->last = v.as.str;
    }
    return true;
}

static size_t text_bytes(reader *r) {
    const size_t rows = wm_table_rows(r->table);
    size_t bytes = 0;
    for (size_t row = 0; row < rows; row++)
        if (reader_get(r, row)) bytes += r->text.len;
    return bytes;
}

static bool fill_text(struct ArrowArray *a, reader *r, size_t bytes, bool large) {
    const size_t rows = wm_table_rows(r->table);
    uint8_t *valid = add_bits(a, 0, rows);
    void *offsets = add_buffer(a, 1, (rows + 1) * (large ? sizeof(int64_t) : sizeof(int32_t)));
    char *to = add_buffer(a, 2, bytes);
    size_t values = 0, at = 0;
    if (!valid || !offsets || !to) return false;
    for (size_t row = 0; row < rows; row++) {
        if (reader_get(r, row)) {
            memcpy(to + at, r->text.data, r->text.len);
            at += r->text.len;
            set_bit(valid, row);
            values++;
        }
        if (large)
            ((int64_t *)offsets)[row + 1] = (int64_t)at;
        else
            ((int32_t *)offsets)[row + 1] = (int32_t)at;
    }
    count_nulls(a, values);
    return true;
}

static bool add_text(struct ArrowArray *a, const wm_table *t, size_t column, size_t text_max, bool *large) {
    reader r = {t, column, NULL, WMI_BUF_INIT};
    const size_t bytes = text_bytes(&r);
    *large = bytes > text_max;
    const bool good = !r.text.failed && fill_text(a, &r, bytes, *large);
    wmi_buf_free(&r.text);
    return good;
}

static bool convert_column(struct ArrowArray *a, field *f, const wm_table *t, size_t column,
                           size_t text_max) {
    bool large = false;
    wm_column c = {0};
    wm_table_column(t, column, &c);
    if (!array_init(a, wm_table_rows(t), c.type == WM_STR ? 3 : 2)) return false;
    const bool filled =
        c.type == WM_STR ? add_text(a, t, column, text_max, &large) : fill_plain(a, t, column, c.type);
    return filled && describe_column(f, &c, large);
}

/* ---- the stream ---- */

typedef struct stream {
    struct ArrowArray batch; /* released once it was handed out */
    field *fields;
    size_t columns;
    const char *error; /* NULL: the last call went well */
} stream;

static void stream_free(stream *s) {
    array_release(&s->batch);
    for (size_t i = 0; s->fields && i <= s->columns; i++) {
        wmi_buf_free(&s->fields[i].name);
        wmi_buf_free(&s->fields[i].metadata);
    }
    free(s->fields);
    free(s);
}

static bool convert_table(stream *s, const wm_table *t, size_t text_max) {
    s->columns = wm_table_columns(t);
    s->fields = calloc(s->columns + 1, sizeof *s->fields);
    if (!s->fields || !array_init(&s->batch, wm_table_rows(t), 1)) return false;
    s->batch.children = calloc(s->columns + 1, sizeof *s->batch.children);
    if (!s->batch.children || !describe_row(&s->fields[0], t)) return false;
    for (size_t i = 0; i < s->columns; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);
        if (!child) return false;
        s->batch.children[s->batch.n_children++] = child;
        if (!convert_column(child, &s->fields[i + 1], t, i, text_max)) return false;
    }
    return true;
}

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
    stream *s = self->private_data;
    struct ArrowSchema schema = {0};
    s->error = NULL;
    if (schema_init(&schema, &s->fields[0]) && schema_add_children(&schema, s->fields + 1, s->columns)) {
        *out = schema;
        return 0;
    }
    schema_release(&schema);
    s->error = wm_status_text(WM_ENOMEM);
    return ENOMEM;
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
    stream *s = self->private_data;
    s->error = NULL;
    *out = s->batch;
    s->batch = (struct ArrowArray){0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *self) {
    return ((const stream *)self->private_data)->error;
}

static void stream_release(struct ArrowArrayStream *self) {
    if (!self->release) return;
    stream_free(self->private_data);
    self->release = NULL;
}

wm_status wmi_table_arrow(const wm_table *t, size_t text_max, struct ArrowArrayStream *out, wm_error *err) {
    stream *s = calloc(1, sizeof *s);
    if (!s) return wmi_error_nomem(err);
    if (!convert_table(s, t, text_max)) {
        stream_free(s);
        return wmi_error_nomem(err);
    }
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, stream_release, s};
    return WM_OK;
}

wm_status wm_table_arrow(const wm_table *t, struct ArrowArrayStream *out, wm_error *err) {
    return wmi_table_arrow(t, INT32_MAX, out, err);
}
