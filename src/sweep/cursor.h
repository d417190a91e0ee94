/** The loop nest of a sweep: which pass, configuration and run come next. */
#ifndef WMI_SWEEP_CURSOR_H
#define WMI_SWEEP_CURSOR_H

#include "base/error.h"

typedef enum wmi_dim { WMI_DIM_PASS = 0, WMI_DIM_CONFIG, WMI_DIM_RUN } wmi_dim;

typedef struct wmi_cursor {
    wmi_dim nest[3]; /* outermost first */
    int64_t at[3];   /* by wmi_dim; the configuration's place in `order` */
    size_t passes, configs;
    size_t first_pass, end_pass; /* those of the nest at hand */
    int64_t warmup;
    uint32_t *order; /* [configs] which configuration is at a place */
    bool shuffle;    /* a new order for every round of runs */
    uint64_t random;
    bool started, over;
    /** Does this configuration need this run in this pass? False for ever once false
     *  for a run of the same pass. */
    bool (*wants)(void *user, uint32_t config, int32_t pass, int64_t run);
    void *user;
} wmi_cursor;

/** Set up the nest: run outside, configuration inside, when configurations take
 *  turns; passes innermost, unless `stacked` asks for them outermost, or the runs of
 *  a pass stay together (`pass_per_run` false). WM_ENOMEM. */
wm_status wmi_cursor_init(wmi_cursor *c, size_t passes, size_t configs, int64_t warmup, bool take_turns,
                          bool stacked, bool pass_per_run);
void wmi_cursor_fini(wmi_cursor *c);
/** Passes from this one on do not take turns: they come after all others, configuration by
 *  configuration and then pass by pass. */
void wmi_cursor_late(wmi_cursor *c, size_t first_late);
/** Shuffle before every round, from this seed. */
void wmi_cursor_shuffle(wmi_cursor *c, uint64_t seed);
/** Move to the next step; false when there is none. */
bool wmi_cursor_next(wmi_cursor *c);
static inline uint32_t wmi_cursor_config(const wmi_cursor *c) { return c->order[c->at[WMI_DIM_CONFIG]]; }

#endif
