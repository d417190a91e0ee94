/** Threads that call a function together. */
#ifndef WMI_SWEEP_POOL_H
#define WMI_SWEEP_POOL_H

#include "base/error.h"

typedef struct wmi_pool wmi_pool;

/** Start count - 1 threads (the caller is the first). WM_EUNSUPPORTED when the system
 *  gives no more threads; WM_ENOMEM. */
wm_status wmi_pool_create(int count, wmi_pool **out, wm_error *err);
void wmi_pool_destroy(wmi_pool *pool);
/** Call fn(user, i) for i in 0..count-1, each in its thread, all released together;
 *  returns when all have returned. */
void wmi_pool_run(wmi_pool *pool, void (*fn)(void *user, int thread), void *user);

#endif
