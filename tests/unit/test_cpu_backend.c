/* What edges read, first from a kernel that is a fake, then from this one. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cpu/cpu.h"
#include "fakes/fake_perf.h"

static const wmi_backend_ops *const cpu = &wmi_cpu_backend;

static int reset(void **state) {
    (void)state;
    fake_reset();
    return 0;
}

/* A backend with a plan and an open window of its pass 0. */
typedef struct fixture {
    void *self;
    wmi_plan plan;
    wmi_window window;
    wmi_drained drained;
} fixture;

static fixture start(const wmi_perf_sys *sys, const char *const *names, size_t count) {
    fixture f = {0};
    const wmi_backend_opts opts = {0};
    const wmi_metric_set set = {names, count};
    assert_int_equal(wmi_cpu_open(sys, &opts, &f.self, NULL), WM_OK);
    assert_int_equal(cpu->plan(f.self, &set, &f.plan, NULL), WM_OK);
    if (f.plan.pass_count > 0) assert_int_equal(cpu->open_window(f.self, &f.window, NULL), WM_OK);
    fake.tick = 0; /* from here on the test sets the times */
    return f;
}

static void finish(fixture *f) {
    cpu->close_window(f->self, &f->window, NULL);
    wmi_plan_free(&f->plan);
    wmi_drained_free(&f->drained);
    cpu->close(f->self);
    assert_int_equal(fake_open_count(), 0);
}

static void edge_of(const fixture *f, uint32_t thread, bool end, uint64_t entry) {
    const wmi_mark mark = {.end = end, .thread = thread, .entry = entry};
    cpu->edge(f->self, &mark);
}

static void begin(const fixture *f, uint64_t entry) { edge_of(f, 0, false, entry); }
static void end(const fixture *f, uint64_t entry) { edge_of(f, 0, true, entry); }

static void drain(fixture *f) { assert_int_equal(cpu->drain(f->self, &f->drained, NULL), WM_OK); }

static const wmi_reading *reading(const fixture *f, uint64_t entry, uint32_t metric) {
    for (size_t i = 0; i < f->drained.readings.n; i++)
        if (f->drained.readings.v[i].entry == entry && f->drained.readings.v[i].metric == metric)
            return &f->drained.readings.v[i];
    fail_msg("no reading of metric %u in entry %llu", metric, (unsigned long long)entry);
    return NULL;
}

static void check_value(const fixture *f, uint64_t entry, uint32_t metric, double value) {
    const wmi_reading *r = reading(f, entry, metric);
    assert_int_equal(r->reason, WM_REASON_NONE);
    assert_true(r->value == value);
}

static void check_reason(const fixture *f, uint64_t entry, uint32_t metric, wm_reason reason) {
    assert_int_equal(reading(f, entry, metric)->reason, reason);
}

static void count(int config, uint64_t n, uint64_t enabled, uint64_t running) {
    fake.count[config] += n;
    fake.enabled += enabled;
    fake.running += running;
}

static const char *const cycles[] = {"cycles"};
static const char *const four[] = {"page-faults", "instructions", "cs", "cycles"};

static void a_multiplexed_count_is_scaled(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    begin(&f, 1);
    count(0, 200, 1000, 500);
    end(&f, 1);
    begin(&f, 2); /* scaled by its own share, not by that since the start */
    count(0, 300, 900, 300);
    end(&f, 2);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 2);
    check_value(&f, 1, 0, 400);
    check_value(&f, 2, 0, 900);
    finish(&f);
}

static void a_count_that_never_ran_is_null(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    begin(&f, 1);
    count(0, 0, 1000, 0);
    end(&f, 1);
    begin(&f, 2); /* no time passed at all: what was counted is all there was */
    count(0, 3, 0, 0);
    end(&f, 2);
    drain(&f);
    check_reason(&f, 1, 0, WM_REASON_NOT_COUNTED);
    check_value(&f, 2, 0, 3);
    finish(&f);
}

