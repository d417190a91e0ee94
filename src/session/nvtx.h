/** Regions and steps as ranges of NVTX, NVIDIA's interface to tools that watch a process (Nsight Systems,
 *  Nsight Compute). Regions are in the domain that a session names, steps in a second one, "<domain>.steps".
 *  Ranges have a start and an end, so they may cross and count for all threads. Where the build had no
 *  nvtx3/nvToolsExt.h, or no tool listens, there is no wmi_nvtx, and nothing is shown. */
#ifndef WMI_SESSION_NVTX_H
#define WMI_SESSION_NVTX_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wmi_nvtx wmi_nvtx;

/** Was NVTX's header there when this was built? */
bool wmi_nvtx_built(void);
/** The pair of domains of that name, made when first asked for and kept for ever, since a range of another
 *  thread may end late. NULL: nobody listens, or memory ran out. Any thread. */
const wmi_nvtx *wmi_nvtx_of(const char *domain);

#define WMI_NVTX_NONE UINT64_MAX /* no range */
/** Any thread. */
uint64_t wmi_nvtx_region_begin(const wmi_nvtx *nvtx, const char *name);
void wmi_nvtx_region_end(const wmi_nvtx *nvtx, uint64_t range); /* WMI_NVTX_NONE is fine */
uint64_t wmi_nvtx_step_begin(const wmi_nvtx *nvtx, const char *text);
void wmi_nvtx_step_end(const wmi_nvtx *nvtx, uint64_t range);

#endif
