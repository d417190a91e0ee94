/* One sweep in a fresh process, timed from inside. */
#ifndef BENCH_DEVICE_TIMED_SWEEP_H
#define BENCH_DEVICE_TIMED_SWEEP_H

#include "device.h"

/* Prints one line of JSON: seconds for making session and sweep, running, and making the
 * table, which goes to the file. Returns the exit status. */
static inline int timed_sweep(const wm_benchmark &bench, const char *file, int argc, char **argv) {
    wm_session *session = nullptr;
    wm_sweep *sweep = nullptr;
    wm_table *table = nullptr;
    wm_error err = WM_ERROR_INIT;
    const double begin = now_s();
    need(wm_session_create(nullptr, &session, &err), err);
    need(wm_sweep_create(session, &bench, argc, argv, &sweep, &err), err);
    const double created = now_s();
    need(wm_sweep_run(sweep, &err), err);
    const double ran = now_s();
    need(wm_session_table(session, &table, &err), err);
    const double end = now_s();
    need(wm_table_write(table, file, "json", nullptr, &err), err);
    std::printf("{\"create_s\": %.4f, \"run_s\": %.4f, \"table_s\": %.4f}\n", created - begin, ran - created,
                end - ran);
    wm_table_destroy(table);
    wm_sweep_destroy(sweep);
    wm_session_destroy(session);
    return 0;
}

#endif
