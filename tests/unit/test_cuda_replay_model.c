/* What windows cost, and whether two passes launched the same: pure functions, values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/cuda/replay.h"

/* ---- costs ---- */

static wmi_replay_costs costs_of(const char *a, const char *b) {
    const char *names[] = {a, b};
    return wmi_replay_costs_of(names, b ? 2 : 1);
}

static void check_costs(wmi_replay_costs c, double window_ms, double kernel_ms) {
    assert_true(c.window_ms == window_ms);
    assert_true(c.kernel_ms == kernel_ms);
}

static void test_kinds(void **state) {
    (void)state;
    const char *memory[] = {"dram__bytes_read.sum", "lts__t_bytes.sum", "fbpa__dram_sectors.sum",
                            "ltc__x.sum",
                            "LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed"};
    const char *sm[] = {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                        "smsp__inst_executed.sum",
                        "l1tex__t_bytes.sum",
                        "tpc__cycles_active.avg",
                        "TriageCompute.sm__throughput.avg.pct",
                        "TPC.TriageCompute.sm__cycles_active.avg",
                        "pcie__read_bytes.sum"};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        check_costs(costs_of(memory[i], NULL), 13.5, 0.05);
    for (size_t i = 0; i < sizeof sm / sizeof *sm; i++) check_costs(costs_of(sm[i], NULL), 4.5, 0.95);
    check_costs(costs_of("gpu__time_duration.sum", NULL), 7.7, 0.05);
    check_costs(costs_of("gpu__time_duration.sum", "gpc__cycles_elapsed.avg.per_second"), 7.7, 0.05);
}

static void test_dearest_kind(void **state) {
    (void)state;
    check_costs(costs_of("gpu__time_duration.sum", "dram__bytes.sum"), 13.5, 0.05);
    check_costs(costs_of("dram__bytes.sum", "sm__cycles_active.avg"), 13.5, 0.95);
}

/* ---- stacked or windows ---- */

static void near(double got, double expected) { assert_true(got > expected - 1e-9 && got < expected + 1e-9); }

/* 50 marked kernels, each in a region of its own, among so many that are not. */
static wmi_replay_survey marked(double unmarked, double runs) {
    return (wmi_replay_survey){.kernels_in = 50, .kernels_out = unmarked, .regions = 50, .runs = runs};
}

static void check_model(double unmarked, double runs, double stacked, double by_run, double by_region) {
    const wmi_replay_survey survey = marked(unmarked, runs);
    const wmi_replay_costs dram = costs_of("dram__throughput.avg.pct_of_peak_sustained_elapsed", NULL);
    near(wmi_replay_stacked_ms(&survey, dram, 1), stacked);
    near(wmi_replay_runs_ms(&survey, dram), by_run);
    near(wmi_replay_regions_ms(&survey, dram), by_region);
}

/* Room, windows, kernels. */
static void test_dram_alone(void **state) {
    (void)state;
    check_model(300, 1, 350 + 13.5 + 350 * 0.05, 350 + 13.5 + 350 * 0.05, 50 + 50 * 13.5 + 50 * 0.05);
    check_model(5000, 1, 5050 + 13.5 + 5050 * 0.05, 5050 + 13.5 + 5050 * 0.05, 50 + 50 * 13.5 + 50 * 0.05);
    check_model(300, 10, 3500 + 13.5 + 3500 * 0.05, 350 + 10 * 13.5 + 3500 * 0.05,
                50 + 500 * 13.5 + 500 * 0.05);
}

static void test_passes_multiply(void **state) {
    (void)state;
    const wmi_replay_survey survey = {.kernels_in = 60, .kernels_out = 140, .regions = 60, .runs = 2};
    const wmi_replay_costs sm = costs_of("sm__throughput.avg.pct_of_peak_sustained_elapsed", NULL);
    near(wmi_replay_stacked_ms(&survey, sm, 8), 2 * 200 + 8 * (4.5 + 2 * 200 * 0.95));
    near(wmi_replay_runs_ms(&survey, sm), 200 + 2 * (4.5 + 200 * 0.95));
    near(wmi_replay_regions_ms(&survey, sm), 60 + 2 * (60 * 4.5 + 60 * 0.95));
}

