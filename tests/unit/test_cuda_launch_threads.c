#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/cuda/counters.h"
#include "backend/cuda/launches.h"
#include "cuda_launching.h"

/* ---- threads ---- */

enum { MOST_THREADS = 16 };
typedef struct worker {
    pthread_t thread;
    CUcontext context;
    uint64_t entry;
    size_t launches;   /* 0: until told to stop */
    atomic_bool *stop; /* then */
    _Atomic(size_t) made;
} worker;

static void *work(void *user) {
    worker *w = user;
    CUfunction kernel = fake_function("k");
    cuCtxPushCurrent_v2(w->context);
    program_entry = w->entry;
    while (w->launches ? atomic_load(&w->made) < w->launches : !atomic_load(w->stop)) {
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
        atomic_fetch_add(&w->made, 1);
        if (w->stop) sched_yield(); /* so that the one that begins and ends windows gets on */
    }
    cuCtxPopCurrent_v2(&(CUcontext){NULL});
    return NULL;
}

static void run_worker(worker *w) { assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0); }

static void join_worker(worker *w) { assert_int_equal(pthread_join(w->thread, NULL), 0); }

/* A thread that begins when another has ended has its number. */
static void threads_have_numbers(void **state) {
    worker w[3] = {{.context = *state, .entry = 1, .launches = 1},
                   {.context = *state, .entry = 2, .launches = 1},
                   {.context = *state, .entry = 3, .launches = 1}};
    start(WMI_LAUNCHES_TIMES);
    program_entry = 0;
    program_launch("k", NULL);
    for (size_t i = 0; i < 3; i++) {
        run_worker(&w[i]);
        join_worker(&w[i]);
    }
    program_launch("k", NULL);
    wmi_launches_stop();
    size_t n;
    const wmi_launch *log = wmi_launches_times(&n);
    assert_int_equal(n, 5);
    assert_int_equal(log[0].thread, 0);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(log[i].thread, 1);
        assert_int_equal(log[i].entry, i);
    }
    assert_int_equal(log[4].thread, 0);
}

static void each_thread_has_its_entry(void **state) {
    enum { THREADS = 8, EACH = 500 };
    worker w[THREADS];
    start(WMI_LAUNCHES_TIMES);
    for (size_t i = 0; i < THREADS; i++) {
        w[i] = (worker){.context = *state, .entry = i, .launches = EACH};
        run_worker(&w[i]);
    }
    for (size_t i = 0; i < THREADS; i++) join_worker(&w[i]);
    wmi_launches_stop();
    size_t n, of[THREADS] = {0};
    const wmi_launch *log = wmi_launches_times(&n);
    assert_int_equal(n, THREADS * EACH);
    for (size_t i = 0; i < n; i++) {
        assert_true(log[i].entry < THREADS);
        of[log[i].entry]++;
        if (i) assert_true(log[i - 1].correlation < log[i].correlation);
    }
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(of[i], EACH);
}

/* In a counter window the device has got exactly the launches that were logged before. */
static _Atomic(uint64_t) turns;
static _Atomic(uint64_t) overlaps;

static void count_turn(void *user, const wmi_cuda_context *context, const wmi_shape *shape) {
    (void)user;
    (void)context;
    (void)shape;
    if (fake_launches() != atomic_fetch_add(&turns, 1)) atomic_fetch_add(&overlaps, 1);
}

static void counter_windows_keep_the_order(void **state) {
    enum { THREADS = 8, EACH = 200 };
    worker w[THREADS];
    atomic_store(&turns, 0);
    atomic_store(&overlaps, 0);
    wmi_launches_start(WMI_LAUNCHES_SHAPES, WMI_SCOPE_PROCESS, entry_of, NULL,
                       &(wmi_launch_hooks){count_turn, NULL});
    for (size_t i = 0; i < THREADS; i++) {
        w[i] = (worker){.context = *state, .entry = i, .launches = EACH};
        run_worker(&w[i]);
    }
    for (size_t i = 0; i < THREADS; i++) join_worker(&w[i]);
    wmi_launches_stop();
    assert_int_equal(atomic_load(&overlaps), 0);
    assert_int_equal(shapes(), THREADS * EACH);
}

static size_t made_by(worker *w, size_t threads) {
    size_t made = 0;
    for (size_t i = 0; i < threads; i++) made += atomic_load(&w[i].made);
    return made;
}

/* Wait until the others have launched some more. */
static void let_launch(worker *w, size_t threads, size_t more) {
    const size_t made = made_by(w, threads);
    while (made_by(w, threads) < made + more) sched_yield();
}

/* Windows begin and end while others launch: no launch is logged twice or in part. */
static void start_and_stop(CUcontext context, size_t threads, size_t windows) {
    worker w[MOST_THREADS];
    atomic_bool stop = false;
    for (size_t i = 0; i < threads; i++) {
        w[i] = (worker){.context = context, .entry = i, .stop = &stop};
        run_worker(&w[i]);
    }
    size_t logged = 0;
    for (size_t i = 0; i < windows; i++) {
        start(i % 2 ? WMI_LAUNCHES_SHAPES : WMI_LAUNCHES_TIMES);
        program_launch("mine", NULL);
        /* Now and then for so long that one of them has begun and ended a launch in here. */
        const bool shared = i % 25 < 2;
        if (shared) let_launch(w, threads, threads + 1);
        wmi_launches_stop();
        logged += i % 2 ? shapes() : times();
        assert_true((i % 2 ? shapes() : times()) >= (shared ? 2 : 1));
        assert_int_equal(i % 2 ? times() : shapes(), 0);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < threads; i++) join_worker(&w[i]);
    const size_t made = made_by(w, threads);
    assert_true(logged <= made + windows);
    assert_int_equal(fake_launches(), made + windows);
    assert_int_equal(fake_callbacks_active(), 0);
    assert_int_equal(wmi_launches_lost(), 0);
}

