/** The processors' sensors, from files of /sys: the clock of one processor, the energy that all packages
 *  take, and whether heat held that processor's clock down. Files are opened once and read again and again;
 *  what is not there is looked for once. */
#ifndef WMI_BACKEND_CPU_SENSORS_H
#define WMI_BACKEND_CPU_SENSORS_H

#include "backend/backend.h"

#define WMI_CPU_SENSORS                                                                                      \
    (WMI_SENSOR_BIT(CPU_CLOCK) | WMI_SENSOR_BIT(CPU_ENERGY) | WMI_SENSOR_BIT(CPU_THROTTLE))

typedef struct wmi_cpu_sensors wmi_cpu_sensors;
/** `root` is a prefix for /sys, "" for the real one; borrowed. NULL when out of memory. */
wmi_cpu_sensors *wmi_cpu_sensors_create(const char *root);
/** NULL is fine. */
void wmi_cpu_sensors_destroy(wmi_cpu_sensors *s);
/** As `sense` of wmi_backend_ops. Throttling is that of the processor `cpu` since the last reading; when
 *  another was given then, of that one until now. So the first reading tells of none. */
void wmi_cpu_sensors_read(wmi_cpu_sensors *s, uint32_t which, int cpu, wmi_sensed *out);
/** Findings for doctor. */
void wmi_cpu_sensors_probe(const char *root, wmi_probe *out);

#endif
