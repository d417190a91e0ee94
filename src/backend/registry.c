#include "backend/backend.h"

const wmi_backend_ops *const wmi_backends[] = {
    &wmi_cpu_backend,
    NULL,
};
