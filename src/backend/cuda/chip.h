/** What a chip can count, from CUPTI's profiler host interface: metrics, their units and
 *  texts, the passes that a set takes, values of a counter image. Needs no device and no
 *  driver, but for evaluating. Controlling thread, but for wmi_chip_find. */
#ifndef WMI_BACKEND_CUDA_CHIP_H
#define WMI_BACKEND_CUDA_CHIP_H

#include "backend/backend.h"

typedef struct wmi_chip wmi_chip;

/** The chip of that name, opened once for ever; any case. WM_ENOTFOUND with the nearest
 *  names; WM_EUNSUPPORTED without libcupti. */
wm_status wmi_chip_find(const char *name, wmi_chip **out, wm_error *err);
const char *wmi_chip_name(const wmi_chip *chip);
/** Names of all chips, ended by NULL; static. NULL without libcupti. */
const char *const *wmi_chip_names(void);

/** Is this a metric of the chip, with its rollup and submetric? WM_OK; WM_ENOTFOUND: *err
 *  says what is wrong with it and gives the nearest right ones (a base metric alone: its
 *  rollups). */
wm_status wmi_chip_metric(wmi_chip *chip, const char *name, wmi_metric *out, wm_error *err);
wm_status wmi_chip_list(wmi_chip *chip, const char *pattern, const wmi_metric_list *list, wm_error *err);

/** A set of metrics made ready for counting: kept by the chip, since building takes
 *  milliseconds, and freed never. Names are those of the set, in its order; equal sets give
 *  the same image. */
typedef struct wmi_chip_config {
    const char *const *names;
    size_t count;
    const uint8_t *image;
    size_t image_size;
    size_t passes;
} wmi_chip_config;
/** WM_ENOTFOUND: one of them is no metric; WM_EUNSUPPORTED: they cannot be counted together;
 *  WM_ENOMEM. `availability` (may be NULL): the counter availability image of a device. */
wm_status wmi_chip_config_make(wmi_chip *chip, const char *const *names, size_t count,
                               const wmi_chip_config **out, wm_error *err);
/** Values of one range of a decoded counter image, in the order of the configuration's names.
 *  NaN where the image has none. */
wm_status wmi_chip_evaluate(wmi_chip *chip, const wmi_chip_config *config, const uint8_t *image,
                            size_t image_size, size_t range, double *values, wm_error *err);

#endif
