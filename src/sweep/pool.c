#include "sweep/pool.h"

#include <pthread.h>
#include <stdlib.h>

struct wmi_pool {
    int count, started;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t round; /* raised when all have arrived */
    int arrived;    /* in the meeting at hand */
    bool quit;
    void (*fn)(void *user, int thread);
    void *user;
};

typedef struct worker {
    wmi_pool *pool;
    int index;
} worker;

/* The last to arrive releases all, so that they start together. */
static void meet(wmi_pool *p) {
    pthread_mutex_lock(&p->lock);
    const uint64_t round = p->round;
    if (++p->arrived == p->count) {
        p->arrived = 0;
        p->round++;
        pthread_cond_broadcast(&p->changed);
    }
    while (p->round == round) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg) {
    const worker w = *(worker *)arg;
    free(arg);
    for (;;) {
        meet(w.pool);
        if (w.pool->quit) return NULL;
        w.pool->fn(w.pool->user, w.index);
        meet(w.pool);
    }
}

wm_status wmi_pool_create(int count, wmi_pool **out, wm_error *err) {
    wmi_pool *p = calloc(1, sizeof *p);
    if (!p) return wmi_error_nomem(err);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->count = 1;
    p->threads = calloc((size_t)count, sizeof *p->threads);
    wm_status status = p->threads ? WM_OK : wmi_error_nomem(err);
    for (int i = 1; i < count && status == WM_OK; i++) {
        worker *w = malloc(sizeof *w);
        if (!w) {
            status = wmi_error_nomem(err);
            break;
        }
        *w = (worker){p, i};
        pthread_mutex_lock(&p->lock);
        p->count++; /* before it can arrive */
        pthread_mutex_unlock(&p->lock);
        const int failed = pthread_create(&p->threads[i], NULL, worker_main, w);
        if (failed) {
            free(w);
            pthread_mutex_lock(&p->lock);
            p->count--;
            pthread_mutex_unlock(&p->lock);
            status = wmi_error_set(err, WM_EUNSUPPORTED, failed, "the system gives only %d of %d threads", i,
                                   count);
        } else {
            p->started++;
        }
    }
    if (status != WM_OK) {
        wmi_pool_destroy(p);
        return status;
    }
    *out = p;
    return WM_OK;
}

void wmi_pool_destroy(wmi_pool *p) {
    if (!p) return;
    p->quit = true; /* read by the others after meet() */
    if (p->started) meet(p);
    for (int i = 1; i <= p->started; i++) pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->threads);
    free(p);
}

void wmi_pool_run(wmi_pool *p, void (*fn)(void *user, int thread), void *user) {
    p->fn = fn;
    p->user = user;
    meet(p);
    fn(user, 0);
    meet(p);
}
