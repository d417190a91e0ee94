#include <stdlib.h>

#include "backend/backend.h"

bool wmi_readings_add(wmi_readings *r, wmi_reading reading) {
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 64;
        wmi_reading *v = realloc(r->v, cap * sizeof *v);
        if (!v) return false;
        r->v = v;
        r->cap = cap;
    }
    r->v[r->n++] = reading;
    return true;
}

void wmi_readings_free(wmi_readings *r) {
    free(r->v);
    *r = (wmi_readings){0};
}
