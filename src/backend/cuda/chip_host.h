/** What the files of chip.h share: a chip that was opened, and calls of CUPTI's host
 *  interface. */
#ifndef WMI_BACKEND_CUDA_CHIP_HOST_H
#define WMI_BACKEND_CUDA_CHIP_HOST_H

#include "backend/cuda/chip.h"
#include "backend/cuda/cupti_dl.h"

/** The size of a parameter struct up to the last member that 12.6 has. Later versions add
 *  members at the end and take the shorter structs; 12.6 refuses longer ones. */
#define WMI_HOST_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

typedef struct wmi_chip_base {
    char *name; /* without rollup: dram__throughput */
    CUpti_MetricType type;
} wmi_chip_base;

struct wmi_chip {
    wmi_chip *next;
    const char *name;
    CUpti_Profiler_Host_Object *host;
    wmi_chip_base *bases; /* [base_count] sorted by name */
    size_t base_count;
    /* What follows the base's name, by type: ".avg", ".avg.per_second" … */
    char **submetrics[CUPTI_METRIC_TYPE__COUNT];
    size_t submetric_count[CUPTI_METRIC_TYPE__COUNT];
    struct wmi_chip_built *built; /* configurations, the last one first */
};

/** A new object of the interface. WM_EUNSUPPORTED. */
wm_status wmi_host_create(const char *chip, CUpti_Profiler_Host_Object **out, wm_error *err);
void wmi_host_destroy(CUpti_Profiler_Host_Object *host);
/** The names of all base metrics of a type: CUPTI's own, valid until the object is destroyed. */
wm_status wmi_host_bases(CUpti_Profiler_Host_Object *host, CUpti_MetricType type, const char *const **names,
                         size_t *count, wm_error *err);

/** The rollup that a base metric is usually read with: ".sum", ".pct" … */
const char *wmi_chip_usual(const wmi_chip_base *base);
const wmi_chip_base *wmi_chip_base_find(const wmi_chip *chip, const char *name, size_t n);

#endif
