/* A report: ncu prints it, and it becomes a table. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command.h"
#include "ncu/ncu.h"
#include "table/table.h"

/* The line of ncu's that says what is wrong, without its mark. */
static void complaint_of(const wmi_buf *out, const wmi_buf *said, char *line, size_t size) {
    static const char mark[] = "==ERROR== ";
    const char *at = said->data ? strstr(said->data, mark) : NULL;
    if (!at && out->data) at = strstr(out->data, mark);
    at = at ? at + sizeof mark - 1 : said->data ? said->data : "";
    const size_t n = strcspn(at, "\n");
    snprintf(line, size, "%.*s", n < size ? (int)n : (int)size - 1, at);
}

/* Without --print-units numbers have six places behind the point and a unit that suits them, which keeps
 * seven digits and more; with it there are two places, which would leave little of a ratio. */
static wm_status page_print(const char *ncu, const char *report, const char *page, wmi_buf *out,
                            wm_error *err) {
    const char *const argv[] = {
        ncu, "--import", report, "--csv", "--page", page, "--print-kernel-base", "function", NULL};
    wmi_buf said = WMI_BUF_INIT;
    const wmi_command command = {.argv = argv, .errors = &said};
    char line[200];
    int code = 0;
    wm_status status = wmi_command_output(&command, out, &code, err);
    complaint_of(out, &said, line, sizeof line);
    if (status == WM_OK && code != 0)
        status = wmi_error_set(err, WM_EPARSE, code, "ncu could not read '%.150s': %s", report,
                               *line ? line : "it does not say why");
    wmi_buf_free(&said);
    return status;
}

/* What was asked for by name has a section of its own among the details. The raw page has more. */
static wm_status wanted_find(const char *ncu, const char *report, wmi_list *wanted, wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_ncu_page page = {0};
    wm_status status = page_print(ncu, report, "details", &text, err);
    if (status == WM_OK) status = wmi_ncu_page_parse(text.data ? text.data : "", text.len, &page, err);
    const size_t section = wmi_ncu_page_find(&page, "Section Name"),
                 name = wmi_ncu_page_find(&page, "Metric Name");
    for (size_t row = 0; status == WM_OK && section != SIZE_MAX && name != SIZE_MAX && row < page.rows;
         row++) {
        if (!wmi_ncu_text_is(wmi_ncu_cell(&page, row, section), "Command line profiler metrics")) continue;
        const wmi_ncu_text metric = wmi_ncu_cell(&page, row, name);
        char *copy = wmi_strndup(metric.s, metric.n);
        if (!copy || wmi_ncu_metric_add(wanted, copy) != WM_OK) status = wmi_error_nomem(err);
        free(copy);
    }
    wmi_ncu_page_fini(&page);
    wmi_buf_free(&text);
    return status == WM_EEMPTY || status == WM_EPARSE ? WM_OK : status; /* the raw page will say it */
}

static wm_status context_put(wm_table *t, const char *ncu, const char *report, size_t kernels) {
    char version[64] = "";
    const bool known = wmi_ncu_version(ncu, version, sizeof version, NULL) == WM_OK;
    wm_status status = wmi_table_set_context(t, "report", wmi_str(report));
    if (status == WM_OK)
        status =
            wmi_table_set_context(t, "ncu_version", known ? wmi_str(version) : wmi_null(WM_REASON_UNKNOWN));
    if (status == WM_OK) status = wmi_table_set_context(t, "ncu_kernels", wmi_i64((int64_t)kernels));
    if (status == WM_OK) status = wmi_table_set_context(t, "version", wmi_str(wm_version()));
    return status;
}

static wm_status report_read(const char *ncu, const char *report, const wm_ncu_opts *o, wm_table **out,
                             wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    wmi_ncu_page page = {0};
    wmi_list wanted = {0};
    wm_table *t = NULL;
    wm_status status = page_print(ncu, report, "raw", &text, err);
    if (status == WM_OK) status = wmi_ncu_page_parse(text.data ? text.data : "", text.len, &page, err);
    if (status == WM_EEMPTY) wmi_error_set(err, status, 0, "'%.200s' holds no kernel", report);
    if (status == WM_OK)
        status =
            o->metrics ? wmi_ncu_metrics(o->metrics, &wanted, err) : wanted_find(ncu, report, &wanted, err);
    const char *domain = o->nvtx_domain && *o->nvtx_domain ? o->nvtx_domain : NULL;
    if (status == WM_OK) status = wmi_ncu_table(&page, &wanted, domain, &t, err);
    if (status == WM_OK && context_put(t, ncu, report, page.rows) != WM_OK) status = wmi_error_nomem(err);
    wmi_list_free(&wanted);
    wmi_ncu_page_fini(&page);
    wmi_buf_free(&text);
    if (status == WM_OK)
        *out = t;
    else
        wm_table_destroy(t);
    return status;
}

wm_status wm_ncu_read(const char *report, const wm_ncu_opts *opts, wm_table **out, wm_error *err) {
    wm_ncu_opts o = WM_NCU_OPTS_INIT;
    char found[PATH_MAX];
    if (!report || !out)
        return wmi_error_set(err, WM_EINVAL, 0, "wm_ncu_read needs a report and a place for the table");
    if (opts && (opts->struct_size < sizeof opts->struct_size || opts->struct_size > 4096))
        return wmi_error_set(err, WM_EINVAL, 0, "wm_ncu_opts: start from WM_NCU_OPTS_INIT");
    if (opts) memcpy(&o, opts, opts->struct_size < sizeof o ? opts->struct_size : sizeof o);
    if (access(report, R_OK) != 0)
        return wmi_error_set(err, WM_EIO, errno, "cannot read '%.200s': %s", report, wmi_errno_text(errno));
    const char *given = getenv("WARPMETER_NCU");
    if (!o.ncu && given && *given && wm_ncu_find(found, sizeof found, err) != WM_OK) return WM_ENOTFOUND;
    if (!o.ncu && wm_ncu_find(found, sizeof found, NULL) != WM_OK)
        return wmi_error_set(
            err, WM_ENOTFOUND, 0,
            "reading .ncu-rep needs ncu: install Nsight Compute, or set WARPMETER_NCU to its path");
    return report_read(o.ncu ? o.ncu : found, report, &o, out, err);
}
