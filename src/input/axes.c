#include "input/axes.h"

#include <stdlib.h>
#include <string.h>

#include "input/axis_range.h"
#include "input/value_list.h"

/* ---- ranges ---- */

static wm_status from_range(const wmi_reader *r, wmi_tag tag, const char *text, wmi_axis *axis) {
    wm_status s = wmi_range_values(r, text, tag == WMI_TAG_F64, &axis->values, &axis->count);
    if (s) return s;
    axis->type = axis->values[0].type;
    if (tag == WMI_TAG_BOOL) return wmi_reader_fail(r, "a range has no true or false");
    if (tag == WMI_TAG_I64 && axis->type != WM_I64)
        return wmi_reader_fail(r, "a range of [i64] takes whole numbers of 64 bits");
    return tag == WMI_TAG_POW2 ? wmi_values_raise(r, axis->values, axis->count) : WM_OK;
}

/* ---- no value twice ---- */

static int compare_values(const void *a, const void *b) {
    return wmi_value_compare(*(const wm_value *const *)a, *(const wm_value *const *)b);
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
        if (wmi_value_compare(sorted[i - 1], sorted[i]) == 0) s = fail_twice(r, sorted[i]);
    free(sorted);
    return s;
}

/* ---- axes ---- */

static wm_status read_list(wmi_reader *r, wmi_items *list) {
    do {
        r->at++;
        wm_status s = wmi_items_read(r, list);
        if (s) return s;
    } while (wmi_reader_peek(r) == ',');
    if (wmi_reader_peek(r) != ']') return wmi_reader_fail(r, "the list is never closed with ']'");
    r->at++;
    wmi_reader_blanks(r);
    return r->at == r->n ? WM_OK : wmi_reader_fail(r, "something follows the closing ']'");
}

static wm_status read_values(wmi_reader *r, wmi_tag tag, wmi_items *list, wmi_axis *axis) {
    bool brackets = wmi_reader_peek(r) == '[';
    wm_status s = brackets ? read_list(r, list) : wmi_items_read(r, list);
    if (s) return s;
    if (r->at < r->n) return wmi_reader_fail(r, "a list of values is written in brackets: name=[a,b]");
    if (brackets && list->n == 1 && wmi_item_is_range(tag, &list->v[0]))
        return from_range(r, tag, list->v[0].text, axis);
    s = wmi_items_refuse_ranges(r, tag, list,
                                brackets ? "a range stands alone in its brackets: name=[first:last:step]"
                                         : "a range is written in brackets: name=[first:last:step]");
    return s ? s : wmi_items_convert(r, tag, list, axis);
}

wm_status wmi_axis_parse(const char *text, wmi_axis *out, wm_error *err) {
    wmi_reader r = {.what = "axis", .text = text, .n = strlen(text), .err = err};
    wmi_axis axis = {0};
    wmi_items list = {0};
    wmi_tag tag;
    wm_status s = wmi_head_read(&r, false, &axis.name, &tag);
    if (s == WM_OK) s = read_values(&r, tag, &list, &axis);
    if (s == WM_OK) s = check_distinct(&r, &axis);
    wmi_items_free(&list);
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