static void a_full_count_is_exact(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    count(0, UINT64_C(1) << 60, 12345, 777); /* long before, and then multiplexed */
    begin(&f, 1);
    count(0, (UINT64_C(1) << 53) - 1, 1000003, 1000003);
    end(&f, 1);
    drain(&f);
    check_value(&f, 1, 0, 9007199254740991.0);
    finish(&f);
}

/* The fake kernel hands counts over in another order than they were asked for. */
static void every_metric_gets_its_own_count(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, four, 4);
    assert_int_equal(f.plan.pass_count, 1);
    begin(&f, 9);
    count(PERF_COUNT_SW_PAGE_FAULTS, 5, 100, 100);
    count(PERF_COUNT_HW_INSTRUCTIONS, 70, 0, 0);
    count(PERF_COUNT_SW_CONTEXT_SWITCHES, 2, 0, 0);
    count(PERF_COUNT_HW_CPU_CYCLES, 90, 0, 0);
    end(&f, 9);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 4);
    check_value(&f, 9, 0, 5);
    check_value(&f, 9, 1, 70);
    check_value(&f, 9, 2, 2);
    check_value(&f, 9, 3, 90);
    finish(&f);
}

/* Reading one group is work that the other sees: what is dearer to disturb is read last and first. */
static void hardware_events_are_read_next_to_the_code(void **state) {
    (void)state;
    static const uint32_t order[] = {PERF_TYPE_SOFTWARE, PERF_TYPE_HARDWARE, PERF_TYPE_HARDWARE,
                                     PERF_TYPE_SOFTWARE};
    fixture f = start(&fake_kernel, four, 4);
    int before = fake.reads;
    begin(&f, 1);
    end(&f, 1);
    assert_int_equal(fake.reads - before, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(fake.read_types[(before + i) % FAKE_READS], order[i]);
    finish(&f);
}

static void ends_may_come_in_any_order(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    begin(&f, 1);
    count(0, 1, 1, 1);
    begin(&f, 2);
    count(0, 10, 10, 10);
    begin(&f, 3);
    count(0, 100, 100, 100);
    end(&f, 1);
    count(0, 1000, 1000, 1000);
    end(&f, 3);
    count(0, 10000, 10000, 10000);
    end(&f, 2);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 3);
    check_value(&f, 1, 0, 111);
    check_value(&f, 2, 0, 11110);
    check_value(&f, 3, 0, 1100);
    finish(&f);
}

static void entries_nest_deeply(void **state) {
    (void)state;
    enum { DEPTH = 500 };
    fixture f = start(&fake_kernel, cycles, 1);
    for (uint64_t i = 0; i < DEPTH; i++) {
        begin(&f, i);
        count(0, 1, 1, 1);
    }
    for (uint64_t i = DEPTH; i-- > 0;) end(&f, i);
    drain(&f);
    assert_int_equal(f.drained.readings.n, DEPTH);
    for (uint64_t i = 0; i < DEPTH; i++) check_value(&f, i, 0, (double)(DEPTH - i));
    finish(&f);
}

static void what_has_no_partner_gives_nothing(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    end(&f, 1);
    begin(&f, 2);
    begin(&f, 3);
    end(&f, 3);
    drain(&f);
    end(&f, 2); /* its begin was forgotten with the drain */
    drain(&f);
    assert_int_equal(f.drained.readings.n, 1);
    check_value(&f, 3, 0, 0);
    finish(&f);
}

static void a_failing_read_makes_its_entries_null(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    begin(&f, 1);
    begin(&f, 2);
    end(&f, 2);
    fake.fail_read_after = fake.reads;
    begin(&f, 3);
    end(&f, 1);
    fake.fail_read_after = -1;
    end(&f, 3); /* this read succeeds, but that of its begin did not */
    begin(&f, 4);
    end(&f, 4);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 4);
    check_reason(&f, 1, 0, WM_REASON_BACKEND);
    check_value(&f, 2, 0, 0);
    check_reason(&f, 3, 0, WM_REASON_BACKEND);
    check_value(&f, 4, 0, 0);
    finish(&f);
}

