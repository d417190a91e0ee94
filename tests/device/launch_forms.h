/* The ways to launch a kernel, of a file that is compiled for one kind of default stream. Its kernels'
 * names begin with FORM(). */
#include <cuda.h>

#include "attribution.h"
#include "device.h"

/* A function of the driver's, without linking it: the file's kind of default stream is kept. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { ENTRY_POINT_FLAGS = cudaEnablePerThreadDefaultStream };
#else
enum { ENTRY_POINT_FLAGS = cudaEnableLegacyStream };
#endif
template <typename Function> static Function driver(const char *name) {
    void *found = nullptr;
    NEED(cudaGetDriverEntryPointByVersion(name, &found, 12000, ENTRY_POINT_FLAGS, nullptr));
    if (!found) check(false, "the driver has %s", name);
    return reinterpret_cast<Function>(found);
}
#define DRIVER(name) driver<decltype(&name)>(#name)

static void need_driver(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return;
    check(false, "%s: error %d of the driver", what, static_cast<int>(result));
    std::exit(1);
}

static CUfunction function_of(void (*kernel)()) {
    cudaFunction_t function = nullptr;
    NEED(cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(kernel)));
    return function;
}

#define KERNEL(name)                                                                                         \
    extern "C" __global__ void FORM(name)() {}
KERNEL(triple_chevron)
KERNEL(launch_kernel)
KERNEL(launch_kernel_ex)
KERNEL(launch_cooperative)
KERNEL(driver_kernel)
KERNEL(driver_kernel_ex)
KERNEL(driver_cooperative)
KERNEL(other_stream)
#undef KERNEL

static void triple_chevron() { FORM(triple_chevron)<<<1, 32>>>(); }

static void launch_kernel() {
    NEED(cudaLaunchKernel(reinterpret_cast<const void *>(FORM(launch_kernel)), dim3(1), dim3(32), nullptr, 0,
                          nullptr));
}

static void launch_kernel_ex() {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    NEED(cudaLaunchKernelEx(&config, FORM(launch_kernel_ex)));
}

static void launch_cooperative() {
    NEED(cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(FORM(launch_cooperative)), dim3(1),
                                     dim3(32), nullptr, 0, nullptr));
}

static void driver_kernel() {
    need_driver(DRIVER(cuLaunchKernel)(function_of(FORM(driver_kernel)), 1, 1, 1, 32, 1, 1, 0, nullptr,
                                       nullptr, nullptr),
                "cuLaunchKernel");
}

static void driver_kernel_ex() {
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    need_driver(DRIVER(cuLaunchKernelEx)(&config, function_of(FORM(driver_kernel_ex)), nullptr, nullptr),
                "cuLaunchKernelEx");
}

static void driver_cooperative() {
    need_driver(DRIVER(cuLaunchCooperativeKernel)(function_of(FORM(driver_cooperative)), 1, 1, 1, 32, 1, 1, 0,
                                                  nullptr, nullptr),
                "cuLaunchCooperativeKernel");
}

static void other_stream() {
    static cudaStream_t stream;
    if (!stream) NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    FORM(other_stream)<<<1, 32, 0, stream>>>();
}

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define ENTRY(way)                                                                                           \
    { TEXT(FORM(way)) "_region", TEXT(FORM(way)), way }
static std::vector<Form> all_forms() {
    return {ENTRY(triple_chevron),     ENTRY(launch_kernel), ENTRY(launch_kernel_ex),
            ENTRY(launch_cooperative), ENTRY(driver_kernel), ENTRY(driver_kernel_ex),
            ENTRY(driver_cooperative), ENTRY(other_stream)};
}
