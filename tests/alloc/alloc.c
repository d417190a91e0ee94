/* Fails each allocation of each scenario in turn: the first, then the second, until the scenario runs
 * to its end without a failure; first one allocation alone, then all from the nth on. A call whose
 * allocation failed must say so with a status and a message, crash nowhere and leave everything fit to
 * be destroyed. Leaks are for the address sanitizer to find. jansson's allocations are
 * left alone: its parser asserts that they succeed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/failing.h"
#include "input/groups.h"
#include "ncu/ncu.h"
#include "table/arrow.h"
#include "table/reduce.h"

/* What the scenarios work on. */
typedef struct world {
    wm_session *session;
    wm_sweep *sweep;
    wm_table *table, *other;
} world;

enum { PATH_SIZE = 256, EXPECTED_MAX = 4 };
static char folder[PATH_SIZE / 2];

static const char *path_of(const char *name, char out[PATH_SIZE]) {
    snprintf(out, PATH_SIZE, "%s/%s", folder, name);
    return out;
}

/* ---- the benchmark that is measured ---- */

static void bench_setup(wm_state *st) { wm_set_data(st, st); }
static void bench_run(wm_state *st) {
    if (wm_i64(st, "n") == 3) {
        wm_skip(st, "n = %d is left out", 3);
        return;
    }
    wm_begin("outer");
    WM_BEGIN("inner");
    WM_END("inner");
    wm_end("outer");
    wm_set_time_ns(st, "outer", 200.0);
    wm_set_time_ns(st, "inner", 100.0);
    wm_add_flops(st, "outer", 10.0);
    wm_record(st, "widgets", 3.0, "widget");
}

static bool half(void *user, const double *in, double *out) {
    (void)user;
    *out = in[0] / 2.0;
    return true;
}
/* A text that differs from call to call. */
static bool collect_text(void *user, wm_state *st, const char *region, wm_value *out) {
    static char text[32];
    static int calls;
    (void)user;
    (void)st;
    snprintf(text, sizeof text, "%s %d", region ? region : "?", calls++);
    *out = (wm_value){.type = WM_STR, .as.str = text};
    return true;
}
static bool collect_number(void *user, wm_state *st, const char *region, wm_value *out) {
    (void)user;
    (void)region;
    *out = (wm_value){.type = WM_I64, .as.i64 = wm_i64(st, "n")};
    return true;
}
static const wm_collector collectors[] = {
    {sizeof(wm_collector), "said", WM_COLLECT_ONCE, collect_text, NULL},
    {sizeof(wm_collector), "size", WM_COLLECT_CONFIG, collect_number, NULL},
    {sizeof(wm_collector), "each", WM_COLLECT_RUN, collect_number, NULL},
    {sizeof(wm_collector), "where", WM_COLLECT_REGION, collect_text, NULL},
    {sizeof(wm_collector), "given", WM_COLLECT_RUN, NULL, NULL},
};
static const wm_derivation derivations[] = {{"half_time", "ns", "time", half}};
static const wm_benchmark bench = {
    sizeof(wm_benchmark),
    "bench",
    bench_run,
    bench_setup,
    NULL,
    NULL,
    "--axis n=[1,2,3] --axis 'kind=[\"a b\",c]' --runs 3 --warmup 1 --normalize-against outer",
    derivations,
    1,
    NULL,
    collectors,
    sizeof collectors / sizeof *collectors,
};
static const char *const arguments[] = {
    "--derive", "per_n = time/n [ns]", "--filter", "kind", "--order", "random", "--seed", "7", "--axis",
    "n=[1,3]",  "--collect",           "env:HOME"};
enum { ARGUMENTS = sizeof arguments / sizeof *arguments };

/* ---- scenarios ---- */

static void log_nothing(void *user, wm_log_level level, const char *line) {
    (void)user;
    (void)level;
    (void)line;
}

static wm_status open_session(world *w, wm_error *err) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.log = log_nothing;
    opts.ring_marks = 1024;
    return wm_session_create(&opts, &w->session, err);
}

static wm_status open_sweep(world *w, wm_error *err) {
    wm_status s = open_session(w, err);
    if (s == WM_OK) s = wm_sweep_create(w->session, &bench, ARGUMENTS, arguments, &w->sweep, err);
    return s;
}

static wm_status measure(world *w, wm_error *err) {
    wm_status s = open_sweep(w, err);
    if (s == WM_OK) s = wm_sweep_run(w->sweep, err);
    if (s == WM_OK) s = wm_session_table(w->session, &w->table, err);
    return s;
}