/* ---- comparing ---- */

enum { LAUNCHES = 5 };

static void fill(wmi_shape v[LAUNCHES]) {
    for (uint32_t i = 0; i < LAUNCHES; i++)
        v[i] = (wmi_shape){
            .entry = i, .stream = i % 2, .name = 10 + i, .grid = {i + 1, 1, 1}, .block = {32, 1, 1}};
}

static void test_same(void **state) {
    (void)state;
    wmi_shape a[LAUNCHES], b[LAUNCHES];
    fill(a);
    fill(b);
    for (size_t i = 0; i < LAUNCHES; i++) b[i].entry += 100; /* other runs have other entries */
    b[2].context = 1;                                        /* contexts are compared by their ranges */
    assert_true(wmi_replay_difference(a, LAUNCHES, b, LAUNCHES) == SIZE_MAX);
    assert_true(wmi_replay_difference(a, 0, b, 0) == SIZE_MAX);
    assert_true(wmi_replay_difference(NULL, 0, NULL, 0) == SIZE_MAX);
}

static void test_each_member(void **state) {
    (void)state;
    for (int member = 0; member < 11; member++) {
        wmi_shape a[LAUNCHES], b[LAUNCHES];
        fill(a);
        fill(b);
        wmi_shape *s = &b[3];
        uint32_t *const small[] = {&s->name,     &s->grid[0],  &s->grid[1], &s->grid[2], &s->block[0],
                                   &s->block[1], &s->block[2], &s->shared,  &s->thread};
        if (member < 9) ++*small[member];
        if (member == 9) s->stream = 7;
        if (member == 10) s->kind = WMI_LAUNCH_GRAPH;
        assert_int_equal(wmi_replay_difference(a, LAUNCHES, b, LAUNCHES), 3);
        assert_int_equal(wmi_replay_difference(b, LAUNCHES, a, LAUNCHES), 3);
    }
}

static void test_lengths(void **state) {
    (void)state;
    wmi_shape a[LAUNCHES], b[LAUNCHES];
    fill(a);
    fill(b);
    assert_int_equal(wmi_replay_difference(a, LAUNCHES, b, LAUNCHES - 1), LAUNCHES - 1);
    assert_int_equal(wmi_replay_difference(a, 0, b, LAUNCHES), 0);
    b[1].name = 99;
    assert_int_equal(wmi_replay_difference(a, LAUNCHES, b, 2), 1);
}

static void test_renumber(void **state) {
    (void)state;
    const uint64_t streams[] = {0x7f00, 0x10, 0x7f00, 0, 0x10};
    const uint32_t threads[] = {5, 9, 9, 5, 2};
    const uint64_t streams_then[] = {0, 1, 0, 2, 1};
    const uint32_t threads_then[] = {0, 1, 1, 0, 2};
    wmi_shape v[5] = {0};
    for (size_t i = 0; i < 5; i++) {
        v[i].stream = streams[i];
        v[i].thread = threads[i];
    }
    assert_true(wmi_replay_renumber(v, 5));
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(v[i].stream, streams_then[i]);
        assert_int_equal(v[i].thread, threads_then[i]);
    }
    assert_true(wmi_replay_renumber(NULL, 0));
}

/* A stream for each launch: more than any table begins with. */
static void test_renumber_many(void **state) {
    (void)state;
    enum { MANY = 3000 };
    wmi_shape *v = calloc(MANY, sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < MANY; i++) v[i].stream = 0x1000 * (uint64_t)(i % 1500 + 1);
    assert_true(wmi_replay_renumber(v, MANY));
    for (size_t i = 0; i < MANY; i++) assert_int_equal(v[i].stream, i % 1500);
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_dearest_kind),
        cmocka_unit_test(test_dram_alone),    cmocka_unit_test(test_passes_multiply),
        cmocka_unit_test(test_same),          cmocka_unit_test(test_each_member),
        cmocka_unit_test(test_lengths),       cmocka_unit_test(test_renumber),
        cmocka_unit_test(test_renumber_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
