/* Kernels whose counts and times are known beforehand. */
#include <cmath>

#include "device.h"
#include "kernels.h"

static const double MS = 1e6; /* ns */

/* ---- a count ---- */

static void multiply_and_add(wm_state *st) {
    WM_BEGIN("hundred");
    launch_multiply_adds<100>();
    WM_END("hundred");
    WM_BEGIN("two");
    launch_multiply_adds<100>();
    launch_multiply_adds<50>();
    WM_END("two");
    finished(st);
}

static void counts() {
    Session session(nullptr);
    session.sweep("fma", multiply_and_add, {"--metrics", FMA_METRIC, "--runs", "3"});
    const Table table = session.table();
    for (const auto &region :
         {std::make_pair("hundred", FMA_TOTAL), std::make_pair("two", 1.5 * FMA_TOTAL)}) {
        const size_t row = table.find(region.first, FMA_METRIC);
        if (row == SIZE_MAX) continue;
        for (const char *column : {"min", "mean", "max"})
            check(table.number(row, column) == region.second, "%s: %s is %.0f of %.0f multiply-adds",
                  region.first, column, table.number(row, column), region.second);
        check(table.number(row, "samples") == 3, "%s: %g of 3 samples", region.first,
              table.number(row, "samples"));
    }
}

/* ---- times ---- */

static cudaStream_t streams[2];

/* What the host does in the meantime. */
static void wait_ns(long ns) {
    timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < ns);
}

static void long_kernel(wm_state *st) {
    WM_BEGIN("long");
    spin<<<1, 1>>>(50 * 1000000ull);
    WM_END("long");
    finished(st);
}

/* [0, 10] and [5, 15] ms */
static void overlapping(wm_state *st) {
    WM_BEGIN("overlap");
    spin<<<1, 1, 0, streams[0]>>>(10 * 1000000ull);
    wait_ns(5 * 1000000L);
    spin<<<1, 1, 0, streams[1]>>>(10 * 1000000ull);
    WM_END("overlap");
    WM_BEGIN("one_stream");
    spin<<<1, 1, 0, streams[0]>>>(3 * 1000000ull);
    WM_END("one_stream");
    finished(st);
}

/* `within`: in ms, above */
static void check_ms(const Table &table, const char *region, const char *metric, double ms, double within) {
    const double found = table.mean(region, metric) / MS;
    check(found >= ms - 0.05 && found <= ms + within, "%s: %s is %.4g ms, of %g to %g", region, metric, found,
          ms, ms + within);
}

static void times() {
    for (cudaStream_t &stream : streams) NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    {
        Session session(nullptr);
        session.sweep("long", long_kernel, {"--metrics", "kernel_time,time", "--runs", "5"});
        check_ms(session.table(), "long", "kernel_time", 50.0, 1.0);
        const size_t row = session.table().find("long", "time");
        const double host = row == SIZE_MAX ? NAN : session.table().number(row, "median") / MS;
        check(host < 1.0, "long: the host took %.4g ms to launch it, of 1", host);
    }
    Session session(nullptr);
    session.sweep("overlap", overlapping,
                  {"--metrics", "kernel_time,kernel_union,kernel_count", "--runs", "5"});
    check_ms(session.table(), "overlap", "kernel_time", 20.0, 0.5);
    check_ms(session.table(), "overlap", "kernel_union", 15.0, 1.0);
    check_ms(session.table(), "one_stream", "kernel_time", 3.0, 0.5);
    check(session.table().mean("overlap", "kernel_count") == 2, "overlap: 2 kernels");
}

/* ---- what is no kernel ---- */

enum { COPY_BYTES = 1 << 20, SET_BYTES = 1 << 21 };
static char *on_host, *on_device;

static void other_work(wm_state *st) {
    WM_BEGIN("nothing");
    WM_END("nothing");
    WM_BEGIN("transfers");
    GOOD(st, cudaMemcpy(on_device, on_host, COPY_BYTES, cudaMemcpyHostToDevice));
    GOOD(st, cudaMemcpyAsync(on_host, on_device, COPY_BYTES, cudaMemcpyDeviceToHost, streams[0]));
    GOOD(st, cudaMemset(on_device, 0, SET_BYTES));
    spin<<<1, 1>>>(1000);
    GOOD(st, cudaDeviceSynchronize());
    WM_END("transfers");
    finished(st);
}

static void transfers() {
    NEED(cudaMallocHost(&on_host, SET_BYTES));
    NEED(cudaMalloc(&on_device, SET_BYTES));
    Session session(nullptr);
    session.sweep("other", other_work,
                  {"--metrics", "kernel_time,kernel_count,copy_time,copy_bytes,memset_time,memset_bytes",
                   "--runs", "3"});
    const Table table = session.table();
    check(table.missing("nothing", "kernel_time") == "no-kernel", "nothing: has no kernel time: %s",
          table.missing("nothing", "kernel_time").c_str());
    check(table.mean("nothing", "kernel_count") == 0, "nothing: %g of 0 kernels",
          table.mean("nothing", "kernel_count"));
    check(table.mean("transfers", "kernel_count") == 1, "transfers: %g of 1 kernel",
          table.mean("transfers", "kernel_count"));
    check(table.mean("transfers", "copy_bytes") == 2 * COPY_BYTES, "transfers: %g of %d bytes copied",
          table.mean("transfers", "copy_bytes"), 2 * COPY_BYTES);
    check(table.mean("transfers", "memset_bytes") == SET_BYTES, "transfers: %g of %d bytes set",
          table.mean("transfers", "memset_bytes"), SET_BYTES);
    check(table.mean("transfers", "copy_time") > 0 && table.mean("transfers", "memset_time") > 0,
          "transfers: copies and sets have times");
    NEED(cudaFree(on_device));
    NEED(cudaFreeHost(on_host));
}

int main() {
    device_begin(180);
    counts();
    times();
    transfers();
    return device_end();
}