static wm_status sweep_run(world *w, wm_error *err) {
    wm_status s = wm_sweep_run(w->sweep, err);
    const wm_value given = {WM_STR, WM_REASON_NONE, {.str = "given"}};
    for (int i = 0; s == WM_OK && i < 2; i++)
        s = wm_sweep_collect(w->sweep, "given", WM_COLLECT_RUN, 0, 0, NULL, given, err);
    if (s == WM_OK) s = wm_sweep_collect(w->sweep, "more", WM_COLLECT_ONCE, 0, 0, NULL, given, err);
    if (s == WM_OK) s = wm_session_table(w->session, &w->table, err);
    if (s == WM_OK) s = wm_session_samples(w->session, &w->other, err);
    wm_table *kernels = NULL;
    if (s == WM_OK) s = wm_session_kernels(w->session, &kernels, err);
    wm_table_destroy(kernels);
    return s;
}

static wm_status sweep_plan(world *w, wm_error *err) {
    const char *const names[] = {"n", "kind"};
    const wm_value values[] = {{WM_I64, WM_REASON_NONE, {.i64 = 9}}, {WM_STR, WM_REASON_NONE, {.str = "x"}}};
    wm_status s = wm_sweep_add_config(w->sweep, 2, names, values, err);
    return s == WM_OK ? wm_sweep_plan(w->sweep, &w->table, err) : s;
}

static wm_status start_stop(world *w, wm_error *err) {
    wm_status s = wm_session_start(w->session, err);
    if (s != WM_OK) return s;
    WM_BEGIN("stretch");
    WM_END("stretch");
    s = wm_session_stop(w->session, err);
    return s == WM_OK ? wm_session_table(w->session, &w->table, err) : s;
}

static const char *const files[] = {"t.json", "t.csv", "t.md", "t.txt"};
enum { FILES = sizeof files / sizeof *files, READ_BACK = 2 };

static wm_status write_files(world *w, wm_error *err) {
    char path[PATH_SIZE];
    wm_status s = WM_OK;
    for (int i = 0; s == WM_OK && i < FILES; i++)
        s = wm_table_write(w->table, path_of(files[i], path), NULL, NULL, err);
    if (s == WM_OK) s = wm_table_write(w->table, path_of("g.json", path), "gbench-json", NULL, err);
    return s;
}

static wm_status measure_and_write(world *w, wm_error *err) {
    char path[PATH_SIZE];
    if (access(path_of("g.json", path), F_OK) == 0) return WM_OK; /* all written by an attempt before */
    wm_status s = measure(w, err);
    if (s == WM_OK) s = write_files(w, err);
    wm_table_destroy(w->table);
    w->table = NULL;
    return s;
}

static wm_status read_files(world *w, wm_error *err) {
    char path[PATH_SIZE];
    wm_status s = WM_OK;
    for (int i = 0; s == WM_OK && i < READ_BACK; i++) {
        wm_table_destroy(w->other);
        w->other = NULL;
        s = wm_table_read(path_of(files[i], path), NULL, &w->other, err);
    }
    return s;
}

static wm_status select_rows(world *w, wm_error *err) {
    wm_select_opts opts = WM_SELECT_OPTS_INIT;
    opts.columns = "region,metric,mean,n";
    opts.sort = "-mean,region";
    opts.filter = "metric~^t,n>=1";
    return wm_table_select(w->table, &opts, &w->other, err);
}

static wm_status compare_self(world *w, wm_error *err) {
    return wm_table_compare(w->table, w->table, NULL, &w->other, err);
}

/* As a consumer asks: for the schema, for the batch. */
static wm_status arrow_read(struct ArrowArrayStream *stream, wm_error *err) {
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    int failed = stream->get_schema(stream, &schema);
    if (!failed) failed = stream->get_next(stream, &batch);
    wm_status s = WM_OK;
    if (failed) {
        const char *why = stream->get_last_error(stream);
        s = failed == ENOMEM && why ? wmi_error_set(err, WM_ENOMEM, 0, "%s", why) : WM_EIO;
    }
    if (schema.release) schema.release(&schema);
    if (batch.release) batch.release(&batch);
    return s;
}

static wm_status arrow(world *w, wm_error *err) {
    struct ArrowArrayStream stream;
    wm_status s = wm_table_arrow(w->table, &stream, err);
    if (s != WM_OK) return s;
    s = arrow_read(&stream, err);
    stream.release(&stream);
    return s;
}

