/* Configurations: which counters are read in which pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/chip_host.h"
#include "backend/cuda/cuda.h"

typedef struct wmi_chip_built {
    struct wmi_chip_built *next;
    wmi_chip_config config;
} wmi_chip_built;

static void built_free(wmi_chip_built *b) {
    for (size_t i = 0; i < b->config.count; i++) free((char *)b->config.names[i]);
    free((const char **)b->config.names);
    free((uint8_t *)b->config.image);
    free(b);
}

static wmi_chip_built *built_new(const char *const *names, size_t count) {
    wmi_chip_built *b = calloc(1, sizeof *b);
    const char **copies = calloc(count + 1, sizeof *copies);
    if (!b || !copies) {
        free(copies);
        free(b);
        return NULL;
    }
    b->config.names = copies;
    for (; b->config.count < count; b->config.count++) {
        copies[b->config.count] = wmi_strdup(names[b->config.count]);
        if (copies[b->config.count]) continue;
        built_free(b);
        return NULL;
    }
    return b;
}

static bool is_same(const wmi_chip_config *c, const char *const *names, size_t count) {
    if (c->count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(c->names[i], names[i]) != 0) return false;
    return true;
}

/* ---- CUPTI's steps; each returns its code ---- */

static CUptiResult metrics_add(CUpti_Profiler_Host_Object *host, const char *const *names, size_t count) {
    CUpti_Profiler_Host_ConfigAddMetrics_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics),
        .pHostObject = host,
        .ppMetricNames = (const char **)names,
        .numMetrics = count,
    };
    return wmi_cupti.ProfilerHostConfigAddMetrics(&p);
}

static CUptiResult size_get(CUpti_Profiler_Host_Object *host, size_t *size) {
    CUpti_Profiler_Host_GetConfigImageSize_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize),
        .pHostObject = host,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetConfigImageSize(&p);
    *size = p.configImageSize;
    return code;
}

static CUptiResult image_get(CUpti_Profiler_Host_Object *host, uint8_t *image, size_t size) {
    CUpti_Profiler_Host_GetConfigImage_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage),
        .pHostObject = host,
        .configImageSize = size,
        .pConfigImage = image,
    };
    return wmi_cupti.ProfilerHostGetConfigImage(&p);
}

static CUptiResult passes_count(uint8_t *image, size_t size, size_t *passes) {
    CUpti_Profiler_Host_GetNumOfPasses_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses),
        .configImageSize = size,
        .pConfigImage = image,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostGetNumOfPasses(&p);
    *passes = p.numOfPasses;
    return code;
}

/* ---- building ---- */

/* An object takes metrics but never gives them up, so each configuration has its own. */
static wm_status build(const wmi_chip *chip, const char *const *names, size_t count, wmi_chip_config *out,
                       CUptiResult *code, wm_error *err) {
    CUpti_Profiler_Host_Object *host = NULL;
    wm_status s = wmi_host_create(chip->name, &host, err);
    if (s != WM_OK) return s;
    size_t size = 0, passes = 0;
    uint8_t *image = NULL;
    *code = metrics_add(host, names, count);
    if (*code == CUPTI_SUCCESS) *code = size_get(host, &size);
    if (*code == CUPTI_SUCCESS) image = malloc(size + 1);
    if (*code == CUPTI_SUCCESS && image) *code = image_get(host, image, size);
    if (*code == CUPTI_SUCCESS && image) *code = passes_count(image, size, &passes);
    wmi_host_destroy(host);
    if (*code == CUPTI_SUCCESS && image) {
        out->image = image;
        out->image_size = size;
        out->passes = passes;
        return WM_OK;
    }
    free(image);
    return *code == CUPTI_SUCCESS ? wmi_error_nomem(err) : WM_EUNSUPPORTED;
}

/* Which of them it was that CUPTI refused with `code`. */
static wm_status explain(const wmi_chip *chip, const char *const *names, size_t count, CUptiResult code,
                         wm_error *err) {
    for (size_t i = 0; i < count && count > 1; i++) {
        wmi_chip_config alone = {0};
        CUptiResult own = CUPTI_SUCCESS;
        const wm_status s = build(chip, &names[i], 1, &alone, &own, err);
        free((uint8_t *)alone.image);
        if (s == WM_EUNSUPPORTED && own != CUPTI_SUCCESS) return explain(chip, &names[i], 1, own, err);
        if (s != WM_OK) return s;
    }
    wm_error why = WM_ERROR_INIT;
    wmi_cuda_error(&why, true, (int)code, "CUPTI");
    if (count == 1)
        return wmi_error_set(err, WM_EUNSUPPORTED, (int)code, "%s cannot be counted on %s (%s)", names[0],
                             chip->name, why.message);
    return wmi_error_set(err, WM_EUNSUPPORTED, (int)code,
                         "these %zu metrics cannot be counted together on %s, though each alone can (%s)",
                         count, chip->name, why.message);
}

wm_status wmi_chip_config_make(wmi_chip *chip, const char *const *names, size_t count,
                               const wmi_chip_config **out, wm_error *err) {
    for (const wmi_chip_built *b = chip->built; b; b = b->next) {
        if (!is_same(&b->config, names, count)) continue;
        *out = &b->config;
        return WM_OK;
    }
    for (size_t i = 0; i < count; i++) {
        wmi_metric about;
        const wm_status s = wmi_chip_metric(chip, names[i], &about, err);
        if (s != WM_OK) return s;
    }
    wmi_chip_built *b = built_new(names, count);
    if (!b) return wmi_error_nomem(err);
    CUptiResult code = CUPTI_SUCCESS;
    wm_status s = build(chip, b->config.names, count, &b->config, &code, err);
    if (s != WM_OK && code != CUPTI_SUCCESS) s = explain(chip, b->config.names, count, code, err);
    if (s != WM_OK) {
        built_free(b);
        return s;
    }
    b->next = chip->built;
    chip->built = b;
    *out = &b->config;
    return WM_OK;
}

/* ---- values ---- */

wm_status wmi_chip_evaluate(wmi_chip *chip, const wmi_chip_config *config, const uint8_t *image,
                            size_t image_size, size_t range, double *values, wm_error *err) {
    for (size_t i = 0; i < config->count; i++) values[i] = NAN;
    CUpti_Profiler_Host_EvaluateToGpuValues_Params p = {
        .structSize = WMI_HOST_SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues),
        .pHostObject = chip->host,
        .pCounterDataImage = image,
        .counterDataImageSize = image_size,
        .rangeIndex = range,
        .ppMetricNames = (const char **)config->names,
        .numMetrics = config->count,
        .pMetricValues = values,
    };
    const CUptiResult code = wmi_cupti.ProfilerHostEvaluateToGpuValues(&p);
    if (code != CUPTI_SUCCESS) return wmi_cuda_error(err, true, (int)code, "reading a counter's value");
    return WM_OK;
}
