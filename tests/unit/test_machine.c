#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/machine.h"
#include "machine/sysfs.h"
#include "unit/trees.h"

/* ---- small trees of /proc and /sys ---- */

static void put_cache(int cpu, int index, int level, const char *type, const char *size, const char *shared) {
    static const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
    char path[256], number[16];
    snprintf(number, sizeof number, "%d", level);
    const char *const texts[] = {number, type, size, shared};
    for (int i = 0; i < 4; i++) {
        char line[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, names[i]);
        snprintf(line, sizeof line, "%s\n", texts[i]);
        put(path, line);
    }
}

static void put_for_cpu(int cpu, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    put(path, text);
}

static void check_cache(const wmi_cache *c, int level, const char *type, int64_t size, int shared_by,
                        int count, int usable) {
    assert_int_equal(c->level, level);
    assert_string_equal(c->type, type);
    assert_int_equal(c->size_bytes, size);
    assert_int_equal(c->shared_by, shared_by);
    assert_int_equal(c->count, count);
    assert_int_equal(c->usable, usable);
}

/* Two performance cores of two threads, four efficiency cores that share a cache of level 2. */
static void a_laptop_with_two_kinds_of_cores(void **state) {
    (void)state;
    static const char *const pairs[] = {"0-1", "0-1", "2-3", "2-3"};
    put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                         "model name\t: 12th Gen Intel(R) Core(TM) i5-1235U\nflags\t\t: fpu vme tsc\n\n"
                         "processor\t: 1\nmodel name\t: other\n");
    put("/proc/meminfo",
        "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    9000000 kB\n");
    put("/proc/loadavg", "0.52 0.58 0.59 1/389 1234\n");
    put("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
    put("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian\"\n");
    put("/sys/devices/system/cpu/online", "0-7\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    for (int cpu = 0; cpu < 8; cpu++) {
        char own[8];
        snprintf(own, sizeof own, "%d", cpu);
        bool fast = cpu < 4;
        put_cache(cpu, 0, 1, "Data", fast ? "48K" : "32K", fast ? pairs[cpu] : own);
        put_cache(cpu, 1, 1, "Instruction", fast ? "32K" : "64K", fast ? pairs[cpu] : own);
        put_cache(cpu, 2, 2, "Unified", fast ? "1280K" : "2048K", fast ? pairs[cpu] : "4-7");
        put_cache(cpu, 3, 3, "Unified", "12288K", "0-7");
        put_for_cpu(cpu, "cpufreq/scaling_governor", cpu == 5 ? "powersave\n" : "performance\n");
        put_for_cpu(cpu, "cpufreq/cpuinfo_max_freq", fast ? "4400000\n" : "3300000\n");
    }
    wmi_machine m;
    wmi_machine_read(&m, root);
    assert_string_equal(m.cpu, "12th Gen Intel(R) Core(TM) i5-1235U");
    assert_string_equal(m.os, "Debian GNU/Linux 12 (bookworm)");
    assert_string_equal(m.governor, "powersave"); /* one processor that is not held is enough */
    assert_int_equal(m.turbo, 1);
    assert_int_equal(m.smt, 1);
    assert_false(m.virtual_machine);
    assert_int_equal(m.cpus_online, 8);
    assert_int_equal(m.cpus_allowed, 8);
    assert_true(m.load1 == 0.52);
    assert_true(m.max_hz == 4.4e9);
    assert_true(m.cpu_quota == 0);
    assert_int_equal(m.memory_bytes, INT64_C(16000000) * 1024);
    assert_int_equal(m.memory_free_bytes, INT64_C(9000000) * 1024);
    assert_int_equal(m.cache_count, 7);
    check_cache(&m.caches[0], 1, "Data", 48 << 10, 2, 2, 2);
    check_cache(&m.caches[1], 1, "Instruction", 32 << 10, 2, 2, 2);
    check_cache(&m.caches[2], 1, "Data", 32 << 10, 1, 4, 4);
    check_cache(&m.caches[3], 1, "Instruction", 64 << 10, 1, 4, 4);
    check_cache(&m.caches[4], 2, "Unified", 1280 << 10, 2, 2, 2);
    check_cache(&m.caches[5], 2, "Unified", 2048 << 10, 4, 1, 1);
    check_cache(&m.caches[6], 3, "Unified", 12 << 20, 8, 1, 1);
}

