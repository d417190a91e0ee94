/* The chips, and what each can count: a small part of what real ones can, under the same names. */
#include <stdio.h>
#include <string.h>

#include "fake_state.h"

#define HOPPER   " GH100 GB100 "
#define COUNTERS CUPTI_METRIC_TYPE_COUNTER
#define RATIOS   CUPTI_METRIC_TYPE_RATIO
#define SHARES   CUPTI_METRIC_TYPE_THROUGHPUT
#define SASS(op)                                                                                             \
    {                                                                                                        \
        "smsp__sass_thread_inst_executed_op_" op "_pred_on", "# of " op " thread instructions executed",     \
            "smsp", "instruction", COUNTERS, NULL                                                            \
    }
#define TENSOR(name, chips)                                                                                  \
    { "sm__ops_path_tensor_" name, "# of operations of tensor cores", "sm", "operation", COUNTERS, chips }
#define COUNTER(name, text, hw, dim)                                                                         \
    { name, text, hw, dim, COUNTERS, NULL }
#define SHARE(name, text, hw, chips)                                                                         \
    { name, text, hw, "percent", SHARES, chips }

static const fakei_metric metrics[] = {
    COUNTER("gpu__time_duration", "time of the range", "gpu", "nanosecond"),
    COUNTER("gpc__cycles_elapsed", "# of cycles elapsed on GPC", "gpc", "gpc_cycle"),
    COUNTER("dram__bytes_read", "# of bytes read from DRAM", "dram", "byte"),
    COUNTER("dram__bytes_write", "# of bytes written to DRAM", "dram", "byte"),
    COUNTER("dram__bytes", "# of bytes accessed in DRAM", "dram", "byte"),
    COUNTER("lts__t_bytes", "# of bytes requested of L2", "lts", "byte"),
    COUNTER("lts__t_sectors_lookup_hit", "# of L2 sectors that hit", "lts", "l2_sector"),
    COUNTER("sm__cycles_active", "# of cycles with at least one warp in flight", "sm", "sm_cycle"),
    COUNTER("sm__cycles_elapsed", "# of cycles elapsed on SM", "sm", "sm_cycle"),
    COUNTER("sm__warps_active", "# of warps active, added up over cycles", "sm", "warp"),
    COUNTER("smsp__inst_executed", "# of warp instructions executed", "smsp", "instruction"),
    SASS("fadd"),
    SASS("fmul"),
    SASS("ffma"),
    SASS("dadd"),
    SASS("dmul"),
    SASS("dfma"),
    SASS("hadd"),
    SASS("hmul"),
    SASS("hfma"),
    TENSOR("src_fp16", HOPPER),
    TENSOR("src_bf16_dst_fp32", HOPPER),
    TENSOR("src_tf32_dst_fp32", HOPPER),
    TENSOR("src_fp64", HOPPER),
    TENSOR("src_fp8", HOPPER),
    TENSOR("src_int8", HOPPER),
    TENSOR("op_hgmma_src_fp16", " GH100 "),
    TENSOR("op_hgmma_src_bf16_dst_fp32", " GH100 "),
    TENSOR("op_hgmma_src_tf32_dst_fp32", " GH100 "),
    SHARE("gpu__compute_memory_throughput", "throughput of compute memory", "gpu", NULL),
    SHARE("sm__throughput", "SM throughput", "sm", NULL),
    SHARE("dram__throughput", "DRAM throughput", "dram", NULL),
    SHARE("lts__throughput", "L2 throughput", "lts", NULL),
    SHARE("l1tex__throughput", "L1 throughput", "l1tex", NULL),
    SHARE("TriageCompute.sm__throughput", "SM throughput, triage", "sm", HOPPER),
    SHARE("LTS.TriageCompute.lts__throughput", "L2 throughput, triage", "lts", HOPPER),
    SHARE("TriageAC.sm__throughput", "SM throughput, triage", "sm", " GA102 AD102 "),
    SHARE("TriageA.sm__throughput", "SM throughput, triage", "sm", " TU104 "),
    {"l1tex__t_sector_hit_rate", "# of sector hits per sector", "l1tex", "", RATIOS, NULL},
    {"lts__t_sector_hit_rate", "# of sector hits per sector", "lts", "", RATIOS, NULL},
};
#define METRICS (sizeof metrics / sizeof *metrics)

static size_t passes[METRICS];

static const char *const chips[] = {"GV100", "GV11B", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100",
                                    "GA102", "GA103", "GA104", "GA106", "GA107", "GA10B", "GH100", "AD102",
                                    "AD103", "AD104", "AD106", "AD107", "GB100", "GB102", "GB110", "GB10B",
                                    "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"};
