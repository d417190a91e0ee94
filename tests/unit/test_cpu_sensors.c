/* The processors' sensors over made-up trees of /sys. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cpu/sensors.h"
#include "unit/trees.h"

static wmi_cpu_sensors *sensors;

static int begin(void **state) {
    if (make_root(state) != 0 || chmod(root, 0755) != 0) return -1;
    sensors = wmi_cpu_sensors_create(root);
    return sensors ? 0 : -1;
}

static int end(void **state) {
    wmi_cpu_sensors_destroy(sensors);
    sensors = NULL;
    return remove_root(state);
}

static void put_cpu(int cpu, const char *name, long value) {
    char path[128], text[32];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    snprintf(text, sizeof text, "%ld\n", value);
    put(path, text);
}

static void put_clock(int cpu, long khz) { put_cpu(cpu, "cpufreq/scaling_cur_freq", khz); }
static void put_counts(int cpu, long core, long package) {
    put_cpu(cpu, "thermal_throttle/core_throttle_count", core);
    put_cpu(cpu, "thermal_throttle/package_throttle_count", package);
}

static void put_zone_file(int zone, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/%s", zone, name);
    put(path, text);
}

static void put_energy(int zone, long uj) {
    char text[32];
    snprintf(text, sizeof text, "%ld\n", uj);
    put_zone_file(zone, "energy_uj", text);
}

static void put_zone(int zone, const char *name, long uj, const char *range) {
    put_zone_file(zone, "name", name);
    put_zone_file(zone, "max_energy_range_uj", range);
    put_energy(zone, uj);
}

/* Read all three on a processor. */
static wmi_sensed read_on(int cpu) {
    wmi_sensed r;
    wmi_sensed_clear(&r, WM_REASON_UNKNOWN);
    wmi_cpu_sensors_read(sensors, WMI_CPU_SENSORS, cpu, &r);
    return r;
}

static void check(const wmi_sensed *r, wmi_sensor which, double value) {
    assert_int_equal(r->reason[which], WM_REASON_NONE);
    assert_true(r->value[which] == value);
}

static void check_null(const wmi_sensed *r, wmi_sensor which, wm_reason why) {
    assert_int_equal(r->reason[which], why);
}

static void test_nothing_is_there(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const wmi_sensed r = read_on(i);
        check_null(&r, WMI_SENSOR_CPU_CLOCK, WM_REASON_NO_SENSOR);
        check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_NO_SENSOR);
        check_null(&r, WMI_SENSOR_CPU_THROTTLE, WM_REASON_NO_SENSOR);
    }
}

static void test_only_what_is_asked_for(void **state) {
    (void)state;
    wmi_sensed r;
    put_clock(0, 1000000);
    put_counts(0, 1, 1);
    wmi_sensed_clear(&r, WM_REASON_UNKNOWN);
    wmi_cpu_sensors_read(sensors, WMI_SENSOR_BIT(CPU_CLOCK), 0, &r);
    check(&r, WMI_SENSOR_CPU_CLOCK, 1e9);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (i != WMI_SENSOR_CPU_CLOCK) assert_int_equal(r.reason[i], WM_REASON_UNKNOWN);
}

static void test_clock_is_the_processors(void **state) {
    (void)state;
    put_clock(0, 2400000);
    put_clock(3, 3712345);
    wmi_sensed r = read_on(0);
    check(&r, WMI_SENSOR_CPU_CLOCK, 2.4e9);
    put_clock(0, 1200000);
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_CLOCK, 1.2e9);
    r = read_on(3);
    check(&r, WMI_SENSOR_CPU_CLOCK, 3712345e3);
    r = read_on(1);
    check_null(&r, WMI_SENSOR_CPU_CLOCK, WM_REASON_NO_SENSOR);
    r = read_on(-1);
    check_null(&r, WMI_SENSOR_CPU_CLOCK, WM_REASON_NO_SENSOR);
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_CLOCK, 1.2e9);
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
    r = read_on(0);
    check_null(&r, WMI_SENSOR_CPU_CLOCK, WM_REASON_BACKEND);
}

static void test_files_are_opened_once(void **state) {
    (void)state;
    char path[128];
    put_clock(0, 2000000);
    wmi_sensed r = read_on(0);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", root);
    assert_int_equal(unlink(path), 0);
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_CLOCK, 2e9);
    put_zone(0, "package-0\n", 5, "100\n"); /* what was not there is not looked for again */
    r = read_on(0);
    check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_NO_SENSOR);
}

static void test_energy_of_two_packages(void **state) {
    (void)state;
    put_zone(0, "package-0\n", 1000000, "262143328850\n");
    put_zone(1, "psys\n", 7000000, "262143328850\n");
    put_zone(3, "package-1\n", 5000000, "262143328850\n");
    const wmi_sensed first = read_on(0);
    put_energy(0, 3500000);
    put_energy(1, 99000000);
    put_energy(3, 5250000);
    const wmi_sensed second = read_on(0);
    assert_int_equal(first.reason[WMI_SENSOR_CPU_ENERGY], WM_REASON_NONE);
    assert_true(second.value[WMI_SENSOR_CPU_ENERGY] - first.value[WMI_SENSOR_CPU_ENERGY] == 2.75);
}

