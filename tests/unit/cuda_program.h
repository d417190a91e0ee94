/** What tests of the CUDA backend do as a CUDA program on the fake GPU. */
#ifndef TESTS_UNIT_CUDA_PROGRAM_H
#define TESTS_UNIT_CUDA_PROGRAM_H

#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

/** The fake GPU anew, with so many devices and a context of the first. */
static inline CUcontext program_begin(size_t devices) {
    fake_device v[8];
    for (size_t i = 0; i < devices; i++) v[i] = fake_device_default();
    CUcontext context = NULL;
    fake_reset();
    fake_devices(v, devices);
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    return context;
}

static inline CUstream program_stream(void) {
    CUstream stream = NULL;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return stream;
}

/** Launch the kernel of that binary name: grid (2, 3, 4), block (32, 2, 1), 64 bytes shared. */
static inline void program_launch(const char *kernel, CUstream stream) {
    assert_int_equal(cuLaunchKernel(fake_function(kernel), 2, 3, 4, 32, 2, 1, 64, stream, NULL, NULL),
                     CUDA_SUCCESS);
}

/** A graph of these kernels, captured on the stream. */
static inline CUgraphExec program_graph(const char *const *kernels, size_t count, CUstream stream) {
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    assert_int_equal(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    for (size_t i = 0; i < count; i++) program_launch(kernels[i], stream);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(cuGraphDestroy(graph), CUDA_SUCCESS);
    return exec;
}

#endif