static int refusal;
static int refuse_instructions(const struct perf_event_attr *attr) {
    return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_INSTRUCTIONS ? refusal : 0;
}

static void a_thread_whose_counters_do_not_open_says_why(void **state) {
    (void)state;
    static const struct {
        int native;
        wm_reason reason;
    } cases[] = {{EMFILE, WM_REASON_BACKEND}, {EACCES, WM_REASON_PERMISSION}, {ENOSYS, WM_REASON_NO_SYSCALL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_reset();
        fixture f = start(&fake_kernel, four, 4);
        refusal = cases[i].native;
        fake.refuse = refuse_instructions; /* it could be had when the plan was made */
        begin(&f, 1);
        end(&f, 1);
        drain(&f);
        assert_int_equal(f.drained.readings.n, 4);
        for (uint32_t m = 0; m < 4; m++) check_reason(&f, 1, m, cases[i].reason);
        finish(&f);
    }
}

static void counters_are_open_only_within_their_window(void **state) {
    (void)state;
    static const char *const names[] = {"cycles", "instructions", "branches"};
    fake.counters = 2;
    fixture f = start(&fake_kernel, names, 3);
    assert_int_equal(f.plan.pass_count, 2);
    assert_int_equal(fake_open_count(), 0);
    begin(&f, 1);
    assert_int_equal(fake_open_count(), 2);
    end(&f, 1);
    begin(&f, 2); /* still open when the window closes */
    assert_int_equal(cpu->close_window(f.self, &f.window, NULL), WM_OK);
    assert_int_equal(fake_open_count(), 0);
    begin(&f, 3); /* no window: nothing is read */
    end(&f, 3);
    f.window.pass = 1;
    assert_int_equal(cpu->open_window(f.self, &f.window, NULL), WM_OK);
    begin(&f, 4);
    assert_int_equal(fake_open_count(), 1);
    count(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 6, 10, 10);
    end(&f, 4);
    end(&f, 2);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 3);
    check_value(&f, 1, 0, 0);
    check_value(&f, 1, 1, 0);
    check_value(&f, 4, 2, 6);
    finish(&f);
}

static void a_clean_pass_opens_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"time", "cycles"};
    fixture f = start(&fake_kernel, names, 2);
    begin(&f, 1);
    assert_int_equal(fake_open_count(), 0);
    end(&f, 1);
    drain(&f);
    assert_int_equal(f.drained.readings.n, 0);
    finish(&f);
}

static void marks_leave_errno_alone(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    fake.fail_read_after = 0;
    errno = ERANGE;
    begin(&f, 1);
    end(&f, 1);
    assert_int_equal(errno, ERANGE);
    finish(&f);
}

static void two_backends_do_not_mix(void **state) {
    (void)state;
    fixture a = start(&fake_kernel, cycles, 1), b = start(&fake_kernel, cycles, 1);
    begin(&a, 1);
    count(0, 4, 4, 4);
    end(&a, 1);
    begin(&b, 2);
    count(0, 8, 8, 8);
    end(&b, 2);
    drain(&a);
    drain(&b);
    assert_int_equal(a.drained.readings.n, 1);
    check_value(&a, 1, 0, 4);
    assert_int_equal(b.drained.readings.n, 1);
    check_value(&b, 2, 0, 8);
    cpu->close_window(b.self, &b.window, NULL);
    finish(&a);
    finish(&b);
}

/* ---- threads, on the real clock ---- */

typedef struct worker {
    const fixture *f;
    uint32_t thread;
    int entries;
} worker;

static void *mark_entries(void *argument) {
    const worker *w = argument;
    for (int i = 0; i < w->entries; i++) {
        uint64_t entry = (uint64_t)w->thread << 40 | (uint64_t)i;
        edge_of(w->f, w->thread, false, entry);
        edge_of(w->f, w->thread, true, entry);
    }
    return NULL;
}

