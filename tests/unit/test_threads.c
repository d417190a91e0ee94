/* Threads that mark, and their rings: who owns them when, and what is lost. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/thread.h"
#include "unit/cells.h"

#include <cmocka.h>

static wm_session *make(size_t ring_marks) {
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    wm_session *s = NULL;
    opts.ring_marks = ring_marks;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    return s;
}

typedef struct seen {
    size_t threads, marks;
} seen;

static wm_status count(void *user, const wmi_thread *t) {
    seen *all = user;
    all->threads++;
    all->marks += atomic_load(&t->count);
    return WM_OK;
}

typedef struct visitor {
    pthread_barrier_t *marked, *leave; /* NULL: ends at once */
} visitor;

static void *mark_and_wait(void *arg) {
    const visitor *v = arg;
    WM_BEGIN("in a thread");
    WM_END("in a thread");
    if (v->marked) pthread_barrier_wait(v->marked);
    if (v->leave) pthread_barrier_wait(v->leave);
    return NULL;
}

/* One thread ends in the middle of the run, another after it and before it is read. */
static void test_marks_outlive_their_threads_until_they_are_read(void **state) {
    (void)state;
    pthread_barrier_t marked, leave;
    pthread_barrier_init(&marked, NULL, 2);
    pthread_barrier_init(&leave, NULL, 2);
    wm_session *s = make(0);
    pthread_t early, late;
    visitor at_once = {NULL, NULL}, waits = {&marked, &leave};
    seen all = {0, 0};

    assert_int_equal(wmi_threads_claim(), WM_OK);
    wmi_threads_open(s, NULL, 0);
    assert_int_equal(pthread_create(&early, NULL, mark_and_wait, &at_once), 0);
    pthread_join(early, NULL);
    assert_int_equal(pthread_create(&late, NULL, mark_and_wait, &waits), 0);
    pthread_barrier_wait(&marked);
    wmi_threads_close();
    pthread_barrier_wait(&leave);
    pthread_join(late, NULL);
    assert_int_equal(wmi_threads_visit(count, &all), WM_OK);
    assert_int_equal(all.threads, 2);
    assert_int_equal(all.marks, 4);
    wmi_threads_release();

    all = (seen){0, 0};
    assert_int_equal(wmi_threads_claim(), WM_OK);
    wmi_threads_open(s, NULL, 0);
    wmi_threads_close();
    assert_int_equal(wmi_threads_visit(count, &all), WM_OK);
    assert_int_equal(all.threads, 0);
    wmi_threads_release();
    wm_session_destroy(s);
    pthread_barrier_destroy(&marked);
    pthread_barrier_destroy(&leave);
}

/* Otherwise another session's marks would be decoded as this one's. */
static void test_no_run_begins_before_the_last_one_was_read(void **state) {
    (void)state;
    wm_session *s = make(0);
    assert_int_equal(wmi_threads_claim(), WM_OK);
    wmi_threads_open(s, NULL, 0);
    assert_int_equal(wmi_threads_claim(), WM_EBUSY);
    wmi_threads_close();
    assert_int_equal(wmi_threads_claim(), WM_EBUSY);
    wmi_threads_release();
    assert_int_equal(wmi_threads_claim(), WM_OK);
    wmi_threads_open(s, NULL, 0);
    wmi_run_drop();
    wm_session_destroy(s);
}

static wm_table *table_of_a_run(wm_session *s, void (*code)(void)) {
    wm_table *t = NULL;
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    code();
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    assert_int_equal(wm_session_table(s, &t, NULL), WM_OK);
    return t;
}

static void a_few(void) {
    for (int i = 0; i < 5; i++) {
        WM_BEGIN("few");
        WM_END("few");
    }
}

