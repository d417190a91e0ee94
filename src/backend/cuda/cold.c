#include "backend/cuda/cold.h"

#include <pthread.h>
#include <stdlib.h>

#include "backend/cuda/context_wait.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_dl.h"
#include "backend/cuda/launches.h"

const char wmi_cold_kernel[] = "warpmeter_read_l2";

/* Reads `bytes` bytes from `buffer`, 16 at a time, past the L1 caches. The buffer holds zeros, which
 * no compiler knows: the loads have to be made, and the store never is. PTX of that age is what every
 * driver compiles, for every device from Maxwell on. */
static const char read_l2[] = ".version 6.0\n"
                              ".target sm_50\n"
                              ".address_size 64\n"
                              ".visible .entry warpmeter_read_l2(.param .u64 buffer, .param .u64 bytes)\n"
                              "{\n"
                              "    .reg .pred %out;\n"
                              "    .reg .b32 %block, %threads, %thread, %blocks, %any, %word<4>;\n"
                              "    .reg .b64 %base, %at, %end, %step;\n"
                              "    mov.u32 %block, %ctaid.x;\n"
                              "    mov.u32 %blocks, %nctaid.x;\n"
                              "    mov.u32 %threads, %ntid.x;\n"
                              "    mov.u32 %thread, %tid.x;\n"
                              "    ld.param.u64 %base, [buffer];\n"
                              "    ld.param.u64 %end, [bytes];\n"
                              "    cvta.to.global.u64 %base, %base;\n"
                              "    add.u64 %end, %base, %end;\n"
                              "    cvt.u64.u32 %at, %thread;\n"
                              "    mad.wide.u32 %at, %block, %threads, %at;\n"
                              "    shl.b64 %at, %at, 4;\n"
                              "    add.u64 %at, %base, %at;\n"
                              "    mul.wide.u32 %step, %blocks, %threads;\n"
                              "    shl.b64 %step, %step, 4;\n"
                              "    mov.u32 %any, 0;\n"
                              "NEXT:\n"
                              "    setp.ge.u64 %out, %at, %end;\n"
                              "    @%out bra DONE;\n"
                              "    ld.global.cg.v4.u32 {%word0, %word1, %word2, %word3}, [%at];\n"
                              "    or.b32 %any, %any, %word0;\n"
                              "    or.b32 %any, %any, %word1;\n"
                              "    or.b32 %any, %any, %word2;\n"
                              "    or.b32 %any, %any, %word3;\n"
                              "    add.u64 %at, %at, %step;\n"
                              "    bra NEXT;\n"
                              "DONE:\n"
                              "    setp.eq.u32 %out, %any, 0;\n"
                              "    @%out ret;\n"
                              "    st.global.u32 [%base], %any;\n"
                              "    ret;\n"
                              "}\n";

enum { OWN_ID = 0 }; /* instead of CUPTI's number, of the second context */

/* The reading kernel in one context. */
typedef struct reader reader;
struct reader {
    reader *next;
    CUcontext context;
    uint32_t id; /* CUPTI's number: a context made anew may have the handle of one that is gone */
    CUmodule module;
    CUfunction function;
    CUdeviceptr buffer;
};

struct wmi_cold {
    const wmi_cuda_device *device;
    size_t bytes;  /* of a buffer */
    CUcontext own; /* the second context; NULL: none */
    bool own_tried;
    pthread_mutex_t lock;   /* one eviction at a time; guards what is below */
    wmi_context_wait *wait; /* NULL: out of use, since it was in vain */
    reader *readers;        /* of the second context, and of those of the program */
};

/* Calls of ours, between enter and leave: hidden from the launch log, and allowed while some stream of
 * the program's is captured. */
static CUstreamCaptureMode enter(void) {
    wmi_launches_hide();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)wmi_cuda.capture_mode(&mode);
    return mode;
}
static void leave(CUstreamCaptureMode mode) {
    (void)wmi_cuda.capture_mode(&mode);
    wmi_launches_show();
}
static CUresult pop(void) {
    CUcontext popped;
    return wmi_cuda.ctx_pop(&popped);
}

/* The program goes on in a context that is not its own when that fails. */
static wm_status popped(CUresult result, wm_status status, wm_error *err) {
    if (status != WM_OK || result == CUDA_SUCCESS) return status;
    return wmi_cuda_error(err, false, (int)result, "leaving the context that evicts the device's caches");
}

