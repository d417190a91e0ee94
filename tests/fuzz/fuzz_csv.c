/* CSV: what is read can be written and reads back equal. A byte 0x1e divides the
 * input into the file and its companion. */
#include <stdlib.h>
#include <string.h>

#include "sink/csv.h"
#include "sink/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data, *divider = size ? memchr(text, 0x1e, size) : NULL;
    size_t n = divider ? (size_t)(divider - text) : size;
    wm_table *t = NULL, *back = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_csv_parse("input", n ? text : "", n, divider ? divider + 1 : NULL, divider ? size - n - 1 : 0, &t,
                      &err) != WM_OK)
        return 0;
    wmi_buf csv = WMI_BUF_INIT, companion = WMI_BUF_INIT;
    if (wmi_sink_csv.write(t, NULL, &csv, &err) != WM_OK) abort();
    if (wmi_sink_csv.companion(t, &companion, &err) != WM_OK) abort();
    if (wmi_csv_parse("written", csv.data, csv.len, companion.data, companion.len, &back, &err) != WM_OK)
        abort();
    if (!wmi_table_equal(t, back, NULL)) abort();
    wm_table_destroy(back);
    wm_table_destroy(t);
    wmi_buf_free(&companion);
    wmi_buf_free(&csv);
    return 0;
}
