#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"
#include "samples/samples.h"

static int setup(void **state) {
    *state = wmi_samples_create();
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    wmi_samples_destroy(*state);
    return 0;
}

static uint32_t add_bench(wmi_samples *s, const char *name) {
    uint32_t id;
    assert_int_equal(wmi_samples_bench(s, name, &id), WM_OK);
    return id;
}

static uint32_t add_metric(wmi_samples *s, const char *name) {
    const wmi_metric m = {name, "ns", "text", "cpu", "tsc", WMI_BETTER_LOWER, WMI_COMBINE_SUM, WMI_OF_NONE};
    uint32_t id;
    assert_int_equal(wmi_samples_metric(s, &m, &id), WM_OK);
    return id;
}

static uint32_t add_node(wmi_samples *s, uint32_t bench, uint32_t parent, const char *name) {
    uint32_t id;
    assert_int_equal(wmi_samples_node(s, bench, parent, wmi_intern(name), &id), WM_OK);
    return id;
}

static wmi_series *get_series(wmi_samples *s, uint32_t config, uint32_t node, uint32_t metric, int32_t pass) {
    wmi_series *series;
    assert_int_equal(wmi_samples_series(s, config, node, metric, pass, &series), WM_OK);
    return series;
}

static void destroy_takes_null(void **state) {
    (void)state;
    wmi_samples_destroy(NULL);
}

static void benches_are_kept_in_order(void **state) {
    wmi_samples *s = *state;
    char name[] = "first";
    assert_int_equal(add_bench(s, name), 0);
    memset(name, 'x', 5);
    assert_int_equal(add_bench(s, "second"), 1);
    assert_int_equal(add_bench(s, "second"), 2); /* measured twice: two benchmarks */
    assert_int_equal(wmi_samples_benches(s), 3);
    assert_string_equal(wmi_samples_bench_name(s, 0), "first");
    assert_string_equal(wmi_samples_bench_name(s, 2), "second");
}

static void configs_copy_what_they_get(void **state) {
    wmi_samples *s = *state;
    uint32_t bench = add_bench(s, "b"), first, second, third;
    char name[] = "type", text[] = "f32";
    const char *names[] = {"n", name};
    wm_value values[] = {wmi_i64(128), wmi_str(text)};
    assert_int_equal(wmi_samples_config(s, bench, 2, names, values, &first), WM_OK);
    memset(name, 'x', 4);
    memset(text, 'x', 3);
    const wmi_config *c = wmi_samples_config_at(s, first);
    assert_string_equal(c->key, "n=128,type=f32");
    assert_int_equal(c->count, 2);
    assert_string_equal(c->names[1], "type");
    assert_string_equal(c->values[1].as.str, "f32");
    assert_int_equal(c->state, WMI_CONFIG_OK);
    assert_null(c->reason);
    assert_null(c->stop_reason);

    names[1] = "type";
    values[0] = wmi_i64(256);
    assert_int_equal(wmi_samples_config(s, bench, 2, names, values, &second), WM_OK);
    assert_ptr_equal(wmi_samples_config_at(s, second)->names, c->names); /* shared */
    assert_int_equal(wmi_samples_config(s, bench, 0, NULL, NULL, &third), WM_OK);
    assert_string_equal(wmi_samples_config_at(s, third)->key, "");
    assert_ptr_equal(wmi_samples_config_at(s, first), c); /* has not moved */
    assert_int_equal(wmi_samples_configs(s), 3);
}

static void states_replace_each_other(void **state) {
    wmi_samples *s = *state;
    uint32_t id;
    assert_int_equal(wmi_samples_config(s, add_bench(s, "b"), 0, NULL, NULL, &id), WM_OK);
    assert_int_equal(wmi_samples_set_state(s, id, WMI_CONFIG_SKIPPED, "too large"), WM_OK);
    assert_string_equal(wmi_samples_config_at(s, id)->reason, "too large");
    assert_int_equal(wmi_samples_set_state(s, id, WMI_CONFIG_FAILED, NULL), WM_OK);
    assert_int_equal(wmi_samples_config_at(s, id)->state, WMI_CONFIG_FAILED);
    assert_null(wmi_samples_config_at(s, id)->reason);
}

