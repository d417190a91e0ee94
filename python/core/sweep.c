/* Sweep: a benchmark whose function is in Python. run.c has its loop. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static core_sweep *sweep_of(PyObject *self) { return (core_sweep *)self; }

wm_sweep *core_sweep_enter(core_sweep *s) {
    if (!s->handle) {
        PyErr_SetString(PyExc_RuntimeError, "the sweep is closed");
        return NULL;
    }
    return core_session_enter(s->session) ? s->handle->sweep : NULL;
}

void core_sweep_keep(core_sweep *s) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    if (s->raised)
        Py_XDECREF(value);
    else
        s->raised = value;
}

/* ---- combine ---- */

static PyObject *float_list(const double *values, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (!value || PyList_SetItem(list, (Py_ssize_t)i, value) < 0) Py_CLEAR(list);
    }
    return list;
}

static double combined(PyObject *combine, const char *metric, const double *values, const double *weights_ns,
                       size_t count) {
    PyObject *name = core_text(metric);
    PyObject *first = name ? float_list(values, count) : NULL;
    PyObject *second = first ? float_list(weights_ns, count) : NULL;
    PyObject *result = second ? PyObject_CallFunctionObjArgs(combine, name, first, second, NULL) : NULL;
    const double value = result ? PyFloat_AsDouble(result) : NAN;
    Py_XDECREF(result);
    Py_XDECREF(second);
    Py_XDECREF(first);
    Py_XDECREF(name);
    return value;
}

/* wm_benchmark.combine: the core runs without the interpreter lock then. Of several exceptions the first is
 * kept; run raises it when the core returns. */
static double combine_kernels(void *user, const char *metric, const double *values, const double *weights_ns,
                              size_t count) {
    core_sweep *s = user;
    const PyGILState_STATE gil = PyGILState_Ensure();
    double value = s->raised ? NAN : combined(s->combine, metric, values, weights_ns, count);
    if (PyErr_Occurred()) {
        core_sweep_keep(s);
        value = NAN;
    }
    PyGILState_Release(gil);
    return value;
}

/* ---- making one ---- */

/* A text for the core; NULL with an exception. It lives as long as the object. */
static const char *text_of(PyObject *object, const char *what) {
    Py_ssize_t length;
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s takes a str, not %R", what, (PyObject *)Py_TYPE(object));
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s: %R holds a NUL", what, object);
        return NULL;
    }
    return text;
}

const char **core_texts(PyObject *tuple, const char *what) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    if (!texts) PyErr_NoMemory();
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        texts[i] = text_of(PyTuple_GetItem(tuple, i), what);
        if (texts[i]) continue;
        free((void *)texts);
        return NULL;
    }
    return texts;
}

static int sweep_create(core_sweep *s, const char *name, PyObject *options, PyObject *pairs) {
    const char **argv = core_texts(options, "Sweep: options");
    if (!argv) return -1;
    wm_collector *collectors = NULL;
    const Py_ssize_t collector_count = core_collectors_make(s, pairs, &collectors);
    if (collector_count < 0) {
        free((void *)argv);
        return -1;
    }
    const int argc = (int)PyTuple_Size(options);
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = name;
    bench.user = s;
    if (s->combine) bench.combine = combine_kernels;
    bench.collectors = collectors;
    bench.collector_count = (size_t)collector_count;
    wm_error err = WM_ERROR_INIT;
    wm_status status = WM_ENOMEM;
    s->handle = calloc(1, sizeof *s->handle);
    if (s->handle) {
        Py_BEGIN_ALLOW_THREADS;
        status = wm_sweep_create(s->session->session, &bench, argc, argv, &s->handle->sweep, &err);
        Py_END_ALLOW_THREADS;
    }
    free((void *)argv);
    free(collectors);
    if (status == WM_OK) return 0;
    free(s->handle);
    s->handle = NULL;
    core_raise(core_state_of((PyObject *)s), status, &err);
    return -1;
}

/* A function that was given, or NULL for None. */
static PyObject *given(PyObject *object) { return object == Py_None ? NULL : Py_NewRef(object); }

static core_sweep *sweep_alloc(PyTypeObject *type, PyObject *session, PyObject *const functions[3]) {
    core_sweep *s = PyObject_GC_New(core_sweep, type);
    if (!s) return NULL;
    s->session = (core_session *)Py_NewRef(session);
    s->handle = NULL;
    s->combine = given(functions[0]);
    s->collect = given(functions[1]);
    s->entered = given(functions[2]);
    s->collectors = NULL;
    s->raised = NULL;
    s->keys = PyList_New(0);
    s->calls = 0;
    s->returned = 0;
    s->began = false;
    PyObject_GC_Track(s);
    if (!s->keys) Py_CLEAR(s);
    return s;
}

