/* Sensors that a test makes up, in place of those of the CPU backend of a sweep. After <cmocka.h>. */
#ifndef TEST_MADE_SENSORS_H
#define TEST_MADE_SENSORS_H

#include <pthread.h>

#include "sweep/sweep.h"

static struct {
    pthread_mutex_t lock;
    double value[WMI_SENSOR_COUNT];
    wm_reason reason[WMI_SENSOR_COUNT];
    pthread_t main;
    int calls;       /* readings that the test's own thread made */
    int fails_from;  /* from this one on none has a value; 0: never */
    int low_until;   /* until this one the headroom is 1; 0: never */
    int64_t cost_ns; /* a reading takes so long; to be changed while no other thread reads */
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void made_sense(void *self, uint32_t which, int cpu, wmi_sensed *out) {
    (void)self;
    (void)cpu;
    const int64_t until = (int64_t)wmi_monotonic_ns() + made.cost_ns;
    while (made.cost_ns && (int64_t)wmi_monotonic_ns() < until) {
    }
    pthread_mutex_lock(&made.lock);
    if (pthread_equal(pthread_self(), made.main)) made.calls++;
    const bool lost = made.fails_from && made.calls >= made.fails_from;
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) {
        if (!(which >> i & 1)) continue;
        out->reason[i] = (uint8_t)(lost ? WM_REASON_DEVICE_LOST : made.reason[i]);
        if (!out->reason[i]) wmi_sensed_set(out, (wmi_sensor)i, made.value[i]);
        if (i == WMI_SENSOR_GPU_HEADROOM && made.calls <= made.low_until) out->value[i] = 1;
    }
    pthread_mutex_unlock(&made.lock);
}

static inline void made_set(wmi_sensor which, double value) {
    pthread_mutex_lock(&made.lock);
    made.value[which] = value;
    made.reason[which] = WM_REASON_NONE;
    pthread_mutex_unlock(&made.lock);
}

static inline void made_add(wmi_sensor which, double value) {
    pthread_mutex_lock(&made.lock);
    made.value[which] += value;
    pthread_mutex_unlock(&made.lock);
}

static inline int made_reset(void **state) {
    (void)state;
    pthread_mutex_lock(&made.lock);
    for (int i = 0; i < WMI_SENSOR_COUNT; i++) {
        made.value[i] = 0;
        made.reason[i] = WM_REASON_NONE;
    }
    made.main = pthread_self();
    made.cost_ns = 0;
    made.calls = made.fails_from = made.low_until = 0;
    pthread_mutex_unlock(&made.lock);
    return 0;
}

/* Before the first step. */
static inline void made_use(wm_sweep *sweep, uint32_t sensors) {
    static wmi_backend_ops ops;
    ops = *sweep->measure->sources[0].ops;
    ops.sensors = sensors;
    ops.sense = made_sense;
    sweep->measure->sources[0].ops = &ops;
}

#endif