static void nodes_have_paths(void **state) {
    wmi_samples *s = *state;
    uint32_t b = add_bench(s, "bench"), other = add_bench(s, "other");
    uint32_t root = add_node(s, b, UINT32_MAX, "whatever");
    uint32_t step = add_node(s, b, root, "step");
    uint32_t attention = add_node(s, b, step, "attention");
    uint32_t alone = add_node(s, b, root, "attention");
    uint32_t foreign = add_node(s, other, add_node(s, other, UINT32_MAX, ""), "step");
    assert_string_equal(wmi_samples_node_at(s, root)->path, "bench");
    assert_string_equal(wmi_samples_node_at(s, step)->path, "step");
    assert_string_equal(wmi_samples_node_at(s, attention)->path, "step/attention");
    assert_string_equal(wmi_samples_node_at(s, alone)->path, "attention");
    assert_int_not_equal(step, foreign);
    assert_int_equal(add_node(s, b, step, "attention"), attention);
    assert_int_equal(add_node(s, b, UINT32_MAX, "bench"), root);
    assert_int_equal(wmi_samples_nodes(s), 6);
}

static uint32_t find_region(const wmi_samples *s, uint32_t bench, const char *name, bool *several) {
    *several = false;
    return wmi_samples_find_node(s, bench, name, several);
}

static void regions_are_found_by_path_or_last_part(void **state) {
    wmi_samples *s = *state;
    bool several;
    uint32_t b = add_bench(s, "bench"), other = add_bench(s, "other");
    uint32_t root = add_node(s, b, UINT32_MAX, ""), step = add_node(s, b, root, "step");
    uint32_t deep = add_node(s, b, step, "deep"), twin = add_node(s, b, step, "twin");
    uint32_t twin2 = add_node(s, b, deep, "twin");
    add_node(s, other, add_node(s, other, UINT32_MAX, ""), "elsewhere");
    assert_int_equal(find_region(s, b, "step", &several), step);
    assert_int_equal(find_region(s, b, "step/deep", &several), deep);
    assert_int_equal(find_region(s, b, "deep", &several), deep);
    assert_int_equal(find_region(s, b, "bench", &several), root);
    assert_int_equal(find_region(s, b, "deep/twin", &several), twin2);
    assert_int_equal(find_region(s, b, "step/twin", &several), twin);
    assert_false(several);
    assert_int_equal(find_region(s, b, "twin", &several), UINT32_MAX);
    assert_true(several);
    assert_int_equal(find_region(s, b, "eep", &several), UINT32_MAX);
    assert_int_equal(find_region(s, b, "elsewhere", &several), UINT32_MAX);
    assert_false(several);
    uint32_t namesake = add_node(s, b, root, "bench"); /* a region called like the benchmark */
    assert_int_equal(find_region(s, b, "bench", &several), namesake);
}

static void metrics_are_found_by_name(void **state) {
    wmi_samples *s = *state;
    uint32_t time = add_metric(s, "time"), faults = add_metric(s, "page-faults");
    const wmi_metric again = {"time", "s", NULL, NULL, NULL, WMI_BETTER_NONE, WMI_COMBINE_MEAN, WMI_OF_NONE};
    const wmi_metric bare = {"bare", NULL, NULL, NULL, NULL, WMI_BETTER_HIGHER, WMI_COMBINE_MAX, WMI_OF_NONE};
    uint32_t id;
    assert_int_equal(wmi_samples_metric(s, &again, &id), WM_OK);
    assert_int_equal(id, time);
    assert_string_equal(wmi_samples_metric_at(s, time)->unit, "ns"); /* the first one counts */
    assert_string_equal(wmi_samples_metric_at(s, time)->timer, "tsc");
    assert_int_equal(faults, 1);
    assert_int_equal(wmi_samples_metric(s, &bare, &id), WM_OK);
    assert_string_equal(wmi_samples_metric_at(s, id)->unit, "");
    assert_int_equal(wmi_samples_metric_at(s, id)->combine, WMI_COMBINE_MAX);
    for (int i = 0; i < 500; i++) { /* the index grows */
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        add_metric(s, name);
    }
    assert_int_equal(wmi_samples_metrics(s), 503);
    assert_int_equal(add_metric(s, "time"), time);
    assert_int_equal(add_metric(s, "m499"), 502);
}