static PyObject *sweep_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"session",    "name",    "options", "combine",
                            "collectors", "collect", "entered", NULL};
    core_state *state = PyType_GetModuleState(type);
    PyObject *session, *options = NULL, *collectors = NULL, *functions[3] = {Py_None, Py_None, Py_None};
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!s|OOOOO:Sweep", names, state->session, &session,
                                     &name, &options, &functions[0], &collectors, &functions[1],
                                     &functions[2]))
        return NULL;
    static const char *const called[] = {"combine", "collect", "entered"};
    for (int i = 0; i < 3; i++) {
        if (functions[i] == Py_None || PyCallable_Check(functions[i])) continue;
        PyErr_Format(PyExc_TypeError, "Sweep: %s takes a function, not %R", called[i],
                     (PyObject *)Py_TYPE(functions[i]));
        return NULL;
    }
    if (options && PyUnicode_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "Sweep: options takes a list of words, not one str");
        return NULL;
    }
    PyObject *words = options ? PySequence_Tuple(options) : PyTuple_New(0);
    PyObject *pairs = !words ? NULL : collectors ? PySequence_Tuple(collectors) : PyTuple_New(0);
    core_sweep *s = pairs ? sweep_alloc(type, session, functions) : NULL;
    if (s && !core_session_enter(s->session)) Py_CLEAR(s);
    if (s) {
        const int status = sweep_create(s, name, words, pairs);
        core_session_leave(s->session);
        if (status < 0) Py_CLEAR(s);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(words);
    return (PyObject *)s;
}

/* ---- configurations and the plan ---- */

/* A parameter's value; text is borrowed from the object. */
static int value_of(PyObject *object, wm_value *out) {
    *out = (wm_value){.type = WM_NULL};
    if (PyBool_Check(object)) {
        out->type = WM_BOOL;
        out->as.b = object == Py_True;
    } else if (PyLong_Check(object)) {
        out->type = WM_I64;
        out->as.i64 = PyLong_AsLongLong(object);
        if (out->as.i64 != -1 || !PyErr_Occurred()) return 0;
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "add_config: %R does not fit into 64 bits", object);
    } else if (PyFloat_Check(object)) {
        out->type = WM_F64;
        out->as.f64 = PyFloat_AsDouble(object);
    } else if (PyUnicode_Check(object)) {
        out->type = WM_STR;
        out->as.str = text_of(object, "add_config");
    } else {
        PyErr_Format(PyExc_TypeError, "add_config takes values that are bool, int, float or str, not %R",
                     (PyObject *)Py_TYPE(object));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int add_config(core_sweep *s, PyObject *names, PyObject *values) {
    const Py_ssize_t count = PyTuple_Size(names);
    if (count != PyTuple_Size(values)) {
        PyErr_Format(PyExc_ValueError, "add_config: there are %zd names and %zd values", count,
                     PyTuple_Size(values));
        return -1;
    }
    const char **texts = core_texts(names, "add_config: names");
    wm_value *v = texts ? calloc((size_t)count + 1, sizeof *v) : NULL;
    if (texts && !v) PyErr_NoMemory();
    int result = v ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < count; i++)
        result = value_of(PyTuple_GetItem(values, i), &v[i]);
    wm_sweep *sweep = result == 0 ? core_sweep_enter(s) : NULL;
    if (sweep) {
        wm_error err = WM_ERROR_INIT;
        wm_status status;
        Py_BEGIN_ALLOW_THREADS;
        status = wm_sweep_add_config(sweep, (size_t)count, texts, v, &err);
        Py_END_ALLOW_THREADS;
        core_session_leave(s->session);
        if (status != WM_OK) core_raise(core_state_of((PyObject *)s), status, &err);
    }
    free((void *)texts);
    free(v);
    return sweep && !PyErr_Occurred() ? 0 : -1;
}

static PyObject *sweep_add_config(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *kw[] = {"names", "values", NULL};
    PyObject *names, *values;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:add_config", kw, &names, &values)) return NULL;
    names = PySequence_Tuple(names);
    values = names ? PySequence_Tuple(values) : NULL;
    const int status = values ? add_config(sweep_of(self), names, values) : -1;
    Py_XDECREF(names);
    Py_XDECREF(values);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *sweep_plan(PyObject *self, PyObject *unused) {
    (void)unused;
    core_sweep *s = sweep_of(self);
    core_state *state = core_state_of(self);
    wm_sweep *sweep = core_sweep_enter(s);
    if (!sweep) return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_sweep_plan(sweep, &made, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s->session);
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

/* ---- after the runs ---- */

static PyObject *sweep_put(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"config", "run", "region", "metric", "value", "unit", NULL};
    core_sweep *s = sweep_of(self);
    Py_ssize_t config;
    long long run;
    const char *region, *metric, *unit = "";
    PyObject *value;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "nLzsO|s:put", names, &config, &run, &region, &metric,
                                     &value, &unit))
        return NULL;
    const double number = value == Py_None ? NAN : PyFloat_AsDouble(value);
    if (PyErr_Occurred()) return NULL;
    if (config < 0) {
        PyErr_Format(PyExc_ValueError, "put: there is no configuration %zd", config);
        return NULL;
    }
    const wm_value v = isfinite(number) ? (wm_value){.type = WM_F64, .as.f64 = number}
                                        : (wm_value){.type = WM_NULL, .reason = WM_REASON_NOT_FINITE};
    wm_sweep *sweep = core_sweep_enter(s);
    if (!sweep) return NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_sweep_put(sweep, (size_t)config, run, region, metric, v, unit, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s->session);
    if (status != WM_OK) return core_raise(core_state_of(self), status, &err);
    Py_RETURN_NONE;
}

