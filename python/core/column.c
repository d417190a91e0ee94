/* Column: the cells of one column of a table, read from it once. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct column {
    PyObject_HEAD PyObject *name, *unit;
    wm_type type;
    Py_ssize_t rows, nulls;
    PyObject *cells; /* bytes: int64_t, double, bool, or of texts int32_t numbers, -1 for a null */
    PyObject *valid; /* bytes: bool for each row; NULL where all are valid */
    PyObject *texts; /* tuple: by number; NULL for other types */
} column;

/* ---- values ---- */

PyObject *core_text(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *core_value(const wm_value *value) {
    switch (value->type) {
    case WM_I64: return PyLong_FromLongLong(value->as.i64);
    case WM_F64: return PyFloat_FromDouble(value->as.f64);
    case WM_STR: return core_text(value->as.str);
    case WM_BOOL: return PyBool_FromLong(value->as.b);
    case WM_NULL: break;
    }
    Py_RETURN_NONE;
}

/* ---- texts, numbered ---- */

/* A table keeps equal texts once, so they are told apart by where they lie. */
typedef struct numbering {
    const char **texts; /* by number */
    int32_t count;
    struct slot {
        const char *text;
        int32_t number;
    } * slots; /* a hash table, at most half full */
    size_t slot_count;
} numbering;

static struct slot *slot_of(const numbering *n, const char *text) {
    size_t at = (size_t)(((uintptr_t)text * 0x9e3779b97f4a7c15u) >> 32) & (n->slot_count - 1);
    while (n->slots[at].text && n->slots[at].text != text) at = (at + 1) & (n->slot_count - 1);
    return &n->slots[at];
}

static bool numbering_grow(numbering *n) {
    const numbering old = *n;
    const size_t slot_count = old.slot_count ? old.slot_count * 2 : 64;
    const char **texts = realloc(n->texts, slot_count / 2 * sizeof *texts);
    if (texts) n->texts = texts;
    struct slot *slots = texts ? calloc(slot_count, sizeof *slots) : NULL;
    if (!slots) return false;
    n->slots = slots;
    n->slot_count = slot_count;
    for (size_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].text) *slot_of(n, old.slots[i].text) = old.slots[i];
    free(old.slots);
    return true;
}

/* The number of a text; -1 when memory ran out. */
static int32_t number_of(numbering *n, const char *text) {
    if ((size_t)n->count * 2 >= n->slot_count && !numbering_grow(n)) return -1;
    struct slot *slot = slot_of(n, text);
    if (!slot->text) {
        *slot = (struct slot){text, n->count};
        n->texts[n->count++] = text;
    }
    return slot->number;
}

static void numbering_free(numbering *n) {
    free((void *)n->texts);
    free(n->slots);
}

