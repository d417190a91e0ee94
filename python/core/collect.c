/* Collectors of a Sweep: functions of Python's that say something beside the measurements. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a collector of the core is given. */
struct core_collector {
    core_sweep *sweep;
    Py_ssize_t number;
};

static const char *const scopes[] = {"once", "config", "run", "annotation"}; /* by wm_collect_scope */

static int scope_of(const char *name, wm_collect_scope *out) {
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        if (strcmp(scopes[i], name) != 0) continue;
        *out = (wm_collect_scope)i;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "scope is '%s': once, config, run or annotation is accepted", name);
    return -1;
}

/* wm_collector.collect: the function of Python's keeps the value, which the core gets by collect() when the
 * sweep is over. The core runs without the interpreter lock then. After an exception, which run raises when
 * the core returns, no more are called. */
static bool call_out(void *user, wm_state *st, const char *region, wm_value *out) {
    const struct core_collector *c = user;
    core_sweep *s = c->sweep;
    (void)region;
    (void)out; /* a null */
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (!s->raised) {
        PyObject *result =
            PyObject_CallFunction(s->collect, "nnL", c->number, st ? (Py_ssize_t)wm_config(st) : -1,
                                  st ? (long long)wm_run(st) : -1LL);
        if (!result) core_sweep_keep(s);
        Py_XDECREF(result);
    }
    PyGILState_Release(gil);
    return true;
}

static int declare(core_sweep *s, PyObject *pair, Py_ssize_t number, wm_collector *out) {
    const char *name, *scope;
    if (!PyTuple_Check(pair)) {
        PyErr_Format(PyExc_TypeError, "Sweep: collectors takes pairs of a name and a scope, not %R", pair);
        return -1;
    }
    if (!PyArg_ParseTuple(pair, "ss;collectors takes pairs of a name and a scope", &name, &scope)) return -1;
    *out = (wm_collector)WM_COLLECTOR_INIT;
    if (scope_of(scope, &out->scope) < 0) return -1;
    s->collectors[number] = (struct core_collector){s, number};
    out->name = name;
    out->user = &s->collectors[number];
    if (s->collect && out->scope != WM_COLLECT_REGION) out->collect = call_out;
    return 0;
}

Py_ssize_t core_collectors_make(core_sweep *s, PyObject *pairs, wm_collector **out) {
    const Py_ssize_t count = PyTuple_Size(pairs);
    if (count <= 0) return count;
    wm_collector *made = calloc((size_t)count, sizeof *made);
    s->collectors = calloc((size_t)count, sizeof *s->collectors);
    Py_ssize_t done = 0;
    if (!made || !s->collectors)
        PyErr_NoMemory();
    else
        while (done < count && declare(s, PyTuple_GetItem(pairs, done), done, &made[done]) == 0) done++;
    if (done == count) {
        *out = made;
        return count;
    }
    free(made);
    return -1;
}

/* ---- values ---- */

/* None is a null; text is borrowed from the object. */
static int value_of(PyObject *object, wm_value *out) {
    *out = (wm_value){.type = WM_NULL, .reason = WM_REASON_NOT_COLLECTED};
    if (object == Py_None) return 0;
    if (PyBool_Check(object)) {
        *out = (wm_value){.type = WM_BOOL, .as.b = object == Py_True};
    } else if (PyUnicode_Check(object)) {
        *out = (wm_value){.type = WM_STR, .as.str = PyUnicode_AsUTF8AndSize(object, NULL)};
    } else {
        const double number = PyFloat_AsDouble(object);
        *out = isfinite(number) ? (wm_value){.type = WM_F64, .as.f64 = number}
                                : (wm_value){.type = WM_NULL, .reason = WM_REASON_NOT_FINITE};
    }
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *core_sweep_collect(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name", "scope", "config", "run", "region", "value", NULL};
    core_sweep *s = (core_sweep *)self;
    const char *name, *scope_name, *region;
    Py_ssize_t config;
    long long run;
    PyObject *object;
    wm_collect_scope scope;
    wm_value value;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "ssnLzO:collect", names, &name, &scope_name, &config,
                                     &run, &region, &object) ||
        scope_of(scope_name, &scope) < 0 || value_of(object, &value) < 0)
        return NULL;
    wm_sweep *sweep = core_sweep_enter(s);
    if (!sweep) return NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_sweep_collect(sweep, name, scope, config < 0 ? 0 : (size_t)config, run, region, value, &err);
    Py_END_ALLOW_THREADS;
    core_session_leave(s->session);
    if (status != WM_OK) return core_raise(core_state_of(self), status, &err);
    Py_RETURN_NONE;
}
