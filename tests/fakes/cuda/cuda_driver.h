/** What the files of the fake libcuda share. */
#ifndef FAKE_CUDA_DRIVER_H
#define FAKE_CUDA_DRIVER_H

#include "fake_state.h"

/** The context that is current in this thread, or NULL. */
CUcontext fakecuda_current(void);
/** The stream that a handle means; NULL: there is no context. */
CUstream fakecuda_stream(CUstream handle, bool per_thread);
/** May this thread make a call that captures forbid? If not, it has spoilt them. */
bool fakecuda_unsafe_allowed(void);

/** A call that callbacks see. params: a pointer to a FUNCTION_params; body: does it, and is handed
 *  that pointer. */
#define DRIVER(function, params, symbol, body)                                                               \
    fakei_driver(                                                                                            \
        &(fakei_call){#function, CUPTI_DRIVER_TRACE_CBID_##function, params, symbol, fakecuda_current()},    \
        body)
/** A call that they do not see, in a function that returns CUresult. */
#define PLAIN(function)                                                                                      \
    do {                                                                                                     \
        CUresult failure = (CUresult)fakei_enter(#function);                                                 \
        if (failure != CUDA_SUCCESS) return failure;                                                         \
    } while (0)

#endif
