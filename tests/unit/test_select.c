/* The source is included, so that the fallback for contrived inputs can be reached. */
#include "stats/select.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t random_state = 88172645463325252u;
static double uniform(void) { return (double)(next_random(&random_state) >> 11) * 0x1p-53; }

enum shape { RANDOM, SORTED, REVERSED, EQUAL, ORGAN_PIPE, TWO_VALUES, COARSE, SAW, ONE_FAST, SHAPES };

static void fill(double *x, size_t n, enum shape shape) {
    for (size_t i = 0; i < n; i++) {
        double at = (double)i, r = uniform();
        const double value[SHAPES] = {r,
                                      at,
                                      (double)n - at,
                                      3.25,
                                      i < n / 2 ? at : (double)n - at,
                                      r < 0.5 ? 1.0 : 2.0,
                                      (double)(int)(50.0 * r),
                                      (double)(i % 37) + 1e-3 * r,
                                      i == n / 3 ? 1.0 : 100.0 + r};
        x[i] = value[shape];
    }
}

/* Selects, then checks every wanted rank, the order around it, and that the values
 * are still the same ones. */
static void check(const double *input, size_t n, const size_t *rank, size_t count, unsigned rounds) {
    double *x = malloc(n * sizeof *x), *sorted = malloc(n * sizeof *x);
    assert_non_null(x);
    assert_non_null(sorted);
    memcpy(x, input, n * sizeof *x);
    memcpy(sorted, input, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, compare);
    if (rounds == UINT32_MAX)
        wmi_select(x, n, rank, count);
    else
        select_range(x, 0, n, rank, count, rounds);
    for (size_t i = 0, k = 0; i < count; i++) {
        assert_true(x[rank[i]] == sorted[rank[i]]);
        for (; k < rank[i]; k++) assert_true(x[k] <= x[rank[i]]);
    }
    if (count) {
        for (size_t k = rank[count - 1]; k < n; k++) assert_true(x[k] >= x[rank[count - 1]]);
    }
    qsort(x, n, sizeof *x, compare);
    assert_memory_equal(x, sorted, n * sizeof *x);
    free(x);
    free(sorted);
}

static void every_shape(size_t n, const size_t *rank, size_t count, unsigned rounds) {
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (int shape = 0; shape < SHAPES; shape++) {
        fill(x, n, (enum shape)shape);
        check(x, n, rank, count, rounds);
    }
    free(x);
}

static void selects_every_rank_of_small_arrays(void **state) {
    (void)state;
    for (size_t n = 1; n <= 200; n++)
        for (size_t k = 0; k < n; k += 1 + n / 20) every_shape(n, &k, 1, UINT32_MAX);
}

static void selects_many_ranks(void **state) {
    (void)state;
    const size_t sizes[] = {25, 100, 1000, 4097, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        const size_t rank[] = {0,     n / 20,    n / 20 + 1, n / 4,      n / 4 + 1, n / 2,
                               n / 2, n / 2 + 1, n - n / 4,  n - n / 20, n - 2,     n - 1};
        every_shape(n, rank, sizeof rank / sizeof *rank, UINT32_MAX);
    }
}

static void sorts_when_every_rank_is_wanted(void **state) {
    (void)state;
    size_t rank[777];
    for (size_t i = 0; i < 777; i++) rank[i] = i;
    every_shape(777, rank, 777, UINT32_MAX);
}

static void falls_back_to_heap_sort(void **state) {
    (void)state;
    const size_t rank[] = {17, 500, 501, 990};
    for (unsigned rounds = 0; rounds < 4; rounds++) every_shape(1000, rank, 4, rounds);
    for (size_t n = 0; n < 60; n++) {
        double x[60], sorted[60];
        fill(x, n, COARSE);
        memcpy(sorted, x, sizeof x);
        qsort(sorted, n, sizeof *sorted, compare);
        heap_sort(x, n);
        assert_memory_equal(x, sorted, n * sizeof *x);
    }
}

static void leaves_all_alone_without_ranks(void **state) {
    (void)state;
    double x[] = {3.0, 1.0, 2.0};
    wmi_select(x, 3, NULL, 0);
    assert_true(x[0] == 3.0 && x[1] == 1.0 && x[2] == 2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_every_rank_of_small_arrays), cmocka_unit_test(selects_many_ranks),
        cmocka_unit_test(sorts_when_every_rank_is_wanted),    cmocka_unit_test(falls_back_to_heap_sort),
        cmocka_unit_test(leaves_all_alone_without_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
