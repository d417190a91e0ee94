/* Where a program's output goes, looked at before anything runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "program/program.h"
#include "sink/sink.h"

/* Opened the wrong way round, so that the stream still fails as a closed one does. */
void wmi_streams_keep(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest free number is fd */
}

/* ---- no file twice ---- */

/* A file that will be written: one that an option names, or the context beside it. */
typedef struct place {
    const char *option, *named;
    wmi_buf beside; /* empty: the named file itself */
} place;

static const char *path_of(const place *p) { return p->beside.len ? p->beside.data : p->named; }

static wm_status check_pair(const place *a, const place *b, wm_error *err) {
    if (!wmi_file_same(path_of(a), path_of(b))) return WM_OK;
    if (a->beside.len)
        return wmi_error_set(err, WM_EINVAL, 0, "--%s '%.150s' is the file for the context of '%.150s'",
                             b->option, b->named, a->named);
    if (b->beside.len) return check_pair(b, a, err);
    return wmi_error_set(err, WM_EINVAL, 0, "--%s '%.150s' and --%s '%.150s' are the same file", a->option,
                         a->named, b->option, b->named);
}

static wm_status check_streams(const place *p, wm_error *err) {
    static const char *const names[] = {"standard output", "standard error"};
    for (int i = 0; i < 2; i++)
        if (wmi_file_is_open_as(path_of(p), STDOUT_FILENO + i))
            return wmi_error_set(err, WM_EINVAL, 0, "--%s '%.300s' is the file that %s goes to", p->option,
                                 p->named, names[i]);
    return WM_OK;
}

static wm_status add_file(const char *option, const char *path, const wmi_sink *sink, place *places,
                          size_t *n, wm_error *err) {
    places[(*n)++] = (place){option, path, WMI_BUF_INIT};
    if (!sink->companion || !wmi_file_is_replaced(path)) return WM_OK;
    place *beside = &places[(*n)++];
    *beside = (place){option, path, WMI_BUF_INIT};
    wmi_buf_printf(&beside->beside, "%s%s", path, sink->companion_suffix);
    return beside->beside.failed ? wmi_error_nomem(err) : WM_OK;
}

static wm_status add_table(const char *option, const char *path, place *places, size_t *n, wm_error *err) {
    const wmi_sink *sink;
    const wm_status status = wmi_sink_by_path(path, &sink, err);
    return status == WM_OK ? add_file(option, path, sink, places, n, err) : status;
}

static wm_status add_places(const wmi_options *o, place *places, size_t *n, wm_error *err) {
    wm_status status = WM_OK;
    for (size_t i = 0; i < o->out.n && status == WM_OK; i++)
        status = add_table("out", o->out.v[i], places, n, err);
    if (status == WM_OK && o->samples_path)
        status = add_file("samples", o->samples_path, &wmi_sink_csv, places, n, err);
    if (status == WM_OK && o->kernels_path) status = add_table("kernels", o->kernels_path, places, n, err);
    return status;
}

static wm_status check_distinct(const wmi_options *o, wm_error *err) {
    place *places = calloc(2 * (o->out.n + 2), sizeof *places);
    size_t n = 0;
    wm_status status = places ? add_places(o, places, &n, err) : wmi_error_nomem(err);
    for (size_t i = 0; i < n && status == WM_OK; i++) {
        status = check_streams(&places[i], err);
        for (size_t k = 0; k < i && status == WM_OK; k++) status = check_pair(&places[k], &places[i], err);
    }
    for (size_t i = 0; i < n; i++) wmi_buf_free(&places[i].beside);
    free(places);
    return status;
}

/* Google Benchmark's JSON holds results alone. */
static wm_status kernels_check(const char *path, wm_error *err) {
    const wmi_sink *sink;
    const wm_status status = wmi_sink_by_path(path, &sink, err);
    if (status != WM_OK || sink != &wmi_sink_gbench) return status;
    return wmi_error_set(err, WM_EINVAL, 0, "--kernels '%.300s': %s holds tables of results only", path,
                         sink->name);
}

wm_status wmi_outputs_check(const wmi_options *o, wm_error *err) {
    const wmi_sink *sink;
    wm_status status = o->format ? wmi_sink_by_name(o->format, &sink, err) : WM_OK;
    for (size_t i = 0; i < o->out.n && status == WM_OK; i++) status = wmi_sink_check(o->out.v[i], NULL, err);
    if (status == WM_OK && o->samples_path) status = wmi_sink_check(o->samples_path, wmi_sink_csv.name, err);
    if (status == WM_OK && o->kernels_path) status = wmi_sink_check(o->kernels_path, NULL, err);
    if (status == WM_OK && o->kernels_path) status = kernels_check(o->kernels_path, err);
    return status == WM_OK ? check_distinct(o, err) : status;
}
