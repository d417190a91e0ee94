/* Launches come in the order of their correlation numbers; so do records nearly, by stream. Each
 * block of records is sorted for itself, and a heap of the blocks gives them in order, so that a
 * block is freed when its last record was joined and no second copy of them exists. */
#include "backend/cuda/join.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "backend/cuda/kernel_names.h"
#include "backend/cuda/kernels_seen.h"
#include "base/intern.h"

/* Further than this from its launch no record lies. */
#define YEAR_NS (INT64_C(365) * 24 * 3600 * 1000000000)

/* ---- records in order ---- */

static int compare(const wmi_activity *a, const wmi_activity *b) {
    if (a->correlation != b->correlation) return a->correlation < b->correlation ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static int by_correlation(const void *a, const void *b) { return compare(a, b); }

static bool is_sorted(const wmi_activity_block *b) {
    for (size_t i = 1; i < b->n; i++) {
        if (compare(&b->v[i - 1], &b->v[i]) > 0) return false;
    }
    return true;
}

static const wmi_activity *front(const wmi_join_cursor *c) { return &c->block->v[c->next]; }

static bool before(const wmi_join_cursor *a, const wmi_join_cursor *b) {
    const int c = compare(front(a), front(b));
    return c < 0 || (c == 0 && a->order < b->order);
}

static void sift_down(wmi_join *j, size_t i) {
    const wmi_join_cursor moved = j->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= j->heap_n) break;
        if (child + 1 < j->heap_n && before(&j->heap[child + 1], &j->heap[child])) child++;
        if (!before(&j->heap[child], &moved)) break;
        j->heap[i] = j->heap[child];
        i = child;
    }
    j->heap[i] = moved;
}

static const wmi_activity *peek(const wmi_join *j) { return j->heap_n ? front(&j->heap[0]) : NULL; }

static void advance(wmi_join *j) {
    wmi_join_cursor *c = &j->heap[0];
    if (++c->next == c->block->n) {
        free(c->block);
        *c = j->heap[--j->heap_n];
    }
    if (j->heap_n) sift_down(j, 0);
}

/* ---- graphs ---- */

