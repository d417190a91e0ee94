/* JSON: what is read can be written in every format, and its JSON reads back equal. */
#include <stdlib.h>
#include <string.h>

#include "sink/json.h"
#include "sink/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_all(const wm_table *t) {
    wm_write_opts opts = WM_WRITE_OPTS_INIT;
    opts.unicode = opts.color = true;
    opts.width = 60;
    for (const wmi_sink *const *s = wmi_sinks; *s; s++) {
        wmi_buf b = WMI_BUF_INIT;
        wm_error err = WM_ERROR_INIT;
        (*s)->write(t, &opts, &b, &err);
        wmi_buf_free(&b);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    wm_table *t = NULL, *back = NULL;
    wm_error err = WM_ERROR_INIT;
    if (wmi_json_parse("input", WMI_JSON_TABLE, (const char *)data, size, &t, &err) != WM_OK) return 0;
    wmi_buf text = WMI_BUF_INIT;
    if (wmi_sink_json.write(t, NULL, &text, &err) != WM_OK) abort();
    if (wmi_json_parse("written", WMI_JSON_TABLE, text.data, text.len, &back, &err) != WM_OK) abort();
    if (!wmi_table_equal(t, back, NULL)) abort();
    write_all(t);
    wm_table_destroy(back);
    wm_table_destroy(t);
    wmi_buf_free(&text);
    return 0;
}
