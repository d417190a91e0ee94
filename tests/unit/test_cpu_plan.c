/* What is read in which pass, and why not: against a kernel that is a fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/cpu.h"
#include "fakes/fake_perf.h"

static int warnings;
static char last_warning[512];

static void keep_warning(void *user, const char *line) {
    (void)user;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", line);
}

static int reset(void **state) {
    (void)state;
    fake_reset();
    warnings = 0;
    return 0;
}

static void *open_backend(void) {
    const wmi_backend_opts opts = {.warn = keep_warning};
    void *self = NULL;
    assert_int_equal(wmi_cpu_open(&fake_kernel, &opts, &self, NULL), WM_OK);
    return self;
}

static wmi_plan plan_of(void *self, const char *const *names, size_t count) {
    const wmi_metric_set set = {names, count};
    wmi_plan plan;
    assert_int_equal(wmi_cpu_backend.plan(self, &set, &plan, NULL), WM_OK);
    assert_int_equal(plan.metric_count, count);
    assert_int_equal(fake_open_count(), 0); /* trials leave nothing open */
    return plan;
}

/* Plan the names with a backend of its own; pass[i] is where names[i] must be. */
static void check_passes(const char *const *names, const int *pass, size_t count, size_t passes) {
    void *self = open_backend();
    wmi_plan plan = plan_of(self, names, count);
    assert_int_equal(plan.pass_count, passes);
    for (size_t i = 0; i < count; i++) assert_int_equal(plan.pass_of[i], pass[i]);
    wmi_plan_free(&plan);
    wmi_cpu_backend.close(self);
}

static void time_has_a_clean_pass_and_others_their_own(void **state) {
    (void)state;
    const char *const names[] = {"page-faults", "time", "cpu_time", "cycles", "time_sum"};
    void *self = open_backend();
    wmi_plan plan = plan_of(self, names, 5);
    assert_int_equal(plan.pass_count, 3);
    assert_int_equal(plan.pass_of[1], 0);
    assert_int_equal(plan.pass_of[4], 0);
    assert_int_equal(plan.pass_of[2], 1);
    assert_int_equal(plan.pass_of[0], 2);
    assert_int_equal(plan.pass_of[3], 2);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(plan.passes[i].disturbs, i > 0);
        assert_int_equal(plan.passes[i].edges, i > 0);
    }
    wmi_plan_free(&plan);
    wmi_cpu_backend.close(self);
}

static void without_time_there_is_no_clean_pass(void **state) {
    (void)state;
    check_passes((const char *const[]){"cpu_time"}, (const int[]){0}, 1, 1);
    check_passes((const char *const[]){"cs", "faults"}, (const int[]){0, 0}, 2, 1);
    check_passes(NULL, NULL, 0, 0);
}

static const char *const five[] = {"cycles", "instructions", "branches", "branch-misses", "cache-misses"};

static void events_beyond_the_counters_go_into_further_passes(void **state) {
    (void)state;
    const int pass[] = {0, 0, 1, 1, 2};
    fake.counters = 2;
    check_passes(five, pass, 5, 3);
    fake.opens_anyway = true; /* the group opens but never runs */
    check_passes(five, pass, 5, 3);
    fake.counters = 8;
    check_passes(five, (const int[]){0, 0, 0, 0, 0}, 5, 1);
}

static void events_that_never_run_get_passes_of_their_own(void **state) {
    (void)state;
    fake.counters = 0;
    fake.opens_anyway = true;
    check_passes(five, (const int[]){0, 1, 2, 3, 4}, 5, 5);
}

static void software_events_share_the_first_pass_of_events(void **state) {
    (void)state;
    const char *const names[] = {"cs", "cycles", "faults", "instructions", "cpu-clock", "branches"};
    fake.counters = 2;
    check_passes(names, (const int[]){0, 0, 0, 0, 0, 1}, 6, 2);
}

static int refuse_cycles_by(int native, const struct perf_event_attr *attr) {
    return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES ? native : 0;
}
static int refuse_enoent(const struct perf_event_attr *a) { return refuse_cycles_by(ENOENT, a); }
static int refuse_enodev(const struct perf_event_attr *a) { return refuse_cycles_by(ENODEV, a); }
static int refuse_eopnotsupp(const struct perf_event_attr *a) { return refuse_cycles_by(EOPNOTSUPP, a); }
static int refuse_einval(const struct perf_event_attr *a) { return refuse_cycles_by(EINVAL, a); }
static int refuse_eacces(const struct perf_event_attr *a) { return refuse_cycles_by(EACCES, a); }
static int refuse_eperm(const struct perf_event_attr *a) { return refuse_cycles_by(EPERM, a); }
static int refuse_enosys(const struct perf_event_attr *a) { return refuse_cycles_by(ENOSYS, a); }
static int refuse_emfile(const struct perf_event_attr *a) { return refuse_cycles_by(EMFILE, a); }