static void run_workers(const fixture *f, int count_of_threads, int entries) {
    pthread_t threads[8];
    worker workers[8];
    for (int i = 0; i < count_of_threads; i++) {
        workers[i] = (worker){f, (uint32_t)i, entries};
        assert_int_equal(pthread_create(&threads[i], NULL, mark_entries, &workers[i]), 0);
    }
    for (int i = 0; i < count_of_threads; i++) pthread_join(threads[i], NULL);
}

static void every_thread_has_its_readings(void **state) {
    (void)state;
    static const char *const names[] = {"cpu_time"};
    fixture f = start(&wmi_perf_kernel, names, 1);
    for (int round = 0; round < 3; round++) { /* new threads under the numbers of those that ended */
        run_workers(&f, 4, 1000);
        f.drained.readings.n = 0;
        drain(&f);
        assert_int_equal(f.drained.readings.n, 4000);
        for (uint64_t t = 0; t < 4; t++) check_reason(&f, t << 40 | 999, 0, WM_REASON_NONE);
    }
    finish(&f);
}

static void threads_that_ended_leave_no_counter_open(void **state) {
    (void)state;
    fixture f = start(&fake_kernel, cycles, 1);
    run_workers(&f, 1, 10);
    assert_int_equal(fake_open_count(), 1);
    drain(&f);
    assert_int_equal(fake_open_count(), 0);
    assert_int_equal(f.drained.readings.n, 10);
    begin(&f, 77); /* this thread lives on */
    drain(&f);
    assert_int_equal(fake_open_count(), 1);
    finish(&f);
}

static void *mark_until_told(void *argument) {
    const worker *w = argument;
    while (!__atomic_load_n(&w->entries, __ATOMIC_RELAXED)) {
        edge_of(w->f, w->thread, false, 1);
        edge_of(w->f, w->thread, true, 1);
    }
    return NULL;
}

static void windows_close_while_threads_mark(void **state) {
    (void)state;
    static const char *const names[] = {"cpu_time", "task-clock"};
    fixture f = start(&wmi_perf_kernel, names, 2);
    int32_t passes = (int32_t)f.plan.pass_count;
    pthread_t thread;
    worker w = {&f, 3, 0};
    assert_int_equal(pthread_create(&thread, NULL, mark_until_told, &w), 0);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(cpu->close_window(f.self, &f.window, NULL), WM_OK);
        drain(&f);
        f.window.pass = i % passes;
        assert_int_equal(cpu->open_window(f.self, &f.window, NULL), WM_OK);
    }
    __atomic_store_n(&w.entries, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    finish(&f);
}

/* ---- this machine ---- */

static double thread_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void cpu_time_lies_between_what_is_inside_and_outside(void **state) {
    (void)state;
    static const char *const names[] = {"cpu_time"};
    fixture f = start(&wmi_perf_kernel, names, 1);
    double before = thread_ns();
    begin(&f, 1);
    double inside = thread_ns();
    while (thread_ns() - inside < 1e6) {
    }
    inside = thread_ns() - inside;
    end(&f, 1);
    double outside = thread_ns() - before;
    drain(&f);
    check_reason(&f, 1, 0, WM_REASON_NONE);
    assert_true(reading(&f, 1, 0)->value >= inside);
    assert_true(reading(&f, 1, 0)->value <= outside);
    finish(&f);
}

static bool permitted(const fixture *f, size_t metric) {
    if (f->plan.pass_of[metric] >= 0) return true;
    print_message("not tested here: %s\n", f->plan.why[metric]);
    return false;
}

static void touch_new_pages(size_t pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = pages * page;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    madvise(p, n, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < n; i += page) ((volatile char *)p)[i] = 1;
    munmap(p, n);
}

static double minor_faults(void) {
    struct rusage r;
    assert_int_equal(getrusage(RUSAGE_THREAD, &r), 0);
    return (double)r.ru_minflt;
}

/* The kernel's own account of the thread, taken just inside and just outside of the entry, encloses the
 * count. */
