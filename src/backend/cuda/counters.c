#include "backend/cuda/counters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "backend/cuda/launches.h"

/* Host memory for one counter image. A range takes kilobytes, so that a sweep with very many
 * kernels would need more than there is; the ranges past it are dropped, and said to be. */
#define IMAGE_LIMIT ((size_t)1 << 30)
/* Images up to this size are kept as they were initialised: copying is cheaper. */
#define PRISTINE_LIMIT ((size_t)64 << 20)
enum { ROOM_STEP = 32, ROOM_LEAST = 32 };

struct wmi_counters {
    wmi_cuda_context context;
    wmi_chip *chip;
    CUpti_RangeProfiler_Object *object; /* NULL: not enabled */
    wmi_counters *next;                 /* of those in use, or of those abandoned */
    unsigned users;
    bool abandoned;
    bool gone; /* so is its context */

    /* the set of windows at hand */
    const wmi_chip_config *config; /* NULL: none */
    wmi_counter_mode mode;
    bool running;  /* between Start and Stop */
    bool midway;   /* some passes were run, not all */
    size_t pass;   /* the next one, as the profiler numbers them */
    bool complete; /* all passes were run */
    size_t ranges, dropped;

    /* the image, and what it was made for: kept from one set to the next */
    uint8_t *image, *pristine;
    size_t image_size, room;
    bool configured; /* the object has had a configuration, in this mode */
    wmi_counter_mode configured_mode;
    size_t window_room; /* ranges in a window: it only grows, since growing makes a Start slow */
    const wmi_chip_config *image_config;
};

/* ---- calling the vendor ---- */

/* Every call is made with the context current, and is not the program's. */
static wm_status enter(const wmi_counters *c, wm_error *err) {
    wmi_launches_hide();
    const CUresult result = wmi_cuda.ctx_push(c->context.handle);
    if (result == CUDA_SUCCESS) return WM_OK;
    wmi_launches_show();
    return wmi_cuda_error(err, false, (int)result, "cannot make the program's context current for counters");
}

static void leave(void) {
    CUcontext popped;
    (void)wmi_cuda.ctx_pop(&popped);
    wmi_launches_show();
}

static wm_status said(CUptiResult result, const char *what, wm_error *err) {
    return result == CUPTI_SUCCESS ? WM_OK : wmi_cuda_error(err, true, (int)result, what);
}

