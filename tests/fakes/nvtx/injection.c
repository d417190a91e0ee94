/* fakes/nvtx/: a made-up tool that listens to NVTX. NVTX loads it where NVTX_INJECTION64_PATH names it.
 *
 *  FAKE_NVTX_LOG=FILE: a line for each call, in their order: "domain NAME", "start ID DOMAIN TEXT", "end ID
 * DOMAIN".
 *
 *  FAKE_NCU_REPORT=FILE: as ncu would, append a kernel of the fake GPU (tests/fakes/cuda) to the file, with
 * the ranges that are open in the process, at its launch: those in a range of a domain in whose name the
 * regular expression FAKE_NCU_DOMAIN is found alone, where that is set, with values of the metrics in
 * FAKE_NCU_METRICS (comma list). The file is tests/fakes/ncu's. */
#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "fake_gpu.h"

struct nvtxDomainRegistration_st {
    char *name;
};

typedef struct open_range {
    uint64_t id;
    nvtxDomainHandle_t domain;
    char *text;
} open_range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *calls;
static open_range *ranges;
static size_t range_count;
static uint64_t next_id;

static void *checked(void *memory) {
    if (!memory) abort();
    return memory;
}

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...) {
    va_list args;
    if (!calls) return;
    va_start(args, fmt);
    vfprintf(calls, fmt, args);
    va_end(args);
    fflush(calls);
}

static nvtxDomainHandle_t domain_create(const char *name) {
    pthread_mutex_lock(&lock);
    nvtxDomainHandle_t d = checked(calloc(1, sizeof *d));
    d->name = checked(strdup(name));
    note("domain %s\n", name);
    pthread_mutex_unlock(&lock);
    return d;
}

static nvtxRangeId_t range_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *about) {
    pthread_mutex_lock(&lock);
    const uint64_t id = next_id++;
    ranges = checked(realloc(ranges, (range_count + 1) * sizeof *ranges));
    ranges[range_count++] = (open_range){id, domain, checked(strdup(about->message.ascii))};
    note("start %llu %s %s\n", (unsigned long long)id, domain->name, about->message.ascii);
    pthread_mutex_unlock(&lock);
    return id;
}

static void range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < range_count && !(ranges[i].id == id && ranges[i].domain == domain)) i++;
    if (i == range_count) {
        fprintf(stderr, "fake NVTX: range %llu of %s is not open\n", (unsigned long long)id, domain->name);
        abort();
    }
    free(ranges[i].text);
    memmove(&ranges[i], &ranges[i + 1], (range_count - i - 1) * sizeof *ranges);
    range_count--;
    note("end %llu %s\n", (unsigned long long)id, domain->name);
    pthread_mutex_unlock(&lock);
}

/* ---- kernels ---- */

typedef double value_of(const fake_range *range, const char *metric);

static bool chosen(void) {
    const char *domain = getenv("FAKE_NCU_DOMAIN");
    bool open = !domain;
    regex_t expression;
    if (open || regcomp(&expression, domain, REG_EXTENDED | REG_NOSUB) != 0) return open;
    for (size_t i = 0; i < range_count && !open; i++)
        open = regexec(&expression, ranges[i].domain->name, 0, NULL, 0) == 0;
    regfree(&expression);
    return open;
}

/* NAME is written as it is, as ncu does. Fields end in 0x1f, kernels in 0x1e. */
static void on_launch(const fake_range *range) {
    const char *metrics = getenv("FAKE_NCU_METRICS");
    value_of *value = (value_of *)(uintptr_t)dlsym(RTLD_DEFAULT, "fake_value_default");
    pthread_mutex_lock(&lock);
    FILE *to = chosen() ? fopen(getenv("FAKE_NCU_REPORT"), "ae") : NULL;
    if (to) {
        fprintf(to, "%d\x1f%s\x1f", (int)getpid(), range->kernel);
        for (size_t i = 0; i < range_count; i++)
            fprintf(to, " \"\"%llu:%s:%s:none:none:none:none:ASCII:%s\"\" ", (unsigned long long)ranges[i].id,
                    ranges[i].domain->name, ranges[i].text, ranges[i].text);
        char *copy = checked(strdup(metrics ? metrics : "")), *rest = copy;
        for (char *name; (name = strtok_r(rest, ",", &rest)) != NULL;)
            fprintf(to, "\x1f%.17g", value(range, name));
        fputs("\x1e", to);
        fclose(to);
        free(copy);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- loading ---- */

static void install(NvtxFunctionTable table, unsigned size, unsigned which, NvtxFunctionPointer f) {
    if (which < size && table[which]) *table[which] = f;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
    install(table, size, NVTX_CBID_CORE2_DomainCreateA, (NvtxFunctionPointer)domain_create);
    install(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, (NvtxFunctionPointer)range_start);
    install(table, size, NVTX_CBID_CORE2_DomainRangeEnd, (NvtxFunctionPointer)range_end);
    const char *path = getenv("FAKE_NVTX_LOG");
    if (path && !calls) calls = fopen(path, "ae");
    void (*hook)(fake_launch_fn) = (void (*)(fake_launch_fn))(uintptr_t)dlsym(RTLD_DEFAULT, "fake_on_launch");
    if (hook && getenv("FAKE_NCU_REPORT")) hook(on_launch);
    return 1;
}
