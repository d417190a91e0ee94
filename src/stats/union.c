#include "stats/stats.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b) {
    int64_t x = ((const wmi_interval *)a)->begin, y = ((const wmi_interval *)b)->begin;
    return (x > y) - (x < y);
}

int64_t wmi_union_length(wmi_interval *v, size_t n) {
    if (n == 0) return 0;
    qsort(v, n, sizeof *v, by_begin);
    int64_t length = 0, covered = v[0].begin;
    for (size_t i = 0; i < n; i++) {
        int64_t from = v[i].begin > covered ? v[i].begin : covered;
        if (v[i].end <= from) continue;
        length += v[i].end - from;
        covered = v[i].end;
    }
    return length;
}
