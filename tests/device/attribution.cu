/* Which region a launch belongs to: every way to launch, from every kind of thread, through graphs. Each
 * kernel is launched in one place only, so that its name tells where it must be found. */
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "attribution.h"
#include "device.h"

extern "C" {
__global__ void in_outer() {}
__global__ void in_inner() {}
__global__ void in_graph_a() {}
__global__ void in_graph_b() {}
__global__ void of_worker() {}
__global__ void of_worker_without_region() {}
__global__ void of_no_region() {}
__global__ void ambiguous() {}
__global__ void scoped() {}
__global__ void outside_of_sessions() {}
}
namespace space {
template <int N, typename Type> __global__ void instance(Type *) {}
} // namespace space

/* What is expected: how often each kernel ran in each region. */
typedef std::map<std::pair<std::string, std::string>, int> Counts; /* (kernel, region) */

static void in_region(const char *region, void (*work)()) {
    wm_begin(region);
    work();
    wm_end(region);
}

static void launch_every_form(Counts *expected) {
    for (const auto &forms : {legacy_forms(), per_thread_forms()})
        for (const Form &form : forms) {
            in_region(form.name, form.launch);
            ++(*expected)[{form.kernel, form.name}];
        }
}

static void launch_nested(Counts *expected) {
    wm_begin("outer");
    in_outer<<<1, 32>>>();
    in_region("inner", [] { in_inner<<<2, 64>>>(); });
    in_outer<<<1, 32>>>();
    wm_end("outer");
    (*expected)[{"in_outer", "outer"}] = 2;
    (*expected)[{"in_inner", "outer/inner"}] = 1;
}

/* The launches of the capture are none; those of the graph are where it is launched. */
static void launch_graph(Counts *expected) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    NEED(cudaStreamCreate(&stream));
    wm_begin("capture");
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    in_graph_a<<<1, 32, 0, stream>>>();
    in_graph_b<<<1, 32, 0, stream>>>();
    in_graph_a<<<1, 32, 0, stream>>>();
    NEED(cudaStreamEndCapture(stream, &graph));
    wm_end("capture");
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    wm_begin("replay");
    for (int i = 0; i < 3; i++) NEED(cudaGraphLaunch(exec, stream));
    wm_end("replay");
    NEED(cudaStreamSynchronize(stream));
    NEED(cudaGraphExecDestroy(exec));
    NEED(cudaGraphDestroy(graph));
    NEED(cudaStreamDestroy(stream));
    (*expected)[{"in_graph_a", "replay"}] = 6;
    (*expected)[{"in_graph_b", "replay"}] = 3;
}

static void launch_from_workers(Counts *expected) {
    std::thread([] { in_region("worker", [] { of_worker<<<1, 32>>>(); }); }).join();
    (*expected)[{"of_worker", "worker"}] = 1;

    in_region("holder", [] {
        std::thread([] {
            for (int i = 0; i < 3; i++) of_worker_without_region<<<1, 32>>>();
        }).join();
    });
    (*expected)[{"of_worker_without_region", "holder"}] = 3;
}

static void launch_template(Counts *expected) {
    in_region("template", [] { space::instance<7><<<1, 32>>>(static_cast<float *>(nullptr)); });
    (*expected)[{"instance", "template"}] = 1;
}

/* ---- comparing ---- */

static Counts counted(const Table &kernels, int run) {
    Counts counts;
    for (size_t row = 0; row < kernels.rows(); row++)
        if (kernels.number(row, "run") == run && kernels.text(row, "kind") == "kernel")
            ++counts[{kernels.text(row, "kernel"), kernels.text(row, "region")}];
    return counts;
}

static void compare(const Counts &expected, const Counts &found, const char *what) {
    for (const auto &e : expected) {
        const auto at = found.find(e.first);
        const int count = at == found.end() ? 0 : at->second;
        check(count == e.second, "%s: %s ran %d of %d times in %s", what, e.first.first.c_str(), count,
              e.second, e.first.second.empty() ? "no region" : e.first.second.c_str());
    }
    for (const auto &f : found)
        if (!expected.count(f.first))
            check(false, "%s: %s ran %d times in %s", what, f.first.first.c_str(), f.second,
                  f.first.second.c_str());
}

