/* libcupti: the profiler host interface. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_calls.h"

struct CUpti_Profiler_Host_Object {
    const char *chip;
    const char **names; /* that were added */
    size_t count, capacity;
};

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params) {
    ENTER(cuptiProfilerHostInitialize);
    if (!SIZED(params, CUpti_Profiler_Host_Initialize_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    const char *chip = fakei_chip(params->pChipName);
    if (!chip) return INVALID_CHIP_NAME;
    params->pHostObject = fakei_calloc(1, sizeof *params->pHostObject);
    params->pHostObject->chip = chip;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params) {
    ENTER(cuptiProfilerHostDeinitialize);
    if (!SIZED(params, CUpti_Profiler_Host_Deinitialize_Params) || !params->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    free(params->pHostObject->names);
    free(params->pHostObject);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params *params) {
    ENTER(cuptiProfilerHostGetSupportedChips);
    if (!SIZED(params, CUpti_Profiler_Host_GetSupportedChips_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    params->ppChipNames = fakei_chips(&params->numChips);
    return CUPTI_SUCCESS;
}

static bool type_exists(CUpti_MetricType type) {
    return type >= CUPTI_METRIC_TYPE_COUNTER && type < CUPTI_METRIC_TYPE__COUNT;
}

CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params *params) {
    ENTER(cuptiProfilerHostGetBaseMetrics);
    if (!SIZED(params, CUpti_Profiler_Host_GetBaseMetrics_Params) || !params->pHostObject ||
        !type_exists(params->metricType))
        return CUPTI_ERROR_INVALID_PARAMETER;
    params->ppMetricNames =
        fakei_metric_list(params->pHostObject->chip, params->metricType, &params->numMetrics);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params *params) {
    const char *rest;
    ENTER(cuptiProfilerHostGetSubMetrics);
    if (!SIZED(params, CUpti_Profiler_Host_GetSubMetrics_Params) || !params->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const fakei_metric *m = fakei_metric_of(params->pHostObject->chip, params->pMetricName, &rest);
    if (!m) return CUPTI_ERROR_INVALID_METRIC_NAME;
    if (m->type != params->metricType) return CUPTI_ERROR_INVALID_PARAMETER;
    params->ppSubMetrics = fakei_submetrics(m->type, &params->numOfSubmetrics);
    return CUPTI_SUCCESS;
}

/* "byte" becomes "byte/second" of a rate and "percent" of a share. */
static const char *dim_of(const fakei_metric *m, const char *rest) {
    char rate[64];
    if (strstr(rest, ".pct")) return "percent";
    if (!strstr(rest, ".per_second")) return m->dim;
    snprintf(rate, sizeof rate, "%s/second", m->dim);
    return fakei_intern(rate);
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *params) {
    const char *rest;
    ENTER(cuptiProfilerHostGetMetricProperties);
    if (!SIZED(params, CUpti_Profiler_Host_GetMetricProperties_Params) || !params->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const fakei_metric *m = fakei_metric_of(params->pHostObject->chip, params->pMetricName, &rest);
    if (!m) return CUPTI_ERROR_INVALID_METRIC_NAME;
    params->pDescription = m->text;
    params->pHwUnit = m->hw;
    params->pDimUnit = dim_of(m, rest);
    params->metricType = m->type;
    return CUPTI_SUCCESS;
}

/* A name that is none, or has no rollup, is an invalid parameter: so says 13.0. */
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params) {
    ENTER(cuptiProfilerHostConfigAddMetrics);
    if (!SIZED(params, CUpti_Profiler_Host_ConfigAddMetrics_Params) || !params->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    struct CUpti_Profiler_Host_Object *host = params->pHostObject;
    for (size_t i = 0; i < params->numMetrics; i++)
        if (!fakei_metric_countable(host->chip, params->ppMetricNames[i]))
            return CUPTI_ERROR_INVALID_PARAMETER;
    host->names =
        fakei_grow(host->names, &host->capacity, host->count + params->numMetrics, sizeof *host->names);
    for (size_t i = 0; i < params->numMetrics; i++)
        host->names[host->count++] = fakei_intern(params->ppMetricNames[i]);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params) {
    ENTER(cuptiProfilerHostGetConfigImageSize);
    if (!SIZED(params, CUpti_Profiler_Host_GetConfigImageSize_Params) || !params->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (params->pHostObject->count == 0) return CUPTI_ERROR_UNKNOWN;
    params->configImageSize = fakei_config_size(params->pHostObject->count);
    return CUPTI_SUCCESS;
}

static size_t passes_of(const struct CUpti_Profiler_Host_Object *host) {
    size_t most = 1;
    const char *rest;
    for (size_t i = 0; i < host->count; i++) {
        size_t passes = fakei_metric_passes_of(fakei_metric_of(host->chip, host->names[i], &rest));
        if (passes > most) most = passes;
    }
    return most;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params) {
    ENTER(cuptiProfilerHostGetConfigImage);
    if (!SIZED(params, CUpti_Profiler_Host_GetConfigImage_Params) || !params->pHostObject ||
        !params->pConfigImage)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const struct CUpti_Profiler_Host_Object *host = params->pHostObject;
    if (host->count == 0 || params->configImageSize < fakei_config_size(host->count))
        return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_config_write(params->pConfigImage, passes_of(host), host->names, host->count);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params) {
    ENTER(cuptiProfilerHostGetNumOfPasses);
    if (!SIZED(params, CUpti_Profiler_Host_GetNumOfPasses_Params)) return CUPTI_ERROR_INVALID_PARAMETER;
    const fakei_config *config = fakei_config_of(params->pConfigImage, params->configImageSize);
    if (!config) return CUPTI_ERROR_INVALID_PARAMETER;
    params->numOfPasses = config->passes;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params) {
    ENTER(cuptiProfilerHostEvaluateToGpuValues);
    if (!SIZED(params, CUpti_Profiler_Host_EvaluateToGpuValues_Params) || !params->pHostObject ||
        !params->pMetricValues)
        return CUPTI_ERROR_INVALID_PARAMETER;
    const fakei_image *image = fakei_image_of(params->pCounterDataImage, params->counterDataImageSize);
    if (!image || params->rangeIndex >= image->ranges) return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < params->numMetrics; i++) {
        const char *name = params->ppMetricNames[i];
        if (!fakei_metric_countable(params->pHostObject->chip, name)) return CUPTI_ERROR_INVALID_METRIC_NAME;
        size_t metric = fakei_image_metric(image, name);
        params->pMetricValues[i] =
            metric == SIZE_MAX ? (double)NAN : fakei_image_value(image, params->rangeIndex, metric);
    }
    return CUPTI_SUCCESS;
}
