/* Sessions that begin and end while threads launch, and many of them. */
#include <atomic>
#include <thread>

#include "device.h"
#include "kernels.h"

static const char METRICS[] = "kernel_count,kernel_time";

__global__ void nothing() {}

/* ---- threads that never stop launching ---- */

class Launchers {
  public:
    explicit Launchers(int count) {
        for (int i = 0; i < count; i++) threads_.emplace_back([this] { work(); });
        while (launched_ == 0) std::this_thread::yield();
    }
    ~Launchers() {
        stop_ = true;
        for (std::thread &thread : threads_) thread.join();
    }
    long launched() const { return launched_; }

  private:
    void work() {
        cudaStream_t stream;
        NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        while (!stop_) {
            for (int i = 0; i < 10; i++) {
                wm_begin("work");
                nothing<<<1, 32, 0, stream>>>();
                wm_end("work");
                launched_++;
            }
            NEED(cudaStreamSynchronize(stream));
        }
        NEED(cudaStreamDestroy(stream));
    }
    std::atomic<bool> stop_{false};
    std::atomic<long> launched_{0};
    std::vector<std::thread> threads_;
};

static double seconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

static void start_and_stop(int threads, int times) {
    Session session(METRICS);
    double longest = 0.0;
    long launched = 0;
    {
        Launchers launchers(threads);
        for (int i = 0; i < times; i++) {
            session.start();
            const long before = launchers.launched();
            while (launchers.launched() == before) std::this_thread::yield();
            const double begin = seconds();
            session.stop();
            const double took = seconds() - begin;
            if (took > longest) longest = took;
        }
        launched = launchers.launched();
    }
    const Table kernels = session.kernels();
    size_t elsewhere = 0, untimed = 0;
    for (size_t row = 0; row < kernels.rows(); row++) {
        if (kernels.text(row, "kernel") != "nothing") elsewhere++;
        if (kernels.text(row, "reason").empty() && !(kernels.number(row, "duration_ns") > 0)) untimed++;
    }
    check(longest < 10.0, "%d threads: the longest of %d stops took %.3f s", threads, times, longest);
    check(kernels.rows() > 0 && static_cast<long>(kernels.rows()) <= launched,
          "%d threads: %zu records of %ld launches", threads, kernels.rows(), launched);
    check(elsewhere == 0, "%d threads: %zu records of other kernels", threads, elsewhere);
    check(untimed == 0, "%d threads: %zu records without times or a reason", threads, untimed);
}

/* ---- sessions with gaps between ---- */

static void sessions_with_gaps() {
    for (int number = 0; number < 10; number++) {
        Session session(METRICS);
        session.start();
        wm_begin("fifty");
        for (int i = 0; i < 50; i++) nothing<<<1, 32>>>();
        wm_end("fifty");
        session.stop();
        const double count = session.table().mean("fifty", "kernel_count");
        const size_t recorded = session.kernels().rows();
        check(count == 50 && recorded == 50, "session %d of 10: %g of 50 kernels, %zu of 50 records",
              number + 1, count, recorded);
        for (int i = 0; i < 20; i++) nothing<<<1, 32>>>();
        NEED(cudaDeviceSynchronize());
        usleep(200000);
    }
}

/* ---- the profiler comes second ---- */

static void launches_that_precede(double before_ms) {
    Session session(METRICS);
    const double begin = seconds();
    session.start();
    wm_begin("ten");
    for (int i = 0; i < 10; i++) spin<<<1, 1>>>(100000);
    wm_end("ten");
    NEED(cudaDeviceSynchronize());
    session.stop();
    const double within_ns = (seconds() - begin) * 1e9;

    const Table kernels = session.kernels();
    check(kernels.rows() == 10, "precede: %zu of 10 kernels, and none of those before", kernels.rows());
    double last_ns = -1.0;
    size_t disordered = 0;
    for (size_t row = 0; row < kernels.rows(); row++) {
        const double launch = kernels.number(row, "launch_ns"), at = kernels.number(row, "begin_ns");
        if (!(at >= launch && at >= last_ns && at <= within_ns)) disordered++;
        last_ns = at;
    }
    check(disordered == 0,
          "precede: %zu of 10 kernels are off the clock of the launches (%.0f ms went before)", disordered,
          before_ms);
}

int main() {
    device_begin(540);
    /* A context and launches before anything of warpmeter is called. */
    const double begin = seconds();
    for (int i = 0; i < 10; i++) spin<<<1, 1>>>(100000);
    NEED(cudaDeviceSynchronize());
    launches_that_precede((seconds() - begin) * 1e3);
    sessions_with_gaps();
    start_and_stop(8, 200);
    start_and_stop(16, 1000);
    return device_end();
}