static void check_rows(const Table &kernels, const char *what) {
    size_t untimed = 0, backwards = 0, graphs = 0;
    for (size_t row = 0; row < kernels.rows(); row++) {
        if (!(kernels.number(row, "duration_ns") > 0)) untimed++;
        if (!(kernels.number(row, "launch_latency_ns") > 0)) backwards++;
        const wm_value graph = kernels.cell(row, "graph");
        if (graph.type == WM_BOOL && graph.as.b) graphs++;
        if (kernels.text(row, "kernel") == "in_inner")
            check(kernels.number(row, "grid_x") == 2 && kernels.number(row, "block_x") == 64,
                  "%s: in_inner's grid and block", what);
        if (kernels.text(row, "kernel") == "instance")
            check(kernels.text(row, "kernel_full").find("space::instance<7, float>") != std::string::npos ||
                      kernels.text(row, "kernel_full").find("space::instance<(int)7, float>") !=
                          std::string::npos,
                  "%s: the whole name of a template: %s", what, kernels.text(row, "kernel_full").c_str());
    }
    check(untimed == 0, "%s: %zu kernels without a time", what, untimed);
    check(backwards == 0, "%s: %zu kernels that began before their launch", what, backwards);
    check(graphs == 9, "%s: %zu of 9 kernels were launched by a graph", what, graphs);
}

/* Not a region, but the session as a whole. */
static bool whole(const std::string &region) { return region.empty() || region == "session"; }

/* A session of its own each time. */
static void every_form(int number) {
    const std::string what = "session " + std::to_string(number);
    Counts expected;
    Session session("kernel_count,kernel_time");
    session.start();
    launch_every_form(&expected);
    launch_nested(&expected);
    launch_graph(&expected);
    launch_from_workers(&expected);
    launch_template(&expected);
    of_no_region<<<1, 32>>>();
    session.stop();
    outside_of_sessions<<<1, 32>>>();
    NEED(cudaDeviceSynchronize());

    const Table kernels = session.kernels();
    Counts found = counted(kernels, 0);
    for (const auto &f : found)
        if (f.first.first == "of_no_region")
            check(whole(f.first.second), "%s: of_no_region is of no region", what.c_str());
    found.erase({"of_no_region", ""});
    found.erase({"of_no_region", "session"});
    compare(expected, found, what.c_str());
    check_rows(kernels, what.c_str());
    const Table table = session.table();
    check(table.mean("outer", "kernel_count") == 3, "%s: a region counts those within it: %g of 3",
          what.c_str(), table.mean("outer", "kernel_count"));
    check(table.mean("capture", "kernel_count") == 0, "%s: a capture launches %g of 0 kernels", what.c_str(),
          table.mean("capture", "kernel_count"));
}

/* ---- what cannot be told ---- */

/* A thread that holds a region open until it is let go. */
class Holder {
  public:
    explicit Holder(const char *region) {
        std::unique_lock<std::mutex> lock(mutex_);
        thread_ = std::thread([this, region] { hold(region); });
        changed_.wait(lock, [this] { return open_; });
    }
    ~Holder() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            done_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

  private:
    void hold(const char *region) {
        wm_begin(region);
        std::unique_lock<std::mutex> lock(mutex_);
        open_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return done_; });
        wm_end(region);
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false, done_ = false;
    std::thread thread_;
};

static void two_regions_and_a_third_thread() {
    Session session("kernel_count,kernel_time");
    session.start();
    {
        Holder left("left"), right("right");
        std::thread([] { ambiguous<<<1, 32>>>(); }).join();
    }
    session.stop();
    const Table kernels = session.kernels();
    check(kernels.rows() == 1, "ambiguous: %zu of 1 kernel was recorded", kernels.rows());
    if (kernels.rows() == 1)
        check(kernels.text(0, "reason") == "ambiguous" && whole(kernels.text(0, "region")),
              "ambiguous: it is said to be so (%s), and of no region (%s)", kernels.text(0, "reason").c_str(),
              kernels.text(0, "region").c_str());
    const Table table = session.table();
    for (const char *region : {"left", "right"})
        check(table.missing(region, "kernel_count") == "ambiguous", "ambiguous: %s has no count: %s", region,
              table.missing(region, "kernel_count").c_str());
}

static void launch_three_from_a_worker(wm_state *st) {
    WM_BEGIN("holder");
    std::thread([] {
        for (int i = 0; i < 3; i++) scoped<<<1, 32>>>();
    }).join();
    WM_END("holder");
    finished(st);
}

static void scopes() {
    for (const auto &scope : {std::make_pair("process", 3.0), std::make_pair("thread", 0.0)}) {
        Session session(nullptr);
        session.sweep("scope", launch_three_from_a_worker,
                      {"--scope", scope.first, "--metrics", "kernel_count", "--runs", "2"});
        const double count = session.table().mean("holder", "kernel_count");
        check(count == scope.second, "--scope %s: %g of %g kernels of a worker", scope.first, count,
              scope.second);
    }
}

int main() {
    device_begin(120);
    NEED(cudaFree(nullptr));
    outside_of_sessions<<<1, 32>>>();
    for (int number = 1; number <= 3; number++) every_form(number);
    two_regions_and_a_third_thread();
    scopes();
    return device_end();
}
