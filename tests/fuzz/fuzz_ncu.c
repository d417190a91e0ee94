/* What ncu prints of a report: whatever it holds, it is a table or an error. */
#include <stdlib.h>

#include "ncu/ncu.h"
#include "table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const wmi_list all = {0};
    wmi_ncu_page page = {0};
    wm_table *t = NULL;
    wm_error err = WM_ERROR_INIT;
    char *text = malloc(size ? size : 1); /* of its own size, so that a read behind it is seen */
    for (size_t i = 0; i < size; i++) text[i] = (char)data[i];
    if (wmi_ncu_page_parse(text, size, &page, &err) == WM_OK) {
        const wm_status status = wmi_ncu_table(&page, &all, NULL, &t, &err);
        if (status == WM_OK ? !t || wm_table_rows(t) == 0 : !err.message[0]) abort();
    }
    wm_table_destroy(t);
    wmi_ncu_page_fini(&page);
    free(text);
    return 0;
}