static PyObject *sweep_outcome(PyObject *self, PyObject *unused) {
    (void)unused;
    core_sweep *s = sweep_of(self);
    wm_sweep *sweep = core_sweep_enter(s);
    if (!sweep) return NULL;
    wm_error err = WM_ERROR_INIT;
    const wm_status status = wm_sweep_outcome(sweep, &err);
    core_session_leave(s->session);
    if (status != WM_OK) return core_raise(core_state_of(self), status, &err);
    Py_RETURN_NONE;
}

static PyObject *sweep_config_keys(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyList_GetSlice(sweep_of(self)->keys, 0, PY_SSIZE_T_MAX);
}

static void drop(core_sweep *s) {
    core_handle *handle = s->handle;
    s->handle = NULL;
    if (handle) core_session_drop(s->session, handle);
}

static PyObject *sweep_close(PyObject *self, PyObject *unused) {
    (void)unused;
    core_sweep *s = sweep_of(self);
    if (s->handle && !core_session_enter(s->session)) return NULL;
    if (s->handle) {
        drop(s);
        core_session_leave(s->session);
    }
    Py_RETURN_NONE;
}

/* ---- the type ---- */

static int sweep_traverse(PyObject *self, visitproc visit, void *arg) {
    core_sweep *s = sweep_of(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(s->session);
    Py_VISIT(s->combine);
    Py_VISIT(s->collect);
    Py_VISIT(s->entered);
    Py_VISIT(s->raised);
    Py_VISIT(s->keys);
    return 0;
}

static int sweep_clear(PyObject *self) {
    core_sweep *s = sweep_of(self);
    Py_CLEAR(s->combine);
    Py_CLEAR(s->collect);
    Py_CLEAR(s->entered);
    Py_CLEAR(s->raised);
    return 0;
}

static void sweep_dealloc(PyObject *self) {
    core_sweep *s = sweep_of(self);
    PyObject_GC_UnTrack(self);
    drop(s);
    sweep_clear(self);
    free(s->collectors);
    Py_CLEAR(s->keys);
    Py_CLEAR(s->session);
    core_free(self);
}

static PyMethodDef methods[] = {
    {"add_config", CORE_METHOD(sweep_add_config), METH_VARARGS | METH_KEYWORDS,
     "add_config($self, names, values)\n--\n\nAdd a configuration."},
    {"plan", sweep_plan, METH_NOARGS, "plan($self)\n--\n\nWhich metric is read in which pass."},
    {"run", CORE_METHOD(core_sweep_run), METH_VARARGS | METH_KEYWORDS,
     "run($self, function, arguments, keywords=None, on_step=None)\n--\n\n"
     "Call the function as often as the core says, with the arguments of each configuration."},
    {"config_keys", sweep_config_keys, METH_NOARGS,
     "config_keys($self)\n--\n\nconfig_key of each configuration that had a step, by number; \"\" else."},
    {"put", CORE_METHOD(sweep_put), METH_VARARGS | METH_KEYWORDS,
     "put($self, config, run, region, metric, value, unit='')\n--\n\nSay a value of a run that was "
     "measured."},
    {"outcome", sweep_outcome, METH_NOARGS,
     "outcome($self)\n--\n\nRaises Error where a configuration failed."},
    {"collect", CORE_METHOD(core_sweep_collect), METH_VARARGS | METH_KEYWORDS,
     "collect($self, name, scope, config, run, region, value)\n--\n\nSay the value of a collector."},
    {"close", sweep_close, METH_NOARGS, "close($self)\n--\n\nGive back what the sweep holds of a device."},
    {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"calls", T_PYSSIZET, offsetof(core_sweep, calls), READONLY, "Calls of the function so far."},
    {"returned", T_BOOL, offsetof(core_sweep, returned), READONLY,
     "Whether some call returned something else than None."},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc,
                               "Sweep(session, name, options=(), combine=None, collectors=(), collect=None, "
                               "entered=None)\n--\n\nA function "
                               "of Python's that the core has called again and again."},
                              {Py_tp_new, CORE_SLOT(sweep_new)},
                              {Py_tp_dealloc, CORE_SLOT(sweep_dealloc)},
                              {Py_tp_traverse, CORE_SLOT(sweep_traverse)},
                              {Py_tp_clear, CORE_SLOT(sweep_clear)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {0, NULL}};

PyType_Spec core_sweep_spec = {"warpmeter._core.Sweep", sizeof(core_sweep), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};
