/** What the codes of the driver and of CUPTI mean, apart from what cuda.h offers. */
#ifndef WMI_BACKEND_CUDA_CODES_H
#define WMI_BACKEND_CUDA_CODES_H

#include "base/error.h"

/** A code that is known by heart. All texts are static, and begin with a small letter. */
typedef struct wmi_cuda_code {
    bool cupti;
    int code;
    wm_status status;
    wm_reason reason;
    const char *name;   /* the vendor's */
    const char *why;    /* what it usually means */
    const char *remedy; /* "": none is known */
} wmi_cuda_code;

/** Codes by which CUPTI refuses a device, by number: older headers do not name them all. */
enum {
    WMI_CUPTI_VGPU = 33,
    WMI_CUPTI_VGPU_OFF = 40,
    WMI_CUPTI_CONFIDENTIAL = 41,
    WMI_CUPTI_CMP = 42,
    WMI_CUPTI_MIG = 43,
    WMI_CUPTI_SLI = 44,
    WMI_CUPTI_WSL = 45
};

/** NULL for a code that is not known by heart. */
const wmi_cuda_code *wmi_cuda_code_find(bool cupti, int code);

/** How counters are allowed to everybody; for codes and for doctor. */
#define WMI_CUDA_ALLOW_COUNTERS                                                                              \
    "as root put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file of /etc/modprobe.d and " \
    "load the driver anew, or run with CAP_SYS_ADMIN"

#endif