/* What a device did in a region: more names than have room, more records than a chunk. */
static wm_status device_fill(wmi_samples *samples) {
    enum { NAMES = 40, RECORDS = 1500 };
    static const wmi_metric metric = {.name = "time", .unit = "ns", .backend = "cuda"};
    uint32_t owner, root, config, time;
    wmi_series *series = NULL;
    wmi_work *work = NULL;
    wm_status s = wmi_samples_bench(samples, "b", &owner);
    if (s == WM_OK) s = wmi_samples_node(samples, owner, UINT32_MAX, 0, &root);
    if (s == WM_OK) s = wmi_samples_config(samples, owner, 0, NULL, NULL, &config);
    if (s == WM_OK) s = wmi_samples_metric(samples, &metric, &time);
    if (s == WM_OK) s = wmi_samples_series(samples, config, root, time, 0, &series);
    if (s == WM_OK) s = wmi_series_add(series, 0, 70.0, WM_REASON_NONE);
    if (s == WM_OK) s = wmi_samples_work(samples, config, root, &work);
    for (uint32_t i = 1; i <= NAMES && s == WM_OK; i++) s = wmi_work_add_kernel(work, i, 1);
    const wmi_record record = {.plain = 1, .full = 2, .name = 3, .device = 4};
    for (uint32_t i = 0; i < RECORDS && s == WM_OK; i++)
        s = wmi_samples_keep(samples, config, root, 0, &record);
    return s;
}

static wm_status knows_time(void *user, const char *name) {
    (void)user;
    return strcmp(name, "time") == 0 ? WM_OK : WM_ENOTFOUND;
}

static wm_status device(world *w, wm_error *err) {
    static const char text[] = "text: x\nmetrics: none.x | time\n"
                               "label: bound = compute:none.x, memory:time, latency below 60\n";
    wmi_group group = {0};
    wmi_samples *samples = wmi_samples_create();
    wm_status s = samples ? device_fill(samples) : WM_ENOMEM;
    if (s != WM_OK) wmi_error_nomem(err);
    if (s == WM_OK) s = wmi_group_parse("g", "g", text, sizeof text - 1, &group, err);
    if (s == WM_OK) s = wmi_group_choose(&group, knows_time, NULL, err);
    const wmi_label label = {s == WM_OK ? group.bounds[0].compute : NULL,
                             s == WM_OK ? group.bounds[0].memory : NULL, 60};
    const wmi_reduce_opts opts = {.labels = &label, .label_count = 1};
    if (s == WM_OK) s = wmi_reduce(samples, &opts, &w->table, err);
    if (s == WM_OK) s = wmi_kernels_to_table(samples, &w->other, err);
    wmi_group_fini(&group);
    wmi_samples_destroy(samples);
    return s;
}

/* Without the warnings: that of the load comes and goes. */
static wm_status doctor(world *w, wm_error *err) {
    wm_select_opts opts = WM_SELECT_OPTS_INIT;
    wm_table *all = NULL;
    wm_status s = wm_doctor(&all, err);
    opts.filter = "item!=warning";
    if (s == WM_OK) s = wm_table_select(all, &opts, &w->table, err);
    wm_table_destroy(all);
    return s;
}

static wm_status metrics(world *w, wm_error *err) {
    wm_metrics_opts opts = WM_METRICS_OPTS_INIT;
    opts.pattern = "*-faults";
    return wm_metrics(&opts, &w->table, err);
}

/* A report of Nsight Compute, as it prints it. */
static wm_status ncu_report(world *w, wm_error *err) {
#define STEP   "\"\"0:dom.steps:@0/0 b n=1:none:none:none:none:ASCII:@0/0 b n=1\"\""
#define REGION "\"\"1:dom:r:none:none:none:none:ASCII:r\"\""
    static const char text[] = "\"ID\",\"Process ID\",\"Push/Pop_Range\",\"Start/Stop_Range\",\"Kernel "
                               "Name\",\"a__b.avg\",\"a__b.sum\"\n"
                               "\"\",\"\",\"\",\"\",\"\",\"us\",\"us\"\n"
                               "\"0\",\"5\",\"\",\" " STEP "  " REGION " \",\"k\",\"1.0\",\"2.0\"\n"
                               "\"1\",\"5\",\"\",\" " STEP " \",\"l\",\"1.0\",\"2.0\"\n";
    wmi_ncu_page page = {0};
    wmi_list wanted = {0};
    wm_status s = wmi_ncu_page_parse(text, sizeof text - 1, &page, err);
    if (s == WM_OK) s = wmi_ncu_metrics("a__b.sum,c__d.sum", &wanted, err);
    if (s == WM_OK) s = wmi_ncu_table(&page, &wanted, NULL, &w->table, err);
    wmi_list_free(&wanted);
    wmi_ncu_page_fini(&page);
    return s;
}

static wm_status ncu_command(world *w, wm_error *err) {
    static const char *const program[] = {"./a", "b"};
    wm_ncu_opts opts = WM_NCU_OPTS_INIT;
    char **command = NULL;
    (void)w;
    opts.ncu = "/ncu";
    opts.report = "r";
    opts.metrics = "kernel_time";
    const wm_status s = wm_ncu_command(&opts, 2, program, &command, err);
    wm_ncu_command_free(command);
    return s;
}

