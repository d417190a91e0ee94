/* What --combine says of a metric. */
#include <string.h>

#include "input/options.h"

static wmi_combine named(const char *how, wmi_combine usual) {
    static const struct {
        const char *name;
        wmi_combine how;
    } all[] = {{"sum", WMI_COMBINE_SUM}, {"mean", WMI_COMBINE_MEAN}, {"weighted", WMI_COMBINE_WEIGHTED},
               {"max", WMI_COMBINE_MAX}, {"min", WMI_COMBINE_MIN},   {"one", WMI_COMBINE_ONE}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, how) == 0) return all[i].how;
    return usual;
}

bool wmi_combine_find(const wmi_list *combine, const char *metric, wmi_combine usual, wmi_combine *out) {
    const size_t n = strlen(metric);
    const char *own = NULL, *general = NULL;
    for (size_t i = 0; i < combine->n; i++) {
        const char *item = combine->v[i], *equals = strchr(item, '=');
        if (!equals)
            general = item;
        else if ((size_t)(equals - item) == n && memcmp(item, metric, n) == 0)
            own = equals + 1;
    }
    const char *how = own ? own : general;
    if (how) *out = named(how, usual);
    return how != NULL;
}