static void each_refusal_has_its_reason_and_stops_nothing_else(void **state) {
    (void)state;
    static const struct {
        int (*refuse)(const struct perf_event_attr *);
        wm_reason reason;
        const char *text;
    } cases[] = {
        {refuse_enoent, WM_REASON_NO_EVENT, "does not have the event"},
        {refuse_enodev, WM_REASON_NO_EVENT, "does not have the event"},
        {refuse_eopnotsupp, WM_REASON_NO_EVENT, "does not have the event"},
        {refuse_einval, WM_REASON_NO_EVENT, "cannot count this event for one thread"},
        {refuse_eacces, WM_REASON_PERMISSION, "not permitted"},
        {refuse_eperm, WM_REASON_PERMISSION, "not permitted"},
        {refuse_enosys, WM_REASON_NO_SYSCALL, "no perf_event_open"},
        {refuse_emfile, WM_REASON_BACKEND, "could not be opened: Too many open files"},
    };
    const char *const names[] = {"cycles", "instructions", "page-faults"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_reset();
        fake.refuse = cases[i].refuse;
        void *self = open_backend();
        wmi_plan plan = plan_of(self, names, 3);
        assert_int_equal(plan.pass_of[0], -1);
        assert_int_equal(plan.reason[0], cases[i].reason);
        assert_non_null(strstr(plan.why[0], cases[i].text));
        assert_int_equal(plan.pass_of[1], 0);
        assert_int_equal(plan.pass_of[2], 0);
        assert_null(plan.why[1]);
        assert_int_equal(plan.pass_count, 1);
        wmi_plan_free(&plan);
        wmi_cpu_backend.close(self);
    }
    assert_int_equal(warnings, 0);
}

static void an_unknown_name_is_left_out(void **state) {
    (void)state;
    void *self = open_backend();
    wmi_plan plan = plan_of(self, (const char *const[]){"nosuchevent", "cycles"}, 2);
    assert_int_equal(plan.pass_of[0], -1);
    assert_int_equal(plan.reason[0], WM_REASON_NO_EVENT);
    assert_non_null(strstr(plan.why[0], "nosuchevent"));
    assert_int_equal(plan.pass_of[1], 0);
    wmi_plan_free(&plan);
    wmi_cpu_backend.close(self);
}

/* perf_event_paranoid 2 without privileges. Linux counts 0 context switches and migrations for user code,
 * with no error; they must be nulls. */
static void where_kernel_code_is_forbidden_user_code_is_counted(void **state) {
    (void)state;
    const char *const names[] = {"cycles",     "cycles:k",    "cycles:u", "cs",
                                 "migrations", "page-faults", "cycles:uk"};
    const int pass[] = {0, -1, 0, -1, -1, 0, -1};
    fake.user_only = true;
    void *self = open_backend();
    for (int again = 0; again < 2; again++) {
        wmi_plan plan = plan_of(self, names, 7);
        for (size_t i = 0; i < 7; i++) {
            assert_int_equal(plan.pass_of[i], pass[i]);
            assert_int_equal(plan.reason[i], pass[i] < 0 ? WM_REASON_PERMISSION : WM_REASON_NONE);
        }
        assert_non_null(strstr(plan.why[3], "kernel code"));
        assert_non_null(strstr(plan.why[1], "kernel code"));
        assert_int_equal(plan.pass_count, 1);
        wmi_plan_free(&plan);
    }
    assert_int_equal(warnings, 1); /* once, not for each plan */
    assert_non_null(strstr(last_warning, "user code alone"));
    wmi_cpu_backend.close(self);
}

static void what_happens_in_the_kernel_is_not_counted_for_user_code(void **state) {
    (void)state;
    void *self = open_backend();
    wmi_plan plan = plan_of(self, (const char *const[]){"cs:u", "cs:k", "cs"}, 3);
    assert_int_equal(plan.pass_of[0], -1);
    assert_int_equal(plan.reason[0], WM_REASON_NO_EVENT);
    assert_non_null(strstr(plan.why[0], "kernel code alone"));
    assert_int_equal(plan.pass_of[1], 0);
    assert_int_equal(plan.pass_of[2], 0);
    assert_int_equal(warnings, 0);
    wmi_plan_free(&plan);
    wmi_cpu_backend.close(self);
}

