#include "sweep/axes.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/axis_range.h"
#include "sweep/value_text.h"

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

static wm_status raise_to_pow2(const wmi_reader *r, wm_value *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (values[i].type != WM_I64 || values[i].as.i64 < 0 || values[i].as.i64 > 62)
            return wmi_reader_fail(r, "a power of 2 takes whole exponents from 0 to 62");
        values[i] = wmi_i64((int64_t)1 << values[i].as.i64);
    }
    return WM_OK;
}

static wm_status convert_all(const wmi_reader *r, wmi_tag tag, wmi_item *items, size_t n, wmi_axis *axis) {
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
    return tag == WMI_TAG_POW2 ? raise_to_pow2(r, axis->values, n) : WM_OK;
}

/* ---- lists ---- */

typedef struct items {
    wmi_item *v;
    size_t n, cap;
} items;

static void items_free(items *list) {
    for (size_t i = 0; i < list->n; i++) free(list->v[i].text);
    free(list->v);
}

static wm_status items_read(wmi_reader *r, items *list) {
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

static wm_status items_read_list(wmi_reader *r, items *list) {
    do {
        r->at++;
        wm_status s = items_read(r, list);
        if (s) return s;
    } while (wmi_reader_peek(r) == ',');
    if (wmi_reader_peek(r) != ']') return wmi_reader_fail(r, "the list is never closed with ']'");
    r->at++;
    wmi_reader_blanks(r);
    return r->at == r->n ? WM_OK : wmi_reader_fail(r, "something follows the closing ']'");
}

static bool is_range(wmi_tag tag, const wmi_item *item) {
    return tag != WMI_TAG_STR && !item->quoted && wmi_range_looks(item->text);
}

static wm_status refuse_ranges(const wmi_reader *r, wmi_tag tag, const wmi_item *v, size_t n,
                               const char *why) {
    for (size_t i = 0; i < n; i++)
        if (is_range(tag, &v[i])) return wmi_reader_fail(r, "%s", why);
    return WM_OK;
}

static wm_status from_range(const wmi_reader *r, wmi_tag tag, const char *text, wmi_axis *axis) {
    wm_status s = wmi_range_values(r, text, tag == WMI_TAG_F64, &axis->values, &axis->count);
    if (s) return s;
    axis->type = axis->values[0].type;
    if (tag == WMI_TAG_BOOL) return wmi_reader_fail(r, "a range has no true or false");
    if (tag == WMI_TAG_I64 && axis->type != WM_I64)
        return wmi_reader_fail(r, "a range of [i64] takes whole numbers of 64 bits");
    return tag == WMI_TAG_POW2 ? raise_to_pow2(r, axis->values, axis->count) : WM_OK;
}

/* ---- no value twice ---- */

static int compare_values(const void *a, const void *b) {
    const wm_value *x = *(const wm_value *const *)a, *y = *(const wm_value *const *)b;
    switch (x->type) {
    case WM_I64: return (x->as.i64 > y->as.i64) - (x->as.i64 < y->as.i64);
    case WM_F64: return (x->as.f64 > y->as.f64) - (x->as.f64 < y->as.f64);
    case WM_BOOL: return (int)x->as.b - (int)y->as.b;
    default: return strcmp(x->as.str, y->as.str);
    }
}

static wm_status fail_twice(const wmi_reader *r, const wm_value *v) {
    char number[WMI_NUMBER_MAX] = "";
    switch (v->type) {
    case WM_I64: return wmi_reader_fail(r, "the value %lld is there twice", (long long)v->as.i64);
    case WM_F64: wmi_number_text(v->as.f64, number); break;
    case WM_BOOL: return wmi_reader_fail(r, "the value %s is there twice", v->as.b ? "true" : "false");
    default: return wmi_reader_fail(r, "the value '%.60s' is there twice", v->as.str);
    }
    return wmi_reader_fail(r, "the value %s is there twice", number);
}

/* Each value makes configurations of its own, which are known by it. */
static wm_status check_distinct(const wmi_reader *r, const wmi_axis *axis) {
    const wm_value **sorted = malloc(axis->count * sizeof *sorted);
    if (!sorted) return wmi_error_nomem(r->err);
    for (size_t i = 0; i < axis->count; i++) sorted[i] = &axis->values[i];
    qsort(sorted, axis->count, sizeof *sorted, compare_values);
    wm_status s = WM_OK;
    for (size_t i = 1; i < axis->count && s == WM_OK; i++)
        if (compare_values(&sorted[i - 1], &sorted[i]) == 0) s = fail_twice(r, sorted[i]);
    free(sorted);
    return s;
}

/* ---- axes ---- */

static wm_status read_values(wmi_reader *r, wmi_tag tag, items *list, wmi_axis *axis) {
    bool brackets = wmi_reader_peek(r) == '[';
    wm_status s = brackets ? items_read_list(r, list) : items_read(r, list);
    if (s) return s;
    if (r->at < r->n) return wmi_reader_fail(r, "a list of values is written in brackets: name=[a,b]");
    if (brackets && list->n == 1 && is_range(tag, &list->v[0]))
        return from_range(r, tag, list->v[0].text, axis);
    s = refuse_ranges(r, tag, list->v, list->n,
                      brackets ? "a range stands alone in its brackets: name=[first:last:step]"
                               : "a range is written in brackets: name=[first:last:step]");
    return s ? s : convert_all(r, tag, list->v, list->n, axis);
}

wm_status wmi_axis_parse(const char *text, wmi_axis *out, wm_error *err) {
    wmi_reader r = {.what = "axis", .text = text, .n = strlen(text), .err = err};
    wmi_axis axis = {0};
    items list = {0};
    wmi_tag tag;
    wm_status s = wmi_head_read(&r, &axis.name, &tag);
    if (s == WM_OK) s = read_values(&r, tag, &list, &axis);
    if (s == WM_OK) s = check_distinct(&r, &axis);
    items_free(&list);
    if (s)
        wmi_axis_fini(&axis);
    else
        *out = axis;
    return s;
}

void wmi_axis_fini(wmi_axis *axis) {
    for (size_t i = 0; i < axis->count; i++)
        if (axis->values[i].type == WM_STR) free((char *)(uintptr_t)axis->values[i].as.str);
    free(axis->values);
    free(axis->name);
    *axis = (wmi_axis){0};
}

/* ---- explicit configurations ---- */

typedef struct axis_list {
    wmi_axis *v;
    size_t n, cap;
} axis_list;

static void axis_list_free(axis_list *list) {
    for (size_t i = 0; i < list->n; i++) wmi_axis_fini(&list->v[i]);
    free(list->v);
}

static wm_status read_pair(wmi_reader *r, wmi_axis *axis) {
    items list = {0};
    wmi_tag tag;
    wm_status s = wmi_head_read(r, &axis->name, &tag);
    if (s == WM_OK && wmi_reader_peek(r) == '[')
        s = wmi_reader_fail(r, "a configuration has one value for each name");
    if (s == WM_OK) s = items_read(r, &list);
    if (s == WM_OK && wmi_reader_peek(r) == ']')
        s = wmi_reader_fail(r, "a value that holds ']' is written in quotes, the whole of it");
    if (s == WM_OK)
        s = refuse_ranges(r, tag, list.v, list.n, "a configuration has one value for each name, not a range");
    if (s == WM_OK) s = convert_all(r, tag, list.v, list.n, axis);
    items_free(&list);
    return s;
}

static wm_status add_pair(wmi_reader *r, axis_list *list) {
    if (list->n == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        wmi_axis *v = realloc(list->v, cap * sizeof *v);
        if (!v) return wmi_error_nomem(r->err);
        list->v = v;
        list->cap = cap;
    }
    wmi_axis axis = {0};
    wm_status s = read_pair(r, &axis);
    for (size_t i = 0; i < list->n && s == WM_OK; i++)
        if (strcmp(list->v[i].name, axis.name) == 0)
            s = wmi_reader_fail(r, "the name %s is there twice", axis.name);
    if (s)
        wmi_axis_fini(&axis);
    else
        list->v[list->n++] = axis;
    return s;
}

wm_status wmi_config_parse(const char *text, wmi_axis **out, size_t *count, wm_error *err) {
    wmi_reader r = {.what = "configuration", .text = text, .n = strlen(text), .err = err};
    axis_list list = {0};
    wm_status s = add_pair(&r, &list);
    while (s == WM_OK && wmi_reader_peek(&r) == ',') {
        r.at++;
        s = add_pair(&r, &list);
    }
    if (s) {
        axis_list_free(&list);
        return s;
    }
    *out = list.v;
    *count = list.n;
    return WM_OK;
}

bool wmi_config_equal(const wmi_axis *a, size_t a_count, const wmi_axis *b, size_t b_count) {
    if (a_count != b_count) return false;
    for (size_t i = 0; i < a_count; i++) {
        size_t j = 0;
        while (j < b_count && strcmp(a[i].name, b[j].name) != 0) j++;
        if (j == b_count || a[i].type != b[j].type) return false;
        const wm_value *x = a[i].values, *y = b[j].values;
        if (compare_values(&x, &y) != 0) return false;
    }
    return true;
}