static void better_has_words(void **state) {
    (void)state;
    assert_string_equal(wmi_better_text(WMI_BETTER_NONE), "");
    assert_string_equal(wmi_better_text(WMI_BETTER_LOWER), "lower");
    assert_string_equal(wmi_better_text(WMI_BETTER_HIGHER), "higher");
    assert_int_equal(wmi_better_of_unit("ns"), WMI_BETTER_LOWER);
    assert_int_equal(wmi_better_of_unit("s"), WMI_BETTER_LOWER);
    assert_int_equal(wmi_better_of_unit("FLOP/s"), WMI_BETTER_HIGHER);
    assert_int_equal(wmi_better_of_unit("/s"), WMI_BETTER_NONE);
    assert_int_equal(wmi_better_of_unit("item/ns"), WMI_BETTER_NONE);
    assert_int_equal(wmi_better_of_unit(""), WMI_BETTER_NONE);
}

static void series_hold_values_runs_and_reasons(void **state) {
    wmi_series *v = get_series(*state, 3, 2, 1, 0);
    enum { N = 3 * WMI_CHUNK + 17 };
    for (int i = 0; i < N; i++) {
        bool null = i == 5 || i == 2 * WMI_CHUNK + 1;
        assert_int_equal(wmi_series_add(v, i / 2, 0.5 * i, null ? WM_REASON_PERMISSION : WM_REASON_NONE),
                         WM_OK);
    }
    assert_int_equal(v->n, N);
    assert_int_equal(v->nulls, 2);
    assert_int_equal(v->last_reason, WM_REASON_PERMISSION);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(wmi_series_run(v, i), (int)(i / 2));
        if (i == 5 || i == 2 * WMI_CHUNK + 1) {
            assert_true(isnan(wmi_series_value(v, i)));
            assert_int_equal(wmi_series_reason(v, i), WM_REASON_PERMISSION);
        } else {
            assert_true(wmi_series_value(v, i) == 0.5 * (double)i);
            assert_int_equal(wmi_series_reason(v, i), WM_REASON_NONE);
        }
    }
    assert_null(v->chunk[1].reason); /* chunks without a null have no reasons */
}

static void a_value_that_is_not_finite_is_a_null(void **state) {
    wmi_series *v = get_series(*state, 0, 0, 0, 0);
    assert_int_equal(wmi_series_add(v, 0, NAN, WM_REASON_NONE), WM_OK);
    assert_int_equal(wmi_series_add(v, 1, -INFINITY, WM_REASON_NONE), WM_OK);
    assert_int_equal(wmi_series_add(v, 2, INFINITY, WM_REASON_RESOLUTION), WM_OK);
    assert_int_equal(wmi_series_add(v, 3, -0.0, WM_REASON_NONE), WM_OK);
    assert_int_equal(v->nulls, 3);
    assert_int_equal(wmi_series_reason(v, 0), WM_REASON_NOT_FINITE);
    assert_int_equal(wmi_series_reason(v, 1), WM_REASON_NOT_FINITE);
    assert_int_equal(wmi_series_reason(v, 2), WM_REASON_RESOLUTION);
    assert_int_equal(wmi_series_reason(v, 3), WM_REASON_NONE);
    assert_int_equal(v->last_reason, WM_REASON_RESOLUTION);
}

static void series_are_found_by_their_keys(void **state) {
    wmi_samples *s = *state;
    enum { CONFIGS = 50, NODES = 7, METRICS = 5 };
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint32_t n = 0; n < NODES; n++)
            for (uint32_t m = 0; m < METRICS; m++)
                for (int32_t p = -1; p < 2; p++)
                    get_series(s, c, n, m, p)->entries = c * 1000 + n * 100 + m * 10 + (uint32_t)(p + 1);
    assert_int_equal(wmi_samples_series_count(s), CONFIGS * NODES * METRICS * 3);
    const wmi_series *v = get_series(s, 49, 6, 4, -1);
    assert_int_equal(v->entries, 49640);
    assert_int_equal(v->pass, -1);
    assert_int_equal(get_series(s, 0, 1, 0, 1)->entries, 102);
    assert_int_equal(wmi_samples_series_count(s), CONFIGS * NODES * METRICS * 3);
    assert_int_equal(wmi_samples_series_at(s, 4)->pass, 0); /* in order of creation */
    assert_int_equal(wmi_samples_series_at(s, 4)->metric, 1);
}

