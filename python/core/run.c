/* The loop of a Sweep, and what its function may say while it is called. */
#include "core.h"

#include <string.h>

/* What the function is handed, in the thread that calls it, while it is called. */
static _Thread_local wm_state *current;

typedef struct work {
    PyObject *function;
    PyObject *arguments; /* tuple of a tuple for each configuration */
    PyObject *keywords;  /* tuple of a dict for each configuration, or NULL */
    PyObject *on_step;   /* or NULL */
} work;

/* ---- Step ---- */

typedef struct step {
    PyObject_HEAD Py_ssize_t config;
    PyObject *config_key;
    long long run;
    int pass;
    char warmup, first_pass; /* bools to Python */
} step;

static PyObject *step_new(const core_state *state, const wm_step *due, PyObject *config_key) {
    step *s = PyObject_New(step, state->step);
    if (!s) return NULL;
    s->config = (Py_ssize_t)due->config;
    s->config_key = Py_NewRef(config_key);
    s->run = due->run;
    s->pass = due->pass;
    s->warmup = due->warmup;
    s->first_pass = due->first_pass;
    return (PyObject *)s;
}

static void step_dealloc(PyObject *self) {
    Py_CLEAR(((step *)self)->config_key);
    core_free(self);
}

static PyMemberDef members[] = {
    {"config", T_PYSSIZET, offsetof(step, config), READONLY, "Number of the configuration."},
    {"config_key", T_OBJECT_EX, offsetof(step, config_key), READONLY, "Its parameters: \"n=128,type=f32\"."},
    {"run", T_LONGLONG, offsetof(step, run), READONLY, "From 0; warm-up runs count up to -1."},
    {"pass_", T_INT, offsetof(step, pass), READONLY, "From 0: which metrics were read."},
    {"warmup", T_BOOL, offsetof(step, warmup), READONLY, "Whether it was a warm-up run."},
    {"first_pass", T_BOOL, offsetof(step, first_pass), READONLY, "Whether it was of the first pass."},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "One call of the function of a Sweep."},
                              {Py_tp_dealloc, CORE_SLOT(step_dealloc)},
                              {Py_tp_members, members},
                              {0, NULL}};

PyType_Spec core_step_spec = {
    "warpmeter._core.Step", sizeof(step), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};

/* ---- exceptions ---- */

/* Raise what was raised where the core called back; -1 if there is something. */
static int callback_check(core_sweep *s) {
    if (!s->raised) return 0;
    PyErr_SetObject((PyObject *)Py_TYPE(s->raised), s->raised);
    Py_CLEAR(s->raised);
    return -1;
}

/* "ValueError: too small" for an exception; NULL, with none set, when its text cannot be had. */
static PyObject *exception_text(PyObject *exception) {
    PyObject *name = PyType_GetName(Py_TYPE(exception));
    PyObject *message = name ? PyObject_Str(exception) : NULL;
    PyObject *text =
        message ? PyUnicode_FromFormat(PyUnicode_GetLength(message) ? "%U: %U" : "%U", name, message) : NULL;
    PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    Py_XDECREF(text);
    Py_XDECREF(message);
    Py_XDECREF(name);
    if (!bytes) PyErr_Clear();
    return bytes;
}

/* ---- steps ---- */

static int key_note(core_sweep *s, const wm_step *due) {
    const Py_ssize_t number = (Py_ssize_t)due->config;
    if (number < PyList_Size(s->keys) && PyUnicode_GetLength(PyList_GetItem(s->keys, number))) return 0;
    PyObject *empty = PyUnicode_FromString(""), *key = core_text(due->config_key);
    int status = empty && key ? 0 : -1;
    while (status == 0 && PyList_Size(s->keys) <= number) status = PyList_Append(s->keys, empty);
    if (status == 0) status = PyList_SetItem(s->keys, number, Py_NewRef(key));
    Py_XDECREF(empty);
    Py_XDECREF(key);
    return status;
}