static CUresult launch(const wmi_cold *c, const reader *r) {
    enum { THREADS = 256, BLOCKS_EACH = 8 }; /* a full multiprocessor */
    CUdeviceptr buffer = r->buffer;
    unsigned long long bytes = c->bytes;
    void *arguments[] = {&buffer, &bytes};
    unsigned blocks =
        (unsigned)(c->device->multiprocessors > 0 ? c->device->multiprocessors : 1) * BLOCKS_EACH;
    return wmi_cuda.launch_kernel(r->function, blocks, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL);
}

/* ---- readers ---- */

static wm_status allocate(const wmi_cold *c, reader *r, wm_error *err) {
    CUresult result = wmi_cuda.mem_alloc(&r->buffer, c->bytes);
    if (result == CUDA_SUCCESS) return WM_OK;
    r->buffer = 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return wmi_error_set(err, WM_ENOMEM, (int)result,
                             "evicting the caches of %s takes %zu bytes of its memory, which are not free",
                             c->device->name, c->bytes);
    return wmi_cuda_error(err, false, (int)result, "allocating memory to evict the device's caches with");
}

/* In a context of our own the first reading is made at once: it writes back what the zeros left in the
 * cache, and loads the kernel's code. In the program's each reading is a range, so there is none but the
 * evictions. */
static wm_status prepare(const wmi_cold *c, reader *r, wm_error *err) {
    const char *what = "compiling the kernel that evicts the device's caches";
    CUresult result = wmi_cuda.module_load(&r->module, read_l2);
    if (result == CUDA_SUCCESS) result = wmi_cuda.module_function(&r->function, r->module, wmi_cold_kernel);
    if (result == CUDA_SUCCESS) {
        what = "clearing the memory to evict the device's caches with";
        result = wmi_cuda.memset_d32(r->buffer, 0, c->bytes / sizeof(uint32_t));
    }
    if (result == CUDA_SUCCESS && c->own && r->context == c->own) {
        what = "evicting the device's caches";
        result = launch(c, r);
        if (result == CUDA_SUCCESS) result = wmi_cuda.ctx_synchronize();
    }
    return result == CUDA_SUCCESS ? WM_OK : wmi_cuda_error(err, false, (int)result, what);
}

/* With its context current, or gone. */
static void free_reader(reader *r) {
    if (r->module) (void)wmi_cuda.module_unload(r->module);
    if (r->buffer) (void)wmi_cuda.mem_free(r->buffer);
    free(r);
}

/* With `context` current. */
static wm_status add_reader(wmi_cold *c, CUcontext context, uint32_t id, wm_error *err) {
    reader *r = calloc(1, sizeof *r);
    if (!r) return wmi_error_nomem(err);
    r->context = context;
    r->id = id;
    wm_status status = allocate(c, r, err);
    if (status == WM_OK) status = prepare(c, r, err);
    if (status != WM_OK) {
        free_reader(r);
        return status;
    }
    r->next = c->readers;
    c->readers = r;
    return WM_OK;
}

/* What a reader of that handle but another number held went with its context. */
static void forget_gone(wmi_cold *c, CUcontext context, uint32_t id) {
    for (reader **at = &c->readers; *at;) {
        reader *r = *at;
        if (r->context != context || r->id == id) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        free(r);
    }
}

/* The reader of a context, which is made current with it; NULL on failure. */
static const reader *enter_reader(wmi_cold *c, CUcontext context, uint32_t id, wm_status *status,
                                  wm_error *err) {
    CUresult result = wmi_cuda.ctx_push(context);
    if (result != CUDA_SUCCESS) {
        *status =
            wmi_cuda_error(err, false, (int)result, "entering the context that evicts the device's caches");
        return NULL;
    }
    forget_gone(c, context, id);
    const reader *r = c->readers;
    while (r && r->context != context) r = r->next;
    if (r) return r;
    *status = add_reader(c, context, id, err);
    if (*status == WM_OK) return c->readers;
    (void)pop();
    return NULL;
}

/* ---- eviction ---- */

/* Nothing may be launched before the context rests, or the kernel that reads would share the device
 * with those whose data it is to evict. */
static wm_status rest(wmi_cold *c, CUcontext context, int64_t limit_ns, wm_error *err) {
    CUresult result;
    if (!wmi_context_wait_for(c->wait, context, limit_ns, &result)) {
        wmi_context_wait_destroy(c->wait);
        c->wait = NULL;
        return wmi_error_set(
            err, WM_EFAILED, 0,
            "kernels on %s did not end within %lld ms: they may wait for later ones, and then "
            "cannot be run one by one with cold caches",
            c->device->name, (long long)(limit_ns / 1000000));
    }
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        return wmi_error_set(err, WM_ESTATE, (int)result, "%s", wm_reason_text(WM_REASON_CAPTURE));
    return result == CUDA_SUCCESS ? WM_OK : wmi_cuda_error(err, false, (int)result, "waiting for the device");
}

