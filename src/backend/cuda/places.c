#include "backend/cuda/places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "machine/sysfs.h"

typedef struct file_id {
    dev_t device;
    ino_t inode;
} file_id;

/* Folders are whole paths, the system's root included. */
typedef struct hunt {
    const wmi_places_system *system;
    const char *name;
    wmi_buf visited; /* patterns that were tried, each with a NUL after it */
    wmi_buf found;   /* paths, likewise */
    file_id *ids;    /* of the files found: lib64 is often another name of lib */
    size_t count, cap;
    bool failed; /* memory ran out */
} hunt;

/* ---- what was found ---- */

static bool keep_id(hunt *h, file_id id) {
    if (h->count == h->cap) {
        size_t cap = h->cap ? 2 * h->cap : 8;
        file_id *ids = realloc(h->ids, cap * sizeof *ids);
        if (!ids) return false;
        h->ids = ids;
        h->cap = cap;
    }
    h->ids[h->count++] = id;
    return true;
}

static void add_file(hunt *h, const char *path) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return;
    for (size_t i = 0; i < h->count; i++)
        if (h->ids[i].device == st.st_dev && h->ids[i].inode == st.st_ino) return;
    if (!keep_id(h, (file_id){st.st_dev, st.st_ino})) h->failed = true;
    wmi_buf_add(&h->found, path, strlen(path) + 1);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* By the version in the file's name, then by those in its folders' names. */
static int newest_first(const void *a, const void *b) {
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = strverscmp(last_part(right), last_part(left));
    return order ? order : strverscmp(right, left);
}

static bool visited(hunt *h, const char *pattern) {
    for (size_t at = 0; at < h->visited.len; at += strlen(h->visited.data + at) + 1)
        if (strcmp(h->visited.data + at, pattern) == 0) return true;
    wmi_buf_add(&h->visited, pattern, strlen(pattern) + 1);
    return false;
}

static void add_matches(hunt *h, const char *pattern) {
    glob_t matches;
    int status = glob(pattern, GLOB_NOSORT, NULL, &matches);
    if (status == GLOB_NOSPACE) h->failed = true;
    if (status == 0) {
        qsort(matches.gl_pathv, matches.gl_pathc, sizeof *matches.gl_pathv, newest_first);
        for (size_t i = 0; i < matches.gl_pathc; i++) add_file(h, matches.gl_pathv[i]);
    }
    globfree(&matches);
}

/* The first n bytes of `folder` are a name; `pattern` is one of folders in it. */
static void look_in(hunt *h, const char *folder, size_t n, const char *pattern) {
    wmi_buf whole = WMI_BUF_INIT;
    for (size_t i = 0; i < n; i++) {
        if (strchr("*?[\\", folder[i])) wmi_buf_char(&whole, '\\');
        wmi_buf_char(&whole, folder[i]);
    }
    wmi_buf_printf(&whole, "%s/%s", pattern, h->name);
    if (whole.failed)
        h->failed = true;
    else if (!visited(h, whole.data))
        add_matches(h, whole.data);
    wmi_buf_free(&whole);
}

/* ---- packages of Python ---- */

/* Whatever folder of packages a prefix has: lib/python3.11/site-packages, Debian's
 * lib/python3/dist-packages and local/lib/python3.11/dist-packages. */
static void look_in_prefix(hunt *h, const char *prefix, size_t n) {
    look_in(h, prefix, n, "/lib*/python3*/*-packages/nvidia/cu*/lib");
    look_in(h, prefix, n, "/local/lib/python3*/*-packages/nvidia/cu*/lib");
}

/* Length of the folder that holds the first n bytes' last part: 4 for "/usr/bin". */
static size_t parent(const char *path, size_t n) {
    while (n > 0 && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    return n;
}

/* The prefix of PREFIX/bin/python3. */
static void look_beside_python(hunt *h, const char *python) {
    look_in_prefix(h, python, parent(python, parent(python, strlen(python))));
}

/* The prefix of PREFIX/lib/libpython3.11.so.1.0, or of a libpython in a folder of lib. */
static void look_beside_library(hunt *h, const char *library) {
    for (size_t n = parent(library, strlen(library)); n > 1; n = parent(library, n)) {
        const char *part = library + parent(library, n);
        if (strncmp(part, "/lib/", 5) != 0 && strncmp(part, "/lib64/", 7) != 0) continue;
        look_in_prefix(h, library, (size_t)(part - library));
        return;
    }
}

static void look_at_mapping(hunt *h, const char *path) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *at = strstr(path, folders[i]);
        if (!at) continue;
        look_in(h, path, (size_t)(at - path) + strlen(folders[i]) - 1, "/nvidia/cu*/lib");
        return;
    }
    const char *file = last_part(path);
    if (strncmp(file, "libpython3", 10) == 0) look_beside_library(h, path);
    if (strncmp(file, "python", 6) == 0) look_beside_python(h, path);
}

/* A line ends with the path of the file that is mapped, and has no other slash. */
static void look_at_mappings(hunt *h) {
    wmi_buf path = WMI_BUF_INIT;
    char *text = NULL;
    size_t n = 0;
    wmi_buf_printf(&path, "%s/proc/self/maps", h->system->root);
    wm_status status = path.failed ? WM_ENOMEM : wmi_file_read(path.data, &text, &n, NULL);
    if (status == WM_ENOMEM) h->failed = true;
    char *rest = NULL;
    for (char *line = status == WM_OK ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *file = strchr(line, '/');
        if (!file) continue;
        path.len = 0;
        wmi_buf_printf(&path, "%s%s", h->system->root, file);
        if (!path.failed) look_at_mapping(h, path.data);
    }
    h->failed |= path.failed;
    free(text);
    wmi_buf_free(&path);
}

