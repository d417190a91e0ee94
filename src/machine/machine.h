/** machine/: facts about this machine: processor, caches, frequency policy,
 *  load; and evicting its caches. Includes base/ only. */
#ifndef WMI_MACHINE_MACHINE_H
#define WMI_MACHINE_MACHINE_H

#include "base/error.h"

typedef struct wmi_cache {
    int level;
    char type[16]; /* Data, Instruction, Unified */
    int64_t size_bytes;
    int shared_by; /* logical processors that share it */
    int count;     /* how many of them the machine has */
    int usable;    /* how many of those belong to processors that this process may use */
} wmi_cache;

enum { WMI_CACHES_MAX = 16 };
typedef struct wmi_machine {
    char host[256];
    char cpu[256];     /* model name; "" unknown */
    char kernel[256];  /* "Linux 6.1.0 x86_64" */
    char os[128];      /* "Debian GNU/Linux 12 (bookworm)"; "" unknown */
    char governor[64]; /* "" where it cannot be read */
    int turbo;         /* 1 on, 0 off, -1 unknown */
    int smt;           /* 1 on, 0 off, -1 unknown */
    bool virtual_machine;
    int cpus_online, cpus_allowed; /* 0 unknown */
    double cpu_quota;              /* processors' worth of time that a control group grants; 0: no limit */
    double load1;                  /* one-minute load average; -1 unknown */
    double max_hz;                 /* highest frequency; 0 unknown */
    int64_t memory_bytes;
    int64_t memory_free_bytes; /* what can still be had, within control groups too; -1 unknown */
    wmi_cache caches[WMI_CACHES_MAX];
    int cache_count;
} wmi_machine;

/** Read it all from /proc, /sys, /etc/os-release and uname. Never fails: what cannot
 *  be read stays unknown. `root` is a prefix for the three, "" for the real ones. */
void wmi_machine_read(wmi_machine *out, const char *root);

/** States that spoil measurements, with the remedy: a governor that changes the
 *  frequency, other programs that keep the processors busy, a control group that
 *  grants less time than there are processors. At most `max` lines; returns how many. */
typedef struct wmi_machine_warning {
    char what[160], remedy[160];
} wmi_machine_warning;
int wmi_machine_warnings(const wmi_machine *m, wmi_machine_warning *out, int max);

/** Evicting the caches before a run: a buffer of twice the sum of the caches of the
 *  highest level that this process can use (64 MiB where they are unknown), written
 *  once so that its pages exist and then read in lines. */
typedef struct wmi_evictor wmi_evictor;
/** WM_ENOMEM when the buffer cannot be had, or a control group would end the process
 *  for its use. *bytes (may be NULL): its size. */
wm_status wmi_evictor_create(const wmi_machine *m, wmi_evictor **out, size_t *bytes, wm_error *err);
void wmi_evictor_run(wmi_evictor *e);
void wmi_evictor_destroy(wmi_evictor *e);

/** Pin the calling thread, and those it will create, to one logical processor.
 *  WM_EINVAL names the allowed ones. */
wm_status wmi_pin(int cpu, wm_error *err);

#endif
