/* A project of somebody else's: a benchmark, the command line, and one call of the library. C and C++. */
#include <string.h>
#include <warpmeter.h>

static void consumer(wm_state *st) {
    int64_t n = wm_i64(st, "n"), sum = 0;
    WM_REPEAT(st, "sum") {
        WM_SCOPE("inner");
        sum += n;
        WM_KEEP(sum);
    }
    if (strcmp(wm_version(), WANTED_VERSION) != 0) wm_fail(st, "this is warpmeter %s", wm_version());
}
WM_BENCHMARK(consumer, "--axis n=[1,2] --runs 2 --batch-time 10us")
WM_MAIN()
