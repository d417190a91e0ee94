/* Opening chips. */
#include "backend/cuda/chip.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backend/cuda/chip_host.h"
#include "backend/cuda/cuda.h"

/* ---- CUPTI's host interface ---- */

wm_status wmi_host_create(const char *chip, CUpti_Profiler_Host_Object **out, wm_error *err) {
    CUpti_Profiler_Host_Initialize_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject),
        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        .pChipName = chip,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostInitialize(&p);
    if (code == CUPTI_SUCCESS) {
        *out = p.pHostObject;
        return WM_OK;
    }
    char what[80];
    snprintf(what, sizeof what, "asking CUPTI what %.40s counts", chip);
    return wmi_cuda_error(err, true, (int)code, what);
}

void wmi_host_destroy(CUpti_Profiler_Host_Object *host) {
    CUpti_Profiler_Host_Deinitialize_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_Deinitialize_Params, pHostObject),
        .pHostObject = host,
    };
    if (host) wmi_cupti.ProfilerHostDeinitialize(&p);
}

wm_status wmi_host_bases(CUpti_Profiler_Host_Object *host, CUpti_MetricType type, const char *const **names,
                         size_t *count, wm_error *err) {
    CUpti_Profiler_Host_GetBaseMetrics_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics),
        .pHostObject = host,
        .metricType = type,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetBaseMetrics(&p);
    if (code != CUPTI_SUCCESS)
        return wmi_cuda_error(err, true, (int)code, "asking CUPTI for a chip's metrics");
    *names = (const char *const *)p.ppMetricNames;
    *count = p.numMetrics;
    return WM_OK;
}

/* ---- opening one ---- */

static int compare_bases(const void *a, const void *b) {
    return strcmp(((const wmi_chip_base *)a)->name, ((const wmi_chip_base *)b)->name);
}

static wm_status bases_add(wmi_chip *chip, CUpti_MetricType type, wm_error *err) {
    const char *const *names = NULL;
    size_t count = 0;
    const wm_status s = wmi_host_bases(chip->host, type, &names, &count, err);
    if (s != WM_OK || count == 0) return s;
    wmi_chip_base *bases = realloc(chip->bases, (chip->base_count + count) * sizeof *bases);
    if (!bases) return wmi_error_nomem(err);
    chip->bases = bases;
    for (size_t i = 0; i < count; i++) {
        char *name = wmi_strdup(names[i]);
        if (!name) return wmi_error_nomem(err);
        bases[chip->base_count++] = (wmi_chip_base){name, type};
    }
    return WM_OK;
}

/* All metrics of a type have the same: those of the first are asked for. 12.6 takes a name
 * with its rollup only. */
static wm_status submetrics_add(wmi_chip *chip, CUpti_MetricType type, const wmi_chip_base *first,
                                wm_error *err) {
    wmi_buf name = WMI_BUF_INIT;
    wmi_buf_printf(&name, "%s%s", first->name, wmi_chip_usual(first));
    if (name.failed) {
        wmi_buf_free(&name);
        return wmi_error_nomem(err);
    }
    CUpti_Profiler_Host_GetSubMetrics_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics),
        .pHostObject = chip->host,
        .metricType = type,
        .pMetricName = name.data,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetSubMetrics(&p);
    wmi_buf_free(&name);
    if (code != CUPTI_SUCCESS)
        return wmi_cuda_error(err, true, (int)code, "asking CUPTI for the rollups of a metric");
    chip->submetrics[type] = calloc(p.numOfSubmetrics + 1, sizeof(char *));
    if (!chip->submetrics[type]) return wmi_error_nomem(err);
    for (size_t i = 0; i < p.numOfSubmetrics; i++) {
        char *copy = wmi_strdup(p.ppSubMetrics[i]);
        if (!copy) return wmi_error_nomem(err);
        chip->submetrics[type][chip->submetric_count[type]++] = copy;
    }
    return WM_OK;
}

static void chip_free(wmi_chip *chip) {
    for (size_t i = 0; i < chip->base_count; i++) free(chip->bases[i].name);
    for (size_t t = 0; t < CUPTI_METRIC_TYPE__COUNT; t++) {
        for (size_t i = 0; i < chip->submetric_count[t]; i++) free(chip->submetrics[t][i]);
        free(chip->submetrics[t]);
    }
    free(chip->bases);
    wmi_host_destroy(chip->host);
    free(chip);
}

