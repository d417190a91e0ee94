/* The very first launch of a kernel, which loads and compiles it, is no steady state. */
#include "device.h"

__global__ void fresh() {}
__global__ void fresh_too() {}

static void launch_fresh(wm_state *st) {
    WM_BEGIN("fresh");
    fresh<<<1, 32>>>();
    WM_END("fresh");
    finished(st);
}
static void launch_fresh_too(wm_state *st) {
    WM_BEGIN("fresh");
    fresh_too<<<1, 32>>>();
    WM_END("fresh");
    finished(st);
}

int main() {
    device_begin(60);
    const char *const metrics = "kernel_time,kernel_count,first_kernel_time";
    {
        Session session(nullptr);
        session.sweep("once", launch_fresh, {"--warmup", "0", "--runs", "1", "--metrics", metrics});
        const Table table = session.table();
        check(table.missing("fresh", "kernel_time") == "first-launch", "one run: no time of its own, for: %s",
              table.missing("fresh", "kernel_time").c_str());
        check(table.mean("fresh", "kernel_count") == 1, "one run: %g of 1 kernel",
              table.mean("fresh", "kernel_count"));
        check(table.mean("fresh", "first_kernel_time") > 0,
              "one run: the first launch's time is apart: %g ns", table.mean("fresh", "first_kernel_time"));
        const Table kernels = session.kernels();
        const wm_value first = kernels.rows() == 1 ? kernels.cell(0, "first") : wm_value{};
        check(first.type == WM_BOOL && first.as.b, "one run: the record says that it was the first");
    }
    Session session(nullptr);
    session.sweep("thrice", launch_fresh_too, {"--warmup", "0", "--runs", "3", "--metrics", metrics});
    const Table table = session.table();
    const size_t row = table.find("fresh", "kernel_time");
    if (row != SIZE_MAX)
        check(table.number(row, "samples") == 2 && table.number(row, "mean") > 0,
              "three runs: %g of 2 samples, the first launch left out", table.number(row, "samples"));
    return device_end();
}
