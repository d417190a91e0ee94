/* The CSV that ncu prints of a report. */
#include <stdlib.h>
#include <string.h>

#include "ncu/ncu.h"

static const char between[] = "\",\""; /* from cell to cell */
enum { BETWEEN = sizeof between - 1 };

bool wmi_ncu_text_is(wmi_ncu_text t, const char *s) { return strlen(s) == t.n && memcmp(s, t.s, t.n) == 0; }

static bool has(wmi_ncu_text t, const char *s) { return memmem(t.s, t.n, s, strlen(s)) != NULL; }

size_t wmi_ncu_page_find(const wmi_ncu_page *page, const char *name) {
    for (size_t i = 0; i < page->columns; i++)
        if (wmi_ncu_text_is(page->names[i], name)) return i;
    return SIZE_MAX;
}

void wmi_ncu_page_fini(wmi_ncu_page *page) {
    free(page->names);
    free(page->units);
    free(page->cells);
    *page = (wmi_ncu_page){0};
}

/* ---- lines ---- */

static wmi_ncu_text line_next(const char **at, const char *end) {
    const char *start = *at, *stop = memchr(start, '\n', (size_t)(end - start));
    *at = stop ? stop + 1 : end;
    size_t n = (size_t)((stop ? stop : end) - start);
    if (n && start[n - 1] == '\r') n--;
    return (wmi_ncu_text){start, n};
}

static bool begins(wmi_ncu_text t, const char *s) {
    const size_t n = strlen(s);
    return t.n >= n && memcmp(t.s, s, n) == 0;
}

/* `"0","522","`: the numbers of a kernel and of its process. A line that does not begin so goes on with the
 * row before it: a name of a range had an end of line in it. */
static bool begins_row(wmi_ncu_text t) {
    size_t i = 0;
    for (int cell = 0; cell < 2; cell++) {
        if (i >= t.n || t.s[i++] != '"') return false;
        const size_t first = i;
        while (i < t.n && t.s[i] >= '0' && t.s[i] <= '9') i++;
        if (i == first || t.n - i < 2 || t.s[i] != '"' || t.s[i + 1] != ',') return false;
        i += 2;
    }
    return true;
}

/* ---- cells ---- */

/* The text of a line without the quotes at its ends. */
static bool unquote(wmi_ncu_text *t) {
    if (t->n < 2 || t->s[0] != '"' || t->s[t->n - 1] != '"') return false;
    *t = (wmi_ncu_text){t->s + 1, t->n - 2};
    return true;
}

static bool take_first(wmi_ncu_text *rest, wmi_ncu_text *cell) {
    const char *stop = memmem(rest->s, rest->n, between, BETWEEN);
    if (!stop) return false;
    *cell = (wmi_ncu_text){rest->s, (size_t)(stop - rest->s)};
    const size_t used = cell->n + BETWEEN;
    *rest = (wmi_ncu_text){rest->s + used, rest->n - used};
    return true;
}

static bool take_last(wmi_ncu_text *rest, wmi_ncu_text *cell) {
    for (size_t i = rest->n; i >= BETWEEN; i--) {
        if (memcmp(rest->s + i - BETWEEN, between, BETWEEN) != 0) continue;
        *cell = (wmi_ncu_text){rest->s + i, rest->n - i};
        rest->n = i - BETWEEN;
        return true;
    }
    return false;
}

/* Cells of a line in which quotes part cells and nothing else. */
static bool split_plain(wmi_ncu_text rest, wmi_ncu_text *cells, size_t count) {
    if (!unquote(&rest)) return false;
    for (size_t i = 0; i + 1 < count; i++)
        if (!take_first(&rest, &cells[i])) return false;
    cells[count - 1] = rest;
    return true;
}

