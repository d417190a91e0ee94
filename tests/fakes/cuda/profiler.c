/* The range profiler: configurations, windows, passes. */
#include <stdlib.h>
#include <string.h>

#include "fake_state.h"

static CUpti_RangeProfiler_Object *profilers;
static int64_t window_ns, kernel_ns;
static uint64_t windows;

static void destroy(CUpti_RangeProfiler_Object *p) {
    free(p->names);
    free(p->config);
    free(p->v);
    free(p);
}

void fakei_profiler_reset_locked(void) {
    while (profilers) {
        CUpti_RangeProfiler_Object *next = profilers->next;
        destroy(profilers);
        profilers = next;
    }
    window_ns = kernel_ns = 0;
    windows = 0;
    fakei_values_reset_locked();
}

static CUpti_RangeProfiler_Object **place_locked(CUpti_RangeProfiler_Object *p) {
    CUpti_RangeProfiler_Object **at = &profilers;
    while (*at && *at != p) at = &(*at)->next;
    return at;
}

/* Is it one that is enabled and not broken? */
static CUptiResult usable_locked(CUpti_RangeProfiler_Object *p) {
    if (!p || !*place_locked(p)) return CUPTI_ERROR_INVALID_PARAMETER;
    return p->broken ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult fakei_profiler_enable(CUcontext context, CUpti_RangeProfiler_Object **out) {
    CUptiResult result = CUPTI_ERROR_INVALID_OPERATION;
    if (!context) return CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    if (!context->profiler) {
        CUpti_RangeProfiler_Object *p = fakei_calloc(1, sizeof *p);
        p->context = context;
        p->next = profilers;
        context->profiler = profilers = *out = p;
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

CUptiResult fakei_profiler_disable(CUpti_RangeProfiler_Object *p) {
    CUptiResult result = CUPTI_ERROR_INVALID_PARAMETER;
    fakei_lock();
    CUpti_RangeProfiler_Object **at = place_locked(p);
    if (p && *at) {
        *at = p->next;
        p->context->profiler = NULL;
        destroy(p);
        result = CUPTI_SUCCESS;
    }
    fakei_unlock();
    return result;
}

CUptiResult fakei_profiler_image_size(CUpti_RangeProfiler_Object *p, const char *const *names, size_t count,
                                      size_t ranges, size_t *size) {
    fakei_lock();
    CUptiResult result = usable_locked(p);
    if (result == CUPTI_SUCCESS) {
        p->names = fakei_grow(p->names, &p->name_capacity, count, sizeof *p->names);
        for (size_t i = 0; i < count; i++) p->names[i] = fakei_intern(names[i]);
        p->name_count = count;
        p->ranges = ranges;
        *size = fakei_image_size(ranges, count);
    }
    fakei_unlock();
    return result;
}

CUptiResult fakei_profiler_image(CUpti_RangeProfiler_Object *p, uint8_t *out, size_t size) {
    fakei_lock();
    CUptiResult result = usable_locked(p);
    if (result == CUPTI_SUCCESS &&
        (!out || p->name_count == 0 || size < fakei_image_size(p->ranges, p->name_count)))
        result = CUPTI_ERROR_INVALID_PARAMETER;
    if (result == CUPTI_SUCCESS) fakei_image_write(out, p->ranges, p->names, p->name_count);
    fakei_unlock();
    return result;
}

static void set_locked(CUpti_RangeProfiler_Object *p, const CUpti_RangeProfiler_SetConfig_Params *params) {
    free(p->config);
    p->config = fakei_calloc(1, params->configSize);
    memcpy(p->config, params->pConfig, params->configSize);
    p->image = params->pCounterDataImage;
    p->image_size = params->counterDataImageSize;
    p->limit = params->maxRangesPerPass;
    p->user_ranges = params->range == CUPTI_UserRange;
    p->kernel_replay = params->replayMode == CUPTI_KernelReplay;
    p->first_level = params->minNestingLevel ? params->minNestingLevel : 1;
    p->levels = params->numNestingLevels ? params->numNestingLevels : 1;
    if (p->pass == 0)
        p->n = 0;
    else if (params->passIndex != p->pass)
        p->mixed = true;
    p->all_in = p->decoded = false;
}

CUptiResult fakei_profiler_set(const CUpti_RangeProfiler_SetConfig_Params *params) {
    fakei_lock();
    CUptiResult result = usable_locked(params->pRangeProfilerObject);
    if (result == CUPTI_SUCCESS && params->pRangeProfilerObject->open) result = CUPTI_ERROR_INVALID_OPERATION;
    if (result == CUPTI_SUCCESS &&
        (!fakei_config_of(params->pConfig, params->configSize) || params->maxRangesPerPass == 0 ||
         !fakei_image_of(params->pCounterDataImage, params->counterDataImageSize)))
        result = CUPTI_ERROR_INVALID_PARAMETER;
    if (result == CUPTI_SUCCESS) set_locked(params->pRangeProfilerObject, params);
    fakei_unlock();
    return result;
}

/* A device counts for one context at a time. */
static bool device_busy_locked(const CUpti_RangeProfiler_Object *p) {
    const CUpti_RangeProfiler_Object *q = profilers;
    while (q && !(q != p && q->open && q->context->device == p->context->device)) q = q->next;
    return q != NULL;
}

static CUptiResult start_locked(CUpti_RangeProfiler_Object *p) {
    CUptiResult result = usable_locked(p);
    if (result != CUPTI_SUCCESS) return result;
    if (!p->config || p->open) return CUPTI_ERROR_INVALID_OPERATION;
    if (p->all_in) {
        p->broken = true;
        return CUPTI_ERROR_UNKNOWN;
    }
    if (device_busy_locked(p)) return CUPTI_ERROR_HARDWARE_BUSY;
    p->open = true;
    p->unreadable = false;
    p->at = p->dropped = p->depth = 0;
    windows++;
    fakei_pass_locked(window_ns);
    return CUPTI_SUCCESS;
}

CUptiResult fakei_profiler_start(CUpti_RangeProfiler_Object *p) {
    fakei_lock();
    CUptiResult result = start_locked(p);
    fakei_unlock();
    return result;
}

static CUptiResult stop_locked(CUpti_RangeProfiler_Stop_Params *params) {
    CUpti_RangeProfiler_Object *p = params->pRangeProfilerObject;
    CUptiResult result = usable_locked(p);
    if (result != CUPTI_SUCCESS) return result;
    if (!p->open) return CUPTI_ERROR_INVALID_OPERATION;
    p->open = false;
    p->broken = p->unreadable;
    if (p->broken) return CUPTI_ERROR_UNKNOWN;
    p->pass = p->kernel_replay ? p->config->passes : p->pass + 1;
    p->all_in = p->pass >= p->config->passes;
    if (p->all_in) p->pass = 0;
    params->passIndex = p->pass;
    params->targetNestingLevel = p->first_level;
    params->isAllPassSubmitted = p->all_in;
    return CUPTI_SUCCESS;
}

CUptiResult fakei_profiler_stop(CUpti_RangeProfiler_Stop_Params *params) {
    fakei_lock();
    CUptiResult result = stop_locked(params);
    fakei_unlock();
    return result;
}

size_t fakei_profiler_replays_locked(const struct CUctx_st *context) {
    const CUpti_RangeProfiler_Object *p = context->profiler;
    if (!p || !p->open) return 0;
    return p->kernel_replay ? p->config->passes : 1;
}

/* What belongs to a range of push and pop, once for each that is open. */
static void add_to_open_locked(CUpti_RangeProfiler_Object *p, unsigned kernels, unsigned instructed) {
    for (size_t i = 0; i < p->depth; i++) {
        if (p->stack[i] == SIZE_MAX) continue;
        p->v[p->stack[i]].range.kernels += kernels;
        p->v[p->stack[i]].instructed += instructed;
    }
}

/* Machine instructions of a graph are not counted, nor those of any kernel while there are records. */
void fakei_profiler_ran_locked(CUcontext context, const fake_range *range, bool graph) {
    CUpti_RangeProfiler_Object *p = context->profiler;
    const bool instructed = !graph && (p->kernel_replay || !fakei_activity_enabled_locked());
    fakei_pass_locked(kernel_ns);
    p->unreadable |= graph && !p->user_ranges && !p->kernel_replay;
    if (p->user_ranges) {
        add_to_open_locked(p, range->kernels, instructed ? range->kernels : 0);
        return;
    }
    const size_t ranges = graph && p->kernel_replay ? range->kernels : 1;
    for (size_t i = 0; i < ranges; i++) {
        const size_t at = fakei_range_add_locked(p, range);
        if (at != SIZE_MAX) p->v[at].instructed = instructed ? range->kernels : 0;
    }
}

void fake_profiler_cost(int64_t window, int64_t kernel) {
    fakei_lock();
    window_ns = window;
    kernel_ns = kernel;
    fakei_unlock();
}

size_t fake_profilers(void) {
    size_t n = 0;
    fakei_lock();
    for (CUpti_RangeProfiler_Object *p = profilers; p; p = p->next) n++;
    fakei_unlock();
    return n;
}

uint64_t fake_windows(void) {
    fakei_lock();
    uint64_t n = windows;
    fakei_unlock();
    return n;
}