static wm_status profiler_initialize(wm_error *err) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool done;
    wm_status status = WM_OK;
    pthread_mutex_lock(&lock);
    if (!done) {
        CUpti_Profiler_Initialize_Params p = {.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        status = said(wmi_cupti.ProfilerInitialize(&p), "cannot initialize the counters", err);
        done = status == WM_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static wm_status enable(wmi_counters *c, wm_error *err) {
    CUpti_RangeProfiler_Enable_Params p = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                                           .ctx = c->context.handle};
    const wm_status status = said(wmi_cupti.RangeProfilerEnable(&p), "cannot enable the counters", err);
    if (status == WM_OK) c->object = p.pRangeProfilerObject;
    return status;
}

static void disable(wmi_counters *c) {
    CUpti_RangeProfiler_Disable_Params p = {.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                                            .pRangeProfilerObject = c->object};
    if (c->object) (void)wmi_cupti.RangeProfilerDisable(&p);
    c->object = NULL;
    c->running = c->midway = c->configured = false;
    c->pass = 0;
}

static void free_images(wmi_counters *c) {
    free(c->image);
    free(c->pristine);
    c->image = c->pristine = NULL;
    c->image_size = c->room = 0;
    c->image_config = NULL;
}

/* ---- life ---- */

static wm_status check_support(const wmi_cuda_context *context, wm_error *err) {
    char why[256], remedy[256];
    const wmi_cuda_device *device = context->device;
    if (!device || !device->chip[0])
        return wmi_error_set(err, WM_EUNSUPPORTED, 0,
                             "CUPTI does not know this device, so it has no counters");
    if (wmi_cuda_profiling(device, why, remedy) == WM_REASON_NONE) return WM_OK;
    return wmi_error_set(err, WM_EUNSUPPORTED, 0, "%s has no counters: %s%s%s", device->name, why,
                         remedy[0] ? "; " : "", remedy);
}

/* A context takes one profiler object, and plans of several sweeps may want it: they share it. */
static pthread_mutex_t in_use_lock = PTHREAD_MUTEX_INITIALIZER;
static wmi_counters *in_use;

static wmi_counters **place_of(CUcontext handle, uint32_t id) {
    wmi_counters **c = &in_use;
    while (*c && ((*c)->context.handle != handle || (*c)->context.id != id)) c = &(*c)->next;
    return c;
}

/* A context must not end with its profiler on. */
static void context_ends(CUcontext handle) {
    pthread_mutex_lock(&in_use_lock);
    wmi_counters **place = &in_use;
    while (*place && (*place)->context.handle != handle) place = &(*place)->next;
    wmi_counters *c = *place;
    if (c) {
        *place = c->next;
        c->gone = true;
        if (c->object && enter(c, NULL) == WM_OK) {
            disable(c);
            leave();
        }
        c->object = NULL;
    }
    pthread_mutex_unlock(&in_use_lock);
}

static wm_status make(const wmi_cuda_context *context, wmi_counters **out, wm_error *err) {
    wmi_counters *c = calloc(1, sizeof *c);
    if (!c) return wmi_error_nomem(err);
    c->context = *context;
    wm_status status = wmi_chip_find(context->device->chip, &c->chip, err);
    if (status == WM_OK) status = enter(c, err);
    if (status == WM_OK) {
        status = profiler_initialize(err);
        if (status == WM_OK) status = enable(c, err);
        leave();
    }
    if (status != WM_OK) {
        free(c);
        return status;
    }
    wmi_launches_on_context_end(context_ends);
    c->users = 1;
    *out = c;
    return WM_OK;
}

wm_status wmi_counters_create(const wmi_cuda_context *context, wmi_counters **out, wm_error *err) {
    wm_status status = wmi_cuda_load(err);
    if (status == WM_OK) status = wmi_cupti_load(err);
    if (status == WM_OK) status = check_support(context, err);
    if (status != WM_OK) return status;
    pthread_mutex_lock(&in_use_lock);
    wmi_counters **place = place_of(context->handle, context->id);
    if (*place) {
        (*place)->users++;
        *out = *place;
    } else {
        status = make(context, place, err);
        if (status == WM_OK) *out = *place;
    }
    pthread_mutex_unlock(&in_use_lock);
    return status;
}

static bool last_user(wmi_counters *c) {
    pthread_mutex_lock(&in_use_lock);
    const bool last = --c->users == 0;
    wmi_counters **place = place_of(c->context.handle, c->context.id);
    if (last && *place == c) *place = c->next;
    pthread_mutex_unlock(&in_use_lock);
    return last;
}

void wmi_counters_destroy(wmi_counters *c) {
    if (!c || !last_user(c)) return;
    wmi_counters_end(c);
    if (c->object && enter(c, NULL) == WM_OK) {
        disable(c);
        leave();
    }
    free_images(c);
    free(c);
}

/* CUPTI still holds the image, so it can never be freed. */
void wmi_counters_abandon(wmi_counters *c) {
    static wmi_counters *_Atomic abandoned;
    if (!c) return;
    pthread_mutex_lock(&in_use_lock);
    wmi_counters **place = place_of(c->context.handle, c->context.id);
    if (*place == c) *place = c->next;
    pthread_mutex_unlock(&in_use_lock);
    c->abandoned = true;
    c->next = atomic_load(&abandoned);
    while (!atomic_compare_exchange_weak(&abandoned, &c->next, c)) {
    }
}

wmi_chip *wmi_counters_chip(const wmi_counters *c) { return c->chip; }

/* ---- images ---- */

static wm_status size_of_image(const wmi_counters *c, const wmi_chip_config *config, size_t room,
                               size_t *size, wm_error *err) {
    CUpti_RangeProfiler_GetCounterDataSize_Params p = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = c->object,
        .pMetricNames = (const char **)(uintptr_t)config->names,
        .numMetrics = config->count,
        .maxNumOfRanges = room,
        .maxNumRangeTreeNodes = (uint32_t)room};
    const wm_status status =
        said(wmi_cupti.RangeProfilerGetCounterDataSize(&p), "cannot size the image of the counters", err);
    *size = p.counterDataSize;
    return status;
}

static wm_status initialize_image(const wmi_counters *c, wm_error *err) {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params p = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = c->object,
        .counterDataSize = c->image_size,
        .pCounterData = c->image};
    return said(wmi_cupti.RangeProfilerCounterDataImageInitialize(&p),
                "cannot initialize the image of the counters", err);
}

