/* Names of perf events. libpfm4 is left out: its parser is not ours. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/perf_names.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

/* What is accepted names one event, of a kind that perf's names have, and counts something. */
static void check_event(const char *name, const wmi_perf_event *e) {
    check(strlen(name) < 64);
    check(e->attr.type == PERF_TYPE_HARDWARE || e->attr.type == PERF_TYPE_SOFTWARE ||
          e->attr.type == PERF_TYPE_HW_CACHE || e->attr.type == PERF_TYPE_RAW);
    check(!(e->attr.exclude_user && e->attr.exclude_kernel));
    check(!(e->asks_kernel && e->attr.exclude_kernel));
    check(e->attr.exclude_hv == (strchr(name, ':') != NULL));
    check(e->attr.sample_period == 0 && e->attr.read_format == 0 && e->attr.config1 == 0);
    check(e->unit && e->text && e->text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *name = wmi_strndup((const char *)data, size);
    if (!name) return 0;
    wmi_perf_event event;
    wm_error err = WM_ERROR_INIT;
    wm_status status = wmi_perf_parse(name, &event, &err);
    check(status == WM_OK || status == WM_ENOTFOUND);
    if (status == WM_OK)
        check_event(name, &event);
    else
        check(err.code == status && err.message[0]);
    free(name);
    return 0;
}
