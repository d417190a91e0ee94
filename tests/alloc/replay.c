/* Fails each allocation of a counter measurement in turn: planning, passes, readings. Every call then
 * says that memory ran out, or nothing was lost that it needed; a reading is right or has none; and what
 * comes after is as if nothing had happened. */
#include "fakes/cuda/fake_core.h"

#include "failing.h"

enum { MOST = 20000 };

typedef struct scenario {
    wmi_replay mode;
    double outside;
    void (*program)(int32_t pass);
} scenario;

static wm_status passes_run(const scenario *sc) {
    const wmi_window w = {.kind = plan.passes[0].window};
    wm_status status = WM_OK;
    for (size_t pass = 0; pass < plan.pass_count && status == WM_OK; pass++) {
        if (!wmi_replay_wants(replay, (int32_t)pass, 0)) continue;
        status = wmi_replay_open(replay, (int32_t)pass, &w, &survey, NULL);
        if (status != WM_OK) break;
        sc->program((int32_t)pass);
        status = wmi_replay_close(replay, (int32_t)pass, &w, NULL);
    }
    return status == WM_OK ? wmi_replay_drain(replay, &got, NULL) : status;
}

static wm_status scenario_run(const scenario *sc) {
    const char *const names[] = {sc->mode == WMI_REPLAY_WINDOW ? bytes : sm};
    const uint32_t metric_of[] = {0};
    opts.device.replay = sc->mode;
    survey.kernels_out = sc->outside;
    wm_status status = wmi_plan_init(&plan, 1, NULL);
    if (status == WM_OK) status = wmi_replay_plan_make(chip, names, metric_of, 1, &how, &plan, &replay, NULL);
    if (status == WM_OK) status = passes_run(sc);
    wmi_replay_plan_destroy(replay);
    replay = NULL;
    wmi_plan_free(&plan);
    return status;
}

static double value_of_mode(wmi_replay mode, double kernel) {
    return mode == WMI_REPLAY_WINDOW ? 100 * kernel + 2 : 100 * kernel + 1;
}

static void check_readings(const scenario *sc) {
    for (size_t i = 0; i < got.n; i++) {
        const wmi_reading *r = &got.v[i];
        const char *kernel = wmi_intern_name(r->kernel);
        if (r->metric != 0 || r->reason || kernel[0] != 'k') continue;
        assert_true(r->value == value_of_mode(sc->mode, kernel[1] - '0'));
    }
}

static size_t readings_now(void) {
    const size_t n = got.n;
    wmi_readings_free(&got);
    return n;
}

static void scenario_fail(const scenario *sc, failing_mode mode, size_t expected) {
    bool reached = true;
    unsigned long n = 1;
    for (; reached && n < MOST; n++) {
        failing_arm(n, mode);
        const wm_status status = scenario_run(sc);
        reached = failing_disarm();
        assert_true(status == WM_OK || status == WM_ENOMEM);
        check_readings(sc);
        const size_t read = readings_now();
        if (!reached) assert_int_equal(read, expected);
    }
    assert_true(n > 20 && n < MOST);
    assert_int_equal(scenario_run(sc), WM_OK);
    check_readings(sc);
    assert_int_equal(readings_now(), expected);
}

static void test_all(void **state) {
    (void)state;
    static const scenario scenarios[] = {
        {WMI_REPLAY_STACKED, 2, program_nested},  {WMI_REPLAY_AUTO, 2, program_differs},
        {WMI_REPLAY_WINDOW, 100, program_nested}, {WMI_REPLAY_KERNEL, 2, program_nested},
        {WMI_REPLAY_RANGE, 100, program_overlap},
    };
    clean_pass(program_nested);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        assert_int_equal(scenario_run(&scenarios[i]), WM_OK);
        const size_t expected = readings_now();
        assert_true(expected > 0);
        scenario_fail(&scenarios[i], FAILING_ONCE, expected);
        scenario_fail(&scenarios[i], FAILING_ONWARDS, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
