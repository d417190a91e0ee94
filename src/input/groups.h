/** Metric groups: text files `NAME.metrics` that name the metrics to read together,
 *  formulas over them, and a line of prose. One `key: value` a line, '#' starts a
 *  comment line:
 *      text: How well the caches serve the loads
 *      metrics: cache-references, cache-misses
 *      derive: cache_miss_ratio = `cache-misses`/`cache-references`
 *      label: bound = compute:ipc_share, memory:cache_miss_ratio, latency below 60
 *  metrics, derive and label may repeat. A label judges by two metrics, shares of their
 *  peaks in percent, what bounds a region; of several the first counts whose metrics have
 *  values. Where machines differ, a metric may be a row of alternatives, `a | b`, of which
 *  the first that the machine knows is read. Formulas and labels call it by the first name,
 *  whichever it is. A row may end in `0`, which formulas take where the machine knows none of
 *  the others (a formula that then reads nothing else is no row of its own), or in `none`:
 *  then the formulas that read it are left out. Labels that read it are left out in both
 *  cases. */
#ifndef WMI_INPUT_GROUPS_H
#define WMI_INPUT_GROUPS_H

#include "input/options.h"

typedef struct wmi_bound {
    char *compute, *memory; /* names of metrics */
    double latency_below;   /* % */
} wmi_bound;

typedef struct wmi_group {
    char *name, *text;
    wmi_list metrics, derive; /* metrics: names, or rows of alternatives until they are chosen from */
    wmi_bound *bounds;        /* of the labels */
    size_t bound_count;
} wmi_group;

/** Parse the text of a group file; `where` is for messages. WM_EPARSE names the line. */
wm_status wmi_group_parse(const char *name, const char *where, const char *text, size_t n, wmi_group *out,
                          wm_error *err);
/** Is there a metric of that name? WM_OK; WM_ENOMEM ends the search; anything else is no. */
typedef wm_status (*wmi_group_knows)(void *user, const char *name);
/** Choose from the alternatives: `metrics` are plain names after, each once, and formulas
 *  and labels read them. A row none of which is known, and that does not say what then, is its first
 *  name. WM_ENOMEM: *g is to be freed. */
wm_status wmi_group_choose(wmi_group *g, wmi_group_knows knows, void *user, wm_error *err);
/** Find and parse the group `name`, in the folders (colon list) of the environment
 *  variable WARPMETER_METRICS, else ../share/warpmeter/metrics or metrics beside the
 *  library, else the folder it was installed to. WM_ENOTFOUND lists the groups there
 *  are. */
wm_status wmi_group_load(const char *name, wmi_group *out, wm_error *err);
/** Are all of WARPMETER_METRICS folders? WM_EINVAL names one that is none. */
wm_status wmi_group_folders_check(wm_error *err);
/** The names of all groups that can be found, sorted, each once. */
wm_status wmi_group_names(wmi_list *out, wm_error *err);
void wmi_group_fini(wmi_group *g);

#endif
