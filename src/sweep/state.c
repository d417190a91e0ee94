#include "sweep/state.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "session/thread.h"
#include "sweep/sweep.h"

void wmi_state_reset(wm_state *st, wm_sweep *sweep, wmi_point *point, int thread, int threads) {
    st->sweep = sweep;
    st->point = point;
    st->thread = thread;
    st->threads = threads;
    st->outcome = WMI_OUTCOME_OK;
    st->why[0] = 0;
    st->notes.n = 0;
    st->repeating = WMI_REPEAT_NONE;
}

void wmi_state_fini(wm_state *st) { free(st->notes.v); }

/* ---- outcome ---- */

static void outcome(wm_state *st, wmi_outcome what, const char *fmt, va_list args) {
    if (st->outcome != WMI_OUTCOME_OK) return;
    wm_error line; /* for its one-line, valid-UTF-8 text */
    wmi_error_vset(&line, WM_OK, 0, fmt, args);
    memcpy(st->why, line.message, sizeof st->why - 1);
    st->why[sizeof st->why - 1] = 0;
    st->outcome = what;
}

void wm_skip(wm_state *st, const char *why, ...) {
    va_list args;
    va_start(args, why);
    outcome(st, WMI_OUTCOME_SKIP, why, args);
    va_end(args);
}

void wm_fail(wm_state *st, const char *why, ...) {
    va_list args;
    va_start(args, why);
    outcome(st, WMI_OUTCOME_FAIL, why, args);
    va_end(args);
}

/* ---- parameters ---- */

static const char *type_name(wm_type type) {
    static const char *const names[] = {"null", "an int64", "a double", "a string", "a bool"};
    return names[type];
}

wm_status wm_param(wm_state *st, const char *name, wm_value *out) {
    for (size_t i = 0; i < st->point->count; i++) {
        if (strcmp(st->point->names[i], name)) continue;
        *out = st->point->values[i];
        return WM_OK;
    }
    return WM_ENOTFOUND;
}

/* The parameter if it is of this type; otherwise the configuration fails. */
static bool param_of(wm_state *st, const char *name, wm_type type, wm_value *out) {
    if (wm_param(st, name, out) != WM_OK) {
        wm_fail(st, "there is no parameter '%s'", name);
        return false;
    }
    if (out->type == type || (type == WM_F64 && out->type == WM_I64)) return true;
    wm_fail(st, "the parameter '%s' is %s, not %s", name, type_name(out->type), type_name(type));
    return false;
}

int64_t wm_i64(wm_state *st, const char *name) {
    wm_value v;
    return param_of(st, name, WM_I64, &v) ? v.as.i64 : 0;
}

double wm_f64(wm_state *st, const char *name) {
    wm_value v;
    if (!param_of(st, name, WM_F64, &v)) return 0.0;
    return v.type == WM_I64 ? (double)v.as.i64 : v.as.f64;
}

const char *wm_str(wm_state *st, const char *name) {
    wm_value v;
    return param_of(st, name, WM_STR, &v) ? v.as.str : "";
}

bool wm_bool(wm_state *st, const char *name) {
    wm_value v;
    return param_of(st, name, WM_BOOL, &v) && v.as.b;
}

void *wm_user(wm_state *st) { return st->sweep->user; }
void wm_set_data(wm_state *st, void *data) { st->sweep->data = data; }
void *wm_data(wm_state *st) { return st->sweep->data; }
int wm_threads(wm_state *st) { return st->threads; }
int wm_thread(wm_state *st) { return st->thread; }
size_t wm_config(wm_state *st) { return (size_t)(st->point - st->sweep->points); }
int64_t wm_run(wm_state *st) { return st->sweep->cursor.at[WMI_DIM_RUN]; }

/* ---- notes ---- */

enum { NOTES_LOOKED_AT = 16 }; /* how far back an equal note is looked for, to add to it */

static bool same_key(const wmi_note *a, const wmi_note *b) {
    return a->kind == b->kind && a->when == b->when && a->region == b->region && a->metric == b->metric &&
           a->entry == b->entry;
}

static void note(wm_state *st, wmi_note n) {
    wmi_notes *all = &st->notes;
    const size_t stop = all->n > NOTES_LOOKED_AT ? all->n - NOTES_LOOKED_AT : 0;
    for (size_t i = all->n; i-- > stop;) {
        if (!same_key(&all->v[i], &n)) continue;
        all->v[i].value += n.value;
        return;
    }
    if (!wmi_notes_add(all, n)) wm_fail(st, "out of memory");
}

