// A benchmark program in C++: registration, scopes left by exceptions, repetition, two translation units.
// With -DOTHER it is the second of them. With WM_DISABLE the marks vanish and the rest works.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "warpmeter.h"

int other(int x);

#ifdef OTHER

int other(int x) {
    WM_SCOPE("other");
    WM_KEEP(x);
    return x + 1;
}

#else

namespace {

void thrower(int x) {
    WM_SCOPE("thrown through");
    if (x > 0) throw std::runtime_error("left early");
}

void scopes(wm_state *st) {
    const std::string kind = wm_str(st, "kind");
    for (int i = 0; i < 3; i++) {
        try {
            thrower(static_cast<int>(wm_i64(st, "n")));
        } catch (const std::exception &) {
        }
        WM_BEGIN("begun");
        int x = other(i);
        WM_END("begun");
        wm_keep(&x);
    }
    if (kind == "skipped") wm_skip(st, "%s", kind.c_str());
    wm_add_items(st, "begun", 3.0);
}
WM_BENCHMARK(scopes, "--axis kind=[plain,skipped] --axis n=[1] --runs 2")

int user = 3;
void setup(wm_state *st) { wm_set_data(st, new std::string("left by set-up")); }
void teardown(wm_state *st) { delete static_cast<std::string *>(wm_data(st)); }
void repeated(wm_state *st) {
    int x = *static_cast<int *>(wm_user(st));
    if (*static_cast<std::string *>(wm_data(st)) != "left by set-up") wm_fail(st, "no data");
    WM_REPEAT(st, "outer") {
        WM_REPEAT(st, "inner") { x = other(x); }
        WM_KEEP(x);
    }
}
WM_BENCHMARK_WITH(repeated, setup, teardown, &user, "--runs 2 --batch-time 100us --threads 2")

} // namespace

WM_MAIN()

#endif
