#include "backend/cpu/perf_names.h"

#include <string.h>

typedef struct perf_row {
    const char *name, *alias; /* alias: NULL for none */
    uint32_t type;
    uint64_t config;
    const char *unit;
    wmi_better better;
    const char *text;
} perf_row;

#define HARDWARE(name, alias, id, better, text)                                                              \
    { name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, "", WMI_BETTER_##better, text }
#define SOFTWARE(name, alias, id, unit, text)                                                                \
    { name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, unit, WMI_BETTER_LOWER, text }

/* perf_event_open(2): which cache, shifted by 0; which operation, by 8; access or miss, by 16. */
#define CACHE_CONFIG(cache, op, result)                                                                      \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                                        \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define CACHE_ROW(name, cache, op, result, better, text)                                                     \
    { name, NULL, PERF_TYPE_HW_CACHE, CACHE_CONFIG(cache, op, result), "", WMI_BETTER_##better, text }
#define CACHE_PAIR(name, one, many, cache, op, where)                                                        \
    CACHE_ROW(name "-" many, cache, op, ACCESS, NONE, many " that went to the " where),                      \
        CACHE_ROW(name "-" one "-misses", cache, op, MISS, LOWER, many " that missed the " where)
#define CACHE_READ(name, cache, where)     CACHE_PAIR(name, "load", "loads", cache, READ, where)
#define CACHE_WRITE(name, cache, where)    CACHE_PAIR(name, "store", "stores", cache, WRITE, where)
#define CACHE_PREFETCH(name, cache, where) CACHE_PAIR(name, "prefetch", "prefetches", cache, PREFETCH, where)

/* An instruction cache is not written, and a branch predictor and an instruction TLB are only read. */
static const perf_row rows[] = {
    HARDWARE("cycles", "cpu-cycles", CPU_CYCLES, LOWER, "cycles of the processor, at the clock it ran at"),
    HARDWARE("instructions", NULL, INSTRUCTIONS, NONE, "instructions retired"),
    HARDWARE("cache-references", NULL, CACHE_REFERENCES, NONE, "accesses of the last-level cache, mostly"),
    HARDWARE("cache-misses", NULL, CACHE_MISSES, LOWER, "misses of the last-level cache, mostly"),
    HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS, NONE, "branches retired"),
    HARDWARE("branch-misses", NULL, BRANCH_MISSES, LOWER, "branches predicted wrongly"),
    HARDWARE("bus-cycles", NULL, BUS_CYCLES, LOWER, "cycles of the bus"),
    HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, LOWER, "cycles at a clock that does not change"),
    HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND, LOWER,
             "cycles that waited for instructions"),
    HARDWARE("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND, LOWER,
             "cycles that waited for data or units"),
    SOFTWARE("cpu-clock", NULL, CPU_CLOCK, "ns", "time on a processor, by its clock"),
    SOFTWARE("task-clock", NULL, TASK_CLOCK, "ns", "time on a processor, by the thread's clock"),
    SOFTWARE("page-faults", "faults", PAGE_FAULTS, "", "page faults"),
    SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN, "", "page faults that needed no disk"),
    SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ, "", "page faults that waited for a disk"),
    SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES, "", "times the thread left its processor"),
    SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS, "", "times the thread changed its processor"),
    SOFTWARE("cgroup-switches", NULL, CGROUP_SWITCHES, "", "switches to a thread of another control group"),
    SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS, "", "accesses whose alignment the kernel mended"),
    SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS, "", "instructions that the kernel emulated"),
    CACHE_READ("L1-dcache", L1D, "level 1 data cache"),
    CACHE_WRITE("L1-dcache", L1D, "level 1 data cache"),
    CACHE_PREFETCH("L1-dcache", L1D, "level 1 data cache"),
    CACHE_READ("L1-icache", L1I, "level 1 instruction cache"),
    CACHE_PREFETCH("L1-icache", L1I, "level 1 instruction cache"),
    CACHE_READ("LLC", LL, "last-level cache"),
    CACHE_WRITE("LLC", LL, "last-level cache"),
    CACHE_PREFETCH("LLC", LL, "last-level cache"),
    CACHE_READ("dTLB", DTLB, "data TLB"),
    CACHE_WRITE("dTLB", DTLB, "data TLB"),
    CACHE_PREFETCH("dTLB", DTLB, "data TLB"),
    CACHE_READ("iTLB", ITLB, "instruction TLB"),
    CACHE_READ("branch", BPU, "branch predictor"),
    CACHE_READ("node", NODE, "memory of the own NUMA node"),
    CACHE_WRITE("node", NODE, "memory of the own NUMA node"),
    CACHE_PREFETCH("node", NODE, "memory of the own NUMA node"),
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool equals(const char *name, const char *s, size_t n) {
    return name && strlen(name) == n && memcmp(name, s, n) == 0;
}

static const perf_row *find_row(const char *s, size_t n) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (equals(rows[i].name, s, n) || equals(rows[i].alias, s, n)) return &rows[i];
    return NULL;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool raw_code(const char *s, size_t n, uint64_t *code) {
    if (n < 2 || n > 17 || s[0] != 'r') return false;
    uint64_t x = 0;
    for (size_t i = 1; i < n; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0) return false;
        x = x << 4 | (uint64_t)digit;
    }
    *code = x;
    return true;
}

/* "u", "k", "uk" or "ku". */
static bool parse_modes(const char *s, wmi_perf_event *out) {
    bool user = false, kernel = false;
    for (const char *p = s; *p; p++) {
        bool *mode = *p == 'u' ? &user : *p == 'k' ? &kernel : NULL;
        if (!mode || *mode) return false;
        *mode = true;
    }
    if (!user && !kernel) return false;
    out->attr.exclude_user = !user;
    out->attr.exclude_kernel = !kernel;
    out->attr.exclude_hv = 1;
    out->asks_kernel = kernel;
    return true;
}

wm_status wmi_perf_parse(const char *name, wmi_perf_event *out, wm_error *err) {
    size_t n = strcspn(name, ":");
    wmi_perf_event event;
    memset(&event, 0, sizeof event);
    const perf_row *row = find_row(name, n);
    uint64_t code;
    if (row) {
        event.attr.type = row->type;
        event.attr.config = row->config;
        event.unit = row->unit;
        event.text = row->text;
        event.better = row->better;
    } else if (raw_code(name, n, &code)) {
        event.attr.type = PERF_TYPE_RAW;
        event.attr.config = code;
        event.unit = "";
        event.text = "event of this processor by its raw code";
        event.better = WMI_BETTER_NONE;
    } else {
        return wmi_error_set(err, WM_ENOTFOUND, 0, "perf has no event of the name '%s'", name);
    }
    if (name[n] == ':' && !parse_modes(name + n + 1, &event))
        return wmi_error_set(err, WM_ENOTFOUND, 0,
                             "'%s': after the ':' an event takes u (user code), k (kernel code) or both",
                             name);
    *out = event;
    return WM_OK;
}

bool wmi_perf_is_software(const struct perf_event_attr *attr) {
    return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT;
}

bool wmi_perf_is_kernel_only(const struct perf_event_attr *attr) {
    if (attr->type == PERF_TYPE_TRACEPOINT) return true;
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES || attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
            attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

size_t wmi_perf_names(void) { return ROW_COUNT; }

const char *wmi_perf_name(size_t i) { return rows[i].name; }
