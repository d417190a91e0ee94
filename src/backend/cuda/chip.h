/** What a chip can count, from CUPTI's profiler host interface: metrics, their units and
 *  texts, the passes that a set takes, values of a counter image. Needs no device and no
 *  driver, but for evaluating. Controlling thread, but for wmi_chip_find. */
#ifndef WMI_BACKEND_CUDA_CHIP_H
#define WMI_BACKEND_CUDA_CHIP_H

#include "backend/backend.h"

typedef struct wmi_chip wmi_chip;

/** The chip of that name, opened once for ever; any case. WM_ENOTFOUND with the nearest
 *  names; WM_EUNSUPPORTED without libcupti, or where it says nothing without a driver. */
wm_status wmi_chip_find(const char *name, wmi_chip **out, wm_error *err);
const char *wmi_chip_name(const wmi_chip *chip);
/** Names of all chips, ended by NULL; for ever. NULL without libcupti: *err says why. */
const char *const *wmi_chip_names(wm_error *err);

/** Is this a metric of the chip, with its rollup and submetric? WM_OK; WM_ENOTFOUND: *err
 *  (NULL: nothing is looked up for it) says what is wrong with it and gives the nearest right
 *  ones (a base metric alone: its rollups). */
wm_status wmi_chip_metric(wmi_chip *chip, const char *name, wmi_metric *out, wm_error *err);
/** List base metrics with their usual rollup: all (NULL), or those whose base matches the
 *  shell pattern. Of a base that does not match, every whole name that does is listed. */
wm_status wmi_chip_list(wmi_chip *chip, const char *pattern, const wmi_metric_list *list, wm_error *err);

/** A set of metrics made ready for counting: kept by the chip, since building takes
 *  milliseconds, and freed never. Names are those of the set, in its order; the same names in
 *  the same order give the same configuration. */
typedef struct wmi_chip_config {
    const char *const *names;
    size_t count;
    const uint8_t *image;
    size_t image_size;
    size_t passes;
} wmi_chip_config;
/** WM_ENOTFOUND: one of them is no metric; WM_EUNSUPPORTED: one cannot be counted, which *err
 *  names, or they cannot be counted together; WM_ENOMEM. */
wm_status wmi_chip_config_make(wmi_chip *chip, const char *const *names, size_t count,
                               const wmi_chip_config **out, wm_error *err);
/** Values of one range of a decoded counter image, in the order of the configuration's names.
 *  NaN where the image has none. */
wm_status wmi_chip_evaluate(wmi_chip *chip, const wmi_chip_config *config, const uint8_t *image,
                            size_t image_size, size_t range, double *values, wm_error *err);

#endif
