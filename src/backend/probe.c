#include <stdio.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "base/c_locale.h"

static wmi_finding *next_finding(wmi_probe *p) {
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        wmi_finding *v = realloc(p->v, cap * sizeof *v);
        if (!v) return NULL;
        p->v = v;
        p->cap = cap;
    }
    return &p->v[p->n++];
}

void wmi_probe_add(wmi_probe *p, const char *component, const char *item, wmi_state state, const char *reason,
                   const char *remedy, const char *value_fmt, ...) {
    wmi_finding *f = next_finding(p);
    if (!f) {
        p->failed = true;
        return;
    }
    *f = (wmi_finding){.component = component, .item = item, .state = state};
    snprintf(f->reason, sizeof f->reason, "%s", reason);
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
    va_list args;
    va_start(args, value_fmt);
    locale_t previous = wmi_c_locale_enter();
    vsnprintf(f->value, sizeof f->value, value_fmt, args);
    wmi_c_locale_leave(previous);
    va_end(args);
}

void wmi_probe_free(wmi_probe *p) {
    free(p->v);
    *p = (wmi_probe){0};
}
