#include "samples/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 8 };

static bool chunk_resize(wmi_chunk *c, size_t from, size_t to) {
    double *value = realloc(c->value, to * sizeof *value);
    if (!value) return false;
    c->value = value;
    int32_t *run = realloc(c->run, to * sizeof *run);
    if (!run) return false;
    c->run = run;
    if (!c->reason) return true;
    uint8_t *reason = realloc(c->reason, to);
    if (!reason) return false;
    c->reason = reason;
    memset(reason + from, WM_REASON_NONE, to - from);
    return true;
}

/* Room for one more value in the last chunk. The first chunk grows by half, so that
 * thousands of short series take little more than what they hold. */
static bool reserve(wmi_series *s) {
    size_t used = s->chunks ? s->n - (s->chunks - 1) * WMI_CHUNK : 0;
    if (s->chunks && used < s->room) return true;
    if (s->chunks && s->room < WMI_CHUNK) {
        size_t room = s->room + s->room / 2;
        if (room > WMI_CHUNK) room = WMI_CHUNK;
        if (!chunk_resize(&s->chunk[s->chunks - 1], s->room, room)) return false;
        s->room = room;
        return true;
    }
    if (s->chunks == s->chunk_cap) {
        size_t cap = s->chunk_cap ? s->chunk_cap * 2 : 1;
        wmi_chunk *chunk = realloc(s->chunk, cap * sizeof *chunk);
        if (!chunk) return false;
        s->chunk = chunk;
        s->chunk_cap = cap;
    }
    wmi_chunk fresh = {0};
    size_t room = s->chunks ? WMI_CHUNK : FIRST_ROOM;
    if (!chunk_resize(&fresh, 0, room)) {
        free(fresh.value);
        return false;
    }
    s->chunk[s->chunks++] = fresh;
    s->room = room;
    return true;
}

wm_status wmi_series_add(wmi_series *s, int32_t run, double value, wm_reason why) {
    if (!reserve(s)) return WM_ENOMEM;
    wmi_chunk *c = &s->chunk[s->chunks - 1];
    if (why == WM_REASON_NONE && !isfinite(value)) why = WM_REASON_NOT_FINITE;
    if (why != WM_REASON_NONE && !c->reason && !(c->reason = calloc(s->room, 1))) return WM_ENOMEM;
    size_t at = s->n++ % WMI_CHUNK;
    c->value[at] = why == WM_REASON_NONE ? value : NAN;
    c->run[at] = run;
    if (c->reason) c->reason[at] = (uint8_t)why;
    if (why != WM_REASON_NONE) {
        s->nulls++;
        s->last_reason = why;
    }
    return WM_OK;
}

/* Runs of a series rise, but for those of entries, of which there are several in a run. */
static size_t find_run(const wmi_series *s, int32_t run) {
    size_t low = 0, high = s->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (wmi_series_run(s, mid) < run)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && wmi_series_run(s, low) == run ? low : SIZE_MAX;
}

wm_status wmi_series_put(wmi_series *s, int32_t run, double value, wm_reason why) {
    const size_t i = find_run(s, run);
    if (i == SIZE_MAX) return WM_ENOTFOUND;
    wmi_chunk *c = &s->chunk[i / WMI_CHUNK];
    const size_t at = i % WMI_CHUNK, room = i / WMI_CHUNK + 1 == s->chunks ? s->room : WMI_CHUNK;
    if (why == WM_REASON_NONE && !isfinite(value)) why = WM_REASON_NOT_FINITE;
    if (why != WM_REASON_NONE && !c->reason && !(c->reason = calloc(room, 1))) return WM_ENOMEM;
    if (c->reason) {
        s->nulls -= c->reason[at] != WM_REASON_NONE;
        c->reason[at] = (uint8_t)why;
    }
    c->value[at] = why == WM_REASON_NONE ? value : NAN;
    if (why != WM_REASON_NONE) {
        s->nulls++;
        s->last_reason = why;
    }
    return WM_OK;
}