static wm_status make_image(wmi_counters *c, const wmi_chip_config *config, size_t room, wm_error *err) {
    size_t size = 0;
    wm_status status;
    free_images(c);
    while (true) {
        status = size_of_image(c, config, room, &size, err);
        if (status != WM_OK) return status;
        if (size <= IMAGE_LIMIT || room / 2 < ROOM_LEAST) break;
        room /= 2;
    }
    c->image = malloc(size ? size : 1);
    if (!c->image) return wmi_error_nomem(err);
    c->image_size = size;
    status = initialize_image(c, err);
    if (status != WM_OK) {
        free_images(c);
        return status;
    }
    c->pristine = size <= PRISTINE_LIMIT ? malloc(size ? size : 1) : NULL;
    if (c->pristine) memcpy(c->pristine, c->image, size);
    c->image_config = config;
    c->room = room;
    return WM_OK;
}

static size_t rounded(size_t ranges) {
    if (ranges < ROOM_LEAST) return ROOM_LEAST;
    if (ranges > UINT32_MAX - ROOM_STEP) return UINT32_MAX / ROOM_STEP * ROOM_STEP;
    return (ranges + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
}

/* An image of the same configuration serves again when its size is about right. */
static wm_status ready_image(wmi_counters *c, const wmi_chip_config *config, size_t room, wm_error *err) {
    if (c->image_config != config || c->room < room || c->room / 4 > room)
        return make_image(c, config, room, err);
    if (!c->pristine) return initialize_image(c, err);
    memcpy(c->image, c->pristine, c->image_size);
    return WM_OK;
}

/* ---- windows ---- */

/* Passes given up in the middle: the next Start must be the first pass again. */
static wm_status start_anew(wmi_counters *c, wm_error *err) {
    disable(c);
    free_images(c);
    return enable(c, err);
}

wm_status wmi_counters_begin(wmi_counters *c, const wmi_chip_config *config, wmi_counter_mode mode,
                             size_t in_window, size_t in_all, wm_error *err) {
    if (c->abandoned)
        return wmi_error_set(err, WM_EFAILED, 0,
                             "the device never came to rest, so nothing is counted on it");
    if (c->gone)
        return wmi_error_set(err, WM_ESTATE, 0, "the program destroyed the context that was counted in");
    wmi_counters_end(c);
    wm_status status = enter(c, err);
    if (status != WM_OK) return status;
    /* One that has counted in another way crashes the process (CUPTI 13.0). */
    if (!c->object || (c->configured && c->configured_mode != mode)) status = start_anew(c, err);
    if (status == WM_OK) status = ready_image(c, config, rounded(in_all), err);
    leave();
    if (status != WM_OK) return status;
    if (rounded(in_window) > c->window_room) c->window_room = rounded(in_window);
    c->config = config;
    c->mode = c->configured_mode = mode;
    c->configured = true;
    c->complete = false;
    c->ranges = c->dropped = 0;
    return WM_OK;
}

static CUptiResult set_config(const wmi_counters *c) {
    const bool push_pop = c->mode == WMI_COUNTERS_RANGES;
    const bool driver = c->mode == WMI_COUNTERS_REPLAY;
    CUpti_RangeProfiler_SetConfig_Params p = {.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = c->object,
                                              .configSize = c->config->image_size,
                                              .pConfig = c->config->image,
                                              .counterDataImageSize = c->image_size,
                                              .pCounterDataImage = c->image,
                                              .range = push_pop ? CUPTI_UserRange : CUPTI_AutoRange,
                                              .replayMode = driver ? CUPTI_KernelReplay : CUPTI_UserReplay,
                                              .maxRangesPerPass =
                                                  c->window_room < c->room ? c->window_room : c->room,
                                              .numNestingLevels = 1,
                                              .minNestingLevel = 1,
                                              .passIndex = c->pass,
                                              .targetNestingLevel = 1};
    return wmi_cupti.RangeProfilerSetConfig(&p);
}

/* The device may have room for fewer ranges in a pass than the host has. */
static wm_status configure(wmi_counters *c, wm_error *err) {
    CUptiResult result = set_config(c);
    const bool first = !c->midway && c->ranges == 0;
    while (first && c->window_room / 2 >= ROOM_LEAST &&
           (result == CUPTI_ERROR_INVALID_OPERATION || result == CUPTI_ERROR_OUT_OF_MEMORY)) {
        c->window_room /= 2;
        result = set_config(c);
    }
    return said(result, "cannot configure the counters", err);
}

static wm_status start(wmi_counters *c, wm_error *err) {
    const wm_status status = configure(c, err);
    if (status != WM_OK) return status;
    CUpti_RangeProfiler_Start_Params p = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                          .pRangeProfilerObject = c->object};
    return said(wmi_cupti.RangeProfilerStart(&p), "cannot start the counters", err);
}