static void windows_are_of_the_plans_passes(void **state) {
    (void)state;
    void *self = open_backend();
    wm_error err = WM_ERROR_INIT;
    wmi_window w = {.kind = WMI_WINDOW_CONFIG, .pass = 0};
    assert_int_equal(wmi_cpu_backend.open_window(self, &w, &err), WM_EINVAL);
    wmi_plan plan = plan_of(self, (const char *const[]){"time"}, 1);
    assert_int_equal(wmi_cpu_backend.open_window(self, &w, NULL), WM_OK);
    assert_int_equal(wmi_cpu_backend.close_window(self, &w, NULL), WM_OK);
    w.pass = 1;
    assert_int_equal(wmi_cpu_backend.open_window(self, &w, NULL), WM_EINVAL);
    w.pass = -1;
    assert_int_equal(wmi_cpu_backend.open_window(self, &w, NULL), WM_EINVAL);
    wmi_plan_free(&plan);
    wmi_cpu_backend.close(self);
    wmi_cpu_backend.close(NULL);
}

/* ---- describing, listing, doctor ---- */

static void metrics_are_described(void **state) {
    (void)state;
    wmi_metric m;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_cpu_backend.describe(NULL, "time", &m, NULL), WM_OK);
    assert_string_equal(m.unit, "ns");
    assert_string_equal(m.backend, "cpu");
    assert_int_equal(m.better, WMI_BETTER_LOWER);
    assert_true(m.timer[0] != '\0');
    assert_int_equal(wmi_cpu_backend.describe(NULL, "cpu_time", &m, NULL), WM_OK);
    assert_string_equal(m.unit, "ns");
    assert_int_equal(m.combine, WMI_COMBINE_SUM);
    assert_string_equal(m.timer, "");
    char name[] = "page-faults:u"; /* the answer outlives the question */
    assert_int_equal(wmi_cpu_backend.describe(NULL, name, &m, NULL), WM_OK);
    memset(name, 'x', sizeof name - 1);
    assert_string_equal(m.name, "page-faults:u");
    assert_string_equal(m.unit, "");
    assert_int_equal(wmi_cpu_backend.describe(NULL, "task-clock", &m, NULL), WM_OK);
    assert_string_equal(m.unit, "ns");
    assert_int_equal(wmi_cpu_backend.describe(NULL, "nosuchevent", &m, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "nosuchevent"));
    assert_int_equal(wmi_cpu_backend.describe("GH100", "time", &m, &err), WM_ENOTFOUND);
    assert_non_null(strstr(err.message, "GH100"));
}

typedef struct seen {
    int count, available;
    char last[128], why[256];
} seen;

static wm_status see(void *user, const wmi_metric *m, bool available, const char *why_not) {
    seen *s = user;
    s->count++;
    s->available += available;
    assert_string_equal(m->backend, "cpu");
    assert_true(available || (why_not && why_not[0]));
    snprintf(s->last, sizeof s->last, "%s", m->name);
    snprintf(s->why, sizeof s->why, "%s", available ? "" : why_not);
    return WM_OK;
}

static seen list_of(const char *pattern) {
    seen s = {0};
    const wmi_metric_list list = {&s, see};
    assert_int_equal(wmi_cpu_list(&fake_kernel, pattern, &list, NULL), WM_OK);
    assert_int_equal(fake_open_count(), 0);
    return s;
}

static void listing_follows_patterns_and_says_what_is_missing(void **state) {
    (void)state;
    assert_int_equal(list_of("L1-*").count, 10);
    assert_int_equal(list_of("time*").count, 2);
    assert_int_equal(list_of("nosuch*").count, 0);
    assert_int_equal(list_of("*faults").available, 5);
    fake.refuse = refuse_enoent;
    seen s = list_of("[c]ycles");
    assert_int_equal(s.count, 1);
    assert_int_equal(s.available, 0);
    assert_non_null(strstr(s.why, "does not have the event"));
    assert_true(list_of(NULL).count >= (int)wmi_perf_names() + 3);
}

static void a_plain_name_is_listed_even_if_it_is_an_alias(void **state) {
    (void)state;
    static const char *const names[] = {"cs", "cycles:u", "r1c2", "time", "cpu_time"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        seen s = list_of(names[i]);
        assert_int_equal(s.count, 1);
        assert_int_equal(s.available, 1);
        assert_string_equal(s.last, names[i]);
    }
    assert_int_equal(list_of("nosuchevent").count, 0);
}

