/* Files of metric groups. */
#include <stdlib.h>

#include "input/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    wmi_group group;
    wm_error err = WM_ERROR_INIT;
    wm_status s = wmi_group_parse("group", "group.metrics", (const char *)data, size, &group, &err);
    if (s == WM_OK) {
        if (!group.text || group.metrics.n == 0) abort();
        wmi_group_fini(&group);
    } else if (!err.message[0]) {
        abort();
    }
    return 0;
}
