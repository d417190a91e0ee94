/* Tables to and from files and streams, in any format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sink/sink.h"

static wm_status find_sink(const char *path, const char *format, const wmi_sink **out, wm_error *err) {
    return format ? wmi_sink_by_name(format, out, err) : wmi_sink_by_path(path, out, err);
}

/* ---- reading ---- */

static wm_status not_read(const wmi_sink *sink, wm_error *err) {
    wmi_buf names = WMI_BUF_INIT;
    for (const wmi_sink *const *s = wmi_sinks; *s; s++)
        if ((*s)->read) wmi_buf_printf(&names, "%s%s", names.len ? " and " : "", (*s)->name);
    wm_status status = names.failed
                           ? wmi_error_nomem(err)
                           : wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s is only written; %s are read as well",
                                           sink->name, names.data);
    wmi_buf_free(&names);
    return status;
}

/* ncu reads its own files, so this is no sink. */
static bool is_ncu_report(const char *path, const char *format) {
    static const char suffix[] = ".ncu-rep";
    const size_t n = strlen(path), m = sizeof suffix - 1;
    return format ? strcmp(format, suffix + 1) == 0 : n > m && strcmp(path + n - m, suffix) == 0;
}

wm_status wm_table_read(const char *path, const char *format, wm_table **out, wm_error *err) {
    const wmi_sink *sink;
    char *text;
    size_t n;
    if (!path || !out)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_table_read needs a path and a place for the table");
    if (is_ncu_report(path, format)) return wm_ncu_read(path, NULL, out, err);
    wm_status s = find_sink(path, format, &sink, err);
    if (s != WM_OK) return s;
    if (!sink->read) return not_read(sink, err);
    s = wmi_file_read(path, &text, &n, err);
    if (s != WM_OK) return s;
    s = sink->read(path, text, n, out, err);
    free(text);
    return s;
}

/* ---- writing ---- */

static wm_status render(const wmi_sink *sink, const wm_table *t, const wm_write_opts *opts, wmi_buf *out,
                        wm_error *err) {
    wm_write_opts o = WM_WRITE_OPTS_INIT;
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    return sink->write(t, &o, out, err);
}

/* Beside a pipe or a device there is no place for a file. */
static bool has_companion(const wmi_sink *sink, const char *path) {
    return sink->companion && wmi_file_is_replaced(path);
}

static wm_status companion_path(const wmi_sink *sink, const char *path, wmi_buf *out, wm_error *err) {
    wmi_buf_str(out, path);
    wmi_buf_str(out, sink->companion_suffix);
    return out->failed ? wmi_error_nomem(err) : WM_OK;
}

wm_status wmi_sink_write_beside(const wmi_sink *sink, const wm_table *t, const char *path, wm_error *err) {
    wmi_buf name = WMI_BUF_INIT, text = WMI_BUF_INIT;
    if (!has_companion(sink, path)) return WM_OK;
    wm_status s = companion_path(sink, path, &name, err);
    if (s == WM_OK) s = sink->companion(t, &text, err);
    if (s == WM_OK) s = wmi_file_replace(name.data, text.data, text.len, err);
    wmi_buf_free(&text);
    wmi_buf_free(&name);
    return s;
}

wm_status wmi_sink_check(const char *path, const char *format, wm_error *err) {
    const wmi_sink *sink;
    wmi_buf name = WMI_BUF_INIT;
    wm_status s = find_sink(path, format, &sink, err);
    if (s == WM_OK) s = wmi_file_check(path, err);
    if (s == WM_OK && has_companion(sink, path)) {
        s = companion_path(sink, path, &name, err);
        if (s == WM_OK) s = wmi_file_check(name.data, err);
    }
    wmi_buf_free(&name);
    return s;
}

/* The companion comes first: once the table is there, all of it is. Of two that write the same
 * files at once, one writes both last. */
static wm_status write_both(const wmi_sink *sink, const wm_table *t, const char *path, const wmi_buf *text,
                            wm_error *err) {
    wmi_buf name = WMI_BUF_INIT, beside = WMI_BUF_INIT;
    if (!has_companion(sink, path)) return wmi_file_replace(path, text->data, text->len, err);
    const int lock = wmi_folder_lock(path);
    wm_status s = companion_path(sink, path, &name, err);
    if (s == WM_OK) s = sink->companion(t, &beside, err);
    const wmi_file_bytes files[2] = {{name.data, beside.data, beside.len}, {path, text->data, text->len}};
    if (s == WM_OK) s = wmi_file_replace_two(files, err);
    wmi_folder_unlock(lock);
    wmi_buf_free(&beside);
    wmi_buf_free(&name);
    return s;
}

wm_status wm_table_write(const wm_table *table, const char *path, const char *format,
                         const wm_write_opts *opts, wm_error *err) {
    const wmi_sink *sink;
    wmi_buf text = WMI_BUF_INIT;
    if (!table || !path) return wmi_error_set(err, WM_EINVAL, 0, "wm_table_write needs a table and a path");
    wm_status s = find_sink(path, format, &sink, err);
    if (s == WM_OK) s = render(sink, table, opts, &text, err);
    if (s == WM_OK) s = write_both(sink, table, path, &text, err);
    wmi_buf_free(&text);
    return s;
}

wm_status wm_table_print(const wm_table *table, FILE *stream, const char *format, const wm_write_opts *opts,
                         wm_error *err) {
    const wmi_sink *sink;
    wmi_buf text = WMI_BUF_INIT;
    if (!table || !stream)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_table_print needs a table and a stream");
    wm_status s = wmi_sink_by_name(format ? format : "text", &sink, err);
    if (s == WM_OK) s = render(sink, table, opts, &text, err);
    if (s == WM_OK) {
        errno = 0;
        bool written = fwrite(text.data, 1, text.len, stream) == text.len && fflush(stream) == 0;
        int why = errno;
        if (!written)
            s = wmi_error_set(err, WM_EIO, why, "could not write the table: %s", wmi_errno_text(why));
    }
    wmi_buf_free(&text);
    return s;
}
