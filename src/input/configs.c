#include <stdlib.h>
#include <string.h>

#include "input/value_list.h"

typedef struct axis_list {
    wmi_axis *v;
    size_t n, cap;
} axis_list;

static void axis_list_free(axis_list *list) {
    for (size_t i = 0; i < list->n; i++) wmi_axis_fini(&list->v[i]);
    free(list->v);
}

static wm_status read_pair(wmi_reader *r, wmi_axis *axis) {
    wmi_items list = {0};
    wmi_tag tag;
    wm_status s = wmi_head_read(r, true, &axis->name, &tag);
    if (s == WM_OK && wmi_reader_peek(r) == '[')
        s = wmi_reader_fail(r, "a configuration has one value for each name");
    if (s == WM_OK) s = wmi_items_read(r, &list);
    if (s == WM_OK && wmi_reader_peek(r) == ']')
        s = wmi_reader_fail(r, "a value that holds ']' is written in quotes, the whole of it");
    if (s == WM_OK)
        s = wmi_items_refuse_ranges(r, tag, &list,
                                    "a configuration has one value for each name, not a range");
    if (s == WM_OK) s = wmi_items_convert(r, tag, &list, axis);
    wmi_items_free(&list);
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

/* ---- none twice ---- */

typedef struct config {
    wmi_axis *pairs; /* sorted by name */
    size_t count;
    size_t number; /* in the list */
} config;

static int compare_names(const void *a, const void *b) {
    return strcmp(((const wmi_axis *)a)->name, ((const wmi_axis *)b)->name);
}

static int compare_configs(const void *a, const void *b) {
    const config *x = a, *y = b;
    for (size_t i = 0; i < x->count && i < y->count; i++) {
        int order = compare_names(&x->pairs[i], &y->pairs[i]);
        if (order == 0) order = wmi_value_compare(x->pairs[i].values, y->pairs[i].values);
        if (order != 0) return order;
    }
    return (x->count > y->count) - (x->count < y->count);
}

static wm_status check_distinct(char *const *texts, size_t count, config *configs, wm_error *err) {
    for (size_t i = 0; i < count; i++) {
        wm_status s = wmi_config_parse(texts[i], &configs[i].pairs, &configs[i].count, err);
        if (s) return s;
        configs[i].number = i;
        qsort(configs[i].pairs, configs[i].count, sizeof *configs[i].pairs, compare_names);
    }
    qsort(configs, count, sizeof *configs, compare_configs);
    for (size_t i = 1; i < count; i++)
        if (compare_configs(&configs[i - 1], &configs[i]) == 0)
            return wmi_error_set(err, WM_EINVAL, 0, "the configuration '%.100s' is there twice",
                                 texts[configs[i].number]);
    return WM_OK;
}

wm_status wmi_configs_distinct(char *const *texts, size_t count, wm_error *err) {
    config *configs = calloc(count + 1, sizeof *configs);
    if (!configs) return wmi_error_nomem(err);
    wm_status s = check_distinct(texts, count, configs, err);
    for (size_t i = 0; i < count; i++) axis_list_free(&(axis_list){configs[i].pairs, configs[i].count, 0});
    free(configs);
    return s;
}