static PyObject *numbering_tuple(const numbering *n) {
    PyObject *tuple = PyTuple_New(n->count);
    for (int32_t i = 0; tuple && i < n->count; i++) {
        PyObject *text = core_text(n->texts[i]);
        if (!text || PyTuple_SetItem(tuple, i, text) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- reading a column ---- */

static size_t cell_size(wm_type type) {
    switch (type) {
    case WM_I64: return sizeof(int64_t);
    case WM_F64: return sizeof(double);
    case WM_STR: return sizeof(int32_t);
    case WM_BOOL: return sizeof(bool);
    case WM_NULL: break;
    }
    return 1;
}

/* The interpreter lock is not held. Returns the number of nulls; -1 when memory ran out. */
static Py_ssize_t cells_read(const wm_table *table, size_t number, wm_type type, char *cells, char *valid,
                             numbering *texts) {
    const size_t rows = wm_table_rows(table);
    Py_ssize_t nulls = 0;
    const char *last = NULL;
    int32_t last_number = -1;
    for (size_t row = 0; row < rows; row++) {
        wm_value v = {.type = WM_NULL};
        wm_table_get(table, row, number, &v);
        valid[row] = v.type != WM_NULL;
        nulls += v.type == WM_NULL;
        switch (type) {
        case WM_I64: ((int64_t *)(void *)cells)[row] = valid[row] ? v.as.i64 : 0; break;
        case WM_F64: ((double *)(void *)cells)[row] = valid[row] ? v.as.f64 : 0; break;
        case WM_BOOL: ((bool *)cells)[row] = valid[row] && v.as.b; break;
        case WM_STR: {
            if (valid[row] && v.as.str != last) { /* most cells repeat the one above */
                if ((last_number = number_of(texts, v.as.str)) < 0) return -1;
                last = v.as.str;
            }
            ((int32_t *)(void *)cells)[row] = valid[row] ? last_number : -1;
            break;
        }
        case WM_NULL: break;
        }
    }
    return nulls;
}

static int column_fill(column *c, const wm_table *table, size_t number) {
    c->cells = PyBytes_FromStringAndSize(NULL, c->rows * (Py_ssize_t)cell_size(c->type));
    c->valid = PyBytes_FromStringAndSize(NULL, c->rows);
    if (!c->cells || !c->valid) return -1;
    char *cells = PyBytes_AsString(c->cells), *valid = PyBytes_AsString(c->valid);
    numbering texts = {0};
    Py_BEGIN_ALLOW_THREADS;
    c->nulls = cells_read(table, number, c->type, cells, valid, &texts);
    Py_END_ALLOW_THREADS;
    if (c->nulls < 0)
        PyErr_NoMemory();
    else if (c->type == WM_STR)
        c->texts = numbering_tuple(&texts);
    numbering_free(&texts);
    if (c->nulls == 0) Py_CLEAR(c->valid);
    return c->nulls < 0 || (c->type == WM_STR && !c->texts) ? -1 : 0;
}

PyObject *core_column_new(core_state *state, const wm_table *table, size_t number) {
    wm_column about;
    const wm_status status = wm_table_column(table, number, &about);
    if (status != WM_OK) return core_raise(state, status, &(wm_error)WM_ERROR_INIT);
    column *c = PyObject_New(column, state->column);
    if (!c) return NULL;
    c->name = core_text(about.name);
    c->unit = core_text(about.unit);
    c->type = about.type;
    c->rows = (Py_ssize_t)wm_table_rows(table);
    c->nulls = 0;
    c->cells = c->valid = c->texts = NULL;
    if (c->name && c->unit && column_fill(c, table, number) == 0) return (PyObject *)c;
    Py_DECREF(c);
    return NULL;
}

/* ---- a sequence ---- */

static Py_ssize_t column_length(PyObject *self) { return ((column *)self)->rows; }

static PyObject *cell(const column *c, const char *cells, const char *valid, Py_ssize_t row) {
    if (valid && !valid[row]) Py_RETURN_NONE;
    switch (c->type) {
    case WM_I64: return PyLong_FromLongLong(((const int64_t *)(const void *)cells)[row]);
    case WM_F64: return PyFloat_FromDouble(((const double *)(const void *)cells)[row]);
    case WM_BOOL: return PyBool_FromLong(((const bool *)cells)[row]);
    case WM_STR: return Py_XNewRef(PyTuple_GetItem(c->texts, ((const int32_t *)(const void *)cells)[row]));
    case WM_NULL: break;
    }
    Py_RETURN_NONE;
}

static const char *valid_of(const column *c) { return c->valid ? PyBytes_AsString(c->valid) : NULL; }

static PyObject *column_item(PyObject *self, Py_ssize_t row) {
    const column *c = (column *)self;
    if (row >= 0 && row < c->rows) return cell(c, PyBytes_AsString(c->cells), valid_of(c), row);
    PyErr_Format(PyExc_IndexError, "there is no such row: column '%U' has %zd", c->name, c->rows);
    return NULL;
}

static PyObject *column_to_list(PyObject *self, PyObject *unused) {
    (void)unused;
    const column *c = (column *)self;
    const char *cells = PyBytes_AsString(c->cells), *valid = valid_of(c);
    PyObject *list = PyList_New(c->rows);
    for (Py_ssize_t row = 0; list && row < c->rows; row++) {
        PyObject *value = cell(c, cells, valid, row);
        if (!value || PyList_SetItem(list, row, value) < 0) Py_CLEAR(list);
    }
    return list;
}

/* ---- a buffer ---- */

static char *format_of(wm_type type) {
    static char i64[] = "q", f64[] = "d", b[] = "?";
    return type == WM_I64 ? i64 : type == WM_F64 ? f64 : b;
}

static int column_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    column *c = (column *)self;
    if (c->type == WM_STR || flags & PyBUF_WRITABLE) {
        view->obj = NULL;
        PyErr_Format(PyExc_BufferError,
                     c->type == WM_STR ? "column '%U' holds texts: use to_list(), or codes and texts"
                                       : "column '%U' can only be read",
                     c->name);
        return -1;
    }
    if (PyBuffer_FillInfo(view, self, PyBytes_AsString(c->cells), c->rows * (Py_ssize_t)cell_size(c->type), 1,
                          flags) < 0)
        return -1;
    view->itemsize = (Py_ssize_t)cell_size(c->type);
    if (flags & PyBUF_FORMAT) view->format = format_of(c->type);
    if (flags & PyBUF_ND) view->shape = &c->rows;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = &view->itemsize;
    return 0;
}

/* A view of `bytes` as items of a format; None where there are no bytes. */
static PyObject *view_as(PyObject *bytes, const char *format) {
    if (!bytes) Py_RETURN_NONE;
    PyObject *plain = PyMemoryView_FromObject(bytes);
    PyObject *cast = plain ? PyObject_CallMethod(plain, "cast", "s", format) : NULL;
    Py_XDECREF(plain);
    return cast;
}

/* ---- attributes ---- */

static PyObject *get_type(PyObject *self, void *unused) {
    static const char *const names[] = {"null", "i64", "f64", "str", "bool"};
    (void)unused;
    return PyUnicode_FromString(names[((column *)self)->type]);
}

static PyObject *get_valid(PyObject *self, void *unused) {
    (void)unused;
    return view_as(((column *)self)->valid, "?");
}

static PyObject *get_codes(PyObject *self, void *unused) {
    (void)unused;
    const column *c = (column *)self;
    return view_as(c->type == WM_STR ? c->cells : NULL, "i");
}

static PyObject *get_texts(PyObject *self, void *unused) {
    (void)unused;
    PyObject *texts = ((column *)self)->texts;
    return Py_NewRef(texts ? texts : Py_None);
}

static void column_dealloc(PyObject *self) {
    column *c = (column *)self;
    Py_CLEAR(c->name);
    Py_CLEAR(c->unit);
    Py_CLEAR(c->cells);
    Py_CLEAR(c->valid);
    Py_CLEAR(c->texts);
    core_free(self);
}

static PyGetSetDef attributes[] = {
    {"type", get_type, NULL, "\"i64\", \"f64\", \"str\" or \"bool\".", NULL},
    {"valid", get_valid, NULL, "For each row whether it has a value; None: all have.", NULL},
    {"codes", get_codes, NULL, "Of texts: for each row its number in `texts`, -1 for a null.", NULL},
    {"texts", get_texts, NULL, "The texts that there are, each once, in the order of their coming.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef members[] = {
    {"name", T_OBJECT_EX, offsetof(column, name), READONLY, "Name."},
    {"unit", T_OBJECT_EX, offsetof(column, unit), READONLY, "Unit; \"row\" where the column `unit` has it."},
    {"null_count", T_PYSSIZET, offsetof(column, nulls), READONLY, "Rows without a value."},
    {NULL, 0, 0, 0, NULL}};

static PyMethodDef methods[] = {
    {"to_list", column_to_list, METH_NOARGS, "to_list($self)\n--\n\nAll cells; None for nulls."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "One column of a table. Numbers and bools are a buffer, too."},
                              {Py_tp_dealloc, CORE_SLOT(column_dealloc)},
                              {Py_tp_iter, CORE_SLOT(PySeqIter_New)},
                              {Py_sq_length, CORE_SLOT(column_length)},
                              {Py_sq_item, CORE_SLOT(column_item)},
                              {Py_bf_getbuffer, CORE_SLOT(column_getbuffer)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec core_column_spec = {
    "warpmeter._core.Column", sizeof(column), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
