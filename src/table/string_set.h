/** A set of strings, each kept once and numbered from 0. Pointers into it stay
 *  valid until it is freed. */
#ifndef WMI_TABLE_STRING_SET_H
#define WMI_TABLE_STRING_SET_H

#include "base/error.h"

typedef struct wmi_string_set {
    struct wmi_string_block *blocks; /* newest first */
    const char **text;               /* by number */
    uint32_t *hash;                  /* by number */
    size_t n, cap;
    uint32_t *slots; /* number + 1, 0: free; a power of two of them, at most 3/4 in use */
    size_t slot_count;
} wmi_string_set;
#define WMI_STRING_SET_INIT                                                                                  \
    { NULL, NULL, NULL, 0, 0, NULL, 0 }

/** The number of s[0..n), which is copied when it is new and must hold no NUL.
 *  false when out of memory; the set is as it was. */
bool wmi_string_set_add(wmi_string_set *set, const char *s, size_t n, uint32_t *id);
void wmi_string_set_free(wmi_string_set *set);

#endif
