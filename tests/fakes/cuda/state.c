/* The lock, failures to order, counts of calls, memory. */
#include "fake_state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t fakei_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fakei_changed = PTHREAD_COND_INITIALIZER;

typedef struct function {
    const char *name;
    _Atomic uint64_t calls;
    atomic_bool ordered;   /* a failure was ordered: what follows is to be looked at, under the lock */
    int code, from, times; /* from: calls that still succeed, and the one after */
    struct function *next;
} function;
typedef struct text {
    struct text *next;
    char data[];
} text;
typedef union block {
    union block *next;
    max_align_t align;
} block;

#define BUCKETS 512
static function *_Atomic functions[BUCKETS]; /* grows under the lock, is read without */
static text *texts[BUCKETS];
static block *blocks;
static _Atomic uint64_t epoch, cupti_calls;
static const char *calls_file;

void fakei_lock(void) { pthread_mutex_lock(&fakei_mutex); }
void fakei_unlock(void) { pthread_mutex_unlock(&fakei_mutex); }
uint64_t fakei_epoch(void) { return epoch; }

static void *must(void *p) {
    if (p) return p;
    fputs("fake gpu: out of memory\n", stderr);
    abort();
}

void *fakei_calloc(size_t count, size_t size) { return must(calloc(count, size)); }

void *fakei_grow(void *array, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return array;
    while (*capacity < needed) *capacity = *capacity ? 2 * *capacity : 64;
    return must(realloc(array, *capacity * size));
}

void *fakei_alloc(size_t size) {
    block *b = fakei_calloc(1, sizeof *b + size);
    b->next = blocks;
    blocks = b;
    return b + 1;
}

static size_t bucket(const char *name) {
    uint32_t hash = 2166136261U;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash % BUCKETS;
}

const char *fakei_intern(const char *name) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* also called with the other one held */
    text **head = &texts[bucket(name)];
    pthread_mutex_lock(&mutex);
    text *t = *head;
    while (t && strcmp(t->data, name) != 0) t = t->next;
    if (!t) {
        t = fakei_calloc(1, sizeof *t + strlen(name) + 1);
        memcpy(t->data, name, strlen(name) + 1);
        t->next = *head;
        *head = t;
    }
    pthread_mutex_unlock(&mutex);
    return t->data;
}

static function *find(const char *name, size_t at) {
    function *f = atomic_load_explicit(&functions[at], memory_order_acquire);
    while (f && strcmp(f->name, name) != 0) f = f->next;
    return f;
}

/* Calls of the library come from many threads at a time: those of a function that was called before,
 * and is not to fail, take no lock. */
static function *function_of(const char *name) {
    const size_t at = bucket(name);
    function *f = find(name, at);
    if (f) return f;
    fakei_lock();
    f = find(name, at);
    if (!f) {
        f = fakei_calloc(1, sizeof *f);
        f->name = fakei_intern(name);
        f->next = functions[at];
        atomic_store_explicit(&functions[at], f, memory_order_release);
    }
    fakei_unlock();
    return f;
}

static int failure_locked(function *f) {
    if (f->times == 0) return 0;
    if (f->from > 1) {
        f->from--;
        return 0;
    }
    if (f->times > 0) f->times--;
    return f->code;
}

int fakei_enter(const char *name) {
    function *f = function_of(name);
    f->calls++;
    if (!f->ordered) return 0;
    fakei_lock();
    int code = failure_locked(f);
    fakei_unlock();
    return code;
}

CUptiResult fakei_enter_cupti(const char *name) {
    cupti_calls++;
    return (CUptiResult)fakei_enter(name);
}

void fake_fail(const char *name, int code, int from_call, int times) {
    function *f = function_of(name);
    fakei_lock();
    f->code = code;
    f->from = from_call;
    f->times = times;
    f->ordered = times != 0;
    fakei_unlock();
}

uint64_t fake_calls(const char *name) { return function_of(name)->calls; }
uint64_t fake_cupti_calls(void) { return cupti_calls; }

static void functions_reset_locked(void) {
    for (size_t i = 0; i < BUCKETS; i++) {
        for (function *f = functions[i]; f; f = f->next) {
            f->calls = 0;
            f->ordered = false;
        }
    }
    cupti_calls = 0;
}

