#include "backend/cuda/sensors.h"

#include "backend/cuda/met_contexts.h"

/* ---- which device ---- */

/* The first context that was met and is still there. */
static const wmi_cuda_device *device_in_use(void) {
    const size_t n = wmi_met_contexts();
    for (size_t i = 0; i < n; i++)
        if (!wmi_met_context_is_gone(i)) return wmi_met_context_at(i)->device;
    return n ? wmi_met_context_at(n - 1)->device : NULL;
}

wm_status wmi_cuda_watched(int watched, const wmi_cuda_device **out, wm_error *err) {
    const wmi_cuda_device *devices;
    size_t count;
    *out = watched < 0 ? device_in_use() : NULL;
    if (*out) return WM_OK;
    const wm_status status = wmi_cuda_devices(&devices, &count, err);
    if (status != WM_OK) return status;
    const size_t index = watched < 0 ? 0 : (size_t)watched;
    if (index >= count)
        return wmi_error_set(err, WM_EUNSUPPORTED, 0, "there is no GPU of number %d: CUDA has %zu, from 0 on",
                             watched, count);
    *out = &devices[index];
    return WM_OK;
}

int wmi_nvml_handle(const wmi_cuda_device *d, wmi_nvml_device *out) {
    wmi_nvml_device part;
    if (!d->uuid[0]) return WMI_NVML_NOT_FOUND;
    if (!wmi_cuda_is_mig(d)) return wmi_nvml.by_uuid(d->uuid, out);
    if (!wmi_nvml.mig_parent) return WMI_NVML_FUNCTION_NOT_FOUND;
    const int code = wmi_nvml.by_uuid(d->uuid, &part);
    return code == WMI_NVML_SUCCESS ? wmi_nvml.mig_parent(part, out) : code;
}

/* ---- one sensor: a code of NVML ---- */

#define CALL(function, ...) (wmi_nvml.function ? wmi_nvml.function(__VA_ARGS__) : WMI_NVML_FUNCTION_NOT_FOUND)

static int clock_hz(const wmi_cuda_sensors *s, int domain, double *out) {
    unsigned mhz = 0;
    const int code = CALL(clock, s->handle, domain, &mhz);
    *out = 1e6 * mhz;
    return code;
}

static int temperature(const wmi_cuda_sensors *s, double *out) {
    unsigned degrees = 0;
    const int code = CALL(temperature, s->handle, WMI_NVML_TEMPERATURE_GPU, &degrees);
    *out = degrees;
    return code;
}

/* Is that an answer for ever? */
static bool is_absence(int code) {
    return code == WMI_NVML_NOT_SUPPORTED || code == WMI_NVML_FUNCTION_NOT_FOUND ||
           code == WMI_NVML_ARGUMENT_VERSION_MISMATCH;
}

/* From where the device slows down to where it is now: for chips that do not tell the margin. */
static int headroom_of_threshold(wmi_cuda_sensors *s, double *out) {
    double now = 0;
    int code = WMI_NVML_SUCCESS;
    if (!s->threshold) code = CALL(threshold, s->handle, WMI_NVML_THRESHOLD_SLOWDOWN, &s->threshold);
    if (code == WMI_NVML_SUCCESS) code = temperature(s, &now);
    *out = s->threshold - now;
    return code;
}

static int headroom(wmi_cuda_sensors *s, double *out) {
    wmi_nvml_margin margin = {.version = WMI_NVML_MARGIN_VERSION};
    if (s->no_margin) return headroom_of_threshold(s, out);
    const int code = CALL(margin, s->handle, &margin);
    *out = margin.degrees;
    s->no_margin = is_absence(code);
    return s->no_margin ? headroom_of_threshold(s, out) : code;
}

static int pstate(const wmi_cuda_sensors *s, double *out) {
    int state = WMI_NVML_PSTATE_UNKNOWN;
    const int code = CALL(pstate, s->handle, &state);
    *out = state;
    return code == WMI_NVML_SUCCESS && state > WMI_NVML_PSTATE_SLOWEST ? WMI_NVML_UNKNOWN : code;
}

static int utilization(const wmi_cuda_sensors *s, double *out) {
    wmi_nvml_utilization percent = {0};
    const int code = CALL(utilization, s->handle, &percent);
    *out = percent.gpu / 100.0;
    return code;
}

static double number_of(const wmi_nvml_field *f) {
    switch (f->type) {
    case WMI_NVML_DOUBLE: return f->value.f64;
    case WMI_NVML_ULONG: return (double)f->value.ulong;
    case WMI_NVML_ULONGLONG: return (double)f->value.u64;
    default: return f->value.u32;
    }
}

/* A driver that does not know a field calls it a wrong argument. */
static bool unknown_field(int code) { return is_absence(code) || code == WMI_NVML_INVALID_ARGUMENT; }

static int power_now(const wmi_cuda_sensors *s, double *out) {
    wmi_nvml_field field = {.id = WMI_NVML_FIELD_POWER_INSTANT};
    int code = CALL(fields, s->handle, 1, &field);
    if (code == WMI_NVML_SUCCESS) code = field.result;
    if (code == WMI_NVML_SUCCESS) *out = number_of(&field) / 1e3;
    return code;
}

static int power_as_before(const wmi_cuda_sensors *s, double *out) {
    unsigned mw = 0;
    const bool averaged = s->device->major > 8 || (s->device->major == 8 && s->device->minor > 0);
    if (averaged) return WMI_NVML_NOT_SUPPORTED;
    const int code = CALL(power, s->handle, &mw);
    *out = mw / 1e3;
    return code;
}

