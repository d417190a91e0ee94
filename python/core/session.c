/* Session, and who may call the core when. */
#include "core.h"

#include <stdlib.h>
#include <unistd.h>

static core_session *session_of(PyObject *self) { return (core_session *)self; }

/* ---- one call at a time ---- */

bool core_session_own(const core_session *s) {
    if (s->pid == getpid()) return true;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError,
                        "the session belongs to the process that this one was forked from");
    return false;
}

bool core_session_enter(core_session *s) {
    if (!core_session_own(s)) return false;
    if (s->busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the session is in use: a call of it, or of a sweep of it, has not returned yet");
        return false;
    }
    s->busy = true;
    return true;
}

void core_session_leave(core_session *s) {
    while (s->left && s->pid == getpid()) {
        core_handle *handle = s->left;
        s->left = handle->next;
        Py_BEGIN_ALLOW_THREADS;
        wm_sweep_destroy(handle->sweep);
        Py_END_ALLOW_THREADS;
        free(handle);
    }
    s->busy = false;
}

void core_session_drop(core_session *s, core_handle *handle) {
    if (s->pid != getpid()) return; /* the parent's, which the child leaves alone */
    handle->next = s->left;
    s->left = handle;
    if (s->busy) return;
    s->busy = true;
    core_session_leave(s);
}

/* ---- log ---- */

/* Ctrl-C is not lost: it comes once more when the core has returned. */
static void log_raised(PyObject *log) {
    if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        PyErr_WriteUnraisable(log);
        return;
    }
    PyErr_Clear();
    PyErr_SetInterrupt();
}

/* Called by the core in any thread, with the interpreter lock or without. An exception may be on its way
 * through Python in this thread: it is left as it was. */
static void log_line(void *user, wm_log_level level, const char *line) {
    core_session *s = user;
    if (!Py_IsInitialized()) return;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *log = Py_XNewRef(s->log);
    PyObject *text = log ? core_text(line) : NULL;
    PyObject *result = text ? PyObject_CallFunction(log, "iO", (int)level, text) : NULL;
    if (log && !result) log_raised(log);
    Py_XDECREF(result);
    Py_XDECREF(text);
    Py_XDECREF(log);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(gil);
}

/* ---- the type ---- */

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name",         "metrics",    "log",   "ring_marks",  "by_entry",
                            "keep_records", "keep_first", "state", "nvtx_domain", NULL};
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    PyObject *log = Py_None;
    Py_ssize_t ring_marks = 0;
    int by_entry = 0, keep_records = 0, keep_first = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$ssOnpppzz:Session", names, &opts.name, &opts.metrics,
                                     &log, &ring_marks, &by_entry, &keep_records, &keep_first, &opts.state,
                                     &opts.nvtx_domain))
        return NULL;
    if (log != Py_None && !PyCallable_Check(log)) {
        PyErr_Format(PyExc_TypeError, "Session: log takes a function of a level and a line, not %R",
                     (PyObject *)Py_TYPE(log));
        return NULL;
    }
    if (ring_marks < 0) {
        PyErr_Format(PyExc_ValueError, "Session: ring_marks takes a number from 0, not %zd", ring_marks);
        return NULL;
    }
    core_session *s = PyObject_GC_New(core_session, type);
    if (!s) return NULL;
    s->session = NULL;
    s->log = log == Py_None ? NULL : Py_NewRef(log);
    s->pid = getpid();
    s->busy = true;
    s->left = NULL;
    opts.log = s->log ? log_line : NULL;
    opts.log_user = s;
    opts.ring_marks = (size_t)ring_marks;
    opts.by_entry = by_entry;
    opts.keep_records = keep_records;
    opts.keep_first = keep_first;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    PyObject_GC_Track(s);
    Py_BEGIN_ALLOW_THREADS;
    status = wm_session_create(&opts, &s->session, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s);
    if (status == WM_OK) return (PyObject *)s;
    core_raise(core_state_of((PyObject *)s), status, &err);
    Py_DECREF(s);
    return NULL;
}

static PyObject *call(PyObject *self, wm_status (*what)(wm_session *, wm_error *)) {
    core_session *s = session_of(self);
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    if (!core_session_enter(s)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = what(s->session, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s);
    if (status != WM_OK) return core_raise(core_state_of(self), status, &err);
    Py_RETURN_NONE;
}

static PyObject *session_start(PyObject *self, PyObject *unused) {
    (void)unused;
    return call(self, wm_session_start);
}

static PyObject *session_stop(PyObject *self, PyObject *unused) {
    (void)unused;
    return call(self, wm_session_stop);
}

static PyObject *make_table(PyObject *self, wm_status (*what)(wm_session *, wm_table **, wm_error *)) {
    core_session *s = session_of(self);
    core_state *state = core_state_of(self);
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    if (!core_session_enter(s)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = what(s->session, &made, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s);
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

static PyObject *session_table(PyObject *self, PyObject *unused) {
    (void)unused;
    return make_table(self, wm_session_table);
}

static PyObject *session_samples(PyObject *self, PyObject *unused) {
    (void)unused;
    return make_table(self, wm_session_samples);
}

static PyObject *session_kernels(PyObject *self, PyObject *unused) {
    (void)unused;
    return make_table(self, wm_session_kernels);
}

static int session_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(session_of(self)->log);
    return 0;
}

static int session_clear(PyObject *self) {
    Py_CLEAR(session_of(self)->log);
    return 0;
}

/* Its sweeps hold it, so none is left. */
static void session_dealloc(PyObject *self) {
    core_session *s = session_of(self);
    PyObject_GC_UnTrack(self);
    if (s->session && s->pid == getpid()) {
        Py_BEGIN_ALLOW_THREADS;
        wm_session_destroy(s->session);
        Py_END_ALLOW_THREADS;
    }
    session_clear(self);
    core_free(self);
}

static PyMethodDef methods[] = {
    {"start", session_start, METH_NOARGS, "start($self)\n--\n\nBegin a run: marks are taken from now on."},
    {"stop", session_stop, METH_NOARGS, "stop($self)\n--\n\nEnd the run."},
    {"table", session_table, METH_NOARGS, "table($self)\n--\n\nThe results of all that was measured so far."},
    {"samples", session_samples, METH_NOARGS, "samples($self)\n--\n\nEvery raw sample so far."},
    {"kernels", session_kernels, METH_NOARGS,
     "kernels($self)\n--\n\nEvery kernel, copy and set so far; none without keep_records."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Session(*, name='session', metrics='', log=None, ring_marks=0, by_entry=False, "
                "keep_records=False, keep_first=False, state=None, nvtx_domain=None)\n--\n\nWhat is measured "
                "together. One call at a time."},
    {Py_tp_new, CORE_SLOT(session_new)},
    {Py_tp_dealloc, CORE_SLOT(session_dealloc)},
    {Py_tp_traverse, CORE_SLOT(session_traverse)},
    {Py_tp_clear, CORE_SLOT(session_clear)},
    {Py_tp_methods, methods},
    {0, NULL}};

PyType_Spec core_session_spec = {"warpmeter._core.Session", sizeof(core_session), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};
