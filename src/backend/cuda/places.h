/** Where NVIDIA's libraries lie on a system: pip packages beside the python3 of this
 *  process or of $PATH ($VIRTUAL_ENV, site-packages/nvidia/…), the toolkit ($CUDA_HOME,
 *  $CUDA_PATH, /usr/local/cuda, its extras/CUPTI). */
#ifndef WMI_BACKEND_CUDA_PLACES_H
#define WMI_BACKEND_CUDA_PLACES_H

#include "base/error.h"
#include "base/text.h"

/** Paths of existing files of that name ("libcupti.so.13"; a trailing '*' matches any
 *  suffix, newest first), in the order in which to try them, in an array that ends with
 *  NULL and that the caller frees in one piece. NULL when out of memory. */
char **wmi_cuda_places(const char *name);

#endif
