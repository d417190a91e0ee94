/* libcuda: capture of streams, graphs. */
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"

struct CUgraphExec_st {
    struct CUgraph_st graph; /* a copy: the graph may go, or be captured into again */
};

static CUresult begin_capture(CUstream s, CUstreamCaptureMode mode) {
    CUresult result = CUDA_SUCCESS;
    if (!s) return CUDA_ERROR_INVALID_CONTEXT;
    if (s == &s->context->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fakei_lock();
    if (s->capture) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else {
        s->capture = fakei_graph_new_locked();
        s->mode = mode;
        s->spoilt = false;
    }
    fakei_unlock();
    return result;
}

static CUresult do_begin(const void *params, uint32_t correlation) {
    const cuStreamBeginCapture_v2_params *p = params;
    (void)correlation;
    return begin_capture(fakecuda_stream(p->hStream, false), p->mode);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    cuStreamBeginCapture_v2_params p = {stream, mode};
    return DRIVER(cuStreamBeginCapture_v2, &p, NULL, do_begin);
}

static CUresult do_end(const void *params, uint32_t correlation) {
    const cuStreamEndCapture_params *p = params;
    CUstream s = fakecuda_stream(p->hStream, false);
    CUresult result = CUDA_SUCCESS;
    (void)correlation;
    if (!s) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    if (!s->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else if (s->spoilt)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *p->phGraph = result == CUDA_SUCCESS ? s->capture : NULL;
    s->capture = NULL;
    fakei_unlock();
    return result;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    cuStreamEndCapture_params p = {stream, graph};
    return DRIVER(cuStreamEndCapture, &p, NULL, do_end);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    PLAIN(cuStreamIsCapturing);
    CUstream s = fakecuda_stream(stream, false);
    if (!s) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    *status = !s->capture ? CU_STREAM_CAPTURE_STATUS_NONE
              : s->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    fakei_unlock();
    return CUDA_SUCCESS;
}

static CUresult do_instantiate(const void *params, uint32_t correlation) {
    const cuGraphInstantiateWithFlags_params *p = params;
    (void)correlation;
    if (!p->hGraph) return CUDA_ERROR_INVALID_VALUE;
    CUgraphExec exec = fakei_calloc(1, sizeof *exec);
    fakei_lock();
    exec->graph = *p->hGraph;
    exec->graph.v = fakei_calloc(exec->graph.n ? exec->graph.n : 1, sizeof *exec->graph.v);
    if (exec->graph.n) memcpy(exec->graph.v, p->hGraph->v, exec->graph.n * sizeof *exec->graph.v);
    fakei_unlock();
    *p->phGraphExec = exec;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    cuGraphInstantiateWithFlags_params p = {exec, graph, flags};
    return DRIVER(cuGraphInstantiateWithFlags, &p, NULL, do_instantiate);
}

static CUresult launch(CUgraphExec exec, CUstream s, uint32_t correlation) {
    if (!exec) return CUDA_ERROR_INVALID_HANDLE;
    if (!s) return CUDA_ERROR_INVALID_CONTEXT;
    fakei_lock();
    bool capturing = s->capture != NULL;
    s->spoilt |= capturing;
    if (!capturing) {
        fakei_launch_call_locked();
        fakei_graph_launch_locked(&exec->graph, s, correlation);
    }
    fakei_unlock();
    return capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

static CUresult do_launch(const void *params, uint32_t correlation) {
    const cuGraphLaunch_params *p = params;
    return launch(p->hGraph, fakecuda_stream(p->hStream, false), correlation);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    cuGraphLaunch_params p = {exec, stream};
    return DRIVER(cuGraphLaunch, &p, NULL, do_launch);
}

static CUresult do_launch_ptsz(const void *params, uint32_t correlation) {
    const cuGraphLaunch_ptsz_params *p = params;
    return launch(p->hGraphExec, fakecuda_stream(p->hStream, true), correlation);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
    cuGraphLaunch_ptsz_params p = {exec, stream};
    return DRIVER(cuGraphLaunch_ptsz, &p, NULL, do_launch_ptsz);
}

CUresult cuGraphDestroy(CUgraph graph) {
    PLAIN(cuGraphDestroy);
    fakei_lock();
    free(graph->v);
    graph->v = NULL;
    graph->n = graph->cap = 0;
    fakei_unlock();
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    PLAIN(cuGraphExecDestroy);
    free(exec->graph.v);
    free(exec);
    return CUDA_SUCCESS;
}