static int step_check(const work *w, const wm_step *due) {
    if (due->threads != 1) {
        PyErr_Format(PyExc_ValueError,
                     "a function of Python's is called in one thread, not in %d: leave "
                     "--threads out",
                     (int)due->threads);
        return -1;
    }
    if ((Py_ssize_t)due->config < PyTuple_Size(w->arguments)) return 0;
    PyErr_Format(PyExc_ValueError, "configuration %zu has no arguments: run was given those of %zd",
                 due->config, PyTuple_Size(w->arguments));
    return -1;
}

static int step_call(core_sweep *s, const work *w, const wm_step *due) {
    if (callback_check(s) < 0 || step_check(w, due) < 0 || key_note(s, due) < 0) return -1;
    const Py_ssize_t config = (Py_ssize_t)due->config;
    PyObject *keywords = w->keywords ? PyTuple_GetItem(w->keywords, config) : NULL;
    const bool collects = s->entered && due->first_pass && !due->warmup && due->attempt == 0;
    s->calls++;
    current = due->state;
    if (collects) core_entered_call(s->entered, due->config, due->run);
    PyObject *result = PyObject_Call(w->function, PyTuple_GetItem(w->arguments, config), keywords);
    if (collects) core_entered_call(NULL, 0, 0);
    current = NULL;
    if (!result) return -1;
    if (result != Py_None) s->returned = 1;
    Py_DECREF(result);
    return 0;
}

/* End a step whose call returned `called`. An exception goes on through it. A function that forked may also
 * return in the child, where the step is nobody's. */
static int step_end(core_sweep *s, wm_sweep *sweep, const wm_step *due, int called) {
    PyObject *type = NULL, *exception = NULL, *traceback = NULL, *bytes = NULL;
    wm_status status = WM_OK;
    wm_error err = WM_ERROR_INIT;
    if (!core_session_own(s->session)) return -1;
    if (called < 0) {
        PyErr_Fetch(&type, &exception, &traceback);
        PyErr_NormalizeException(&type, &exception, &traceback);
        bytes = exception_text(exception);
        status = WM_EFAILED;
    }
    const char *why = bytes ? PyBytes_AsString(bytes) : NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_sweep_done(sweep, due, status, why, &err);
    Py_END_ALLOW_THREADS;
    Py_XDECREF(bytes);
    if (called < 0) {
        Py_CLEAR(s->raised);
        PyErr_Restore(type, exception, traceback);
        return -1;
    }
    if (status == WM_OK) return callback_check(s);
    core_raise(core_state_of((PyObject *)s), status, &err);
    return -1;
}

