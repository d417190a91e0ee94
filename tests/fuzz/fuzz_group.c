/* Files of metric groups. */
#include <stdlib.h>
#include <string.h>

#include "input/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Long names are not known. */
static wm_status is_short(void *user, const char *name) {
    (void)user;
    return strlen(name) < 4 ? WM_OK : WM_ENOTFOUND;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    wmi_group group;
    wm_error err = WM_ERROR_INIT;
    wm_status s = wmi_group_parse("group", "group.metrics", (const char *)data, size, &group, &err);
    if (s == WM_OK) {
        if (!group.text || group.metrics.n == 0) abort();
        if (wmi_group_choose(&group, is_short, NULL, &err) != WM_OK) abort();
        for (size_t i = 0; i < group.metrics.n; i++)
            if (strchr(group.metrics.v[i], '|')) abort();
        wmi_group_fini(&group);
    } else if (!err.message[0]) {
        abort();
    }
    return 0;
}
