/** python/core/: the extension module warpmeter._core, a thin cover over include/warpmeter.h for Python.
 *  What it offers is written down in python/warpmeter/_core.pyi. module.c puts it together; each type has a
 *  file of its own. All of it keeps to the stable ABI of Python 3.11.
 *
 *  The interpreter lock is given up around calls that work, wait or call back; it is kept around those that
 *  only look something up. Functions used in several of these files begin with core_. */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <sys/types.h>

#include "warpmeter.h"

/** What a module object owns. */
typedef struct core_state {
    PyObject *error; /* the exception Error */
    PyTypeObject *annotation, *column, *table, *session, *sweep, *step;
    PyObject *annotations; /* dict: Annotation by name */
    PyObject *ignoring;    /* dict: those that ignore failures */
} core_state;

extern PyType_Spec core_annotation_spec, core_column_spec, core_table_spec, core_session_spec,
    core_sweep_spec, core_step_spec;

/** For tables of slots and methods: ISO C has no conversion from a function to an object pointer. */
#define CORE_SLOT(function)   ((void *)(uintptr_t)(function))
#define CORE_METHOD(function) ((PyCFunction)(void (*)(void))(function))

/** State of the module that a type of ours belongs to; none of them can be subclassed. */
static inline core_state *core_state_of(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

/** Free an object of a heap type whose members were cleared. */
void core_free(PyObject *self);

/* ---- errors.c ---- */

/** Make the exception Error. */
int core_error_add(PyObject *module, core_state *state);
/** Raise what a failed call said: MemoryError, ValueError (WM_EINVAL, WM_EPARSE) or Error. Returns NULL. */
PyObject *core_raise(const core_state *state, wm_status status, const wm_error *err);
/** The same for a call that reads or writes a file: OSError for WM_EIO, whose native code is errno then. */
PyObject *core_raise_file(const core_state *state, wm_status status, const wm_error *err);

/* ---- column.c ---- */

/** A new Column: the one of that number in the table. */
PyObject *core_column_new(core_state *state, const wm_table *table, size_t number);
/** Text of the core, whose bytes need not be UTF-8. */
PyObject *core_text(const char *text);
/** A cell or an entry of a context; None for a null. */
PyObject *core_value(const wm_value *value);

/* ---- table.c ---- */

/** A new RawTable, which takes over `made`, also when it fails. */
PyObject *core_table_new(core_state *state, wm_table *made);

/* ---- session.c ---- */

/** A sweep of the core, which may have to outlive the Sweep that owns it. */
typedef struct core_handle {
    wm_sweep *sweep;
    struct core_handle *next;
} core_handle;

typedef struct core_session {
    PyObject_HEAD wm_session *session;
    PyObject *log;     /* callable, or NULL */
    pid_t pid;         /* of the process that made it: a child of fork must not touch it */
    bool busy;         /* some call of it, or of a sweep of it, has not returned */
    core_handle *left; /* sweeps given up while it was busy */
} core_session;

/** Whether this is the process that made the session: false with an exception, RuntimeError unless one
 *  is on its way already, in a child of fork. */
bool core_session_own(const core_session *session);
/** Begin a call of the session or of a sweep of it: false with RuntimeError while another has not returned,
 *  and in a child of fork. */
bool core_session_enter(core_session *session);
void core_session_leave(core_session *session);
/** Destroy a sweep of the session and free the handle: at once, or when the call at hand returns. */
void core_session_drop(core_session *session, core_handle *handle);

/* ---- sweep.c ---- */

typedef struct core_sweep {
    PyObject_HEAD core_session *session;
    core_handle *handle; /* NULL: closed */
    PyObject *combine;   /* callable, or NULL */
    PyObject *collect;   /* callable, or NULL */
    PyObject *entered;   /* callable, or NULL */
    PyObject *raised;    /* by combine or collect, to be raised when the core returns; or NULL */
    PyObject *keys;      /* list: config_key by number */
    Py_ssize_t calls;
    char returned;                     /* a bool to Python: some call returned something else than None */
    bool began;                        /* run was called */
    struct core_collector *collectors; /* what the core's collectors are given */
} core_sweep;

/** The sweep of the core, for one call; NULL with RuntimeError when it is closed, or the session in use. The
 * call ends with core_session_leave. */
wm_sweep *core_sweep_enter(core_sweep *sweep);

/** Keep the exception at hand, if it is the first, for the return of the core: the core called back. */
void core_sweep_keep(core_sweep *sweep);

/** The texts of a tuple, with NULL at the end, to be freed; NULL with an exception that names `what`. They
 * live as long as the tuple. */
const char **core_texts(PyObject *tuple, const char *what);

/* ---- collect.c ---- */

/** Declare the collectors of a sweep, of (name, scope) each: those whose scope is "once", "config" or "run"
 *  are called through sweep->collect. Returns how many there are, -1 with an exception. *out: the core's, to
 * be freed by the caller when the sweep of the core was made. */
Py_ssize_t core_collectors_make(core_sweep *sweep, PyObject *pairs, wm_collector **out);
PyObject *core_sweep_collect(PyObject *self, PyObject *args, PyObject *keywords);

/* ---- annotation.c ---- */

/** Call sweep->entered wherever an annotation is entered from now on; NULL: nowhere. */
void core_entered_call(PyObject *function, size_t config, int64_t run);

/* ---- run.c ---- */

PyObject *core_sweep_run(PyObject *self, PyObject *args, PyObject *keywords);

/* ---- the functions of the module ---- */

PyObject *core_annotate(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords);
PyObject *core_active(PyObject *module, PyObject *unused);
PyObject *core_record(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_add_flops(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_add_bytes(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_add_items(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_skip(PyObject *module, PyObject *why);
PyObject *core_doctor(PyObject *module, PyObject *unused);
PyObject *core_facts(PyObject *module, PyObject *unused);
PyObject *core_ncu_find(PyObject *module, PyObject *unused);
PyObject *core_ncu_command(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_ncu_read(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_metrics(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_metrics_plan(PyObject *module, PyObject *args, PyObject *keywords);

#endif