static void add_amount(wm_state *st, wmi_note_kind kind, const char *region, double amount) {
    const uint32_t id = region ? wmi_intern(region) : 0;
    if (region && !id) {
        wm_fail(st, "out of memory");
        return;
    }
    const wmi_note_when when = st->repeating == WMI_REPEAT_CALIBRATE ? WMI_NOTE_TRIED
                               : st->repeating == WMI_REPEAT_MEASURE ? WMI_NOTE_REPEATED
                                                                     : WMI_NOTE_ONCE;
    note(st, (wmi_note){kind, when, id, 0, 0, WMI_NO_ENTRY, amount});
}

void wm_add_flops(wm_state *st, const char *region, double count) {
    add_amount(st, WMI_NOTE_FLOPS, region, count);
}
void wm_add_bytes(wm_state *st, const char *region, double count) {
    add_amount(st, WMI_NOTE_BYTES, region, count);
}
void wm_add_items(wm_state *st, const char *region, double count) {
    add_amount(st, WMI_NOTE_ITEMS, region, count);
}
void wm_set_time_ns(wm_state *st, const char *region, double time_ns) {
    if (!__builtin_isfinite(time_ns) || time_ns < 0)
        wm_fail(st, "wm_set_time_ns takes a time of at least 0, not %g", time_ns);
    else
        add_amount(st, WMI_NOTE_TIME, region, time_ns);
}

bool wmi_sweep_is_taken(const wm_sweep *sweep, const char *metric) {
    static const char *const always[] = {"time", "flop_rate", "byte_rate", "item_rate"};
    const wmi_measure *m = sweep->measure;
    const wmi_rows_how *how = &sweep->session->how[sweep->bench];
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (!strcmp(metric, always[i])) return true;
    for (size_t i = 0; i < m->gauge_count; i++)
        if (!strcmp(metric, m->gauges[i].about.name)) return true;
    for (size_t i = 0; i < how->formula_count; i++)
        if (!strcmp(metric, wmi_formula_name(how->formulas[i]))) return true;
    for (size_t i = 0; i < how->derivation_count; i++)
        if (!strcmp(metric, how->derivations[i].metric)) return true;
    return false;
}

/* Interned texts are the same where their addresses are. */
const char *wmi_sweep_unit_before(const wm_sweep *sweep, const char *metric) {
    const wmi_samples *samples = sweep->session->samples;
    for (uint32_t i = 0; i < wmi_samples_metrics(samples); i++)
        if (wmi_samples_metric_at(samples, i)->name == metric) return wmi_samples_metric_at(samples, i)->unit;
    return NULL;
}

/* May the value be taken? What this run recorded before is looked at first, since it can
 * be called often. */
static bool record_check(wm_state *st, uint32_t metric, uint32_t unit) {
    const char *name = wmi_intern_name(metric), *given = wmi_intern_name(unit), *before = NULL;
    for (size_t i = st->notes.n; i-- > 0 && !before;)
        if (st->notes.v[i].kind == WMI_NOTE_VALUE && st->notes.v[i].metric == metric)
            before = wmi_intern_name(st->notes.v[i].unit);
    if (!before && wmi_sweep_is_taken(st->sweep, name)) {
        wm_fail(st, "wm_record takes a name of its own, and '%s' is a metric already", name);
        return false;
    }
    if (!before) before = wmi_sweep_unit_before(st->sweep, name);
    if (!before || before == given) return true;
    wm_fail(st, "wm_record has '%s' in '%s' here and in '%s' before", name, given, before);
    return false;
}

void wm_record(wm_state *st, const char *metric, double value, const char *unit) {
    if (!metric || !*metric) {
        wm_fail(st, "wm_record needs the name of a metric");
        return;
    }
    const uint32_t name = wmi_intern(metric), unit_id = wmi_intern(unit ? unit : "");
    if (!name || !unit_id) {
        wm_fail(st, "out of memory");
        return;
    }
    if (!record_check(st, name, unit_id) || st->repeating == WMI_REPEAT_CALIBRATE) return;
    if (st->repeating == WMI_REPEAT_MEASURE) value /= (double)st->repeat_count;
    note(st, (wmi_note){WMI_NOTE_VALUE, WMI_NOTE_ONCE, 0, name, unit_id, wmi_thread_innermost(), value});
}