static int step_tell(core_sweep *s, const work *w, const wm_step *due) {
    PyObject *key = PyList_GetItem(s->keys, (Py_ssize_t)due->config);
    PyObject *object = key ? step_new(core_state_of((PyObject *)s), due, key) : NULL;
    PyObject *result = object ? PyObject_CallFunctionObjArgs(w->on_step, object, NULL) : NULL;
    Py_XDECREF(object);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* wm_wait_fn: Ctrl-C ends the wait. Signals are handled in the main thread. */
static bool waits_on(void *user, const wm_wait *wait) {
    core_sweep *s = user;
    (void)wait;
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (!s->raised && PyErr_CheckSignals() < 0) core_sweep_keep(s);
    const bool on = !s->raised;
    PyGILState_Release(gil);
    return on;
}

static int run_steps(core_sweep *s, wm_sweep *sweep, const work *w) {
    wm_step due = WM_STEP_INIT;
    wm_error err;
    for (;;) {
        bool more;
        Py_BEGIN_ALLOW_THREADS;
        more = wm_sweep_next(sweep, &due, &err);
        Py_END_ALLOW_THREADS;
        if (!more) break;
        if (step_end(s, sweep, &due, step_call(s, w, &due)) < 0) return -1;
        if (w->on_step && step_tell(s, w, &due) < 0) return -1;
        if (PyErr_CheckSignals() < 0) return -1;
    }
    if (callback_check(s) < 0) return -1;
    if (err.code == WM_OK) return 0;
    core_raise(core_state_of((PyObject *)s), err.code, &err);
    return -1;
}

/* ---- run ---- */

/* A sequence of objects of one type, as a tuple. */
static PyObject *tuple_of(PyObject *sequence, int (*is)(PyObject *), const char *complaint) {
    PyObject *tuple = PySequence_Tuple(sequence);
    for (Py_ssize_t i = 0; tuple && i < PyTuple_Size(tuple); i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (is(item)) continue;
        PyErr_Format(PyExc_TypeError, complaint, (PyObject *)Py_TYPE(item));
        Py_CLEAR(tuple);
    }
    return tuple;
}

static int is_tuple(PyObject *object) { return PyTuple_Check(object); }
static int is_dict(PyObject *object) { return PyDict_Check(object); }

static int run(core_sweep *s, const work *w) {
    if (w->keywords && PyTuple_Size(w->keywords) != PyTuple_Size(w->arguments)) {
        PyErr_Format(PyExc_ValueError, "run: there are arguments of %zd configurations and keywords of %zd",
                     PyTuple_Size(w->arguments), PyTuple_Size(w->keywords));
        return -1;
    }
    wm_sweep *sweep = core_sweep_enter(s);
    if (!sweep) return -1;
    int status = -1;
    if (s->began) {
        PyErr_SetString(PyExc_RuntimeError, "a sweep runs once: this one has");
    } else {
        s->began = true;
        wm_sweep_on_wait(sweep, waits_on, s);
        status = run_steps(s, sweep, w);
        wm_sweep_on_wait(sweep, NULL, NULL);
    }
    core_session_leave(s->session);
    return status;
}

PyObject *core_sweep_run(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"function", "arguments", "keywords", "on_step", NULL};
    PyObject *function, *arguments, *kw = Py_None, *on_step = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|OO:run", names, &function, &arguments, &kw,
                                     &on_step))
        return NULL;
    work w = {function,
              tuple_of(arguments, is_tuple, "run: arguments takes a tuple for each configuration, not %R"),
              NULL, on_step == Py_None ? NULL : on_step};
    if (w.arguments && kw != Py_None)
        w.keywords = tuple_of(kw, is_dict, "run: keywords takes a dict for each configuration, not %R");
    const int status = w.arguments && (w.keywords || kw == Py_None) ? run((core_sweep *)self, &w) : -1;
    Py_XDECREF(w.keywords);
    Py_XDECREF(w.arguments);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- said during a call ---- */

/* The state of the call at hand; NULL with RuntimeError. */
static wm_state *state_of(const char *function) {
    if (!current)
        PyErr_Format(PyExc_RuntimeError,
                     "%s can be called while a sweep calls its function, in the same thread, and not else",
                     function);
    return current;
}

PyObject *core_record(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"metric", "value", "unit", NULL};
    const char *metric, *unit = "";
    double value;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sd|s:record", names, &metric, &value, &unit))
        return NULL;
    wm_state *state = state_of("record");
    if (!state) return NULL;
    wm_record(state, metric, value, unit);
    Py_RETURN_NONE;
}

static PyObject *add(PyObject *args, PyObject *keywords, const char *format, const char *function,
                     void (*what)(wm_state *, const char *, double)) {
    static char *names[] = {"region", "count", NULL};
    const char *region;
    double count;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, format, names, &region, &count)) return NULL;
    wm_state *state = state_of(function);
    if (!state) return NULL;
    what(state, region, count);
    Py_RETURN_NONE;
}

PyObject *core_add_flops(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    return add(args, keywords, "zd:add_flops", "add_flops", wm_add_flops);
}

PyObject *core_add_bytes(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    return add(args, keywords, "zd:add_bytes", "add_bytes", wm_add_bytes);
}

PyObject *core_add_items(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    return add(args, keywords, "zd:add_items", "add_items", wm_add_items);
}

PyObject *core_skip(PyObject *module, PyObject *why) {
    (void)module;
    PyObject *bytes = PyUnicode_Check(why) ? PyUnicode_AsEncodedString(why, "utf-8", "replace") : NULL;
    if (!bytes && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "skip takes the reason as a str, not %R", (PyObject *)Py_TYPE(why));
    wm_state *state = bytes ? state_of("skip") : NULL;
    if (state) wm_skip(state, "%s", PyBytes_AsString(bytes));
    Py_XDECREF(bytes);
    if (!state) return NULL;
    Py_RETURN_NONE;
}
