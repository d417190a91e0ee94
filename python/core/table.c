/* RawTable: a table of the core. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the Arrow C stream interface lays it down (arrow.apache.org/docs/format/CStreamInterface.html). */
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
static const char capsule_name[] = "arrow_array_stream";

typedef struct table {
    PyObject_HEAD wm_table *table;
    PyObject *columns; /* list: each Column that was asked for, or None */
} table;

static const wm_table *table_of(PyObject *self) { return ((table *)self)->table; }

PyObject *core_table_new(core_state *state, wm_table *made) {
    const Py_ssize_t count = (Py_ssize_t)wm_table_columns(made);
    table *t = PyObject_New(table, state->table);
    if (!t) {
        wm_table_destroy(made);
        return NULL;
    }
    t->table = made;
    t->columns = PyList_New(count);
    for (Py_ssize_t i = 0; t->columns && i < count; i++)
        if (PyList_SetItem(t->columns, i, Py_NewRef(Py_None)) < 0) Py_CLEAR(t->columns);
    if (t->columns) return (PyObject *)t;
    Py_DECREF(t);
    return NULL;
}

static void table_dealloc(PyObject *self) {
    table *t = (table *)self;
    Py_CLEAR(t->columns);
    Py_BEGIN_ALLOW_THREADS;
    wm_table_destroy(t->table);
    Py_END_ALLOW_THREADS;
    core_free(self);
}

/* ---- files and texts ---- */

static PyObject *table_read(PyObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"path", "format", NULL};
    PyObject *path;
    const char *format = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|z:read", names, PyUnicode_FSConverter, &path,
                                     &format))
        return NULL;
    core_state *state = PyType_GetModuleState((PyTypeObject *)type);
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_table_read(PyBytes_AsString(path), format, &made, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return status == WM_OK ? core_table_new(state, made) : core_raise_file(state, status, &err);
}

static PyObject *table_write(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"path", "format", NULL};
    PyObject *path;
    const char *format = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|z:write", names, PyUnicode_FSConverter, &path,
                                     &format))
        return NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_table_write(table_of(self), PyBytes_AsString(path), format, NULL, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (status != WM_OK) return core_raise_file(core_state_of(self), status, &err);
    Py_RETURN_NONE;
}

/* The interpreter lock is not held. *text: allocated. */
static wm_status print(const wm_table *t, const char *format, const wm_write_opts *opts, char **text,
                       size_t *length, wm_error *err) {
    FILE *stream = open_memstream(text, length);
    if (!stream) return WM_ENOMEM;
    const wm_status status = wm_table_print(t, stream, format, opts, err);
    return fclose(stream) == 0 || status != WM_OK ? status : WM_ENOMEM;
}

static PyObject *table_text(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"format", "width", "unicode", "color", NULL};
    const char *format = "text";
    int width = 0, unicode = 1, color = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|sipp:text", names, &format, &width, &unicode, &color))
        return NULL;
    wm_write_opts opts = WM_WRITE_OPTS_INIT;
    opts.width = width;
    opts.unicode = unicode;
    opts.color = color;
    char *text = NULL;
    size_t length = 0;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = print(table_of(self), format, &opts, &text, &length, &err);
    Py_END_ALLOW_THREADS;
    PyObject *result = status == WM_OK ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace")
                                       : core_raise(core_state_of(self), status, &err);
    free(text);
    return result;
}

/* ---- columns and cells ---- */

/* The number of a column by name or number; -1 with an exception. */
static Py_ssize_t column_number(const wm_table *t, PyObject *key) {
    const Py_ssize_t count = (Py_ssize_t)wm_table_columns(t);
    if (PyUnicode_Check(key)) {
        PyObject *bytes = PyUnicode_AsUTF8String(key);
        if (!bytes) return -1;
        const char *name = PyBytes_AsString(bytes);
        const bool whole = strlen(name) == (size_t)PyBytes_Size(bytes); /* no column has a NUL in its name */
        const size_t found = whole ? wm_table_find(t, name) : SIZE_MAX;
        Py_DECREF(bytes);
        if (found != SIZE_MAX) return (Py_ssize_t)found;
        PyErr_SetObject(PyExc_KeyError, key);
        return -1;
    }
    const Py_ssize_t given = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (given == -1 && PyErr_Occurred()) return -1;
    const Py_ssize_t number = given < 0 ? given + count : given;
    if (number >= 0 && number < count) return number;
    PyErr_Format(PyExc_IndexError, "there is no column %zd: the table has %zd", given, count);
    return -1;
}

static PyObject *table_column(PyObject *self, PyObject *key) {
    table *t = (table *)self;
    const Py_ssize_t number = column_number(t->table, key);
    if (number < 0) return NULL;
    PyObject *kept = PyList_GetItem(t->columns, number);
    if (kept != Py_None) return Py_XNewRef(kept);
    PyObject *made = core_column_new(core_state_of(self), t->table, (size_t)number);
    if (made && PyList_SetItem(t->columns, number, Py_NewRef(made)) < 0) Py_CLEAR(made);
    return made;
}