#define CHIPS (sizeof chips / sizeof *chips)

static const char *ratio_ends[] = {".max_rate", ".pct", ".ratio"};
#define SHARE_ENDS(rollup) rollup ".pct_of_peak_sustained_active", rollup ".pct_of_peak_sustained_elapsed"
static const char *share_ends[] = {SHARE_ENDS(".avg"), SHARE_ENDS(".max"), SHARE_ENDS(".min"),
                                   SHARE_ENDS(".sum")};
#define PEAKS(rollup, of)                                                                                    \
    rollup ".peak_sustained_" of, rollup ".peak_sustained_" of ".per_second", rollup ".per_cycle_" of
#define COUNTER_ENDS(rollup)                                                                                 \
    rollup, rollup ".peak_sustained", PEAKS(rollup, "active"), PEAKS(rollup, "elapsed"),                     \
        rollup ".per_second", SHARE_ENDS(rollup)
static const char *counter_ends[] = {COUNTER_ENDS(".avg"), COUNTER_ENDS(".max"), COUNTER_ENDS(".min"),
                                     COUNTER_ENDS(".sum")};

const char *const *fakei_chips(size_t *count) {
    *count = CHIPS;
    return chips;
}

const char *fakei_chip(const char *name) {
    for (size_t i = 0; name && i < CHIPS; i++)
        if (strcmp(chips[i], name) == 0) return chips[i];
    return NULL;
}

static bool chip_has(const char *chip, const fakei_metric *m) {
    char blanked[16];
    if (!m->chips) return true;
    snprintf(blanked, sizeof blanked, " %s ", chip);
    return strstr(m->chips, blanked) != NULL;
}

const fakei_metric *fakei_metric_of(const char *chip, const char *name, const char **rest) {
    for (size_t i = 0; name && i < METRICS; i++) {
        size_t length = strlen(metrics[i].name);
        if (strncmp(metrics[i].name, name, length) != 0 || !strchr(".", name[length])) continue;
        if (!chip_has(chip, &metrics[i])) continue;
        *rest = name + length;
        return &metrics[i];
    }
    return NULL;
}

const char **fakei_submetrics(CUpti_MetricType type, size_t *count) {
    switch (type) {
    case CUPTI_METRIC_TYPE_RATIO: *count = sizeof ratio_ends / sizeof *ratio_ends; return ratio_ends;
    case CUPTI_METRIC_TYPE_THROUGHPUT: *count = sizeof share_ends / sizeof *share_ends; return share_ends;
    default: *count = sizeof counter_ends / sizeof *counter_ends; return counter_ends;
    }
}

bool fakei_metric_countable(const char *chip, const char *name) {
    const char *rest;
    size_t count;
    const fakei_metric *m = fakei_metric_of(chip, name, &rest);
    if (!m || strlen(name) >= FAKEI_NAME) return false;
    const char *const *ends = fakei_submetrics(m->type, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(ends[i], rest) == 0) return true;
    return false;
}

/* Lists live for ever: one for each chip and type that was asked for. */
const char **fakei_metric_list(const char *chip, CUpti_MetricType type, size_t *count) {
    static const char *lists[CHIPS][CUPTI_METRIC_TYPE__COUNT][METRICS];
    size_t at = 0, n = 0;
    while (chips[at] != chip) at++;
    fakei_lock();
    const char **list = lists[at][type];
    for (size_t i = 0; i < METRICS; i++)
        if (metrics[i].type == type && chip_has(chip, &metrics[i])) list[n++] = metrics[i].name;
    fakei_unlock();
    *count = n;
    return list;
}

/* ---- passes ---- */

static void set_passes_locked(const char *base, size_t n) {
    for (size_t i = 0; i < METRICS; i++)
        if (strcmp(metrics[i].name, base) == 0) passes[i] = n;
}

void fakei_metrics_reset_locked(void) {
    for (size_t i = 0; i < METRICS; i++) passes[i] = 1;
    set_passes_locked("sm__throughput", 8);
    set_passes_locked("TriageCompute.sm__throughput", 2);
}

size_t fakei_metric_passes_of(const fakei_metric *metric) {
    fakei_lock();
    size_t n = passes[metric - metrics];
    fakei_unlock();
    return n;
}

void fake_metric_passes(const char *base, size_t n) {
    fakei_lock();
    set_passes_locked(base, n);
    fakei_unlock();
}