static void windows_under_8_threads(void **state) { start_and_stop(*state, 8, 200); }
static void windows_under_16_threads(void **state) { start_and_stop(*state, 16, 1000); }

/* Subscribing and unsubscribing while others launch. */
static void attach_under_threads(void **state) {
    worker w[8];
    atomic_bool stop = false;
    for (size_t i = 0; i < 8; i++) {
        w[i] = (worker){.context = *state, .entry = i, .stop = &stop};
        run_worker(&w[i]);
    }
    for (size_t i = 0; i < 100; i++) {
        start(i % 2 ? WMI_LAUNCHES_SHAPES : WMI_LAUNCHES_TIMES);
        program_launch("mine", NULL);
        if (i % 10 < 2) let_launch(w, 8, 1);
        wmi_launches_detach();
        assert_int_equal(wmi_launches_attach(NULL), WM_OK);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 8; i++) join_worker(&w[i]);
    start(WMI_LAUNCHES_SHAPES);
    program_launch("mine", NULL);
    wmi_launches_stop();
    assert_int_equal(shapes(), 1);
}

/* ---- a launch that does not return ---- */

/* While counters are read, a launch waits for its kernel. */
static void count_on(CUcontext handle, wmi_counters **counters) {
    static const char *const metrics[] = {"gpu__time_duration.sum"};
    wmi_cuda_context context = {0};
    wmi_chip *chip = NULL;
    const wmi_chip_config *config = NULL;
    for (size_t i = 0; i < wmi_launches_contexts(); i++) {
        if (wmi_launches_context(i).handle == handle) context = wmi_launches_context(i);
    }
    assert_int_equal(wmi_chip_find("GH100", &chip, NULL), WM_OK);
    assert_int_equal(wmi_chip_config_make(chip, metrics, 1, &config, NULL), WM_OK);
    assert_int_equal(wmi_counters_create(&context, counters, NULL), WM_OK);
    assert_int_equal(wmi_counters_begin(*counters, config, WMI_COUNTERS_KERNELS, 16, 16, NULL), WM_OK);
    assert_int_equal(wmi_counters_start(*counters, NULL), WM_OK);
}

static void *launch_held(void *context) {
    cuCtxPushCurrent_v2(context);
    program_launch("held", NULL);
    return NULL;
}

static void stuck_launches_are_named(void **state) {
    wmi_counters *counters = NULL;
    pthread_t thread;
    program_launch("k", NULL);
    count_on(*state, &counters);
    start(WMI_LAUNCHES_SHAPES);
    program_launch("k", NULL);
    fake_advance(5000000000);
    assert_null(wmi_launches_stuck(0)); /* it has returned */
    fake_hold("held");
    assert_int_equal(pthread_create(&thread, NULL, launch_held, *state), 0);
    fake_wait_blocked(1);
    fake_advance(999000000);
    assert_null(wmi_launches_stuck(1000000000));
    fake_advance(1000001);
    assert_string_equal(wmi_launches_stuck(1000000000), "held");
    fake_release("held");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_null(wmi_launches_stuck(0));
    wmi_launches_stop();
    assert_int_equal(shapes(), 2);
    assert_int_equal(wmi_counters_stop(counters, NULL), WM_OK);
    wmi_counters_destroy(counters);
}

/* One that never returns does not keep the window from ending, nor the next ones from beginning. */
static void windows_end_while_one_is_stuck(void **state) {
    wmi_counters *counters = NULL;
    pthread_t thread;
    worker waits = {.context = *state, .entry = 1, .launches = 1};
    program_launch("k", NULL);
    count_on(*state, &counters);
    fake_hold("held");
    start(WMI_LAUNCHES_SHAPES);
    assert_int_equal(pthread_create(&thread, NULL, launch_held, *state), 0);
    fake_wait_blocked(1);
    const uint64_t seen = fake_callbacks();
    run_worker(&waits); /* for its turn */
    while (fake_callbacks() == seen) sched_yield();
    wmi_launches_stop();
    assert_int_equal(shapes(), 0);
    start(WMI_LAUNCHES_TIMES);
    wmi_launches_stop();
    fake_release("held");
    assert_int_equal(pthread_join(thread, NULL), 0);
    join_worker(&waits);
    assert_int_equal(times(), 0);
    start(WMI_LAUNCHES_SHAPES);
    program_launch("k", NULL);
    wmi_launches_stop();
    assert_int_equal(shapes(), 1);
    assert_int_equal(wmi_counters_stop(counters, NULL), WM_OK);
    wmi_counters_destroy(counters);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, attach, detach)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(threads_have_numbers),           TEST(each_thread_has_its_entry),
        TEST(counter_windows_keep_the_order), TEST(windows_under_8_threads),
        TEST(windows_under_16_threads),       TEST(attach_under_threads),
        TEST(stuck_launches_are_named),       TEST(windows_end_while_one_is_stuck),
    };
    return cmocka_run_group_tests_name("cuda_launch_threads", tests, NULL, NULL);
}