static void test_energy_wraps_around(void **state) {
    (void)state;
    put_zone(0, "package-0\n", 9000000, "10000000\n");
    const wmi_sensed first = read_on(0);
    put_energy(0, 500000); /* 1 J up to the range, half a joule after it */
    wmi_sensed r = read_on(0);
    assert_true(r.value[WMI_SENSOR_CPU_ENERGY] - first.value[WMI_SENSOR_CPU_ENERGY] == 1.5);
    put_energy(0, 750000);
    r = read_on(0);
    assert_true(r.value[WMI_SENSOR_CPU_ENERGY] - first.value[WMI_SENSOR_CPU_ENERGY] == 1.75);
}

static void test_energy_of_some_packages_is_none(void **state) {
    (void)state;
    put_zone(0, "package-0\n", 1, "10\n");
    put_zone(1, "package-1\n", 1, "10\n");
    put_zone_file(1, "energy_uj", "broken\n");
    wmi_sensed r = read_on(0);
    check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_BACKEND);
    put_energy(1, 1);
    r = read_on(0);
    assert_int_equal(r.reason[WMI_SENSOR_CPU_ENERGY], WM_REASON_NONE);
}

static const wmi_finding *finding(const wmi_probe *p, const char *item) {
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->v[i].item, item)) return &p->v[i];
    fail_msg("no finding about %s", item);
    return NULL;
}

/* Root may read everything, so the test is another user for a while. */
static void test_energy_for_root_alone(void **state) {
    (void)state;
    char path[128];
    wmi_probe p = {0};
    put_zone(0, "package-0\n", 1, "10\n");
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(chmod(path, getuid() ? 0 : 0400), 0);
    if (getuid() == 0) assert_int_equal(seteuid(65534), 0);
    const wmi_sensed r = read_on(0);
    wmi_cpu_sensors_probe(root, &p);
    if (getuid() == 0) assert_int_equal(seteuid(0), 0);
    check_null(&r, WMI_SENSOR_CPU_ENERGY, WM_REASON_PERMISSION);
    const wmi_finding *f = finding(&p, "cpu_energy_j");
    assert_int_equal(f->state, WMI_STATE_ABSENT);
    assert_non_null(strstr(f->reason, "root"));
    assert_non_null(strstr(f->remedy, "chmod"));
    wmi_probe_free(&p);
}

static void test_throttling_is_a_count_that_rose(void **state) {
    (void)state;
    put_counts(0, 7, 100);
    wmi_sensed r = read_on(0);
    check(&r, WMI_SENSOR_CPU_THROTTLE, 0); /* what was before is not known */
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_THROTTLE, 0);
    put_counts(0, 8, 100);
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_THROTTLE, WMI_THROTTLE(THERMAL));
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_THROTTLE, 0);
    put_counts(0, 8, 101);
    r = read_on(0);
    check(&r, WMI_SENSOR_CPU_THROTTLE, WMI_THROTTLE(THERMAL));
}

static void test_throttling_when_the_processor_changes(void **state) {
    (void)state;
    put_counts(0, 1, 1);
    put_counts(1, 500, 1);
    wmi_sensed r = read_on(0);
    r = read_on(1);
    check(&r, WMI_SENSOR_CPU_THROTTLE, 0); /* another count, no higher one */
    put_counts(1, 501, 1);
    r = read_on(0); /* it rose while the thread was there */
    check(&r, WMI_SENSOR_CPU_THROTTLE, WMI_THROTTLE(THERMAL));
    put_counts(1, 502, 1);
    r = read_on(1); /* while it was elsewhere */
    check(&r, WMI_SENSOR_CPU_THROTTLE, 0);
}

static void test_doctor_tells_what_is_there(void **state) {
    (void)state;
    wmi_probe none = {0}, all = {0};
    static const char *const items[] = {"cpu_clock_hz", "cpu_energy_j", "cpu_throttle"};
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    wmi_cpu_sensors_probe(root, &none);
    put_clock(sched_getcpu(), 2400000);
    put_counts(sched_getcpu(), 0, 0);
    put_zone(0, "package-0\n", 1, "10\n");
    wmi_cpu_sensors_probe(root, &all);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(finding(&none, items[i])->state, WMI_STATE_ABSENT);
        assert_string_not_equal(finding(&none, items[i])->reason, "");
        assert_string_not_equal(finding(&none, items[i])->remedy, "");
        assert_int_equal(finding(&all, items[i])->state, WMI_STATE_OK);
    }
    assert_string_equal(finding(&all, "cpu_clock_hz")->value, "2400 MHz now");
    assert_string_equal(finding(&all, "cpu_energy_j")->value, "of 1 package");
    wmi_probe_free(&none);
    wmi_probe_free(&all);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_there),
        TEST(test_only_what_is_asked_for),
        TEST(test_clock_is_the_processors),
        TEST(test_files_are_opened_once),
        TEST(test_energy_of_two_packages),
        TEST(test_energy_wraps_around),
        TEST(test_energy_of_some_packages_is_none),
        TEST(test_energy_for_root_alone),
        TEST(test_throttling_is_a_count_that_rose),
        TEST(test_throttling_when_the_processor_changes),
        TEST(test_doctor_tells_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
