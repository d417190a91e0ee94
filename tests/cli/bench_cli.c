/* The benchmark program that command-line tests run. Where it can it reports times that it makes up,
 * so that its tables are the same on every machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpmeter.h"

/* Adds a line to the file that $CALLS names: how a test sees which calls were made, and that none was. */
static void log_call(const char *what, wm_state *st) {
    const char *path = getenv("CALLS");
    FILE *f = path ? fopen(path, "a") : NULL;
    wm_value n;
    if (!f) return;
    if (wm_param(st, "n", &n) == WM_OK && n.type == WM_I64)
        fprintf(f, "%s n=%lld\n", what, (long long)n.as.i64);
    else
        fprintf(f, "%s\n", what);
    fclose(f);
}

static void work(int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)i;
        WM_KEEP(sum);
    }
}

/* Short work in one region, measured for real. */
static void fast(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    log_call("fast", st);
    WM_BEGIN("work");
    work(1000 * n);
    WM_END("work");
    wm_add_items(st, "work", 1000.0 * (double)n);
}
WM_BENCHMARK(fast, "--axis n=[1,2,3] --runs 5")

/* Made-up times of two regions: n * 100 ns and n * 50 ns in every run. */
static void manual(wm_state *st) {
    double n = (double)wm_i64(st, "n");
    log_call("manual", st);
    WM_BEGIN("slow");
    WM_END("slow");
    WM_BEGIN("quick");
    WM_END("quick");
    wm_set_time_ns(st, "slow", 100.0 * n);
    wm_set_time_ns(st, "quick", 50.0 * n);
    wm_add_flops(st, "slow", 200.0 * n);
    wm_add_bytes(st, "slow", 400.0 * n);
}
WM_BENCHMARK(manual, "--axis n=[1,2] --runs 4 --normalize-against slow")

/* Made-up times that differ between runs: 10, 20, 30, ... ns. */
static double rising_ns;
static void rising_setup(wm_state *st) {
    (void)st;
    rising_ns = 0.0;
}
static void rising(wm_state *st) {
    log_call("rising", st);
    rising_ns += 10.0;
    wm_set_time_ns(st, NULL, rising_ns);
}
WM_BENCHMARK_WITH(rising, rising_setup, NULL, NULL, "--runs 5 --warmup 0")

/* One good configuration, one that fails, one that is skipped. */
static void mixed(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    log_call("mixed", st);
    if (n == 2) {
        wm_fail(st, "no result for n = %d", 2);
        return;
    }
    if (n == 3) {
        wm_skip(st, "n = %d is too large", 3);
        return;
    }
    wm_set_time_ns(st, NULL, 100.0);
}
WM_BENCHMARK(mixed, "--axis n=[1,2,3] --runs 3")

/* Regions in regions; "inner" is entered twice in a run. */
static void nested(wm_state *st) {
    log_call("nested", st);
    WM_BEGIN("outer");
    for (int i = 0; i < 2; i++) {
        WM_SCOPE("inner");
        work(100);
    }
    WM_END("outer");
}
WM_BENCHMARK(nested, "--runs 3")

/* An end without a begin, and a begin without an end. */
static void unmatched(wm_state *st) {
    log_call("unmatched", st);
    WM_END("never");
    WM_BEGIN("fine");
    WM_END("fine");
    WM_BEGIN("open");
}
WM_BENCHMARK(unmatched, "--runs 2")

/* Every thread enters the same region. */
static void threaded(wm_state *st) {
    log_call("threaded", st);
    WM_BEGIN("work");
    work(1000);
    WM_END("work");
    wm_record(st, "index", (double)wm_thread(st), "");
}
WM_BENCHMARK(threaded, "--threads 2 --runs 3")

/* Work that is too short to time alone. */
static void repeat(wm_state *st) {
    int64_t x = 0;
    log_call("repeat", st);
    WM_REPEAT(st, "add") {
        x += 3;
        WM_KEEP(x);
    }
}
WM_BENCHMARK(repeat, "--runs 3 --batch-time 100us")

/* Metrics of the program's own; one has no finite value in odd runs. */
static void record(wm_state *st) {
    static int run;
    log_call("record", st);
    wm_set_time_ns(st, NULL, 1000.0);
    wm_record(st, "widgets", 7.0, "widget");
    wm_record(st, "widgets", 3.0, "widget");
    wm_record(st, "odd, \"name\"", run++ % 2 ? (double)NAN : 1.0, "");
}
WM_BENCHMARK(record, "--runs 4 --warmup 0")

/* A parameter of each type. Wrong values fail the configuration. */
static void typed(wm_state *st) {
    log_call("typed", st);
    if (wm_i64(st, "i") != 7) wm_fail(st, "i is not 7");
    if (wm_f64(st, "f") != 0.5) wm_fail(st, "f is not 0.5");
    if (strcmp(wm_str(st, "s"), "a, \"b\"") != 0) wm_fail(st, "s is '%s'", wm_str(st, "s"));
    if (!wm_bool(st, "b")) wm_fail(st, "b is false");
    wm_set_time_ns(st, NULL, 100.0);
}
WM_BENCHMARK(typed, "--axis i=7 --axis f=0.5 --axis 's=[\"a, \\\"b\\\"\"]' --axis b=true --runs 2")

