/* From a status to an exception. */
#include "core.h"

int core_error_add(PyObject *module, core_state *state) {
    state->error = PyErr_NewExceptionWithDoc(
        "warpmeter._core.Error",
        "A call into the core failed. `status` is its status by name, such as \"WM_ENOTFOUND\".", NULL, NULL);
    return state->error ? PyModule_AddObjectRef(module, "Error", state->error) : -1;
}

static void raise_os(const wm_error *err, PyObject *message) {
    PyObject *e = err->native_code ? PyObject_CallFunction(PyExc_OSError, "iO", err->native_code, message)
                                   : PyObject_CallFunctionObjArgs(PyExc_OSError, message, NULL);
    if (e) PyErr_SetObject((PyObject *)Py_TYPE(e), e); /* of a subclass, such as FileNotFoundError */
    Py_XDECREF(e);
}

static void raise_error(const core_state *state, wm_status status, PyObject *message) {
    PyObject *name = PyUnicode_FromString(wm_status_name(status));
    PyObject *e = name ? PyObject_CallFunctionObjArgs(state->error, message, NULL) : NULL;
    if (e && PyObject_SetAttrString(e, "status", name) == 0) PyErr_SetObject(state->error, e);
    Py_XDECREF(e);
    Py_XDECREF(name);
}

static PyObject *raise_status(const core_state *state, wm_status status, const wm_error *err, bool file) {
    const char *message = err->message[0] ? err->message : wm_status_text(status);
    if (status == WM_ENOMEM) return PyErr_NoMemory();
    PyObject *text = core_text(message);
    if (!text) return NULL;
    if (status == WM_EIO && file)
        raise_os(err, text);
    else if (status == WM_EINVAL || status == WM_EPARSE)
        PyErr_SetObject(PyExc_ValueError, text);
    else
        raise_error(state, status, text);
    Py_DECREF(text);
    return NULL;
}

PyObject *core_raise(const core_state *state, wm_status status, const wm_error *err) {
    return raise_status(state, status, err, false);
}

PyObject *core_raise_file(const core_state *state, wm_status status, const wm_error *err) {
    return raise_status(state, status, err, true);
}
