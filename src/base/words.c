#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Where the split has got to: the words are written over the bytes they come
 * from, one after the other, each with its NUL. */
typedef struct splitter {
    const char *from;
    char *to;
} splitter;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool take_single_quoted(splitter *s) {
    const char *end = strchr(++s->from, '\'');
    if (!end) return false;
    size_t n = (size_t)(end - s->from);
    memcpy(s->to, s->from, n);
    s->to += n;
    s->from = end + 1;
    return true;
}

static bool take_double_quoted(splitter *s) {
    for (s->from++; *s->from != '"'; s->from++) {
        if (s->from[0] == '\\' && (s->from[1] == '"' || s->from[1] == '\\')) s->from++;
        if (!*s->from) return false;
        *s->to++ = *s->from;
    }
    s->from++;
    return true;
}

/* One word; false, with s->from at the offending end, when it does not end. */
static bool take_word(splitter *s) {
    while (*s->from && !is_blank(*s->from)) {
        if (*s->from == '\'') {
            if (!take_single_quoted(s)) return false;
        } else if (*s->from == '"') {
            if (!take_double_quoted(s)) return false;
        } else {
            if (*s->from == '\\') s->from++;
            if (!*s->from) return false;
            *s->to++ = *s->from++;
        }
    }
    *s->to++ = '\0';
    return true;
}

/* n bytes hold at most n / 2 + 1 words, so array and bytes are one allocation
 * made in advance. */
wm_status wmi_words_split(const char *text, char ***words, size_t *count, wm_error *err) {
    size_t n = strlen(text), most = n / 2 + 1, found = 0;
    char **array = malloc((most + 1) * sizeof *array + n + 1);
    if (!array) return wmi_error_nomem(err);
    splitter s = {text, (char *)(array + most + 1)};
    for (;;) {
        while (is_blank(*s.from)) s.from++;
        if (!*s.from) break;
        array[found++] = s.to;
        if (!take_word(&s)) {
            free(array);
            return wmi_error_set(err, WM_EPARSE, 0, "a quote or a backslash at the end is left open in '%s'",
                                 text);
        }
    }
    array[found] = NULL;
    *words = array;
    *count = found;
    return WM_OK;
}
