/* libcuda: modules, functions, and every way to launch a kernel. */
#include <string.h>

#include "cuda_driver.h"

/* An image is text: of a kernel's name no more is asked than that it is in there. */
static CUresult load(const void *params, uint32_t correlation) {
    const cuModuleLoadData_params *p = params;
    (void)correlation;
    if (!fakecuda_current()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!p->image || *(const char *)p->image == '\0') return CUDA_ERROR_INVALID_IMAGE;
    if (!fakecuda_unsafe_allowed()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    *p->module = fakei_module_new(p->image);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    cuModuleLoadData_params p = {module, image};
    return DRIVER(cuModuleLoadData, &p, NULL, load);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    PLAIN(cuModuleGetFunction);
    if (!module || module->gone) return CUDA_ERROR_INVALID_HANDLE;
    if (!strstr(module->image, name)) return CUDA_ERROR_NOT_FOUND;
    *function = fake_function(name);
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    PLAIN(cuModuleUnload);
    return fakei_module_end(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
    PLAIN(cuFuncGetName);
    *name = function->name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    PLAIN(cuFuncGetAttribute);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = function->registers; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = function->static_shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = function->local; break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    default: *value = 0;
    }
    return CUDA_SUCCESS;
}

static CUresult launch(fakei_work work, CUstream stream, uint32_t correlation) {
    if (!stream) return CUDA_ERROR_INVALID_CONTEXT;
    if (!work.kernel) return CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < 3; i++)
        if (work.grid[i] == 0 || work.block[i] == 0) return CUDA_ERROR_INVALID_VALUE;
    work.stream = stream;
    work.correlation = correlation;
    fakei_lock();
    fakei_launch_call_locked();
    fakei_launch_locked(work);
    fakei_unlock();
    return CUDA_SUCCESS;
}

/* The shape of a launch, in structures of the driver that name it alike. */
#define SHAPE(p)                                                                                             \
    .kind = FAKEI_KERNEL, .grid = {(p)->gridDimX, (p)->gridDimY, (p)->gridDimZ},                             \
    .block = {(p)->blockDimX, (p)->blockDimY, (p)->blockDimZ}, .shared = (p)->sharedMemBytes

#define LAUNCH_BODY(function, per_thread)                                                                    \
    static CUresult do_##function(const void *params, uint32_t correlation) {                                \
        const function##_params *p = params;                                                                 \
        return launch((fakei_work){SHAPE(p), .kernel = p->f}, fakecuda_stream(p->hStream, per_thread),       \
                      correlation);                                                                          \
    }
#define CONFIG_BODY(function, per_thread)                                                                    \
    static CUresult do_##function(const void *params, uint32_t correlation) {                                \
        const function##_params *p = params;                                                                 \
        return launch((fakei_work){SHAPE(p->config), .kernel = p->f},                                        \
                      fakecuda_stream(p->config->hStream, per_thread), correlation);                         \
    }
LAUNCH_BODY(cuLaunchKernel, false)
LAUNCH_BODY(cuLaunchKernel_ptsz, true)
LAUNCH_BODY(cuLaunchCooperativeKernel, false)
LAUNCH_BODY(cuLaunchCooperativeKernel_ptsz, true)
CONFIG_BODY(cuLaunchKernelEx, false)
CONFIG_BODY(cuLaunchKernelEx_ptsz, true)

static const char *symbol(CUfunction f) { return f ? f->name : NULL; }

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra) {
    cuLaunchKernel_params p = {f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra};
    return DRIVER(cuLaunchKernel, &p, symbol(f), do_cuLaunchKernel);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra) {
    cuLaunchKernel_ptsz_params p = {f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra};
    return DRIVER(cuLaunchKernel_ptsz, &p, symbol(f), do_cuLaunchKernel_ptsz);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra) {
    cuLaunchKernelEx_params p = {config, f, arguments, extra};
    return DRIVER(cuLaunchKernelEx, &p, symbol(f), do_cuLaunchKernelEx);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra) {
    cuLaunchKernelEx_ptsz_params p = {config, f, arguments, extra};
    return DRIVER(cuLaunchKernelEx_ptsz, &p, symbol(f), do_cuLaunchKernelEx_ptsz);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **arguments) {
    cuLaunchCooperativeKernel_params p = {f, gx, gy, gz, bx, by, bz, shared, stream, arguments};
    return DRIVER(cuLaunchCooperativeKernel, &p, symbol(f), do_cuLaunchCooperativeKernel);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                        void **arguments) {
    cuLaunchCooperativeKernel_ptsz_params p = {f, gx, gy, gz, bx, by, bz, shared, stream, arguments};
    return DRIVER(cuLaunchCooperativeKernel_ptsz, &p, symbol(f), do_cuLaunchCooperativeKernel_ptsz);
}

static CUresult do_multi_device(const void *params, uint32_t correlation) {
    const cuLaunchCooperativeKernelMultiDevice_params *p = params;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < p->numDevices && result == CUDA_SUCCESS; i++) {
        const CUDA_LAUNCH_PARAMS *one = &p->launchParamsList[i];
        fakei_work work = {SHAPE(one), .kernel = one->function};
        result = launch(work, fakecuda_stream(one->hStream, false), correlation);
    }
    return result;
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned devices,
                                              unsigned flags) {
    cuLaunchCooperativeKernelMultiDevice_params p = {launches, devices, flags};
    return DRIVER(cuLaunchCooperativeKernelMultiDevice, &p, devices ? symbol(launches->function) : NULL,
                  do_multi_device);
}

/* ---- the oldest ways ---- */

static CUresult launch_grid(CUfunction f, int x, int y, CUstream stream, uint32_t correlation) {
    fakei_work work = {
        .kind = FAKEI_KERNEL, .kernel = f, .grid = {(unsigned)x, (unsigned)y, 1}, .block = {1, 1, 1}};
    return launch(work, fakecuda_stream(stream, false), correlation);
}

static CUresult do_launch(const void *params, uint32_t correlation) {
    const cuLaunch_params *p = params;
    return launch_grid(p->f, 1, 1, NULL, correlation);
}

CUresult cuLaunch(CUfunction f) {
    cuLaunch_params p = {f};
    return DRIVER(cuLaunch, &p, symbol(f), do_launch);
}

static CUresult do_grid(const void *params, uint32_t correlation) {
    const cuLaunchGrid_params *p = params;
    return launch_grid(p->f, p->grid_width, p->grid_height, NULL, correlation);
}

CUresult cuLaunchGrid(CUfunction f, int x, int y) {
    cuLaunchGrid_params p = {f, x, y};
    return DRIVER(cuLaunchGrid, &p, symbol(f), do_grid);
}

static CUresult do_grid_async(const void *params, uint32_t correlation) {
    const cuLaunchGridAsync_params *p = params;
    return launch_grid(p->f, p->grid_width, p->grid_height, p->hStream, correlation);
}

CUresult cuLaunchGridAsync(CUfunction f, int x, int y, CUstream stream) {
    cuLaunchGridAsync_params p = {f, x, y, stream};
    return DRIVER(cuLaunchGridAsync, &p, symbol(f), do_grid_async);
}
