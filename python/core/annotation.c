/* Annotation and annotate: regions of the program that is measured. */
#include "core.h"

#include <string.h>

#include "base/clock.h"
#include "base/intern.h"
#include "session/thread.h"

typedef struct annotation {
    PyObject_HEAD PyObject *name;
    uint32_t id;
    char ignore_failures; /* a bool to Python */
} annotation;

/* ---- marks ---- */

/* Whether this thread has the region open in the run at hand. It has not where the run began inside the with
 * block: that is no mistake of the program, so no end without a begin is reported then. */
static bool is_open(uint32_t id) {
    const wmi_thread *t = wmi_thread_self();
    if (!t) return false;
    if (t->too_deep > 0) return true;
    for (uint32_t at = t->depth; at > 0; at--)
        if (t->stack[at - 1].name == id) return true;
    return false;
}

static void begin(uint32_t id, bool failed) {
    (void)failed;
    wm_begin_id(id);
}

static void end(uint32_t id, bool failed) {
    if (!is_open(id)) return;
    if (failed)
        wm_abandon_id(id);
    else
        wm_end_id(id);
}

static inline void mark(void (*what)(uint32_t, bool), uint32_t id, bool failed) {
    const int active = __atomic_load_n(&wm_active, __ATOMIC_RELAXED);
    if (WM_LIKELY(!active)) return;
    if (WM_LIKELY(!(active & WM_ACTIVE_WAITS))) {
        what(id, failed);
        return;
    }
    Py_BEGIN_ALLOW_THREADS;
    what(id, failed);
    Py_END_ALLOW_THREADS;
}

/* ---- collectors ---- */

/* Who is called where an annotation is entered, in the run at hand. Under the interpreter lock. */
static struct {
    PyObject *function; /* NULL: nobody */
    size_t config;
    int64_t run;
} entered;

void core_entered_call(PyObject *function, size_t config, int64_t run) {
    PyObject *before = entered.function;
    entered.function = Py_XNewRef(function);
    entered.config = config;
    entered.run = run;
    Py_XDECREF(before);
}

/* The path of a region that this thread is about to enter. */
static PyObject *path_of(PyObject *name) {
    const wmi_thread *t = wmi_thread_self();
    PyObject *path = PyUnicode_FromString("");
    for (uint32_t at = 0; path && t && at < t->depth; at++) {
        if (t->stack[at].name == WMI_ROOT_NAME) continue;
        PyObject *part = core_text(wmi_intern_name(t->stack[at].name));
        PyObject *longer = part ? PyUnicode_FromFormat("%U%U/", path, part) : NULL;
        Py_XDECREF(part);
        Py_DECREF(path);
        path = longer;
    }
    PyObject *whole = path ? PyUnicode_Concat(path, name) : NULL;
    Py_XDECREF(path);
    return whole;
}

/* What it takes is no time of the regions around. */
static __attribute__((noinline)) int entered_tell(PyObject *name) {
    const uint64_t begin_ticks = wmi_ticks();
    PyObject *function = Py_NewRef(entered.function);
    PyObject *path = path_of(name);
    PyObject *result = path ? PyObject_CallFunction(function, "nLOO", (Py_ssize_t)entered.config,
                                                    (long long)entered.run, name, path)
                            : NULL;
    Py_XDECREF(path);
    Py_DECREF(function);
    Py_XDECREF(result);
    wmi_thread_exclude(begin_ticks, wmi_ticks());
    return result ? 0 : -1;
}

static PyObject *annotation_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    if (WM_UNLIKELY(entered.function != NULL) && entered_tell(((annotation *)self)->name) < 0) return NULL;
    mark(begin, ((annotation *)self)->id, false);
    return Py_NewRef(self);
}

static PyObject *annotation_exit(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    const annotation *a = (annotation *)self;
    if (count != 3) {
        PyErr_Format(PyExc_TypeError, "__exit__ takes 3 arguments, not %zd", count);
        return NULL;
    }
    const bool ignored =
        args[0] != Py_None && a->ignore_failures && PyErr_GivenExceptionMatches(args[0], PyExc_Exception);
    mark(end, a->id, ignored);
    return PyBool_FromLong(ignored);
}

static PyObject *annotation_call(PyObject *self, PyObject *args, PyObject *keywords) {
    static char *names[] = {"", NULL};
    PyObject *function;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Annotation", names, &function)) return NULL;
    PyObject *module = PyImport_ImportModule("warpmeter.annotation");
    if (!module) return NULL;
    PyObject *decorated = PyObject_CallMethod(module, "decorate", "OO", self, function);
    Py_DECREF(module);
    return decorated;
}

static PyObject *annotation_repr(PyObject *self) {
    const annotation *a = (annotation *)self;
    return PyUnicode_FromFormat("annotate(%R%s)", a->name,
                                a->ignore_failures ? ", ignore_failures=True" : "");
}

/* ---- annotate ---- */

/* The id of a name that annotate was given, or 0 with an exception. */
static uint32_t region_id(PyObject *name) {
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (!text) return 0;
    if (length == 0 || (size_t)length != strlen(text)) {
        PyErr_SetString(PyExc_ValueError, length == 0 ? "annotate: the name of a region must not be empty"
                                                      : "annotate: the name of a region must not hold a NUL");
        return 0;
    }
    const uint32_t id = wm_region_id(text);
    if (!id) PyErr_NoMemory();
    return id;
}

