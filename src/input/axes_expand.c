#include <stdlib.h>
#include <string.h>

#include "input/axes.h"

enum { CONFIGS_MAX = 10000000 };

/* Axes that move together are one digit of the odometer, at the place of the first
 * of them. */
typedef struct odometer {
    const wmi_axis *axes;
    size_t n;
    size_t *digit;  /* [n] the digit that axis i follows */
    size_t *length; /* [digits] */
    size_t digits;
} odometer;

static wm_status fail_unknown(const odometer *o, const char *name, size_t n, wm_error *err) {
    char *text = wmi_strndup(name, n), *near = NULL;
    const char **names = malloc((o->n + 1) * sizeof *names);
    for (size_t i = 0; names && i < o->n; i++) names[i] = o->axes[i].name;
    if (text && names) near = wmi_nearest(text, names, o->n);
    wm_status s = near ? wmi_error_set(err, WM_EINVAL, 0, "--zip names '%.100s', which is no axis here%s%s",
                                       text, *near ? "; the nearest is " : "", near)
                       : wmi_error_nomem(err);
    free(near);
    free(names);
    free(text);
    return s;
}

static size_t find_axis(const odometer *o, const char *name, size_t n) {
    for (size_t i = 0; i < o->n; i++)
        if (strlen(o->axes[i].name) == n && memcmp(o->axes[i].name, name, n) == 0) return i;
    return SIZE_MAX;
}

/* zipped[i]: does axis i move with the others? */
static wm_status mark_zipped(const odometer *o, const char *zip, bool *zipped, wm_error *err) {
    if (!zip) return WM_OK;
    if (strcmp(zip, "*") == 0) {
        memset(zipped, true, o->n);
        return WM_OK;
    }
    for (const char *name = zip;; name++) {
        size_t n = strcspn(name, ",");
        while (n > 0 && *name == ' ') name++, n--;
        size_t left = n;
        while (left > 0 && name[left - 1] == ' ') left--;
        size_t i = find_axis(o, name, left);
        if (i == SIZE_MAX) return fail_unknown(o, name, left, err);
        if (zipped[i])
            return wmi_error_set(err, WM_EINVAL, 0, "--zip names the axis '%.100s' twice", o->axes[i].name);
        zipped[i] = true;
        name += n;
        if (*name == '\0') return WM_OK;
    }
}

static wm_status assign_digits(odometer *o, const bool *zipped, wm_error *err) {
    size_t leader = SIZE_MAX;
    for (size_t i = 0; i < o->n; i++) {
        if (!zipped[i] || leader == SIZE_MAX) {
            if (zipped[i]) leader = i;
            o->digit[i] = o->digits;
            o->length[o->digits++] = o->axes[i].count;
            continue;
        }
        const wmi_axis *a = &o->axes[leader], *b = &o->axes[i];
        if (a->count != b->count)
            return wmi_error_set(err, WM_EINVAL, 0,
                                 "--zip takes axes of equal length: %.100s has %zu values and %.100s has %zu",
                                 a->name, a->count, b->name, b->count);
        o->digit[i] = o->digit[leader];
    }
    return WM_OK;
}

static wm_status check_names(const odometer *o, wm_error *err) {
    for (size_t i = 0; i < o->n; i++)
        if (find_axis(o, o->axes[i].name, strlen(o->axes[i].name)) != i)
            return wmi_error_set(err, WM_EINVAL, 0, "the axis '%.100s' is there twice", o->axes[i].name);
    return WM_OK;
}

static wm_status count_configs(const odometer *o, size_t *count, wm_error *err) {
    size_t product = 1;
    for (size_t d = 0; d < o->digits; d++) {
        if (o->length[d] == 0) {
            product = 0;
            break;
        }
        if (product > CONFIGS_MAX / o->length[d])
            return wmi_error_set(err, WM_EINVAL, 0, "the axes span more than %d configurations", CONFIGS_MAX);
        product *= o->length[d];
    }
    *count = product;
    return WM_OK;
}

static void fill(const odometer *o, size_t count, size_t *indices, size_t *position) {
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < o->n; i++) indices[c * o->n + i] = position[o->digit[i]];
        for (size_t d = o->digits; d-- > 0;) {
            if (++position[d] < o->length[d]) break;
            position[d] = 0;
        }
    }
}

/* work: [3 * n], zeroed: digit, length, position. */
static wm_status expand(odometer *o, const char *zip, bool *zipped, size_t *work, size_t **indices,
                        size_t *count, wm_error *err) {
    o->digit = work;
    o->length = work + o->n;
    wm_status s = check_names(o, err);
    if (s == WM_OK) s = mark_zipped(o, zip, zipped, err);
    if (s == WM_OK) s = assign_digits(o, zipped, err);
    size_t total = 0;
    if (s == WM_OK) s = count_configs(o, &total, err);
    if (s) return s;
    size_t *out = calloc(total * o->n + 1, sizeof *out); /* + 1: not NULL without axes */
    if (!out) return wmi_error_nomem(err);
    fill(o, total, out, work + 2 * o->n);
    *indices = out;
    *count = total;
    return WM_OK;
}

wm_status wmi_axes_expand(const wmi_axis *axes, size_t axis_count, const char *zip, size_t **indices,
                          size_t *count, wm_error *err) {
    odometer o = {.axes = axes, .n = axis_count};
    size_t *work = calloc(3 * axis_count + 1, sizeof *work);
    bool *zipped = calloc(axis_count + 1, sizeof *zipped);
    wm_status s = work && zipped ? expand(&o, zip, zipped, work, indices, count, err) : wmi_error_nomem(err);
    free(zipped);
    free(work);
    return s;
}