static void runs_that_follow_are_one_stretch(void **state) {
    wmi_samples *s = *state;
    for (int32_t r = -2; r < 1000; r++) { /* two configurations, interleaved, each in two passes */
        for (uint32_t c = 0; c < 2; c++) {
            for (int32_t p = 0; p < 2; p++) {
                const wmi_run run = {c, r, p, 0, 10 * r, 10 * r + 5, r < 0 ? (uint32_t)WMI_RUN_WARMUP : 0};
                assert_int_equal(wmi_samples_run(s, &run), WM_OK);
            }
        }
    }
    assert_int_equal(wmi_samples_stretches(s), 8);
    const wmi_stretch *t = wmi_samples_stretch_at(s, 0);
    assert_int_equal(t->first.flags, WMI_RUN_WARMUP);
    assert_int_equal(t->first.run, -2);
    assert_int_equal(t->count, 2);
    t = wmi_samples_stretch_at(s, 6);
    assert_int_equal(t->first.config, 1);
    assert_int_equal(t->first.pass, 0);
    assert_int_equal(t->first.run, 0);
    assert_int_equal(t->first.begin_ns, 0);
    assert_int_equal(t->end_ns, 9995);
    assert_int_equal(t->count, 1000);

    const wmi_run again = {0, 1000, 0, 1, 0, 0, 0}, failed = {0, 1001, 0, 1, 0, 0, WMI_RUN_FAILED},
                  jump = {0, 1003, 0, 1, 0, 0, WMI_RUN_FAILED};
    assert_int_equal(wmi_samples_run(s, &again), WM_OK);
    assert_int_equal(wmi_samples_run(s, &failed), WM_OK);
    assert_int_equal(wmi_samples_run(s, &jump), WM_OK);
    assert_int_equal(wmi_samples_stretches(s), 11);
}

/* ---- keys ---- */

static void check_key(wm_value v, const char *want) {
    const char *name = "x";
    char *key = wmi_config_key(1, &name, &v);
    assert_non_null(key);
    assert_string_equal(key, want);
    free(key);
}

static void keys_tell_types_apart(void **state) {
    (void)state;
    check_key(wmi_i64(128), "x=128");
    check_key(wmi_i64(INT64_MIN), "x=-9223372036854775808");
    check_key(wmi_f64(128), "x=128.0");
    check_key(wmi_f64(0.1), "x=0.1");
    check_key(wmi_f64(-0.0), "x=-0.0");
    check_key(wmi_f64(1e300), "x=1e+300");
    check_key(wmi_f64(5e-324), "x=5e-324");
    check_key((wm_value){WM_F64, WM_REASON_NONE, {.f64 = NAN}}, "x=nan");
    check_key((wm_value){WM_F64, WM_REASON_NONE, {.f64 = -INFINITY}}, "x=-inf");
    check_key(wmi_bool(true), "x=true");
    check_key(wmi_bool(false), "x=false");
    check_key(wmi_null(WM_REASON_UNKNOWN), "x=null");
    check_key(wmi_str("f32"), "x=f32");
    check_key(wmi_str("a/b.c:d-e+f_1"), "x=a/b.c:d-e+f_1");
    check_key(wmi_str("_"), "x=_");
}

static void keys_quote_strings_that_read_like_something_else(void **state) {
    (void)state;
    check_key(wmi_str("128"), "x=\"128\"");
    check_key(wmi_str("1e5"), "x=\"1e5\"");
    check_key(wmi_str("-1"), "x=\"-1\"");
    check_key(wmi_str(".5"), "x=\".5\"");
    check_key(wmi_str("true"), "x=\"true\"");
    check_key(wmi_str("null"), "x=\"null\"");
    check_key(wmi_str("nan"), "x=\"nan\"");
    check_key(wmi_str("inf"), "x=\"inf\"");
    check_key(wmi_str(""), "x=\"\"");
    check_key(wmi_str("a b"), "x=\"a b\"");
    check_key(wmi_str("a,b=c"), "x=\"a,b=c\"");
    check_key(wmi_str("say \"hi\"\\"), "x=\"say \\\"hi\\\"\\\\\"");
    check_key(wmi_str("\xC3\xA9"), "x=\"\xC3\xA9\"");
    check_key(wmi_str("line\r\n\x01"), "x=\"line\\r\\n\\u0001\"");
    check_key(wmi_str("\xFF"), "x=\"\\uefff\""); /* how an invalid byte is kept */
}