/* Asks for a parameter that it does not have. */
static void asks(wm_state *st) {
    log_call("asks", st);
    (void)wm_i64(st, "m");
}
WM_BENCHMARK(asks, "--axis n=1 --runs 2")

/* Set-up, tear-down and the pointers that go through them. */
static int lifecycle_user = 42;
static void lifecycle_setup(wm_state *st) {
    log_call("setup", st);
    int64_t *data = malloc(sizeof *data);
    if (data) *data = wm_i64(st, "n");
    wm_set_data(st, data);
}
static void lifecycle_teardown(wm_state *st) {
    log_call("teardown", st);
    free(wm_data(st));
}
static void lifecycle(wm_state *st) {
    const int64_t *data = wm_data(st);
    log_call("run", st);
    if (wm_user(st) != &lifecycle_user) wm_fail(st, "wm_user is not what was registered");
    if (!data || *data != wm_i64(st, "n")) wm_fail(st, "wm_data is not what set-up left");
    wm_set_time_ns(st, NULL, 100.0);
}
WM_BENCHMARK_WITH(lifecycle, lifecycle_setup, lifecycle_teardown, &lifecycle_user,
                  "--axis n=[1,2] --runs 2 --warmup 1")

/* Values under a name or in a unit that they may not have. */
static void refused(wm_state *st) {
    log_call("refused", st);
    wm_set_time_ns(st, NULL, 100.0);
    switch (wm_i64(st, "n")) {
    case 0: wm_record(st, NULL, 1.0, "hit"); break;
    case 1: wm_record(st, "", 1.0, "hit"); break;
    case 2: wm_record(st, "time", 1.0, "ns"); break;
    case 3: wm_record(st, "item_rate", 1.0, "item/s"); break;
    case 4: wm_record(st, "twice", 1.0, "ns"); break;
    case 5: wm_record(st, "hits", 1.0, "hit"), wm_record(st, "hits", 1.0, "ns"); break;
    case 6: wm_record(st, "seen", 1.0, "hit"); break;
    default: wm_record(st, "seen", 1.0, "s");
    }
}
WM_BENCHMARK(refused, "--axis n=[0:7] --derive 'twice = 2*time [ns]' --runs 2")

/* Ends the program in the third run. */
static void leaves(wm_state *st) {
    static int run;
    log_call("leaves", st);
    wm_set_time_ns(st, NULL, 100.0);
    if (++run == 3) exit(0);
}
WM_BENCHMARK(leaves, "--runs 5 --warmup 0")

/* Collectors of each scope: a text once, the parameter n, the number of the run, and a region's path. What
 * they say of run 1 is a null without a value. */
static bool collect_once(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)st;
    (void)region;
    *out = (wm_value){.type = WM_STR, .as.str = user};
    return true;
}
static int64_t collected_run;
static bool collect_config(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)region;
    collected_run = 0;
    *out = (wm_value){.type = WM_I64, .as.i64 = wm_i64(st, "n")};
    return true;
}
static bool collect_run(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)st;
    (void)region;
    *out = (wm_value){.type = WM_I64, .as.i64 = collected_run};
    return collected_run++ != 1;
}
static bool collect_region(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)st;
    *out = (wm_value){.type = WM_STR, .as.str = region};
    return true;
}
static void collects(wm_state *st) {
    log_call("collects", st);
    WM_BEGIN("outer");
    WM_BEGIN("inner");
    WM_END("inner");
    WM_END("outer");
    wm_set_time_ns(st, "outer", 100.0);
    wm_set_time_ns(st, "inner", 50.0);
}
__attribute__((constructor)) static void register_collects(void) {
    static char text[] = "a, \"b\"";
    const wm_collector collectors[] = {
        {sizeof(wm_collector), "text", WM_COLLECT_ONCE, collect_once, text},
        {sizeof(wm_collector), "size", WM_COLLECT_CONFIG, collect_config, NULL},
        {sizeof(wm_collector), "number", WM_COLLECT_RUN, collect_run, NULL},
        {sizeof(wm_collector), "where", WM_COLLECT_REGION, collect_region, NULL},
    };
    wm_benchmark bench = WM_BENCHMARK_INIT;
    bench.name = "collects";
    bench.run = collects;
    bench.options = "--axis n=[4,8] --runs 3 --warmup 1";
    bench.collectors = collectors;
    bench.collector_count = sizeof collectors / sizeof *collectors;
    wm_benchmark_register_static(&bench);
}

/* Nothing to measure. */
static void empty(wm_state *st) { (void)st; }
WM_BENCHMARK(empty, "--runs 3")

WM_MAIN()
