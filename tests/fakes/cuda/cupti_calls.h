/** What the files of the fake libcupti share. FAKE_CUPTI_VERSION: that of the library. */
#ifndef FAKE_CUPTI_CALLS_H
#define FAKE_CUPTI_CALLS_H

#include "fake_state.h"

/** Count the call; return what a test wants it to return. */
#define ENTER(function)                                                                                      \
    do {                                                                                                     \
        CUptiResult failure = fakei_enter_cupti(#function);                                                  \
        if (failure != CUPTI_SUCCESS) return failure;                                                        \
    } while (0)
/** CUPTI_ERROR_INVALID_CHIP_NAME, which headers of 12.6 do not have. */
#define INVALID_CHIP_NAME ((CUptiResult)46)
/** Did the caller say how large its parameters are, and leave pPriv alone? */
#define SIZED(params, type) ((params) && (params)->structSize == type##_STRUCT_SIZE && !(params)->pPriv)

#endif