/* The program's name as it was called: in a virtual environment python is a link, and the file that is
 * mapped lies elsewhere. */
static void look_at_program(hunt *h) {
    char program[PATH_MAX], path[2 * PATH_MAX];
    if (!wmi_sys_text(h->system->root, program, sizeof program, "/proc/self/cmdline")) return;
    if (!strchr(program, '/') || strncmp(last_part(program), "python", 6) != 0) return;
    snprintf(path, sizeof path, "%s%s", h->system->root, program);
    look_beside_python(h, path);
}

/* Is there any Python below the prefix of PREFIX/bin/python3? Where pyenv answers for it there is not. */
static bool has_packages(hunt *h, const char *python) {
    wmi_buf pattern = WMI_BUF_INIT;
    glob_t matches;
    wmi_buf_add(&pattern, python, parent(python, parent(python, strlen(python))));
    wmi_buf_str(&pattern, "/lib*/python3*");
    bool found = !pattern.failed && glob(pattern.data, GLOB_NOSORT, NULL, &matches) == 0;
    if (found) globfree(&matches);
    h->failed |= pattern.failed;
    wmi_buf_free(&pattern);
    return found;
}

static bool look_at_python_in(hunt *h, const char *folder, size_t n) {
    char python[2 * PATH_MAX];
    if (n == 0 || n >= PATH_MAX) return false;
    snprintf(python, sizeof python, "%s%.*s/python3", h->system->root, (int)n, folder);
    char *resolved = realpath(python, NULL);
    bool found = resolved && (has_packages(h, python) || has_packages(h, resolved));
    if (found) {
        look_beside_python(h, python);
        look_beside_python(h, resolved);
    }
    free(resolved);
    return found;
}

static void look_at_path(hunt *h) {
    const char *path = h->system->variable("PATH");
    for (const char *at = path; at && *at;) {
        size_t n = strcspn(at, ":");
        if (look_at_python_in(h, at, n)) return;
        at += n + (at[n] == ':');
    }
}

/* ---- folders that variables name ---- */

typedef void look_fn(hunt *h, const char *folder, size_t n);

static void look_in_toolkit(hunt *h, const char *toolkit, size_t n) {
    static const char *const folders[] = {"/lib64", "/lib", "/extras/CUPTI/lib64", "/targets/*/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) look_in(h, toolkit, n, folders[i]);
}

/* In `suffix` of the folder that the variable holds. */
static void look_in_variable(hunt *h, const char *variable, const char *suffix, look_fn *look) {
    const char *value = h->system->variable(variable);
    wmi_buf folder = WMI_BUF_INIT;
    if (!value || !*value) return;
    wmi_buf_printf(&folder, "%s%s%s", h->system->root, value, suffix);
    if (folder.failed)
        h->failed = true;
    else
        look(h, folder.data, folder.len);
    wmi_buf_free(&folder);
}

static void look_in_toolkits(hunt *h) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        look_in_variable(h, variables[i], "", look_in_toolkit);
    wmi_buf folder = WMI_BUF_INIT;
    wmi_buf_printf(&folder, "%s/usr/local/cuda", h->system->root);
    if (folder.failed) {
        h->failed = true;
    } else {
        look_in_toolkit(h, folder.data, folder.len);
        look_in(h, folder.data, folder.len, "-*/lib64");
        look_in(h, folder.data, folder.len, "-*/extras/CUPTI/lib64");
        look_in(h, folder.data, folder.len, "-*/targets/*/lib");
    }
    wmi_buf_free(&folder);
}

/* ---- all of it ---- */

static char **array_of(const wmi_buf *found, size_t count) {
    size_t head = (count + 1) * sizeof(char *);
    char **paths = malloc(head + found->len);
    if (!paths) return NULL;
    char *text = (char *)paths + head;
    if (found->len) memcpy(text, found->data, found->len);
    for (size_t i = 0; i < count; i++, text += strlen(text) + 1) paths[i] = text;
    paths[count] = NULL;
    return paths;
}

char **wmi_cuda_places_on(const wmi_places_system *system, const char *name) {
    hunt h = {.system = system, .name = name, .visited = WMI_BUF_INIT, .found = WMI_BUF_INIT};
    look_at_program(&h);
    look_at_mappings(&h);
    look_in_variable(&h, "VIRTUAL_ENV", "", look_in_prefix);
    look_in_variable(&h, "CONDA_PREFIX", "", look_in_prefix);
    if (system->variable("PYTHONUSERBASE"))
        look_in_variable(&h, "PYTHONUSERBASE", "", look_in_prefix);
    else
        look_in_variable(&h, "HOME", "/.local", look_in_prefix);
    look_at_path(&h);
    look_in_toolkits(&h);
    bool failed = h.failed || h.visited.failed || h.found.failed;
    char **paths = failed ? NULL : array_of(&h.found, h.count);
    free(h.ids);
    wmi_buf_free(&h.visited);
    wmi_buf_free(&h.found);
    return paths;
}

static const char *variable_of_process(const char *name) { return getenv(name); }

char **wmi_cuda_places(const char *name) {
    static const wmi_places_system here = {"", variable_of_process};
    return wmi_cuda_places_on(&here, name);
}