static PyObject *table_reason(PyObject *self, PyObject *args) {
    Py_ssize_t given;
    PyObject *key;
    if (!PyArg_ParseTuple(args, "nO:reason", &given, &key)) return NULL;
    const wm_table *t = table_of(self);
    const Py_ssize_t rows = (Py_ssize_t)wm_table_rows(t), row = given < 0 ? given + rows : given;
    const Py_ssize_t number = column_number(t, key);
    if (number < 0) return NULL;
    if (row < 0 || row >= rows) {
        PyErr_Format(PyExc_IndexError, "there is no row %zd: the table has %zd", given, rows);
        return NULL;
    }
    wm_value v = {.type = WM_NULL};
    wm_table_get(t, (size_t)row, (size_t)number, &v);
    return PyUnicode_FromString(v.type == WM_NULL ? wm_reason_slug(v.reason) : "");
}

/* ---- other tables ---- */

static PyObject *table_select(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"columns", "sort", "filter", NULL};
    wm_select_opts opts = WM_SELECT_OPTS_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zzz:select", names, &opts.columns, &opts.sort,
                                     &opts.filter))
        return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_table_select(table_of(self), &opts, &made, &err);
    Py_END_ALLOW_THREADS;
    core_state *state = core_state_of(self);
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

static PyObject *table_compare(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"contender", "threshold", NULL};
    wm_compare_opts opts = WM_COMPARE_OPTS_INIT;
    PyObject *contender;
    core_state *state = core_state_of(self);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|d:compare", names, state->table, &contender,
                                     &opts.threshold))
        return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_table_compare(table_of(self), table_of(contender), &opts, &made, &err);
    Py_END_ALLOW_THREADS;
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

/* ---- Arrow ---- */

static void stream_free(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, capsule_name);
    if (stream && stream->release) stream->release(stream);
    free(stream);
}

static PyObject *table_arrow(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"requested_schema", NULL};
    PyObject *requested = Py_None; /* a wish, which a producer may pass over */
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:__arrow_c_stream__", names, &requested)) return NULL;
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    if (!stream) return PyErr_NoMemory();
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_table_arrow(table_of(self), stream, &err);
    Py_END_ALLOW_THREADS;
    PyObject *capsule = status == WM_OK ? PyCapsule_New(stream, capsule_name, stream_free)
                                        : core_raise(core_state_of(self), status, &err);
    if (capsule) return capsule;
    if (stream->release) stream->release(stream);
    free(stream);
    return NULL;
}

/* ---- attributes ---- */

static PyObject *get_kind(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(wm_table_kind(table_of(self)));
}

static PyObject *get_num_rows(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(wm_table_rows(table_of(self)));
}

static PyObject *get_column_names(PyObject *self, void *unused) {
    (void)unused;
    const size_t count = wm_table_columns(table_of(self));
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        wm_column about;
        PyObject *name = wm_table_column(table_of(self), i, &about) == WM_OK ? core_text(about.name) : NULL;
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) Py_CLEAR(list);
    }
    return list;
}

static int context_add(PyObject *dict, const char *key, const wm_value *value) {
    PyObject *name = core_text(key), *object = core_value(value);
    const int status = name && object ? PyDict_SetItem(dict, name, object) : -1;
    Py_XDECREF(name);
    Py_XDECREF(object);
    return status;
}

static PyObject *get_context(PyObject *self, void *unused) {
    (void)unused;
    const size_t count = wm_table_context_count(table_of(self));
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        const char *key = "";
        wm_value value = {.type = WM_NULL};
        wm_table_context(table_of(self), i, &key, &value);
        if (context_add(dict, key, &value) < 0) Py_CLEAR(dict);
    }
    return dict;
}

static PyGetSetDef attributes[] = {
    {"kind", get_kind, NULL, "\"results\", \"samples\", \"kernels\" and so on.", NULL},
    {"num_rows", get_num_rows, NULL, "Number of rows.", NULL},
    {"column_names", get_column_names, NULL, "Names of the columns, in order.", NULL},
    {"context", get_context, NULL, "Facts about the machine and the measurement, in order.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"read", CORE_METHOD(table_read), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "read($type, path, format=None)\n--\n\nRead a file that write() made: JSON or CSV."},
    {"write", CORE_METHOD(table_write), METH_VARARGS | METH_KEYWORDS,
     "write($self, path, format=None)\n--\n\nWrite a file, in full or not at all. format None: by the "
     "suffix."},
    {"text", CORE_METHOD(table_text), METH_VARARGS | METH_KEYWORDS,
     "text($self, format='text', width=0, unicode=True, color=False)\n--\n\nWhat write() would write."},
    {"column", table_column, METH_O, "column($self, name, /)\n--\n\nA column, by name or number."},
    {"reason", table_reason, METH_VARARGS,
     "reason($self, row, name, /)\n--\n\nWhy a cell has no value, as a slug; \"\" where it has one."},
    {"select", CORE_METHOD(table_select), METH_VARARGS | METH_KEYWORDS,
     "select($self, columns=None, sort=None, filter=None)\n--\n\nA table of chosen rows and columns."},
    {"compare", CORE_METHOD(table_compare), METH_VARARGS | METH_KEYWORDS,
     "compare($self, contender, threshold=0.01)\n--\n\nCompare with later results, row by row."},
    {"__arrow_c_stream__", CORE_METHOD(table_arrow), METH_VARARGS | METH_KEYWORDS,
     "__arrow_c_stream__($self, requested_schema=None)\n--\n\nThe rows as a stream of Arrow."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "A table of the core. It does not change."},
                              {Py_tp_dealloc, CORE_SLOT(table_dealloc)},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

PyType_Spec core_table_spec = {
    "warpmeter._core.RawTable", sizeof(table), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
