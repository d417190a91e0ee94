/** libcupti, and the libnvperf_host beside it, opened at run time: WARPMETER_LIBCUPTI, a copy in
 *  the process, a pip package beside Python, the toolkit, the loader's path. libcupti opens
 *  libnvperf_host by bare name, so the one beside it is opened first (a tenth of a second). Neither
 *  a driver nor a device is needed for it up to CUPTI 13.0 at least. */
#ifndef WMI_BACKEND_CUDA_CUPTI_DL_H
#define WMI_BACKEND_CUDA_CUPTI_DL_H

#include "backend/cuda/cupti_headers.h"
#include "base/error.h"

/* X(name of the function without the prefix cupti, optional): the member has that name. */
#define WMI_CUPTI_SYMBOLS(X)                                                                                 \
    X(GetVersion, false)                                                                                     \
    X(GetResultString, false)                                                                                \
    X(GetTimestamp, false)                                                                                   \
    X(GetContextId, false)                                                                                   \
    X(DeviceGetChipName, false)                                                                              \
    X(ProfilerInitialize, false)                                                                             \
    X(ProfilerDeviceSupported, false)                                                                        \
    X(Subscribe, false)                                                                                      \
    X(Unsubscribe, false)                                                                                    \
    X(EnableCallback, false)                                                                                 \
    X(ActivityRegisterCallbacks, false)                                                                      \
    X(ActivityEnable, false)                                                                                 \
    X(ActivityDisable, false)                                                                                \
    X(ActivityFlushAll, false)                                                                               \
    X(ActivityGetNextRecord, false)                                                                          \
    X(ActivityGetNumDroppedRecords, false)                                                                   \
    X(ProfilerHostInitialize, false)                                                                         \
    X(ProfilerHostDeinitialize, false)                                                                       \
    X(ProfilerHostGetSupportedChips, false)                                                                  \
    X(ProfilerHostGetBaseMetrics, false)                                                                     \
    X(ProfilerHostGetSubMetrics, false)                                                                      \
    X(ProfilerHostGetMetricProperties, false)                                                                \
    X(ProfilerHostConfigAddMetrics, false)                                                                   \
    X(ProfilerHostGetConfigImageSize, false)                                                                 \
    X(ProfilerHostGetConfigImage, false)                                                                     \
    X(ProfilerHostGetNumOfPasses, false)                                                                     \
    X(ProfilerHostEvaluateToGpuValues, false)                                                                \
    X(RangeProfilerEnable, false)                                                                            \
    X(RangeProfilerDisable, false)                                                                           \
    X(RangeProfilerSetConfig, false)                                                                         \
    X(RangeProfilerStart, false)                                                                             \
    X(RangeProfilerStop, false)                                                                              \
    X(RangeProfilerPushRange, false)                                                                         \
    X(RangeProfilerPopRange, false)                                                                          \
    X(RangeProfilerDecodeData, false)                                                                        \
    X(RangeProfilerGetCounterDataSize, false)                                                                \
    X(RangeProfilerCounterDataImageInitialize, false)                                                        \
    X(RangeProfilerGetCounterDataInfo, false)                                                                \
    X(RangeProfilerCounterDataGetRangeInfo, false)

/* X(name, type of the function as a pointer): functions of versions that are newer than the headers may be;
 * all optional. The mode is an enum of theirs. */
#define WMI_CUPTI_LATER_SYMBOLS(X)                                                                           \
    X(ClockControlLock, CUptiResult (*)(CUcontext, int)) /* 13.4 */                                          \
    X(ClockControlUnlock, CUptiResult (*)(void))
enum { WMI_CUPTI_CLOCK_CONTROL_BASE = 1 };

typedef struct wmi_cupti_api {
#define WMI_CUPTI_MEMBER(name, optional) __typeof__(&cupti##name) name;
    WMI_CUPTI_SYMBOLS(WMI_CUPTI_MEMBER)
#undef WMI_CUPTI_MEMBER
#define WMI_CUPTI_LATER_MEMBER(name, type) __typeof__(type) name;
    WMI_CUPTI_LATER_SYMBOLS(WMI_CUPTI_LATER_MEMBER)
#undef WMI_CUPTI_LATER_MEMBER
} wmi_cupti_api;

extern wmi_cupti_api wmi_cupti; /* filled by wmi_cupti_load */

/** Open it; the first call decides for ever (but for want of memory). Any thread. Of several the
 *  first that is fit for use.
 *  WM_EUNSUPPORTED: not found (what was tried, the package), older than 12.6, or it does not start
 *  (newer ones need a driver for everything). */
wm_status wmi_cupti_load(wm_error *err);
/** Where it was found, where the libnvperf_host that it uses lies ("" where there is none), and its
 *  version as text ("13.0.1") and as the number of cuptiGetVersion. "" and 0 before. */
const char *wmi_cupti_path(void);
const char *wmi_nvperf_path(void);
const char *wmi_cupti_version_text(void);
uint32_t wmi_cupti_version(void);
/** The text of a number of cuptiGetVersion: 24 is "12.6", 130001 is "13.0.1". */
void wmi_cupti_version_name(uint32_t number, char out[16]);

#endif