static void blocks_free_locked(void) {
    while (blocks) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* ---- FAKE_GPU ---- */

static void refuse(const char *word) {
    fprintf(stderr, "fake gpu: FAKE_GPU has the unknown word %s\n", word);
    exit(2);
}

static int number(const char *text_of, const char *word) {
    char *end;
    errno = 0;
    long n = strtol(text_of, &end, 10);
    if (errno || end == text_of || *end || n < -1 || n > 1000000) refuse(word);
    return (int)n;
}

static void rename_devices(const char *name, const char *chip) {
    fake_device devices[FAKE_MAX_DEVICES];
    char blanks[128] = "";
    for (size_t i = 0; name && name[i] && i + 1 < sizeof blanks; i++)
        blanks[i] = name[i] == '_' ? ' ' : name[i];
    fakei_lock();
    size_t count = fakei_gpu.count;
    memcpy(devices, fakei_gpu.v, sizeof devices);
    fakei_unlock();
    for (size_t i = 0; i < count; i++) {
        if (name) devices[i].name = blanks;
        if (chip) devices[i].chip = chip;
    }
    fake_devices(devices, count);
}

static void several_devices(int n, const char *word) {
    fake_device devices[FAKE_MAX_DEVICES];
    if (n < 0 || n > FAKE_MAX_DEVICES) refuse(word);
    for (int i = 0; i < n; i++) devices[i] = fake_device_default();
    fake_devices(devices, (size_t)n);
}

static void fail_from_word(const char *name, char *value, const char *word) {
    char *at = strchr(value, '@');
    if (at) *at++ = '\0';
    if (strncmp(name, "cu", 2) != 0 && strncmp(name, "nvml", 4) != 0) refuse(word);
    fake_fail(name, number(value, word), at ? number(at, word) : 1, -1);
}

static void obey_value(const char *key, char *value, const char *word) {
    if (strcmp(key, "devices") == 0)
        several_devices(number(value, word), word);
    else if (strcmp(key, "name") == 0)
        rename_devices(value, NULL);
    else if (strcmp(key, "chip") == 0)
        rename_devices(NULL, value);
    else if (strcmp(key, "driver") == 0)
        fake_driver_version(number(value, word));
    else if (strcmp(key, "cupti") == 0)
        fake_cupti_version((uint32_t)number(value, word));
    else if (strcmp(key, "unsupported") == 0)
        fake_supported(value, 1);
    else if (strcmp(key, "calls") == 0)
        calls_file = fakei_intern(value);
    else if (!fakei_nvml_number(key, value))
        fail_from_word(key, value, word);
}

static void obey(char *key) {
    const char *word = fakei_intern(key);
    char *value = strchr(key, '=');
    if (value) {
        *value = '\0';
        obey_value(key, value + 1, word);
    } else if (strcmp(word, "stub") == 0) {
        fake_stub(true);
    } else if (strcmp(word, "subscriber") == 0) {
        fake_other_subscriber(true);
    } else if (strcmp(word, "no-records") == 0) {
        fake_no_records(true);
    } else if (!fakei_nvml_word(word)) {
        refuse(word);
    }
}

static void obey_environment(void) {
    const char *words = getenv("FAKE_GPU");
    char *rest = NULL, *copy = must(strdup(words ? words : ""));
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) obey(word);
    free(copy);
}

void fake_reset(void) {
    fakei_lock();
    epoch++;
    functions_reset_locked();
    fakei_devices_reset_locked();
    fakei_nvml_reset_locked();
    fakei_profiler_reset_locked();
    fakei_metrics_reset_locked();
    fakei_activity_reset_locked();
    fakei_callbacks_reset_locked();
    fakei_kernels_reset_locked();
    fakei_memory_reset_locked();
    fakei_work_reset_locked();
    blocks_free_locked();
    pthread_cond_broadcast(&fakei_changed);
    fakei_unlock();
    obey_environment();
}

__attribute__((constructor)) static void begin(void) { fake_reset(); }

__attribute__((destructor)) static void end(void) {
    FILE *f = calls_file ? fopen(calls_file, "a") : NULL;
    for (size_t i = 0; f && i < BUCKETS; i++)
        for (function *fn = functions[i]; fn; fn = fn->next)
            if (fn->calls) fprintf(f, "%s %llu\n", fn->name, (unsigned long long)fn->calls);
    if (f) fclose(f);
}
