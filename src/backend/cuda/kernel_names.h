/** Names of kernels: as in the binary, demangled (through libstdc++'s demangler, opened at
 *  run time; without it they stay as they are), and the function's own name without
 *  template arguments, parameters and namespaces. */
#ifndef WMI_BACKEND_CUDA_KERNEL_NAMES_H
#define WMI_BACKEND_CUDA_KERNEL_NAMES_H

#include "base/error.h"

typedef struct wmi_kernel_name {
    uint32_t binary, full, plain; /* interned */
} wmi_kernel_name;

/** Look up, or make, the names for a binary one. Any thread; the first look-up of a name
 *  allocates, later ones of the same pointer are one comparison. All zero when out of memory. */
wmi_kernel_name wmi_kernel_name_of(const char *binary);
/** The same without the cache of pointers: pure, for tests. `full`: already demangled. The
 *  caller frees; NULL when out of memory. */
char *wmi_kernel_plain(const char *full);

#endif
