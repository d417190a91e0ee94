/* What backends hand over: growing lists. */
#include <stdlib.h>

#include "backend/backend.h"

static void *grow(void *v, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return v;
    const size_t more = *cap ? 2 * *cap : 64;
    void *grown = realloc(v, more * size);
    if (grown) *cap = more;
    return grown;
}

bool wmi_readings_add(wmi_readings *r, wmi_reading reading) {
    wmi_reading *v = grow(r->v, r->n, &r->cap, sizeof *v);
    if (!v) return false;
    r->v = v;
    r->v[r->n++] = reading;
    return true;
}

bool wmi_records_add(wmi_records *r, const wmi_record *record) {
    wmi_record *v = grow(r->v, r->n, &r->cap, sizeof *v);
    if (!v) return false;
    r->v = v;
    r->v[r->n++] = *record;
    return true;
}

void wmi_readings_free(wmi_readings *r) {
    free(r->v);
    *r = (wmi_readings){0};
}

void wmi_records_free(wmi_records *r) {
    free(r->v);
    *r = (wmi_records){0};
}

void wmi_drained_free(wmi_drained *d) {
    wmi_readings_free(&d->readings);
    wmi_records_free(&d->records);
}