static void keys_join_parameters(void **state) {
    (void)state;
    const char *names[] = {"n", "type", "a=b"};
    const wm_value values[] = {wmi_i64(1), wmi_str("f32"), wmi_f64(2)};
    char *key = wmi_config_key(3, names, values);
    assert_string_equal(key, "n=1,type=f32,\"a=b\"=2.0");
    free(key);
    key = wmi_config_key(0, NULL, NULL);
    assert_string_equal(key, "");
    free(key);
}

/* ---- memory ---- */

/* malloc's own count of bytes in use, its overhead included. A sanitizer's allocator
 * does not count, nor does valgrind's. */
static size_t bytes_in_use(void) {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static bool bytes_are_counted(void) {
    size_t before = bytes_in_use();
    void *volatile p = malloc(1 << 20);
    bool counted = bytes_in_use() - before >= 1 << 20;
    free(p);
    return counted;
}

/* Interleaved, the order in which all series grow at once. */
static void memory_stays_near_the_samples(void **state) {
    wmi_samples *s = *state;
    enum { CONFIGS = 10000, RUNS = 1000 };
    if (!bytes_are_counted()) skip();
    size_t before = bytes_in_use();
    uint32_t bench = add_bench(s, "b"), root = add_node(s, bench, UINT32_MAX, ""),
             time = add_metric(s, "time");
    const char *names[] = {"n", "type"};
    for (int64_t i = 0; i < CONFIGS; i++) {
        const wm_value values[] = {wmi_i64(i), wmi_str(i % 2 ? "f32" : "f64")};
        uint32_t id;
        assert_int_equal(wmi_samples_config(s, bench, 2, names, values, &id), WM_OK);
    }
    for (int32_t r = 0; r < RUNS; r++) {
        for (uint32_t c = 0; c < CONFIGS; c++) {
            const wmi_run run = {c, r, 0, 0, r, r + 1, 0};
            if (wmi_samples_run(s, &run) != WM_OK) fail();
            if (wmi_series_add(get_series(s, c, root, time, 0), r, (double)r, WM_REASON_NONE) != WM_OK)
                fail();
        }
    }
    assert_true(bytes_in_use() - before <= (size_t)CONFIGS * RUNS * 14);
}

static void short_series_are_small(void **state) {
    wmi_samples *s = *state;
    enum { SERIES = 10000, RUNS = 10 };
    if (!bytes_are_counted()) skip();
    size_t before = bytes_in_use();
    for (uint32_t c = 0; c < SERIES; c++)
        for (int32_t r = 0; r < RUNS; r++)
            assert_int_equal(wmi_series_add(get_series(s, c, 0, 0, 0), r, 1.0, WM_REASON_NONE), WM_OK);
    assert_true(bytes_in_use() - before <= (size_t)SERIES * 480);
}

/* ---- what devices did ---- */

static wmi_work *get_work(wmi_samples *s, uint32_t config, uint32_t node) {
    wmi_work *work;
    assert_int_equal(wmi_samples_work(s, config, node, &work), WM_OK);
    return work;
}

static void work_is_found_again_and_stays(void **state) {
    wmi_samples *s = *state;
    enum { CONFIGS = 60, NODES = 70 };
    static wmi_work *all[CONFIGS][NODES];
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint32_t n = 0; n < NODES; n++) {
            assert_null(wmi_samples_work_of(s, c, n));
            all[c][n] = get_work(s, c, n);
            all[c][n]->kernels = c * 1000 + n;
        }
    for (uint32_t c = 0; c < CONFIGS; c++)
        for (uint32_t n = 0; n < NODES; n++) {
            assert_ptr_equal(get_work(s, c, n), all[c][n]);
            assert_ptr_equal(wmi_samples_work_of(s, c, n), all[c][n]);
            assert_int_equal(all[c][n]->config, c);
            assert_int_equal(all[c][n]->node, n);
            assert_int_equal(all[c][n]->kernels, c * 1000 + n);
        }
    assert_null(wmi_samples_work_of(s, NODES, CONFIGS));
    assert_int_equal(all[0][0]->name_count, 0);
    assert_int_equal(all[0][0]->clock_pass, -1);
}

