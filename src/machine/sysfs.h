/** Reading the small files of /proc and /sys. Paths are printf-formatted and come
 *  after `root`. No allocation. */
#ifndef WMI_MACHINE_SYSFS_H
#define WMI_MACHINE_SYSFS_H

#include "base/error.h"

/** The file's bytes, as many as fit, NUL-terminated. False, and "" in out, when it
 *  cannot be read. */
bool wmi_sys_text(const char *root, char *out, size_t cap, const char *fmt, ...) WM_PRINTF(4, 5);
/** Its first line, without blanks at the end; false also when that is empty. */
bool wmi_sys_line(const char *root, char *out, size_t cap, const char *fmt, ...) WM_PRINTF(4, 5);
/** Its first line as a whole number. */
bool wmi_sys_i64(const char *root, int64_t *out, const char *fmt, ...) WM_PRINTF(3, 4);

/** Open one that is read again and again: a descriptor, or -1 and errno. */
int wmi_sys_open(const char *root, const char *fmt, ...) WM_PRINTF(2, 3);
/** The whole number that such a file holds now. False: errno, which is 0 where it holds something else. */
bool wmi_sys_reread(int fd, int64_t *out);

/** The value of the first line of text that begins with `key` and, after any blanks,
 *  `separator` (':', '=' or ' '); without the blanks around it. False when there is
 *  no such line. */
bool wmi_sys_field(const char *text, const char *key, char separator, char *out, size_t cap);

/** Lists of processors, such as 0-3,8,10-11. */
int wmi_cpulist_count(const char *list);
/** Do they have a processor in common? */
bool wmi_cpulist_meet(const char *a, const char *b);
/** Step through the ranges: *at starts as the list. False at the end, and at what
 *  is no list. */
bool wmi_cpulist_next(const char **at, int *first, int *last);

#endif