/* Sixteen threads in four complexes of 32 MiB each; the process may use processors of two of them. */
static void a_server_of_which_a_part_may_be_used(void **state) {
    (void)state;
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 7003\nflags\t: fpu hypervisor_x svm\n");
    put("/proc/self/status", "Cpus_allowed_list:\t1-2,5\n");
    put("/proc/self/cgroup", "0::/system.slice/job.service\n");
    put("/sys/fs/cgroup/system.slice/job.service/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/system.slice/job.service/memory.max", "max\n");
    put("/sys/fs/cgroup/system.slice/memory.max", "1000000000\n");
    put("/sys/fs/cgroup/system.slice/memory.current", "600000000\n");
    put("/sys/fs/cgroup/system.slice/memory.stat", "anon 5\ninactive_file 100000000\nactive_file 50000000\n");
    put("/proc/meminfo", "MemTotal: 263000000 kB\nMemAvailable: 200000000 kB\n");
    put("/proc/loadavg", "12.00 3.00 1.00 1/1 1\n");
    put("/sys/devices/system/cpu/online", "0-15\n");
    put("/sys/devices/system/cpu/smt/active", "0\n");
    put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
    for (int cpu = 0; cpu < 16; cpu++) {
        char own[8], complex[16];
        snprintf(own, sizeof own, "%d", cpu);
        snprintf(complex, sizeof complex, "%d-%d", cpu / 4 * 4, cpu / 4 * 4 + 3);
        put_cache(cpu, 0, 1, "Data", "32K", own);
        put_cache(cpu, 3, 3, "Unified", "32768K", complex);
        put_cache(cpu, 1, 1, "Instruction", "32K", own);
        put_cache(cpu, 2, 2, "Unified", "512K", own);
    }
    wmi_machine m;
    wmi_machine_read(&m, root);
    assert_string_equal(m.cpu, "AMD EPYC 7003");
    assert_string_equal(m.governor, "");
    assert_int_equal(m.turbo, 0);
    assert_int_equal(m.smt, 0);
    assert_false(m.virtual_machine); /* "hypervisor" is a whole word */
    assert_int_equal(m.cpus_online, 16);
    assert_int_equal(m.cpus_allowed, 3);
    assert_true(m.cpu_quota == 2.5);
    assert_int_equal(m.memory_free_bytes, 1000000000 - 600000000 + 150000000);
    assert_int_equal(m.cache_count, 4);
    check_cache(&m.caches[0], 1, "Data", 32 << 10, 1, 16, 3);
    check_cache(&m.caches[3], 3, "Unified", 32 << 20, 4, 4, 2);
    wmi_evictor *e;
    size_t bytes = 0;
    assert_int_equal(wmi_evictor_create(&m, &e, &bytes, NULL), WM_OK);
    assert_int_equal(bytes, 2 * 2 * (32u << 20)); /* twice the two that can be used */
    wmi_evictor_destroy(e);
}

