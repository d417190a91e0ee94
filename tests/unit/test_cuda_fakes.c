/* The fake GPU behaves as real ones were seen to. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/cupti_dl.h"
#include "fakes/cuda/fake_cuda.h"
#include "fakes/cuda/fake_gpu.h"

static wmi_cupti_api cupti;
static CUcontext context;

#define OK(call) assert_int_equal((int)(call), 0)

static int fresh(void **state) {
    (void)state;
    fake_reset();
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    return 0;
}

static void launch(const char *kernel, CUstream stream) {
    OK(cuLaunchKernel(fake_function(kernel), 2, 3, 4, 32, 2, 1, 64, stream, NULL, NULL));
}

/* ---- loading ---- */

static void symbols_are_there(void **state) {
    (void)state;
    void *cuda = dlopen(getenv("WARPMETER_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(cuda);
#define CUDA_SYMBOL(member, symbol, type, optional) assert_non_null(dlsym(cuda, symbol));
    WMI_CUDA_SYMBOLS(CUDA_SYMBOL)
    dlclose(cuda);
}

static void load_cupti(const char *path, uint32_t expected) {
    uint32_t version = 0;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
#define CUPTI_SYMBOL(name, optional)                                                                         \
    memcpy(&cupti.name, &(void *){dlsym(handle, "cupti" #name)}, sizeof(void *));
    WMI_CUPTI_SYMBOLS(CUPTI_SYMBOL)
#define CUPTI_LOADED(name, optional) assert_non_null(cupti.name);
    WMI_CUPTI_SYMBOLS(CUPTI_LOADED)
    OK(cupti.GetVersion(&version));
    assert_int_equal(version, expected);
}

static void versions_differ(void **state) {
    char path[4096];
    const char *given_path = getenv("WARPMETER_LIBCUPTI");
    (void)state;
    assert_non_null(given_path);
    snprintf(path, sizeof path, "%s", given_path ? given_path : "");
    path[strlen(path) - 1] = '2';
    load_cupti(path, 24);
    load_cupti(given_path, 130001);
}

static void failures_to_order(void **state) {
    int count;
    (void)state;
    fake_fail("cuDeviceGetCount", 999, 2, 2);
    OK(cuDeviceGetCount(&count));
    assert_int_equal(cuDeviceGetCount(&count), 999);
    assert_int_equal(cuDeviceGetCount(&count), 999);
    OK(cuDeviceGetCount(&count));
    assert_int_equal(fake_calls("cuDeviceGetCount"), 4);
    assert_int_equal(fake_cupti_calls(), 0);
    fake_stub(true);
    assert_int_equal(cuInit(0), CUDA_ERROR_STUB_LIBRARY);
    fake_stub(false);
    fake_devices(NULL, 0);
    assert_int_equal(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

static void environment_speaks(void **state) {
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    char name[64];
    (void)state;
    setenv("FAKE_GPU", "devices=2 name=A_B chip=TU104 cuMemAlloc_v2=2@2 subscriber", 1);
    fake_reset();
    unsetenv("FAKE_GPU");
    OK(cuDeviceGetName(name, sizeof name, 1));
    assert_string_equal(name, "A B");
    chip.deviceIndex = 1;
    OK(cupti.DeviceGetChipName(&chip));
    assert_string_equal(chip.pChipName, "TU104");
    CUdeviceptr memory;
    OK(cuCtxCreate_v2(&context, 0, 1));
    OK(cuMemAlloc_v2(&memory, 16));
    assert_int_equal(cuMemAlloc_v2(&memory, 16), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(fake_memory(), 16);
}

/* ---- callbacks and records ---- */

typedef struct seen {
    unsigned enters, exits;
    uint32_t correlation;
    CUresult result;
    const char *symbol, *function;
    unsigned grid_y;
} seen;

static void on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data) {
    const CUpti_CallbackData *d = data;
    seen *s = user;
    assert_int_equal(domain, CUPTI_CB_DOMAIN_DRIVER_API);
    if (d->callbackSite == CUPTI_API_ENTER) {
        s->enters++;
        *d->correlationData = 77;
        return;
    }
    assert_int_equal(*d->correlationData, 77);
    s->exits++;
    s->correlation = d->correlationId;
    s->result = *(CUresult *)d->functionReturnValue;
    s->symbol = d->symbolName;
    s->function = d->functionName;
    assert_ptr_equal(d->context, context);
    if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        s->grid_y = ((const cuLaunchKernel_params *)d->functionParams)->gridDimY;
}

static void ignore_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data) {
    (void)user;
    (void)domain;
    (void)cbid;
    (void)data;
}

static void callbacks_see_launches(void **state) {
    CUpti_SubscriberHandle subscriber, second;
    seen s = {.enters = 0};
    (void)state;
    OK(cupti.Subscribe(&subscriber, on_call, &s));
    assert_int_equal(cupti.Subscribe(&second, on_call, &s), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    OK(cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    launch("one", NULL);
    uint32_t first = s.correlation;
    assert_string_equal(s.symbol, "one");
    assert_string_equal(s.function, "cuLaunchKernel");
    assert_int_equal(s.grid_y, 3);
    OK(cuLaunchKernel_ptsz(fake_function("two"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)); /* not enabled */
    assert_int_equal(s.exits, 1);
    fake_fail("cuLaunchKernel", CUDA_ERROR_LAUNCH_FAILED, 1, 1);
    assert_int_equal(cuLaunchKernel(fake_function("one"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(s.result, CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(s.correlation, first + 2);
    assert_int_equal(s.enters, 2);
    assert_int_equal(fake_launches_of("one"), 1);
    OK(cupti.Unsubscribe(subscriber));
    OK(cupti.Subscribe(&second, on_call, &s));
}

#define MAX_RECORDS 64
static uint8_t *given[MAX_RECORDS];
static size_t buffer_size, given_count, kernel_count, other_count, foreign_count;
static CUpti_ActivityKernel9 kernels[MAX_RECORDS];

static void give(uint8_t **buffer, size_t *size, size_t *limit) {
    *buffer = given[given_count++] = aligned_alloc(8, buffer_size);
    *size = buffer_size;
    *limit = 0;
}

static void take(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *record = NULL;
    size_t i = 0;
    (void)c;
    (void)stream;
    (void)size;
    while (i < given_count && given[i] != buffer) i++;
    if (i == given_count) {
        foreign_count++;
        return;
    }
    while (cupti.ActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            memcpy(&kernels[kernel_count++], record, sizeof *kernels);
        else
            other_count++;
    }
    free(buffer);
    given[i] = NULL;
}

static void record(size_t size) {
    buffer_size = size;
    given_count = kernel_count = other_count = foreign_count = 0;
    OK(cupti.ActivityRegisterCallbacks(give, take));
    OK(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    OK(cupti.ActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
}

static void records_of_finished_kernels(void **state) {
    CUstream a, b;
    (void)state;
    record(4096);
    OK(cuStreamCreate(&a, 0));
    OK(cuStreamCreate(&b, 0));
    fake_launch_cost(5, 0);
    fake_kernel_ns("ten", 10);
    fake_kernel_resources("ten", 40, 1024, 8);
    int64_t t0 = fake_now();
    launch("ten", a);
    launch("ten", b);
    fake_advance(5); /* to 15: the first has just ended */
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(kernel_count, 1);
    OK(cuMemsetD8Async(0x1000, 1, 64, a)); /* of a kind that is not enabled */
    OK(cuMemcpyHtoDAsync_v2(0x1000, "", 1, a));
    OK(cuCtxSynchronize());
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(kernel_count, 2);
    assert_int_equal(other_count, 1);
    assert_int_equal((int64_t)kernels[0].start - t0, 5);
    assert_int_equal((int64_t)kernels[0].end - t0, 15);
    assert_int_equal((int64_t)kernels[1].start - t0, 10); /* streams overlap */
    assert_int_equal((int64_t)kernels[1].end - t0, 20);
    assert_true(kernels[1].correlationId > kernels[0].correlationId);
    assert_string_equal(kernels[0].name, "ten");
    assert_int_equal(kernels[0].gridZ, 4);
    assert_int_equal(kernels[0].dynamicSharedMemory, 64);
    assert_int_equal(kernels[0].registersPerThread, 40);
    assert_int_equal(kernels[0].staticSharedMemory, 1024);
    assert_int_equal(fake_buffers_out(), 0);
}

static void records_go_wrong(void **state) {
    size_t dropped;
    (void)state;
    record(2 * sizeof *kernels + 16); /* two records each */
    fake_record_times(5, 3, 1);
    for (int i = 0; i < 5; i++) launch("k", NULL);
    OK(cuCtxSynchronize());
    assert_int_equal(kernel_count, 4); /* full buffers came by themselves */
    fake_flush_on_thread(true);
    fake_foreign_buffer(256);
    OK(cupti.ActivityFlushAll(1));
    assert_int_equal(kernel_count, 5);
    assert_int_equal(kernels[0].start, 5);
    assert_int_equal(kernels[0].end, 3);
    assert_int_equal(foreign_count, 1);
    assert_true(fake_foreign_untouched());
    fake_drop_records(2);
    for (int i = 0; i < 3; i++) launch("k", NULL);
    fake_no_records(true);
    launch("k", NULL);
    OK(cuCtxSynchronize());
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(kernel_count, 6);
    OK(cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped));
    assert_int_equal(dropped, 2);
}

static void graphs_have_nodes(void **state) {
    CUstream stream;
    CUgraph graph, spoilt;
    CUgraphExec exec;
    (void)state;
    record(4096);
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch("a", stream);
    launch("b", stream);
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    assert_int_equal(fake_launches(), 0);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(kernel_count, 2);
    assert_int_equal(kernels[0].correlationId, kernels[1].correlationId);
    assert_int_equal(kernels[0].graphId, kernels[1].graphId);
    assert_true(kernels[0].graphNodeId != 0 && kernels[0].graphNodeId != kernels[1].graphNodeId);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuStreamEndCapture(stream, &spoilt), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* As the kernel that evicts caches is launched. */
static void launch_within(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data) {
    const CUpti_CallbackData *d = data;
    static _Thread_local bool within;
    (void)domain;
    (void)cbid;
    if (within || d->callbackSite != CUPTI_API_ENTER) return;
    within = true;
    *(uint32_t *)user = d->correlationId;
    launch("inner", NULL);
    within = false;
}

static void calls_within_a_callback(void **state) {
    CUpti_SubscriberHandle subscriber;
    uint32_t outer = 0;
    (void)state;
    record(4096);
    fake_next_correlation(100);
    OK(cupti.Subscribe(&subscriber, launch_within, &outer));
    OK(cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    launch("outer", NULL);
    OK(cupti.Unsubscribe(subscriber));
    launch("next", NULL);
    OK(cuCtxSynchronize());
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(outer, 100);
    assert_int_equal(kernel_count, 3);
    assert_string_equal(kernels[0].name, "inner");
    assert_string_equal(kernels[1].name, "outer");
    assert_int_equal(kernels[0].correlationId, 100);
    assert_int_equal(kernels[1].correlationId, 100);
    assert_int_equal(kernels[2].correlationId, 101);
}

static void *synchronize(void *c) {
    (void)cuCtxPushCurrent(c);
    (void)cuCtxSynchronize();
    return NULL;
}

static void held_kernels_block(void **state) {
    pthread_t thread;
    (void)state;
    fake_hold("stuck");
    launch("stuck", NULL);
    launch("after", NULL);
    int64_t t0 = fake_now();
    assert_int_equal(pthread_create(&thread, NULL, synchronize, context), 0);
    fake_wait_blocked(1);
    assert_int_equal(fake_now(), t0);
    fake_release("stuck");
    pthread_join(thread, NULL);
    assert_true(fake_now() >= t0 + 2 * FAKE_KERNEL_NS - 2 * FAKE_LAUNCH_NS);
}

static void *launch_many(void *c) {
    (void)cuCtxPushCurrent(c);
    for (int i = 0; i < 8; i++) {
        launch("k", NULL);
        if (i % 4 == 3) (void)cuCtxSynchronize();
        if (i % 4 == 1) (void)cupti.ActivityFlushAll(0);
    }
    return NULL;
}

static void threads_launch(void **state) {
    pthread_t threads[6];
    CUpti_SubscriberHandle subscriber;
    (void)state;
    record(2048);
    OK(cupti.Subscribe(&subscriber, ignore_call, NULL));
    OK(cupti.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
    for (int i = 0; i < 6; i++) OK(pthread_create(&threads[i], NULL, launch_many, context));
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    OK(cuCtxSynchronize());
    OK(cupti.ActivityFlushAll(0));
    assert_int_equal(kernel_count, 48);
    assert_int_equal(fake_records(), 48);
    assert_int_equal(fake_callbacks(), 96);
    assert_int_equal(fake_buffers_out() + fake_callbacks_active(), 0);
    for (size_t i = 0; i < kernel_count; i++)
        for (size_t k = 0; k < i; k++) assert_true(kernels[k].correlationId != kernels[i].correlationId);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_are_there),
        cmocka_unit_test(versions_differ),
        cmocka_unit_test_setup(failures_to_order, fresh),
        cmocka_unit_test_setup(environment_speaks, fresh),
        cmocka_unit_test_setup(callbacks_see_launches, fresh),
        cmocka_unit_test_setup(records_of_finished_kernels, fresh),
        cmocka_unit_test_setup(records_go_wrong, fresh),
        cmocka_unit_test_setup(graphs_have_nodes, fresh),
        cmocka_unit_test_setup(calls_within_a_callback, fresh),
        cmocka_unit_test_setup(held_kernels_block, fresh),
        cmocka_unit_test_setup(threads_launch, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
