/** ncu/: evidence from ncu, the command-line profiler of NVIDIA Nsight Compute: finding it, the command that
 *  runs a program under it, and its reports, from the CSV that it prints to samples and a table of results.
 *  May include base/, samples/, backend/ (what a metric is), input/ and table/.
 *
 *  A program that runs under ncu shows its regions as NVTX ranges in a domain, and its steps, a run of a
 *  configuration each, in "<domain>.steps" (session/nvtx.h). That is all by which its kernels are told apart.
 */
#ifndef WMI_NCU_NCU_H
#define WMI_NCU_NCU_H

#include "base/text.h"
#include "input/axes.h"
#include "input/options.h"

/* ---- the program (program.c) ---- */

/** "2025.3.1.0", by `ncu --version`. WM_EUNSUPPORTED: it is no ncu; else as
 *  wmi_command_output. */
wm_status wmi_ncu_version(const char *ncu, char *out, size_t size, wm_error *err);

/* ---- metrics (metrics.c) ---- */

#define WMI_NCU_TIME "gpu__time_duration.sum"
/** What ncu is to collect for a list as --metrics takes it: kernel_time becomes gpu__time_duration.sum, a
 *  group its metrics; those of the processor and those made of records have no counterpart and are left out.
 *  WM_ENOTFOUND: no such group; WM_ENOMEM. */
wm_status wmi_ncu_metrics(const char *list, wmi_list *out, wm_error *err);
/** Add one, once. */
wm_status wmi_ncu_metric_add(wmi_list *out, const char *name);

/** A unit of ncu's in ours: "Kbyte" is 1000 B. */
typedef struct wmi_ncu_unit {
    double factor;
    const char *unit; /* static: as the cuda backend has it; "" for counts and ratios */
} wmi_ncu_unit;
wmi_ncu_unit wmi_ncu_unit_of(const char *text, size_t n);
/** A number of ncu's, with commas between thousands. false: it is none. */
bool wmi_ncu_number(const char *text, size_t n, double *out);

/* ---- pages (page.c) ---- */

/** A stretch of the page's text. */
typedef struct wmi_ncu_text {
    const char *s;
    size_t n;
} wmi_ncu_text;
bool wmi_ncu_text_is(wmi_ncu_text t, const char *s);

/** A page of a report as ncu's --csv prints it. Of each row cells[row * columns + column]. */
typedef struct wmi_ncu_page {
    size_t columns, rows;
    wmi_ncu_text *names; /* [columns] */
    wmi_ncu_text *units; /* [columns]; empty where the page has no line of units */
    wmi_ncu_text *cells;
    size_t cap;
    size_t ranges; /* the first of the two columns of NVTX ranges; SIZE_MAX: there are none */
} wmi_ncu_page;
/** The page borrows the text [n]. Text before the header is skipped. The two cells of NVTX ranges are no CSV:
 *  names stand in them as they are, with quotes and commas. So a row is taken apart from both ends, and the
 *  first of them gets all that is between; wmi_ncu_ranges_read understands it.
 *  WM_EEMPTY: there is no header; WM_EPARSE: a row lacks cells; WM_ENOMEM. */
wm_status wmi_ncu_page_parse(const char *text, size_t n, wmi_ncu_page *out, wm_error *err);
void wmi_ncu_page_fini(wmi_ncu_page *page);
/** SIZE_MAX: there is none. */
size_t wmi_ncu_page_find(const wmi_ncu_page *page, const char *name);
static inline wmi_ncu_text wmi_ncu_cell(const wmi_ncu_page *page, size_t row, size_t column) {
    return page->cells[row * page->columns + column];
}

/* ---- NVTX ranges (ranges.c) ---- */

/** A range with a start and an end that was open when the kernel was launched. */
typedef struct wmi_ncu_range {
    uint64_t id; /* rising with the starts */
    wmi_ncu_text domain, name;
} wmi_ncu_range;
typedef struct wmi_ncu_ranges {
    wmi_ncu_range *v; /* by id */
    size_t n, cap;
} wmi_ncu_ranges;
/** Read both cells, as they lie between the quotes at their ends; *out is filled anew. WM_EPARSE: they
 *  could not be understood; WM_ENOMEM. */
wm_status wmi_ncu_ranges_read(wmi_ncu_text cells, wmi_ncu_ranges *out);

/** What the range of a step says: "@CONFIG/RUN BENCHMARK KEY". A benchmark may hold blanks, so its end is
 *  where the rest is the key of a configuration. */
typedef struct wmi_ncu_step {
    uint64_t config;
    int32_t run;
    char *bench; /* owned */
    size_t count;
    wmi_axis *params; /* owned; an axis of one value each */
} wmi_ncu_step;
/** WM_EPARSE: it is no step; WM_ENOMEM. */
wm_status wmi_ncu_step_read(wmi_ncu_text text, wmi_ncu_step *out);
void wmi_ncu_step_fini(wmi_ncu_step *step);

/* ---- reports (table.c) ---- */

/** The results that a raw page holds. wanted: names of metrics, in order; n 0: those that the page has.
 *  domain: NULL for any. WM_EPARSE; WM_EEMPTY (no kernel); WM_ENOMEM. */
wm_status wmi_ncu_table(const wmi_ncu_page *raw, const wmi_list *wanted, const char *domain, wm_table **out,
                        wm_error *err);

#endif
