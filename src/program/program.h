/** program/: what a benchmark program or the tool asks of the library as a whole: the
 *  registry of benchmarks, the command line, progress, output, doctor. May include
 *  everything; nothing includes it. */
#ifndef WMI_PROGRAM_PROGRAM_H
#define WMI_PROGRAM_PROGRAM_H

#include "sweep/sweep.h"

enum { WMI_EXIT_OK = 0, WMI_EXIT_FAILED = 1, WMI_EXIT_USAGE = 2, WMI_EXIT_NOTHING = 3, WMI_EXIT_OUTPUT = 4 };

/* ---- the registry (registry.c) ---- */

size_t wmi_benchmark_count(void);
const wm_benchmark *wmi_benchmark_at(size_t i);
/** The benchmark of that name, or NULL. */
const wm_benchmark *wmi_benchmark_find(const char *name);
/** The first failure of a registration before main; WM_OK when there was none. */
wm_status wmi_benchmark_failure(wm_error *err);

/* ---- the terminal (terminal.c) ---- */

/** How to write text to `stream`: colour and width only for a terminal, colour never
 *  under NO_COLOR or TERM=dumb (unless `color` is 1, always; 2 is never), Unicode
 *  where the locale's character set is UTF-8. */
wm_write_opts wmi_terminal_opts(FILE *stream, int color);
bool wmi_terminal_is(FILE *stream);

/* ---- where output goes (outputs.c) ---- */

/** A standard stream that was closed would lend its number to the next file that is
 *  opened, which then took in what is meant for the stream. Keep the numbers. */
void wmi_streams_keep(void);
/** Before anything runs: is the format known, can every --out, --samples and --kernels be
 *  written, and are they, what lies beside them and the standard streams different files? */
wm_status wmi_outputs_check(const wmi_options *o, wm_error *err);

/* ---- signals (interrupt.c) ---- */

/** From now on SIGINT, SIGTERM and SIGHUP, as far as they would end the program, only say that it is to end;
 * a second one does end it. */
void wmi_interrupt_catch(void);
/** Until now. */
void wmi_interrupt_leave(void);
/** The signal that came; 0: none. */
int wmi_interrupted(void);

/* ---- progress (progress.c) ---- */

/** On a terminal one line that is drawn again, elsewhere whole lines now and then. */
typedef struct wmi_progress {
    FILE *stream; /* NULL: silent */
    bool terminal;
    int64_t begin_ns, shown_ns;
    int64_t done;
    size_t width; /* of the line that is drawn */
} wmi_progress;
void wmi_progress_begin(wmi_progress *p, FILE *stream);
/** A step was made; true when it is time to show something. */
bool wmi_progress_due(wmi_progress *p);
/** How long a step took until now, on average. */
double wmi_progress_step_ns(const wmi_progress *p);
/** Show the step; `left_ns`: how long those still to come take at most. */
void wmi_progress_show(wmi_progress *p, const wm_step *step, double left_ns);
/** The sweep waits for a device to cool: show that, when it is time to. */
void wmi_progress_wait(wmi_progress *p, const wm_wait *wait);
/** Take the line away, so that something else can be written. */
void wmi_progress_clear(wmi_progress *p);

/* ---- raw samples that are written as they come (sample_file.c) ---- */

typedef struct wmi_sample_file wmi_sample_file;
/** Open `path` (a .csv) for the configurations that the session holds by now, and write
 *  the header, and the context beside it. The session outlives the file. WM_EINVAL for another
 *  suffix; WM_EIO, WM_EPERM, WM_EBUSY. */
wm_status wmi_sample_file_open(const char *path, const wm_session *session, wmi_sample_file **out,
                               wm_error *err);
/** Append what a configuration (its number in the samples) has gained since the last
 *  call for it. */
wm_status wmi_sample_file_add(wmi_sample_file *f, const wmi_samples *samples, uint32_t config, wm_error *err);
/** Writes the context again, which has more in it by now. NULL is fine. */
wm_status wmi_sample_file_close(wmi_sample_file *f, wm_error *err);

/* ---- chips (metrics_plan.c) ---- */

/** WM_EUNSUPPORTED: no backend of this build can be asked about chips. */
wm_status wmi_no_chips(wm_error *err);

/* ---- under ncu (under_ncu.c) ---- */

/** Is the program to plan, and then to run under ncu? */
bool wmi_under_ncu_asked(void);
/** Have ncu take the place of this process, with what the sweeps would measure. Returns only when it could
 * not: WM_ENOTFOUND (no ncu), WM_EIO, WM_EINVAL, WM_ENOMEM. */
wm_status wmi_under_ncu(wm_sweep *const *sweeps, size_t count, int argc, char **argv, wm_error *err);

/* ---- listings (listing.c); to `out` ---- */

void wmi_list_benchmarks(wmi_buf *out);
wm_status wmi_list_axes(wmi_buf *out, wm_error *err);
void wmi_help(const char *program, wmi_buf *out);

#endif
