#include "machine/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static int open_file(const char *root, const char *fmt, va_list args) {
    char path[PATH_MAX];
    int a = snprintf(path, sizeof path, "%s", root);
    errno = ENAMETOOLONG;
    if (a < 0 || (size_t)a >= sizeof path) return -1;
    int b = vsnprintf(path + a, sizeof path - (size_t)a, fmt, args);
    if (b < 0 || (size_t)b >= sizeof path - (size_t)a) return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Such files may give less than asked for in one read, though more is to come. */
static bool read_text(const char *root, char *out, size_t cap, const char *fmt, va_list args) {
    out[0] = '\0';
    int fd = open_file(root, fmt, args);
    if (fd < 0) return false;
    size_t n = 0;
    ssize_t got = 1;
    while (n < cap - 1 && (got = read(fd, out + n, cap - 1 - n)) > 0) n += (size_t)got;
    close(fd);
    out[got < 0 ? 0 : n] = '\0';
    return got >= 0;
}

static bool read_line(const char *root, char *out, size_t cap, const char *fmt, va_list args) {
    if (!read_text(root, out, cap, fmt, args)) return false;
    size_t n = strcspn(out, "\n");
    while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == '\t')) n--;
    out[n] = '\0';
    return n > 0;
}

bool wmi_sys_text(const char *root, char *out, size_t cap, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    bool done = read_text(root, out, cap, fmt, args);
    va_end(args);
    return done;
}

bool wmi_sys_line(const char *root, char *out, size_t cap, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    bool done = read_line(root, out, cap, fmt, args);
    va_end(args);
    return done;
}

bool wmi_sys_i64(const char *root, int64_t *out, const char *fmt, ...) {
    char line[64];
    va_list args;
    va_start(args, fmt);
    bool done = read_line(root, line, sizeof line, fmt, args);
    va_end(args);
    return done && wmi_i64_parse(line, strlen(line), out);
}

int wmi_sys_open(const char *root, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int fd = open_file(root, fmt, args);
    va_end(args);
    return fd;
}

bool wmi_sys_reread(int fd, int64_t *out) {
    char text[64];
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n < 0) return false;
    text[n] = '\0';
    errno = 0;
    return wmi_i64_parse(text, strcspn(text, "\n"), out);
}

bool wmi_sys_field(const char *text, const char *key, char separator, char *out, size_t cap) {
    size_t key_length = strlen(key);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, key, key_length) != 0) continue;
        const char *p = line + key_length;
        if (separator != ' ') p += strspn(p, " \t");
        if (*p != separator) continue;
        const char *value = p + 1 + strspn(p + 1, " \t");
        size_t n = strcspn(value, "\n");
        while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t')) n--;
        if (n >= cap) n = cap - 1;
        memcpy(out, value, n);
        out[n] = '\0';
        return true;
    }
    return false;
}

/* ---- lists of processors ---- */

enum { CPU_MAX = 65535 };

static bool take_number(const char **at, int *out) {
    int x = 0;
    const char *p = *at;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        x = 10 * x + (*p - '0');
        if (x > CPU_MAX) return false;
    }
    *at = p;
    *out = x;
    return true;
}

bool wmi_cpulist_next(const char **at, int *first, int *last) {
    if (!take_number(at, first)) return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!take_number(at, last) || *last < *first) return false;
    }
    if (**at == ',') ++*at;
    return true;
}

int wmi_cpulist_count(const char *list) {
    int count = 0, first, last;
    while (wmi_cpulist_next(&list, &first, &last) && count < INT_MAX - CPU_MAX) count += last - first + 1;
    return count;
}

bool wmi_cpulist_meet(const char *a, const char *b) {
    int a_first, a_last, b_first, b_last;
    while (wmi_cpulist_next(&a, &a_first, &a_last))
        for (const char *rest = b; wmi_cpulist_next(&rest, &b_first, &b_last);)
            if (a_first <= b_last && b_first <= a_last) return true;
    return false;
}
