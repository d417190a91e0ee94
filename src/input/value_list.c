#include "input/value_list.h"

#include <stdlib.h>
#include <string.h>

#include "input/axis_range.h"

/* ---- items ---- */

void wmi_items_free(wmi_items *list) {
    for (size_t i = 0; i < list->n; i++) free(list->v[i].text);
    free(list->v);
}

wm_status wmi_items_read(wmi_reader *r, wmi_items *list) {
    if (list->n == WMI_AXIS_VALUES_MAX)
        return wmi_reader_fail(r, "an axis has at most %d values", WMI_AXIS_VALUES_MAX);
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        wmi_item *v = realloc(list->v, cap * sizeof *v);
        if (!v) return wmi_error_nomem(r->err);
        list->v = v;
        list->cap = cap;
    }
    wm_status s = wmi_item_read(r, &list->v[list->n]);
    if (s == WM_OK) list->n++;
    return s;
}

bool wmi_item_is_range(wmi_tag tag, const wmi_item *item) {
    return tag != WMI_TAG_STR && !item->quoted && wmi_range_looks(item->text);
}

wm_status wmi_items_refuse_ranges(const wmi_reader *r, wmi_tag tag, const wmi_items *list, const char *why) {
    for (size_t i = 0; i < list->n; i++)
        if (wmi_item_is_range(tag, &list->v[i])) return wmi_reader_fail(r, "%s", why);
    return WM_OK;
}

/* ---- the type of values ---- */

static bool is_i64(const wmi_item *item) {
    int64_t x;
    return !item->quoted && wmi_i64_parse(item->text, strlen(item->text), &x);
}

static bool is_f64(const wmi_item *item) {
    double x;
    return !item->quoted && wmi_number_parse(item->text, strlen(item->text), &x);
}

static bool is_bool(const wmi_item *item) {
    return !item->quoted && (strcmp(item->text, "true") == 0 || strcmp(item->text, "false") == 0);
}

static bool is_whole_text(const wmi_item *item) { return wmi_is_whole_text(item->text, strlen(item->text)); }

static bool all(const wmi_item *items, size_t n, bool (*is)(const wmi_item *)) {
    for (size_t i = 0; i < n; i++)
        if (!is(&items[i])) return false;
    return true;
}

static wm_type narrowest(const wmi_item *items, size_t n) {
    if (all(items, n, is_i64)) return WM_I64;
    if (all(items, n, is_f64)) return WM_F64;
    if (all(items, n, is_bool)) return WM_BOOL;
    return WM_STR;
}

static wm_type tag_type(wmi_tag tag, const wmi_item *items, size_t n) {
    switch (tag) {
    case WMI_TAG_I64:
    case WMI_TAG_POW2: return WM_I64;
    case WMI_TAG_F64: return WM_F64;
    case WMI_TAG_STR: return WM_STR;
    case WMI_TAG_BOOL: return WM_BOOL;
    case WMI_TAG_NONE: break;
    }
    return narrowest(items, n);
}

/* ---- values from items ---- */

static bool has_blank_or_control(const char *s) {
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == 0x7f) return true;
    return false;
}

/* A string takes the item's text over. */
static wm_status convert(const wmi_reader *r, wmi_item *item, wm_type type, wm_value *out) {
    const char *text = item->text;
    size_t n = strlen(text);
    int shown = n > 60 ? 60 : (int)n;
    int64_t i;
    double x;
    switch (type) {
    case WM_I64:
        if (!is_i64(item)) return wmi_reader_fail(r, "'%.*s' is not a whole number of 64 bits", shown, text);
        wmi_i64_parse(text, n, &i);
        *out = wmi_i64(i);
        return WM_OK;
    case WM_F64:
        if (!is_f64(item)) return wmi_reader_fail(r, "'%.*s' is not a finite number", shown, text);
        wmi_number_parse(text, n, &x);
        *out = wmi_f64(x);
        return WM_OK;
    case WM_BOOL:
        if (!is_bool(item)) return wmi_reader_fail(r, "'%.*s' is neither true nor false", shown, text);
        *out = wmi_bool(text[0] == 't');
        return WM_OK;
    default:
        if (!item->quoted && has_blank_or_control(text))
            return wmi_reader_fail(r, "a value that holds blanks is written in quotes: '%.*s'", shown, text);
        *out = wmi_str(text);
        item->text = NULL;
        return WM_OK;
    }
}

wm_status wmi_values_raise(const wmi_reader *r, wm_value *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (values[i].type != WM_I64 || values[i].as.i64 < 0 || values[i].as.i64 > 62)
            return wmi_reader_fail(r, "a power of 2 takes whole exponents from 0 to 62");
        values[i] = wmi_i64((int64_t)1 << values[i].as.i64);
    }
    return WM_OK;
}

wm_status wmi_items_convert(const wmi_reader *r, wmi_tag tag, wmi_items *list, wmi_axis *axis) {
    wmi_item *items = list->v;
    size_t n = list->n;
    axis->type = tag_type(tag, items, n);
    if (tag == WMI_TAG_NONE && axis->type == WM_F64 && all(items, n, is_whole_text))
        return wmi_reader_fail(
            r, "a whole number is too large for 64 bits; [f64] behind the name makes it a double");
    axis->values = calloc(n, sizeof *axis->values);
    if (!axis->values) return wmi_error_nomem(r->err);
    for (size_t i = 0; i < n; i++) {
        wm_status s = convert(r, &items[i], axis->type, &axis->values[i]);
        if (s) return s;
        axis->count = i + 1;
    }
    return tag == WMI_TAG_POW2 ? wmi_values_raise(r, axis->values, n) : WM_OK;
}

/* ---- order ---- */

int wmi_value_compare(const wm_value *x, const wm_value *y) {
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    switch (x->type) {
    case WM_I64: return (x->as.i64 > y->as.i64) - (x->as.i64 < y->as.i64);
    case WM_F64: return (x->as.f64 > y->as.f64) - (x->as.f64 < y->as.f64);
    case WM_BOOL: return (int)x->as.b - (int)y->as.b;
    default: return strcmp(x->as.str, y->as.str);
    }
}