/* Numbers of entries go on from run to run. Where they end they begin again. */
static void test_numbers_of_entries_that_run_out(void **state) {
    (void)state;
    wm_session *s = make(0);
    wm_table_destroy(table_of_a_run(s, a_few));
    wmi_thread_self()->seq = UINT32_MAX - 2;
    wm_table *t = table_of_a_run(s, a_few);
    const size_t row = find_row(t, "few", "time", NULL);
    assert_string_equal(text_cell(t, row, "status"), "ok");
    assert_int_equal(number_cell(t, row, "entries"), 10);
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static void left_open_too_deep(void) {
    for (int i = 0; i < 300; i++) WM_BEGIN("left open");
}

static void test_the_whole_function_ends_whatever_is_left_open(void **state) {
    (void)state;
    wm_session *s = make(0);
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    left_open_too_deep();
    wmi_thread_end(wmi_thread_self(), WMI_ROOT_NAME);
    assert_int_equal(wmi_thread_self()->depth, WMI_DEPTH_MAX - 1);
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    wm_session_destroy(s);
}

static void *fill(void *arg) {
    for (int i = 0; i < 10; i++) {
        WM_BEGIN("filler");
        WM_END("filler");
    }
    WM_BEGIN("shared");
    WM_END("shared");
    return arg;
}

static void share(void) {
    pthread_t thread;
    WM_BEGIN("shared");
    WM_END("shared");
    assert_int_equal(pthread_create(&thread, NULL, fill, NULL), 0);
    pthread_join(thread, NULL);
}

/* The other thread's entry of `shared` is among the lost marks, so its sum here is wrong. */
static void test_marks_lost_in_one_thread_are_told_by_all_regions(void **state) {
    (void)state;
    wm_session *s = make(20);
    wm_table *t = table_of_a_run(s, share);
    const size_t shared = find_row(t, "shared", "time", NULL);
    assert_string_equal(text_cell(t, shared, "status"), "error");
    assert_non_null(strstr(text_cell(t, shared, "reason"), "2 marks were dropped"));
    assert_string_equal(text_cell(t, find_row(t, "filler", "time", NULL), "status"), "error");
    wm_table_destroy(t);
    wm_session_destroy(s);
}

static pthread_key_t key;
static void mark_late(void *arg) {
    (void)arg;
    WM_BEGIN("late");
    WM_END("late");
}
static void *mark_at_exit(void *arg) {
    pthread_setspecific(key, &key);
    WM_BEGIN("early");
    WM_END("early");
    return arg;
}
static void thread_that_marks_at_exit(void) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, mark_at_exit, NULL), 0);
    pthread_join(thread, NULL);
}

static void test_marks_of_destructors_of_a_thread(void **state) {
    (void)state;
    wm_session *s = make(0);
    wm_table_destroy(table_of_a_run(s, a_few)); /* the library's own key is the first */
    assert_int_equal(pthread_key_create(&key, mark_late), 0);
    wm_table *t = table_of_a_run(s, thread_that_marks_at_exit);
    assert_string_equal(text_cell(t, find_row(t, "early", "time", NULL), "status"), "ok");
    assert_string_equal(text_cell(t, find_row(t, "late", "time", NULL), "status"), "ok");
    wm_table_destroy(t);
    pthread_key_delete(key);
    wm_session_destroy(s);
}

static void *mark_until_told(void *arg) {
    const bool *over = arg;
    while (!__atomic_load_n(over, __ATOMIC_RELAXED)) {
        WM_BEGIN("busy");
        WM_END("busy");
    }
    return NULL;
}

/* Threads that were inside a mark at the fork do not exist in the child. */
static void test_a_child_can_end_what_its_parent_began(void **state) {
    (void)state;
    bool over = false;
    pthread_t thread;
    wm_session_opts opts = WM_SESSION_OPTS_INIT;
    opts.metrics = "cpu_time";
    wm_session *s = NULL;
    assert_int_equal(wm_session_create(&opts, &s, NULL), WM_OK);
    assert_int_equal(wm_session_start(s, NULL), WM_OK);
    assert_int_equal(pthread_create(&thread, NULL, mark_until_told, &over), 0);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) {
            WM_BEGIN("child");
            WM_END("child");
            wmi_run_drop();
            _exit(wm_session_start(s, NULL) == WM_ESTATE && !wm_active ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(wm_session_stop(s, NULL), WM_OK);
    wm_session_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks_outlive_their_threads_until_they_are_read),
        cmocka_unit_test(test_no_run_begins_before_the_last_one_was_read),
        cmocka_unit_test(test_numbers_of_entries_that_run_out),
        cmocka_unit_test(test_the_whole_function_ends_whatever_is_left_open),
        cmocka_unit_test(test_marks_lost_in_one_thread_are_told_by_all_regions),
        cmocka_unit_test(test_marks_of_destructors_of_a_thread),
        cmocka_unit_test(test_a_child_can_end_what_its_parent_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
