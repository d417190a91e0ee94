/* What sensors say over the made-up time, and locked clocks. */
#include <stdlib.h>
#include <string.h>

#include "nvml_state.h"

enum { STEPS = 32, SECOND = 1000000000 };
typedef struct step {
    int64_t at;
    double value;
} step;
typedef struct sensor {
    step v[STEPS];
    size_t n;
} sensor;

static sensor sensors[FAKE_MAX_DEVICES][FAKE_SENSORS];
static unsigned locked[FAKE_MAX_DEVICES];
static bool by_cupti[FAKE_MAX_DEVICES];
static uint64_t locks, unlocks;
fakei_nvml fakei_nvml_state;

static const double usual[FAKE_SENSORS] = {
    [FAKE_SM_CLOCK] = 1980, [FAKE_MEMORY_CLOCK] = 3201, [FAKE_TEMPERATURE] = 40, [FAKE_MARGIN] = 47,
    [FAKE_PSTATE] = 0,      [FAKE_UTILIZATION] = 30,    [FAKE_POWER] = 100,      [FAKE_REASONS] = 1};

void fakei_nvml_reset_locked(void) {
    memset(locked, 0, sizeof locked);
    memset(by_cupti, 0, sizeof by_cupti);
    locks = unlocks = 0;
    fakei_nvml_state = (fakei_nvml){.energy_period = SECOND / 10, .slowdown = 89, .share = 1};
    for (size_t d = 0; d < FAKE_MAX_DEVICES; d++)
        for (size_t s = 0; s < FAKE_SENSORS; s++)
            sensors[d][s] = (sensor){.v = {{FAKE_CLOCK_START, usual[s]}}, .n = 1};
}

/* ---- sensors ---- */

static void set_locked(sensor *s, int64_t at, double value) {
    while (s->n > 0 && s->v[s->n - 1].at >= at) s->n--;
    if (s->n == STEPS) abort(); /* a test that sets more needs more room */
    s->v[s->n++] = (step){at, value};
}

void fake_sensor_set(int device, fake_sensor which, int64_t after_ns, double value) {
    fakei_lock();
    for (int d = 0; d < FAKE_MAX_DEVICES; d++)
        if (device < 0 || d == device) set_locked(&sensors[d][which], fakei_now_locked() + after_ns, value);
    fakei_unlock();
}

static double value_at(const sensor *s, int64_t at) {
    double value = s->v[0].value;
    for (size_t i = 0; i < s->n && s->v[i].at <= at; i++) value = s->v[i].value;
    return value;
}

/* Of value times time [s], from the clock's start. */
static double integral(const sensor *s, int64_t until) {
    double sum = 0;
    for (size_t i = 0; i < s->n && s->v[i].at < until; i++) {
        const int64_t end = i + 1 < s->n && s->v[i + 1].at < until ? s->v[i + 1].at : until;
        sum += s->v[i].value * (double)(end - s->v[i].at) / SECOND;
    }
    return sum;
}

double fakei_sensor_locked(int device, fake_sensor which) {
    if (which == FAKE_SM_CLOCK && locked[device]) return fakei_nvml_state.share * locked[device];
    return value_at(&sensors[device][which], fakei_now_locked());
}

double fakei_power_average_locked(int device) {
    const sensor *s = &sensors[device][FAKE_POWER];
    const int64_t now = fakei_now_locked();
    const int64_t from = now - SECOND > FAKE_CLOCK_START ? now - SECOND : FAKE_CLOCK_START;
    if (from == now) return value_at(s, now);
    return (integral(s, now) - integral(s, from)) / ((double)(now - from) / SECOND);
}

double fakei_energy_locked(int device) {
    const int64_t passed = fakei_now_locked() - FAKE_CLOCK_START;
    const int64_t period = fakei_nvml_state.energy_period;
    return integral(&sensors[device][FAKE_POWER], FAKE_CLOCK_START + passed / period * period);
}

/* ---- clocks ---- */

void fakei_clocks_lock_locked(int device, unsigned mhz, bool cupti) {
    locked[device] = mhz;
    by_cupti[device] = cupti;
    locks++;
}

bool fakei_clocks_unlock_locked(int device, bool cupti) {
    const bool was = locked[device] != 0 && by_cupti[device] == cupti;
    if (was) locked[device] = 0;
    unlocks++;
    return was;
}

unsigned fake_locked(int device) {
    fakei_lock();
    const unsigned mhz = locked[device];
    fakei_unlock();
    return mhz;
}

uint64_t fake_locks(void) {
    fakei_lock();
    const uint64_t n = locks;
    fakei_unlock();
    return n;
}

uint64_t fake_unlocks(void) {
    fakei_lock();
    const uint64_t n = unlocks;
    fakei_unlock();
    return n;
}

/* ---- the rest ---- */

#define SETTER(function, type, member)                                                                       \
    void function(type value) {                                                                              \
        fakei_lock();                                                                                        \
        fakei_nvml_state.member = value;                                                                     \
        fakei_unlock();                                                                                      \
    }
SETTER(fake_energy_period, int64_t, energy_period)
SETTER(fake_slowdown, unsigned, slowdown)
SETTER(fake_nvml_reversed, bool, reversed)
SETTER(fake_clocks_forbidden, bool, forbidden)
SETTER(fake_bind, double, share)

/* ---- words of FAKE_GPU ---- */

static const struct {
    const char *word;
    fake_sensor sensor;
} words[] = {{"sm-clock", FAKE_SM_CLOCK},
             {"memory-clock", FAKE_MEMORY_CLOCK},
             {"temperature", FAKE_TEMPERATURE},
             {"margin", FAKE_MARGIN},
             {"pstate", FAKE_PSTATE},
             {"utilization", FAKE_UTILIZATION},
             {"power", FAKE_POWER},
             {"throttle", FAKE_REASONS}};

bool fakei_nvml_word(const char *word) {
    if (strcmp(word, "reversed") == 0)
        fake_nvml_reversed(true);
    else if (strcmp(word, "forbidden") == 0)
        fake_clocks_forbidden(true);
    else
        return false;
    return true;
}

bool fakei_nvml_number(const char *key, const char *text) {
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end) return false;
    if (strcmp(key, "energy-period") == 0) {
        fake_energy_period((int64_t)value * (SECOND / 1000));
        return true;
    }
    if (strcmp(key, "bind") == 0) {
        fake_bind((double)value / 100);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(key, words[i].word) != 0) continue;
        fake_sensor_set(-1, words[i].sensor, 0, (double)value);
        return true;
    }
    return false;
}
