/* How long `warpmeter --version` takes as a whole process, beside /bin/true, taken in
 * turns. The tool is found beside this program's folder. */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100 };
extern char **environ;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double run_ms(char *const argv[]) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const double begin = now_ms();
    const int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed || waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench_start: cannot run %s\n", argv[0]);
        exit(1);
    }
    return now_ms() - begin;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void) {
    char self[PATH_MAX], tool[PATH_MAX + 32];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) return 1;
    self[n] = 0;
    snprintf(tool, sizeof tool, "%s/../bin/warpmeter", dirname(self));
    char *const version[] = {tool, "--version", NULL}, *const nothing[] = {"/bin/true", NULL};
    double ours[ROUNDS], theirs[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = run_ms(version);
        theirs[i] = run_ms(nothing);
    }
    qsort(ours, ROUNDS, sizeof *ours, by_value);
    qsort(theirs, ROUNDS, sizeof *theirs, by_value);
    printf("%-28s %9s %9s\n", "whole process, ms", "median", "maximum");
    printf("%-28s %9.2f %9.2f\n", "warpmeter --version", ours[ROUNDS / 2], ours[ROUNDS - 1]);
    printf("%-28s %9.2f %9.2f\n", "/bin/true", theirs[ROUNDS / 2], theirs[ROUNDS - 1]);
    printf("%-28s %9.2f\n", "ratio of the medians", ours[ROUNDS / 2] / theirs[ROUNDS / 2]);
    return 0;
}
