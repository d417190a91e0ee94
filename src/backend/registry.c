#include "backend/backend.h"

const wmi_backend_ops *const wmi_backends[] = {
    &wmi_cpu_backend,
#ifdef WM_HAVE_CUDA
    &wmi_cuda_backend,
#endif
    NULL,
};

static void probe_left_out(wmi_probe *out) {
#ifdef WM_HAVE_CUDA
    (void)out;
#else
    wmi_probe_add(out, "cuda", "backend", WMI_STATE_ABSENT, "built without CUDA's headers",
                  "build warpmeter where the CUDA toolkit is installed, or python3's nvidia-cuda-cupti, "
                  "nvidia-cuda-runtime and nvidia-cuda-crt, all of one version such as 13.0",
                  "%s", "");
#endif
}

const char *wmi_backends_left_out(void) {
#ifdef WM_HAVE_CUDA
    return "";
#else
    return ", and none of a GPU, since this build was made without CUDA's headers";
#endif
}

void wmi_backends_probe(wmi_probe *out) {
    for (const wmi_backend_ops *const *b = wmi_backends; *b; b++) (*b)->probe(out);
    probe_left_out(out);
}