wm_status wmi_counters_start(wmi_counters *c, wm_error *err) {
    if (!c->config || !c->object || c->running)
        return wmi_error_set(err, WM_ESTATE, 0, "counters: no set of windows was begun");
    wm_status status = enter(c, err);
    if (status != WM_OK) return status;
    status = start(c, err);
    if (status == WM_OK)
        c->running = true;
    else
        disable(c); /* an object whose Start failed is of no use any more */
    leave();
    return status;
}

static wm_status decode(wmi_counters *c, wm_error *err) {
    CUpti_RangeProfiler_DecodeData_Params decoded = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE, .pRangeProfilerObject = c->object};
    wm_status status =
        said(wmi_cupti.RangeProfilerDecodeData(&decoded), "cannot decode what the counters counted", err);
    if (status != WM_OK) return status;
    c->dropped += decoded.numOfRangeDropped;
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = c->image,
        .counterDataImageSize = c->image_size};
    status =
        said(wmi_cupti.RangeProfilerGetCounterDataInfo(&info), "cannot read the image of the counters", err);
    if (status == WM_OK) c->ranges = info.numTotalRanges;
    return status;
}

static wm_status stop(wmi_counters *c, wm_error *err) {
    CUpti_RangeProfiler_Stop_Params p = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                         .pRangeProfilerObject = c->object};
    const wm_status status = said(wmi_cupti.RangeProfilerStop(&p), "cannot stop the counters", err);
    if (status != WM_OK) return status;
    c->complete = p.isAllPassSubmitted != 0;
    c->midway = !c->complete;
    c->pass = c->complete ? 0 : p.passIndex;
    return c->complete ? decode(c, err) : WM_OK;
}

static wm_status not_open(wm_error *err) {
    return wmi_error_set(err, WM_ESTATE, 0, "counters: no window is open");
}

wm_status wmi_counters_stop(wmi_counters *c, wm_error *err) {
    if (!c->running) return not_open(err);
    wm_status status = enter(c, err);
    if (status != WM_OK) return status;
    c->running = false;
    status = stop(c, err);
    if (status != WM_OK) disable(c);
    leave();
    return status;
}

wm_status wmi_counters_push(wmi_counters *c, const char *name, wm_error *err) {
    CUpti_RangeProfiler_PushRange_Params p = {.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = c->object,
                                              .pRangeName = name};
    if (!c->running) return not_open(err);
    wm_status status = enter(c, err);
    if (status != WM_OK) return status;
    status = said(wmi_cupti.RangeProfilerPushRange(&p), "cannot begin a range", err);
    leave();
    return status;
}

wm_status wmi_counters_pop(wmi_counters *c, wm_error *err) {
    CUpti_RangeProfiler_PopRange_Params p = {.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
                                             .pRangeProfilerObject = c->object};
    if (!c->running) return not_open(err);
    wm_status status = enter(c, err);
    if (status != WM_OK) return status;
    status = said(wmi_cupti.RangeProfilerPopRange(&p), "cannot end a range", err);
    leave();
    return status;
}

/* ---- what was counted ---- */

bool wmi_counters_complete(const wmi_counters *c) { return c->complete; }

size_t wmi_counters_ranges(const wmi_counters *c, size_t *dropped) {
    if (dropped) *dropped = c->dropped;
    return c->ranges;
}

wm_status wmi_counters_values(wmi_counters *c, size_t range, double *values, wm_error *err) {
    if (!c->config || range >= c->ranges)
        return wmi_error_set(err, WM_EINVAL, 0, "counters: there are %zu ranges; there is no range %zu",
                             c->ranges, range);
    return wmi_chip_evaluate(c->chip, c->config, c->image, c->image_size, range, values, err);
}

void wmi_counters_end(wmi_counters *c) {
    wm_error ignored = WM_ERROR_INIT;
    if (c->running) (void)wmi_counters_stop(c, &ignored);
    if (c->midway && c->object && enter(c, &ignored) == WM_OK) {
        disable(c); /* enabled again by the next begin */
        leave();
    }
    c->config = NULL;
    c->complete = false;
    c->ranges = c->dropped = 0;
}