static void a_board_without_frequency_policy(void **state) {
    (void)state;
    put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
                         "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
    put("/proc/device-tree/hypervisor/compatible", "linux,kvm\n");
    put("/proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "268435456\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/proc/meminfo", "MemTotal: 4000000 kB\n");
    put("/usr/lib/os-release", "PRETTY_NAME='A small system'\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    wmi_machine m;
    wmi_machine_read(&m, root);
    assert_string_equal(m.cpu, "Arm Neoverse N1");
    assert_string_equal(m.os, "A small system");
    assert_true(m.virtual_machine);
    assert_string_equal(m.governor, "");
    assert_int_equal(m.turbo, -1);
    assert_int_equal(m.smt, -1);
    assert_int_equal(m.cpus_online, 4);
    assert_int_equal(m.cpus_allowed, 4); /* as many, where the status does not tell */
    assert_true(m.load1 == -1);
    assert_true(m.max_hz == 0);
    assert_true(m.cpu_quota == 0.5);
    assert_int_equal(m.memory_free_bytes, 268435456);
    assert_int_equal(m.cache_count, 0);
}

static void a_container_in_which_nothing_can_be_read(void **state) {
    (void)state;
    wmi_machine m;
    wmi_machine_warning w[4];
    wmi_machine_read(&m, root);
    assert_string_equal(m.cpu, "");
    assert_string_equal(m.os, "");
    assert_string_equal(m.governor, "");
    assert_true(m.host[0] && m.kernel[0]); /* these come from uname */
    assert_int_equal(m.turbo, -1);
    assert_int_equal(m.cpus_online, 0);
    assert_int_equal(m.cache_count, 0);
    assert_int_equal(m.memory_bytes, 0);
    assert_int_equal(m.memory_free_bytes, -1);
    assert_int_equal(wmi_machine_warnings(&m, w, 4), 0);
}

static void files_with_nonsense_leave_facts_unknown(void **state) {
    (void)state;
    put("/proc/cpuinfo", "");
    put("/proc/meminfo", "MemTotal: lots kB\nMemAvailable: -5 kB\n");
    put("/proc/loadavg", "high\n");
    put("/proc/self/cgroup", "nonsense\n::\n0:\n\n7:memory:relative\n0::/\n");
    put("/sys/fs/cgroup/cpu.max", "100000\n");
    put("/sys/fs/cgroup/memory.max", "-1\n");
    put("/sys/devices/system/cpu/online", "zero\n");
    put("/sys/devices/system/cpu/smt/active", "\n");
    wmi_machine m;
    wmi_machine_read(&m, root);
    assert_int_equal(m.memory_bytes, 0);
    assert_true(m.load1 == -1);
    assert_int_equal(m.smt, -1);
    assert_int_equal(m.cpus_online, 0);
    assert_true(m.cpu_quota == 0);
    put("/sys/devices/system/cpu/online", "0\n");
    put_cache(0, 0, 3, "Unified", "big", "0");
    wmi_machine_read(&m, root);
    assert_int_equal(m.cpus_online, 1);
    assert_int_equal(m.cache_count, 0);
}

static void this_machine(void **state) {
    (void)state;
    wmi_machine m;
    char host[256];
    wmi_machine_read(&m, "");
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_string_equal(m.host, host);
    assert_int_equal(m.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(m.cpus_allowed >= 1 && m.cpus_allowed <= m.cpus_online);
    assert_int_equal(m.memory_bytes, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    assert_true(m.memory_free_bytes <= m.memory_bytes);
    for (int i = 0; i < m.cache_count; i++) {
        assert_true(m.caches[i].size_bytes > 0 && m.caches[i].count >= 1);
        assert_true(m.caches[i].usable <= m.caches[i].count);
        assert_true(i == 0 || m.caches[i].level >= m.caches[i - 1].level);
    }
}

/* ---- the parsers ---- */

static void lists_of_processors(void **state) {
    (void)state;
    assert_int_equal(wmi_cpulist_count("0"), 1);
    assert_int_equal(wmi_cpulist_count("0-3,8,10-11"), 7);
    assert_int_equal(wmi_cpulist_count(""), 0);
    assert_int_equal(wmi_cpulist_count("x"), 0);
    assert_int_equal(wmi_cpulist_count("3-1"), 0);
    assert_int_equal(wmi_cpulist_count("0-99999999999"), 0);
    assert_int_equal(wmi_cpulist_count("0,2-"), 1);
    assert_true(wmi_cpulist_meet("0-3,8", "8-9"));
    assert_true(wmi_cpulist_meet("5", "0-3,5"));
    assert_false(wmi_cpulist_meet("0-3,8", "4-7,9"));
    assert_false(wmi_cpulist_meet("", "0"));
}

static void fields_of_a_text(void **state) {
    (void)state;
    static const char text[] =
        "cpu family\t: 6\ncpu\t\t:  POWER9, altivec \nfile 12\nfile_dirty 3\nEMPTY=\nLAST=x y";
    char out[16];
    assert_true(wmi_sys_field(text, "cpu", ':', out, sizeof out));
    assert_string_equal(out, "POWER9, altivec");
    assert_true(wmi_sys_field(text, "cpu", ':', out, 4));
    assert_string_equal(out, "POW");
    assert_true(wmi_sys_field(text, "file_dirty", ' ', out, sizeof out));
    assert_string_equal(out, "3");
    assert_true(wmi_sys_field(text, "file", ' ', out, sizeof out));
    assert_string_equal(out, "12");
    assert_true(wmi_sys_field(text, "EMPTY", '=', out, sizeof out));
    assert_string_equal(out, "");
    assert_true(wmi_sys_field(text, "LAST", '=', out, sizeof out));
    assert_string_equal(out, "x y");
    assert_false(wmi_sys_field(text, "AST", '=', out, sizeof out));
    assert_false(wmi_sys_field(text, "LAST", ':', out, sizeof out));
    assert_false(wmi_sys_field("", "LAST", ':', out, sizeof out));
}

/* ---- warnings ---- */

static int warnings_of(const wmi_machine *m, wmi_machine_warning *out) {
    return wmi_machine_warnings(m, out, 4);
}

static void a_governor_that_varies_the_clock_is_warned_of(void **state) {
    (void)state;
    static const char *const varying[] = {"powersave", "ondemand", "schedutil", "conservative"};
    static const char *const steady[] = {"performance", "userspace", ""};
    wmi_machine_warning w[4];
    wmi_machine m = {.cpus_online = 4, .cpus_allowed = 4, .load1 = 0, .turbo = 1};
    for (size_t i = 0; i < 4; i++) {
        snprintf(m.governor, sizeof m.governor, "%s", varying[i]);
        assert_int_equal(warnings_of(&m, w), 1);
        assert_non_null(strstr(w[0].what, varying[i]));
        assert_string_equal(w[0].remedy, "cpupower frequency-set -g performance");
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(m.governor, sizeof m.governor, "%s", steady[i]);
        assert_int_equal(warnings_of(&m, w), 0);
    }
}

static void load_is_warned_of_where_others_make_it(void **state) {
    (void)state;
    static const struct {
        int cpus;
        double load;
        int warnings;
    } cases[] = {{1, 1.0, 0},   {1, 1.1, 1},   {2, 1.5, 0}, {2, 1.6, 1},
                 {64, 32.5, 0}, {64, 32.6, 1}, {64, -1, 0}, {0, 50, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wmi_machine_warning w[4];
        wmi_machine m = {.cpus_online = cases[i].cpus, .load1 = cases[i].load};
        assert_int_equal(warnings_of(&m, w), cases[i].warnings);
        if (cases[i].load == 1.6) assert_non_null(strstr(w[0].what, "1.6 on 2 processors"));
    }
}

static void a_quota_is_warned_of_where_it_is_less_than_the_processors(void **state) {
    (void)state;
    wmi_machine_warning w[4];
    wmi_machine m = {.cpus_online = 8, .cpus_allowed = 4, .cpu_quota = 2.5};
    assert_int_equal(warnings_of(&m, w), 1);
    assert_non_null(strstr(w[0].what, "2.5 of 4 processors"));
    assert_non_null(strstr(w[0].remedy, "at most 2 threads"));
    m.cpu_quota = 0.5;
    assert_int_equal(warnings_of(&m, w), 1);
    assert_null(strstr(w[0].remedy, "threads"));
    m.cpu_quota = 4;
    assert_int_equal(warnings_of(&m, w), 0);
}

static void no_more_warnings_than_there_is_room_for(void **state) {
    (void)state;
    wmi_machine_warning w[4];
    wmi_machine m = {
        .governor = "powersave", .cpus_online = 2, .cpus_allowed = 2, .load1 = 9, .cpu_quota = 1};
    assert_int_equal(wmi_machine_warnings(&m, w, 4), 3);
    assert_int_equal(wmi_machine_warnings(&m, w, 2), 2);
    assert_int_equal(wmi_machine_warnings(&m, w, 0), 0);
}

/* ---- evicting ---- */

static int64_t resident_bytes(void) {
    char text[128];
    int64_t pages = 0;
    long long total = 0, resident = 0;
    assert_true(wmi_sys_text("", text, sizeof text, "/proc/self/statm"));
    assert_int_equal(sscanf(text, "%lld %lld", &total, &resident), 2);
    pages = resident;
    return pages * sysconf(_SC_PAGESIZE);
}

static void the_buffer_is_twice_the_highest_level_and_is_there(void **state) {
    (void)state;
    wmi_machine m = {.memory_free_bytes = -1, .cache_count = 4};
    m.caches[0] = (wmi_cache){1, "Data", 32 << 10, 1, 8, 8};
    m.caches[1] = (wmi_cache){2, "Unified", 1 << 20, 2, 2, 2};
    m.caches[2] = (wmi_cache){2, "Unified", 3 << 20, 4, 2, 1};
    m.caches[3] = (wmi_cache){2, "Instruction", 9 << 20, 4, 2, 1};
    wmi_evictor *e = NULL;
    size_t bytes = 0;
    int64_t before = resident_bytes();
    assert_int_equal(wmi_evictor_create(&m, &e, &bytes, NULL), WM_OK);
    assert_int_equal(bytes, 2 * (2 * (1u << 20) + (3u << 20)));
    assert_true(resident_bytes() - before > (int64_t)bytes / 2); /* written, not only promised */
    wmi_evictor_run(e);
    wmi_evictor_run(e);
    wmi_evictor_destroy(e);
    wmi_evictor_destroy(NULL);
}

static void unknown_caches_take_64_mib(void **state) {
    (void)state;
    const wmi_machine m = {.memory_free_bytes = -1};
    wmi_evictor *e = NULL;
    size_t bytes = 0;
    assert_int_equal(wmi_evictor_create(&m, &e, &bytes, NULL), WM_OK);
    assert_int_equal(bytes, 64u << 20);
    wmi_evictor_destroy(e);
}

static void memory_that_is_not_there_is_not_taken(void **state) {
    (void)state;
    wmi_machine m = {.memory_free_bytes = (64 << 20) - 1};
    wmi_evictor *e = NULL;
    size_t bytes = 7;
    wm_error err = WM_ERROR_INIT;
    assert_int_equal(wmi_evictor_create(&m, &e, &bytes, &err), WM_ENOMEM);
    assert_null(e);
    assert_int_equal(bytes, 7);
    assert_non_null(strstr(err.message, "64 MiB"));
    m.memory_free_bytes = -1; /* more than there are addresses for */
    m.cache_count = 1;
    m.caches[0] = (wmi_cache){3, "Unified", INT64_C(1) << 50, 1, 1, 1};
    assert_int_equal(wmi_evictor_create(&m, &e, &bytes, NULL), WM_ENOMEM);
}

/* ---- pinning ---- */

typedef struct pinned {
    int cpu;
    wm_status status;
    int allowed, runs_on;
} pinned;

static void *pin_and_look(void *argument) {
    pinned *p = argument;
    cpu_set_t set;
    p->status = wmi_pin(p->cpu, NULL);
    p->allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
    p->runs_on = sched_getcpu();
    return NULL;
}

static void a_thread_is_pinned_and_others_are_not(void **state) {
    (void)state;
    cpu_set_t before, after;
    pthread_t thread;
    pinned p = {.cpu = -1};
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &before)) p.cpu = i; /* the last one */
    assert_int_equal(pthread_create(&thread, NULL, pin_and_look, &p), 0);
    pthread_join(thread, NULL);
    assert_int_equal(p.status, WM_OK);
    assert_int_equal(p.allowed, 1);
    assert_int_equal(p.runs_on, p.cpu);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}

static void a_processor_that_is_not_there_is_refused(void **state) {
    (void)state;
    static const int bad[] = {-1, 65000, 1 << 30};
    for (size_t i = 0; i < 3; i++) {
        char number[16];
        wm_error err = WM_ERROR_INIT;
        assert_int_equal(wmi_pin(bad[i], &err), WM_EINVAL);
        snprintf(number, sizeof number, "%d", bad[i]);
        assert_non_null(strstr(err.message, number));
        assert_non_null(strstr(err.message, "it may use "));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_laptop_with_two_kinds_of_cores, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_server_of_which_a_part_may_be_used, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_board_without_frequency_policy, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_container_in_which_nothing_can_be_read, make_root, remove_root),
        cmocka_unit_test_setup_teardown(files_with_nonsense_leave_facts_unknown, make_root, remove_root),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(lists_of_processors),
        cmocka_unit_test(fields_of_a_text),
        cmocka_unit_test(a_governor_that_varies_the_clock_is_warned_of),
        cmocka_unit_test(load_is_warned_of_where_others_make_it),
        cmocka_unit_test(a_quota_is_warned_of_where_it_is_less_than_the_processors),
        cmocka_unit_test(no_more_warnings_than_there_is_room_for),
        cmocka_unit_test(the_buffer_is_twice_the_highest_level_and_is_there),
        cmocka_unit_test(unknown_caches_take_64_mib),
        cmocka_unit_test(memory_that_is_not_there_is_not_taken),
        cmocka_unit_test(a_thread_is_pinned_and_others_are_not),
        cmocka_unit_test(a_processor_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
