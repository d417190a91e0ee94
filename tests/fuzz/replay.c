/* Runs a fuzz target over the files of the folders given, for builds without
 * libFuzzer. Fails when there is no file: an empty corpus would prove nothing. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    size_t n = 0, cap = 1u << 22;
    uint8_t *data = malloc(cap);
    if (data) n = fread(data, 1, cap, f);
    fclose(f);
    uint8_t *exact = data ? malloc(n ? n : 1) : NULL; /* so that reads past the end are seen */
    if (exact) {
        memcpy(exact, data, n);
        LLVMFuzzerTestOneInput(exact, n);
    }
    free(exact);
    free(data);
    return exact != NULL;
}

int main(int argc, char **argv) {
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') continue;
        DIR *dir = opendir(argv[i]);
        if (!dir) continue;
        for (struct dirent *e; (e = readdir(dir)) != NULL;) {
            char path[4096];
            if (e->d_name[0] == '.') continue;
            if (snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name) < (int)sizeof path)
                replayed += replay_file(path);
        }
        closedir(dir);
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