static wm_status refuse_to_see(void *user, const wmi_metric *m, bool available, const char *why_not) {
    (void)m;
    (void)available;
    (void)why_not;
    return ++*(int *)user == 2 ? WM_ENOMEM : WM_OK;
}

static void listing_ends_when_the_taker_fails(void **state) {
    (void)state;
    int count = 0;
    const wmi_metric_list list = {&count, refuse_to_see};
    assert_int_equal(wmi_cpu_list(&fake_kernel, NULL, &list, NULL), WM_ENOMEM);
    assert_int_equal(count, 2);
}

static const wmi_finding *find(const wmi_probe *p, const char *item) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].item, item) == 0) return &p->v[i];
    return NULL;
}

static void doctor_counts_events_and_counters(void **state) {
    (void)state;
    wmi_probe p = {0};
    fake.counters = 6;
    wmi_cpu_probe(&fake_kernel, &p);
    assert_false(p.failed);
    assert_int_equal(find(&p, "software events")->state, WMI_STATE_OK);
    assert_string_equal(find(&p, "software events")->value, "10 of 10");
    assert_string_equal(find(&p, "hardware events")->value, "42 of 42");
    assert_string_equal(find(&p, "hardware counters")->value, "6 can count together");
    assert_non_null(find(&p, "libpfm4"));
    assert_int_equal(find(&p, "cpu_time")->state, WMI_STATE_OK);
    assert_int_equal(fake_open_count(), 0);
    wmi_probe_free(&p);
}

static void doctor_tells_of_user_code_alone(void **state) {
    (void)state;
    wmi_probe p = {0};
    fake.user_only = true;
    wmi_cpu_probe(&fake_kernel, &p);
    const wmi_finding *f = find(&p, "software events"); /* all but the three that the kernel alone sees */
    assert_int_equal(f->state, WMI_STATE_LIMITED);
    assert_string_equal(f->value, "7 of 10, user code alone");
    assert_non_null(strstr(f->remedy, "perf_event_paranoid"));
    wmi_probe_free(&p);
}

static int refuse_all(const struct perf_event_attr *attr) { return attr->size ? ENOSYS : 0; }

static int refuse_hardware(const struct perf_event_attr *attr) {
    return attr->type == PERF_TYPE_SOFTWARE ? 0 : ENOENT;
}

static void doctor_tells_why_nothing_is_there(void **state) {
    (void)state;
    wmi_probe p = {0};
    fake.refuse = refuse_all;
    wmi_cpu_probe(&fake_kernel, &p);
    assert_int_equal(find(&p, "software events")->state, WMI_STATE_ABSENT);
    assert_non_null(strstr(find(&p, "software events")->reason, "no perf_event_open"));
    assert_null(find(&p, "hardware counters"));
    wmi_probe_free(&p);
    fake.refuse = refuse_hardware;
    wmi_cpu_probe(&fake_kernel, &p);
    assert_int_equal(find(&p, "software events")->state, WMI_STATE_OK);
    assert_int_equal(find(&p, "hardware events")->state, WMI_STATE_ABSENT);
    assert_non_null(strstr(find(&p, "hardware events")->remedy, "virtual machine"));
    wmi_probe_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(time_has_a_clean_pass_and_others_their_own, reset),
        cmocka_unit_test_setup(without_time_there_is_no_clean_pass, reset),
        cmocka_unit_test_setup(events_beyond_the_counters_go_into_further_passes, reset),
        cmocka_unit_test_setup(events_that_never_run_get_passes_of_their_own, reset),
        cmocka_unit_test_setup(software_events_share_the_first_pass_of_events, reset),
        cmocka_unit_test_setup(each_refusal_has_its_reason_and_stops_nothing_else, reset),
        cmocka_unit_test_setup(an_unknown_name_is_left_out, reset),
        cmocka_unit_test_setup(where_kernel_code_is_forbidden_user_code_is_counted, reset),
        cmocka_unit_test_setup(what_happens_in_the_kernel_is_not_counted_for_user_code, reset),
        cmocka_unit_test_setup(windows_are_of_the_plans_passes, reset),
        cmocka_unit_test_setup(metrics_are_described, reset),
        cmocka_unit_test_setup(listing_follows_patterns_and_says_what_is_missing, reset),
        cmocka_unit_test_setup(a_plain_name_is_listed_even_if_it_is_an_alias, reset),
        cmocka_unit_test_setup(listing_ends_when_the_taker_fails, reset),
        cmocka_unit_test_setup(doctor_counts_events_and_counters, reset),
        cmocka_unit_test_setup(doctor_tells_of_user_code_alone, reset),
        cmocka_unit_test_setup(doctor_tells_why_nothing_is_there, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
