/** Names to small numbers, process-wide and for ever. */
#ifndef WMI_BASE_INTERN_H
#define WMI_BASE_INTERN_H

#include "base/error.h"

/** Id of a name, 1 and up; 0 when out of memory. Lock-free when the name is
 *  known already. Any thread. */
uint32_t wmi_intern(const char *name);
/** The name of an id that wmi_intern returned, "" for any other number. Never
 *  freed. Any thread. */
const char *wmi_intern_name(uint32_t id);

#endif