static PyObject *annotation_new(core_state *state, PyObject *name, bool ignore_failures) {
    const uint32_t id = region_id(name);
    if (!id) return NULL;
    annotation *a = PyObject_GC_New(annotation, state->annotation);
    if (!a) return NULL;
    a->name = Py_NewRef(name);
    a->id = id;
    a->ignore_failures = ignore_failures;
    PyObject_GC_Track(a);
    return (PyObject *)a;
}

/* Out of line: the first time that an annotation of that name is asked for. */
static __attribute__((noinline)) PyObject *annotation_add(core_state *state, PyObject *name,
                                                          bool ignore_failures) {
    if (PyErr_Occurred()) return NULL;
    PyObject *made = annotation_new(state, name, ignore_failures);
    if (!made) return NULL;
    PyObject *all = ignore_failures ? state->ignoring : state->annotations;
    if (PyDict_SetItem(all, name, made) == 0) return made;
    Py_DECREF(made);
    return NULL;
}

/* name: a str, and of no subclass, which may have a hash of its own, as members of an enum have. */
static inline PyObject *annotation_of(core_state *state, PyObject *name, bool ignore_failures) {
    PyObject *found = PyDict_GetItemWithError(ignore_failures ? state->ignoring : state->annotations, name);
    return WM_LIKELY(found != NULL) ? Py_NewRef(found) : annotation_add(state, name, ignore_failures);
}

/* Arguments with keywords, by position: false with an exception. */
static bool arguments_read(PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject *out[2]) {
    static const char *const names[] = {"name", "ignore_failures"};
    const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    if (count > 2) {
        PyErr_Format(PyExc_TypeError, "annotate takes a name and ignore_failures, not %zd arguments", count);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) out[i] = args[i];
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *keyword = PyTuple_GetItem(keywords, i);
        const int at = PyUnicode_CompareWithASCIIString(keyword, names[0]) == 0   ? 0
                       : PyUnicode_CompareWithASCIIString(keyword, names[1]) == 0 ? 1
                                                                                  : -1;
        if (at < 0 || out[at]) {
            PyErr_Format(PyExc_TypeError,
                         at < 0 ? "annotate takes a name and ignore_failures, not '%U'"
                                : "annotate: there are two values for '%U'",
                         keyword);
            return false;
        }
        out[at] = args[count + i];
    }
    if (out[0]) return true;
    PyErr_SetString(PyExc_TypeError, "annotate takes the name of a region, as in annotate(\"forward\")");
    return false;
}

PyObject *core_annotate(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    core_state *state = PyModule_GetState(module);
    PyObject *given[2] = {NULL, NULL};
    bool ignore_failures = false;
    if (WM_LIKELY(count == 1 && !keywords)) {
        given[0] = args[0];
    } else {
        if (!arguments_read(args, count, keywords, given)) return NULL;
        const int truth = given[1] ? PyObject_IsTrue(given[1]) : 0;
        if (truth < 0) return NULL;
        ignore_failures = truth;
    }
    if (WM_UNLIKELY(!PyUnicode_Check(given[0]))) {
        PyErr_Format(PyExc_TypeError,
                     "annotate takes the name of a region as a str, as in annotate(\"forward\"), not %R",
                     (PyObject *)Py_TYPE(given[0]));
        return NULL;
    }
    if (WM_LIKELY(PyUnicode_CheckExact(given[0]))) return annotation_of(state, given[0], ignore_failures);
    PyObject *name = PyUnicode_FromObject(given[0]);
    PyObject *found = name ? annotation_of(state, name, ignore_failures) : NULL;
    Py_XDECREF(name);
    return found;
}

PyObject *core_active(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(WM_IS_ACTIVE());
}

/* ---- the type ---- */

static int annotation_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((annotation *)self)->name);
    return 0;
}

static void annotation_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Py_CLEAR(((annotation *)self)->name);
    core_free(self);
}

static PyMethodDef methods[] = {{"__enter__", annotation_enter, METH_NOARGS, NULL},
                                {"__exit__", CORE_METHOD(annotation_exit), METH_FASTCALL, NULL},
                                {NULL, NULL, 0, NULL}};

static PyMemberDef members[] = {
    {"name", T_OBJECT_EX, offsetof(annotation, name), READONLY, "Name of the region."},
    {"ignore_failures", T_BOOL, offsetof(annotation, ignore_failures), READONLY,
     "Whether exceptions that leave it are swallowed."},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "A region of the program: a context manager and a decorator."},
                              {Py_tp_dealloc, CORE_SLOT(annotation_dealloc)},
                              {Py_tp_traverse, CORE_SLOT(annotation_traverse)},
                              {Py_tp_repr, CORE_SLOT(annotation_repr)},
                              {Py_tp_call, CORE_SLOT(annotation_call)},
                              {Py_tp_methods, methods},
                              {Py_tp_members, members},
                              {0, NULL}};

PyType_Spec core_annotation_spec = {"warpmeter._core.Annotation", sizeof(annotation), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                                    slots};