/* False: it has to be done without. */
static bool make_own_context(wmi_cold *c) {
    if (c->device->compute_mode != CU_COMPUTEMODE_DEFAULT) return false;
    CUdevice device;
    if (wmi_cuda.device_get(&device, c->device->ordinal) != CUDA_SUCCESS) return false;
    return wmi_cuda.ctx_create(&c->own, 0, device) == CUDA_SUCCESS; /* and it is current */
}

/* The second context is made when it is first wanted. WM_OK without one: it is not allowed. */
static wm_status second_context(wmi_cold *c, wm_error *err) {
    if (c->own_tried) return WM_OK;
    c->own_tried = true;
    if (!make_own_context(c)) return WM_OK;
    const wm_status status = add_reader(c, c->own, OWN_ID, err);
    return popped(pop(), status, err);
}

static wm_status read_once(wmi_cold *c, const wmi_cuda_context *program, wmi_cold_place place,
                           int64_t limit_ns, wm_error *err) {
    wm_status status = rest(c, program->handle, limit_ns, err);
    if (status == WM_OK && place == WMI_COLD_APART) status = second_context(c, err);
    if (status != WM_OK) return status;
    const bool apart = place == WMI_COLD_APART && c->own;
    const reader *r = apart ? enter_reader(c, c->own, OWN_ID, &status, err)
                            : enter_reader(c, program->handle, program->id, &status, err);
    if (!r) return status;
    const CUresult result = launch(c, r), left = pop();
    if (result != CUDA_SUCCESS)
        return wmi_cuda_error(err, false, (int)result, "evicting the device's caches");
    status = popped(left, WM_OK, err);
    if (status != WM_OK) return status;
    return rest(c, r->context, limit_ns, err);
}

wm_status wmi_cold_evict(wmi_cold *c, const wmi_cuda_context *program, wmi_cold_place place, int64_t hang_ns,
                         wm_error *err) {
    if (wmi_launches_capturing())
        return wmi_error_set(err, WM_ESTATE, 0, "%s", wm_reason_text(WM_REASON_CAPTURE));
    pthread_mutex_lock(&c->lock);
    wm_status status;
    if (c->wait) {
        CUstreamCaptureMode mode = enter();
        status = read_once(c, program, place, hang_ns, err);
        leave(mode);
    } else {
        status =
            wmi_error_set(err, WM_EFAILED, 0, "caches are not evicted any more: kernels wait for each other");
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- making and unmaking ---- */

wm_status wmi_cold_create(const wmi_cuda_device *device, wmi_cold **out, wm_error *err) {
    if (device->l2_bytes <= 0)
        return wmi_error_set(err, WM_EUNSUPPORTED, 0,
                             "%s does not say how large its L2 cache is, so it cannot be evicted",
                             device->name);
    wmi_cold *c = calloc(1, sizeof *c);
    if (!c) return wmi_error_nomem(err);
    c->device = device;
    c->bytes = ((size_t)device->l2_bytes * 2 + 15) / 16 * 16;
    pthread_mutex_init(&c->lock, NULL);
    const wm_status status = wmi_context_wait_create(&c->wait, err);
    if (status != WM_OK) {
        wmi_cold_destroy(c);
        return status;
    }
    *out = c;
    return WM_OK;
}

static void free_readers(wmi_cold *c) {
    while (c->readers) {
        reader *r = c->readers;
        c->readers = r->next;
        bool entered = wmi_cuda.ctx_push(r->context) == CUDA_SUCCESS;
        if (!entered) { /* the program destroyed it, and with it all that it held */
            r->module = NULL;
            r->buffer = 0;
        }
        free_reader(r);
        if (entered) (void)pop();
    }
}

void wmi_cold_destroy(wmi_cold *c) {
    if (!c) return;
    CUstreamCaptureMode mode = enter();
    wmi_context_wait_destroy(c->wait);
    free_readers(c);
    if (c->own) (void)wmi_cuda.ctx_destroy(c->own);
    leave(mode);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

bool wmi_cold_in_program(const wmi_cold *c) { return !c->own; }