static int power(wmi_cuda_sensors *s, double *out) {
    if (s->no_instant) return power_as_before(s, out);
    const int code = power_now(s, out);
    s->no_instant = unknown_field(code);
    return s->no_instant ? power_as_before(s, out) : code;
}

/* It never jumps when another device is read from now on. */
static int energy(wmi_cuda_sensors *s, double *out) {
    unsigned long long mj = 0;
    const int code = CALL(energy, s->handle, &mj);
    if (code != WMI_NVML_SUCCESS) return code;
    if (!s->energy_begun) s->energy_begin = mj;
    s->energy_begun = true;
    *out = s->energy = s->energy_before + ((double)mj - (double)s->energy_begin) / 1e3;
    return code;
}

static int throttle(const wmi_cuda_sensors *s, double *out) {
    static const struct {
        unsigned long long theirs;
        uint32_t ours;
    } bits[] = {{WMI_NVML_SW_POWER_CAP, WMI_THROTTLE(POWER)},
                {WMI_NVML_HW_SLOWDOWN, WMI_THROTTLE(HW_SLOWDOWN)},
                {WMI_NVML_SW_THERMAL, WMI_THROTTLE(THERMAL)},
                {WMI_NVML_HW_THERMAL, WMI_THROTTLE(HW_THERMAL)},
                {WMI_NVML_HW_POWER_BRAKE, WMI_THROTTLE(POWER_BRAKE)}};
    unsigned long long reasons = 0;
    uint32_t all = 0;
    const int code = wmi_nvml.event_reasons ? wmi_nvml.event_reasons(s->handle, &reasons)
                                            : CALL(throttle_reasons, s->handle, &reasons);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (reasons & bits[i].theirs) all |= bits[i].ours;
    *out = all;
    return code;
}

static int read_one(wmi_cuda_sensors *s, wmi_sensor which, double *out) {
    switch (which) {
    case WMI_SENSOR_GPU_CLOCK: return clock_hz(s, WMI_NVML_CLOCK_SM, out);
    case WMI_SENSOR_GPU_MEMORY_CLOCK: return clock_hz(s, WMI_NVML_CLOCK_MEMORY, out);
    case WMI_SENSOR_GPU_TEMPERATURE: return temperature(s, out);
    case WMI_SENSOR_GPU_HEADROOM: return headroom(s, out);
    case WMI_SENSOR_GPU_PSTATE: return pstate(s, out);
    case WMI_SENSOR_GPU_UTILIZATION: return utilization(s, out);
    case WMI_SENSOR_GPU_POWER: return power(s, out);
    case WMI_SENSOR_GPU_ENERGY: return energy(s, out);
    case WMI_SENSOR_GPU_THROTTLE: return throttle(s, out);
    default: return WMI_NVML_NOT_SUPPORTED;
    }
}

/* ---- all of them ---- */

static void fail(uint32_t which, wm_reason why, wmi_sensed *out) {
    for (int i = 0; i < WMI_SENSOR_COUNT; i++)
        if (which >> i & 1) out->reason[i] = (uint8_t)why;
}

static void watch(wmi_cuda_sensors *s, const wmi_cuda_device *d) {
    *s = (wmi_cuda_sensors){
        .watched = s->watched, .device = d, .energy_before = s->energy, .energy = s->energy};
    if (wmi_cuda_is_mig(d))
        s->absent = WMI_SENSOR_BIT(GPU_UTILIZATION) | WMI_SENSOR_BIT(GPU_POWER) | WMI_SENSOR_BIT(GPU_ENERGY);
}

/* Why not, or WM_REASON_NONE. */
static wm_reason find(wmi_cuda_sensors *s) {
    const wmi_cuda_device *device = NULL;
    wm_error why = WM_ERROR_INIT;
    if (wmi_cuda_watched(s->watched, &device, &why) != WM_OK || !device) return WM_REASON_NO_SENSOR;
    if (device != s->device) watch(s, device);
    if (s->lost) return WM_REASON_DEVICE_LOST;
    if (s->found) return WM_REASON_NONE;
    const wm_status status = wmi_nvml_load(&why);
    if (status == WM_EUNSUPPORTED) return WM_REASON_NO_SENSOR;
    if (status != WM_OK) return status == WM_EPERM ? WM_REASON_PERMISSION : WM_REASON_BACKEND;
    const int code = wmi_nvml_handle(device, &s->handle);
    s->found = code == WMI_NVML_SUCCESS;
    s->lost = code == WMI_NVML_GPU_IS_LOST;
    if (is_absence(code) || code == WMI_NVML_NOT_FOUND) {
        s->found = true; /* for ever without any sensor */
        s->absent = UINT32_MAX;
    }
    return s->found ? WM_REASON_NONE : wmi_nvml_reason(code);
}

void wmi_cuda_sense(wmi_cuda_sensors *s, uint32_t which, wmi_sensed *out) {
    which &= WMI_CUDA_SENSORS;
    const wm_reason why = find(s);
    fail(which, why ? why : WM_REASON_NO_SENSOR, out);
    if (why) return;
    for (int i = 0; i < WMI_SENSOR_COUNT && !s->lost; i++) {
        const uint32_t bit = 1u << i;
        double value = 0;
        if (!(which & ~s->absent & bit)) continue;
        const int code = read_one(s, (wmi_sensor)i, &value);
        if (code == WMI_NVML_SUCCESS) {
            wmi_sensed_set(out, (wmi_sensor)i, value);
            continue;
        }
        out->reason[i] = (uint8_t)wmi_nvml_reason(code);
        if (is_absence(code)) s->absent |= bit;
        s->lost = code == WMI_NVML_GPU_IS_LOST;
        if (s->lost) fail(which & ~s->absent & ~(bit - 1), WM_REASON_DEVICE_LOST, out);
    }
}