static void names_of_kernels_are_distinct_and_counted(void **state) {
    wmi_work *work = get_work(*state, 0, 0);
    for (int round = 0; round < 3; round++)
        for (uint32_t name = 1; name <= 1000; name++)
            assert_int_equal(wmi_work_add_kernel(work, name * 7, 3), WM_OK);
    assert_int_equal(wmi_work_add_kernel(work, 0, 0), WM_OK); /* neither is known */
    assert_int_equal(work->name_count, 1000);
    for (uint32_t i = 0; i < WMI_WORK_NAMES; i++) assert_int_equal(work->names[i], (i + 1) * 7);
    assert_int_equal(work->device, 3);
    assert_false(work->devices_differ);
    assert_int_equal(work->kernels, 0);
    assert_int_equal(wmi_work_add_kernel(work, 7, 4), WM_OK);
    assert_true(work->devices_differ);
    assert_int_equal(work->device, 3);
    assert_int_equal(wmi_work_add_kernel(work, 7, 3), WM_OK);
    assert_true(work->devices_differ);
    assert_int_equal(work->name_count, 1000);
}

static void records_are_kept_in_order(void **state) {
    wmi_samples *s = *state;
    enum { RECORDS = 10000 };
    const wmi_kept *first = NULL;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const wmi_record r = {
            .entry = i, .begin_ns = INT64_MAX - i, .grid = {i, 1, 2}, .reason = (uint8_t)(i % 7)};
        assert_int_equal(wmi_samples_keep(s, i % 3, i % 5, (int32_t)i, &r), WM_OK);
        if (i == 0) first = wmi_samples_kept_at(s, 0);
    }
    assert_int_equal(wmi_samples_kept(s), RECORDS);
    assert_ptr_equal(wmi_samples_kept_at(s, 0), first);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const wmi_kept *k = wmi_samples_kept_at(s, i);
        assert_int_equal(k->config, i % 3);
        assert_int_equal(k->node, i % 5);
        assert_int_equal(k->run, i);
        assert_int_equal(k->record.entry, i);
        assert_true(k->record.begin_ns == INT64_MAX - (int64_t)i);
        assert_int_equal(k->record.grid[0], i);
        assert_int_equal(k->record.grid[2], 2);
        assert_int_equal(k->record.reason, i % 7);
    }
}

static void a_record_takes_its_own_size(void **state) {
    wmi_samples *s = *state;
    enum { RECORDS = 100000 };
    const wmi_record r = {.entry = 1};
    if (!bytes_are_counted()) skip();
    const size_t before = bytes_in_use();
    for (uint32_t i = 0; i < RECORDS; i++) assert_int_equal(wmi_samples_keep(s, 0, 0, 0, &r), WM_OK);
    assert_true(bytes_in_use() - before <= (size_t)RECORDS * 130 + 65536);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroy_takes_null),
        EACH(benches_are_kept_in_order),
        EACH(configs_copy_what_they_get),
        EACH(states_replace_each_other),
        EACH(nodes_have_paths),
        EACH(regions_are_found_by_path_or_last_part),
        EACH(metrics_are_found_by_name),
        cmocka_unit_test(better_has_words),
        EACH(series_hold_values_runs_and_reasons),
        EACH(a_value_that_is_not_finite_is_a_null),
        EACH(series_are_found_by_their_keys),
        EACH(runs_that_follow_are_one_stretch),
        cmocka_unit_test(keys_tell_types_apart),
        cmocka_unit_test(keys_quote_strings_that_read_like_something_else),
        cmocka_unit_test(keys_join_parameters),
        EACH(memory_stays_near_the_samples),
        EACH(short_series_are_small),
        EACH(work_is_found_again_and_stays),
        EACH(names_of_kernels_are_distinct_and_counted),
        EACH(records_are_kept_in_order),
        EACH(a_record_takes_its_own_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
