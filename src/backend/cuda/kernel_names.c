#include "backend/cuda/kernel_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/intern.h"
#include "base/text.h"

/* ---- the demangler ---- */

static struct {
    pthread_once_t once;
    char *(*demangle)(const char *name, char *buffer, size_t *length, int *status); /* NULL: none */
} cxx = {.once = PTHREAD_ONCE_INIT};

static void cxx_open(void) {
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1", NULL};
    void *demangle = NULL, *handle;
    const wmi_dl_symbol symbols[] = {{"__cxa_demangle", &demangle, false}};
    const wmi_dl_spec spec = {.what = "libstdc++", .names = names, .symbols = symbols, .symbol_count = 1};
    if (wmi_dl_open(&spec, &handle, NULL, NULL) == WM_OK) memcpy(&cxx.demangle, &demangle, sizeof demangle);
}

/* The caller frees; NULL: not a mangled name, or no demangler. */
static char *demangled(const char *binary) {
    int status = 0;
    if (strncmp(binary, "_Z", 2) != 0) return NULL;
    pthread_once(&cxx.once, cxx_open);
    return cxx.demangle ? cxx.demangle(binary, NULL, NULL, &status) : NULL;
}

/* ---- the function's own name ---- */

static bool is_word(char c) {
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool begins(const char *s, const char *word) { return strncmp(s, word, strlen(word)) == 0; }

/* Length of an operator's name at s; 0: none is here. It may hold brackets that pair with
 * nothing. A conversion's is the word, a blank and a type. */
static size_t operator_length(const char *text, const char *s) {
    static const char word[] = "operator";
    static const char *const signs[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
                                        ">>", "->", "<=",  ">=",  "<",   ">"};
    const size_t n = sizeof word - 1;
    if (!begins(s, word) || is_word(s[n]) || (s > text && is_word(s[-1]))) return 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (begins(s + n, signs[i])) return n + strlen(signs[i]);
    return n + strcspn(s + n, s[n] == ' ' || s[n] == '"' ? "(" : "(<>, )");
}

/* Past the bracket that closes the one at s; the end of the text when none does. Within
 * parentheses '>' may be a sign of a comparison, so only that counts which closes the last
 * one opened. */
static const char *skip_brackets(const char *text, const char *s) {
    enum { DEEPEST = 500 };
    char closing[DEEPEST];
    size_t depth = 0;
    for (; *s; s++) {
        const size_t sign = operator_length(text, s);
        if (sign > 0) s += sign - 1;
        if (sign > 0 || (*s == '>' && depth > 0 && closing[depth - 1] != '>') || begins(s, "->")) {
            s += sign == 0 && *s == '-';
            continue;
        }
        const char *pair = strchr("()<>[]{}", *s);
        if (!pair) continue;
        if (strchr("(<[{", *s)) {
            if (depth == DEEPEST) break;
            closing[depth++] = pair[1];
            continue;
        }
        while (depth > 0 && closing[depth - 1] != *s) depth--; /* a '<' that was a sign too */
        if (depth > 0) depth--;
        if (depth == 0) return s + 1;
    }
    return s + strlen(s);
}

/* The end of the name at s: a word, an operator, or a name that looks like brackets. */
static const char *name_end(const char *text, const char *s) {
    const size_t sign = operator_length(text, s);
    if (sign > 0) return s + sign;
    if (*s == '{' || begins(s, "(anonymous namespace)")) return skip_brackets(text, s);
    if (*s == '\'') return s + 1 + strcspn(s + 1, "'") + (strchr(s + 1, '\'') != NULL); /* 'lambda0' */
    if (*s == '~') s++;
    while (is_word(*s)) s++;
    return s;
}

/* Template arguments and [abi:…] behind a name. */
static const char *skip_arguments(const char *text, const char *s) {
    while (*s == '<' || *s == '[') s = skip_brackets(text, s);
    return s;
}

char *wmi_kernel_plain(const char *full) {
    const char *name = full, *s = full;
    size_t n = 0;
    while (*s) {
        const char *end = name_end(full, s);
        if (end == s) {
            s = strchr("(<[{", *s) ? skip_brackets(full, s) : s + 1;
            continue;
        }
        const bool is_type = begins(s, "decltype") && end - s == (ptrdiff_t)strlen("decltype");
        if (!is_type) name = s;
        if (!is_type) n = (size_t)(end - s);
        s = skip_arguments(full, end);
        if (*s != '(' || is_type || begins(s, "(anonymous namespace)")) continue;
        /* With parameters it is a function: the one meant, unless others are within it, as in
         * f(int) const::{lambda()#1}::operator()() const. */
        s = skip_brackets(full, s);
        if (begins(s, " const")) s += strlen(" const");
        if (!begins(s, "::")) break;
    }
    return n > 0 ? wmi_strndup(name, n) : wmi_strdup(full);
}

/* ---- looking up ---- */

static struct {
    pthread_mutex_t lock;
    wmi_kernel_name *v; /* [count] by the number of the binary name; all zero: not made yet */
    size_t count;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Numbers are given out to all names of the process, so they are dense enough for an array. */
static wmi_kernel_name *made_at(uint32_t binary) {
    if (binary >= made.count) {
        const size_t count = (size_t)binary + binary / 2 + 64;
        wmi_kernel_name *v = realloc(made.v, count * sizeof *v);
        if (!v) return NULL;
        memset(v + made.count, 0, (count - made.count) * sizeof *v);
        made.v = v;
        made.count = count;
    }
    return &made.v[binary];
}

static wmi_kernel_name make(uint32_t binary) {
    wmi_kernel_name out = {binary, binary, binary};
    char *full = demangled(wmi_intern_name(binary));
    if (!full) return out;
    char *plain = wmi_kernel_plain(full);
    out.full = wmi_intern(full);
    out.plain = plain ? wmi_intern(plain) : 0;
    free(plain);
    free(full);
    return out.full && out.plain ? out : (wmi_kernel_name){0};
}

/* With the lock held. */
static wmi_kernel_name look_up(const char *text) {
    const uint32_t binary = wmi_intern(text);
    wmi_kernel_name *at = binary ? made_at(binary) : NULL;
    if (at && !at->binary) *at = make(binary);
    return at ? *at : (wmi_kernel_name){0};
}

/* What was found last, by pointer. Not one for each thread: memory of threads is scarce where a
 * library is opened at run time, as Python's modules are, and a lock costs less than a launch. */
enum { SLOTS = 64 };
static struct {
    const char *text;
    wmi_kernel_name name;
} last[SLOTS];

wmi_kernel_name wmi_kernel_name_of(const char *binary) {
    if (!binary) return (wmi_kernel_name){0};
    const size_t slot = ((uintptr_t)binary >> 4 ^ (uintptr_t)binary >> 10) % SLOTS;
    pthread_mutex_lock(&made.lock);
    wmi_kernel_name found = last[slot].name;
    /* A module that is unloaded gives its memory back, so a pointer alone does not tell. */
    if (last[slot].text != binary || strcmp(wmi_intern_name(found.binary), binary) != 0) {
        found = look_up(binary);
        if (found.binary) {
            last[slot].text = binary;
            last[slot].name = found;
        }
    }
    pthread_mutex_unlock(&made.lock);
    return found;
}
