/* ncu as a second witness. */
#include "core.h"

#include <stdlib.h>

PyObject *core_ncu_find(PyObject *module, PyObject *unused) {
    char path[4096];
    wm_error err = WM_ERROR_INIT;
    (void)unused;
    const wm_status status = wm_ncu_find(path, sizeof path, &err);
    if (status != WM_OK) return core_raise(PyModule_GetState(module), status, &err);
    return PyUnicode_DecodeFSDefault(path);
}

/* The words, with NULL at the end, as a list. */
static PyObject *words_of(char *const *words) {
    PyObject *list = PyList_New(0);
    for (; list && *words; words++) {
        PyObject *word = PyUnicode_DecodeFSDefault(*words);
        if (!word || PyList_Append(list, word) < 0) Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

static PyObject *command_of(const core_state *state, wm_ncu_opts *opts, PyObject *words, PyObject *extra) {
    const char **argv = core_texts(words, "ncu_command");
    const char **more = argv ? core_texts(extra, "ncu_command: extra") : NULL;
    PyObject *made = NULL;
    if (more) {
        char **command = NULL;
        wm_error err = WM_ERROR_INIT;
        opts->extra = more;
        opts->extra_count = (size_t)PyTuple_Size(extra);
        const wm_status status = wm_ncu_command(opts, (int)PyTuple_Size(words), argv, &command, &err);
        made = status == WM_OK ? words_of(command) : core_raise(state, status, &err);
        if (status == WM_OK) wm_ncu_command_free(command);
    }
    free((void *)more);
    free((void *)argv);
    return made;
}

PyObject *core_ncu_command(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"argv", "ncu",    "report", "log",   "metrics", "nvtx_domain",
                            "cold", "clocks", "replay", "extra", NULL};
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    PyObject *argv, *extra = NULL;
    int cold = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$zzzzzpzzO:ncu_command", names, &argv, &opts.ncu,
                                     &opts.report, &opts.log, &opts.metrics, &opts.nvtx_domain, &cold,
                                     &opts.clocks, &opts.replay, &extra))
        return NULL;
    opts.cold = cold;
    PyObject *words = PySequence_Tuple(argv);
    PyObject *more = !words ? NULL : extra ? PySequence_Tuple(extra) : PyTuple_New(0);
    PyObject *made = more ? command_of(PyModule_GetState(module), &opts, words, more) : NULL;
    Py_XDECREF(more);
    Py_XDECREF(words);
    return made;
}

PyObject *core_ncu_read(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"report", "ncu", "metrics", "nvtx_domain", NULL};
    core_state *state = PyModule_GetState(module);
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    PyObject *report;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$zzz:ncu_read", names, PyUnicode_FSConverter,
                                     &report, &opts.ncu, &opts.metrics, &opts.nvtx_domain))
        return NULL;
    wm_table *made = NULL;
    wm_error err = WM_ERROR_INIT;
    wm_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = wm_ncu_read(PyBytes_AsString(report), &opts, &made, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(report);
    return status == WM_OK ? core_table_new(state, made) : core_raise_file(state, status, &err);
}