typedef struct scenario {
    const char *name;
    wm_status (*prepare)(world *w, wm_error *err); /* without failures; NULL: nothing to prepare */
    wm_status (*body)(world *w, wm_error *err);
    wm_status expected[EXPECTED_MAX]; /* what a failed allocation may lead to, beside WM_ENOMEM */
} scenario;

static const scenario scenarios[] = {
    {"create", NULL, open_sweep, {WM_ENOMEM}},
    {"plan", open_sweep, sweep_plan, {WM_ENOMEM}},
    /* A failure while one configuration runs costs that configuration. */
    {"sweep", open_sweep, sweep_run, {WM_ENOMEM, WM_EFAILED}},
    {"start and stop", open_session, start_stop, {WM_ENOMEM}},
    {"write", measure, write_files, {WM_ENOMEM}},
    {"read", measure_and_write, read_files, {WM_ENOMEM}},
    {"select", measure, select_rows, {WM_ENOMEM}},
    {"compare", measure, compare_self, {WM_ENOMEM}},
    {"arrow", measure, arrow, {WM_ENOMEM}},
    {"doctor", NULL, doctor, {WM_ENOMEM}},
    {"metrics", NULL, metrics, {WM_ENOMEM}},
    {"device", NULL, device, {WM_ENOMEM}},
    {"ncu report", NULL, ncu_report, {WM_ENOMEM}},
    {"ncu command", NULL, ncu_command, {WM_ENOMEM}},
};

/* ---- the loop ---- */

/* Each file that is written is flushed to the disk: thousands of times is faster in memory. */
static bool make_folder(void) {
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/warpmeter-alloc-XXXXXX", place);
    return mkdtemp(folder) != NULL;
}

static void world_clear(world *w) {
    wm_table_destroy(w->table);
    wm_table_destroy(w->other);
    wm_sweep_destroy(w->sweep);
    wm_session_destroy(w->session);
    *w = (world){0};
}

static size_t rows_of(const world *w) {
    return (w->table ? wm_table_rows(w->table) : 0) + (w->other ? wm_table_rows(w->other) : 0);
}

static bool is_expected(const scenario *sc, wm_status status) {
    for (int i = 0; i < EXPECTED_MAX && sc->expected[i]; i++)
        if (sc->expected[i] == status) return true;
    return false;
}

/* One attempt with allocation n failing. False when something is wrong; *reached tells whether any
 * allocation failed. A call that succeeds in spite of it must have lost no row. */
static bool attempt(const scenario *sc, unsigned long n, failing_mode mode, size_t rows, bool *reached) {
    world w = {0};
    wm_error err = WM_ERROR_INIT;
    wm_status status = sc->prepare ? sc->prepare(&w, &err) : WM_OK;
    bool good = status == WM_OK;
    if (good) {
        failing_arm(n, mode);
        status = sc->body(&w, &err);
        *reached = failing_disarm();
        if (status == WM_OK)
            good = rows_of(&w) == rows;
        else
            good = *reached && is_expected(sc, status) && err.code == status && err.message[0] != '\0';
    }
    if (!good)
        fprintf(stderr, "%s: allocation %lu: %s, %zu rows (%zu expected): '%s'\n", sc->name, n,
                wm_status_name(status), rows_of(&w), rows, err.message);
    world_clear(&w);
    return good;
}

static bool scenario_rows(const scenario *sc, size_t *rows) {
    world w = {0};
    wm_error err = WM_ERROR_INIT;
    wm_status status = sc->prepare ? sc->prepare(&w, &err) : WM_OK;
    if (status == WM_OK) status = sc->body(&w, &err);
    if (status != WM_OK) fprintf(stderr, "%s: %s\n", sc->name, err.message);
    *rows = rows_of(&w);
    world_clear(&w);
    return status == WM_OK;
}

static bool run_scenario(const scenario *sc) {
    size_t rows = 0;
    if (!scenario_rows(sc, &rows)) return false;
    for (int mode = FAILING_ONCE; mode <= FAILING_ONWARDS; mode++) {
        unsigned long n = 0;
        for (bool reached = true; reached;)
            if (!attempt(sc, ++n, (failing_mode)mode, rows, &reached)) return false;
        printf("%s, %s: %lu allocations\n", sc->name, mode == FAILING_ONCE ? "once" : "onwards", n - 1);
    }
    return true;
}

static bool remove_folder(void) {
    static const char *const written[] = {"t.json", "t.csv", "t.csv.context.json", "t.md", "t.txt", "g.json"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) (void)unlink(path_of(written[i], path));
    return rmdir(folder) == 0; /* not when a temporary file was left behind */
}

int main(int argc, char **argv) {
    bool good = true;
    if (!make_folder()) return 2;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (argc < 2 || strcmp(argv[1], scenarios[i].name) == 0) good = run_scenario(&scenarios[i]) && good;
    good = remove_folder() && good;
    return good ? 0 : 1;
}
