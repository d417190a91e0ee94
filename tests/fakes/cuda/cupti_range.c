/* libcupti: the range profiler. */
#include "cupti_calls.h"

#define CHECK(type)                                                                                          \
    if (!SIZED(params, type)) return CUPTI_ERROR_INVALID_PARAMETER

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params) {
    ENTER(cuptiRangeProfilerEnable);
    CHECK(CUpti_RangeProfiler_Enable_Params);
    return fakei_profiler_enable(params->ctx, &params->pRangeProfilerObject);
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params) {
    ENTER(cuptiRangeProfilerDisable);
    CHECK(CUpti_RangeProfiler_Disable_Params);
    return fakei_profiler_disable(params->pRangeProfilerObject);
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params) {
    ENTER(cuptiRangeProfilerSetConfig);
    CHECK(CUpti_RangeProfiler_SetConfig_Params);
    return fakei_profiler_set(params);
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params) {
    ENTER(cuptiRangeProfilerStart);
    CHECK(CUpti_RangeProfiler_Start_Params);
    return fakei_profiler_start(params->pRangeProfilerObject);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params) {
    ENTER(cuptiRangeProfilerStop);
    CHECK(CUpti_RangeProfiler_Stop_Params);
    return fakei_profiler_stop(params);
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *params) {
    ENTER(cuptiRangeProfilerPushRange);
    CHECK(CUpti_RangeProfiler_PushRange_Params);
    return fakei_profiler_push(params->pRangeProfilerObject, params->pRangeName);
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *params) {
    ENTER(cuptiRangeProfilerPopRange);
    CHECK(CUpti_RangeProfiler_PopRange_Params);
    return fakei_profiler_pop(params->pRangeProfilerObject);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params) {
    ENTER(cuptiRangeProfilerDecodeData);
    CHECK(CUpti_RangeProfiler_DecodeData_Params);
    return fakei_profiler_decode(params->pRangeProfilerObject, &params->numOfRangeDropped);
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params) {
    ENTER(cuptiRangeProfilerGetCounterDataSize);
    CHECK(CUpti_RangeProfiler_GetCounterDataSize_Params);
    size_t ranges = params->maxNumOfRanges;
    if (params->maxNumRangeTreeNodes < ranges) ranges = params->maxNumRangeTreeNodes;
    if (!params->pMetricNames || params->numMetrics == 0 || ranges == 0) return CUPTI_ERROR_INVALID_PARAMETER;
    return fakei_profiler_image_size(params->pRangeProfilerObject, params->pMetricNames, params->numMetrics,
                                     ranges, &params->counterDataSize);
}

CUptiResult
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params) {
    ENTER(cuptiRangeProfilerCounterDataImageInitialize);
    CHECK(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    return fakei_profiler_image(params->pRangeProfilerObject, params->pCounterData, params->counterDataSize);
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params) {
    ENTER(cuptiRangeProfilerGetCounterDataInfo);
    CHECK(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    const fakei_image *image = fakei_image_of(params->pCounterDataImage, params->counterDataImageSize);
    if (!image) return CUPTI_ERROR_INVALID_PARAMETER;
    params->numTotalRanges = image->ranges;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *params) {
    ENTER(cuptiRangeProfilerCounterDataGetRangeInfo);
    CHECK(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    const fakei_image *image = fakei_image_of(params->pCounterDataImage, params->counterDataImageSize);
    if (!image || params->rangeIndex >= image->ranges) return CUPTI_ERROR_INVALID_PARAMETER;
    params->rangeName = fakei_image_range(image, params->rangeIndex);
    return CUPTI_SUCCESS;
}
