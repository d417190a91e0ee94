/* wm_doctor: what this machine can measure, what it cannot, why, and what to do
 * about it. Every backend tells of itself; the rest are facts about the machine
 * that decide how far a measurement can be trusted. */
#include <limits.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "base/c_locale.h"
#include "base/clock.h"
#include "formula/formula.h"
#include "input/groups.h"
#include "machine/machine.h"
#include "ncu/ncu.h"
#include "session/nvtx.h"
#include "table/table.h"

enum {
#define DOCTOR_ENUM(id, name, type, unit, text) COL_##id,
    WMI_DOCTOR_COLUMNS(DOCTOR_ENUM)
#undef DOCTOR_ENUM
        COL_COUNT
};

static const char *const state_names[] = {
    [WMI_STATE_OK] = "ok", [WMI_STATE_LIMITED] = "limited", [WMI_STATE_ABSENT] = "absent"};

static void probe_source(wmi_probe *p) {
    const char *wish = getenv("WARPMETER_TIMER");
    bool asked = wish && *wish;
    if (wmi_clock_counter)
        wmi_probe_add(p, "timer", "source", WMI_STATE_OK, "", "", "%s", wmi_clock_name());
    else
        wmi_probe_add(
            p, "timer", "source", WMI_STATE_LIMITED,
            asked ? "WARPMETER_TIMER asks for it; marks cost more than with the cycle counter"
                  : "the kernel does not say that it trusts the cycle counter; marks cost more without it",
            asked ? "unset WARPMETER_TIMER" : "", "%s", wmi_clock_name());
}

/* A timer that is asked for and is not here is a finding; a name that no timer has
 * is a mistake of the user's. */
static wm_status probe_timer(wmi_probe *p, wm_error *err) {
    wmi_clock clock;
    wm_error why = WM_ERROR_INIT;
    wm_status status = wmi_clock_init(&clock, &why);
    if (status == WM_OK) {
        probe_source(p);
        wmi_probe_add(p, "timer", "cost", WMI_STATE_OK, "", "", "%.1f ns for two readings",
                      clock.pair_cost_ns);
    } else if (status == WM_EUNSUPPORTED) {
        wmi_probe_add(p, "timer", "source", WMI_STATE_ABSENT, why.message, "unset WARPMETER_TIMER", "%s", "");
        status = WM_OK;
    } else if (err) {
        *err = why;
    }
    return status;
}

static void probe_formulas(wmi_probe *p) {
    const char *version = NULL, *path = NULL;
    wm_error why = WM_ERROR_INIT;
    wm_status status = wmi_formula_library(&version, &path, &why);
    if (status == WM_OK)
        wmi_probe_add(p, "formulas", "muParser", WMI_STATE_OK, "", "", "%s (%s)", version, path);
    else if (status == WM_ENOMEM)
        p->failed = true;
    else
        wmi_probe_add(p, "formulas", "muParser", WMI_STATE_ABSENT, why.message,
                      "apt-get install libmuparser2v5; only --derive and metric groups need it", "%s", "");
}

/* ncu is asked for its version: a program of that name need not be it. */
static void probe_ncu(wmi_probe *p) {
    static const char remedy[] =
        "install Nsight Compute, or set WARPMETER_NCU to its path; only warpmeter ncu needs it";
    char path[PATH_MAX], version[64];
    wm_error why = WM_ERROR_INIT;
    wm_status status = wm_ncu_find(path, sizeof path, &why);
    const char *given = getenv("WARPMETER_NCU");
    const bool looked = status == WM_ENOTFOUND && !(given && *given); /* the message repeats the remedy */
    if (status == WM_OK) status = wmi_ncu_version(path, version, sizeof version, &why);
    if (status == WM_OK)
        wmi_probe_add(p, "tools", "ncu", WMI_STATE_OK, "", "", "%s (%s)", version, path);
    else if (status == WM_ENOMEM)
        p->failed = true;
    else
        wmi_probe_add(p, "tools", "ncu", WMI_STATE_ABSENT, looked ? "it was not found" : why.message, remedy,
                      "%s", "");
}

static void probe_nvtx(wmi_probe *p) {
    const bool built = wmi_nvtx_built();
    wmi_probe_add(
        p, "tools", "nvtx", built ? WMI_STATE_OK : WMI_STATE_ABSENT,
        built ? "" : "built without nvtx3/nvToolsExt.h, so other tools, ncu among them, see no regions",
        built ? "" : "build warpmeter where the CUDA toolkit is installed, or python3's nvidia-nvtx", "%s",
        built ? "built in" : "");
}

/* A fact that has a text, or the news that it cannot be read. */
static void probe_fact(wmi_probe *p, const char *item, const char *text, const char *why_unknown) {
    bool known = text[0] != '\0';
    wmi_probe_add(p, "machine", item, known ? WMI_STATE_OK : WMI_STATE_ABSENT, known ? "" : why_unknown, "",
                  "%s", text);
}

static void probe_switch(wmi_probe *p, const char *item, int state) {
    probe_fact(p, item, state < 0 ? "" : state ? "on" : "off", "the system does not tell");
}

