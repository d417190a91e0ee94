/** Where NVIDIA's libraries lie on a system: pip packages (site-packages/nvidia/…) of the
 *  python of this process, of $VIRTUAL_ENV, $CONDA_PREFIX, the user's own, those of the
 *  python3 on $PATH; then the toolkit ($CUDA_HOME, $CUDA_PATH, $CONDA_PREFIX,
 *  /usr/local/cuda, its extras/CUPTI, other versions beside it). No process is started. */
#ifndef WMI_BACKEND_CUDA_PLACES_H
#define WMI_BACKEND_CUDA_PLACES_H

#include "base/error.h"
#include "base/text.h"

/** Paths of existing files of that name ("libcupti.so.13"; a trailing '*' matches any
 *  suffix, newest first), in the order in which to try them, in an array that ends with
 *  NULL and that the caller frees in one piece. NULL when out of memory. */
char **wmi_cuda_places(const char *name);

/** The same on a system of a test's own: `root` comes before every path, and `variable` answers
 *  as getenv does. */
typedef struct wmi_places_system {
    const char *root;
    const char *(*variable)(const char *name);
} wmi_places_system;
char **wmi_cuda_places_on(const wmi_places_system *system, const char *name);

#endif