static wm_status chip_fill(wmi_chip *chip, wm_error *err) {
    wm_status s = wmi_host_create(chip->name, &chip->host, err);
    for (int t = 0; t < CUPTI_METRIC_TYPE__COUNT && s == WM_OK; t++) {
        const size_t before = chip->base_count;
        s = bases_add(chip, (CUpti_MetricType)t, err);
        if (s == WM_OK && chip->base_count > before)
            s = submetrics_add(chip, (CUpti_MetricType)t, &chip->bases[before], err);
    }
    if (s == WM_OK && chip->base_count > 0)
        qsort(chip->bases, chip->base_count, sizeof *chip->bases, compare_bases);
    return s;
}

static wm_status chip_open(const char *name, wmi_chip **out, wm_error *err) {
    wmi_chip *chip = calloc(1, sizeof *chip);
    if (!chip) return wmi_error_nomem(err);
    chip->name = name;
    const wm_status s = chip_fill(chip, err);
    if (s == WM_OK)
        *out = chip;
    else
        chip_free(chip);
    return s;
}

/* ---- all there are ---- */

static struct {
    pthread_mutex_t lock; /* of all that follows */
    const char **names;   /* NULL ends */
    size_t count;
    wmi_chip *open;
} chips = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void names_free(const char **names, size_t count) {
    for (size_t i = 0; i < count; i++) free((char *)names[i]);
    free(names);
}

static wm_status names_load(wm_error *err) {
    if (chips.names) return WM_OK;
    const wm_status s = wmi_cupti_load(err);
    if (s != WM_OK) return s;
    CUpti_Profiler_Host_GetSupportedChips_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames),
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetSupportedChips(&p);
    if (code != CUPTI_SUCCESS)
        return wmi_cuda_error(err, true, (int)code, "asking CUPTI which chips it knows");
    const char **names = calloc(p.numChips + 1, sizeof *names);
    if (!names) return wmi_error_nomem(err);
    for (size_t i = 0; i < p.numChips; i++) {
        names[i] = wmi_strdup(p.ppChipNames[i]);
        if (!names[i]) {
            names_free(names, i);
            return wmi_error_nomem(err);
        }
    }
    chips.names = names;
    chips.count = p.numChips;
    return WM_OK;
}

static wm_status unknown_chip(const char *name, wm_error *err) {
    wmi_buf text = WMI_BUF_INIT;
    char *near = wmi_nearest(name, chips.names, chips.count);
    if (near && *near)
        wmi_buf_printf(&text, "did you mean %s?", near);
    else
        wmi_buf_str(&text, "there are");
    for (size_t i = 0; near && !*near && i < chips.count; i++) wmi_buf_printf(&text, " %s", chips.names[i]);
    const wm_status s = near && !text.failed
                            ? wmi_error_set(err, WM_ENOTFOUND, 0, "CUPTI %s knows no chip '%.60s'; %s",
                                            wmi_cupti_version_text(), name, text.data)
                            : wmi_error_nomem(err);
    wmi_buf_free(&text);
    free(near);
    return s;
}

static wm_status find_locked(const char *name, wmi_chip **out, wm_error *err) {
    wm_status s = names_load(err);
    if (s != WM_OK) return s;
    size_t i = 0;
    while (i < chips.count && strcasecmp(chips.names[i], name) != 0) i++;
    if (i == chips.count) return unknown_chip(name, err);
    wmi_chip *chip = chips.open;
    while (chip && chip->name != chips.names[i]) chip = chip->next;
    if (!chip) {
        s = chip_open(chips.names[i], &chip, err);
        if (s != WM_OK) return s;
        chip->next = chips.open;
        chips.open = chip;
    }
    *out = chip;
    return WM_OK;
}

wm_status wmi_chip_find(const char *name, wmi_chip **out, wm_error *err) {
    pthread_mutex_lock(&chips.lock);
    const wm_status s = find_locked(name, out, err);
    pthread_mutex_unlock(&chips.lock);
    return s;
}

const char *const *wmi_chip_names(wm_error *err) {
    pthread_mutex_lock(&chips.lock);
    const wm_status s = names_load(err);
    pthread_mutex_unlock(&chips.lock);
    return s == WM_OK ? chips.names : NULL;
}

const char *wmi_chip_name(const wmi_chip *chip) { return chip->name; }
