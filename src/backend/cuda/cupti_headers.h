/** CUPTI's headers, as C can read them. cupti_profiler_host.h of 13.0 includes <string> and
 *  uses nothing of it: the build puts an empty file of that name on the path. */
#ifndef WMI_BACKEND_CUDA_CUPTI_HEADERS_H
#define WMI_BACKEND_CUDA_CUPTI_HEADERS_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wconversion"
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#pragma GCC diagnostic pop

#endif
