/** Functions of libcuda that cuda.h hides behind the names of newer ones, or shows only where
 *  each thread has a default stream. cuda.h declares the others. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cuda.h>

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                             CUstream stream, void **params, void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                        CUstream stream, void **params);
CUresult cuLaunch(CUfunction f);
CUresult cuLaunchGrid(CUfunction f, int grid_x, int grid_y);
CUresult cuLaunchGridAsync(CUfunction f, int grid_x, int grid_y, CUstream stream);
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned devices, unsigned flags);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr destination, const void *source, size_t bytes,
                                   CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);

#endif
