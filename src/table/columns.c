#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Copy the item at `s` to *to, ended by NUL. Returns what follows its comma, or
 * NULL after the last one. */
static const char *take_item(const char *s, char **to) {
    char *begin = *to, *end = *to;
    while (is_blank(*s)) s++;
    for (; *s && *s != ','; s++) {
        if (s[0] == '\\' && s[1] == ',') s++;
        *end++ = *s;
    }
    while (end > begin && is_blank(end[-1])) end--;
    *end++ = '\0';
    *to = end;
    return *s ? s + 1 : NULL;
}

wm_status wmi_items_split(const char *text, char ***items, size_t *count, wm_error *err) {
    *items = NULL;
    *count = 0;
    if (!*text) return WM_OK;
    size_t most = 1, n = 0;
    for (const char *s = text; *s; s++) most += *s == ',';
    char **list = malloc(most * sizeof *list + strlen(text) + most);
    if (!list) return wmi_error_nomem(err);
    char *to = (char *)(list + most);
    for (const char *s = text; s;) {
        list[n++] = to;
        s = take_item(s, &to);
    }
    *items = list;
    *count = n;
    return WM_OK;
}

static wm_status unknown_column(const wm_table *t, const char *name, const char **names, wm_error *err) {
    size_t count = wm_table_columns(t);
    for (size_t i = 0; i < count; i++) {
        wm_column c = {0};
        wm_table_column(t, i, &c);
        names[i] = c.name;
    }
    char *near = wmi_nearest(name, names, count);
    if (!near) return wmi_error_nomem(err);
    if (*near) {
        wmi_error_set(err, WM_ENOTFOUND, 0, "there is no column '%s'; near it: %s", name, near);
        free(near);
        return WM_ENOTFOUND;
    }
    free(near);
    wmi_buf all = WMI_BUF_INIT;
    for (size_t i = 0; i < count; i++) wmi_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    wm_status s = all.failed ? wmi_error_nomem(err)
                             : wmi_error_set(err, WM_ENOTFOUND, 0, "there is no column '%s'; there are: %s",
                                             name, count ? all.data : "none");
    wmi_buf_free(&all);
    return s;
}

wm_status wmi_column_find(const wm_table *t, const char *name, size_t *out, wm_error *err) {
    size_t found = wm_table_find(t, name);
    if (found != SIZE_MAX) {
        *out = found;
        return WM_OK;
    }
    const char **names = malloc((wm_table_columns(t) + 1) * sizeof *names);
    if (!names) return wmi_error_nomem(err);
    wm_status s = unknown_column(t, name, names, err);
    free(names);
    return s;
}