static bool split_row(const wmi_ncu_page *page, wmi_ncu_text rest, wmi_ncu_text *cells) {
    if (page->ranges == SIZE_MAX) return split_plain(rest, cells, page->columns);
    if (!unquote(&rest)) return false;
    for (size_t i = 0; i < page->ranges; i++)
        if (!take_first(&rest, &cells[i])) return false;
    for (size_t i = page->columns; i-- > page->ranges + 2;)
        if (!take_last(&rest, &cells[i])) return false;
    cells[page->ranges] = rest;
    cells[page->ranges + 1] = (wmi_ncu_text){rest.s, 0};
    return true;
}

/* ---- the page ---- */

static wm_status header_read(wmi_ncu_page *page, wmi_ncu_text line) {
    size_t count = 1;
    for (const char *p = line.s, *end = line.s + line.n; (p = memmem(p, (size_t)(end - p), between, BETWEEN));
         p += BETWEEN)
        count++;
    page->names = calloc(count, sizeof *page->names);
    page->units = calloc(count, sizeof *page->units);
    if (!page->names || !page->units) return WM_ENOMEM;
    page->columns = count;
    page->ranges = SIZE_MAX;
    if (!split_plain(line, page->names, count)) return WM_EPARSE;
    for (size_t i = 0; i < count; i++) page->units[i] = (wmi_ncu_text){line.s, 0};
    for (size_t i = 0; i + 1 < count && page->ranges == SIZE_MAX; i++)
        if (has(page->names[i], "Push/Pop_Range") && has(page->names[i + 1], "Start/Stop_Range"))
            page->ranges = i;
    return WM_OK;
}

static wm_status row_add(wmi_ncu_page *page, wmi_ncu_text row, wm_error *err) {
    if (page->rows == page->cap) {
        const size_t cap = page->cap ? 2 * page->cap : 16;
        wmi_ncu_text *cells = realloc(page->cells, cap * page->columns * sizeof *cells);
        if (!cells) return wmi_error_nomem(err);
        page->cells = cells;
        page->cap = cap;
    }
    if (!split_row(page, row, page->cells + page->rows * page->columns))
        return wmi_error_set(err, WM_EPARSE, 0, "row %zu of ncu's report has fewer than %zu cells: '%.*s'",
                             page->rows + 1, page->columns, row.n < 80 ? (int)row.n : 80, row.s);
    page->rows++;
    return WM_OK;
}

static wm_status rows_read(wmi_ncu_page *page, const char *at, const char *end, wm_error *err) {
    wmi_ncu_text row = {NULL, 0};
    wm_status status = WM_OK;
    while (at < end && status == WM_OK) {
        const wmi_ncu_text line = line_next(&at, end);
        if (!row.s && page->rows == 0 && begins(line, "\"\",")) { /* no number: the units */
            if (!split_plain(line, page->units, page->columns))
                return wmi_error_set(err, WM_EPARSE, 0, "the units in ncu's report are not understood");
        } else if (begins_row(line)) {
            if (row.s) status = row_add(page, row, err);
            row = line;
        } else if (row.s && line.n) {
            row.n = (size_t)(line.s + line.n - row.s);
        }
    }
    return status == WM_OK && row.s ? row_add(page, row, err) : status;
}

wm_status wmi_ncu_page_parse(const char *text, size_t n, wmi_ncu_page *out, wm_error *err) {
    const char *at = text, *end = text + n;
    wmi_ncu_page page = {0};
    wmi_ncu_text line = {text, 0};
    while (at < end && !begins(line, "\"ID\",\"")) line = line_next(&at, end);
    if (!begins(line, "\"ID\",\"")) return wmi_error_set(err, WM_EEMPTY, 0, "ncu printed no table");
    wm_status status = header_read(&page, line);
    if (status == WM_ENOMEM) wmi_error_nomem(err);
    if (status == WM_EPARSE) wmi_error_set(err, WM_EPARSE, 0, "the header of ncu's report is not understood");
    if (status == WM_OK) status = rows_read(&page, at, end, err);
    if (status == WM_OK)
        *out = page;
    else
        wmi_ncu_page_fini(&page);
    return status;
}
