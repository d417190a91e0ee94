/* What warpmeter finds on this machine, as JSON on standard output. */
#include "device.h"

int main() {
    wm_table *table = nullptr;
    wm_error err = WM_ERROR_INIT;
    need(wm_doctor(&table, &err), err);
    need(wm_table_print(table, stdout, "json", nullptr, &err), err);
    wm_table_destroy(table);
    return 0;
}
