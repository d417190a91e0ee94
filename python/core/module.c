/* The module: its functions, its state, and how it begins and ends. */
#include "core.h"

void core_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Sessions are one at a time in a process, and threads of the core take the main interpreter's lock. */
static int refuse_subinterpreters(void) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
    PyErr_SetString(PyExc_ImportError,
                    "warpmeter works in the main interpreter only, not in subinterpreters");
    return -1;
}

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out) {
    *out = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *out ? PyModule_AddType(module, *out) : -1;
}

static int module_exec(PyObject *module) {
    core_state *state = PyModule_GetState(module);
    if (refuse_subinterpreters() < 0 || core_error_add(module, state) < 0 ||
        add_type(module, &core_annotation_spec, &state->annotation) < 0 ||
        add_type(module, &core_column_spec, &state->column) < 0 ||
        add_type(module, &core_table_spec, &state->table) < 0 ||
        add_type(module, &core_session_spec, &state->session) < 0 ||
        add_type(module, &core_sweep_spec, &state->sweep) < 0 ||
        add_type(module, &core_step_spec, &state->step) < 0)
        return -1;
    state->annotations = PyDict_New();
    state->ignoring = PyDict_New();
    if (!state->annotations || !state->ignoring) return -1;
    return PyModule_AddStringConstant(module, "__version__", wm_version());
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    core_state *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_VISIT(state->error);
    Py_VISIT(state->annotation);
    Py_VISIT(state->column);
    Py_VISIT(state->table);
    Py_VISIT(state->session);
    Py_VISIT(state->sweep);
    Py_VISIT(state->step);
    Py_VISIT(state->annotations);
    Py_VISIT(state->ignoring);
    return 0;
}

static int module_clear(PyObject *module) {
    core_state *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_CLEAR(state->error);
    Py_CLEAR(state->annotation);
    Py_CLEAR(state->column);
    Py_CLEAR(state->table);
    Py_CLEAR(state->session);
    Py_CLEAR(state->sweep);
    Py_CLEAR(state->step);
    Py_CLEAR(state->annotations);
    Py_CLEAR(state->ignoring);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyMethodDef functions[] = {
    {"annotate", CORE_METHOD(core_annotate), METH_FASTCALL | METH_KEYWORDS,
     "annotate(name, ignore_failures=False)\n--\n\n"
     "A region: a context manager and a decorator. Equal arguments give the same object."},
    {"active", core_active, METH_NOARGS, "active()\n--\n\nWhether a session is taking marks."},
    {"record", CORE_METHOD(core_record), METH_VARARGS | METH_KEYWORDS,
     "record(metric, value, unit='')\n--\n\n"
     "A value of your own for this run, in base units: a metric of the innermost open region."},
    {"add_flops", CORE_METHOD(core_add_flops), METH_VARARGS | METH_KEYWORDS,
     "add_flops(region, count)\n--\n\n"
     "Operations that one run of a region did; None: of the whole function. Gives flop_rate."},
    {"add_bytes", CORE_METHOD(core_add_bytes), METH_VARARGS | METH_KEYWORDS,
     "add_bytes(region, count)\n--\n\nBytes that one run of a region moved. Gives byte_rate."},
    {"add_items", CORE_METHOD(core_add_items), METH_VARARGS | METH_KEYWORDS,
     "add_items(region, count)\n--\n\nItems that one run of a region did. Gives item_rate."},
    {"skip", core_skip, METH_O,
     "skip(why, /)\n--\n\nLeave the configuration at hand out; the function should return after it."},
    {"doctor", core_doctor, METH_NOARGS,
     "doctor()\n--\n\nWhat this machine can measure, what it cannot, why, and what to do about it."},
    {"facts", core_facts, METH_NOARGS,
     "facts()\n--\n\nWhat is known of the GPUs, under the keys that a table's context has."},
    {"metrics", CORE_METHOD(core_metrics), METH_VARARGS | METH_KEYWORDS,
     "metrics(pattern=None, chip=None)\n--\n\nThe metrics that there are."},
    {"ncu_find", core_ncu_find, METH_NOARGS, "ncu_find()\n--\n\nThe path of ncu."},
    {"ncu_command", CORE_METHOD(core_ncu_command), METH_VARARGS | METH_KEYWORDS,
     "ncu_command(argv, *, ncu=None, report=None, log=None, metrics=None, nvtx_domain=None, cold=False, "
     "clocks=None, replay=None, extra=())\n--\n\nThe words that run argv under ncu."},
    {"ncu_read", CORE_METHOD(core_ncu_read), METH_VARARGS | METH_KEYWORDS,
     "ncu_read(report, *, ncu=None, metrics=None, nvtx_domain=None)\n--\n\nA report of ncu's as results."},
    {"metrics_plan", CORE_METHOD(core_metrics_plan), METH_VARARGS | METH_KEYWORDS,
     "metrics_plan(metrics, chip=None)\n--\n\nThe passes over the program that a set of metrics takes."},
    {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot slots[] = {{Py_mod_exec, CORE_SLOT(module_exec)}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "warpmeter._core",
    .m_doc = "The C core of warpmeter.",
    .m_size = sizeof(core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
