/* Small made-up trees of /proc and /sys, for tests of what reads them. After <cmocka.h>. */
#ifndef TEST_TREES_H
#define TEST_TREES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static inline void make_folders(char *path) {
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

/* Write a file below root; one that is there keeps its place, so that who has it open reads the new text. */
static inline void put(const char *path, const char *text) {
    char full[512];
    assert_true(snprintf(full, sizeof full, "%s%s", root, path) < (int)sizeof full);
    make_folders(full);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static inline int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/test_tree.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_root(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

#endif