static void this_kernel_counts_page_faults(void **state) {
    (void)state;
    static const char *const names[] = {"page-faults", "task-clock", "minor-faults"};
    fixture f = start(&wmi_perf_kernel, names, 3);
    if (!permitted(&f, 0)) {
        finish(&f);
        skip();
    }
    double outside = minor_faults();
    begin(&f, 1);
    double inside = minor_faults();
    touch_new_pages(100);
    begin(&f, 2);
    touch_new_pages(200);
    end(&f, 2);
    inside = minor_faults() - inside;
    end(&f, 1);
    outside = minor_faults() - outside;
    drain(&f);
    assert_true(inside >= 300);
    assert_true(reading(&f, 1, 2)->value >= inside);
    assert_true(reading(&f, 1, 2)->value <= outside);
    assert_true(reading(&f, 1, 0)->value >= inside);
    assert_true(reading(&f, 2, 0)->value >= 200);
    assert_true(reading(&f, 2, 0)->value <= reading(&f, 1, 0)->value - 100);
    assert_true(reading(&f, 1, 1)->value > reading(&f, 2, 1)->value);
    finish(&f);
}

static void loop(int64_t n) {
    for (int64_t i = 0; i < n; i++) __asm__ volatile("" : "+r"(i));
}

/* Where the processor's counters are hidden, as in most virtual machines, the reason must be the true one. */
static void this_processor_counts_or_says_why_not(void **state) {
    (void)state;
    static const char *const names[] = {"instructions:u"};
    enum { TURNS = 1000000 };
    fixture f = start(&wmi_perf_kernel, names, 1);
    if (f.plan.pass_of[0] < 0) {
        wm_reason reason = f.plan.reason[0];
        print_message("no hardware counters here: %s\n", f.plan.why[0]);
        assert_true(reason == WM_REASON_NO_EVENT || reason == WM_REASON_PERMISSION ||
                    reason == WM_REASON_NO_SYSCALL);
        assert_int_equal(f.plan.pass_count, 0);
    } else {
        begin(&f, 1);
        loop(TURNS);
        end(&f, 1);
        drain(&f);
        const wmi_reading *r = reading(&f, 1, 0);
        if (r->reason == WM_REASON_NONE) /* at least an increment and a branch a turn, and no more than 20 */
            assert_true(r->value >= 2.0 * TURNS && r->value < 20.0 * TURNS);
        else
            assert_int_equal(r->reason, WM_REASON_NOT_COUNTED);
    }
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_multiplexed_count_is_scaled, reset),
        cmocka_unit_test_setup(a_count_that_never_ran_is_null, reset),
        cmocka_unit_test_setup(a_full_count_is_exact, reset),
        cmocka_unit_test_setup(every_metric_gets_its_own_count, reset),
        cmocka_unit_test_setup(hardware_events_are_read_next_to_the_code, reset),
        cmocka_unit_test_setup(ends_may_come_in_any_order, reset),
        cmocka_unit_test_setup(entries_nest_deeply, reset),
        cmocka_unit_test_setup(what_has_no_partner_gives_nothing, reset),
        cmocka_unit_test_setup(a_failing_read_makes_its_entries_null, reset),
        cmocka_unit_test_setup(a_thread_whose_counters_do_not_open_says_why, reset),
        cmocka_unit_test_setup(counters_are_open_only_within_their_window, reset),
        cmocka_unit_test_setup(a_clean_pass_opens_nothing, reset),
        cmocka_unit_test_setup(marks_leave_errno_alone, reset),
        cmocka_unit_test_setup(two_backends_do_not_mix, reset),
        cmocka_unit_test_setup(every_thread_has_its_readings, reset),
        cmocka_unit_test_setup(threads_that_ended_leave_no_counter_open, reset),
        cmocka_unit_test_setup(windows_close_while_threads_mark, reset),
        cmocka_unit_test_setup(cpu_time_lies_between_what_is_inside_and_outside, reset),
        cmocka_unit_test_setup(this_kernel_counts_page_faults, reset),
        cmocka_unit_test_setup(this_processor_counts_or_says_why_not, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
