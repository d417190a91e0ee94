/** The driver calls that launch work or begin and end a stream's capture, by CUPTI's callback
 *  ids, and what their parameters say. */
#ifndef WMI_BACKEND_CUDA_LAUNCH_FORMS_H
#define WMI_BACKEND_CUDA_LAUNCH_FORMS_H

#include "backend/cuda/launches.h"

typedef enum wmi_form_kind {
    WMI_FORM_NONE = 0, /* not one of these calls */
    WMI_FORM_KERNEL,
    WMI_FORM_GRAPH,
    WMI_FORM_COPY,
    WMI_FORM_SET,
    WMI_FORM_BEGIN_CAPTURE,
    WMI_FORM_END_CAPTURE
} wmi_form_kind;

typedef struct wmi_launch_form {
    uint8_t kind;       /* wmi_form_kind */
    uint8_t stream;     /* how to find the stream */
    uint8_t shape;      /* how to find grid and block */
    uint8_t per_thread; /* stream 0 is the thread's own */
} wmi_launch_form;

/* Ids are below this one. */
#define WMI_LAUNCH_FORMS 880
/* An older CUPTI need not know ids from this one on. */
#define WMI_LAUNCH_FORMS_ALWAYS 763

/** NULL: none of these calls. */
const wmi_launch_form *wmi_launch_form_of(uint32_t id);

/** Whether the call works on a stream that may be captured; the stream. */
bool wmi_launch_form_stream(const wmi_launch_form *form, const void *params, CUstream *stream);
/** Fill in stream, grid, block and shared; 0 where the call does not say. */
void wmi_launch_form_shape(const wmi_launch_form *form, const void *params, wmi_shape *shape);

#endif
