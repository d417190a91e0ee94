#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { NEAREST_MAX = 3 };

typedef struct candidate {
    const char *name;
    size_t distance;
} candidate;

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same(char a, char b) { return lower(a) == lower(b); }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Optimal string alignment: insertions, deletions, substitutions and swaps of
 * neighbours cost 1 each; a difference of case costs nothing. `rows` has room for
 * three rows of strlen(b) + 1. */
static size_t edit_distance(const char *a, const char *b, size_t *rows) {
    size_t width = strlen(b) + 1;
    size_t *before = rows, *above = rows + width, *row = rows + 2 * width;
    for (size_t j = 0; j < width; j++) above[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j < width; j++) {
            size_t best = above[j - 1] + !same(a[i - 1], b[j - 1]);
            best = least(best, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                best = least(best, before[j - 2] + 1);
            row[j] = best;
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[width - 1];
}

/* Keep the list sorted; of two at the same distance the earlier one stays first. */
static void consider(candidate *best, size_t *count, candidate c) {
    size_t at = *count;
    for (size_t i = 0; i < *count; i++)
        if (strcmp(best[i].name, c.name) == 0) return;
    while (at > 0 && best[at - 1].distance > c.distance) at--;
    if (at == NEAREST_MAX) return;
    size_t kept = least(*count, NEAREST_MAX - 1);
    memmove(best + at + 1, best + at, (kept - at) * sizeof *best);
    best[at] = c;
    *count = kept + 1;
}

static char *join(const candidate *best, size_t count) {
    wmi_buf text = WMI_BUF_INIT;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) wmi_buf_str(&text, i + 1 == count ? " or " : ", ");
        wmi_buf_str(&text, best[i].name);
    }
    return wmi_buf_take(&text);
}

char *wmi_nearest(const char *name, const char *const *names, size_t count) {
    size_t len = strlen(name), near = (len + 2) / 3, found = 0;
    candidate best[NEAREST_MAX];
    size_t *rows = malloc(3 * (len + 1) * sizeof *rows);
    if (!rows) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if ((other > len ? other - len : len - other) > near) continue;
        candidate c = {names[i], edit_distance(names[i], name, rows)};
        if (c.distance <= near && c.distance < len) consider(best, &found, c);
    }
    free(rows);
    return join(best, found);
}
