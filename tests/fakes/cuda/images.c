/* The made-up formats of configuration and counter data images. An image may be copied byte by
 *  byte, and lie anywhere. */
#include <math.h>
#include <string.h>

#include "fake_state.h"

static const char config_magic[8] = "fakecfg", image_magic[8] = "fakeimg";

typedef char name_field[FAKEI_NAME];

static void write_names(uint8_t *out, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        memset(out + i * sizeof(name_field), 0, sizeof(name_field));
        strncpy((char *)out + i * sizeof(name_field), names[i], sizeof(name_field) - 1);
    }
}

size_t fakei_config_size(size_t count) { return sizeof(fakei_config) + count * sizeof(name_field); }

void fakei_config_write(uint8_t *out, size_t passes, const char *const *names, size_t count) {
    fakei_config head = {.passes = passes, .count = count};
    memcpy(head.magic, config_magic, sizeof config_magic);
    memcpy(out, &head, sizeof head);
    write_names(out + sizeof head, names, count);
}

const fakei_config *fakei_config_of(const uint8_t *bytes, size_t size) {
    const fakei_config *config = (const fakei_config *)(const void *)bytes;
    if (!bytes || size < sizeof *config || (uintptr_t)bytes % _Alignof(fakei_config) != 0) return NULL;
    if (memcmp(config->magic, config_magic, sizeof config_magic) != 0) return NULL;
    return size >= fakei_config_size(config->count) ? config : NULL;
}

const char *fakei_config_name(const fakei_config *config, size_t i) {
    return (const char *)(config + 1) + i * sizeof(name_field);
}

/* A range: its name, then a value for each metric. */
static size_t range_size(size_t metrics) { return sizeof(name_field) + metrics * sizeof(double); }

size_t fakei_image_size(size_t capacity, size_t count) {
    return sizeof(fakei_image) + count * sizeof(name_field) + capacity * range_size(count);
}

void fakei_image_write(uint8_t *out, size_t capacity, const char *const *names, size_t count) {
    fakei_image head = {.capacity = capacity, .count = count};
    memset(out, 0, fakei_image_size(capacity, count));
    memcpy(head.magic, image_magic, sizeof image_magic);
    memcpy(out, &head, sizeof head);
    write_names(out + sizeof head, names, count);
}

fakei_image *fakei_image_of(const uint8_t *bytes, size_t size) {
    fakei_image *image = (fakei_image *)(uintptr_t)bytes;
    if (!bytes || size < sizeof *image || (uintptr_t)bytes % _Alignof(fakei_image) != 0) return NULL;
    if (memcmp(image->magic, image_magic, sizeof image_magic) != 0) return NULL;
    return size >= fakei_image_size(image->capacity, image->count) ? image : NULL;
}

static uint8_t *range_at(const fakei_image *image, size_t range) {
    return (uint8_t *)(uintptr_t)(image + 1) + image->count * sizeof(name_field) +
           range * range_size(image->count);
}

const char *fakei_image_range(const fakei_image *image, size_t range) {
    return (const char *)range_at(image, range);
}

const char *fakei_image_name(const fakei_image *image, size_t metric) {
    return (const char *)(image + 1) + metric * sizeof(name_field);
}

size_t fakei_image_metric(const fakei_image *image, const char *name) {
    for (size_t i = 0; i < image->count; i++)
        if (strcmp(fakei_image_name(image, i), name) == 0) return i;
    return SIZE_MAX;
}

double fakei_image_value(const fakei_image *image, size_t range, size_t metric) {
    double value;
    memcpy(&value, range_at(image, range) + sizeof(name_field) + metric * sizeof value, sizeof value);
    return value;
}

void fakei_image_set(fakei_image *image, size_t range, size_t metric, double value) {
    memcpy(range_at(image, range) + sizeof(name_field) + metric * sizeof value, &value, sizeof value);
}

bool fakei_image_add(fakei_image *image, const char *name) {
    if (image->ranges == image->capacity) return false;
    strncpy((char *)range_at(image, image->ranges), name, sizeof(name_field) - 1);
    for (size_t i = 0; i < image->count; i++) fakei_image_set(image, image->ranges, i, NAN);
    image->ranges++;
    return true;
}
