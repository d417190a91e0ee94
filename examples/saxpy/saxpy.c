#include <warpmeter.h>

enum { LARGEST = 1 << 20 };
static float x[LARGEST], y[LARGEST];

static void saxpy(wm_state *st) {
    int64_t n = wm_i64(st, "n");
    if (n > LARGEST) {
        wm_skip(st, "the arrays hold %d floats", LARGEST);
        return;
    }
    WM_REPEAT(st, "add") {
        for (int64_t i = 0; i < n; i++) y[i] += 2.0f * x[i];
        wm_keep(y);
    }
    wm_add_flops(st, "add", 2.0 * (double)n);
}
WM_BENCHMARK(saxpy, "--axis n[pow2]=[10:20:5] --runs 20")
WM_MAIN()
