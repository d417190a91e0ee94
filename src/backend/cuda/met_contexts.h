/** Contexts that launches were made in: a list that only grows while it is in use. */
#ifndef WMI_BACKEND_CUDA_MET_CONTEXTS_H
#define WMI_BACKEND_CUDA_MET_CONTEXTS_H

#include "backend/cuda/device.h"

/** Number of a context that is current to the calling thread, met or not. false: out of memory,
 *  or its device is not known. */
bool wmi_met_context(CUcontext handle, uint32_t id, uint16_t *index);
/** By its number; it never moves. Any thread. */
const wmi_cuda_context *wmi_met_context_at(size_t index);
size_t wmi_met_contexts(void);
/** The program destroys it: it must not be used any more. */
void wmi_met_context_gone(CUcontext handle);
/** Whether it was. */
bool wmi_met_context_is_gone(size_t index);
/** Forget all; nobody may be using one. */
void wmi_met_contexts_clear(void);

#endif