static const wmi_launch *find_launch(const wmi_join_input *in, uint32_t correlation) {
    size_t low = 0, high = in->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (in->launches[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < in->count && in->launches[low].correlation == correlation ? &in->launches[low] : NULL;
}

/* Mark the graph launches that have records. false: one of them belongs to no graph launch. */
static bool mark_graphs(const wmi_join_input *in, uint8_t *has) {
    for (size_t b = 0; b < in->activities.n; b++) {
        const wmi_activity_block *block = in->activities.v[b];
        for (size_t i = 0; i < block->n; i++) {
            if (!(block->v[i].flags & WMI_ACTIVITY_GRAPH)) continue;
            const wmi_launch *l = find_launch(in, block->v[i].correlation);
            if (!l || l->kind != WMI_LAUNCH_GRAPH) return false;
            has[(l - in->launches) / 8] |= (uint8_t)(1u << ((l - in->launches) % 8));
        }
    }
    return true;
}

/* Can the graph launches not be told apart by these records? A wrong number belongs to no graph
 * launch, or to another one: then one is left without. */
static wm_status check_graphs(const wmi_join_input *in, bool *lost, wm_error *err) {
    *lost = false;
    size_t graphs = 0;
    for (size_t i = 0; i < in->count; i++) graphs += in->launches[i].kind == WMI_LAUNCH_GRAPH;
    if (graphs == 0) return WM_OK;
    *lost = in->incomplete; /* a graph may lack any of its kernels */
    if (*lost || !in->graphs_checked) return WM_OK;
    uint8_t *has = calloc(in->count / 8 + 1, 1);
    if (!has) return wmi_error_nomem(err);
    *lost = !mark_graphs(in, has);
    for (size_t i = 0; i < in->count && !*lost; i++)
        *lost = in->launches[i].kind == WMI_LAUNCH_GRAPH && !(has[i / 8] >> (i % 8) & 1);
    free(has);
    return WM_OK;
}

/* ---- one record ---- */

static uint32_t label_of_ordinal(int ordinal) {
    const wmi_cuda_device *devices;
    size_t count;
    if (wmi_cuda_devices(&devices, &count, NULL) != WM_OK) return 0;
    for (size_t i = 0; i < count; i++) {
        if (devices[i].ordinal == ordinal) return devices[i].label;
    }
    return 0;
}

static uint32_t label_of_context(size_t index) {
    if (index >= wmi_launches_contexts()) return 0;
    return wmi_launches_context(index).device->label;
}

static bool is_ignored(const wmi_device_opts *opts, uint32_t plain) {
    for (size_t i = 0; i < opts->ignored_count; i++) {
        if (fnmatch(opts->ignored[i], wmi_intern_name(plain), 0) == 0) return true;
    }
    return false;
}

/* NULL when out of memory. */
static const struct wmi_join_name *name_of(wmi_join *j, const wmi_device_opts *opts, uint32_t name) {
    struct wmi_join_name *n = &j->names[name % WMI_JOIN_NAMES];
    if (n->name == name) return n;
    const wmi_kernel_name made = wmi_kernel_name_of(wmi_intern_name(name));
    if (!made.binary) return NULL;
    *n = (struct wmi_join_name){name, made.full, made.plain, is_ignored(opts, made.plain)};
    return n;
}

static bool times_true(const wmi_activity *a, const wmi_launch *l) {
    return !(a->flags & WMI_ACTIVITY_INVALID) && (int64_t)a->begin >= l->call_ns - YEAR_NS &&
           (int64_t)a->end <= l->call_ns + YEAR_NS;
}

static wmi_record record_of(const wmi_join *j, const wmi_launch *l) {
    return (wmi_record){.entry = l->entry,
                        .launch_ns = l->call_ns,
                        .correlation = l->correlation,
                        .thread = l->thread,
                        .run = l->run,
                        .flags = (uint8_t)((l->kind == WMI_LAUNCH_GRAPH ? WMI_RECORD_GRAPH : 0) |
                                           (j->shared ? WMI_RECORD_SHARED : 0))};
}

static bool fill_kernel(wmi_join *j, const wmi_device_opts *opts, const wmi_activity *a, bool first,
                        wmi_record *r) {
    for (int i = 0; i < 3; i++) {
        r->grid[i] = a->grid[i];
        r->block[i] = a->block[i];
    }
    r->registers = a->registers;
    r->static_shared = a->of.shared[0];
    r->dynamic_shared = a->of.shared[1];
    if (first) r->flags |= WMI_RECORD_FIRST;
    if (!a->name) return true;
    const struct wmi_join_name *name = name_of(j, opts, a->name);
    if (!name) return false;
    r->name = a->name;
    r->full = name->full;
    r->plain = name->plain;
    if (name->ignored) r->flags |= WMI_RECORD_IGNORED;
    return true;
}

/* Join one record to its launch. false when out of memory. */
static bool answer(wmi_join *j, const wmi_device_opts *opts, const wmi_launch *l, const wmi_activity *a,
                   wmi_records *out) {
    bool first = false;
    if (a->kind == WMI_RECORD_KERNEL && !wmi_kernels_seen_add(a->name, a->device, &first)) return false;
    j->answered = true;
    if (l->entry == WMI_NO_ENTRY) return true;
    wmi_record r = record_of(j, l);
    r.kind = a->kind;
    r.device = label_of_ordinal(a->device);
    r.stream = a->stream;
    if (times_true(a, l)) {
        r.begin_ns = (int64_t)a->begin;
        r.end_ns = (int64_t)a->end;
    } else {
        r.reason = WM_REASON_INVALID_RECORD;
    }
    if (a->kind != WMI_RECORD_KERNEL)
        r.bytes = a->of.bytes;
    else if (!fill_kernel(j, opts, a, first, &r))
        return false;
    return wmi_records_add(out, &r);
}

static bool answer_none(const wmi_join *j, const wmi_launch *l, wmi_records *out) {
    if (l->entry == WMI_NO_ENTRY) return true;
    wmi_record r = record_of(j, l);
    r.kind = (uint8_t)(l->kind == WMI_LAUNCH_COPY  ? WMI_RECORD_COPY
                       : l->kind == WMI_LAUNCH_SET ? WMI_RECORD_SET
                                                   : WMI_RECORD_KERNEL);
    r.device = label_of_context(l->context);
    r.reason = WM_REASON_NO_RECORD;
    return wmi_records_add(out, &r);
}

/* A record that no launch is given: its kernel was launched all the same. */
static bool drop(wmi_join *j) {
    const wmi_activity *a = peek(j);
    bool first;
    if (j->graphs_lost && (a->flags & WMI_ACTIVITY_GRAPH) && a->kind == WMI_RECORD_KERNEL &&
        !wmi_kernels_seen_add(a->name, a->device, &first))
        return false;
    advance(j);
    return true;
}

static bool belongs(const wmi_join *j, const wmi_launch *l, const wmi_activity *a) {
    if (l->kind == WMI_LAUNCH_GRAPH) return !j->graphs_lost;
    return !(a->flags & WMI_ACTIVITY_GRAPH);
}

/* ---- the join ---- */

wm_status wmi_join_begin(wmi_join *j, wmi_join_input *in, wm_error *err) {
    *j = (wmi_join){.launches = in->launches, .n = in->count, .shared = in->shared};
    wm_status status = check_graphs(in, &j->graphs_lost, err);
    if (status == WM_OK && in->activities.n) {
        j->heap = malloc(in->activities.n * sizeof *j->heap);
        if (!j->heap) status = wmi_error_nomem(err);
    }
    if (status != WM_OK) {
        wmi_activity_blocks_free(&in->activities);
        *j = (wmi_join){0};
        return status;
    }
    for (size_t i = 0; i < in->activities.n; i++) {
        wmi_activity_block *b = in->activities.v[i];
        if (!is_sorted(b)) qsort(b->v, b->n, sizeof *b->v, by_correlation);
        j->heap[j->heap_n++] = (wmi_join_cursor){b, 0, i};
    }
    free(in->activities.v);
    in->activities = (wmi_activity_blocks){0};
    for (size_t i = j->heap_n / 2; i-- > 0;) sift_down(j, i);
    return WM_OK;
}

wm_status wmi_join_some(wmi_join *j, const wmi_device_opts *opts, size_t most, wmi_records *out,
                        wm_error *err) {
    const size_t end = out->n + most;
    while (j->at < j->n && out->n < end) {
        const wmi_launch *l = &j->launches[j->at];
        const wmi_activity *a = peek(j);
        bool kept = true;
        if (a && a->correlation < l->correlation) {
            kept = drop(j);
        } else if (a && a->correlation == l->correlation) {
            if (belongs(j, l, a)) {
                kept = answer(j, opts, l, a, out);
                if (kept) advance(j);
            } else {
                kept = drop(j);
            }
        } else {
            if (!j->answered) kept = answer_none(j, l, out);
            if (kept) j->at++;
            j->answered = false;
        }
        if (!kept) return wmi_error_nomem(err);
    }
    return WM_OK;
}

void wmi_join_end(wmi_join *j) {
    for (size_t i = 0; i < j->heap_n; i++) free(j->heap[i].block);
    free(j->heap);
    *j = (wmi_join){0};
}