static void probe_caches(wmi_probe *p, const wmi_machine *m) {
    if (m->cache_count == 0) probe_fact(p, "cache", "", "the system does not tell");
    for (int i = 0; i < m->cache_count; i++) {
        const wmi_cache *c = &m->caches[i];
        wmi_probe_add(p, "machine", "cache", WMI_STATE_OK, "", "", "L%d %s %lld KiB x %d", c->level, c->type,
                      (long long)(c->size_bytes / 1024), c->count);
    }
}

static void probe_processor(wmi_probe *p, const wmi_machine *m) {
    probe_fact(p, "cpu", m->cpu, "the system does not tell");
    if (m->cpus_online > 0)
        wmi_probe_add(p, "machine", "processors", WMI_STATE_OK, "", "", "%d online, %d for this process",
                      m->cpus_online, m->cpus_allowed);
    else
        wmi_probe_add(p, "machine", "processors", WMI_STATE_LIMITED, "/sys does not tell how many are online",
                      "mount /sys", "%d for this process", m->cpus_allowed);
    probe_caches(p, m);
    if (m->max_hz > 0)
        wmi_probe_add(p, "machine", "frequency", WMI_STATE_OK, "", "", "up to %.0f MHz", m->max_hz / 1e6);
    else
        probe_fact(p, "frequency", "", "the system does not tell");
    probe_fact(p, "governor", m->governor, "the system has no frequency policy to read");
    probe_switch(p, "turbo", m->turbo);
    probe_switch(p, "smt", m->smt);
}

static void probe_system(wmi_probe *p, const wmi_machine *m) {
    probe_fact(p, "host", m->host, "the system does not tell");
    probe_fact(p, "os", m->os, "no os-release file");
    probe_fact(p, "kernel", m->kernel, "the system does not tell");
    if (m->memory_bytes > 0)
        wmi_probe_add(p, "machine", "memory", WMI_STATE_OK, "", "", "%lld MiB",
                      (long long)(m->memory_bytes / (1024 * 1024)));
    else
        probe_fact(p, "memory", "", "the system does not tell");
    if (m->load1 >= 0)
        wmi_probe_add(p, "machine", "load", WMI_STATE_OK, "", "", "%.2f over the last minute", m->load1);
    else
        probe_fact(p, "load", "", "the system does not tell");
    wmi_probe_add(p, "machine", "virtual", m->virtual_machine ? WMI_STATE_LIMITED : WMI_STATE_OK,
                  m->virtual_machine ? "other guests of the host can disturb a measurement" : "",
                  m->virtual_machine ? "take more runs, and compare within one run" : "", "%s",
                  m->virtual_machine ? "yes" : "no");
}

static void probe_machine(wmi_probe *p) {
    enum { WARNINGS_MAX = 8 };
    wmi_machine m;
    wmi_machine_warning warnings[WARNINGS_MAX];
    wmi_machine_read(&m, "");
    probe_system(p, &m);
    probe_processor(p, &m);
    int count = wmi_machine_warnings(&m, warnings, WARNINGS_MAX);
    for (int i = 0; i < count; i++)
        wmi_probe_add(p, "machine", "warning", WMI_STATE_LIMITED, warnings[i].what, warnings[i].remedy, "%s",
                      "");
}

static wm_status set_text(wm_table *t, size_t row, size_t column, const char *text) {
    return text[0] ? wmi_table_set(t, row, column, wmi_str(text)) : WM_OK;
}

static wm_status add_finding(wm_table *t, const wmi_finding *f) {
    const char *texts[COL_COUNT] = {
        [COL_COMPONENT] = f->component, [COL_ITEM] = f->item,     [COL_STATE] = state_names[f->state],
        [COL_VALUE] = f->value,         [COL_REASON] = f->reason, [COL_REMEDY] = f->remedy,
    };
    size_t row;
    wm_status status = wmi_table_add_row(t, &row);
    for (size_t i = 0; i < COL_COUNT && status == WM_OK; i++) status = set_text(t, row, i, texts[i]);
    return status;
}

static wm_status make_table(const wmi_probe *p, wm_table **out) {
    wm_table *t = wmi_schema_table(wmi_schema_of("doctor"), 0, NULL, NULL);
    wm_status status = t ? wmi_table_set_context(t, "version", wmi_str(wm_version())) : WM_ENOMEM;
    for (size_t i = 0; i < p->n && status == WM_OK; i++) status = add_finding(t, &p->v[i]);
    if (status == WM_OK) {
        *out = t;
    } else {
        wm_table_destroy(t);
    }
    return status;
}

wm_status wm_doctor(wm_table **out, wm_error *err) {
    wmi_probe probe = {NULL, 0, 0, false};
    if (!out) return wmi_error_set(err, WM_EINVAL, 0, "wm_doctor needs a place for the table");
    locale_t previous = wmi_c_locale_enter(); /* findings hold numbers */
    wm_status status = wmi_group_folders_check(err);
    if (status == WM_OK) status = probe_timer(&probe, err);
    if (status == WM_OK) {
        wmi_backends_probe(&probe);
        probe_formulas(&probe);
        probe_ncu(&probe);
        probe_nvtx(&probe);
        probe_machine(&probe);
        status = probe.failed ? WM_ENOMEM : make_table(&probe, out);
        if (status != WM_OK) wmi_error_nomem(err);
    }
    wmi_c_locale_leave(previous);
    wmi_probe_free(&probe);
    return status;
}
