/** session/: the session, threads and their rings, entries, and what a run's marks
 *  add up to. Includes base/, stats/, samples/, backend/ and table/ (for the tables a session gives). */
#ifndef WMI_SESSION_SESSION_H
#define WMI_SESSION_SESSION_H

#include <pthread.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "machine/machine.h"
#include "table/reduce.h"

/** A mark in a thread's ring. */
typedef struct wmi_ring_mark {
    uint64_t ticks;
    uint32_t name; /* interned; the top bit set for an end */
    uint32_t seq;  /* sequence of the entry in its thread; for a batch end its count is in the next mark */
} wmi_ring_mark;

#endif
