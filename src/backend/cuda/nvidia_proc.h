/** What /proc tells of NVIDIA's driver and of this process's rights. `root` is a prefix for a test,
 *  "" for the real one. */
#ifndef WMI_BACKEND_CUDA_NVIDIA_PROC_H
#define WMI_BACKEND_CUDA_NVIDIA_PROC_H

#include "base/error.h"

/** Version of the kernel's driver, such as "580.159.04"; false, and "", where there is none. */
bool wmi_nvidia_version(const char *root, char *out, size_t cap);

/** Does this process have CAP_SYS_ADMIN? */
bool wmi_nvidia_is_admin(const char *root);

typedef enum wmi_counter_rights {
    WMI_RIGHTS_UNKNOWN = 0, /* the driver does not tell */
    WMI_RIGHTS_ALL,         /* everybody may count */
    WMI_RIGHTS_ADMIN,       /* administrators alone, and this process is one (CAP_SYS_ADMIN) */
    WMI_RIGHTS_NONE         /* administrators alone, and it is none */
} wmi_counter_rights;
wmi_counter_rights wmi_nvidia_counter_rights(const char *root);

#endif
