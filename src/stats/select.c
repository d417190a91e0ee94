#include "stats/stats.h"

/* Several order statistics at once by quickselect that visits only ranges that
 * hold a wanted rank.
 *
 *  - The pivot is an order statistic of a random sample, taken slightly beyond the
 *    wanted rank, so that the rank ends in the smaller part: the idea of Floyd and
 *    Rivest, "Expected time bounds for selection", CACM 18, 1975. The sample is
 *    random because a strided one can fall in step with periodic data.
 *  - Partitioning has no branch that depends on the data (Lomuto's scheme as in
 *    Edelkamp and Weiss, "BlockQuicksort", 2016, compares it): on random data a
 *    mispredicted branch costs several times the work itself.
 *  - Values equal to the pivot are set aside when there are many, so that few
 *    distinct values, usual for a coarse clock, end early.
 *  - After too many rounds a range is heap-sorted, which bounds the worst case
 *    (Musser, "Introspective sorting and selection algorithms", 1997). */

enum { SMALL = 24, SAMPLE_MAX = 4096, MANY_EQUAL = 16 };

static void swap(double *a, double *b) {
    double t = *a;
    *a = *b;
    *b = t;
}

static void insertion_sort(double *x, size_t n) {
    for (size_t i = 1; i < n; i++) {
        double v = x[i];
        size_t k = i;
        for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
        x[k] = v;
    }
}

static void sift_down(double *x, size_t root, size_t n) {
    double v = x[root];
    for (size_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
        if (child + 1 < n && x[child] < x[child + 1]) child++;
        if (!(v < x[child])) break;
        x[root] = x[child];
        root = child;
    }
    x[root] = v;
}

static void heap_sort(double *x, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sift_down(x, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(&x[0], &x[end]);
        sift_down(x, 0, end);
    }
}

/* Marsaglia, "Xorshift RNGs", 2003. Seeded by the caller alike every time: equal
 * input, equal work. */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static unsigned log2_floor(size_t n) {
    unsigned bits = 0;
    while (n >>= 1) bits++;
    return bits;
}

/* Values below `pivot` to the front; returns how many. *equal: how many equal it. */
static size_t partition_below(double *x, size_t n, double pivot, size_t *equal) {
    size_t below = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        x[i] = x[below];
        x[below] = v;
        below += (size_t)(v < pivot);
        same += (size_t)(v == pivot);
    }
    *equal = same;
    return below;
}

/* Values equal to `pivot`, the smallest here, to the front. */
static void gather_equal(double *x, size_t n, double pivot) {
    size_t same = 0;
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        x[i] = x[same];
        x[same] = v;
        same += (size_t)(v == pivot);
    }
}

static void select_range(double *x, size_t begin, size_t end, const size_t *rank, size_t count,
                         unsigned rounds);

/* Move a random sample of x[0..n) to its front and find in it a pivot for the
 * rank k. The pivot is left in x[0]. */
static double choose_pivot(double *x, size_t n, size_t k) {
    uint64_t state = 0x9E3779B97F4A7C15u ^ n;
    /* About sqrt(n): more would cost more than the better pivot saves. */
    size_t size = (size_t)1 << (log2_floor(n) / 2 + 1);
    if (size > SAMPLE_MAX) size = SAMPLE_MAX;
    for (size_t i = 0; i < size; i++) {
        swap(&x[i], &x[i + next_random(&state) % (n - i)]);
    }
    /* One standard deviation of the sample's rank is at most sqrt(size) / 2. */
    size_t at = (size_t)((double)k / (double)n * (double)size);
    size_t margin = (size_t)1 << (log2_floor(size) / 2);
    margin -= margin / 4;
    if (k < n / 2)
        at = at + margin < size ? at + margin : size - 1;
    else
        at = at > margin ? at - margin : 0;
    select_range(x, 0, size, &at, 1, 2 * log2_floor(size));
    swap(&x[0], &x[at]);
    return x[0];
}

/* Ranks are positions in x; those in [begin, end) are put right. Recursion goes into
 * the part with fewer values, so its depth is at most log2 of the range. */
static void select_range(double *x, size_t begin, size_t end, const size_t *rank, size_t count,
                         unsigned rounds) {
    while (count > 0) {
        size_t n = end - begin;
        if (n <= SMALL) {
            insertion_sort(x + begin, n);
            return;
        }
        if (rounds-- == 0) {
            heap_sort(x + begin, n);
            return;
        }
        double pivot = choose_pivot(x + begin, n, rank[count / 2] - begin);
        size_t equal;
        size_t middle = begin + partition_below(x + begin + 1, n - 1, pivot, &equal);
        swap(&x[begin], &x[middle]);
        size_t above = middle + 1, left = 0, right;
        while (left < count && rank[left] < middle) left++;
        right = left;
        while (right < count && rank[right] < above) right++;
        if (right < count && equal > n / MANY_EQUAL) {
            gather_equal(x + above, end - above, pivot);
            above += equal;
            while (right < count && rank[right] < above) right++;
        }
        if (middle - begin < end - above) {
            select_range(x, begin, middle, rank, left, rounds);
            begin = above;
            rank += right;
            count -= right;
        } else {
            select_range(x, above, end, rank + right, count - right, rounds);
            end = middle;
            count = left;
        }
    }
}

void wmi_select(double *x, size_t n, const size_t *rank, size_t count) {
    select_range(x, 0, n, rank, count, 2 * log2_floor(n) + 8);
}
