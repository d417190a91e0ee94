/* What this machine, or a chip, can measure. */
#include "core.h"

#include "session/session.h"

PyObject *core_doctor(PyObject *module, PyObject *unused) {
    core_state *state = PyModule_GetState(module);
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_doctor(&made, &err);
    Py_END_ALLOW_THREADS;
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

PyObject *core_metrics(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"pattern", "chip", NULL};
    core_state *state = PyModule_GetState(module);
    wm_metrics_opts opts = WM_METRICS_OPTS_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zz:metrics", names, &opts.pattern, &opts.chip))
        return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_metrics(&opts, &made, &err);
    Py_END_ALLOW_THREADS;
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

PyObject *core_metrics_plan(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"metrics", "chip", NULL};
    core_state *state = PyModule_GetState(module);
    const char *list, *chip = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|z:metrics_plan", names, &list, &chip)) return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_metrics_plan(list, chip, &made, &err);
    Py_END_ALLOW_THREADS;
    return status == WM_OK ? core_table_new(state, made) : core_raise(state, status, &err);
}

static void fact_take(void *user, const char *key, wm_value value) {
    PyObject *name = core_text(key), *object = core_value(&value);
    if (name && object && !PyErr_Occurred()) PyDict_SetItem(user, name, object);
    Py_XDECREF(object);
    Py_XDECREF(name);
}

PyObject *core_facts(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *facts = PyDict_New();
    const wmi_fact_list list = {facts, fact_take};
    for (size_t b = 0; facts && wmi_backends[b]; b++)
        if (wmi_backends[b]->device && wmi_backends[b]->facts) wmi_backends[b]->facts(&list);
    if (facts && PyErr_Occurred()) Py_CLEAR(facts);
    return facts;
}
