/* What the tests that need a GPU share. A test prints a line for each thing it checked, and exits with 0,
 * with 1 where a check failed, and with 77 where there is no GPU (1 with WARPMETER_NEED_DEVICE set). */
#ifndef TESTS_DEVICE_DEVICE_H
#define TESTS_DEVICE_DEVICE_H

#include <cuda_runtime.h>
#include <warpmeter.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

/* ---- checks ---- */

static int checks_failed;

/* One line, and whether it holds. */
__attribute__((format(printf, 2, 3))) static inline bool check(bool holds, const char *what, ...) {
    va_list args;
    va_start(args, what);
    std::printf(holds ? "ok      " : "FAILED  ");
    std::vprintf(what, args);
    std::putchar('\n');
    std::fflush(stdout);
    va_end(args);
    if (!holds) checks_failed++;
    return holds;
}

/* What the rest of the test stands on. */
static inline void need(cudaError_t result, const char *what) {
    if (result == cudaSuccess) return;
    check(false, "%s: %s", what, cudaGetErrorString(result));
    std::exit(1);
}
#define NEED(call) need((call), #call)
static inline void need(wm_status status, const wm_error &err, const char *what) {
    if (status == WM_OK) return;
    check(false, "%s: %s: %s", what, wm_status_name(status), err.message);
    std::exit(1);
}

/* Begin and end of every main. A test that hangs is ended by the alarm. */
static inline void device_begin(unsigned limit_s) {
    alarm(limit_s);
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0) return;
    const char *why = cudaGetErrorString(result == cudaSuccess ? cudaErrorNoDevice : result);
    const bool needed = std::getenv("WARPMETER_NEED_DEVICE") != nullptr;
    std::printf("%s: no GPU: %s\n", needed ? "FAILED" : "skipped", why);
    std::exit(needed ? 1 : 77);
}
static inline int device_end() { return checks_failed ? 1 : 0; }

/* ---- tables ---- */

class Table {
  public:
    explicit Table(wm_table *table = nullptr) : table_(table) {}
    Table(Table &&other) noexcept : table_(other.table_) { other.table_ = nullptr; }
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;
    ~Table() { wm_table_destroy(table_); }

    size_t rows() const { return wm_table_rows(table_); }
    wm_value cell(size_t row, const char *column) const {
        wm_value v = {};
        if (wm_table_get(table_, row, wm_table_find(table_, column), &v) != WM_OK)
            check(false, "the table has no column %s", column);
        return v;
    }
    /* "" and NAN for a null */
    std::string text(size_t row, const char *column) const {
        const wm_value v = cell(row, column);
        return v.type == WM_STR ? v.as.str : "";
    }
    double number(size_t row, const char *column) const {
        const wm_value v = cell(row, column);
        return v.type == WM_F64 ? v.as.f64 : v.type == WM_I64 ? static_cast<double>(v.as.i64) : NAN;
    }
    /* The row of a region and a metric; SIZE_MAX and a failed check where there is none. */
    size_t find(const char *region, const char *metric) const {
        for (size_t row = 0; row < rows(); row++)
            if (text(row, "region") == region && text(row, "metric") == metric) return row;
        check(false, "the table has a row for %s of %s", metric, region);
        return SIZE_MAX;
    }
    double mean(const char *region, const char *metric) const {
        const size_t row = find(region, metric);
        return row == SIZE_MAX ? NAN : number(row, "mean");
    }
    /* Why the mean is missing: a slug of WM_REASON_MAP; "" where there is one. */
    std::string missing(const char *region, const char *metric) const {
        const size_t row = find(region, metric);
        return row == SIZE_MAX ? "no-row" : wm_reason_slug(cell(row, "mean").reason);
    }

  private:
    wm_table *table_;
};

/* ---- sessions ---- */

/* What sessions said, line by line. */
static std::string session_log;
static std::mutex session_log_mutex;
static inline void print_log(void *, wm_log_level, const char *line) {
    std::lock_guard<std::mutex> lock(session_log_mutex);
    std::printf("        %s\n", line);
    session_log.append(line).append("\n");
}
static inline bool was_logged(const char *text) {
    std::lock_guard<std::mutex> lock(session_log_mutex);
    return session_log.find(text) != std::string::npos;
}

class Session {
  public:
    explicit Session(const char *metrics) {
        wm_session_opts opts = WM_SESSION_OPTS_INIT;
        opts.log = print_log;
        opts.metrics = metrics;
        opts.keep_records = true;
        wm_error err = WM_ERROR_INIT;
        need(wm_session_create(&opts, &session_, &err), err, "wm_session_create");
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    ~Session() { wm_session_destroy(session_); }

    void start() {
        wm_error err = WM_ERROR_INIT;
        need(wm_session_start(session_, &err), err, "wm_session_start");
    }
    void stop() {
        wm_error err = WM_ERROR_INIT;
        need(wm_session_stop(session_, &err), err, "wm_session_stop");
    }
    Table table() const {
        wm_table *table = nullptr;
        wm_error err = WM_ERROR_INIT;
        need(wm_session_table(session_, &table, &err), err, "wm_session_table");
        return Table(table);
    }
    Table samples() const {
        wm_table *table = nullptr;
        wm_error err = WM_ERROR_INIT;
        need(wm_session_samples(session_, &table, &err), err, "wm_session_samples");
        return Table(table);
    }
    Table kernels() const {
        wm_table *table = nullptr;
        wm_error err = WM_ERROR_INIT;
        need(wm_session_kernels(session_, &table, &err), err, "wm_session_kernels");
        return Table(table);
    }
    /* Run a benchmark of one function, with options as on the command line. */
    void sweep(const char *name, wm_fn run, const std::vector<const char *> &options) {
        wm_benchmark bench = WM_BENCHMARK_INIT;
        bench.name = name;
        bench.run = run;
        wm_sweep *sweep = nullptr;
        wm_error err = WM_ERROR_INIT;
        need(
            wm_sweep_create(session_, &bench, static_cast<int>(options.size()), options.data(), &sweep, &err),
            err, "wm_sweep_create");
        need(wm_sweep_run(sweep, &err), err, "wm_sweep_run");
        wm_sweep_destroy(sweep);
    }

  private:
    wm_session *session_ = nullptr;
};

/* Fails the configuration when CUDA failed. */
static inline bool good(wm_state *st, cudaError_t result, const char *what) {
    if (result == cudaSuccess) return true;
    wm_fail(st, "%s: %s", what, cudaGetErrorString(result));
    return false;
}
#define GOOD(st, call) good((st), (call), #call)
static inline bool finished(wm_state *st) {
    return GOOD(st, cudaGetLastError()) && GOOD(st, cudaDeviceSynchronize());
}

#endif
